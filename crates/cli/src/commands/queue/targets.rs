//! From target strings to engines of queues, a target on each file system.

use std::ffi::OsStr;

use engines::registry;
use lab::{QueueTarget, Sites};
use model::{Error, Facet, Result, Settings, Target, Tasks};

use crate::{args::QueueOptions, commands::labels};

/// What is compared when the user names nothing: what was published (files renamed into place; a
/// pool of connections), then files as they were before, and SQLite as a service should use it.
const DEFAULT_TARGETS: [&str; 5] = [
    "files:?write=rename",
    "files:?write=inplace",
    "sqlite:?journal=wal&sync=normal&connection=pool",
    "sqlite:?journal=wal&sync=normal&connection=own",
    "sqlite:?journal=wal&sync=normal&connection=shared",
];

/// The same where a durability class is asked for, which says how each is written.
const CLASS_TARGETS: [&str; 4] =
    ["files:", "sqlite:?connection=pool", "sqlite:?connection=own", "sqlite:?connection=shared"];

/// A target string, understood.
pub(super) struct Resolved {
    label: String,
    engine: &'static dyn Tasks,
    settings: Settings,
}

pub(super) fn resolved(options: &QueueOptions) -> Result<Vec<Resolved>> {
    let resolved: Vec<Resolved> = if options.targets.is_empty() {
        // This build may lack an engine.
        let targets: &[&str] =
            if options.durability.is_some() { &CLASS_TARGETS } else { &DEFAULT_TARGETS };
        let there = targets.iter().filter(|text| {
            text.split_once(':').is_some_and(|(name, _)| registry::tasks(name).is_ok())
        });
        there.map(|text| resolve(text.as_ref())).collect::<Result<_>>()?
    } else {
        options.targets.iter().map(|text| resolve(text)).collect::<Result<_>>()?
    };
    if let Some(class) = options.durability {
        for target in &resolved {
            target.can_keep(class)?;
        }
    }
    Ok(resolved)
}

impl Resolved {
    fn can_keep(&self, class: model::Durability) -> Result<()> {
        self.engine.class_settings(Facet::Tasks, class).map(drop)
    }
}

/// Each target on each file system, those of a target side by side; as they are where no file
/// system was asked for.
pub(super) fn on_each(resolved: &[Resolved], sites: &Sites) -> Vec<QueueTarget> {
    let mut targets: Vec<QueueTarget> = Vec::new();
    for Resolved { label, engine, settings } in resolved {
        for site in sites.or_none() {
            let on = site.map_or_else(String::new, |site| format!(" on {}", site.name));
            let taken = targets.iter().map(|target| target.label.as_str());
            targets.push(QueueTarget {
                label: labels::unique(format!("{label}{on}"), taken),
                engine: *engine,
                settings: settings.clone(),
                site: site.cloned(),
            });
        }
    }
    targets
}

fn resolve(text: &OsStr) -> Result<Resolved> {
    let words = text.to_string_lossy().into_owned();
    let target = Target::parse(&words);
    let Some(name) = &target.engine else {
        let names: Vec<_> =
            registry::all_tasks().map(|engine| format!("{}:", engine.name())).collect();
        return Err(Error::usage(format!(
            "{words}: names no engine; tasks are kept in a store of their own (accepted: {})",
            names.join(", ")
        )));
    };
    let engine = registry::tasks(name).map_err(|e| e.context(&words))?;
    let pairs = target.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings =
        Settings::check(engine.settings(Facet::Tasks), pairs).map_err(|e| e.context(&words))?;
    if !target.location.is_empty() {
        return Err(Error::usage(format!(
            "{words}: tasks are kept in a store of their own, removed afterwards; leave out {:?}",
            target.location
        )));
    }
    let named = target.settings.iter().map(|(name, value)| format!(" {name}={value}"));
    let label = named.fold(name.clone(), |label, setting| label + &setting);
    Ok(Resolved { label, engine, settings })
}
