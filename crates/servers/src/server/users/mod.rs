//! Tables of the user's own on a server: found by its catalogue and a few rows, read by their own keys and
//! indexes in transactions that only read, and written to as a copy of storemark's own.

mod candidates;
mod catalog;
mod describe;
mod find;
mod moved;
mod name;
mod new_table;
mod store;

pub(crate) use catalog::{Catalog, Column, ColumnKind, NewTable, ParameterizedQuery};
pub(super) use find::find;
pub(super) use moved::replace_by_paths;
pub(crate) use name::TableName;
pub(super) use store::{UsersStore, connect};
