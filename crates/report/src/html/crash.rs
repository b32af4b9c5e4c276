//! The page of power cuts: the tables of the terminal, and a chart of each store or program that lost
//! something.

use maud::{Markup, html};
use model::{BrokenState, CrashResult, CrashedStore};

use super::{
    chart,
    frame::{self, Drawing, SCRIPT},
    table,
};
use crate::{
    charts::{Chart, power_cuts},
    pages::{self, Page},
    table::{Block, Line, Lines, Tone},
};

/// Writes the page of stores under which the power was cut.
pub fn html_crashed_stores(stores: &[CrashedStore]) -> String {
    let title = "What does a power cut leave of these stores?";
    page(title, &pages::crashed_stores(stores), &charts(stores, ""))
}

/// Returns the charts of the stores that lost something; `prefix` makes their ids unique.
pub(super) fn charts(stores: &[CrashedStore], prefix: &str) -> Vec<Chart> {
    let chart = |store: &CrashedStore| {
        let made = if store.established { "established" } else { "new" };
        let place = format!("{} {} ({made})", store.target, store.durability);
        power_cuts::chart(&store.result, &place)
    };
    numbered(stores.iter().filter_map(chart), prefix)
}

/// Gives each chart an id of its own.
pub(super) fn numbered(charts: impl IntoIterator<Item = Chart>, prefix: &str) -> Vec<Chart> {
    let number = |(number, mut chart): (u32, Chart)| {
        chart.id = format!("{prefix}{}-{number}", chart.id);
        chart
    };
    (1..).zip(charts).map(number).collect()
}

/// Writes the page of a program under which the power was cut, as [`pages::crash`] has it.
pub fn html_crash(
    program: &str,
    result: &CrashResult,
    again: &dyn Fn(&BrokenState) -> String,
) -> String {
    let title = format!("What does a power cut leave of what {program} wrote?");
    let charts = numbered(power_cuts::chart(result, ""), "");
    page(&title, &pages::crash(program, result, again), &charts)
}

fn page(title: &str, page: &Page, charts: &[Chart]) -> String {
    let drawn = !SCRIPT.is_empty();
    let (answer, others) = page.blocks.split_at(page.blocks.len().min(1));
    let body = html! {
        a.skip href="#main" { "Skip to the charts" }
        header {
            h1 { (title) }
            (frame::undrawn(drawn))
            @for block in answer { (shown(block)) }
        }
        main id="main" {
            @for chart in charts { (chart::markup(chart, false, drawn)) }
            @for block in others { (shown(block)) }
        }
    };
    let targets = power_cuts::series_names();
    let drawing = Drawing { charts: charts.iter().collect(), targets, limits: Vec::new() };
    frame::page(title, body, &drawing, &SCRIPT)
}

pub(super) fn shown(block: &Block) -> Markup {
    match block {
        Block::Table(table) => html! { section { (table::markup(table)) } },
        Block::Lines(lines) => sentences(lines),
        Block::Findings { .. } => html! {},
    }
}

fn sentences(Lines { title, lines }: &Lines) -> Markup {
    html! {
        section {
            @if !title.is_empty() { h2 { (title) } }
            @for line in lines { (sentence(line)) }
        }
    }
}

/// Shows a line; the name before it on the terminal ends with a colon.
fn sentence(Line { lead, text, tone }: &Line) -> Markup {
    let name = lead.trim().trim_matches('!');
    html! {
        p.answer[*tone == Tone::Bold] {
            @if !name.is_empty() { strong { (name) ": " } }
            @if text.starts_with("storemark ") { code.command { (text) } } @else { (text) }
        }
    }
}
