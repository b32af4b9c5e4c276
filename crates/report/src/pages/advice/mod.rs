//! The page of an advice: which store suits the data, what it costs, how far the answer can be trusted,
//! and what was tried.

mod moves;
mod says;
mod sharing;
mod tables;

use checks::{Advice, Candidate, Decision, Outcome, life_spaces};
use model::{
    record::Record,
    units::{longer_option, show_duration},
};

use super::Page;
use crate::{
    answer::display::full_name,
    experiment::{experiment_report, life::tables as life_tables},
    sentences,
    table::{Block, Line, Lines},
};

/// Returns the page of a search. `explain` adds all candidates and what their settings trade; it is
/// the command that measures them in one run, or empty.
pub fn advice(advice: &Advice, explain: Option<&str>) -> Page {
    let Some(decision) = Decision::new(advice) else {
        let lines = nothing_compared(advice).into_iter().map(|text| Line::new("", text));
        return Page::prose([Lines::new("", lines)]);
    };
    let mut blocks = vec![says::says(&decision).into(), tables::candidates(&decision).into()];
    blocks.extend(sharing::says(&decision).into_iter().map(Block::from));
    blocks.extend(advice.life.iter().flat_map(life));
    if let Some(command) = explain {
        blocks.extend(sharing::table(advice).map(Block::from));
        blocks.extend([tables::tried(advice).into(), tables::trades(advice, command).into()]);
    }
    Page::new(blocks)
}

/// Returns the sentences for a search in which no candidate was measured, or one alone. Time helps unless all
/// others failed.
fn nothing_compared(advice: &Advice) -> Vec<String> {
    let time = advice.time;
    let can_be = |one: &&Candidate| !matches!(advice.outcome(one), Outcome::Failed(_));
    let is_late = advice.candidates.iter().filter(can_be).count() > 1;
    let more = is_late.then(|| sentences::try_time(longer_option(time.saturating_mul(3), time)));
    [sentences::none_to_compare(show_duration(time))].into_iter().chain(more).collect()
}

/// Returns the sizes of stores and of their backups over the life of a few values.
fn life(record: &Record) -> Vec<Block> {
    let plan = &record.header.plan;
    let data = Line::dim(experiment_report(plan).data(plan));
    let table = life_tables::life_spaces(record, &life_spaces(record)).map(Block::from);
    let title = Lines::new("The life of the data, as `storemark life` measures it", [data]);
    table.map_or_else(Vec::new, |table| vec![title.into(), table])
}

fn name(decision: &Decision<'_>, target: usize) -> String {
    if Some(target) != decision.now {
        return full_name(decision.plan, target);
    }
    format!("what is there now ({})", decision.plan.targets[target].title)
}
