//! The workers of one process: a thread each.

use std::{
    ops::Range,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use model::Result;

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
            scope.spawn(move || serve(open(number), &passes, &sender));
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

/// One worker's part. It replies once when it is open and once to each pass, until it fails: then it
/// is closed at once, as others may wait for a lock that it holds.
fn serve<P, O>(
    opened: Result<Worker<'_, P, O>>,
    passes: &Receiver<(P, u64)>,
    replies: &Sender<Result<Option<O>>>,
) {
    let work = |mut worker: Worker<'_, P, O>| {
        let _ = replies.send(Ok(None));
        for (pass, start_ns) in passes {
            host::wait_until(start_ns);
            let done = worker(pass, start_ns)?;
            let _ = replies.send(Ok(Some(done)));
        }
        Ok(())
    };
    if let Err(error) = opened.and_then(work) {
        let _ = replies.send(Err(error));
    }
}
