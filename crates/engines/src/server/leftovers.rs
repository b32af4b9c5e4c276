//! Tables that runs left on an existing server. Each has a comment that names its owner, which holds
//! a lock as long as its connection is open: a table without that is nobody's.

use std::path::Path;

use model::{Cleaned, Leftover, Result, Settings};
use rustix::system::uname;

use super::{
    address::Address,
    dialect::{Dialect, Row},
    host::Host,
};

const MARK: &str = "storemark: ";

/// The comment of a table that this process creates.
pub(super) fn mark() -> String {
    let machine = uname().nodename().to_string_lossy().into_owned();
    format!("{MARK}process {} on {machine}", std::process::id())
}

/// Removes what killed runs left in the database at `address`, which ends without a table.
pub(super) fn clean<D: Dialect>(address: &str, settings: &Settings) -> Result<Vec<Leftover>> {
    let address = in_database::<D>(address, settings)?;
    sweep(&Host::<D>::remote(&address, settings)?, &address.database)
}

/// The parts of an address that ends with its database.
pub(super) fn in_database<D: Dialect>(address: &str, settings: &Settings) -> Result<Address> {
    Address::parse(Path::new(&format!("{address}/storemark")), settings, &D::ADDRESS)
}

/// Removes the marked tables in `database` that are nobody's.
pub(super) fn sweep<D: Dialect>(host: &Host<D>, database: &str) -> Result<Vec<Leftover>> {
    let marked = host.control(|control| control.rows(D::MARKED))?;
    let remove = |row: &D::Row| {
        let [table, mark] = [0, 1].map(|column| row.text(column).unwrap_or_default());
        let owner = mark.strip_prefix(MARK).unwrap_or(mark).to_owned();
        let drop = format!("DROP TABLE {}", D::table_name(database, table));
        let outcome = if row.int(2) != Some(1) {
            Cleaned::InUse
        } else if let Err(error) = host.control(|c| c.run_all([D::LOCK_TIMEOUT, &drop])) {
            Cleaned::Failed(error.to_string())
        } else {
            Cleaned::Removed
        };
        Leftover { table: table.to_owned(), owner, outcome }
    };
    Ok(marked.iter().map(remove).collect())
}
