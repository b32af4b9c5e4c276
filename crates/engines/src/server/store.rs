//! An open store: its table, and the server that is its own, another process's, or remote.

use std::{path::Path, sync::Mutex};

use model::{
    Access, Durability, Error, ErrorKind, Facet, KeyKind, OpenOptions, Result, Session, Settings,
    Store,
};

use super::{
    address::Address,
    dialect::{Connection, Dialect, Failure, Row},
    folder::Folder,
    host::Host,
    session::TableSession,
    table::Table,
    variables::{Variables, add_asked},
};
use crate::lock;

/// The table of a server that storemark starts.
const TABLE: &str = "kv";

pub(super) struct TableStore<D: Dialect> {
    pub(super) table: Table<D::Form>,
    pub(super) access: Access,
    /// Most bytes of a value.
    pub(super) longest_value: u64,
    asked: Settings,
    durability: Durability,
    settle: Vec<String>,
    /// Dropped before the server ends.
    control: Mutex<D::Conn>,
    pub(super) host: Host<D>,
    removal: Option<Removal<D>>,
}

/// Removes the table that this process created on an existing server.
struct Removal<D: Dialect> {
    options: D::Options,
    statement: Option<String>,
}

impl<D: Dialect> Removal<D> {
    fn run(&mut self) -> Result<(), Failure<D>> {
        let Some(statement) = self.statement.take() else { return Ok(()) };
        let mut conn = D::connect(&self.options)?;
        conn.run(D::LOCK_TIMEOUT)?;
        conn.run(&statement).map(drop)
    }
}

impl<D: Dialect> Drop for Removal<D> {
    fn drop(&mut self) {
        // An error has nowhere to go; the next run names the table and how to drop it.
        let _ = self.run();
    }
}

impl<D: Dialect> TableStore<D> {
    /// Creates a folder with a server that has an empty table.
    pub(super) fn create(path: &Path, options: &OpenOptions) -> Result<Self> {
        let folder = Folder::at(path, D::software())?;
        Host::<D>::install(&folder, &options.settings)?;
        Self::fill(&folder, options).inspect_err(|_| {
            // This call created it; an error of its own would hide the first.
            let _ = folder.remove();
        })
    }

    fn fill(folder: &Folder, options: &OpenOptions) -> Result<Self> {
        let (host, mut conn) = Host::<D>::start(folder, Facet::Blobs, &options.settings)?;
        let name = own_table::<D>();
        let create = D::create_table(&name, options.keys, &options.settings);
        let statements = D::DATABASE.1.iter().copied().chain([&*create]);
        for statement in statements {
            conn.run(statement).map_err(|failure| host.explain(&failure))?;
        }
        let store = Self::on(host, conn, &name, None, options)?;
        folder.mark()?;
        Ok(store)
    }

    /// Starts a server on the folder of an existing store.
    pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let folder = Folder::at(path, D::software())?;
        folder.adopt(D::software().account())?;
        let (host, conn) = Host::start(&folder, Facet::Blobs, &options.settings)?;
        Self::on(host, conn, &own_table::<D>(), None, options)
            .map_err(|error| error.context(folder.path().display()))
    }

    /// Uses the server that another process has started.
    pub(super) fn join(path: &Path, options: &OpenOptions) -> Result<Self> {
        let folder = Folder::at(path, D::software())?;
        folder.check_served()?;
        let host = Host::joined(&folder);
        let conn = host.connect()?;
        Self::on(host, conn, &own_table::<D>(), None, options)
    }

    /// Creates a table on an existing server.
    pub(super) fn create_at(location: &Path, options: &OpenOptions) -> Result<Self> {
        let address = Address::parse(location, &D::ADDRESS)?;
        let (host, mut conn) = Host::<D>::remote(&address, &options.settings)?;
        let name = D::table_name(&address.database, &address.table);
        let create = D::create_table(&name, options.keys, &options.settings);
        conn.run(&create).map_err(|failure| {
            if D::is_taken(&failure) {
                taken(&name).context(&host.shown)
            } else {
                host.explain(&failure)
            }
        })?;
        let statement = Some(format!("DROP TABLE {name}"));
        let removal = Removal { options: host.options.clone(), statement };
        Self::on(host, conn, &name, Some(removal), options)
    }

    /// Uses a table that another process has created on an existing server.
    pub(super) fn join_at(location: &Path, options: &OpenOptions) -> Result<Self> {
        let address = Address::parse(location, &D::ADDRESS)?;
        let (host, conn) = Host::<D>::remote(&address, &options.settings)?;
        let name = D::table_name(&address.database, &address.table);
        Self::on(host, conn, &name, None, options)
    }

    /// Takes what is to be removed, so that an error removes it.
    fn on(
        host: Host<D>,
        mut conn: D::Conn,
        name: &str,
        removal: Option<Removal<D>>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let (table, variables) = read(&host, &mut conn, name, &options.settings)?;
        Ok(Self {
            access: options.access,
            longest_value: D::longest_value(&variables),
            asked: options.settings.clone(),
            durability: D::durability(&variables, &table.form),
            settle: if host.is_private() { D::settle(&variables, &table) } else { Vec::new() },
            control: Mutex::new(conn),
            table,
            host,
            removal,
        })
    }

    /// Lists what the server has besides the table.
    pub(super) fn others(&self) -> Result<Vec<String>> {
        let rows = lock::hold(&self.control).rows(D::OTHERS);
        let rows = rows.map_err(|failure| self.host.explain(&failure))?;
        Ok(rows.iter().filter_map(|row| row.text(0)).map(str::to_owned).collect())
    }
}

fn taken(table: &str) -> Error {
    let what =
        format!("there is a table {table}; if a killed run left it, DROP TABLE {table} removes it");
    Error::new(ErrorKind::Exists, what)
}

fn own_table<D: Dialect>() -> String {
    D::table_name(D::DATABASE.0, TABLE)
}

/// Reads what the table `name` is and what the server is set to; an error if they do not fit.
fn read<D: Dialect>(
    host: &Host<D>,
    conn: &mut D::Conn,
    name: &str,
    asked: &Settings,
) -> Result<(Table<D::Form>, Variables)> {
    let query = conn.prepare(&format!("SELECT k, v FROM {name}"));
    let query = query.map_err(|failure| host.explain(&failure))?;
    let keys = D::Conn::keys(&query).ok_or_else(|| {
        Error::usage(format!(
            "storemark did not create the table {name}: its columns k and v differ"
        ))
    })?;
    let form = form(host, conn, name)?;
    let variables = host.variables(conn)?;
    D::check_fit(asked, &variables, &form, host.is_private())
        .map_err(|e| e.context(&host.shown))?;
    Ok((Table { name: name.to_owned(), keys, form }, variables))
}

/// Reads what was fixed when the table `name` was made.
pub(super) fn form<D: Dialect>(host: &Host<D>, conn: &mut D::Conn, name: &str) -> Result<D::Form> {
    let rows = conn.rows(&D::form_query(name)).map_err(|failure| host.explain(&failure))?;
    let row =
        rows.first().ok_or_else(|| Error::new(ErrorKind::Missing, format!("no table {name}")));
    D::form(row?)
}

impl<D: Dialect> Store for TableStore<D> {
    fn keys(&self) -> KeyKind {
        self.table.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(TableSession::new(self)?))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let variables = self.host.variables(&mut lock::hold(&self.control))?;
        let mut settings = D::in_effect(Facet::Blobs, &variables, &self.table.form);
        add_asked(&mut settings, &self.asked);
        Ok((settings, self.durability))
    }

    fn processes(&self) -> Vec<u32> {
        self.host.processes()
    }

    fn settle(&self) -> Result<()> {
        if self.access == Access::Read {
            return Ok(());
        }
        let mut control = lock::hold(&self.control);
        let mut statements = self.settle.iter();
        let settled = statements.try_for_each(|statement| control.run(statement).map(drop));
        settled.map_err(|failure| self.host.explain(&failure))
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let complaints = D::integrity(&mut lock::hold(&self.control), &self.table);
        complaints.map_err(|failure| self.host.explain(&failure))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { control, host, removal, .. } = *self;
        drop(control);
        if let Some(mut removal) = removal {
            removal.run().map_err(|failure| host.explain(&failure))?;
        }
        host.stop()
    }
}
