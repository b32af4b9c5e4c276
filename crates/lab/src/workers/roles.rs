//! Workers in roles: each session does the work of its role until the time of a pass is over.

use host::RunClock;
use model::{Blobs, Order, Result, Role, Store};
use serde::{Deserialize, Serialize};

use super::{
    Worker, Workers,
    blobs::{Find, StoreRequest, with_background},
    threads,
};
use crate::{
    Stop,
    dataset::{Dataset, Pool},
    workload::{RoleInput, RoleOutcome, RolePass, WorkerReport},
};

/// The function that has all sessions make a pass.
pub(crate) type RoleWorkers<'a> = Workers<'a, RolePass, WorkerReport<RoleOutcome>>;

/// The input that all sessions have in common.
#[derive(Clone, Copy)]
pub(crate) struct RoleSessions<'a> {
    pub(crate) roles: &'a [Role],
    pub(crate) values: (&'a Dataset, &'a Pool),
    /// The law by which keys are drawn, and the seed from which operations are.
    pub(crate) draw: (Order, u64),
    pub(crate) stop: &'a Stop,
}

impl RoleSessions<'_> {
    /// Opens a session of `store` for each of these numbers among all sessions of the roles, and lets
    /// `work` have them make passes.
    pub(crate) fn with<T>(
        &self,
        numbers: std::ops::Range<usize>,
        store: &dyn Store,
        work: impl FnOnce(&mut RoleWorkers<'_>) -> Result<T>,
    ) -> Result<T> {
        let open = |number| {
            let mut input = RoleInput::new(self.roles, number, self.values, self.draw, self.stop);
            let (mut buffer, mut session) = (input.buffer(), store.session()?);
            let clock = RunClock::of_this_thread();
            let worker: Worker<'_, _, _> = Box::new(move |pass: RolePass, start_ns| {
                input.run(pass, start_ns, &mut *session, &mut buffer, &clock)
            });
            Ok(worker)
        };
        threads::with(numbers, open, |workers| {
            work(&mut |pass, start_ns| {
                with_background(store, |of| &mut of.background, || workers(pass, start_ns))
            })
        })
    }
}

/// The job of a process that is one session.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RoleRequest {
    pub(crate) process: u32,
    pub(crate) store: StoreRequest,
    pub(crate) roles: Vec<Role>,
    pub(crate) draw: (Order, u64),
}

impl RoleRequest {
    /// Opens the store next to the process that asks, and lets `work` have the session make passes.
    pub(super) fn with(
        &self,
        find: Find,
        (dataset, pool): &(Dataset, Pool),
        stop: &Stop,
        work: impl FnOnce(&mut RoleWorkers<'_>) -> Result<()>,
    ) -> Result<()> {
        let store = self.store.open(find, Blobs::join)?;
        let Self { roles, draw, process, .. } = self;
        let sessions = RoleSessions { roles, values: (dataset, pool), draw: *draw, stop };
        let number = *process as usize;
        sessions.with(number..number + 1, &*store, work)?;
        store.close()
    }
}
