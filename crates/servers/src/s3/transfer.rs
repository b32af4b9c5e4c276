//! How values are moved.

use model::Settings;

use super::{CONCURRENCY, PART, client::Transfer, prices::Prices, sums::CHECK};
use crate::server::limit;

/// Returns the parameters of moving values with `settings`.
pub(super) fn transfer(settings: &Settings) -> Transfer {
    Transfer {
        part: settings.parse(PART.name).unwrap_or(8 << 20),
        concurrency: settings.parse(CONCURRENCY.name).unwrap_or(4),
        check: settings.parse(CHECK.name).unwrap_or_default(),
        counted: true,
        // They are checked before a store is opened.
        prices: Prices::from_settings(settings).ok().flatten(),
        limit: limit(settings),
    }
}
