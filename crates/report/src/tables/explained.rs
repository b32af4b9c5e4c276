//! What explains the differences between targets in a case.

use model::record::Record;

use super::{TARGET, label};
use crate::{
    Aspect, Difference, Figures, differences,
    number::{faster_or_slower, figure},
    table::{Column, Line, Lines, Table},
    words,
};

type Shown = (Column, Aspect);

const TIME: [Shown; 8] = [
    (Column::number("user", "µs"), Aspect::User),
    (Column::number("kernel", "µs"), Aspect::Kernel),
    (Column::number("off CPU", "µs"), Aspect::OffCpu),
    (Column::number("faults", "minor"), Aspect::MinorFaults),
    (Column::number("faults", "major"), Aspect::MajorFaults),
    (Column::number("switches", ""), Aspect::Switches),
    (Column::number("to open", "ms"), Aspect::Opening),
    (Column::number("first", "÷ steady"), Aspect::FirstOverSteady),
];

const MOVED: [Shown; 8] = [
    (Column::number("calls", "read"), Aspect::ReadCalls),
    (Column::number("calls", "write"), Aspect::WriteCalls),
    (Column::number("bytes", "read"), Aspect::ReadBytes),
    (Column::number("bytes", "written"), Aspect::WrittenBytes),
    (Column::number("device", "read"), Aspect::DeviceRead),
    (Column::number("device", "written"), Aspect::DeviceWritten),
    (Column::number("cached", "before %"), Aspect::CachedBefore),
    (Column::number("cached", "after %"), Aspect::CachedAfter),
];

/// Where the time of a case goes, and what was moved; `rows` are its figures.
pub(crate) fn explained(record: &Record, rows: &[Figures]) -> [Table; 2] {
    let plan = &record.header.plan;
    let case =
        format!("{}, {}", words::workload_name(plan, rows[0].case.workload), rows[0].case.cache);
    let explained = crate::explained(record, rows);
    let table = |title: String, shown: [Shown; 8]| {
        let table = Table::of(title, &explained).with(TARGET, |row| label(plan, row.target));
        shown
            .into_iter()
            .fold(table, |table, (column, of)| table.with(column, move |row| row.get(of)))
            .done()
    };
    // All of it, the tool's own too: how targets differ says more than what one takes.
    let memory = explained.iter().filter_map(|row| {
        Some(format!("{} {} MB", label(plan, row.target), figure(row.get(Aspect::Memory)?)))
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
        // Others are not compared.
        _ => less.to_owned(),
    };
    let [change, from, to] =
        [difference.change().abs(), difference.baseline, difference.target].map(figure);
    format!("{change} {what} ({from} → {to})")
}
