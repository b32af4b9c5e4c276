//! Targets that are only measured in stores of their own: those of rows and of tasks.

use std::{ffi::OsStr, path::PathBuf};

use lab::Target;
use model::{Engine, Error, Facet, Result, Settings, Target as Written};

use crate::targets;

/// What such targets are of.
pub(super) struct Kind<E: Engine + ?Sized + 'static> {
    pub(super) facet: Facet,
    pub(super) find: fn(&str) -> Result<&'static E>,
    /// Names of the engines.
    pub(super) names: fn() -> Vec<&'static str>,
    /// For messages: `rows are made`.
    pub(super) what: &'static str,
}

impl<E: Engine + ?Sized> Kind<E> {
    /// Understands a target string: an engine with settings, or the address of a server.
    pub(super) fn resolve(&self, text: &OsStr) -> Result<Target<E>> {
        let words = text.to_string_lossy().into_owned();
        let target = Written::parse(&words);
        target.check().map_err(|e| e.context(&words))?;
        let Some(name) = &target.engine else {
            let names: Vec<_> = (self.names)().iter().map(|name| format!("{name}:")).collect();
            return Err(Error::usage(format!(
                "{words}: names no engine; {} in a store of their own (accepted: {})",
                self.what,
                names.join(", ")
            )));
        };
        let engine = (self.find)(name).map_err(|e| e.context(&words))?;
        let pairs = target.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let settings =
            Settings::check(engine.settings(self.facet), pairs).map_err(|e| e.context(&words))?;
        let location = (!target.location.is_empty()).then(|| PathBuf::from(&target.location));
        if location.is_some() && !engine.capabilities().remote {
            return Err(Error::usage(format!(
                "{words}: {} in a store of their own, removed afterwards; leave out {:?}",
                self.what, target.location
            )));
        }
        let label = match &location {
            Some(_) => words,
            None => targets::label(name, &target.settings),
        };
        Ok(Target { label, engine, location, address: None, settings, placement: None })
    }
}
