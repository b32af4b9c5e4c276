//! Writing to standard output: data only, and quietly when the reader has gone away.

use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    path::Path,
};

use model::{Error, Result, harmless, without_passwords};
use report::{Style, pages::Page};

/// Writes `text` to standard output. A closed pipe is no error: the reader has seen enough.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes lines of plain text, in which names may have any characters.
pub(crate) fn print_lines(text: &str) -> Result<()> {
    let lines = text.split('\n').map(harmless);
    print(&lines.collect::<Vec<_>>().join("\n"))
}

/// Converts the outcome of writing to standard output: a closed pipe is no error.
pub(crate) fn written(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io("standard output", error))
        }
        _ => Ok(()),
    }
}

/// Returns `data` as indented JSON.
pub(crate) fn json(data: &impl serde::Serialize) -> Result<String> {
    let wrong = |error| Error::failed(format!("JSON cannot be made: {error}"));
    Ok(serde_json::to_string_pretty(data).map_err(wrong)? + "\n")
}

/// A writer that ignores a closed pipe, whose reader wants no more.
pub(crate) struct Quietly<W>(pub(crate) W);

impl<W: Write> Write for Quietly<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

/// Writes `text` to standard output, unless the data in the file `other` goes there: then to standard
/// error, or nowhere if that is to be `quiet`.
pub(crate) fn print_next_to(other: Option<&Path>, text: &str, quiet: bool) -> Result<()> {
    if other != Some(Path::new("-")) {
        return print(text);
    }
    if !quiet {
        print_aside(text);
    }
    Ok(())
}

/// Writes `text` to standard error, for when standard output carries the record.
fn print_aside(text: &str) {
    // Nothing is left to report it to when this fails.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Clears the line of a terminal, which may show progress.
pub(crate) fn clear_line() {
    if io::stderr().is_terminal() {
        print_aside("\r\u{1b}[K");
    }
}

/// Prints one line on standard error, without passwords and without characters that a terminal
/// would obey.
pub(crate) fn say(text: &str) {
    print_aside(&line(text));
}

/// Returns the line that [`say`] prints.
pub(crate) fn line(text: &str) -> String {
    format!("storemark: {}\n", harmless(&without_passwords(text)))
}

pub(crate) fn page(page: &Page) -> String {
    page.terminal(&style())
}

/// Returns the style of tables: as wide as the terminal, 100 columns elsewhere; coloured on a
/// terminal unless `NO_COLOR` is set, with bars on one that shows UTF-8.
fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let width = terminal_size::terminal_size().filter(|_| terminal);
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style {
        width: width.map_or(100, |(terminal_size::Width(columns), _)| columns),
        color: terminal && !plain,
        bars: terminal && shows_utf8(),
    }
}

/// Reports whether the locale has UTF-8. The first variable that is set counts (POSIX, Base
/// Definitions, 8.2).
fn shows_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty());
    let locale = locale.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
