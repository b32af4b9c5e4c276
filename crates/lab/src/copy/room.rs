//! Whether the copy has room.

use std::path::Path;

use model::{Error, ErrorKind, Fill, Result, units::show_size};

use super::Amount;
use crate::host;

/// The block size of nearly all file systems, in bytes.
const BLOCK: u64 = 4096;

/// Finds out before anything is written.
pub(super) fn check(amount: Amount, fill: &Fill, folder: &Path) -> Result<()> {
    let needed = needed(amount, fill);
    let free = match host::free_bytes(folder) {
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
        free => free?,
    };
    if needed <= free {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the copy takes about {}, but there are only {} free",
        show_size(needed),
        show_size(free)
    )))
}

/// A quarter more than the bytes; a value with blocks of its own fills the last by half.
fn needed(amount: Amount, fill: &Fill) -> u64 {
    let more =
        if fill.whole_blocks { amount.count.saturating_mul(BLOCK / 2) } else { amount.bytes / 4 };
    amount.bytes.saturating_add(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_values_in_files_take_blocks() {
        let amount = Amount { count: 1000, bytes: 1000 };
        let fill = |whole_blocks| Fill { settings: &[], sessions: 1, whole_blocks };
        assert_eq!(needed(amount, &fill(false)), 1250);
        assert_eq!(needed(amount, &fill(true)), 2_049_000);
    }

    #[test]
    fn a_shortage_names_both_figures() {
        let folder = tempfile::tempdir().unwrap();
        let fill = Fill { settings: &[], sessions: 1, whole_blocks: false };
        let check = |bytes| check(Amount { count: 1, bytes }, &fill, folder.path());
        check(1000).unwrap();
        let error = check(1 << 62).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("5765 PB"), "{error}");
    }
}
