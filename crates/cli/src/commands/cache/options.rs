//! Options of `cache`: vmtouch's letters but for `-h`, which is help everywhere, and long names for them.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgGroup, Args};
use model::{Error, Result, units};
use pagecache::Span;
#[cfg(unix)]
use pagecache::{Action, CrawlOptions};

#[derive(Debug, Args)]
#[command(after_long_help = "\
SIZE and RANGE take K, M, G and T for powers of 1024: 4096, 4k, 100M, 1.5G, and 4k-50k, 1M-,
-10k or 10k. A range begins with the page that holds its first byte.

Examples:
  storemark cache thumbs.dir thumbs.db     how much of each is in memory
  storemark cache -v thumbs.db             with a map of the file
  storemark cache 'app.db?table=photos'    the files of a database
  storemark cache -e thumbs.dir            drop it from memory
  storemark cache -ld -P pid thumbs.db     keep it in memory until the daemon is ended")]
#[command(group = ArgGroup::new("holds").args(["lock", "lock_all"]))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct CacheOptions {
    /// Files, folders with all that is below them, and targets with the files of their stores
    #[arg(value_name = "PATH", required_unless_present = "list")]
    pub(crate) paths: Vec<OsString>,

    /// Read the files into memory
    #[arg(short, long, conflicts_with = "evict")]
    pub(crate) touch: bool,
    /// Drop the files from memory
    #[arg(short, long, conflicts_with = "holds")]
    pub(crate) evict: bool,
    /// Load each file and lock it in memory until ended by a signal
    #[arg(short, long, conflicts_with = "lock_all")]
    pub(crate) lock: bool,
    /// The same with one mlockall(2) at the end, which locks the program itself as well
    #[arg(short = 'L', long)]
    pub(crate) lock_all: bool,
    /// With -l or -L: go on in the background once all is locked
    #[arg(short, long, requires = "holds")]
    pub(crate) daemon: bool,
    /// With -l or -L: write the id of the process that holds the locks to FILE
    #[arg(short = 'P', long, value_name = "FILE", requires = "holds")]
    pub(crate) pidfile: Option<PathBuf>,

    /// Leave out files larger than this
    #[arg(short, long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: Option<u64>,
    /// This part of each file only
    #[arg(short = 'p', long, value_name = "RANGE", value_parser = range, allow_hyphen_values = true, default_value = "-", hide_default_value = true)]
    pub(crate) range: Span,
    /// Follow symbolic links
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Stay in the file system of each path
    #[arg(short = 'F', long)]
    pub(crate) one_file_system: bool,
    /// Leave out files and folders with such a name (* ? [a-z] match other characters)
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) ignore: Vec<OsString>,
    /// Only files with such a name
    #[arg(short = 'I', long, value_name = "PATTERN")]
    pub(crate) only: Vec<OsString>,
    /// Count a file again for each of its hard links (vmtouch: -h)
    #[arg(short = 'H', long)]
    pub(crate) hard_links: bool,
    /// Take paths from the lines of FILE (- for standard input)
    #[arg(short = 'b', long, value_name = "FILE")]
    pub(crate) list: Option<PathBuf>,
    /// The list's paths end with a zero byte instead of a line break
    #[arg(short = '0', long, requires = "list")]
    pub(crate) null: bool,

    /// Show each file with a map of its pages, and each problem
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Write JSON to FILE (- for standard output, instead of the text)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quiet", "holds"])]
    pub(crate) json: Option<PathBuf>,
}

#[cfg(unix)]
impl CacheOptions {
    /// Reports whether pages are to be held in memory.
    pub(crate) fn holds(&self) -> bool {
        self.lock || self.lock_all
    }

    /// Returns what the crawl visits and does.
    pub(crate) fn crawl(&self) -> CrawlOptions {
        CrawlOptions {
            action: match self {
                Self { lock: true, .. } => Action::Lock,
                Self { lock_all: true, .. } => Action::Map,
                Self { touch: true, .. } => Action::Warm,
                Self { evict: true, .. } => Action::Evict,
                _ => Action::Count,
            },
            shows_files: self.verbose,
            span: self.range,
            max_size: self.max_size,
            follow: self.follow,
            one_file_system: self.one_file_system,
            hard_links: self.hard_links,
            ignore: self.ignore.clone(),
            only: self.only.clone(),
        }
    }
}

/// Parses a size as vmtouch does.
fn size(text: &str) -> Result<u64> {
    let wrong = || Error::usage(format!("{text:?} is no size (accepted: 4096, 4k, 100M, 1.5G)"));
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches("ib").trim_end_matches(['k', 'm', 'g', 't']);
    let shift = match &lower[digits.len()..] {
        "" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return Err(wrong()),
    };
    if !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Err(wrong());
    }
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(1 << shift).ok_or_else(wrong);
    }
    let bytes = digits.parse::<f64>().map_err(|_| wrong())? * f64::from(1 << (shift / 2)).powi(2);
    // Past 2^63 a fraction means nothing, and the cast would be silent.
    if bytes < 9e18 { Ok(units::whole(bytes)) } else { Err(wrong()) }
}

/// Parses a range as vmtouch does: `4k-50k`, `1M-`, `-10k`; `10k` alone is `-10k`.
fn range(text: &str) -> Result<Span> {
    let (start, end) = text.split_once('-').unwrap_or(("", text));
    let bound = |text: &str| if text.is_empty() { Ok(None) } else { size(text).map(Some) };
    let span =
        bound(start).and_then(|start| Ok(Span { start: start.unwrap_or(0), end: bound(end)? }));
    let wrong = |why| Error::usage(format!("{text:?} {why} (accepted: 4k-50k, 1M-, -10k or 10k)"));
    match span {
        Ok(_) if text.is_empty() => Err(wrong("is no range")),
        Ok(span) if span.end.is_some_and(|end| end <= span.start) => {
            Err(wrong("ends where it begins, or before"))
        }
        Err(_) => Err(wrong("is no range")),
        span => span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_vmtouch_reads_them() {
        for (text, bytes) in [
            ("4096", 4096),
            ("0", 0),
            ("4k", 4096),
            ("4K", 4096),
            ("100M", 100 << 20),
            ("1.5G", 3 << 29),
            ("2TiB", 2 << 40),
            ("0.5k", 512),
            ("1.9", 1),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(size(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "",
            "k",
            "-1",
            "1x",
            "1kb",
            "1e3",
            "inf",
            "nan",
            "1.2.3",
            "16777216T",
            "99999999T",
            "1 k",
            "kk",
            "1kk",
            ".",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_are_open_at_either_end() {
        let span = |start, end| Span { start, end };
        for (text, expected) in [
            ("-", Span::ALL),
            ("4096-8192", span(4096, Some(8192))),
            ("1M-", span(1 << 20, None)),
            ("-10k", span(0, Some(10_240))),
            ("10k", span(0, Some(10_240))),
            ("1.5k-2k", span(1536, Some(2048))),
        ] {
            assert_eq!(range(text).unwrap(), expected, "{text}");
        }
        for text in ["", "--", "8k-4k", "4k-4k", "1-2-3", "a-b", "0", "-x", "4k-50kb"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
