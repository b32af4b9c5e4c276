//! The memory for a value: most stores read and write each as a whole.

use model::{Error, Item, Memory, Result, units::show_size};

use crate::host;

/// The bytes from which on a value is held once at a time: shorter ones are read while others are written.
pub(crate) const LARGE: u64 = 256 << 20;

/// The memory that is free, of which a value may take all.
pub(crate) struct ValueRoom {
    /// Bytes; `None` if the system does not report them.
    free: Option<u64>,
}

impl ValueRoom {
    /// Asks the system how much is free now.
    pub(crate) fn measure() -> Self {
        let Memory { available_bytes, swap_bytes, address_space_bytes, .. } = host::memory();
        let free = available_bytes.map(|bytes| bytes.saturating_add(swap_bytes.unwrap_or(0)));
        Self { free: free.into_iter().chain(address_space_bytes).min() }
    }

    /// Fails if a value has no room as a whole: the system would end this process, or others.
    pub(crate) fn check(&self, item: &Item<'_>) -> Result<()> {
        let Some(free) = self.free.filter(|free| *free < item.length) else {
            return Ok(());
        };
        Err(Error::usage(format!(
            "the value of {} has {}, and {} of memory are free: storemark holds each value as a whole",
            item.key,
            show_size(item.length),
            show_size(free)
        )))
    }
}

#[cfg(test)]
mod tests {
    use model::Key;

    use super::*;

    #[test]
    fn a_value_that_has_no_room_is_named_with_both_figures() {
        let item = Item::new(Key::Name(b"film"), &[], None).with_length(3_000_000_000);
        let check = |free| ValueRoom { free }.check(&item);
        check(None).unwrap();
        check(Some(3_000_000_000)).unwrap();
        let error = check(Some(2_000_000_000)).unwrap_err().to_string();
        assert!(
            error.starts_with("the value of film has 3.00 GB, and 2.00 GB of memory"),
            "{error}"
        );
    }
}
