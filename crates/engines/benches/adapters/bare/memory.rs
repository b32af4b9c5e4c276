//! Values in memory, found by their index.

use super::{Bare, Work};
use crate::data::Data;

/// Values of the keys from 1 on.
pub(crate) struct Values(Vec<Vec<u8>>);

impl Values {
    pub(crate) fn new(data: &Data) -> Self {
        Self(data.keys().map(|key| data.value(key).to_vec()).collect())
    }
}

impl Bare for Values {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let mut bytes = 0;
        for key in work.keys {
            let place = usize::try_from(*key - 1).expect("keys begin at 1");
            let value = &self.0[place];
            buffer[..value.len()].copy_from_slice(value);
            bytes += value.len();
        }
        bytes
    }
}
