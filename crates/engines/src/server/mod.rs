//! What the SQL servers have in common: their programs and how they are started and ended, the
//! folder of a store, addresses, and tables of values and of rows with their sessions. A kind of
//! server adds its [`Dialect`].

mod account;
mod address;
mod claim;
mod dialect;
mod engine;
mod folder;
mod host;
mod process;
mod rows;
mod session;
mod software;
mod store;
mod table;
mod variables;

pub(crate) use address::{Address, AddressForm};
pub(crate) use dialect::{Connection, Dialect, Row, RowDialect, Value, visit_rows};
pub(crate) use engine::ServerEngine;
pub(crate) use folder::{Folder, Layout};
pub(crate) use host::Host;
pub(crate) use process::{Signals, run};
pub(crate) use software::{Arguments, Installed, Program, Software, numbers};
pub(crate) use table::{Grammar, Table};
pub(crate) use variables::{Expected, Variables, own_variables, variables};
