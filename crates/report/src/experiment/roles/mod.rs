//! Roles: what each costs next to the others, how its sessions waited, and how stores grew.

mod charts;
mod tables;

use checks::{Figures, maintained_role_figures, maintenance_figures, role_figures, role_growths};
use model::{
    Plan, RolesData,
    record::Record,
    units::{duration_of, show_duration},
};

use super::{ExperimentReport, about, compared_values, details, question};
use crate::{
    charts::{Make, Part, cases, over_time},
    table::{Block, Detail},
    words,
};

impl ExperimentReport for RolesData {
    fn data(&self, _plan: &Plan) -> String {
        let values = words::describe_values(
            &self.summary,
            self.summary.count,
            &words::describe_source(&self.dataset),
        );
        let pass = show_duration(duration_of(self.pass_ns as f64 / 1e9));
        format!("{values}; {}; passes of {pass}", described(self))
    }

    fn data_for_comparison(&self) -> String {
        let values = compared_values(&self.dataset, self.summary.count, self.summary.bytes);
        format!("{values}, {}", described(self))
    }

    fn question(&self, part: &Part<'_>) -> String {
        let one = |label: &str| format!("What do these roles cost each other on {label}?");
        question(part.plan(), one, "What do these roles cost each other?")
    }

    fn page(&self, record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
        let mut blocks = vec![about(record, None)];
        blocks.extend(costs(record, figures));
        blocks.extend(
            tables::maintained(record, &maintained_role_figures(record, figures)).map(Block::from),
        );
        blocks.extend(tables::maintenance(record, &maintenance_figures(record)).map(Block::from));
        blocks.extend(tables::growths(record, &role_growths(record)).map(Block::from));
        blocks.extend(details(record, figures, detail));
        blocks
    }

    fn charts(&self, _part: &Part<'_>) -> &'static [Make] {
        &[charts::slowdowns, cases::compared, over_time::charts, charts::growths]
    }
}

/// Returns what each role costs the others; empty if no roles were measured.
pub(crate) fn costs(record: &Record, figures: &[Figures]) -> Vec<Block> {
    let rows = role_figures(record, figures);
    if rows.is_empty() {
        return Vec::new();
    }
    let slowdowns = tables::slowdowns(record, &rows).map(Block::from);
    slowdowns.into_iter().chain([tables::roles(record, &rows).into()]).collect()
}

/// Describes the roles: `4 readers (read), 1 writers (update)`.
fn described(data: &RolesData) -> String {
    let roles = data.roles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let processes = if data.processes { ", a process each" } else { "" };
    let keys = data.distribution.map(|law| format!(", keys {law}")).unwrap_or_default();
    format!("{roles}{processes}{keys}")
}
