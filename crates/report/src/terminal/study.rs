//! The page of a study: what was published beside what came out here.

use model::{
    record::Record,
    study::{Figure, Job, Step, Study},
};

use super::{
    Style, doubts, head,
    number::{NONE, figure, with_interval},
    page::Paint,
    summary, sweep,
    table::{Cell, Column, Side, Table},
    terminal,
};
use crate::{
    figures, remarks_of_all,
    study::{Against, Held, Here, held},
};

/// What a step gave.
pub struct StudyStep<'a> {
    /// The step.
    pub step: &'a Step,
    /// Its records; none where it could not be run.
    pub records: Vec<Record>,
    /// What of it was not measured, and why; a sentence each.
    pub gaps: Vec<String>,
}

/// What a study is, and what of its set-up differs here.
pub fn study_head(study: &Study, style: &Style) -> String {
    let mut page = super::blank(*style);
    page.paragraph("", &format!("“{}”", study.title), Paint::Bold);
    page.paragraph("source: ", &study.source, Paint::Plain);
    page.paragraph("published: ", &study.published_on, Paint::Plain);
    page.gap();
    page.paragraph("", "what differs here:", Paint::Plain);
    for sentence in &study.differs {
        page.paragraph("  · ", sentence, Paint::Plain);
    }
    page.into_text()
}

/// A step: published and measured figures, and doubts. What a command of its own measures has
/// published figures on its own page.
pub fn study_step(done: &StudyStep<'_>, style: &Style) -> String {
    let mut page = super::blank(*style);
    page.paragraph("", &done.step.title, Paint::Bold);
    for gap in &done.gaps {
        page.paragraph("! ", gap, Paint::Plain);
    }
    if done.step.command != Job::Run {
        let pages = done.records.iter().map(|record| terminal(record, style));
        return page.into_text() + &pages.collect::<String>();
    }
    if let Some(record) = done.records.first() {
        head::print(&mut page, record);
        page.gap();
    }
    let rows = held(done.step, &done.records);
    if !rows.is_empty() {
        table(&rows).print(&mut page);
    }
    let shown = rows.iter().filter(|row| row.published.is_some()).count();
    let left_out = done.step.claims.len().saturating_sub(shown);
    if left_out > 0 {
        let told = format!("{left_out} published figures are of runs that this sweep leaves out");
        page.paragraph("  ", &told, Paint::Dim);
    }
    let Some(record) = done.records.first() else { return page.into_text() };
    sweep::together(&mut page, &done.records);
    let figures: Vec<_> = done.records.iter().map(figures).collect();
    let remarks = remarks_of_all(&done.records, &figures);
    doubts::print(&mut page, record, &remarks, style.all_findings);
    done.records.iter().for_each(|record| summary::print(&mut page, record));
    page.into_text()
}

fn table(rows: &[Held]) -> Table {
    let text = |name| Column { name, unit: "", side: Side::Left, gives: &[24, 16, 10] };
    let mut table = Table::new(vec![
        text("in"),
        text("target"),
        Column { name: "figure", unit: "", side: Side::Left, gives: &[] },
        Column::number("published", ""),
        Column::number("here", ""),
        Column { name: "here is", unit: "", side: Side::Left, gives: &[] },
    ]);
    for row in rows {
        table.row(vec![
            Cell::new(&row.place),
            Cell::new(&row.target),
            Cell::new(name(row.figure)),
            Cell::new(row.published.map_or_else(|| NONE.to_owned(), |of| range(row.figure, of)))
                .painted(Paint::Dim),
            Cell::new(row.here.as_ref().map_or_else(|| "not measured".to_owned(), here)),
            Cell::new(row.against().map_or(NONE, against)),
        ]);
    }
    table
}

pub(crate) fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::TimeRatio => "time ÷",
        Figure::Microseconds => "µs/blob",
        Figure::SpaceRatio => "on disk ÷",
        Figure::BreakEven => "break-even",
    }
}

pub(crate) fn range(of: Figure, (low, high): (f64, f64)) -> String {
    let figure = |value| if of == Figure::BreakEven { sweep::bytes(value) } else { figure(value) };
    if low.total_cmp(&high).is_eq() {
        figure(low)
    } else if high.is_infinite() {
        format!("{} or more", figure(low))
    } else {
        format!("{}–{}", figure(low), figure(high))
    }
}

pub(crate) fn here(here: &Here) -> String {
    match here {
        Here::Estimate(estimate) => with_interval(estimate),
        Here::Exact(value) => figure(*value),
        Here::Even(even) => sweep::told(even, "the baseline"),
    }
}

pub(crate) fn against(against: Against) -> &'static str {
    match against {
        Against::Agrees => "as published",
        Against::Lower => "lower",
        Against::Higher => "higher",
    }
}
