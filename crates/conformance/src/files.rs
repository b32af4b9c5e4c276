//! Files of a store as they are on disk.

use crate::{
    fault::{Checked, holds},
    store_folder::Snapshot,
};

/// Fails, with its name, if a file was changed, made or removed.
pub(crate) fn unchanged(before: &Snapshot, after: &Snapshot) -> Checked {
    let changed = before.iter().find(|(path, state)| after.get(*path) != Some(state));
    let new = after.iter().find(|(path, _)| !before.contains_key(*path));
    for (what, found) in [("changed or removed", changed), ("made", new)] {
        if let Some((path, _)) = found {
            holds(false, format_args!("{} was {what}", path.display()))?;
        }
    }
    Ok(())
}
