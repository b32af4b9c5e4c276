//! `storemark man`: manual pages, from what clap knows of the commands.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, Command};
use clap_mangen::Man;
use model::{Error, ErrorKind, Result};

use crate::{exit::Failure, output};

pub(crate) const EXAMPLES: &str = "\
Examples:
  storemark man ~/.local/share/man/man1      then: man storemark-run";

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// The folder to write them into; created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

pub(crate) fn run(options: &ManOptions, all: Command) -> Result<(), Failure> {
    let folder = &options.folder;
    let pages = pages(all)?;
    ready(folder)?;
    for (name, page) in &pages {
        let path = folder.join(name);
        fs::write(&path, page)
            .map_err(|error| Failure::PartWay(Error::io(path.display(), error)))?;
    }
    let count = pages.len();
    Ok(output::print(&format!("{}: {count} pages, storemark.1 and others\n", folder.display()))?)
}

/// Creates the folder if need be; one that cannot be written to is an error before the first page.
fn ready(folder: &Path) -> Result<()> {
    let unusable = |error| Error::io(folder.display(), error).with_kind(ErrorKind::Usage);
    fs::create_dir_all(folder).and_then(|()| host::check_writable(folder)).map_err(unusable)
}

/// Names of files and what is in them: the program's page, and one for each command.
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
    let mut page = Vec::new();
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

/// `page` with an escape for each character that not every formatter reads.
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

/// The text below the options with its lines as they are: `clap_mangen` would fill them.
fn literal(text: &str) -> String {
    let mut section = String::from(".SH EXAMPLES\n.nf\n");
    for line in text.lines().filter(|line| *line != "Examples:") {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        // Keeps a dot or a quote at the start of a line from being taken for a request.
        let _ = writeln!(section, "\\&{line}");
    }
    section + ".fi\n"
}
