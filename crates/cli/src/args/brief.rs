//! What `-h` shows of a command whose options fill pages; `--help` shows all.

use clap::Command;

/// Options of `run` that most runs get by with.
const RUN: [&str; 19] = [
    "targets",
    "data",
    "keys",
    "size",
    "read",
    "update",
    "mix",
    "ycsb",
    "cache",
    "batch",
    "durability",
    "threads",
    "memory",
    "time",
    "json",
    "html",
    "dry_run",
    "verbose",
    "quiet",
];

/// `command` with a short help that fits on a screen.
pub(super) fn brief(command: Command) -> Command {
    // `mut_subcommand` would move it to the end.
    command.mut_subcommands(|command| match command.get_name() {
        "run" => command.mut_args(|arg| {
            let rare = !RUN.contains(&arg.get_id().as_str());
            arg.hide_short_help(rare)
        }),
        _ => command,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    #[test]
    fn what_the_short_help_shows_is_there() {
        let command = Arguments::command();
        let run = command.find_subcommand("run").unwrap();
        for name in RUN {
            assert!(run.get_arguments().any(|arg| arg.get_id() == name), "{name}");
        }
    }
}
