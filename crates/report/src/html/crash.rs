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
    let chart = |store: &CrashedStore| {
        let made = if store.established { "established" } else { "new" };
        let place = format!("{} {} ({made})", store.target, store.durability);
        power_cuts::chart(&store.result, &place)
    };
    let charts = stores.iter().filter_map(chart).collect();
    page("What does a power cut leave of these stores?", &pages::crashed_stores(stores), charts)
}

/// Writes the page of a program under which the power was cut, as [`pages::crash`] has it.
pub fn html_crash(
    program: &str,
    result: &CrashResult,
    again: &dyn Fn(&BrokenState) -> String,
) -> String {
    let title = format!("What does a power cut leave of what {program} wrote?");
    let charts = power_cuts::chart(result, "").into_iter().collect();
    page(&title, &pages::crash(program, result, again), charts)
}

fn page(title: &str, page: &Page, mut charts: Vec<Chart>) -> String {
    for (number, chart) in (1_u32..).zip(&mut charts) {
        chart.id = format!("{}-{number}", chart.id);
    }
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
            @for chart in &charts { (chart::markup(chart, false, drawn)) }
            @for block in others { (shown(block)) }
        }
    };
    let targets = power_cuts::series_names();
    let drawing = Drawing { charts: charts.iter().collect(), targets, limits: Vec::new() };
    frame::page(title, body, &drawing, &SCRIPT)
}

fn shown(block: &Block) -> Markup {
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
