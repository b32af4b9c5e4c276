//! The findings that only the samples of a whole record show: intervals from too few rounds or too
//! wide ones, times that drift or fall into two groups, stalls, and the costs of passes in addition
//! to their operations.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Durability, Finding, FindingKind, Judge, Sample,
    record::{Ended, Header, Record},
    rows::{DELAYED_ROWS, RowOperation},
};
use stats::{Estimate, trend, two_modes};

use crate::{
    arithmetic::contradictions,
    experiment::roles,
    figures::{Figures, all_series, figures, per, sum},
    sample::{OTHER_CPUS, is_short},
    series::{FEWEST_ROUNDS, Series, facts},
    sizes::{ratio_depends_on_size, sample_moves},
    slices::ratio_depends_on_slices,
    timeline::timelines,
    verdict::is_settled,
};

/// The share of the wall time that the tool's own loop may take.
const TOOL_SHARE: f64 = 0.05;
/// The share of the measured time that may be left to the background without being reported.
const BACKGROUND: f64 = 0.05;
/// The clock is too coarse for medians shorter than so many times two reads of it. A latency holds
/// about one read, half of the two: from here on a tenth of the median or more.
const CLOCK_COARSE: u64 = 5;
/// The spread of the frequency that a run may show, as a share of the highest one.
const FREQUENCY: f64 = 0.05;

/// A drift at least as clear would be seen in one of a hundred runs of a steady machine.
const CHANCE: f64 = 0.01;

/// The smallest change or difference that is reported, as a share of the time.
const MATTERS: f64 = 0.05;

/// Returns the findings that all samples of a record together show, once its run is over.
pub fn of_record(record: &Record) -> Vec<Finding> {
    computed(record, &figures(record), true)
}

/// Returns those findings for a record that may not have ended; `figures` are its own.
pub(crate) fn computed(record: &Record, figures: &[Figures], ended: bool) -> Vec<Finding> {
    let samples = record.samples.iter();
    let mut findings: Vec<_> = samples.flat_map(|sample| contradictions(record, sample)).collect();
    findings.extend(figures.iter().flat_map(|row| of_interval(record, row, ended)));
    findings.extend(all_series(record).flat_map(|series| about(series, of_times(series))));
    findings.extend(other_load(&record.samples).map(Finding::run));
    findings.extend(extents_unknown(record));
    findings.extend(not_tried(record));
    if record.header.plan.first_workload(|work| work.operation().is_some()).is_some() {
        findings.extend(passes(record));
    }
    findings.extend(client_limits(record, figures));
    findings.extend(not_delayed(record));
    findings.extend(roles::findings(record));
    findings
}

/// Finds targets that were planned and have no trial in a case, where nothing else in the record says why.
fn not_tried(record: &Record) -> Vec<Finding> {
    let Some(why) = record.end.as_ref().and_then(|end| why_not_tried(&end.reason)) else {
        return Vec::new();
    };
    // Other experiments have states and workloads that not every target is measured in.
    if record.header.plan.experiment.blobs().is_none() {
        return Vec::new();
    }
    let explains = |series: &Series<'_>, finding: &Finding| {
        let label = &record.header.plan.targets[series.target].label;
        let is_own = finding.target.as_ref() == Some(label);
        is_own
            && match finding.kind {
                FindingKind::AlwaysWarm => series.case.cache.is_cold(),
                _ => finding.kind.why_not_measured().is_some(),
            }
    };
    let is_explained =
        |series: &Series<'_>| record.findings.iter().any(|finding| explains(series, finding));
    all_series(record)
        .filter(|series| !series.is_tried() && !is_explained(series))
        .flat_map(|series| about(series, [FindingKind::NotUsable { why: why.to_owned() }]))
        .collect()
}

/// Returns why a target of a run that ended so may have no trial; `None` if the run failed, which says it.
fn why_not_tried(ended: &Ended) -> Option<&'static str> {
    Some(match ended {
        Ended::Time => "the time was over before its first trial; use more --time",
        Ended::Requests => "the requests were spent before its first trial; let it send more",
        Ended::Interrupted => "the run was stopped before its first trial",
        Ended::Precise | Ended::Rounds => {
            "the record has no trial of it: lines are missing, or this is a fault of storemark"
        }
        Ended::Failed(_) => return None,
    })
}

/// The share of the rate of a target that does nothing from which on the clients are measured
/// rather than the store.
const CLIENT_SHARE: f64 = 0.5;

/// Finds targets that are about as fast as one that does nothing, with several clients.
fn client_limits(record: &Record, figures: &[Figures]) -> Vec<Finding> {
    let plan = &record.header.plan;
    let Some(null) = plan.targets.iter().position(|target| target.engine == "null") else {
        return Vec::new();
    };
    let several = |row: &&Figures| plan.workloads[row.case.workload].workers() > 1;
    let stores = figures.iter().filter(|row| !plan.is_reference(row.target) && row.target != null);
    let of = |row: &Figures| {
        let limit = figures.iter().find(|other| other.target == null && other.case == row.case)?;
        let share = limit.us_per_op?.point / row.us_per_op?.point;
        let series = Series::new(record, row.case, row.target);
        Some(about(series, (share > CLIENT_SHARE).then_some(FindingKind::ClientLimit { share })))
    };
    stores.filter(several).filter_map(of).flatten().collect()
}

fn about(series: Series<'_>, kinds: impl IntoIterator<Item = FindingKind>) -> Vec<Finding> {
    let Series { record, case, target, .. } = series;
    let label = &record.header.plan.targets[target].label;
    let find = |kind| Finding::target(kind, label).in_workload(case.workload).in_cache(case.cache);
    kinds.into_iter().map(find).collect()
}

/// Finds what is wrong with an interval: it is over too few rounds, over a part of them, or still
/// too wide when the run ended.
fn of_interval(record: &Record, row: &Figures, ended: bool) -> Vec<Finding> {
    let plan = &record.header.plan;
    let series = Series::new(record, row.case, row.target);
    let mut ran = series.rounds();
    // The interval that the run was to narrow: that of the ratio, or of the time of a single target.
    let (interval, rounds) = if plan.targets.len() == 1 {
        (&row.us_per_op, row.rounds)
    } else {
        let others = series.baseline().rounds();
        ran.retain(|round| others.contains(round));
        (&row.ratio, series.rounds_with(series.baseline()))
    };
    let Some(interval) = interval else { return vec![] };
    let left_out = left_out(rounds, ran.len());
    // A reference is no choice, and needs no verdict.
    let judged = !plan.is_reference(row.target);
    let open = ended && judged && !is_settled(series, Judge::Time, (row.verdict, row.ratio));
    let wide = too_wide(interval, plan.rounds.precision).filter(|_| open);
    let sizes = ratio_depends_on_size(series, row.ratio.as_ref()).filter(|_| judged);
    let slices = ratio_depends_on_slices(series).filter(|_| judged);
    let moves = sample_moves(series, row.ratio.as_ref()).filter(|_| judged);
    about(series, [moves, left_out, wide, sizes, slices].into_iter().flatten())
}

/// The smallest share of the rounds that must count: those that do not are no random ones.
const ROUNDS_COUNT: f64 = 0.75;

/// Returns a finding if only `rounds` of those that `ran` give the figure.
fn left_out(rounds: usize, ran: usize) -> Option<FindingKind> {
    let [rounds, ran] = [rounds, ran].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    if rounds < FEWEST_ROUNDS {
        return Some(FindingKind::TooFewRounds { rounds, ran, min: FEWEST_ROUNDS });
    }
    let few = f64::from(rounds) < ROUNDS_COUNT * f64::from(ran);
    few.then_some(FindingKind::RoundsLeftOut { rounds, ran })
}

/// Returns a finding if the interval is wider than `precision`. A single round has no width; that
/// it is only one is another finding.
fn too_wide(interval: &Estimate, precision: f64) -> Option<FindingKind> {
    let half_width = interval.half_width();
    (half_width.is_finite() && half_width > precision)
        .then_some(FindingKind::TooNoisy { half_width, precision })
}

fn of_times(series: Series<'_>) -> impl Iterator<Item = FindingKind> {
    let times: Vec<f64> = series.times().into_values().collect();
    [drift(&times), modes(&times), stalled(series)].into_iter().flatten()
}

fn drift(times: &[f64]) -> Option<FindingKind> {
    let trend = trend(times).filter(|trend| trend.p < CHANCE && trend.change.abs() > MATTERS)?;
    Some(FindingKind::Drift { change: trend.change })
}

/// Returns a finding if the times fall into two groups with means that differ by more than the
/// share `MATTERS`.
fn modes(times: &[f64]) -> Option<FindingKind> {
    let ratio = two_modes(times)?.ratio();
    (ratio > 1.0 + MATTERS).then_some(FindingKind::TwoModes { ratio })
}

fn stalled(Series { record, case, target, .. }: Series<'_>) -> Option<FindingKind> {
    let lines = timelines(record, case, target);
    let wall: f64 = lines.iter().map(|line| line.wall_ms).sum();
    let mut causes = BTreeMap::<&Option<String>, f64>::new();
    for stall in lines.iter().flat_map(|line| &line.stalls) {
        *causes.entry(&stall.cause).or_default() += stall.length_ms;
    }
    let share = causes.values().sum::<f64>() / wall;
    let (cause, _) = causes.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (share > MATTERS).then(|| FindingKind::Stalled { share, cause: cause.clone() })
}

fn passes(record: &Record) -> Vec<Finding> {
    let environment = &record.header.environment;
    let unknown = record.samples.iter().all(|sample| sample.load.other_cpus.is_none());
    let unknown = (unknown && !record.samples.is_empty()).then_some(FindingKind::LoadUnknown);
    let frequency = frequency_varies(&record.samples);
    let waiting = waiting_unknown(record);
    let run = [unknown, waiting, frequency].into_iter().flatten().map(Finding::run);
    let of_series = |series: Series<'_>| {
        let samples: Vec<_> = record.samples_of(series.case, series.target).collect();
        let tool = tool_share(&samples, environment.loop_ns);
        // A durable class leaves nothing; what a flush of the whole file system does afterwards is
        // not its work.
        let durable = series.durability() == Some(Durability::Durable);
        let left = left_to_background(&samples).filter(|_| !durable);
        let coarse = clock_coarse(&samples, environment.clock_ns);
        let ahead = readahead_evicts(series, &samples);
        about(series, [tool, left, coarse, ahead].into_iter().flatten())
    };
    run.chain(all_series(record).flat_map(of_series)).collect()
}

/// The standard deviation of the time of others in one pass, in nanoseconds: each of five kinds of
/// work is counted in whole ticks of 10 ms, into which each end of a pass falls at random.
const TICKS_NS: f64 = 11e6;

/// Returns the load of others in all short passes together, if it is high and the ticks do not
/// explain it.
fn other_load(samples: &[Sample]) -> Option<FindingKind> {
    let short = samples.iter().filter(|sample| is_short(sample));
    let known = short.filter_map(|s| Some((s.wall_ns as f64, s.load.other_cpus?)));
    let (mut passes, mut wall_ns, mut others_ns) = (0.0_f64, 0.0, 0.0);
    for (pass_ns, cpus) in known {
        passes += 1.0;
        wall_ns += pass_ns;
        others_ns += pass_ns * cpus;
    }
    let (cpus, error) = (others_ns / wall_ns, TICKS_NS * passes.sqrt() / wall_ns);
    // Without short passes neither is a number, and nothing is above that.
    (cpus > OTHER_CPUS + 3.0 * error).then_some(FindingKind::OtherLoad { cpus })
}

/// Returns a finding if waiting for a processor is not known; Linux reports it.
fn waiting_unknown(Record { header, samples, .. }: &Record) -> Option<FindingKind> {
    let unknown = header.environment.os != "linux" && samples.iter().all(|s| s.waited_ns.is_none());
    (unknown && !samples.is_empty()).then_some(FindingKind::WaitingUnknown)
}

fn tool_share(samples: &[&Sample], loop_ns: f64) -> Option<FindingKind> {
    let share = loop_ns * sum(samples, |s| s.operations) / sum(samples, Sample::judged_ns);
    (share > TOOL_SHARE).then(|| FindingKind::ToolShare { share: share.min(1.0) })
}

fn left_to_background(samples: &[&Sample]) -> Option<FindingKind> {
    let share = sum(samples, |s| s.background_ns) / sum(samples, |s| s.wall_ns);
    // Without samples the share is not a number, and above nothing.
    (share > BACKGROUND && share.is_finite()).then_some(FindingKind::LeftToBackground { share })
}

/// The smallest number of bytes from the device for each byte of the values that needs an
/// explanation: the pages with a value and those that lead to it are a few times its size.
const FETCHED: f64 = 10.0;

/// Returns a finding if what is read ahead under a limit on memory is evicted before it is used.
fn readahead_evicts(series: Series<'_>, samples: &[&Sample]) -> Option<FindingKind> {
    let Header { plan, environment, .. } = &series.record.header;
    let memory = plan.memory?.limit_bytes?;
    let mount = facts(series.record, series.target)?.mount.as_ref();
    let filesystem = environment.filesystems.iter().find(|f| Some(&f.mount) == mount)?;
    let readahead = filesystem.readahead_bytes?;
    let fetched = per(samples, |s| s.bytes, |s| s.io?.device_read_bytes)?;
    // One readahead is as large as several values.
    let value = sum(samples, |s| s.bytes) / sum(samples, |s| s.operations);
    (fetched > FETCHED && readahead as f64 > FETCHED * value)
        .then_some(FindingKind::ReadaheadEvicts { fetched, readahead, memory })
}

/// Returns a finding if the clock is too coarse for the median trial: one odd median is an odd
/// trial.
fn clock_coarse(samples: &[&Sample], clock_ns: u64) -> Option<FindingKind> {
    let mut medians: Vec<u64> =
        samples.iter().filter_map(|sample| Some(sample.latency()?.p50_ns)).collect();
    medians.sort_unstable();
    let p50_ns = *medians.get(medians.len() / 2)?;
    (p50_ns < CLOCK_COARSE * clock_ns).then_some(FindingKind::ClockCoarse { p50_ns, clock_ns })
}

fn frequency_varies(samples: &[Sample]) -> Option<FindingKind> {
    let known = || samples.iter().filter_map(|sample| sample.load.mhz);
    let (low_mhz, high_mhz) = (known().reduce(f64::min)?, known().reduce(f64::max)?);
    (high_mhz - low_mhz > FREQUENCY * high_mhz)
        .then_some(FindingKind::FrequencyVaries { low_mhz, high_mhz })
}

/// Finds trials in which a server was asked to delay rows and did not, or not all.
fn not_delayed(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let of = |sample: &Sample| {
        let target = plan.targets.get(sample.target)?;
        let work = plan.workloads.get(sample.workload)?.work;
        let inserts = work.rows().is_some_and(|rows| rows.operation == RowOperation::Insert);
        let asked = target.settings.get("style") == Some("delayed");
        let delayed = sample.counters.get(DELAYED_ROWS).copied().unwrap_or(0).unsigned_abs();
        (asked && inserts && delayed < sample.operations).then(|| {
            let kind = FindingKind::NotDelayed { delayed, rows: sample.operations };
            Finding::target(kind, &target.label).in_workload(sample.workload)
        })
    };
    record.samples.iter().filter_map(of).collect()
}

/// Finds targets whose files' extents the file system does not report.
fn extents_unknown(record: &Record) -> Vec<Finding> {
    let unknown = |sample: &&Sample| sample.fragments().is_some_and(|of| of.extents.is_none());
    let targets: BTreeSet<_> = record.samples.iter().filter(unknown).map(|s| s.target).collect();
    let filesystem = record.header.environment.filesystems.first();
    let kind = filesystem.map_or("the file system", |filesystem| &filesystem.kind);
    let find = |target: usize| {
        let label = &record.header.plan.targets[target].label;
        Finding::target(FindingKind::ExtentsUnknown { kind: kind.to_owned() }, label)
    };
    targets.into_iter().map(find).collect()
}
