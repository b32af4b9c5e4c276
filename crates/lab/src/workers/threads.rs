//! The workers of one process: a thread each.

use std::{
    ops::Range,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use model::{Error, Result};

use super::{Worker, Workers};

/// Opens the workers with these `numbers`, each on the thread that uses it, and lets `work` have
/// them make passes.
pub(crate) fn with<'a, P: Copy + Send, O: Send, T>(
    numbers: Range<usize>,
    open: impl Fn(usize) -> Result<Worker<'a, P, O>> + Sync,
    work: impl FnOnce(&mut Workers<'_, P, O>) -> Result<T>,
) -> Result<T> {
    let (sender, replies) = channel();
    let all = |replies: &Receiver<Result<_>>, count| {
        let replies: Vec<_> = replies.iter().take(count).collect();
        replies.into_iter().collect::<Result<Vec<_>>>()
    };
    thread::scope(|scope| {
        let start = |number| {
            let (to, passes) = channel();
            let (open, sender) = (&open, sender.clone());
            scope.spawn(move || serve(|| open(number), &passes, &sender));
            to
        };
        let workers: Vec<Sender<(P, u64)>> = numbers.map(start).collect();
        all(&replies, workers.len())?;
        work(&mut |pass, start_ns| {
            for worker in &workers {
                // One that has ended has replied with its failure.
                let _ = worker.send((pass, start_ns));
            }
            Ok(all(&replies, workers.len())?.into_iter().flatten().collect())
        })
    })
}

/// Carries out one worker's part. It replies once when it is open and once to each pass, until it
/// fails: then it is closed at once, because others may wait for a lock that it holds.
fn serve<'a, P, O>(
    open: impl FnOnce() -> Result<Worker<'a, P, O>>,
    passes: &Receiver<(P, u64)>,
    replies: &Sender<Result<Option<O>>>,
) {
    // Nobody waits for one whose code has a bug: the panic goes on when all others have ended.
    let _last_words = LastWords(replies);
    let work = |mut worker: Worker<'a, P, O>| {
        let _ = replies.send(Ok(None));
        for (pass, start_ns) in passes {
            host::wait_until(start_ns);
            let done = worker(pass, start_ns)?;
            let _ = replies.send(Ok(Some(done)));
        }
        Ok(())
    };
    if let Err(error) = open().and_then(work) {
        let _ = replies.send(Err(error));
    }
}

/// The reply of a worker that panics.
struct LastWords<'a, O>(&'a Sender<Result<Option<O>>>);

impl<O> Drop for LastWords<'_, O> {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.send(Err(Error::failed("a worker has panicked, which is a bug")));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// Three workers, one of which panics: when it is opened, or in a pass.
    fn panics(in_pass: bool) {
        let open = |number: usize| {
            assert!(in_pass || number != 1, "as it is opened");
            let worker: Worker<'_, (), usize> = Box::new(move |(), _| {
                assert_ne!(number, 1, "in a pass");
                Ok(number)
            });
            Ok(worker)
        };
        let _ = with(0..3, open, |workers| workers((), 0));
    }

    #[test]
    fn a_worker_that_panics_leaves_nobody_waiting() {
        for in_pass in [false, true] {
            assert!(catch_unwind(|| panics(in_pass)).is_err());
        }
    }

    #[test]
    fn all_workers_make_all_passes() {
        let open = |number: usize| {
            let worker: Worker<'_, usize, usize> = Box::new(move |pass, _| Ok(10 * pass + number));
            Ok(worker)
        };
        let made = with(0..3, open, |workers| {
            let mut all = [workers(1, 0)?, workers(2, 0)?].concat();
            all.sort_unstable();
            Ok(all)
        });
        assert_eq!(made.unwrap(), [10, 11, 12, 20, 21, 22]);
    }
}
