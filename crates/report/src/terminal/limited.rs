//! What a limit on memory left of each store when its trials began.

use model::{Cache, record::Record, units::show_size};

use super::number::figure;
use crate::{Figures, explained};

/// A line below the table of a limited state: the limit, and the share of pages that proves it.
pub(super) fn beneath(record: &Record, rows: &[Figures]) -> Option<String> {
    let plan = &record.header.plan;
    let memory = plan.memory.filter(|_| rows[0].case.cache == Cache::Limited)?;
    let shares = explained(record, rows).into_iter().filter_map(|row| {
        let label = &plan.targets.get(row.target)?.label;
        Some(format!("{label} {} %", figure(row.cached_before? * 100.0)))
    });
    let shares: Vec<_> = shares.collect();
    let limit = show_size(memory.limit_bytes?);
    let cache = show_size(memory.cache_bytes);
    Some(format!(
        "memory limited to {limit}, {cache} of it for an engine's own cache; pages in memory when a \
         trial began: {}",
        shares.join(", ")
    ))
}
