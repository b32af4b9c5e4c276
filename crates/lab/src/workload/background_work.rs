//! The background work of an engine during a pass: the engine is asked repeatedly what is under
//! way.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use model::{BackgroundWork, FinishedWork, Store};

use host::now_ns;

/// The interval of asking: rarely enough that it costs nothing; short work may be over before it is
/// seen.
const EVERY: Duration = Duration::from_millis(20);

/// Runs `pass`, and also returns what `store` did meanwhile, in the clock that all processes share.
/// Each piece of work lasts from when it was first seen until it was no longer seen.
pub(crate) fn during<T>(store: &dyn Store, pass: impl FnOnce() -> T) -> (T, Vec<BackgroundWork>) {
    if store.background_work().is_none() {
        return (pass(), Vec::new());
    }
    let (passed, seen) = crate::meanwhile(|over| watch(store, over), pass);
    (passed, seen.unwrap_or_default())
}

fn watch(store: &dyn Store, over: &AtomicBool) -> Vec<BackgroundWork> {
    // All that was seen, and the places of what was under way last time.
    let (mut all, mut running) = (Vec::<BackgroundWork>::new(), Vec::<usize>::new());
    loop {
        let over = over.load(Ordering::Relaxed);
        let names = if over { None } else { store.background_work() }.unwrap_or_default();
        let now = now_ns();
        running.retain(|&place| {
            all[place].end_ns = now;
            names.contains(&&*all[place].name)
        });
        for name in names {
            if !running.iter().any(|&place| all[place].name == name) {
                running.push(all.len());
                all.push(BackgroundWork { name: name.to_owned(), start_ns: now, end_ns: now });
            }
        }
        if over {
            return all;
        }
        thread::park_timeout(EVERY);
    }
}

/// Converts the times of background work to the clock that all processes share.
pub(crate) fn on_shared_clock(done: &FinishedWork) -> BackgroundWork {
    let (now, now_ns) = (Instant::now(), now_ns());
    let ns = |at: Instant| {
        let ago = now.saturating_duration_since(at).as_nanos();
        now_ns.saturating_sub(u64::try_from(ago).unwrap_or(u64::MAX))
    };
    BackgroundWork {
        name: done.name.to_owned(),
        start_ns: ns(done.started),
        end_ns: ns(done.ended),
    }
}
