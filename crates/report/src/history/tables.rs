//! The table of a history, and its sentences.

use checks::FEWEST_ROUNDS;

use super::{History, HistoryGroup, HistoryLine, HistoryRecord, HistoryStep, HistoryVerdict};
use crate::{
    number::{date, faster_or_slower, figure, with_interval},
    sentences,
    table::{Cell, Column, Room, Table, Tone},
    tables::TARGET,
    words,
};

/// Counts the lines: `Of 6 lines: 1 with steps, 1 creeps, 4 steady.`
pub(crate) fn counts(history: &History) -> String {
    if history.groups.iter().all(|group| group.lines.is_empty()) {
        return format!(
            "No target has a figure: each record has fewer than {FEWEST_ROUNDS} rounds, or the stores were \
             not in their cache state."
        );
    }
    let lines = || history.groups.iter().flat_map(|group| &group.lines);
    let count = |verdict| lines().filter(|line| line.verdict == verdict).count();
    let judged = [
        (HistoryVerdict::Steps, "with steps"),
        (HistoryVerdict::Creeps, "creeping"),
        (HistoryVerdict::Steady, "steady"),
        (HistoryVerdict::TooFewRecords, "with too few records"),
    ];
    let named = judged.map(|(verdict, words)| {
        let count = count(verdict);
        (count > 0).then(|| format!("{count} {words}"))
    });
    let all = judged.map(|(verdict, _)| count(verdict)).iter().sum::<usize>();
    let named = words::joined(named, ", ").unwrap_or_else(|| "none is judged".to_owned());
    format!("Of {}: {named}.", words::counted(all as u64, "line"))
}

/// Describes the records of a group: `24 records from 2026-01-05 to 2026-06-15`.
pub(crate) fn head(group: &HistoryGroup) -> String {
    let records = words::counted(group.records.len() as u64, "record");
    let day = |record: Option<&HistoryRecord>| record.map_or_else(String::new, |r| date(r.started));
    let [first, last] = [group.records.first(), group.records.last()].map(day);
    if first == last {
        return format!("{records} of {first}");
    }
    format!("{records} from {first} to {last}")
}

/// Describes each change of a group.
pub(crate) fn found(group: &HistoryGroup) -> Vec<String> {
    group.lines.iter().flat_map(|line| of_line(group, line)).collect()
}

fn of_line(group: &HistoryGroup, line: &HistoryLine) -> Vec<String> {
    let place = |record: usize| {
        let HistoryRecord { file, started } = &group.records[record];
        format!("{file} ({})", date(*started))
    };
    let step = |step: &HistoryStep| {
        let change = faster_or_slower(step.ratio.point);
        let ratio = with_interval(&step.ratio);
        let said = sentences::history_step(line.title(), change, place(step.record), ratio);
        let differs = words::parts(&step.differs, words::NAMED);
        if differs.is_empty() { said } else { sentences::history_differs(said, differs) }
    };
    let creep = line.creep.zip(line.points.first().zip(line.points.last()));
    let creep = creep.map(|(change, (first, last))| {
        let each = (1.0 + change).powf(1.0 / (line.points.len() - 1).max(1) as f64) - 1.0;
        let [first, last] = [first, last].map(|point| place(point.record));
        let [all, each] = [change, each].map(percent);
        sentences::history_creep(line.title(), all, first, last, each)
    });
    line.steps.iter().map(step).chain(creep).collect()
}

/// Formats a change as `+1.2 %`.
fn percent(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{} %", figure(share.abs() * 100.0))
}

/// Returns the table of a group, a row for each target in each case.
pub(crate) fn table(group: &HistoryGroup) -> Table {
    let several = group.lines.iter().any(|line| line.case() != group.lines[0].case());
    let ends = |line: &HistoryLine, place: usize| Some(line.ends()?[place]);
    let change = |line: &HistoryLine| {
        let [first, now] = line.ends()?;
        Some(percent(now / first - 1.0)).filter(|_| line.is_changed())
    };
    Table::for_rows(head(group), &group.lines)
        .with(TARGET, |line| &*line.target)
        .with_if(several, Column::text("in").narrow(&[30, 18]), HistoryLine::case)
        .with(Column::number("records", "").room(Room::Spare(1)), |line| line.points.len() as u64)
        .with(Column::text("time ÷").room(Room::Spare(2)), |line| line.control.clone())
        .with(Column::number("before", ""), |line| ends(line, 0))
        .with(Column::number("now", ""), |line| ends(line, 1))
        .with(Column::number("change", ""), change)
        .with(Column::text("verdict").narrow(&[16]), |line| {
            Cell::from(verdict(line)).tone(tone(line))
        })
        .into_table()
        .with_notes([NOTE.to_owned()])
}

const NOTE: &str = "before, now: the time divided by the control's before the first step and after the last, without \
                    a control µs/op";

impl HistoryLine {
    /// Reports whether it has steps, or creeps.
    fn is_changed(&self) -> bool {
        matches!(self.verdict, HistoryVerdict::Steps | HistoryVerdict::Creeps)
    }
}

fn verdict(line: &HistoryLine) -> String {
    match line.verdict {
        HistoryVerdict::Steady => "steady".to_owned(),
        HistoryVerdict::Steps => words::counted(line.steps.len() as u64, "step"),
        HistoryVerdict::Creeps => "creeps".to_owned(),
        HistoryVerdict::Control => "control".to_owned(),
        HistoryVerdict::TooFewRecords => "too few records".to_owned(),
    }
}

/// Returns the emphasis of a line by where its time is now.
fn tone(line: &HistoryLine) -> Tone {
    match line.ends().filter(|_| line.is_changed()) {
        Some([first, now]) if now > first => Tone::Bad,
        Some(_) => Tone::Good,
        None => Tone::Plain,
    }
}
