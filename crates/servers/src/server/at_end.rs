//! The work of a store on its server before it is closed.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use super::dialect::{Answer, Connect, Failure, Why};

/// The longest time to wait for an existing server that restarts.
pub(crate) const RETURN: Duration = Duration::from_secs(10);

/// The work to do by a connection.
type Work<C> = Box<dyn FnOnce(&mut C) -> Answer<()> + Send + Sync>;

/// Work that is done once, by a connection of its own, at the latest when this is dropped.
pub(crate) struct AtEnd<C>(Option<(Duration, Connect<C>, Work<C>)>);

impl<C> AtEnd<C> {
    pub(crate) const NOTHING: Self = Self(None);

    /// Prepares `work`. `patience` is how long a server that does not answer may take to come back.
    pub(crate) fn new(
        patience: Duration,
        connect: Connect<C>,
        work: impl FnOnce(&mut C) -> Answer<()> + Send + Sync + 'static,
    ) -> Self {
        Self(Some((patience, connect, Box::new(work))))
    }

    /// Leaves the work undone.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }

    pub(crate) fn run(&mut self) -> Answer<()> {
        let Some((patience, connect, work)) = self.0.take() else { return Ok(()) };
        let asked = Instant::now();
        loop {
            match connect() {
                Err(Failure { why: Why::Absent | Why::Odd | Why::Lost, .. })
                    if asked.elapsed() < patience =>
                {
                    sleep(Duration::from_millis(100));
                }
                answer => return work(&mut answer?),
            }
        }
    }
}

impl<C> Drop for AtEnd<C> {
    fn drop(&mut self) {
        // An error has nowhere to go; the next run in the database removes what is left.
        let _ = self.run();
    }
}
