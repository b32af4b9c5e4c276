//! The turns that several open stores take, wherever they are open.

use std::collections::BTreeMap;

use host::Spent;
use model::Result;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{clock::Latencies, op::Tally};
use crate::dataset::shuffle;

/// The reads of an epoch, equal for all stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turns {
    /// Operations of the first pass after opening.
    pub(crate) first: u64,
    /// Operations after which the same keys come again.
    pub(crate) pass: u64,
    /// Operations that count after it.
    pub(crate) count: u64,
    /// Operations that count in a slice.
    pub(crate) slice: u64,
    /// Operations before each slice that do not count: the last ones before it again, so that each key
    /// of a pass counts once. At most as many as the first pass has.
    pub(crate) lead: u64,
    /// The seed from which the orders of stores are drawn.
    pub(crate) seed: u64,
}

impl Turns {
    /// Returns the operations of each slice of a store; the last slice has the rest.
    pub(crate) fn slices(self) -> impl Iterator<Item = u64> {
        let starts = (0..self.count).step_by(usize::try_from(self.slice).unwrap_or(usize::MAX));
        starts.map(move |start| self.slice.min(self.count - start))
    }

    /// Returns the slice that the store with this `label`, of so many `stores`, does at a step. All
    /// stores do the same slices, but those of a pass over the keys in orders of their own: what one
    /// store has just read is in the processor's cache, and would be read from there by another one
    /// of the same files. As the first pass is in order, one that starts in the middle finds more of
    /// it there: a label is another store's in each epoch.
    fn slice_of(self, label: usize, stores: usize, step: usize, slices: usize) -> usize {
        let in_a_pass = self.pass / self.slice.max(1);
        let in_a_pass = usize::try_from(in_a_pass).unwrap_or(usize::MAX).max(1);
        let start = step / in_a_pass * in_a_pass;
        let length = in_a_pass.min(slices - start);
        start + (step - start + label * length / stores) % length
    }
}

/// The result of one store of an epoch.
#[derive(Serialize, Deserialize)]
pub(crate) struct LaneDone {
    /// Opening it, before its session.
    pub(crate) open_ns: u64,
    /// Share of its own cache that was filled before its first pass.
    pub(crate) cache_filled: f64,
    /// Memory that the process occupied more once the store was open and read; `None` if it is not
    /// known.
    pub(crate) memory_bytes: Option<u64>,
    /// The first pass after opening.
    pub(crate) first: Spent,
    /// The slices.
    pub(crate) spent: Spent,
    /// The tally of all reads.
    pub(crate) tally: Tally,
    /// Bytes that the slices read.
    pub(crate) bytes: u64,
    /// The engine's own counters over the slices.
    pub(crate) counters: BTreeMap<String, i64>,
    /// The latencies of the slices; `None` until they are over.
    pub(crate) latencies: Option<Latencies>,
}

/// The stores of an epoch, by their number.
pub(crate) trait Lanes {
    /// Opens a store, and makes its first pass.
    fn open(&mut self, store: usize) -> Result<()>;

    /// Prepares the slices, once all stores are open.
    fn start(&mut self) {}

    /// Makes a slice of a store.
    fn slice(&mut self, store: usize, slice: usize) -> Result<()>;

    /// Closes the session of a store, and returns what came of its reads.
    fn finish(&mut self, store: usize) -> Result<LaneDone>;
}

/// Opens so many stores in random order, and reads all of them in turns. A store that fails leaves, and
/// the others go on.
pub(crate) fn take_turns(
    turns: Turns,
    stores: usize,
    lanes: &mut dyn Lanes,
) -> Vec<Result<LaneDone>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(turns.seed);
    let mut shuffled = || {
        let mut order: Vec<usize> = (0..stores).collect();
        shuffle(&mut order, &mut random);
        order
    };
    let mut done: Vec<Result<()>> = (0..stores).map(|_| Ok(())).collect();
    for number in shuffled() {
        done[number] = lanes.open(number);
    }
    lanes.start();
    let (labelled, orders) = (shuffled(), balanced_orders(stores));
    let slices = turns.slices().count();
    for (order, step) in orders.iter().cycle().zip(0..slices) {
        for (label, number) in order.iter().map(|label| (*label, labelled[*label])) {
            if done[number].is_ok() {
                let slice = turns.slice_of(label, stores, step, slices);
                done[number] = lanes.slice(number, slice);
            }
        }
    }
    let finish = |(number, done): (usize, Result<()>)| done.and_then(|()| lanes.finish(number));
    done.into_iter().enumerate().map(finish).collect()
}

/// Orders of `n` in which each comes at every place equally often, and directly after every other
/// one equally often (E. J. Williams, "Experimental designs balanced for the estimation of residual
/// effects of treatments", Australian Journal of Scientific Research A 2, 1949): of two, AB and BA.
pub(crate) fn balanced_orders(n: usize) -> Vec<Vec<usize>> {
    // 0, 1, n - 1, 2, n - 2, …: neighbours differ by another amount each time.
    let zigzag =
        |place: usize| if place.is_multiple_of(2) { n - place / 2 } else { place.div_ceil(2) };
    let shifted = |by: usize| (0..n).map(|place| (zigzag(place) + by) % n).collect::<Vec<_>>();
    let orders = (0..n).map(shifted);
    if n.is_multiple_of(2) {
        return orders.collect();
    }
    // With an odd number the amounts repeat: each order comes backwards, too.
    orders.flat_map(|order| [order.iter().rev().copied().collect(), order]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes the first slice of each store, and ends there.
    struct FirstSlices(Vec<Option<usize>>);

    impl Lanes for FirstSlices {
        fn open(&mut self, _: usize) -> Result<()> {
            Ok(())
        }

        fn slice(&mut self, store: usize, slice: usize) -> Result<()> {
            self.0[store].get_or_insert(slice);
            Ok(())
        }

        fn finish(&mut self, _: usize) -> Result<LaneDone> {
            Err(model::Error::interrupted())
        }
    }

    #[test]
    fn each_store_starts_in_the_middle_of_the_keys_in_about_as_many_epochs() {
        let starts = (0..1000).map(|seed| {
            let turns = Turns { first: 40, pass: 40, count: 40, slice: 10, lead: 0, seed };
            let mut first = FirstSlices(vec![None; 2]);
            take_turns(turns, 2, &mut first);
            first.0
        });
        let (one, other): (Vec<_>, Vec<_>) = starts.partition(|start| *start == [Some(0), Some(2)]);
        assert!(other.iter().all(|start| *start == [Some(2), Some(0)]));
        assert!((400..600).contains(&one.len()), "{}", one.len());
    }

    #[test]
    fn each_store_is_everywhere_and_after_each_other_one_equally_often() {
        for n in 2..8 {
            let orders = balanced_orders(n);
            let (mut places, mut neighbours) = (BTreeMap::new(), BTreeMap::new());
            for order in &orders {
                for (place, store) in order.iter().enumerate() {
                    *places.entry((place, *store)).or_insert(0) += 1;
                }
                for pair in order.windows(2) {
                    *neighbours.entry((pair[0], pair[1])).or_insert(0) += 1;
                }
            }
            let each = orders.len() / n;
            assert_eq!((places.len(), neighbours.len()), (n * n, n * (n - 1)), "{n}");
            assert!(places.values().chain(neighbours.values()).all(|count| *count == each), "{n}");
        }
        assert_eq!(balanced_orders(1), [[0], [0]]);
    }
}
