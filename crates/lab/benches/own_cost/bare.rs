//! The loop that one would write by hand over a map in memory for one thread: no trait objects, no
//! locks, no tally but of bytes. Operations and payloads are those of the lab.

use std::time::{Duration, Instant};

use model::{Action, Key};
use storemark_lab::{Op, ProbePass};

/// Values of the keys from 1 on, found by their index as the engine `memory` finds them.
pub(crate) struct Map(Vec<Option<Vec<u8>>>);

impl Map {
    pub(crate) fn new(keys: u32, value: &[u8]) -> Self {
        Self((0..keys).map(|_| Some(value.to_vec())).collect())
    }

    /// Time and bytes of one pass. A key that is missing ends the bench.
    pub(crate) fn pass(
        &mut self,
        drawn: &ProbePass<'_>,
        ops: &[Op<'_>],
        buffer: &mut [u8],
        salt: u64,
    ) -> (Duration, u64) {
        let start = Instant::now();
        let mut bytes = 0;
        for (position, op) in (0..).zip(ops) {
            let place = place(op.key);
            let payload = || drawn.payload(salt, position, op.size);
            bytes += match op.action {
                Action::Read => self.read(place, buffer),
                Action::Update => self.update(place, payload()),
                Action::Modify => self.read(place, buffer) + self.update(place, payload()),
                Action::Insert => self.insert(place, payload()),
                Action::Scan => self.scan(place, op.items, buffer),
                Action::Delete | Action::Stat => {
                    unreachable!("no mix of YCSB deletes, or looks up lengths")
                }
            };
        }
        (start.elapsed(), bytes as u64)
    }

    /// Only those of the beginning.
    pub(crate) fn restore(&mut self, keys: u32) {
        self.0.truncate(keys as usize);
    }

    fn read(&self, place: usize, buffer: &mut [u8]) -> usize {
        let value = self.0[place].as_ref().expect(THERE);
        buffer[..value.len()].copy_from_slice(value);
        value.len()
    }

    fn update(&mut self, place: usize, payload: &[u8]) -> usize {
        let value = self.0[place].as_mut().expect(THERE);
        value.clear();
        value.extend_from_slice(payload);
        payload.len()
    }

    fn insert(&mut self, place: usize, payload: &[u8]) -> usize {
        if place >= self.0.len() {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place] = Some(payload.to_vec());
        payload.len()
    }

    fn scan(&self, place: usize, items: u8, buffer: &mut [u8]) -> usize {
        let mut bytes = 0;
        for value in self.0[place..].iter().flatten().take(items.into()) {
            buffer[..value.len()].copy_from_slice(value);
            bytes += value.len();
        }
        bytes
    }
}

const THERE: &str = "keys are drawn among those that are there";

fn place(key: Key<'_>) -> usize {
    match key {
        Key::Int(key) => usize::try_from(key - 1).expect("keys begin at 1"),
        Key::Name(_) => unreachable!("keys are integers"),
    }
}
