//! Requests to services that charge for them: how many this process and its workers have sent, and
//! the most that they may send.

use std::{
    ops::{Add, AddAssign, Mul, Sub},
    sync::{Mutex, MutexGuard, PoisonError},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The counter of a session's requests that cost what a PUT does.
pub const PUTS: &str = "puts, posts and lists";
/// The counter of a session's requests that cost what a GET does.
pub const GETS: &str = "gets and heads";
/// The counter of a session's requests that are free.
pub const DELETES: &str = "deletes";
/// The counter of the bytes in the bodies of requests.
pub const BYTES_SENT: &str = "bytes sent";
/// The counter of the bytes in the bodies of answers.
pub const BYTES_RECEIVED: &str = "bytes received";
/// The counter of the cost of requests and of the bytes received.
pub const COST: &str = "cost of requests, millionths";

/// The requests of one or several operations by kind, the bytes that they moved, and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// The requests that cost what a PUT does: PUT, POST and lists.
    pub puts: u64,
    /// The requests that cost what a GET does: GET and HEAD.
    pub gets: u64,
    /// The requests that are free: DELETE.
    pub deletes: u64,
    /// The bytes in the bodies of requests.
    pub sent_bytes: u64,
    /// The bytes in the bodies of answers.
    pub received_bytes: u64,
    /// The cost by the prices of the target, in its currency; `None` if no prices are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Requests {
    /// No requests.
    pub const NONE: Self =
        Self { puts: 0, gets: 0, deletes: 0, sent_bytes: 0, received_bytes: 0, cost: None };

    /// Returns the number of requests of all kinds.
    pub fn count(&self) -> u64 {
        self.puts.saturating_add(self.gets).saturating_add(self.deletes)
    }

    fn combined(
        self,
        other: Self,
        whole: impl Fn(u64, u64) -> u64,
        cost: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let costs = self.cost.or(other.cost);
        Self {
            puts: whole(self.puts, other.puts),
            gets: whole(self.gets, other.gets),
            deletes: whole(self.deletes, other.deletes),
            sent_bytes: whole(self.sent_bytes, other.sent_bytes),
            received_bytes: whole(self.received_bytes, other.received_bytes),
            cost: costs.map(|_| cost(self.cost.unwrap_or(0.0), other.cost.unwrap_or(0.0))),
        }
    }
}

impl Add for Requests {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.combined(other, u64::saturating_add, |one, other| one + other)
    }
}

impl AddAssign for Requests {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Requests {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.combined(other, u64::saturating_sub, |one, other| one - other)
    }
}

impl Mul<u64> for Requests {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        self.combined(self, |one, _| one.saturating_mul(times), |one, _| one * times as f64)
    }
}

impl std::iter::Sum for Requests {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::NONE, Self::add)
    }
}

/// The most requests that a command may send, and their highest cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestCeiling {
    /// The most requests of all kinds; `None` if any number is allowed.
    pub requests: Option<u64>,
    /// The highest cost; `None` if any is allowed.
    pub cost: Option<f64>,
}

impl RequestCeiling {
    /// Returns whether `sent` is more than it allows.
    pub fn is_below(&self, sent: &Requests) -> bool {
        self.requests.is_some_and(|most| sent.count() > most)
            || self.cost.zip(sent.cost).is_some_and(|(most, cost)| cost > most)
    }

    /// Returns whether there is no room for another request after `sent`.
    fn is_reached(&self, sent: &Requests) -> bool {
        self.requests.is_some_and(|most| sent.count() >= most)
            || self.cost.zip(sent.cost).is_some_and(|(most, cost)| cost >= most)
    }
}

/// The counter of all requests of this process, and what is called once a ceiling is reached.
struct Meter {
    sent: Requests,
    ceiling: Option<(RequestCeiling, fn())>,
}

static METER: Mutex<Meter> = Mutex::new(Meter { sent: Requests::NONE, ceiling: None });

fn meter() -> MutexGuard<'static, Meter> {
    METER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to the requests of this process, and calls the function that [`limit_requests`] was given
/// if the ceiling is reached.
pub fn count_requests(sent: Requests) {
    let mut meter = meter();
    meter.sent += sent;
    if let Some((ceiling, reached)) = meter.ceiling
        && ceiling.is_reached(&meter.sent)
    {
        reached();
    }
}

/// Returns all requests of this process and its workers so far.
pub fn requests_sent() -> Requests {
    meter().sent
}

/// Calls `reached` once the requests of this process and its workers reach `ceiling`.
pub fn limit_requests(ceiling: RequestCeiling, reached: fn()) {
    meter().ceiling = Some((ceiling, reached));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_add_up_and_a_cost_stays_unknown_without_prices() {
        let free =
            Requests { puts: 1, gets: 2, deletes: 3, sent_bytes: 4, received_bytes: 5, cost: None };
        let paid = Requests { cost: Some(0.5), ..free };
        assert_eq!(free.count(), 6);
        assert_eq!((free + free).cost, None);
        assert_eq!((free + paid).cost, Some(0.5));
        assert_eq!((paid * 3).cost, Some(1.5));
        assert_eq!(paid * 3 - paid, paid * 2);
        assert_eq!([paid; 4].into_iter().sum::<Requests>(), paid * 4);
    }

    #[test]
    fn a_ceiling_is_of_requests_or_cost() {
        let sent = Requests { gets: 10, cost: Some(1.0), ..Requests::default() };
        let ceiling = |requests, cost| RequestCeiling { requests, cost };
        for (ceiling, below, reached) in [
            (ceiling(None, None), false, false),
            (ceiling(Some(9), None), true, true),
            (ceiling(Some(10), None), false, true),
            (ceiling(Some(11), Some(2.0)), false, false),
            (ceiling(None, Some(0.5)), true, true),
        ] {
            assert_eq!((ceiling.is_below(&sent), ceiling.is_reached(&sent)), (below, reached));
        }
    }
}
