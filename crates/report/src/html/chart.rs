//! A chart on the page: its heading, how to read it, and its tables.

use maud::{Markup, html};

use super::table;
use crate::charts::Chart;

/// Returns the markup, under a heading of the second rank, or of the third if it is `below`
/// one. The table is open until the script has drawn the chart, and is the only content if the
/// chart is not `drawn`.
pub(super) fn markup(chart: &Chart, below: bool, drawn: bool) -> Markup {
    let Chart { id, title, place, .. } = chart;
    let named = if place.is_empty() { title.clone() } else { format!("{title} {place}") };
    let heading = html! {
        (title) @if !place.is_empty() { " " span.place { (place) } }
    };
    html! {
        figure.chart id={ "chart-" (id) } {
            figcaption {
                @if below { h3 { (heading) } } @else { h2 { (heading) } }
                p { (chart.read) }
            }
            @if !chart.sentences.is_empty() {
                ul.conditions { @for sentence in &chart.sentences { li { (sentence) } } }
            }
            @if drawn {
                div.plot data-chart=(id) role="img"
                    aria-label={ (named) ". The table below has its figures." } {}
            }
            details open {
                summary aria-label={ "Table: " (named) } { "Table" }
                @for table in &chart.tables { (table::titled(table, &named)) }
            }
        }
    }
}
