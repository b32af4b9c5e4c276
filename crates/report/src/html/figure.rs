//! A chart in the page: its title, how to read it, the place where it is drawn, its table.

use maud::{Markup, html};

use super::{chart::Chart, table::Table};

/// A chart with what stands around it.
pub(super) struct Figure {
    pub(super) chart: Chart,
    /// A line that says how to read it.
    pub(super) read: String,
    /// What it shows, where a sentence says it better.
    pub(super) said: Vec<String>,
    pub(super) table: Table,
}

impl Figure {
    pub(super) fn markup(&self) -> Markup {
        let Chart { id, title, .. } = &self.chart;
        html! {
            figure.chart id={ "chart-" (id) } {
                figcaption { strong.chart-title { (title) } " " (self.read) }
                @if !self.said.is_empty() {
                    ul.said { @for said in &self.said { li { (said) } } }
                }
                div.plot data-chart=(id) role="img"
                    aria-label={ (title) ". Its figures stand in the table below." } {}
                details {
                    summary aria-label={ "Table: " (title) } { "Table" }
                    (self.table.markup())
                }
            }
        }
    }
}
