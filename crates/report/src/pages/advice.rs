//! The page of an advice: which store suits the data, what it costs, how far the answer can be trusted,
//! and what was tried.

use std::time::Duration;

use checks::{
    Advice, Choice, Costs, FEWEST_ROUNDS, Figures, Outcome, Series, Threshold, all_findings,
    figures, life_spaces, stores,
};
use itertools::Itertools;
use model::{
    BlobsData, Case, Durability, Plan, PlannedTarget, Sample,
    record::Record,
    units::{
        duration_of, exact_percent, longer_option, show_count, show_duration, show_percent,
        show_size,
    },
};
use stats::Estimate;

use super::Page;
use crate::{
    answer::{
        and, display::capitalise, display::faster, display::full_name, display::inverse,
        display::ratio, display::times, limits::given_up, limits::quoted, limits::store_of,
        limits::weakened,
    },
    experiment::{life::tables as life_tables, room},
    number::{factor, with_interval},
    table::{Block, Cell, Column, Line, Lines, Room, Table, Tone},
    words::rounds,
};

/// Returns the page of a search. `explain` adds all candidates and what their settings trade; it is
/// the command that measures them in one run, or empty.
pub fn advice(advice: &Advice, explain: Option<&str>) -> Page {
    let Some(advised) = Advised::new(advice) else {
        return Page::prose([Lines::new("", [Line::new("", nothing_measured(advice.time))])]);
    };
    let mut blocks = vec![advised.sentences().into(), advised.table().into()];
    blocks.extend(advice.life.iter().flat_map(life));
    if let Some(command) = explain {
        blocks.extend([advised.tried().into(), advised.trades(command).into()]);
    }
    Page::new(blocks)
}

/// Returns the sentence for a search in which no candidate was measured.
fn nothing_measured(time: Duration) -> String {
    let more = longer_option(time.saturating_mul(3), time);
    format!(
        "No advice yet: no candidate has two rounds of all its work after {}. Try --time {more}.",
        show_duration(time)
    )
}

/// Returns the sizes of stores and of their backups over the life of a few values.
fn life(record: &Record) -> Vec<Block> {
    let plan = &record.header.plan;
    let data = Line::dim(room(plan).data(plan));
    let table = life_tables::life_spaces(record, &life_spaces(record)).map(Block::from);
    let title = Lines::new("The life of the data, as `storemark life` measures it", [data]);
    table.map_or_else(Vec::new, |table| vec![title.into(), table])
}

/// The longest time that is suggested.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// An advice with what its last record shows.
struct Advised<'a> {
    advice: &'a Advice,
    plan: &'a Plan,
    costs: Costs<'a>,
    choice: Choice,
    /// Index of the present store in the last record; `None` if it could not be measured.
    now: Option<usize>,
    /// The targets of the last record, the lowest cost first.
    rows: Vec<CandidateRow>,
}

/// The figures of a target of the last record; `None` means not measured.
struct CandidateRow {
    target: usize,
    /// Microseconds of an operation.
    cost: Option<Estimate>,
    /// Its cost divided by that of the present store.
    ratio: Option<Estimate>,
    /// Microseconds of a read.
    read: Option<f64>,
    /// Microseconds of an update.
    update: Option<f64>,
    /// Microseconds of a read from the device.
    cold: Option<f64>,
    /// Bytes on the disk for each byte of the values.
    space: Option<f64>,
    /// Millions of bytes that the store added to the memory in use.
    memory: Option<f64>,
}

impl<'a> Advised<'a> {
    /// Chooses a store; returns `None` if nothing was measured.
    fn new(advice: &'a Advice) -> Option<Self> {
        let plan = &advice.finals.header.plan;
        let costs = Costs::new(&advice.finals, advice.reads);
        let is_measured = |target: &usize| costs.cost(*target).is_some();
        let labels = || plan.targets.iter().map(|target| &target.label);
        let now = labels().position(|label| *label == advice.now).filter(is_measured);
        let choice = costs.choice(now, |_| true)?;
        let rows = rows(advice, costs, now);
        Some(Self { advice, plan, costs, choice, now, rows })
    }

    /// Returns the sentences of the page: the answer, what it gains and costs, how to move the data,
    /// how far the answer can be trusted, and what weakens it. Without an advice there is nothing to
    /// gain and nothing to move.
    fn sentences(&self) -> Lines {
        let no_advice = self.no_advice();
        let gains = match no_advice {
            Some(_) => Vec::new(),
            None => self.gains(),
        };
        let answer = no_advice.unwrap_or_else(|| self.answer());
        let limits = [self.confidence(), self.threshold(), self.left_out(), self.not_covered()];
        let more = gains.into_iter().chain(limits.into_iter().flatten());
        let weakened = self.weakened().into_iter();
        let answer = Line::new("", answer).tone(Tone::Bold);
        let lines = more.map(|text| Line::new("", text));
        let findings = weakened.map(|text| Line::new("! ", text));
        Lines::new("", [answer].into_iter().chain(lines).chain(findings))
    }

    /// Returns what the chosen store gains and costs, which store comes next, and the commands that
    /// move the data.
    fn gains(&self) -> Vec<String> {
        let sentences = [
            self.faster_still(),
            self.target(),
            self.trade_off(),
            self.durability(),
            self.runner_up(),
        ];
        sentences.into_iter().flatten().chain(self.commands()).collect()
    }

    /// Returns the answer: the store to take, and how much faster it is.
    fn answer(&self) -> String {
        let chosen = self.choice.chosen;
        let (name, load) = (self.name(chosen), load(self.advice.reads));
        let start = capitalise(&name);
        if Some(chosen) == self.now {
            return format!(
                "Keep {name}: nothing that was tried is more than 3 % faster with {load}."
            );
        }
        match self.now.and_then(|now| Some((now, self.costs.ratio(chosen, now)?))) {
            Some((now, ratio)) => {
                format!("{start}: {}, with {load}.", faster(&ratio, &self.name(now)))
            }
            None => format!(
                "{start}: the least cost of what was tried, with {load}. What is there now could \
                 not be measured: {}.",
                self.failure()
            ),
        }
    }

    /// Returns why there is no advice yet, and the time that it needs; `None` if there is one.
    fn no_advice(&self) -> Option<String> {
        let Choice { chosen, best, .. } = self.choice;
        let why = if !self.costs.is_judged() {
            self.too_few_rounds()
        } else if Some(chosen) == self.now && !self.costs.is_best(chosen, |_| true) {
            self.no_difference()?
        } else {
            return None;
        };
        let factor = self.costs.rounds_needed(best, self.now.unwrap_or(chosen));
        let needed = duration_of(self.advice.time.as_secs_f64() * factor);
        let remedy = if needed > LONGEST {
            "More time does not settle it in a day: it takes a quieter machine (storemark doctor)."
                .to_owned()
        } else {
            format!("Try --time {}.", longer_option(needed, self.advice.time))
        };
        Some(format!("No advice yet: {why} {remedy}"))
    }

    /// Describes how many of the rounds that a verdict needs were measured.
    fn too_few_rounds(&self) -> String {
        let (rounds, time) = (self.costs.fewest_rounds(), show_duration(self.advice.time));
        let best = self.name(self.choice.best);
        let fastest = if rounds > 1 { format!(" Fastest so far: {best}.") } else { String::new() };
        format!("{rounds} of the {FEWEST_ROUNDS} rounds that it needs fit into {time}.{fastest}")
    }

    /// Describes the fastest store if no difference to the present one is shown; `None` if the two
    /// cannot be compared.
    fn no_difference(&self) -> Option<String> {
        let Choice { chosen, best, .. } = self.choice;
        let ratio = self.costs.ratio(best, chosen)?;
        let by = if best == chosen {
            String::new()
        } else {
            format!(", {}", faster(&ratio, &self.name(chosen)))
        };
        Some(format!("no difference is shown. Fastest so far: {}{by}.", self.name(best)))
    }

    /// Describes a store that is faster than the chosen one and gives up more; `None` if there is
    /// none.
    fn faster_still(&self) -> Option<String> {
        let (faster, chosen) = (self.choice.faster?, self.choice.chosen);
        let [by, interval] = times(&inverse(&self.costs.ratio(faster, chosen)?));
        let given_up = given_up(&self.plan.targets[faster], &self.plan.targets[chosen]);
        let name = capitalise(&self.name(faster));
        Some(format!(
            "{name} is {by} faster still ({interval}), if you can give up {}.",
            and(&given_up)
        ))
    }

    /// Returns why the present store has no figure.
    fn failure(&self) -> String {
        let Advice { candidates, left_out, now, .. } = self.advice;
        if let Some(candidate) = candidates.iter().find(|candidate| candidate.label == *now)
            && let Outcome::Failed(why) = self.advice.outcome(candidate)
        {
            return why;
        }
        let store = left_out.iter().find(|store| store.name == *now);
        store.map_or_else(|| "there was no time for it".to_owned(), |store| store.why.clone())
    }

    /// Returns the name of a target in a sentence.
    fn name(&self, target: usize) -> String {
        if Some(target) != self.now {
            return full_name(self.plan, target);
        }
        format!("what is there now ({})", self.plan.targets[target].title)
    }

    fn row(&self, target: usize) -> Option<&CandidateRow> {
        self.rows.iter().find(|row| row.target == target)
    }

    /// Returns the target that a program opens, with the settings of the durability class; `None` if
    /// it is the present store, which is open already.
    fn target(&self) -> Option<String> {
        let chosen = self.choice.chosen;
        let mut target = self.candidate(chosen)?.target.clone();
        let PlannedTarget { of_class, settings, .. } = &self.plan.targets[chosen];
        for (name, value) in of_class.iter().filter_map(|name| Some((name, settings.get(name)?))) {
            let separator = if target.contains('?') { '&' } else { '?' };
            target = format!("{target}{separator}{name}={value}");
        }
        (Some(chosen) != self.now).then(|| format!("Target: {}", quoted(&target)))
    }

    /// Describes what the chosen store takes more of than the present one, and what its settings
    /// trade; `None` if the present store stays, or has no figures.
    fn trade_off(&self) -> Option<String> {
        let (now, chosen) = (self.now?, self.choice.chosen);
        if now == chosen {
            return None;
        }
        let costs = excess(self.row(chosen)?, self.row(now)?);
        let costs = match costs.as_slice() {
            [] => "nothing of what the table shows".to_owned(),
            costs => and(costs),
        };
        let trades = self.candidate(chosen).map(|candidate| candidate.trades.as_str());
        Some(match trades.filter(|trades| !trades.is_empty()) {
            Some(trades) => format!("In exchange: {costs}; {trades}."),
            None => format!("In exchange: {costs}."),
        })
    }

    /// Describes what a power cut leaves in the chosen store; `None` if that is not known.
    fn durability(&self) -> Option<String> {
        let class = self.plan.durability?;
        let how = &self.candidate(self.choice.chosen)?.durability;
        (!how.is_empty()).then(|| format!("Durability {class}: {how}."))
    }

    fn candidate(&self, target: usize) -> Option<&'a checks::Candidate> {
        let label = &self.plan.targets[target].label;
        self.advice.candidates.iter().find(|candidate| candidate.label == *label)
    }

    /// Describes what the answer rests on: the candidates, the values and the rounds.
    fn confidence(&self) -> Option<String> {
        let BlobsData { summary, sampled_from, .. } = self.plan.experiment.blobs()?;
        let count = show_count(summary.count);
        let bytes = match summary.bytes {
            0 => "all of them empty".to_owned(),
            bytes => show_size(bytes),
        };
        let values = match sampled_from {
            None => format!("all {count} values ({bytes})"),
            Some(all) => {
                format!("{count} of {} values ({bytes}), a sample by size", show_count(all.count))
            }
        };
        let (last, all) = (self.plan.targets.len(), self.advice.candidates.len());
        let rounds = rounds(&self.advice.finals);
        Some(format!(
            "How sure: the last {last} of {all} candidates were compared on {values} in {rounds} \
             rounds."
        ))
    }

    /// Returns a sentence for each finding that weakens the answer.
    fn weakened(&self) -> Vec<String> {
        let finals = &self.advice.finals;
        let findings = all_findings(std::slice::from_ref(finals), &[figures(finals)]);
        weakened(self.plan, &findings)
    }

    /// Describes the store that comes next, and when it would win; `None` if there is no other.
    fn runner_up(&self) -> Option<String> {
        let Choice { chosen, next, .. } = self.choice;
        let next = next?;
        let cost = self.costs.ratio(next, chosen)?;
        let excess = excess(self.row(chosen)?, self.row(next)?);
        let when = match (self.winning_share(next, &cost), excess.as_slice()) {
            (Some(share), _) => share,
            (None, []) => "nothing that was measured speaks for it".to_owned(),
            (None, excess) => {
                format!("it would win if it matters that the first takes {}", and(excess))
            }
        };
        let level = if self.is_level(next) { ", a difference that is not shown" } else { "" };
        Some(format!("Next: {}, {} of the cost{level}; {when}.", self.name(next), ratio(&cost)))
    }

    fn is_level(&self, target: usize) -> bool {
        let ranking = self.costs.ranking();
        ranking.iter().any(|ranked| ranked.target == target && ranked.is_level())
    }

    /// Describes the share of reads from which on `next` costs less than the chosen store; `cost` is
    /// its present cost divided by the chosen one's. `None` if one of both costs less at every share.
    fn winning_share(&self, next: usize, cost: &Estimate) -> Option<String> {
        let share = self.costs.even_share(next, self.choice.chosen)?;
        let is_below = (share < self.advice.reads) == (cost.point > 1.0);
        let side = if is_below { "below" } else { "above" };
        Some(format!("it would win {side} {} reads", show_percent(share)))
    }

    /// Describes up to which size each engine reads values faster in its way of small ones; `None` if
    /// no engine has two ways.
    fn threshold(&self) -> Option<String> {
        let found = self.advice.thresholds.iter().map(describe_threshold).join("; ");
        (!found.is_empty()).then(|| format!("Threshold: {found}."))
    }

    /// Lists the stores that were not tried or failed, by the reason; `None` if there are none.
    fn left_out(&self) -> Option<String> {
        let not_tried = self.advice.left_out.iter();
        let not_tried = not_tried.map(|store| (store.why.clone(), store.name.clone()));
        let candidates = self.advice.candidates.iter();
        let failed = candidates.filter_map(|candidate| match self.advice.outcome(candidate) {
            Outcome::Failed(why) => Some((why, candidate.target.clone())),
            _ => None,
        });
        let by_reason = not_tried.chain(failed).into_grouping_map().collect::<Vec<_>>();
        let reasons = by_reason.into_iter().map(|(why, names)| format!("{} ({why})", and(&names)));
        let reasons = reasons.sorted().join("; ");
        (!reasons.is_empty()).then(|| format!("Left out: {reasons}."))
    }

    /// Lists what was not measured, with the option that does; `None` if nothing is left out.
    fn not_covered(&self) -> Option<String> {
        let plan = self.plan;
        let is_cold = plan.caches.iter().any(|cache| cache.is_cold());
        let one_thread = plan.workloads.iter().all(|workload| workload.workers() == 1);
        let lost = plan.durability.is_none_or(|class| class < Durability::Durable);
        let is_empty = plan.experiment.summary().is_some_and(|summary| summary.bytes == 0);
        let lacking = [
            is_empty.then_some("values that are not empty"),
            (!is_cold && self.rows.iter().all(|row| row.cold.is_none()))
                .then_some("a cold start (more --time)"),
            (!is_cold).then_some("data larger than memory (--cold)"),
            self.advice.life.is_none().then_some("growth and backups (storemark life)"),
            lost.then_some("writes that survive a power cut (--durability durable)"),
            one_thread.then_some("several sessions at a time (--threads N)"),
        ];
        let lacking: Vec<_> = lacking.into_iter().flatten().map(str::to_owned).collect();
        (!lacking.is_empty()).then(|| format!("Not covered: {}.", and(&lacking)))
    }

    /// Returns the commands that move and check the data, or the one that measures the user's own.
    fn commands(&self) -> Vec<String> {
        match &self.advice.source {
            Some(source) => self.moving_from(source).into_iter().flatten().collect(),
            None => vec!["With your own data: storemark advise DIR".to_owned()],
        }
    }

    /// Returns the commands that move the data of `source` to the chosen store and check it; `None`
    /// if it is there already, or no path names such a store.
    fn moving_from(&self, source: &str) -> Option<[String; 2]> {
        let chosen = self.choice.chosen;
        let candidate = self.candidate(chosen).filter(|_| Some(chosen) != self.now)?;
        let extension = candidate.extension.as_deref()?;
        let (engine, settings) =
            candidate.target.split_once(':').unwrap_or((&candidate.target, ""));
        let settings = settings.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty());
        let settings: Vec<_> = settings.map(str::to_owned).collect();
        let store = |settings: &[String]| store_of(engine, extension, settings, source);
        let (written, read) = (store(&settings)?, store(&[])?);
        let source = quoted(source);
        Some([
            format!("Move: storemark copy {source} {}", quoted(&written)),
            format!("Check: storemark verify {source} {}", quoted(&read)),
        ])
    }

    /// Returns the table of the last candidates.
    fn table(&self) -> Table {
        let name = |row: &CandidateRow| {
            let text = self.candidate(row.target).map_or("", |candidate| candidate.target.as_str());
            let tone = if row.target == self.choice.chosen { Tone::Bold } else { Tone::Plain };
            Cell::from(text).tone(tone)
        };
        let any =
            |of: fn(&CandidateRow) -> Option<f64>| self.rows.iter().any(|row| of(row).is_some());
        let updates = any(|row| row.update);
        let what = if updates {
            "cost of an operation: reads and updates by their shares"
        } else {
            "cost of a read"
        };
        Table::for_rows(what, &self.rows)
            .with(Column::text("target").narrow(&[40, 26, 16]), name)
            .with(Column::number("cost", "µs"), |row| row.cost)
            .with(Column::number("÷ now", "").narrow(&[13]), |row| match row.ratio {
                _ if Some(row.target) == self.now => Cell::from("1"),
                ratio => Cell::interval(ratio.as_ref()),
            })
            .with_if(any(|row| row.read), Column::number("read", "µs"), |row| row.read)
            .with_if(updates, Column::number("update", "µs"), |row| row.update)
            .with_if(any(|row| row.cold), Column::number("cold read", "µs"), |row| row.cold)
            .with(Column::number("space", "B/B"), |row| row.space)
            .with_if(
                any(|row| row.memory),
                Column::number("memory", "MB").room(Room::Spare(1)),
                |row| row.memory,
            )
            .into_table()
    }

    /// Returns the table of all candidates, with the outcome of each.
    fn tried(&self) -> Table {
        let describe = |outcome: &Outcome| match outcome {
            Outcome::Failed(why) => format!("failed: {why}"),
            Outcome::Dropped(ratio) => format!("behind on the sample: {}", with_interval(ratio)),
            Outcome::Confirmed(ratio) => format!("compared to the end: {}", with_interval(ratio)),
        };
        Table::for_rows("what was tried, by cost ÷ that of the best", &self.advice.candidates)
            .with(Column::text("target"), |candidate| candidate.target.clone())
            .with(Column::text("outcome").narrow(&[40, 20]), |candidate| {
                describe(&self.advice.outcome(candidate))
            })
            .into_table()
    }

    /// Lists what the settings of each candidate trade, and the `command` that measures all of them.
    fn trades(&self, command: &str) -> Lines {
        let candidates = self.advice.candidates.iter();
        let trades = candidates.map(|one| Line::dim(format!("{}: {}", one.target, one.trades)));
        let command = (!command.is_empty()).then(|| format!("As one run: {command}"));
        Lines::new("what each trades", trades.chain(command.map(|text| Line::new("", text))))
    }
}

/// Describes up to which size an engine reads values faster in its way of small ones.
fn describe_threshold(threshold: &Threshold) -> String {
    let Threshold { engine, setting, .. } = threshold;
    let [least, most] = threshold.sizes.map(show_size);
    let Some(crossing) = threshold.crossing() else {
        let way = if threshold.found.begins_below { "small" } else { "large" };
        return format!(
            "{engine} reads values of all sizes from {least} to {most} faster in the way of {way} \
             ones"
        );
    };
    let low = crossing.low.map_or(least, size);
    let high = crossing.high.map_or(most, size);
    format!(
        "{engine} reads values up to {} ({low} to {high}) faster in the way of small ones, longer \
         ones in that of large ones ({setting}={})",
        size(crossing.size),
        crossing.size.round()
    )
}

/// Returns the figures of the targets of the last record, the lowest cost first.
fn rows(advice: &Advice, costs: Costs<'_>, now: Option<usize>) -> Vec<CandidateRow> {
    let finals = &advice.finals;
    let plan = &finals.header.plan;
    let (figures, stores) = (figures(finals), stores(finals));
    let time = |target: usize, writes: bool| {
        let is_asked = |row: &&Figures| {
            row.target == target && plan.workloads[row.case.workload].work.writes() == writes
        };
        figures.iter().filter(is_asked).find_map(|row| Some(row.us_per_op?.point))
    };
    let row = |target: usize| CandidateRow {
        target,
        cost: costs.cost(target),
        ratio: now.and_then(|now| costs.ratio(target, now)),
        read: time(target, false),
        update: time(target, true),
        cold: cold_read(advice, &plan.targets[target].label),
        space: stores[target].on_disk_per_byte,
        memory: added_memory(advice, target),
    };
    let cost = |row: &CandidateRow| row.cost.map_or(f64::INFINITY, |cost| cost.point);
    let mut rows: Vec<_> = (0..plan.targets.len()).map(row).collect();
    rows.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    rows
}

/// Returns the microseconds of a read from the device; `None` if it was not measured.
fn cold_read(advice: &Advice, label: &str) -> Option<f64> {
    let record = advice.cold.as_ref()?;
    let plan = &record.header.plan;
    let target = plan.targets.iter().position(|target| target.label == label)?;
    let case = Case { workload: 0, cache: *plan.caches.first()? };
    Some(Series::new(record, case, target).unit_times().mean()?.point)
}

/// Returns the most that opening and reading a store added to the memory in use, in millions of
/// bytes; `None` unless the stores took turns in one process.
fn added_memory(advice: &Advice, target: usize) -> Option<f64> {
    let is_in_turns =
        |sample: &&Sample| sample.passes().is_some_and(|passes| passes.slice.is_some());
    let samples = advice.finals.samples.iter().filter(|sample| sample.target == target);
    let bytes = samples.filter(is_in_turns).filter_map(|sample| sample.memory_bytes).max()?;
    Some(bytes as f64 / 1e6)
}

/// The smallest factor between two figures that is a reason for one of the stores.
const EXCESS: f64 = 1.1;
/// The smallest difference in memory that is a reason, in millions of bytes.
const EXCESS_MEMORY: f64 = 8.0;

/// Lists what `one` takes more of than `other`.
fn excess(one: &CandidateRow, other: &CandidateRow) -> Vec<String> {
    let times = |what: &str, figure: fn(&CandidateRow) -> Option<f64>| {
        let by = figure(one)? / figure(other)?;
        (by > EXCESS).then(|| format!("{}× {what}", factor(by)))
    };
    let memory = one.memory.zip(other.memory).map(|(one, other)| one - other);
    let memory = memory.filter(|megabytes| *megabytes > EXCESS_MEMORY);
    let all = [
        times("the time of an update", |row| row.update),
        times("the time of a read", |row| row.read),
        times("the time of a cold read", |row| row.cold),
        times("the space", |row| row.space),
        memory.map(|megabytes| format!("{megabytes:.0} MB more memory")),
    ];
    all.into_iter().flatten().collect()
}

/// Describes the shares of the work: `95 % reads and 5 % updates`.
fn load(reads: f64) -> String {
    let shares = [(reads, "reads"), (1.0 - reads, "updates")];
    let shares = shares.into_iter().filter(|(share, _)| *share > 0.0);
    let shares = shares.map(|(share, what)| format!("{} {what}", exact_percent(share)));
    and(&shares.collect::<Vec<_>>())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size between two that were measured"
)]
fn size(bytes: f64) -> String {
    show_size(bytes.round() as u64)
}
