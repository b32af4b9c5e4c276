//! Requests to object stores: how many a run will send, what they cost, and the most that it may send.

use lab::{Data, Request, RequestForecast, Stop};
use model::{
    Action, Error, RequestCeiling, Requests, Result, limit_requests,
    units::{show_amount, show_count},
};
use spec::{Extras, given_value};

/// The requests of all runs of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RequestTotals {
    /// The most to make the stores ready, and to remove them.
    preparing: Requests,
    /// The most of the least number of rounds.
    rounds: Requests,
    /// The most of one round of each run.
    round: Requests,
    /// The least of all.
    least: Requests,
    /// Whether there is no end to the rounds but the time.
    by_time: bool,
    /// Whether they go to a service that may charge for them.
    charged: bool,
}

/// Forecasts the requests; `None` if no target sends any.
pub(super) fn forecast(requests: &[Request], stop: &Stop) -> Result<Option<RequestTotals>> {
    if !requests.iter().any(sends_requests) {
        return Ok(None);
    }
    let none = RequestTotals {
        preparing: Requests::NONE,
        rounds: Requests::NONE,
        round: Requests::NONE,
        least: Requests::NONE,
        by_time: requests.iter().any(|request| request.rounds.max.is_none()),
        charged: requests.iter().any(is_charged),
    };
    let mut totals = none;
    for (request, run) in requests.iter().zip(lab::forecast(requests, stop)?.runs) {
        let Some(forecast) = run.requests else { continue };
        let RequestForecast { preparing, round, .. } = forecast;
        let rounds = request.rounds.min_total();
        totals.preparing += preparing;
        totals.round += round;
        totals.rounds += round * u64::from(rounds);
        totals.least += forecast.least(rounds);
    }
    Ok((totals != none).then_some(totals))
}

/// Reports whether the data are in a store that charges for requests.
fn reads_charged(request: &Request) -> bool {
    request.blobs().is_some_and(|blobs| match &blobs.data {
        Data::Store(place) => place.engine.is_charged(&place.settings),
        Data::Generated(_) | Data::Targets => false,
    })
}

fn sends_requests(request: &Request) -> bool {
    if reads_charged(request) {
        return true;
    }
    let targets = request.blobs().into_iter().flat_map(|blobs| &blobs.targets);
    let sends = |target: &lab::ResolvedTarget<dyn model::Blobs>| {
        target.engine.sends_requests(&target.settings)
    };
    targets.into_iter().any(sends)
}

fn is_charged(request: &Request) -> bool {
    if reads_charged(request) {
        return true;
    }
    let mut targets = request.blobs().into_iter().flat_map(|blobs| &blobs.targets);
    targets.any(|target| {
        let read = target.engine.requests(Action::Read, 1, &target.settings);
        read.is_some_and(|read| target.engine.capabilities().remote || read.cost.is_some())
    })
}

impl RequestTotals {
    /// Describes the forecast; `None` if no target charges for requests.
    pub(super) fn text(&self) -> Option<String> {
        let all = self.preparing + self.rounds;
        let further = if self.by_time {
            let cost = cost(&self.round, ", ");
            format!("; {}{cost} for each further round", show_count(self.round.count()))
        } else {
            String::new()
        };
        let text = format!(
            "at most about {} requests to object stores{}: {} for the rounds, {} to fill, check, \
             calibrate and remove{further}; if each takes 0.25 ms at least and none is sent again",
            show_count(all.count()),
            cost(&all, ", which cost "),
            show_count(self.rounds.count()),
            show_count(self.preparing.count()),
        );
        self.charged.then_some(text)
    }
}

/// Formats the cost after `lead`; empty without prices.
fn cost(requests: &Requests, lead: &str) -> String {
    requests.cost.map_or_else(String::new, |cost| format!("{lead}{}", show_amount(cost)))
}

/// Refuses ceilings that no run can keep, and has the run stop once they are reached.
pub(super) fn set(extras: &Extras, totals: Option<&RequestTotals>) -> Result<()> {
    let ceiling = RequestCeiling {
        requests: given_value(&extras.max_requests),
        cost: given_value(&extras.max_cost),
    };
    let option = match (ceiling.requests, ceiling.cost) {
        (None, None) => return Ok(()),
        (Some(_), _) => "--max-requests",
        (None, Some(_)) => "--max-cost",
    };
    let Some(totals) = totals else {
        let why = format!("{option}: no target is an object store, so that no request is sent");
        return Err(Error::usage(why));
    };
    let RequestTotals { least, .. } = totals;
    if ceiling.cost.is_some() && least.cost.is_none() {
        let why =
            "--max-cost: no target has prices, as in s3://bucket?prices=0.005,0.0004,0.023,0.09";
        return Err(Error::usage(why));
    }
    if let Some(most) = ceiling.requests.filter(|most| least.count() > *most) {
        return Err(refused("--max-requests", &show_count(most), &show_count(least.count())));
    }
    if let (Some(most), Some(cost)) = (ceiling.cost, least.cost)
        && cost > most
    {
        return Err(refused("--max-cost", &show_amount(most), &show_amount(cost)));
    }
    limit_requests(ceiling, || crate::STOP.spend());
    Ok(())
}

fn refused(option: &str, most: &str, least: &str) -> Error {
    Error::usage(format!(
        "{option} {most}: the run takes {least} at least; use a higher one, or a smaller --keys, \
         --count or --rounds"
    ))
}
