//! Which store suits the data: the answer, what it costs, how sure it is, and what was tried.

use std::time::Duration;

use checks::{Advice, Choice, Costs, FEWEST_ROUNDS, Fate, Series};
use itertools::Itertools;
use model::{
    Case, Durability, Experiment, Plan, PlannedTarget,
    record::Record,
    units::{
        duration_of, exact_percent, longer_option, show_count, show_duration, show_percent,
        show_size,
    },
};
use stats::Estimate;

use super::Page;
use crate::{
    Figures, all_findings,
    answer::{
        and,
        limits::{given_up, quoted, store_of, weakened},
        spoken::{begin, faster, inverse, ratio, spoken, times},
    },
    figures, life_spaces,
    number::{factor, with_interval},
    stores,
    table::{Block, Cell, Column, Line, Lines, Room, Table, Tone},
    tables,
    words::{data, rounds},
};

/// The page of a search; `grid` is the command that measures all candidates, if they are to be listed.
pub fn advice(advice: &Advice, explain: Option<&str>) -> Page {
    let Some(advised) = Advised::new(advice) else {
        let time = longer_option(advice.time.saturating_mul(3), advice.time);
        let text = format!(
            "No advice yet: no candidate has two rounds of all its work after {}. Try --time {time}.",
            show_duration(advice.time)
        );
        return Page::prose([Lines::new("", [Line::new("", text)])]);
    };
    let answer = Line::new("", advised.answer()).tone(Tone::Bold);
    let shown = advised.no_advice().is_none();
    let gains = [
        advised.faster_still(),
        advised.target(),
        advised.exchange(),
        advised.durability(),
        advised.runner_up(),
    ];
    let gains = gains.into_iter().flatten().chain(advised.moving()).filter(|_| shown);
    let limits = [advised.sure(), advised.threshold(), advised.left_out(), advised.not_covered()];
    let more = gains.chain(limits.into_iter().flatten()).map(|text| Line::new("", text));
    let weaker = advised.weakened().into_iter().map(|text| Line::new("! ", text));
    let lines = Lines::new("", [answer].into_iter().chain(more).chain(weaker));
    let explained = explain.map(|grid| [advised.tried().into(), advised.trades(grid).into()]);
    let blocks = [lines.into(), advised.table().into()].into_iter();
    let life = advice.life.iter().flat_map(life);
    Page::new(blocks.chain(life).chain(explained.into_iter().flatten()))
}

/// What stores occupy and what backups of them copy over the life of a few values.
fn life(record: &Record) -> Vec<Block> {
    let data = Line::dim(data(&record.header.plan));
    let table = tables::life_spaces(record, &life_spaces(record)).map(Block::from);
    let title = Lines::new("The life of the data, as `storemark life` measures it", [data]);
    table.map_or_else(Vec::new, |table| vec![title.into(), table])
}

/// No one waits longer for an advice.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// An advice with what its last record shows.
struct Advised<'a> {
    advice: &'a Advice,
    plan: &'a Plan,
    costs: Costs<'a>,
    choice: Choice,
    /// Of the last record: what is there now; absent: it could not be measured.
    now: Option<usize>,
    rows: Vec<CandidateRow>,
}

/// A target of the last record. Absent: not measured.
struct CandidateRow {
    target: usize,
    cost: Option<Estimate>,
    /// Its cost over that of what is there now.
    ratio: Option<Estimate>,
    read: Option<f64>,
    update: Option<f64>,
    cold: Option<f64>,
    /// Bytes on the disk for each byte of the values.
    space: Option<f64>,
    /// Millions of bytes.
    memory: Option<f64>,
}

impl<'a> Advised<'a> {
    fn new(advice: &'a Advice) -> Option<Self> {
        let plan = &advice.finals.header.plan;
        let costs = Costs::new(&advice.finals, advice.reads);
        let now = plan.targets.iter().position(|target| target.label == advice.now);
        let now = now.filter(|now| costs.of(*now).is_some());
        let choice = costs.choice(now, |_| true)?;
        let rows = rows(advice, costs, now);
        Some(Self { advice, plan, costs, choice, now, rows })
    }

    /// What to take, and how much it gains.
    fn answer(&self) -> String {
        if let Some(why) = self.no_advice() {
            return why;
        }
        let chosen = self.choice.chosen;
        let (name, load) = (self.name(chosen), load(self.advice.reads));
        match self.now.map(|now| (now, self.costs.ratio(chosen, now))) {
            Some((now, _)) if now == chosen => {
                format!("Keep {name}: nothing that was tried is more than 3 % faster with {load}.")
            }
            Some((now, Some(ratio))) => {
                let faster = faster(&ratio, &self.name(now));
                format!("{}: {faster}, with {load}.", begin(&name))
            }
            _ => format!(
                "{}: the least cost of what was tried, with {load}. What is there now could not be \
                 measured: {}.",
                begin(&name),
                self.failure()
            ),
        }
    }

    /// Why there is no advice yet, and the time that it needs; `None` if there is one.
    fn no_advice(&self) -> Option<String> {
        let Choice { chosen, best, .. } = self.choice;
        let name = self.name(best);
        let why = if !self.costs.is_judged() {
            let (rounds, time) = (self.costs.fewest_rounds(), show_duration(self.advice.time));
            let looks =
                if rounds > 1 { format!(" Fastest so far: {name}.") } else { String::new() };
            format!("{rounds} of the {FEWEST_ROUNDS} rounds that it needs fit into {time}.{looks}")
        } else if Some(chosen) == self.now && !self.costs.is_best(chosen, |_| true) {
            let ratio = self.costs.ratio(best, chosen)?;
            let by = faster(&ratio, &self.name(chosen));
            let by = if best == chosen { String::new() } else { format!(", {by}") };
            format!("no difference is shown. Fastest so far: {name}{by}.")
        } else {
            return None;
        };
        let more = self.costs.rounds_needed(best, self.now.unwrap_or(chosen));
        let needed = duration_of(self.advice.time.as_secs_f64() * more);
        let how = if needed > LONGEST {
            "More time does not settle it in a day: it takes a quieter machine (storemark doctor)."
                .to_owned()
        } else {
            format!("Try --time {}.", longer_option(needed, self.advice.time))
        };
        Some(format!("No advice yet: {why} {how}"))
    }

    /// One that is faster than what is taken, and promises less.
    fn faster_still(&self) -> Option<String> {
        let (faster, chosen) = (self.choice.faster?, self.choice.chosen);
        let [by, interval] = times(&inverse(&self.costs.ratio(faster, chosen)?));
        let given_up = given_up(&self.plan.targets[faster], &self.plan.targets[chosen]);
        let name = begin(&self.name(faster));
        Some(format!(
            "{name} is {by} faster still ({interval}), if you can give up {}.",
            and(&given_up)
        ))
    }

    /// Why there is no figure of what is there now.
    fn failure(&self) -> String {
        let mut tried = self.advice.candidates.iter().filter(|of| of.label == self.advice.now);
        let mut others = self.advice.left_out.iter().filter(|of| of.name == self.advice.now);
        let why = others.next().map(|of| of.why.clone());
        match tried.next().map(|now| self.advice.fate(now)) {
            Some(Fate::Failed(why)) => why,
            _ => why.unwrap_or_else(|| "there was no time for it".to_owned()),
        }
    }

    fn name(&self, target: usize) -> String {
        if Some(target) != self.now {
            return spoken(self.plan, target);
        }
        format!("what is there now ({})", self.plan.targets[target].title)
    }

    fn row(&self, target: usize) -> Option<&CandidateRow> {
        self.rows.iter().find(|row| row.target == target)
    }

    /// What a program opens, with the settings that the durability class asks for. What is there now is
    /// open already.
    fn target(&self) -> Option<String> {
        let target = &self.candidate(self.choice.chosen)?.target;
        let PlannedTarget { of_class, settings, .. } = &self.plan.targets[self.choice.chosen];
        let of_class = of_class.iter().filter_map(|name| Some((name, settings.get(name)?)));
        let of_class = of_class.map(|(name, value)| format!("{name}={value}")).join("&");
        let between = match (of_class.is_empty(), target.contains('?')) {
            (true, _) => "",
            (false, true) => "&",
            (false, false) => "?",
        };
        let whole = format!("Target: {}", quoted(&format!("{target}{between}{of_class}")));
        (Some(self.choice.chosen) != self.now).then_some(whole)
    }

    /// What it costs to change, and what the settings trade.
    fn exchange(&self) -> Option<String> {
        let (now, chosen) = (self.now?, self.choice.chosen);
        if now == chosen {
            return None;
        }
        let more = more(self.row(chosen)?, self.row(now)?);
        let trades = self.candidate(chosen).map(|of| of.trades.as_str()).unwrap_or_default();
        let costs = if more.is_empty() {
            "In exchange: nothing of what the table shows".to_owned()
        } else {
            format!("In exchange: {}", and(&more))
        };
        Some(if trades.is_empty() { format!("{costs}.") } else { format!("{costs}; {trades}.") })
    }

    /// What a power cut leaves of what is taken.
    fn durability(&self) -> Option<String> {
        let how = self.candidate(self.choice.chosen).map(|of| of.durability.as_str());
        let class = self.plan.durability?;
        how.filter(|how| !how.is_empty()).map(|how| format!("Durability {class}: {how}."))
    }

    fn candidate(&self, target: usize) -> Option<&'a checks::Candidate> {
        let label = &self.plan.targets[target].label;
        self.advice.candidates.iter().find(|candidate| candidate.label == *label)
    }

    /// On what it rests, and what weakens it.
    fn sure(&self) -> Option<String> {
        let Advice { finals, candidates, .. } = self.advice;
        let Experiment::Blobs { summary, sampled_from, .. } = &self.plan.experiment else {
            return None;
        };
        let count = show_count(summary.count);
        let bytes = match summary.bytes {
            0 => "all of them empty".to_owned(),
            bytes => show_size(bytes),
        };
        let on = match sampled_from {
            None => format!("all {count} values ({bytes})"),
            Some(all) => {
                format!("{count} of {} values ({bytes}), a sample by size", show_count(all.count))
            }
        };
        let (last, all, rounds) = (self.plan.targets.len(), candidates.len(), rounds(finals));
        Some(format!(
            "How sure: the last {last} of {all} candidates were compared on {on} in {rounds} \
             rounds."
        ))
    }

    /// What weakens it, a sentence each.
    fn weakened(&self) -> Vec<String> {
        let finals = &self.advice.finals;
        let found = all_findings(std::slice::from_ref(finals), &[figures(finals)]);
        weakened(self.plan, &found)
    }

    /// Who comes next, and when it would win.
    fn runner_up(&self) -> Option<String> {
        let Choice { chosen, next, .. } = self.choice;
        let next = next?;
        let cost = self.costs.ratio(next, chosen)?;
        let less = more(self.row(chosen)?, self.row(next)?);
        let when = self.when(next, &cost).unwrap_or_else(|| match less.as_slice() {
            [] => "nothing that was measured speaks for it".to_owned(),
            less => format!("it would win if it matters that the first takes {}", and(less)),
        });
        let name = self.name(next);
        let level = if self.is_level(next) { ", a difference that is not shown" } else { "" };
        Some(format!("Next: {name}, {} of the cost{level}; {when}.", ratio(&cost)))
    }

    fn is_level(&self, target: usize) -> bool {
        let ranking = self.costs.ranking();
        ranking.iter().any(|ranked| ranked.target == target && ranked.is_level())
    }

    /// At which share of reads another one, with its `cost` over that of what is taken, costs less.
    fn when(&self, next: usize, cost: &Estimate) -> Option<String> {
        let share = self.costs.even_share(next, self.choice.chosen)?;
        let is_below = (share < self.advice.reads) == (cost.point > 1.0);
        let side = if is_below { "below" } else { "above" };
        Some(format!("it would win {side} {} reads", show_percent(share)))
    }

    /// Where an engine of two ways changes from one to the other.
    fn threshold(&self) -> Option<String> {
        let found = self.advice.thresholds.iter().map(|threshold| {
            let checks::Threshold { engine, setting, .. } = threshold;
            let [least, most] = threshold.sizes.map(show_size);
            let Some(crossing) = threshold.crossing() else {
                let way = if threshold.found.begins_below { "small" } else { "large" };
                return format!(
                    "{engine} reads values of all sizes from {least} to {most} faster in the way of \
                     {way} ones"
                );
            };
            let end = |end: Option<f64>, open: &str| end.map_or(open.to_owned(), size);
            let (low, high) = (end(crossing.low, &least), end(crossing.high, &most));
            let at = size(crossing.size);
            format!(
                "{engine} reads values up to {at} ({low} to {high}) faster in the way of small ones, \
                 longer ones in that of large ones ({setting}={at_bytes})",
                at_bytes = crossing.size.round()
            )
        });
        let found: Vec<_> = found.collect();
        (!found.is_empty()).then(|| format!("Threshold: {}.", found.join("; ")))
    }

    /// What was not tried or failed.
    fn left_out(&self) -> Option<String> {
        let not_tried = self.advice.left_out.iter();
        let not_tried = not_tried.map(|one| (one.why.clone(), one.name.clone()));
        let failed = self.advice.candidates.iter().filter_map(|of| match self.advice.fate(of) {
            Fate::Failed(why) => Some((why, of.target.clone())),
            _ => None,
        });
        let by_reason = not_tried.chain(failed).into_grouping_map().collect::<Vec<_>>();
        let said = by_reason.into_iter().map(|(why, names)| format!("{} ({why})", and(&names)));
        let said = said.sorted().join("; ");
        (!said.is_empty()).then(|| format!("Left out: {said}."))
    }

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

    /// The commands that move and check the data.
    fn moving(&self) -> Vec<String> {
        match &self.advice.source {
            Some(source) => self.moving_from(source).into_iter().flatten().collect(),
            None => vec!["With your own data: storemark advise DIR".to_owned()],
        }
    }

    fn moving_from(&self, source: &str) -> Option<[String; 2]> {
        let of = self.candidate(self.choice.chosen);
        let extended = of.and_then(|of| Some((of, of.extension.as_deref()?)));
        let (of, extension) = extended.filter(|_| Some(self.choice.chosen) != self.now)?;
        let (engine, settings) = of.target.split_once(':').unwrap_or((&of.target, ""));
        let settings = settings.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty());
        let settings: Vec<_> = settings.map(str::to_owned).collect();
        let new = |settings: &[String]| store_of(engine, extension, settings, source);
        let (new, plain) = (new(&settings)?, new(&[])?);
        let source = quoted(source);
        Some([
            format!("Move: storemark copy {source} {}", quoted(&new)),
            format!("Check: storemark verify {source} {}", quoted(&plain)),
        ])
    }

    /// The last candidates side by side.
    fn table(&self) -> Table {
        let name = |row: &CandidateRow| {
            let text = self.candidate(row.target).map_or("", |of| of.target.as_str());
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

    /// All candidates, and why each left.
    fn tried(&self) -> Table {
        let outcome = |fate: &Fate| match fate {
            Fate::Failed(why) => format!("failed: {why}"),
            Fate::Dropped(ratio) => format!("behind on the sample: {}", with_interval(ratio)),
            Fate::Confirmed(ratio) => format!("compared to the end: {}", with_interval(ratio)),
        };
        Table::for_rows("what was tried, by cost ÷ that of the best", &self.advice.candidates)
            .with(Column::text("target"), |of| of.target.clone())
            .with(Column::text("outcome").narrow(&[40, 20]), |of| outcome(&self.advice.fate(of)))
            .into_table()
    }

    fn trades(&self, grid: &str) -> Lines {
        let trades = self.advice.candidates.iter();
        let trades = trades.map(|of| Line::dim(format!("{}: {}", of.target, of.trades)));
        let grid = (!grid.is_empty()).then(|| Line::new("", format!("As one run: {grid}")));
        Lines::new("what each trades", trades.chain(grid))
    }
}

fn rows(advice: &Advice, costs: Costs<'_>, now: Option<usize>) -> Vec<CandidateRow> {
    let finals = &advice.finals;
    let plan = &finals.header.plan;
    let (all, stores) = (figures(finals), stores(finals));
    let time = |target: usize, writes: bool| {
        let of = |row: &&Figures| plan.workloads[row.case.workload].work.writes() == writes;
        let mut own = all.iter().filter(|row| row.target == target).filter(of);
        own.find_map(|row| Some(row.us_per_op?.point))
    };
    let row = |target: usize| CandidateRow {
        target,
        cost: costs.of(target),
        ratio: now.and_then(|now| costs.ratio(target, now)),
        read: time(target, false),
        update: time(target, true),
        cold: cold(advice, &plan.targets[target].label),
        space: stores[target].on_disk_per_byte,
        memory: memory(advice, target),
    };
    let mut rows: Vec<_> = (0..plan.targets.len()).map(row).collect();
    let cost = |row: &CandidateRow| row.cost.map_or(f64::INFINITY, |cost| cost.point);
    rows.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    rows
}

/// Microseconds of a read from the device.
fn cold(advice: &Advice, label: &str) -> Option<f64> {
    let record = advice.cold.as_ref()?;
    let plan = &record.header.plan;
    let target = plan.targets.iter().position(|target| target.label == label)?;
    let case = Case { workload: 0, cache: *plan.caches.first()? };
    Some(Series::new(record, case, target).unit_times().mean()?.point)
}

/// The most that opening and reading it added, where stores take turns in one process.
fn memory(advice: &Advice, target: usize) -> Option<f64> {
    let own = advice.finals.samples.iter().filter(|sample| sample.target == target);
    let turns = own.filter(|sample| sample.passes().is_some_and(|passes| passes.slice.is_some()));
    turns.filter_map(|sample| sample.memory_bytes).max().map(|bytes| bytes as f64 / 1e6)
}

/// Less is no reason.
const MORE: f64 = 1.1;
/// Megabytes.
const LITTLE_MEMORY: f64 = 8.0;

/// What one takes more of than another.
fn more(one: &CandidateRow, other: &CandidateRow) -> Vec<String> {
    let times =
        |of: fn(&CandidateRow) -> Option<f64>| Some(of(one)? / of(other)?).filter(|by| *by > MORE);
    let by = |what: &str, by: Option<f64>| by.map(|by| format!("{}× {what}", factor(by)));
    let memory = one.memory.zip(other.memory).map(|(one, other)| one - other);
    [
        by("the time of an update", times(|row| row.update)),
        by("the time of a read", times(|row| row.read)),
        by("the time of a cold read", times(|row| row.cold)),
        by("the space", times(|row| row.space)),
        memory.filter(|more| *more > LITTLE_MEMORY).map(|more| format!("{more:.0} MB more memory")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// `95 % reads and 5 % updates`.
fn load(reads: f64) -> String {
    let parts = [(reads, "reads"), (1.0 - reads, "updates")];
    let parts = parts.into_iter().filter(|(share, _)| *share > 0.0);
    let parts: Vec<_> =
        parts.map(|(share, what)| format!("{} {what}", exact_percent(share))).collect();
    and(&parts)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size between two that were measured"
)]
fn size(bytes: f64) -> String {
    show_size(bytes.round() as u64)
}
