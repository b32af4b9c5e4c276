//! The help of storemark's commands: `storemark help`, `man` and `completions`.

use std::{fmt::Write, io, path::PathBuf};

use checks::studies;
use clap::{
    Arg, Args, Command,
    builder::{PossibleValue, PossibleValuesParser},
};
use clap_complete::Shell;
use clap_mangen::Man;
use engines::registry;
use model::{Cache, Durability, Error, Result, no_such, rows::Style};
use report::pages;

use crate::{
    exit::Failure,
    files::{self, Form, Taken},
    output,
};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark help run                         all options of a command
  storemark help targets                     how stores are named
  storemark help durability                  what the classes guarantee, by engine
  storemark help sizes                       how numbers and times are written")]
pub(crate) struct HelpOptions {
    /// A command, or one of: targets, durability, sizes; none: all commands
    pub(crate) topic: Option<String>,
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

type Topic = (&'static str, fn() -> String);

/// The topics that are no commands and have a page.
const TOPICS: [Topic; 3] = [
    ("targets", || output::page(&pages::targets(registry::all_blobs()))),
    ("durability", || output::page(&pages::durability(registry::all_blobs()))),
    ("sizes", || SIZES.to_owned()),
];

pub(crate) fn help(options: &HelpOptions, mut all: Command) -> Result<(), Failure> {
    all.build();
    let topic = |wanted: &String| TOPICS.iter().find(|(name, _)| name == wanted);
    let text = match &options.topic {
        None => all.render_long_help().to_string(),
        Some(wanted) => match (topic(wanted), all.find_subcommand_mut(wanted)) {
            (Some((_, text)), _) => text(),
            (None, Some(command)) => command.render_long_help().to_string(),
            (None, None) => return Err(unknown(wanted, &all).into()),
        },
    };
    Ok(output::print(&(text.trim_end().to_owned() + "\n"))?)
}

fn unknown(wanted: &str, all: &Command) -> Error {
    let commands = all.get_subcommands().map(Command::get_name);
    let names: Vec<_> = TOPICS.iter().map(|(name, _)| *name).chain(commands).collect();
    Error::usage(no_such("topic", wanted, names))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark man ~/.local/share/man/man1      then: man storemark-run")]
pub(crate) struct ManOptions {
    /// The folder to write them into; created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

const PAGE: Form<'_> =
    Form { option: "man", what: "a page of storemark's manual", head: ".\\\" Made by storemark." };

pub(crate) fn man(options: &ManOptions, all: Command) -> Result<(), Failure> {
    let folder = &options.folder;
    let count = files::write_into(folder, PAGE, &Taken::default(), pages(all)?)?;
    Ok(output::print_lines(&format!(
        "{}: {count} pages, storemark.1 and others\n",
        folder.display()
    ))?)
}

/// Returns names and contents of the manual pages: one for the program, and one for each command.
fn pages(mut all: Command) -> Result<Vec<(String, String)>> {
    all.build();
    let commands: Vec<Command> = all.get_subcommands().cloned().collect();
    let pages = std::iter::once(all).chain(commands).map(|command| {
        // A page has room for what `-h` leaves out.
        let command = command.mut_args(|arg| arg.hide_short_help(false));
        let man = Man::new(command.clone()).manual("storemark");
        page(&man, &command).map(|page| (man.get_filename(), ascii(&page)))
    });
    pages.collect::<io::Result<_>>().map_err(|error| Error::io("a manual page", error))
}

fn page(man: &Man, command: &Command) -> io::Result<Vec<u8>> {
    let mut page = format!("{}\n", PAGE.head).into_bytes();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = command.get_after_long_help() {
        page.extend(literal(&after.to_string()).into_bytes());
    }
    Ok(page)
}

/// Converts `page` to ASCII, with an escape for each character that not every formatter reads.
fn ascii(page: &[u8]) -> String {
    let mut text = String::new();
    for c in String::from_utf8_lossy(page).chars() {
        // Writing to a string does not fail.
        let _ = match c {
            c if c.is_ascii() => write!(text, "{c}"),
            c => write!(text, "\\[u{:04X}]", u32::from(c)),
        };
    }
    text
}

/// Formats the text below the options with its lines as they are: `clap_mangen` would fill them.
fn literal(text: &str) -> String {
    let mut section = String::from(".SH EXAMPLES\n.nf\n");
    for line in text.lines().filter(|line| *line != "Examples:") {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        // Keeps a dot or a quote at the start of a line from being taken for a request.
        let _ = writeln!(section, "\\&{line}");
    }
    section + ".fi\n"
}

/// Adds the accepted words to an argument that takes one of a few. They are for completions only:
/// what is typed is read by the types of the model, which report what they accept.
fn with_words(command: &str, commands: &[String], arg: Arg) -> Arg {
    let words: Vec<&str> = match (command, arg.get_id().as_str()) {
        ("engines", "name") => registry::engines().map(model::EngineFacts::name).collect(),
        ("study", "name") => studies::all_studies().iter().map(|(name, _)| *name).collect(),
        ("help", "topic") => {
            let commands = commands.iter().map(String::as_str);
            TOPICS.iter().map(|(name, _)| *name).chain(commands).collect()
        }
        (_, "durability") => Durability::ALL.iter().map(|word| word.as_str()).collect(),
        (_, "cache") => Cache::CHOICES.iter().map(|word| word.as_str()).collect(),
        (_, "style") => Style::ALL.iter().map(|word| word.as_str()).collect(),
        (_, "distribution") => vec!["uniform", "zipfian", "latest", "hotspot"],
        (_, "ycsb") => vec!["a", "b", "c", "d", "e", "f"],
        (_, "jmode") => vec!["delete", "truncate", "persist", "memory", "wal", "off"],
        _ => return arg,
    };
    let words: Vec<_> = words.into_iter().map(str::to_owned).collect();
    arg.value_parser(PossibleValuesParser::new(words))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark completions bash > ~/.local/share/bash-completion/completions/storemark
  storemark completions zsh > ~/.zfunc/_storemark          with ~/.zfunc in fpath
  storemark completions fish > ~/.config/fish/completions/storemark.fish")]
pub(crate) struct CompletionsOptions {
    /// The shell that is to complete
    pub(crate) shell: Shell,
}

pub(crate) fn completions(options: &CompletionsOptions, all: Command) -> Result<(), Failure> {
    let commands: Vec<_> = all.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let mut all = all.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|arg| with_words(&name, &commands, arg))
    });
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut all, "storemark", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if options.shell == Shell::Fish {
        all.get_subcommands().for_each(|command| script.push_str(&fish_words(command)));
    }
    Ok(output::print(&script)?)
}

/// Returns the completions that clap leaves out for fish: the words of arguments that no option
/// names.
fn fish_words(command: &Command) -> String {
    let line = |arg: &Arg| {
        let values = arg.get_possible_values();
        let words = values.iter().map(PossibleValue::get_name).collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            return String::new();
        }
        let when = format!("__fish_storemark_using_subcommand {}", command.get_name());
        format!("complete -c storemark -n \"{when}\" -f -a \"{words}\"\n")
    };
    command.get_positionals().map(line).collect()
}
