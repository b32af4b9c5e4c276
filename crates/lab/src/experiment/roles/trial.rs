//! A trial: all sessions are open, and make a pass for each role alone and one for all together.

use std::time::Duration;

use model::{
    BackgroundWork, Cache, Growth, MaintenanceMeasured, Passes, Result, RoleMeasured, RoleWork,
    Sample, Store,
};

use super::{RolesExperiment, growth, maintenance};
use crate::{
    dataset::{Use, derive},
    experiment::{
        Output,
        meter::{Others, Own, PassMeter, flush, soon_ns},
        values,
    },
    store::{ReadyStore, cache_state},
    workers::{
        blobs::StoreRequest,
        message::JobRequest,
        processes::Processes,
        roles::{RoleRequest, RoleSessions, RoleWorkers},
    },
    workload::{
        RoleOutcome, RolePass, Tally, WorkerReport, latency, nanoseconds, over_time, worker_report,
    },
};

/// The longest pass before those that count: it fills the caches of the sessions.
const WARM_UP_NS: u64 = 200_000_000;

pub(super) struct RolesTrial<'a> {
    pub(super) of: &'a RolesExperiment<'a>,
    pub(super) ready: &'a ReadyStore,
    pub(super) sessions: RoleSessions<'a>,
    /// Names the trial, so that its payloads are its own.
    pub(super) seed: u64,
}

type Report = WorkerReport<RoleOutcome>;

/// The roles and the maintenance of a pass.
#[derive(Clone, Copy)]
struct Kind {
    /// The only role that works; `None` if all do.
    only: Option<usize>,
    /// The index of the maintenance; `None` if there is none.
    meanwhile: Option<usize>,
}

impl RolesTrial<'_> {
    /// Outputs a sample for each role of each pass.
    pub(super) fn run(&self, output: &mut Output<'_>) -> Result<()> {
        let before = cache_state::reach(self.ready, Cache::Warm, self.of.stop)?;
        let (samples, _) = self.ready.with(|store| self.open(store, output.round))?;
        if self.writes() {
            flush(&self.ready.files())?;
            self.ready.filled.set(false);
        }
        samples.into_iter().try_for_each(|sample| output.sample(Sample { before, ..sample }, None))
    }

    fn writes(&self) -> bool {
        self.sessions.roles.iter().any(|role| role.mix.writes())
    }

    fn open(&self, store: &dyn Store, round: u32) -> Result<Vec<Sample>> {
        let all = self.sessions.roles.iter().map(|role| role.sessions as usize).sum();
        let work = |workers: &mut RoleWorkers<'_>| self.measure(store, round, workers);
        let Some(processes) = &self.of.processes else {
            return self.sessions.with(0..all, store, work);
        };
        let store = StoreRequest::new(self.ready);
        let job = |process| {
            let (store, roles) = (store.clone(), self.sessions.roles.to_vec());
            JobRequest::Roles(RoleRequest { process, store, roles, draw: self.sessions.draw })
        };
        processes.with(job, work)
    }

    /// Makes the passes of a round, in an order that differs from round to round.
    fn measure(
        &self,
        store: &dyn Store,
        round: u32,
        workers: &mut RoleWorkers<'_>,
    ) -> Result<Vec<Sample>> {
        let pass_ns = self.of.data.pass_ns;
        let pass = |length_ns, only, index| {
            let salt = derive(self.seed, Use::Payloads, index);
            RolePass { length_ns, only, salt }
        };
        let warm_up = pass((pass_ns / 5).min(WARM_UP_NS), None, 0);
        workers(warm_up, soon_ns())?;
        self.flush_writes(store)?;
        let mut samples = Vec::new();
        for (index, kind) in (1..).zip(self.order(round)) {
            let pass = pass(pass_ns, kind.only, index);
            samples.extend(self.pass(store, pass, kind.meanwhile, workers)?);
        }
        Ok(samples)
    }

    /// Returns the passes of a round in their order.
    fn order(&self, round: u32) -> Vec<Kind> {
        let (roles, maintained) = (self.sessions.roles.len(), self.of.data.meanwhile.len());
        let alone = (0..roles).map(|role| Kind { only: Some(role), meanwhile: None });
        let together = (roles > 1).then_some(Kind { only: None, meanwhile: None });
        let maintained = (0..maintained).map(|of| Kind { only: None, meanwhile: Some(of) });
        let mut order: Vec<_> = alone.chain(together).chain(maintained).collect();
        let places = order.len();
        order.rotate_left(round as usize / 2 % places);
        if round % 2 == 1 {
            order.reverse();
        }
        order
    }

    /// Flushes what the durability class still requires, so that no pass pays for the one before it.
    fn flush_writes(&self, store: &dyn Store) -> Result<()> {
        if self.writes() { store.flush_writes() } else { Ok(()) }
    }

    fn pass(
        &self,
        store: &dyn Store,
        pass: RolePass,
        meanwhile: Option<usize>,
        workers: &mut RoleWorkers<'_>,
    ) -> Result<Vec<Sample>> {
        let ready = self.ready;
        let meanwhile = meanwhile.map(|of| self.of.data.meanwhile[of]);
        let upkeep = maintenance::Upkeep { store, path: &ready.path, pass_ns: pass.length_ns };
        let alone_ns = meanwhile.map(|of| upkeep.alone(of)).transpose()?;
        let servers = store.processes();
        let remote = ready.engine.capabilities().remote;
        let server = remote || !servers.is_empty();
        let ids = self.of.processes.as_ref().map(Processes::ids).unwrap_or_default();
        // Maintenance is this process's.
        let others = Others { servers: &servers, workers: &ids, own: Own::Works };
        let path = (!remote).then_some(&*ready.path);
        let meter = PassMeter::start(others, path, server);
        let values = self.of.data.summary.count;
        let work = || growth::during(ready, values, || workers(pass, soon_ns()));
        let ((done, growth), maintained) = upkeep.during(meanwhile, work);
        let (mut done, (measured, background)) = (done?, maintained?);
        let measured = alone_ns.map(|alone_ns| MaintenanceMeasured { alone_ns, ..measured });
        done.retain(|report| pass.only.is_none_or(|only| only == report.outcome.role));
        let flush = || store.flush_writes();
        let whole = meter.stop(&done, self.writes(), flush, || ready.files())?;
        let works = |role: &usize| pass.only.is_none_or(|only| only == *role);
        let roles = (0..self.sessions.roles.len()).filter(works);
        let together = pass.only.is_none() && self.sessions.roles.len() > 1;
        let meanwhile = meanwhile.map(|of| of.what);
        let sample = |role: usize| {
            let writes = self.sessions.roles[role].mix.writes();
            let work = RoleWork { role, together, meanwhile, writes };
            self.sample(work, (&whole, &done), &background, server)
        };
        let mut samples = roles.map(sample).collect::<Result<Vec<_>>>()?;
        give_first(&mut samples, growth, measured);
        Ok(samples)
    }

    /// Returns the sample of a role in a pass that `whole` is about.
    fn sample(
        &self,
        work: RoleWork,
        (whole, done): (&Sample, &[Report]),
        maintenance: &[BackgroundWork],
        server: bool,
    ) -> Result<Sample> {
        let of = &self.sessions.roles[work.role];
        let own: Vec<_> = done.iter().filter(|report| report.outcome.role == work.role).collect();
        let mut tally = Tally::default();
        for report in &own {
            tally.add(&report.outcome.tally);
        }
        let operations = own.iter().map(|report| report.operations).sum();
        if let Some(key) = tally.first.as_ref().filter(|_| self.ready.retains()) {
            return Err(values::missed(&tally, operations, key).context(&of.name));
        }
        // On a schedule the last operation may end long before the pass.
        let least_ns = if of.rate.is_some() { self.of.data.pass_ns } else { 0 };
        let wall_ns = worker_report::passed::<RoleOutcome, _>(&own).wall_ns.max(least_ns);
        let wall = Duration::from_nanos(wall_ns);
        let latencies = || own.iter().map(|report| &report.outcome.latencies);
        let latency = values::latency(latencies(), wall)?;
        let slices = latencies().map(|of| &of.slices).collect::<Vec<_>>();
        let background = done.iter().flat_map(|report| &report.outcome.background);
        let background = background.chain(maintenance);
        let lags = latency::sum(latencies().filter_map(|latencies| latencies.lags.as_ref()));
        let measured = RoleMeasured {
            worked_ns: match of.rate {
                None => worked_ns(&own, server),
                Some(_) => on_schedule_ns(latency.sum_ns, &own, server),
            },
            refused_ns: own.iter().map(|report| report.outcome.refused_ns).sum(),
            growth: Vec::new(),
            maintenance: None,
            passes: Passes {
                over_time: over_time(&slices, background),
                paced: values::paced_by(of.rate, lags, wall)?,
                latency,
                ..Passes::default()
            },
        };
        let alone = !work.together;
        Ok(Sample {
            workload: self.of.data.workload(work).expect("the plan has each work that is done"),
            cache: Cache::Warm,
            operations,
            bytes: tally.bytes,
            wall_ns,
            waited_ns: None,
            settle_ns: 0,
            workers: worker_report::workers::<RoleOutcome, _>(&own),
            counters: worker_report::counters::<RoleOutcome, _>(&own),
            // What all roles cost together is no figure of one.
            cost: if alone { whole.cost } else { model::Cost::default() },
            io: whole.io.filter(|_| alone),
            measured: measured.into(),
            ..whole.clone()
        })
    }
}

/// Returns the time of all sessions without that of refused operations, and without that in which they
/// waited for a processor, as far as it is known: with a server it cannot be distinguished from work.
/// A refused operation waits for a processor as much as any other.
fn worked_ns(own: &[&Report], server: bool) -> u64 {
    let worked = |report: &&Report| {
        let wall = report.end_ns.saturating_sub(report.start_ns);
        let ran = wall.saturating_sub(report.waited_ns.filter(|_| !server).unwrap_or(0));
        let refused = report.outcome.refused_ns.min(wall) as f64 / wall.max(1) as f64;
        values::part_of(ran, 1.0 - refused)
    };
    own.iter().map(worked).sum()
}

/// Returns the sum of latencies on a schedule, without that part of the delays before operations in
/// which the sessions waited for a processor.
fn on_schedule_ns(sum_ns: u64, own: &[&Report], server: bool) -> u64 {
    let late = own.iter().map(|report| report.outcome.latencies.late).sum();
    let waited: Option<u64> = own.iter().map(|report| report.waited_ns).sum();
    sum_ns.saturating_sub(waited.filter(|_| !server).unwrap_or(0).min(nanoseconds(late)))
}

/// Gives what is about all roles of a pass to the first one's sample.
fn give_first(
    samples: &mut [Sample],
    growth: Vec<Growth>,
    maintenance: Option<MaintenanceMeasured>,
) {
    if let Some(model::Measured::Roles(first)) = samples.first_mut().map(|of| &mut of.measured) {
        first.growth = growth;
        first.maintenance = maintenance;
    }
}
