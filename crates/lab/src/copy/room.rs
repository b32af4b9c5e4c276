//! Whether the copy has room.

use std::path::Path;

use model::{Error, Fill, Result, units::show_size};

use crate::{Amount, host};

/// Finds out before anything is written.
pub(super) fn check(amount: Amount, fill: &Fill, folder: &Path) -> Result<()> {
    let needed = amount.room(fill);
    let Some(free) = host::shortage(folder, needed)? else { return Ok(()) };
    Err(Error::usage(format!(
        "the copy takes about {}, but there are only {} free",
        show_size(needed),
        show_size(free)
    )))
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

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
