//! Visits files, and prints each of them and each problem while they are found.

use std::{
    ffi::OsStr,
    fmt::Write,
    fs::{self, File},
    io::{self, IsTerminal, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use model::{Error, units::show_size};
use pagecache::{Crawl, CrawlReport, Pages, Problem, Root, Visitor, residency_map};
use serde_json::{Value, json};

use super::CacheOptions;
use crate::{exit::Failure, output, targets};

/// Visits all that the options name.
pub(super) fn crawl(options: &CacheOptions) -> Result<(CrawlReport, Show<'_>), Failure> {
    let mut roots = match &options.list {
        Some(list) => listed(list, options.null)?,
        None => Vec::new(),
    };
    // The paths of the command line must all exist.
    for path in &options.paths {
        match fs::symlink_metadata(path) {
            Ok(_) => roots.push(Root::new(path.into())),
            Err(_) if path.is_empty() => return Err(Error::usage("\"\": names no path").into()),
            Err(error) => match files_of(path) {
                Some(files) => roots.extend(files.into_iter().map(Root::new)),
                None => return Err(Problem { path: path.into(), error }.into()),
            },
        }
    }
    let crawl_options = options.crawl();
    let mut crawl = Crawl::new(&crawl_options, Show::new(options));
    for root in &roots {
        crawl.root(root)?;
    }
    let (found, mut show) = crawl.finish();
    show.flush()?;
    Ok((found, show))
}

/// Returns the files of the store that a target names; `None` if it names none that exists.
fn files_of(target: &OsStr) -> Option<Vec<PathBuf>> {
    let found = targets::resolve(target).ok()?;
    let files = found.engine.files(found.place.location()?).into_iter();
    let files: Vec<_> = files.filter(|file| file.exists()).collect();
    (!files.is_empty()).then_some(files)
}

fn listed(list: &Path, by_zeros: bool) -> Result<Vec<Root>, Failure> {
    let mut text = Vec::new();
    let read = match list.to_str() {
        Some("-") => io::stdin().read_to_end(&mut text),
        _ => File::open(list).and_then(|mut file| file.read_to_end(&mut text)),
    };
    read.map_err(|error| Problem { path: list.to_owned(), error })?;
    let end = if by_zeros { 0 } else { b'\n' };
    let paths = text.split(|byte| *byte == end).filter(|path| !path.is_empty());
    Ok(paths.map(|path| Root::new(OsStr::from_bytes(path).into())).collect())
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Error(Error::io(problem.path.display(), problem.error))
    }
}

/// The number of characters for the pages without a terminal: as many as vmtouch has.
const WIDTH: u64 = 60;

/// Returns how many characters may show the pages, with room for the counts after them.
fn width() -> u64 {
    let size = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal());
    size.map_or(WIDTH, |(columns, _)| u64::from(columns.0).saturating_sub(24).max(10))
}

/// The bytes in which lines of -v are printed.
const PART: usize = 1 << 13;

pub(super) struct Show<'a> {
    options: &'a CacheOptions,
    width: u64,
    /// Bytes that may still be locked; `None` if nothing is locked, or the system does not report
    /// its memory.
    room: Option<u64>,
    /// Lines for -v, printed together.
    lines: String,
    /// The files of -v for JSON.
    pub(super) listed: Vec<Value>,
    pub(super) problems: u64,
    first_problem: String,
}

impl<'a> Show<'a> {
    fn new(options: &'a CacheOptions) -> Self {
        Self {
            options,
            width: width(),
            room: if options.holds() { host::memory().available_bytes } else { None },
            lines: String::new(),
            listed: Vec::new(),
            problems: 0,
            first_problem: String::new(),
        }
    }

    /// Prints the lines that were held back.
    pub(super) fn flush(&mut self) -> model::Result<()> {
        if self.lines.is_empty() {
            Ok(())
        } else {
            output::print_lines(&std::mem::take(&mut self.lines))
        }
    }

    /// Returns one line for all problems; `None` if there are none.
    pub(super) fn failed(&self) -> Option<String> {
        match self.problems {
            0 => None,
            count if self.options.verbose => Some(format!("{count} of the paths failed")),
            1 => Some(self.first_problem.clone()),
            count => {
                Some(format!("{} (and {} more, which -v names)", self.first_problem, count - 1))
            }
        }
    }
}

impl Visitor for Show<'_> {
    type Error = Failure;

    /// Subtracts locked bytes from the memory that may be locked. Fails if they exceed it: root may
    /// lock more than there is, and the machine would stop responding.
    fn lock(&mut self, bytes: u64) -> io::Result<()> {
        let Some(room) = &mut self.room else { return Ok(()) };
        *room = room.checked_sub(bytes).ok_or_else(|| {
            let (wanted, room) = (show_size(bytes), show_size(*room));
            let why = format!("to lock it takes {wanted} of memory, {room} are left");
            io::Error::new(io::ErrorKind::OutOfMemory, why)
        })?;
        Ok(())
    }

    fn file(&mut self, path: &Path, file: &File, pages: Pages) -> Result<(), Failure> {
        let name = path.to_string_lossy();
        if self.options.json.is_some() {
            self.listed.push(json!({
                "path": name,
                "pages": pages.total,
                "resident": pages.resident,
                "unknown": pages.unknown,
                "dirty": pages.dirty,
            }));
            return Ok(());
        }
        let per_cell = per_cell(pages.total, self.width);
        let cells = match residency_map(file, self.options.range, per_cell) {
            Ok(cells) => cells,
            Err(error) => return self.problem(Problem { path: path.to_owned(), error }),
        };
        let drawn = draw(cells.as_deref(), per_cell, pages);
        // Writing to a string does not fail.
        let _ = writeln!(self.lines, "{}\n{drawn}", model::harmless(&name));
        if self.lines.len() >= PART { Ok(self.flush()?) } else { Ok(()) }
    }

    fn problem(&mut self, problem: Problem) -> Result<(), Failure> {
        self.flush()?;
        let line = format!("{}: {}", problem.path.display(), problem.error);
        if self.options.verbose {
            output::say(&line);
        }
        if self.problems == 0 {
            self.first_problem = line;
        }
        self.problems += 1;
        Ok(())
    }
}

fn per_cell(pages: u64, width: u64) -> u64 {
    if pages <= width { 1 } else { pages / width + 1 }
}

/// Draws full, empty and partly filled cells on one line: `[OOoo  ] 5/9`. `cells` is `None` if the
/// system does not report them.
fn draw(cells: Option<&[u64]>, per_cell: u64, pages: Pages) -> String {
    let Some(cells) = cells else { return format!("[?] ?/{}", pages.total) };
    let mut left = pages.total;
    let cell = |resident: &u64| {
        let whole = per_cell.min(left);
        left -= whole;
        match *resident {
            0 => ' ',
            some if some >= whole => 'O',
            _ => 'o',
        }
    };
    let drawn: String = cells.iter().map(cell).collect();
    format!("[{drawn}] {}/{}", cells.iter().sum::<u64>(), pages.total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_full_empty_or_between() {
        let pages = |total| Pages { total, ..Pages::default() };
        assert_eq!(draw(Some(&[1, 0, 1]), 1, pages(3)), "[O O] 2/3");
        assert_eq!(draw(Some(&[3, 1, 0, 2]), 3, pages(11)), "[Oo O] 6/11");
        assert_eq!(draw(Some(&[]), 1, pages(0)), "[] 0/0");
        assert_eq!(draw(None, 1, pages(7)), "[?] ?/7");
        assert_eq!((per_cell(60, 60), per_cell(61, 60), per_cell(256_000, 60)), (1, 2, 4267));
    }
}
