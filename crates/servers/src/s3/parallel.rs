//! Work on several threads.

use std::{sync::Mutex, thread};

use kit::lock;
use model::Result;

/// Runs `work` on all items, on so many threads, and returns its results in their order.
pub(super) fn in_parallel<I: Send, T: Send>(
    items: impl Iterator<Item = I> + Send,
    threads: usize,
    work: impl Fn(I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let items = Mutex::new(items.enumerate());
    let worker = || {
        let mut done = Vec::new();
        loop {
            let next = lock::hold(&items).next();
            let Some((number, item)) = next else { return Ok(done) };
            done.push((number, work(item)?));
        }
    };
    let results: Vec<Result<Vec<(usize, T)>>> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let own = worker();
        let joined = others
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        [own].into_iter().chain(joined).collect()
    });
    let mut all = Vec::new();
    for result in results {
        all.extend(result?);
    }
    all.sort_unstable_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, done)| done).collect())
}

#[cfg(test)]
mod tests {
    use model::Error;

    use super::*;

    #[test]
    fn parallel_work_keeps_its_order_and_reports_an_error() {
        for threads in [1, 3] {
            let squares = in_parallel(0..100, threads, |n| Ok(n * n)).unwrap();
            assert!(squares.into_iter().eq((0..100).map(|n| n * n)));
            let failing = |n| if n == 50 { Err(Error::failed("fifty")) } else { Ok(n) };
            assert_eq!(in_parallel(0..100, threads, failing).unwrap_err().to_string(), "fifty");
        }
    }
}
