//! What an advice says, the answer first.

use std::collections::BTreeSet;

use checks::{
    Choice, Decision, Excess, FEWEST_ROUNDS, Outcome, Threshold, all_findings, figures,
    whole_rounds,
};
use itertools::Itertools;
use model::{
    BlobsData, Durability,
    units::{longer_option, show_count, show_duration, show_percent, show_size},
};

use super::{moves, name, nothing_compared};
use crate::{
    answer::{
        self, LONGEST,
        display::{ratio, ratio_words, times_still},
        limits::{given_up, weakened},
        weighed,
    },
    number::factor,
    sentences,
    table::{Line, Lines, Tone},
    tables::size,
};

/// Returns the sentences of the page: the answer, what it gains and costs, how to move the data,
/// how far the answer can be trusted, and what weakens it. Without an advice there is nothing to
/// gain and nothing to move.
pub(super) fn says(decision: &Decision<'_>) -> Lines {
    let undecided = undecided(decision);
    let more = if undecided.is_empty() { gains(decision) } else { Vec::new() };
    let answer = if undecided.is_empty() { chosen(decision) } else { undecided };
    let limits = [left_out(decision), not_covered(decision)];
    let sure = how_sure(decision).into_iter().chain(thresholds(decision));
    let limits = sure.chain(limits.into_iter().flatten());
    let finals = &decision.advice.finals;
    let findings = all_findings(std::slice::from_ref(finals), &[figures(finals)]);
    let answer = answer.into_iter().map(|text| Line::new("", text).tone(Tone::Bold));
    let more = more.into_iter().chain(limits).map(|text| Line::new("", text));
    let weakened = weakened(decision.plan, &findings).into_iter();
    let weakened = weakened.map(|text| Line::new("! ", text));
    Lines::new("", answer.chain(more).chain(weakened))
}

/// Returns the answer: the store to take, and how much faster it is.
fn chosen(decision: &Decision<'_>) -> Vec<String> {
    let chosen = decision.choice.chosen;
    let store = name(decision, chosen);
    if Some(chosen) == decision.now {
        return vec![sentences::keep(store)];
    }
    let ratio = decision.now.and_then(|now| Some((now, decision.costs.ratio(chosen, now)?)));
    let Some((now, ratio)) = ratio else {
        let why = decision.failure().unwrap_or_else(sentences::no_time);
        return vec![sentences::take_cheapest(store), sentences::now_failed(why)];
    };
    let [ratio, interval] = ratio_words(&ratio);
    let gain = sentences::gain_in_all(ratio, interval);
    vec![sentences::take(store, name(decision, now), gain)]
}

/// Returns why there is no advice yet, and the time that it needs; empty if there is one.
fn undecided(decision: &Decision<'_>) -> Vec<String> {
    if decision.is_alone() {
        return nothing_compared(decision.advice);
    }
    let Some((why, needed)) = decision.undecided() else { return Vec::new() };
    let (advice, chosen) = (decision.advice, decision.choice.chosen);
    let time = show_duration(advice.time);
    let few = |rounds| sentences::too_few_rounds_in(rounds, FEWEST_ROUNDS, &time);
    let present = name(decision, chosen);
    let mut says = answer::undecided(&why, few, |target| name(decision, target), present);
    says.push(if needed > LONGEST {
        sentences::settle_by_quiet()
    } else {
        sentences::try_time(longer_option(needed, advice.time))
    });
    says
}

/// Returns what the chosen store gains and costs, which store comes next, and the commands that
/// move the data.
fn gains(decision: &Decision<'_>) -> Vec<String> {
    let says = [
        Some(weighed(decision.advice.reads)),
        faster_still(decision),
        moves::target(decision),
        trade_off(decision),
        durability(decision),
        power_cut(decision),
        next(decision),
    ];
    says.into_iter().flatten().chain(moves::commands(decision)).collect()
}

/// Describes a store that is faster than the chosen one and gives up more; `None` if there is none.
fn faster_still(decision: &Decision<'_>) -> Option<String> {
    let (faster, chosen) = (decision.choice.faster?, decision.choice.chosen);
    let [by, interval] = times_still(&decision.costs.ratio(faster, chosen)?);
    let targets = &decision.plan.targets;
    let list = sentences::list(&given_up(&targets[faster], &targets[chosen]))?;
    Some(sentences::faster_still(name(decision, faster), by, interval, list))
}

/// Describes what the chosen store takes more of than the present one, and what its settings trade;
/// `None` if the present store stays, or has no figures.
fn trade_off(decision: &Decision<'_>) -> Option<String> {
    let (now, chosen) = (decision.now?, decision.choice.chosen);
    if now == chosen {
        return None;
    }
    let costs = excess(&decision.excess(chosen, now)?);
    let costs = costs.unwrap_or_else(sentences::takes_no_more);
    let trades = decision.candidate(chosen).map(|candidate| candidate.trades.clone());
    let all = [costs].into_iter().chain(trades.filter(|trades| !trades.is_empty()));
    Some(sentences::in_exchange(all.format("; ")))
}

/// Describes what a power cut leaves in the chosen store; `None` if that is not known.
fn durability(decision: &Decision<'_>) -> Option<String> {
    let class = decision.plan.durability?;
    let how = &decision.candidate(decision.choice.chosen)?.durability;
    (!how.is_empty()).then(|| sentences::durability(class, how))
}

/// Returns the command that shows what a power cut leaves in such a store; `None` if none does.
fn power_cut(decision: &Decision<'_>) -> Option<String> {
    let candidate = decision.candidate(decision.choice.chosen)?;
    candidate.power_cut.as_ref().map(sentences::power_cut)
}

/// Describes the store that comes next, and when it would win; `None` if there is no other.
fn next(decision: &Decision<'_>) -> Option<String> {
    let Choice { chosen, next, .. } = decision.choice;
    let next = next?;
    let cost = decision.costs.ratio(next, chosen)?;
    let reads = decision.advice.reads;
    let when = match decision.costs.even_share(next, chosen) {
        Some(share) if (share < reads) == (cost.point > 1.0) => {
            sentences::wins_below(show_percent(share))
        }
        Some(share) => sentences::wins_above(show_percent(share)),
        None => excess(&decision.excess(chosen, next)?)
            .map_or_else(sentences::wins_never, sentences::wins_if),
    };
    let (store, cost) = (name(decision, next), ratio(&cost));
    Some(if decision.is_level(next) {
        sentences::next_level(store, cost, when)
    } else {
        sentences::next(store, cost, when)
    })
}

/// Lists what a store takes more of; `None` if there is nothing.
fn excess(all: &[Excess]) -> Option<String> {
    let item = |one: &Excess| match one {
        Excess::Update(by) => sentences::update_time(factor(*by)),
        Excess::Read(by) => sentences::read_time(factor(*by)),
        Excess::ColdRead(by) => sentences::cold_read_time(factor(*by)),
        Excess::Space(by) => sentences::more_space(factor(*by)),
        Excess::Memory(megabytes) => sentences::more_memory(megabytes),
    };
    sentences::list(&all.iter().map(item).collect::<Vec<_>>())
}

/// Describes what the answer rests on: the candidates, the values and the rounds.
fn how_sure(decision: &Decision<'_>) -> Option<String> {
    if decision.is_alone() {
        return None;
    }
    let (summary, sampled_from) = match decision.plan.experiment.blobs() {
        Some(BlobsData { summary, sampled_from, .. }) => (summary, sampled_from.as_ref()),
        None => (decision.plan.experiment.summary()?, None),
    };
    let (values, bytes) = (show_count(summary.count), show_size(summary.bytes));
    let finals = &decision.advice.finals;
    let measured: BTreeSet<_> = finals.samples.iter().map(|sample| sample.target).collect();
    let (last, all) = (measured.len(), decision.advice.candidates.len());
    let rounds = match (decision.costs.fewest_rounds(), whole_rounds(finals)) {
        (fewest, all) if fewest < all => format!("{fewest} to {all}"),
        (_, all) => all.to_string(),
    };
    if let Some(data) = decision.plan.experiment.roles() {
        let roles = data.roles.iter().join(", ");
        return Some(sentences::compared_by_roles(last, all, roles, values, bytes, rounds));
    }
    Some(match sampled_from {
        None => sentences::compared_on_all(last, all, values, bytes, rounds),
        Some(of) => {
            let of = show_count(of.count);
            sentences::compared_on_sample(last, all, values, of, bytes, rounds)
        }
    })
}

/// Describes up to which size each engine with two ways reads values faster inline.
fn thresholds(decision: &Decision<'_>) -> impl Iterator<Item = String> {
    let describe = |threshold: &Threshold| {
        let Threshold { engine, setting, .. } = threshold;
        let [least, most] = threshold.sizes.map(show_size);
        match threshold.crossing() {
            Some(crossing) => {
                let [low, high] =
                    [crossing.low.map_or(least, size), crossing.high.map_or(most, size)];
                let bytes = crossing.size.round();
                sentences::inline_up_to(engine, size(crossing.size), low, high, setting, bytes)
            }
            None if threshold.found.begins_below => {
                sentences::inline_at_all_sizes(engine, least, most)
            }
            None => sentences::inline_at_no_size(engine, least, most),
        }
    };
    decision.advice.thresholds.iter().map(describe)
}

/// Lists the stores that were not tried or failed, by the reason; `None` if there are none.
fn left_out(decision: &Decision<'_>) -> Option<String> {
    let advice = decision.advice;
    let not_tried = advice.left_out.iter().map(|store| (store.why.clone(), store.name.clone()));
    let failed = advice.candidates.iter().filter_map(|candidate| match advice.outcome(candidate) {
        Outcome::Failed(why) => Some((why, candidate.target.clone())),
        Outcome::OutOfTime => Some((sentences::no_time(), candidate.target.clone())),
        Outcome::Dropped(_) | Outcome::Confirmed(_) => None,
    });
    let by_reason = not_tried.chain(failed).into_grouping_map().collect::<Vec<_>>();
    let reasons = by_reason.into_iter();
    let reasons = reasons.map(|(why, names)| sentences::left_out_because(names.join(", "), why));
    let reasons = reasons.sorted().join("; ");
    (!reasons.is_empty()).then(|| sentences::left_out(reasons))
}

/// Lists what was not measured, with the option that does; `None` if nothing is left out.
fn not_covered(decision: &Decision<'_>) -> Option<String> {
    let Decision { plan, advice, rows, .. } = decision;
    let is_cold = plan.caches.iter().any(|cache| cache.is_cold());
    let roles = plan.experiment.roles().is_some();
    let one_thread = !roles && plan.workloads.iter().all(|workload| workload.workers() == 1);
    let lost = plan.durability.is_none_or(|class| class < Durability::Durable);
    let is_empty = plan.experiment.summary().is_some_and(|summary| summary.bytes == 0);
    let lacking = [
        is_empty.then_some("values that are not empty"),
        (!is_cold && rows.iter().all(|row| row.cold.is_none())).then_some(if roles {
            "a cold start"
        } else {
            "a cold start (more --time)"
        }),
        (!is_cold && !roles).then_some("data larger than memory (--cold)"),
        advice.life.is_none().then_some("growth and backups (storemark life)"),
        roles.then_some("readers and writers in processes of their own (storemark run --roles)"),
        lost.then_some("writes that survive a power cut (--durability durable)"),
        one_thread.then_some("several sessions at a time (--threads N)"),
    ];
    let lacking: Vec<_> = lacking.into_iter().flatten().collect();
    sentences::list(&lacking).map(sentences::not_covered)
}
