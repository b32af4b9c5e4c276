//! The meanings of unusual heads of columns.

use std::collections::BTreeSet;

use itertools::Itertools;

use crate::table::Column;

/// The heads and units of columns, with their meaning.
const HEADS: [(&[&str], &str); 13] = [
    (
        &["ratio"],
        "ratio: time ÷ time of the baseline; below 1 is faster; the interval in parentheses contains the \
         true ratio in at least 95 of 100 runs, and decides the verdict",
    ),
    (&["new ÷ old"], "new ÷ old: above 1 is slower than before"),
    (&["first"], "first: the first pass after opening, which the time leaves out"),
    (&["wall"], "wall: by the clock on the wall, with waiting for a processor"),
    (&["device"], "device: bytes read from the device"),
    (&["B/B"], "B/B: bytes for each byte of data"),
    (
        &["p50", "p99", "p99.9"],
        "p99: 99 of 100 operations take at most so long; likewise p50 and p99.9",
    ),
    (&["CPU"], "CPU: processor time"),
    (&["done"], "done: operations that were completed in a second"),
    (&["publ."], "publ.: what was published"),
    (&["sees"], "sees: the smallest change that these records show"),
    (&["age"], "age: bytes of replaced objects ÷ bytes of live ones"),
    (&["least age", "first replacing"], "time ÷ least age's: how much ageing has slowed it down"),
];

/// Returns the meanings of the heads of `columns` that are not in `seen` yet; `None` if there are
/// none.
pub(crate) fn legend<'a>(
    columns: impl Iterator<Item = &'a Column>,
    seen: &mut BTreeSet<&'static str>,
) -> Option<String> {
    let columns: Vec<_> = columns.collect();
    let is_used = |words: &[&str]| {
        let has =
            |column: &Column| words.contains(&&*column.head) || words.contains(&&*column.unit);
        columns.iter().copied().any(has)
    };
    let used = HEADS.iter().filter(|(words, _)| is_used(words)).map(|(_, text)| *text);
    let new: Vec<_> = used.filter(|text| seen.insert(text)).collect();
    (!new.is_empty()).then(|| new.iter().join("; "))
}
