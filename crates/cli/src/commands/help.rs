//! `storemark help`: a command's options, or how targets, classes and sizes are written.

use clap::{Args, Command, ValueEnum};
use engines::registry;
use model::{Error, no_such};
use report::pages;

use crate::{exit::Failure, output};

pub(crate) const EXAMPLES: &str = "\
Examples:
  storemark help run                         all options of a command
  storemark help targets                     how stores are named
  storemark help durability                  what the classes guarantee, by engine
  storemark help sizes                       how numbers and times are written";

#[derive(Debug, Args)]
pub(crate) struct HelpOptions {
    /// A command, or one of: targets, durability, sizes; none: all commands
    pub(crate) topic: Option<String>,
}

/// What is no command and worth a page.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Topic {
    /// Target strings: engines, forms, settings.
    Targets,
    /// Durability classes, and the settings that give them.
    Durability,
    /// How sizes, counts and times are written.
    Sizes,
}

const SIZES: &str = "\
Sizes and counts
  4096              as written; so is 0x1000
  10k 10kB 4M 1G    powers of 1000
  10KiB 4MiB 1GiB   powers of 1024
  `storemark cache` reads its sizes as vmtouch does: k, M and G are powers of 1024 there

Times
  500us 20ms 45s 10m 1h; digits alone are seconds

Lists
  --size 1k,4k,16k  a run for each value, of options that take a number and of settings
                    (sqlite:?page_size=4096,8192)
";

pub(crate) fn run(options: &HelpOptions, mut all: Command) -> Result<(), Failure> {
    all.build();
    let text = match &options.topic {
        None => all.render_long_help().to_string(),
        Some(wanted) => match Topic::from_str(wanted, false) {
            Ok(topic) => page(topic),
            Err(_) => match all.find_subcommand_mut(wanted) {
                Some(command) => command.render_long_help().to_string(),
                None => return Err(unknown(wanted, &all).into()),
            },
        },
    };
    Ok(output::print(&(text.trim_end().to_owned() + "\n"))?)
}

fn page(topic: Topic) -> String {
    match topic {
        Topic::Targets => output::page(&pages::targets(registry::all_blobs())),
        Topic::Durability => output::page(&pages::durability(registry::all_blobs())),
        Topic::Sizes => SIZES.to_owned(),
    }
}

fn unknown(wanted: &str, all: &Command) -> Error {
    let topics = Topic::value_variants().iter().filter_map(Topic::to_possible_value);
    let mut names: Vec<String> = topics.map(|topic| topic.get_name().to_owned()).collect();
    names.extend(all.get_subcommands().map(|command| command.get_name().to_owned()));
    Error::usage(no_such("topic", wanted, names.iter().map(String::as_str)))
}
