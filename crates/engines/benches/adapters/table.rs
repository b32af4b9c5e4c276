//! The table for people.

use std::fmt::Write;

use crate::{
    arguments::Arguments,
    rounds::{Row, median},
};

pub(crate) fn show(rows: &[Row], arguments: &Arguments) -> String {
    let mut out = format!(
        "{} values of 8 to 12 kB, keys in random order, warm, {} rounds; medians in µs an \
         operation\n\n{:24}{:>9}{:>9}{:>8}  {:18}{:>6}\n",
        arguments.keys, arguments.rounds, "", "bare", "adapter", "ratio", "95 % interval", "limit",
    );
    for row in rows {
        let ratio = row.ratio();
        let interval = format!("{:.3} to {:.3}", ratio.low, ratio.high);
        let verdict = if row.over() { "OVER" } else { "ok" };
        let (bare, adapter) = (median(&mut row.bare.clone()), median(&mut row.adapter.clone()));
        let (name, point, limit) = (row.name, ratio.point, row.limit);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{name:24}{bare:9.3}{adapter:9.3}{point:8.3}  {interval:18}{limit:6.2}  {verdict}"
        );
    }
    out
}
