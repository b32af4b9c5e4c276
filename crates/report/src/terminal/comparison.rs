//! The page of a comparison of two records.

use model::Severity;

use super::{
    Style,
    bar::{self, Scale},
    blank, doubts,
    number::{faster_or_slower, figure_or_none, interval_or_none, with_interval},
    page::{Page, Paint},
    table::{Cell, Column, Side, Table},
    times::TARGET,
};
use crate::{Change, ComparedCase, Comparison, Judgement};

/// Prints how `names`, the old record's and the new one's, compare.
pub fn comparison(told: &Comparison, names: [&str; 2], style: &Style) -> String {
    let mut page = blank(*style);
    page.paragraph("", &format!("{} against {}", names[1], names[0]), Paint::Bold);
    for case in &told.cases {
        page.gap();
        page.paragraph("", &format!("{}: {}", case.title(), case.workload), Paint::Bold);
        table(case, &page).print(&mut page);
    }
    beneath(&mut page, told, style.all_findings);
    page.into_text()
}

/// Rows that surely take more than `times` as long as before, each in words:
/// `read, warm: files: time new ÷ old 1.10 (1.09–1.11)`.
pub fn worse_rows(told: &Comparison, times: f64) -> Vec<String> {
    let words = |(case, change): (&ComparedCase, &Change)| {
        let ratio = change.time.as_ref().map_or_else(String::new, with_interval);
        format!("{}: {}: time new ÷ old {ratio}", case.title(), change.target)
    };
    told.worse_than(times).map(words).collect()
}

/// What may lie behind a change, or goes without one.
fn beneath(page: &mut Page, told: &Comparison, all: bool) {
    page.gap();
    for said in asides(told) {
        page.paragraph("! ", &said, Paint::Plain);
    }
    let shown = |severity| all || severity > Severity::Note;
    for doubt in told.doubts.iter().filter(|doubt| shown(doubt.severity)) {
        let (lead, paint) = doubts::lead(doubt.severity);
        page.paragraph(lead, &format!("{}: {}", doubt.whose.as_str(), doubt.sentence), paint);
    }
    let notes = told.doubts.iter().filter(|doubt| !shown(doubt.severity)).count();
    if notes > 0 {
        let notes = if notes == 1 { "1 note".to_owned() } else { format!("{notes} notes") };
        page.paragraph("  ", &format!("and {notes} more (--verbose shows all)"), Paint::Dim);
    }
}

/// Sentences on what differs beside the times.
pub(crate) fn asides(told: &Comparison) -> Vec<String> {
    let only = told.only.iter().zip(["old", "new"]).flat_map(|(lacking, whose)| {
        lacking.iter().map(move |what| format!("only in the {whose} record: {what}"))
    });
    let plans = told.plans.iter().map(|unlike| format!("plans differ: {unlike}"));
    let machines = told.environments.iter().map(|unlike| format!("environments differ: {unlike}"));
    only.chain(plans).chain(machines).collect()
}

fn table(case: &ComparedCase, page: &Page) -> Table {
    let mut columns = vec![TARGET, Column::number("old", "µs/op"), Column::number("new", "µs/op")];
    let ratio =
        |name| Column { name, unit: "new ÷ old", side: Side::Right, gives: &[usize::MAX, 13] };
    let verdict = Column { name: "verdict", unit: "", side: Side::Left, gives: &[18] };
    let scale = Scale::of(case.changes.iter().map(|change| change.time.as_ref()));
    let compared = [ratio("time"), ratio("p99")];
    columns.extend(bar::beside(compared, scale.column(page)));
    let p99 = columns.len() - 1;
    columns.push(verdict);
    let gladly = if page.bars() { vec![p99 - 1] } else { vec![] };
    let mut table = Table::new(columns).sparing(gladly, vec![p99, 1, 2]);
    for change in &case.changes {
        let [old, new] = [change.old_us, change.new_us]
            .map(|time| Cell::new(figure_or_none(time.map(|time| time.point))));
        let ratios =
            [&change.time, &change.p99].map(|ratio| Cell::new(interval_or_none(ratio.as_ref())));
        let mut cells = vec![Cell::new(&change.target), old, new];
        cells.extend(bar::beside(ratios, scale.cell(page, change.time.as_ref())));
        cells.push(Cell::new(verdict_words(change)).painted(paint(change.judgement)));
        table.row(cells);
    }
    table
}

fn paint(judgement: Judgement) -> Paint {
    match judgement {
        Judgement::Faster => Paint::Green,
        Judgement::Slower => Paint::Red,
        _ => Paint::Plain,
    }
}

/// `worse: slower by 10 %`.
pub(crate) fn verdict_words(change: &Change) -> String {
    let by = || change.time.map_or_else(String::new, |ratio| faster_or_slower(ratio.point));
    match change.judgement {
        Judgement::Faster => format!("better: {}", by()),
        Judgement::Slower => format!("worse: {}", by()),
        Judgement::NoDifference => "no difference shown".to_owned(),
        Judgement::DurabilityDiffers => "durability differs".to_owned(),
        Judgement::TooFewRounds => "too few rounds".to_owned(),
        Judgement::StateNotReached => "state not reached".to_owned(),
        Judgement::Baseline | Judgement::NotMeasured => "not measured".to_owned(),
    }
}
