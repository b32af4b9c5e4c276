//! The values of a database, as far as the user does not name them.

use kit::own_table;
use model::{FoundValues, Result, Settings};

use super::{
    candidates::{estimate, has_bytes},
    catalog::Catalog,
    describe::describe,
};
use crate::server::host::Host;

/// Returns the settings that name the values of a database; `None` if nothing is asked for, and no table has
/// bytes.
pub(crate) fn find<D: Catalog>(host: &Host<D>, asked: &Settings) -> Result<Option<FoundValues>> {
    let listed = host.control(D::listed)?;
    if !own_table::is_named(asked) && !listed.iter().any(has_bytes) {
        return Ok(None);
    }
    let table = describe(host, &listed, asked)?;
    let estimate = || estimate(host, &table.relation, &table.value.name);
    let mut found = own_table::found(table.settings.clone(), asked, estimate)?;
    if let Some(cost) = &table.cost {
        let about = found.about.map_or_else(String::new, |about| format!("{about}; "));
        found.about = Some(format!("{about}{cost}"));
    }
    found.only_moved = table.unindexed.map(|why| format!("{}: {why}", table.relation.name));
    Ok(Some(found))
}
