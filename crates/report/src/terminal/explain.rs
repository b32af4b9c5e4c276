//! What explains the differences: two tables for each case, and a sentence for each verdict.

use model::{Plan, record::Record};

use super::{
    number::{faster_or_slower, figure, figure_or_none},
    page::{Page, Paint},
    table::{Cell, Column, Table},
    times::{self, TARGET},
};
use crate::{Aspect, Difference, Explained, Figures, differences, explained};

/// A column and what stands in it.
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
    (Column::number("cached", "before %"), |row| percent(row.cached_before)),
    (Column::number("cached", "after %"), |row| percent(row.cached_after)),
];

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| share * 100.0)
}

pub(super) fn print(page: &mut Page, record: &Record, figures: &[Figures]) {
    let plan = &record.header.plan;
    for rows in figures.chunk_by(|one, next| one.case == next.case) {
        let case = rows[0].case;
        let name = format!("{}, {}", times::name(plan, case.workload), case.cache);
        let explained = explained(record, rows);
        let time = format!("{name}: where the time goes, per blob");
        table(page, plan, &time, TIME, &explained);
        let moved = format!("{name}: what was moved: calls per blob, bytes per byte of data");
        table(page, plan, &moved, MOVED, &explained);
        memory(page, plan, &explained);
        sentences(page, plan, rows, &explained);
    }
}

fn table<const N: usize>(
    page: &mut Page,
    plan: &Plan,
    title: &str,
    shown: [Shown; N],
    rows: &[Explained],
) {
    let (columns, of): (Vec<Column>, Vec<_>) = shown.into_iter().unzip();
    let mut table = Table::new([TARGET].into_iter().chain(columns).collect());
    for row in rows {
        let figures = of.iter().map(|of| Cell::new(figure_or_none(of(row))));
        table.row([Cell::new(label(plan, row.target))].into_iter().chain(figures).collect());
    }
    page.gap();
    page.paragraph("", title, Paint::Bold);
    table.print(page);
}

/// All of it, the tool's own too: what it is of one target tells little, how targets differ does.
fn memory(page: &mut Page, plan: &Plan, rows: &[Explained]) {
    let told = rows.iter().filter_map(|row| Some((label(plan, row.target), row.memory_mb?)));
    let told: Vec<_> = told.map(|(label, mb)| format!("{label} {} MB", figure(mb))).collect();
    if !told.is_empty() {
        let lead = "memory of storemark, its workers and servers, without the page cache: ";
        page.paragraph("  ", &format!("{lead}{}", told.join(", ")), Paint::Dim);
    }
}

fn label(plan: &Plan, target: usize) -> &str {
    plan.targets.get(target).map_or("", |target| &target.label)
}

fn sentences(page: &mut Page, plan: &Plan, rows: &[Figures], explained: &[Explained]) {
    let Some(baseline) = explained.iter().find(|row| row.target == plan.baseline) else { return };
    for (row, target) in rows.iter().zip(explained) {
        let differences = differences(baseline, row, target);
        if let (Some(ratio), false) = (row.ratio, differences.is_empty()) {
            let verdict = faster_or_slower(ratio.point);
            let along = differences.iter().map(said).collect::<Vec<_>>().join(" and ");
            let label = label(plan, row.target);
            let sentence = format!("{label}, {verdict}: this goes along with {along}");
            page.paragraph("· ", &sentence, Paint::Plain);
        }
    }
}

/// `2.10 µs less in the kernel per blob (3.00 → 0.900)`.
fn said(difference: &Difference) -> String {
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
    let change = figure(difference.change().abs());
    let (from, to) = (figure(difference.baseline), figure(difference.target));
    format!("{change} {what} ({from} → {to})")
}
