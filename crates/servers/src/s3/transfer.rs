//! How values are moved, and the requests that this takes.

use std::time::Duration;

use model::{Action, LONGEST_SCAN, Requests, Settings};

use super::{
    CONCURRENCY, PART,
    prices::Prices,
    sums::{CHECK, Check},
};
use crate::server::limit;

/// The most objects that one request lists or deletes.
pub(super) const AT_ONCE: usize = 1000;

/// The parameters of moving values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    /// The bytes of a part; longer values are moved in parts.
    pub(super) part: usize,
    /// The number of parts at once.
    pub(super) concurrency: usize,
    pub(super) check: Check,
    /// Whether its requests are those of the store: others find out whether a server of its own has
    /// started.
    pub(super) counted: bool,
    /// The prices of requests; `None` if none are given.
    pub(super) prices: Option<Prices>,
    /// The longest time without any progress.
    pub(super) limit: Duration,
}

impl Transfer {
    /// Adds the cost to requests, if prices are given.
    pub(super) fn add_price(&self, requests: Requests) -> Requests {
        Requests { cost: self.prices.map(|prices| prices.cost(&requests)), ..requests }
    }

    /// Returns the most requests that an operation on values of `bytes` sends, if none is sent
    /// again.
    pub(super) fn requests(&self, action: Action, bytes: u64) -> Requests {
        let part = self.part as u64;
        let parts = bytes.div_ceil(part).max(1);
        let asks = Requests { gets: 1, ..Requests::default() };
        let reads = Requests { gets: parts, received_bytes: bytes, ..Requests::default() };
        // More than one are started and completed.
        let puts = if parts > 1 { parts + 2 } else { 1 };
        let writes = Requests { puts, sent_bytes: bytes, ..asks };
        let lists = Requests { puts: 1, ..Requests::default() };
        let deletes = Requests { deletes: 1, ..asks };
        self.add_price(match action {
            Action::Read => reads,
            Action::Update | Action::Insert => writes,
            Action::Modify => reads + writes,
            Action::Delete => deletes,
            Action::Scan => lists + reads * u64::from(LONGEST_SCAN),
            Action::Stat => asks,
        })
    }

    /// Returns the requests that create a store, list its `values`, and remove them.
    pub(super) fn store_requests(&self, values: u64) -> Requests {
        // Each page is listed to be read, and listed and deleted at the end. Besides: whether nothing
        // is there, whose it is, whether inserts are conditional, and unfinished uploads.
        let puts = 3 * values.div_ceil(AT_ONCE as u64) + 10;
        self.add_price(Requests { puts, ..Requests::default() })
    }
}

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
