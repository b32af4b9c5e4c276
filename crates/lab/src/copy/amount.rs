//! How much there is to store, and whether there is room for it.

use std::{ops::ControlFlow, path::Path};

use model::{Error, Fill, Result, Scan, Store, units::show_size};

use crate::{Stop, host};

/// The block size of nearly all file systems, in bytes.
const BLOCK: u64 = 4096;

/// Values and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Values.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Amount {
    /// All that `store` holds.
    pub(crate) fn of(store: &dyn Store, stop: &Stop) -> Result<Self> {
        let mut amount = Self::default();
        store.session()?.scan(Scan::LENGTHS, &mut |item| {
            stop.check()?;
            amount.count += 1;
            amount.bytes += item.length;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(amount)
    }

    /// The room for it on disk: a quarter more than the bytes; a value with blocks of its own fills
    /// the last by half.
    pub(crate) fn room(self, fill: &Fill) -> u64 {
        let more =
            if fill.whole_blocks { self.count.saturating_mul(BLOCK / 2) } else { self.bytes / 4 };
        self.bytes.saturating_add(more)
    }

    /// Refuses if a copy into `folder` has no room.
    pub(super) fn check_room(self, fill: &Fill, folder: &Path) -> Result<()> {
        let needed = self.room(fill);
        let Some(free) = host::shortage(folder, needed)? else { return Ok(()) };
        Err(Error::usage(format!(
            "the copy takes about {}, but there are only {} free",
            show_size(needed),
            show_size(free)
        )))
    }
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    #[test]
    fn a_shortage_names_both_figures() {
        let folder = tempfile::tempdir().unwrap();
        let fill = Fill { settings: &[], sessions: 1, whole_blocks: false };
        let check = |bytes| Amount { count: 1, bytes }.check_room(&fill, folder.path());
        check(1000).unwrap();
        let error = check(1 << 62).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("5765 PB"), "{error}");
    }

    #[test]
    fn tiny_values_in_files_take_blocks() {
        let amount = Amount { count: 1000, bytes: 1000 };
        let fill = |whole_blocks| Fill { settings: &[], sessions: 1, whole_blocks };
        assert_eq!(amount.room(&fill(false)), 1250);
        assert_eq!(amount.room(&fill(true)), 2_049_000);
    }
}
