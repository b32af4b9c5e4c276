//! The options of `run` as clap has them: there is no second list of them.

use std::any::TypeId;

use clap::{
    Arg, ArgAction, Args, Command,
    builder::{Resettable, ValueParser},
};
use model::Durability;

use super::TARGETS;
use crate::args::RunOptions;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// No value.
    Switch,
    /// One value, in which a comma is a comma.
    One,
    /// One value in a run: a list of them makes a sweep.
    Swept,
    /// Several values in a run.
    Several,
}

/// The command as a run is asked for, all checks in place.
pub(super) fn strict() -> Command {
    RunOptions::augment_args(Command::new("run").no_binary_name(true))
}

/// `command` taking lists where one value varies, and leaving to the whole what options have to do
/// with each other: a plan file may hold the other one.
pub(super) fn lenient(command: Command) -> Command {
    command.mut_args(|arg| {
        let swept = takes(&arg) == Takes::Swept;
        let arg = arg.requires(Resettable::Reset).conflicts_with(Resettable::Reset);
        if !swept {
            return arg;
        }
        // Each value is checked with its run.
        arg.action(ArgAction::Append).value_delimiter(',').value_parser(ValueParser::os_string())
    })
}

/// What `arg` takes. A number or a class of durability holds no comma, other text may.
pub(super) fn takes(arg: &Arg) -> Takes {
    match arg.get_action() {
        ArgAction::Set => {}
        ArgAction::Append => return Takes::Several,
        _ => return Takes::Switch,
    }
    let id = arg.get_value_parser().type_id();
    let swept = [
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<i64>(),
        TypeId::of::<f64>(),
        TypeId::of::<Durability>(),
    ];
    if swept.iter().any(|swept| id == *swept) { Takes::Swept } else { Takes::One }
}

/// What an option is called in a plan: its long name, and the targets by what they are.
pub(super) fn name(arg: &Arg) -> &str {
    arg.get_long().unwrap_or(TARGETS)
}

/// The option `wanted` of `command`.
pub(super) fn find<'a>(command: &'a Command, wanted: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| name(arg) == wanted)
}

/// Whether both cannot be asked for at once.
pub(super) fn exclude_each_other(command: &Command, one: &str, other: &str) -> bool {
    let excludes = |one, other| {
        find(command, one).is_some_and(|arg| {
            command.get_arg_conflicts_with(arg).into_iter().any(|arg| name(arg) == other)
        })
    };
    excludes(one, other) || excludes(other, one)
}
