//! What explains the differences between targets in a case.

use model::record::Record;

use super::{TARGET, label};
use crate::{
    Aspect, Difference, Explained, Figures, differences,
    number::{faster_or_slower, figure},
    table::{Column, Line, Lines, Table},
    words,
};

type Shown = (Column, fn(&Explained) -> Option<f64>);

const TIME: [Shown; 8] = [
    (Column::number("user", "µs"), |row| row.user_us),
    (Column::number("kernel", "µs"), |row| row.system_us),
    (Column::number("off CPU", "µs"), |row| row.off_cpu_us),
    (Column::number("faults", "minor"), |row| row.minor_faults),
    (Column::number("faults", "major"), |row| row.major_faults),
    (Column::number("switches", ""), |row| row.switches),
    (Column::number("to open", "ms"), |row| row.open_ms),
    (Column::number("first", "÷ steady"), |row| row.first_over_steady),
];

const MOVED: [Shown; 8] = [
    (Column::number("calls", "read"), |row| row.read_calls),
    (Column::number("calls", "write"), |row| row.write_calls),
    (Column::number("bytes", "read"), |row| row.read_bytes),
    (Column::number("bytes", "written"), |row| row.written_bytes),
    (Column::number("device", "read"), |row| row.device_read),
    (Column::number("device", "written"), |row| row.device_written),
    (Column::number("cached", "before %"), |row| Some(row.cached_before? * 100.0)),
    (Column::number("cached", "after %"), |row| Some(row.cached_after? * 100.0)),
];

/// Where the time of a case goes, and what was moved; `rows` are its figures.
pub(crate) fn explained(record: &Record, rows: &[Figures]) -> [Table; 2] {
    let plan = &record.header.plan;
    let case =
        format!("{}, {}", words::workload_name(plan, rows[0].case.workload), rows[0].case.cache);
    let explained = crate::explained(record, rows);
    let table = |title: String, shown: [Shown; 8]| {
        let table = Table::of(title, &explained).with(TARGET, |row| label(plan, row.target));
        shown.into_iter().fold(table, |table, (column, of)| table.with(column, of)).done()
    };
    // All of it, the tool's own too: how targets differ says more than what one takes.
    let memory = explained.iter().filter_map(|row| {
        Some(format!("{} {} MB", label(plan, row.target), figure(row.memory_mb?)))
    });
    let memory: Vec<_> = memory.collect();
    let memory = (!memory.is_empty()).then(|| {
        let all = memory.join(", ");
        format!("memory of storemark, its workers and servers, without the page cache: {all}")
    });
    [
        table(format!("{case}: where the time goes, per blob"), TIME),
        table(format!("{case}: what was moved: calls per blob, bytes per byte of data"), MOVED)
            .with_notes(memory),
    ]
}

/// A sentence for each verdict that something coincides with.
pub(crate) fn explained_sentences(record: &Record, rows: &[Figures]) -> Option<Lines> {
    let plan = &record.header.plan;
    let explained = crate::explained(record, rows);
    let baseline = explained.iter().find(|row| row.target == plan.baseline)?;
    let sentences = rows.iter().zip(&explained).filter_map(|(row, target)| {
        let differences = differences(baseline, row, target);
        let along: Vec<_> = differences.iter().map(difference).collect();
        let verdict = faster_or_slower(row.ratio.filter(|_| !along.is_empty())?.point);
        let label = label(plan, row.target);
        Some(Line::new(
            "· ",
            format!("{label}, {verdict}: this coincides with {}", along.join(" and ")),
        ))
    });
    Some(Lines::new("", sentences)).filter(|lines| !lines.lines.is_empty())
}

/// `2.10 µs less in the kernel per blob (3.00 → 0.900)`.
fn difference(difference: &Difference) -> String {
    let (less, fewer) =
        if difference.change() < 0.0 { ("less", "fewer") } else { ("more", "more") };
    let what = match difference.aspect {
        Aspect::User => format!("µs {less} in user mode per blob"),
        Aspect::Kernel => format!("µs {less} in the kernel per blob"),
        Aspect::OffCpu => format!("µs {less} off the processor per blob"),
        Aspect::Calls => format!("{fewer} read and write calls per blob"),
        Aspect::MinorFaults => format!("{fewer} page faults per blob"),
        Aspect::MajorFaults => format!("{fewer} page faults from the device per blob"),
        Aspect::Switches => format!("{fewer} context switches per blob"),
        Aspect::DeviceRead => format!("{fewer} bytes from the device per byte"),
        Aspect::DeviceWritten => format!("{fewer} bytes to the device per byte"),
    };
    let [change, from, to] =
        [difference.change().abs(), difference.baseline, difference.target].map(figure);
    format!("{change} {what} ({from} → {to})")
}
