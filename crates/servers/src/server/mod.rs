//! Code that all servers share: their programs and how they are started and ended, the folder of a
//! store, and addresses. A kind of server adds its [`Peer`]. SQL servers also share tables of
//! values and of rows with their sessions, and add their [`Dialect`].

mod address;
mod at_end;
mod command;
mod dialect;
mod engine;
mod folder;
mod host;
mod in_effect;
mod leftovers;
mod packet;
mod process;
mod rows;
mod software;
mod store;
mod table;
mod tls;
mod users;
mod variables;
mod watch;
mod worker;

pub(crate) use address::{Address, AddressForm, percent_decode};
pub(crate) use at_end::{AtEnd, RETURN};
pub(crate) use command::run;
pub(crate) use dialect::{
    Answer, Connect, Dialect, EachRow, Failure, Peer, ResultRow, SqlConnection, SqlValue, Why,
    visit_rows,
};
pub(crate) use engine::{ServerEngine, ServerStore};
pub(crate) use folder::{LOOPBACK, ServerFolder, TCP_USER, Tcp, VIA, free_ports};
pub(crate) use host::Host;
pub(crate) use leftovers::{in_database, mark, remove_unowned};
pub(crate) use process::Server;
pub(crate) use software::{Software, numbers};
pub(crate) use store::TableStore;
pub(crate) use table::Grammar;
pub(crate) use tls::{TLS, Tls, certificate_error, certificates};
pub(crate) use users::{Catalog, Column, ColumnKind, NewTable, ParameterizedQuery, TableName};
pub(crate) use variables::{Variables, add_asked, own_variables, variables};
pub(crate) use watch::{
    Driver, End, TIMEOUT, at_stop, connect_limit, is_stopped, limit, limit_in_effect, stop,
};

use model::Try;

/// The gains and costs of a server, as a line of the settings worth trying.
pub(crate) const SERVED: Try = Try::new(
    "",
    "clients on other machines, and users with rights; a round trip for each operation",
);

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::Software;

    /// A shell as a server.
    pub(super) fn shell() -> &'static Software {
        Box::leak(Box::new(Software {
            name: "shell",
            engine: "server",
            users: &[],
            servers: &["sh"],
            by_name: false,
            installer: Some("sh"),
            usual: &["/bin"],
            package: "Debian: apt-get install no-such-server",
            version: (&["-c", "echo shell 1.2 more"], "shell "),
            least: "1",
            otherwise: "",
            variables: &["-c", "echo work_mem 1; echo work-place"],
            signals: ["TERM", "KILL"],
            mark: ("mark", "text"),
            sign: "data",
            folders: &["data"],
            socket: "socket",
            pid: "pid",
            found: OnceLock::new(),
        }))
    }
}
