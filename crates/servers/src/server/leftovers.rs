//! Tables that runs left on an existing server. Each has a comment that names its owner, which
//! holds a lock as long as its connection is open: a table without a lock belongs to nobody.

use std::path::Path;

use model::{Cleaned, Leftover, Result, Settings};
use rustix::system::uname;

use super::{
    address::Address,
    dialect::{Dialect, Peer, ResultRow},
    host::Host,
};

const MARK: &str = "storemark: ";
/// The start of the names of its tables.
pub(super) const NAME: &str = "storemark_";

/// Returns the comment of a table that this process creates.
pub(crate) fn mark() -> String {
    let machine = uname().nodename().to_string_lossy().into_owned();
    format!("{MARK}process {} on {machine}", std::process::id())
}

/// Parses an address that ends with its database.
pub(crate) fn in_database<C: Peer>(address: &str, settings: &Settings) -> Result<Address> {
    Address::parse(Path::new(&format!("{address}/storemark")), settings, &C::ADDRESS)
}

/// Removes the marked tables in `database` that belong to nobody, and returns what happened to
/// each.
pub(super) fn sweep<D: Dialect>(host: &Host<D>, database: &str) -> Result<Vec<Leftover>> {
    let rows = host.control(|control| control.rows(D::MARKED))?;
    let text = |row: &D::Row, column| row.text(column).unwrap_or_default().to_owned();
    let marked = rows.iter().map(|row| (text(row, 0), text(row, 1), row.int(2) == Some(1)));
    Ok(remove_unowned(marked, |table| {
        let drop = format!("DROP TABLE {}", D::table_name(database, table));
        host.control(|control| control.run_all([D::LOCK_TIMEOUT, &drop]))
    }))
}

/// Calls `remove` for the tables that belong to nobody, given tables with their marks and whether
/// nobody uses them, and returns what happened to each.
pub(crate) fn remove_unowned(
    marked: impl Iterator<Item = (String, String, bool)>,
    remove: impl Fn(&str) -> Result<()>,
) -> Vec<Leftover> {
    let outcome = |(table, mark, is_free): (String, String, bool)| {
        // A table that a user has named or commented in a similar way is the user's.
        let owner = owner(&mark).filter(|_| table.starts_with(NAME))?.to_owned();
        let outcome = if is_free {
            remove(&table).map_or_else(|e| Cleaned::Failed(e.to_string()), |()| Cleaned::Removed)
        } else {
            Cleaned::InUse
        };
        Some(Leftover { table, owner, outcome })
    };
    marked.filter_map(outcome).collect()
}

/// Returns `process 17 on host`, if a comment is exactly one of [`mark`].
fn owner(mark: &str) -> Option<&str> {
    let owner = mark.strip_prefix(MARK)?;
    let (process, machine) = owner.strip_prefix("process ")?.split_once(" on ")?;
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !machine.contains(' ')).then_some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_mark_itself_is_one() {
        let own = mark();
        assert_eq!(owner(&own), own.strip_prefix(MARK));
        for comment in [
            "storemark: figures of May",
            "storemark: process x on y",
            "storemark: process 1 on a b",
            "",
        ] {
            assert_eq!(owner(comment), None, "{comment}");
        }
    }
}
