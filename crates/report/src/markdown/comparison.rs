//! A comparison of two records.

use super::{Table, list, shown, weighed};
use crate::{
    Change, ComparedCase, Comparison, Judgement,
    terminal::{asides, change_words, figure_or_none, interval_or_none},
};

/// How `names`, the old record's and the new one's, compare.
pub fn comparison_markdown(told: &Comparison, names: [&str; 2]) -> String {
    let mut text =
        format!("### {} against {}\n\n{}\n", shown(names[1]), shown(names[0]), sum(told));
    for case in &told.cases {
        text += &section(case);
    }
    text += &list("What else differs", &asides(told));
    let doubts: Vec<String> = told
        .doubts
        .iter()
        .map(|doubt| (doubt.severity, format!("{}: {}", doubt.whose.as_str(), doubt.sentence)))
        .map(|(severity, sentence)| weighed(severity, &sentence))
        .collect();
    text + &list("Findings", &doubts)
}

/// `2 worse, 1 better, 5 without a difference shown, 1 not judged.`
fn sum(told: &Comparison) -> String {
    let count =
        |of: fn(Judgement) -> bool| told.changes().filter(|(_, row)| of(row.judgement)).count();
    let worse = count(|judgement| judgement == Judgement::Slower);
    let better = count(|judgement| judgement == Judgement::Faster);
    let even = count(|judgement| judgement == Judgement::NoDifference);
    let rest = told.changes().count() - worse - better - even;
    format!("{worse} worse, {better} better, {even} without a difference shown, {rest} not judged.")
}

fn section(case: &ComparedCase) -> String {
    let (title, workload) = (shown(&case.title()), shown(&case.workload));
    format!("\n**{title}**: {workload}\n\n{}", table(case))
}

fn table(case: &ComparedCase) -> String {
    let heads =
        ["target", "old, µs/op", "new, µs/op", "time, new ÷ old", "p99, new ÷ old", "verdict"];
    let mut table = Table::new(&heads);
    for change in &case.changes {
        table.row(&row(change));
    }
    table.0
}

fn row(change: &Change) -> [String; 6] {
    [
        change.target.clone(),
        figure_or_none(change.old_us.map(|time| time.point)),
        figure_or_none(change.new_us.map(|time| time.point)),
        interval_or_none(change.time.as_ref()),
        interval_or_none(change.p99.as_ref()),
        change_words(change),
    ]
}
