//! From what was asked for to runs: plan files and records are read, lists become sweeps, and each
//! run is checked by clap as if it had been typed.

mod asked;
mod file;
mod find;
mod options;
mod sweep;

use std::{collections::BTreeMap, ffi::OsString};

use clap::FromArgMatches;
use model::{Error, ErrorKind, Result};

pub(crate) use self::{
    asked::Asked,
    file::{HEAD, write},
    sweep::combinations,
};
use self::{
    file::{Places, PlanFile},
    find::Kind,
};
use crate::{args, args::RunOptions};

/// What targets are called in a plan.
const TARGETS: &str = "targets";

/// What was asked for, understood.
pub(crate) struct Planned {
    /// All of it, the seed settled.
    pub(crate) asked: Asked,
    /// A run for each combination of what varies, at least one.
    pub(crate) points: Vec<Point>,
    file: Option<PlanFile>,
}

/// A run of a sweep, or the only one.
pub(crate) struct Point {
    /// The options that vary, with their values here.
    pub(crate) varied: BTreeMap<String, String>,
    pub(crate) options: RunOptions,
}

/// Understands what was asked for. A plan among the targets is read; what stands beside it wins. So
/// that it can be asked for again, `fresh` is the seed where none is given.
pub(crate) fn understand(typed: &Asked, fresh: u64) -> Result<Planned> {
    let (mut asked, file) = with_plan(typed.clone())?;
    if asked.get("seed").is_none() {
        asked.set("seed", vec![fresh.to_string().into()]);
    }
    let mut planned = Planned { asked, points: Vec::new(), file };
    let points = points(&planned.asked).map_err(|error| planned.blame(error))?;
    planned.points = points;
    Ok(planned)
}

impl Planned {
    /// The same error, led by where in the plan file the reason stands.
    pub(crate) fn blame(&self, error: Error) -> Error {
        match &self.file {
            Some(PlanFile { places, asked }) if error.kind() == ErrorKind::Usage => {
                Places::blame(places, error, &self.asked, asked)
            }
            _ => error,
        }
    }
}

fn points(asked: &Asked) -> Result<Vec<Point>> {
    let points = sweep::points(asked)?.into_iter();
    points.map(|(varied, asked)| Ok(Point { varied, options: checked(&asked)? })).collect()
}

/// Checks a run as clap checks a command line.
fn checked(asked: &Asked) -> Result<RunOptions> {
    let matches = options::strict().try_get_matches_from(asked.words());
    matches
        .and_then(|matches| RunOptions::from_arg_matches(&matches))
        .map_err(|error| Error::usage(args::one_line(&error)))
}

/// What the plan or record among the targets asks for, with all else that was typed laid over it.
fn with_plan(mut typed: Asked) -> Result<(Asked, Option<PlanFile>)> {
    let words = typed.0.remove(TARGETS).unwrap_or_default();
    let (plans, targets): (Vec<OsString>, _) =
        words.into_iter().partition(|word| find::kind(word).is_some());
    if !targets.is_empty() {
        typed.set(TARGETS, targets);
    }
    let [word] = plans.as_slice() else {
        return match plans.as_slice() {
            [first, second, ..] => Err(Error::usage(format!(
                "{} and {}: one plan or record is accepted",
                first.display(),
                second.display()
            ))),
            _ => Ok((typed, None)),
        };
    };
    if find::kind(word) == Some(Kind::Record) {
        return Ok((find::record(word)?.overlaid(typed), None));
    }
    let file = find::plan(word)?;
    Ok((file.asked.clone().overlaid(typed), Some(file)))
}
