//! The summary: vmtouch's lines, and what it does not count.

use std::time::Duration;

use pagecache::{CrawlReport, Names, Pages, Skipped, page_size};
use serde_json::{Map, json};

use super::CacheOptions;
use super::show::Show;

/// Formats vmtouch's lines in vmtouch's columns; more lines only if there is something to report.
pub(super) fn text(options: &CacheOptions, found: &CrawlReport, elapsed: Duration) -> String {
    let mut lines =
        vec![("Files", found.files.to_string()), ("Directories", found.directories.to_string())];
    if options.touch {
        lines.push(("Touched Pages", amount(found.touched)));
    } else if options.evict {
        lines.extend(evicted(found.pages));
    } else {
        lines.extend(resident(found.pages));
        lines.extend(names(found.names));
    }
    if found.pages.unknown > 0 {
        lines.push(("Unknown Pages", amount(found.pages.unknown)));
    }
    lines.extend(skipped(&found.skipped));
    lines.push(("Elapsed", format!("{} seconds", general(elapsed.as_secs_f64(), 5))));
    let lines = lines.iter().map(|(name, value)| format!("{name:>16}: {value}\n"));
    let gap = if options.verbose { "\n" } else { "" };
    gap.to_owned() + &lines.collect::<String>()
}

type Line = (&'static str, String);

fn resident(pages: Pages) -> Vec<Line> {
    let (resident, total) = (size(pages.resident), size(pages.total));
    if pages.unknown > 0 && pages.unknown == pages.total {
        return vec![("Resident Pages", format!("?/{}  ?/{total}", pages.total))];
    }
    let share = percent(pages.resident, pages.total - pages.unknown);
    let counts = format!("{}/{}", pages.resident, pages.total);
    let dirty = pages.dirty.filter(|dirty| *dirty > 0);
    let lines = [("Resident Pages", format!("{counts}  {resident}/{total}  {share}"))];
    lines.into_iter().chain(dirty.map(|dirty| ("Dirty Pages", amount(dirty)))).collect()
}

/// Pages that stayed were not evicted, whatever was asked for.
fn evicted(pages: Pages) -> impl Iterator<Item = Line> {
    let evicted = amount(pages.total - pages.resident - pages.unknown);
    let stayed = (pages.resident > 0).then(|| ("Still Resident", amount(pages.resident)));
    [("Evicted Pages", evicted)].into_iter().chain(stayed)
}

fn names(names: Names) -> Option<Line> {
    let share = percent(names.cached, names.total);
    let line = ("Cached Names", format!("{}/{}  {share}", names.cached, names.total));
    (names.total > 0).then_some(line)
}

fn skipped(skipped: &Skipped) -> Option<Line> {
    let kinds = skipped.kinds();
    let some = kinds.iter().filter(|(_, count)| *count > 0);
    let kinds: Vec<_> = some.map(|(kind, count)| format!("{kind}: {count}")).collect();
    (!kinds.is_empty()).then(|| ("Skipped", kinds.join(", ")))
}

/// The start of the line that reports that all is locked.
pub(super) const LOCKED: &str = "LOCKED ";

/// Formats what vmtouch prints once all is locked.
pub(super) fn locked(found: &CrawlReport) -> String {
    format!("{LOCKED}{} pages ({})\n", found.pages.total, size(found.pages.total))
}

/// Formats everything that was counted.
pub(super) fn json(found: &CrawlReport, show: &Show<'_>, elapsed: Duration) -> String {
    let pages = found.pages;
    let kinds = found.skipped.kinds();
    let skipped: Map<_, _> =
        kinds.iter().map(|(kind, n)| (kind.replace(' ', "_"), json!(n))).collect();
    let mut all = json!({
        "files": found.files,
        "directories": found.directories,
        "page_size": page_size(),
        "pages": {
            "total": pages.total,
            "resident": (pages.unknown < pages.total || pages.total == 0).then_some(pages.resident),
            "unknown": pages.unknown,
            "dirty": pages.dirty,
            "touched": found.touched,
        },
        "names": { "total": found.names.total, "cached": found.names.cached },
        "skipped": skipped,
        "failed": show.problems,
        "seconds": elapsed.as_secs_f64(),
    });
    if !show.listed.is_empty() {
        all["list"] = show.listed.clone().into();
    }
    format!("{all:#}\n")
}

fn amount(pages: u64) -> String {
    format!("{pages} ({})", size(pages))
}

/// Formats a size as vmtouch does: powers of 1024, cut off.
fn size(pages: u64) -> String {
    let mut amount = pages * page_size();
    let mut unit = "";
    for larger in ["K", "M", "G"] {
        if amount < 1024 {
            break;
        }
        (amount, unit) = (amount / 1024, larger);
    }
    format!("{amount}{unit}")
}

/// Formats a share; empty if the whole is 0, as in vmtouch.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    format!("{}%", general(100.0 * part as f64 / whole as f64, 3))
}

/// Formats as C's `%.*g`: with `digits` significant digits, without zeros at the end.
fn general(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let trimmed = |text: &str| {
        let all_zeros = if text.contains('.') { text.trim_end_matches('0') } else { text };
        all_zeros.trim_end_matches('.').to_owned()
    };
    match exponent.parse::<i32>().unwrap_or(0) {
        e if e < -4 => format!("{}e-{:02}", trimmed(mantissa), -e),
        e if usize::try_from(e).is_ok_and(|e| e >= digits) => {
            format!("{}e+{e:02}", trimmed(mantissa))
        }
        e => {
            let places = i32::try_from(digits).unwrap_or(0) - 1 - e;
            trimmed(&format!("{value:.*}", usize::try_from(places).unwrap_or(0)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_c_writes_them() {
        for (value, digits, expected) in [
            (100.0, 3, "100"),
            (0.0, 3, "0"),
            (50.0, 3, "50"),
            (33.333_333, 3, "33.3"),
            (99.96, 3, "100"),
            (0.033_333, 3, "0.0333"),
            (0.000_033_333, 3, "3.33e-05"),
            (0.942_751, 5, "0.94275"),
            (1_234.567_8, 5, "1234.6"),
            (123_456.0, 5, "1.2346e+05"),
            (0.000_1, 5, "0.0001"),
        ] {
            assert_eq!(general(value, digits), expected, "{value}");
        }
    }

    #[test]
    fn sizes_are_cut_off() {
        let per_mib = (1 << 20) / page_size();
        assert_eq!(size(0), "0");
        assert_eq!(size(per_mib), "1M");
        assert_eq!(size(per_mib * 1025), "1G");
        assert_eq!(size(per_mib * 1024 * 5000), "5000G");
        assert_eq!((percent(1, 3), percent(0, 0)), ("33.3%".into(), String::new()));
    }
}
