//! What was asked for, before it is checked as a whole.

use std::{collections::BTreeMap, ffi::OsString};

use clap::{ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};
use model::{Error, Result, record, without_password};

use super::{
    TARGETS,
    options::{self, Takes},
};

/// Options of `run` by their long names, with their values, the targets as `targets`. A switch has
/// no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked(pub(super) BTreeMap<String, Vec<OsString>>);

/// Options that say what to do with a plan or where its record goes; they are no part of it.
const APART: [&str; 5] = ["dry-run", "html", "json", "save-plan", "yes"];

impl Asked {
    /// The values of an option; `None`: it was not asked for.
    pub(crate) fn get(&self, name: &str) -> Option<&[OsString]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Replaces the values of an option.
    pub(crate) fn set(&mut self, name: &str, values: Vec<OsString>) {
        self.0.insert(name.to_owned(), values);
    }

    /// This with `later` laid over it, which also ends what it cannot stand beside.
    pub(super) fn overlaid(mut self, later: Self) -> Self {
        let command = options::strict();
        self.0.retain(|name, _| {
            !later.0.keys().any(|other| options::exclude_each_other(&command, name, other))
        });
        self.0.extend(later.0);
        self
    }

    /// As words of a command line.
    pub(super) fn words(&self) -> Vec<OsString> {
        let options = self.0.iter().filter(|(name, _)| *name != TARGETS);
        let mut words: Vec<OsString> =
            options.flat_map(|(name, values)| spelt(name, values)).collect();
        words.push("--".into());
        words.extend(self.get(TARGETS).into_iter().flatten().cloned());
        words
    }

    /// As it stands in a record or a saved plan: all that is asked for, without passwords.
    pub(crate) fn kept(&self) -> Result<BTreeMap<String, Vec<String>>> {
        let kept = self.0.iter().filter(|(name, _)| !APART.contains(&name.as_str()));
        kept.map(|(name, values)| {
            let values = values.iter().map(text).collect::<Result<_>>()?;
            Ok((name.clone(), values))
        })
        .collect()
    }
}

/// What stands in a record, to be asked for again.
impl From<&record::Asked> for Asked {
    fn from(asked: &record::Asked) -> Self {
        let values = |values: &Vec<String>| values.iter().map(OsString::from).collect();
        Self(asked.options.iter().map(|(name, own)| (name.clone(), values(own))).collect())
    }
}

fn spelt(name: &str, values: &[OsString]) -> Vec<OsString> {
    if values.is_empty() {
        return vec![format!("--{name}").into()];
    }
    let one = |value: &OsString| {
        let mut word = OsString::from(format!("--{name}="));
        word.push(value);
        word
    };
    values.iter().map(one).collect()
}

fn text(value: &OsString) -> Result<String> {
    let text = value.to_str().ok_or_else(|| {
        Error::usage(format!("{}: is not UTF-8, so that no plan can hold it", value.display()))
    })?;
    Ok(if text.contains("://") { without_password(text) } else { text.to_owned() })
}

impl Args for Asked {
    fn augment_args(command: Command) -> Command {
        options::lenient(crate::args::RunOptions::augment_args(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Asked {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut asked = Self::default();
        asked.update_from_arg_matches(matches)?;
        Ok(asked)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for arg in options::strict().get_arguments() {
            let id = arg.get_id().as_str();
            if matches.value_source(id) == Some(ValueSource::CommandLine) {
                let values = match options::takes(arg) {
                    Takes::Switch => Vec::new(),
                    _ => matches.get_raw(id).into_iter().flatten().map(OsString::from).collect(),
                };
                self.set(options::name(arg), values);
            }
        }
        Ok(())
    }
}
