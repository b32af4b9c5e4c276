//! A store that is open: its server, if it is private, and its table.

use std::{
    path::Path,
    sync::Mutex,
    thread::sleep,
    time::{Duration, Instant},
};

use model::{
    Access, Account, Durability, Error, ErrorKind, KeyKind, OpenOptions, Result, Session, Settings,
    Store,
};
use mysql::{Conn, prelude::Queryable};

use super::{
    Mariadb,
    address::Address,
    connection::{Connector, code},
    durability::Flushing,
    folder::Folder,
    kind::Kind,
    server::Installed,
    session::TableSession,
    setting,
    table::Table,
    told,
};
use crate::{lock, server::Server};

/// The database of a private server, and its table.
const DATABASE: &str = "storemark";
const TABLE: &str = "`storemark`.`kv`";

/// How long the end of a server is waited for after its socket has closed.
const ENDING: Duration = Duration::from_secs(3);

pub(crate) struct TableStore {
    pub(crate) connector: Connector,
    pub(crate) table: Table,
    pub(crate) access: Access,
    /// `max_allowed_packet` in bytes.
    pub(crate) longest_packet: u64,
    settings: Settings,
    flushing: Flushing,
    owned: Owned,
}

/// What ends with a store.
enum Owned {
    /// Its server.
    Server(Mutex<Server>),
    /// Its table on a server that is there.
    Table,
    /// Nothing: another process has it open and keeps it.
    Nothing,
}

impl TableStore {
    pub(crate) fn create(
        path: &Path,
        installed: &Installed,
        options: &OpenOptions,
    ) -> Result<Self> {
        let folder = Folder::at(path)?;
        let account = model::Blobs::account(&Mariadb);
        folder.make(account)?;
        let made = Self::fill(&folder, installed, options, account);
        if made.is_err() {
            // It was made a moment ago, by this call.
            folder.remove();
        }
        made
    }

    fn fill(
        folder: &Folder,
        installed: &Installed,
        options: &OpenOptions,
        account: Option<Account>,
    ) -> Result<Self> {
        let settings = &options.settings;
        let kind = Kind::asked(settings);
        installed.install(folder, settings, account)?;
        let server = installed.start(folder, &[kind], settings, account)?;
        let connector = Connector::to_socket(&folder.socket(), None);
        let mut conn = connector.connect()?;
        let made = conn.query_drop(format!("CREATE DATABASE {DATABASE}"));
        made.map_err(|e| connector.explain(e))?;
        let table = Table::create(&mut conn, &connector, TABLE, kind, options.keys)?;
        folder.mark()?;
        let connector = Connector::to_socket(&folder.socket(), Some(DATABASE));
        Self::new(connector, &mut conn, table, options, Owned::Server(Mutex::new(server)))
    }

    pub(crate) fn open(path: &Path, installed: &Installed, options: &OpenOptions) -> Result<Self> {
        let folder = Folder::at(path)?;
        let account = model::Blobs::account(&Mariadb);
        folder.check_free()?;
        folder.give(account)?;
        let kind = Kind::asked(&options.settings);
        let server = installed.start(&folder, &[kind], &options.settings, account)?;
        Self::on(&folder, options, Owned::Server(Mutex::new(server)))
    }

    /// Uses the server that another process has started.
    pub(crate) fn join(path: &Path, options: &OpenOptions) -> Result<Self> {
        Self::on(&Folder::at(path)?, options, Owned::Nothing)
    }

    fn on(folder: &Folder, options: &OpenOptions, owned: Owned) -> Result<Self> {
        let connector = Connector::to_socket(&folder.socket(), Some(DATABASE));
        let mut conn = connector.connect()?;
        let table = Table::find(&mut conn, &connector, TABLE)?;
        Self::new(connector, &mut conn, table, options, owned)
    }

    /// Makes a table on a server that is there.
    pub(crate) fn create_at(address: &Address, options: &OpenOptions) -> Result<Self> {
        let connector = Connector::to_address(address, &session_variables(&options.settings)?);
        let mut conn = connector.greet()?;
        let name = address.quoted_table();
        let kind = Kind::asked(&options.settings);
        let made = Table::create(&mut conn, &connector, &name, kind, options.keys);
        let table = made.map_err(|error| taken(error, address))?;
        Self::new(connector, &mut conn, table, options, Owned::Table)
    }

    /// Uses a table that another process has made.
    pub(crate) fn join_at(address: &Address, options: &OpenOptions) -> Result<Self> {
        let connector = Connector::to_address(address, &session_variables(&options.settings)?);
        let mut conn = connector.greet()?;
        let table = Table::find(&mut conn, &connector, &address.quoted_table())?;
        Self::new(connector, &mut conn, table, options, Owned::Nothing)
    }

    /// Takes what is `owned` in any case, so that it ends with an error too.
    fn new(
        connector: Connector,
        conn: &mut Conn,
        table: Table,
        options: &OpenOptions,
        owned: Owned,
    ) -> Result<Self> {
        let mut store = Self {
            connector,
            table,
            access: options.access,
            longest_packet: 0,
            settings: options.settings.clone(),
            flushing: Flushing::default(),
            owned,
        };
        let explain = |e| store.explain(e);
        let flushing = told::flushing(conn).map_err(explain)?;
        let longest = told::variable(conn, "max_allowed_packet").map_err(explain)?;
        store.flushing = flushing;
        store.longest_packet = longest.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
        store.check_settings()?;
        store.read_back(conn)?;
        Ok(store)
    }

    /// Refuses what an existing table or server has otherwise.
    fn check_settings(&self) -> Result<()> {
        let kind = self.table.kind.word();
        if let Some(asked) = self.settings.get("engine").filter(|asked| *asked != kind) {
            return Err(Error::usage(format!(
                "engine={asked}: the table is {kind}, which is fixed once it is made"
            )));
        }
        let sync = self.flushing.sync();
        match self.settings.get("sync").filter(|asked| *asked != sync) {
            Some(asked) if !matches!(self.owned, Owned::Server(_)) => Err(Error::usage(format!(
                "the server has sync={sync}, not {asked}, and is not changed: \
                 innodb_flush_log_at_trx_commit={}, innodb_flush_method={}, innodb_doublewrite={}; \
                 --durability {} sets the others up alike",
                self.flushing.log,
                self.flushing.method,
                self.flushing.doublewrite,
                self.durability()
            ))),
            _ => Ok(()),
        }
    }

    fn read_back(&self, conn: &mut Conn) -> Result<Settings> {
        told::in_effect(conn, self.table.kind, &self.settings, &|e| self.explain(e))
    }

    /// Tables that are not the store's.
    pub(crate) fn others(&self) -> Result<Vec<String>> {
        let mut conn = self.connector.connect()?;
        conn.query(
            "SELECT CONCAT('table ', table_schema, '.', table_name) FROM information_schema.tables \
             WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') \
             AND NOT (table_schema = 'storemark' AND table_name = 'kv') ORDER BY 1",
        )
        .map_err(|e| self.explain(e))
    }

    /// What `error` means; where the server has ended, how.
    #[cold]
    pub(crate) fn explain(&self, error: mysql::Error) -> Error {
        let lost = !matches!(error, mysql::Error::MySqlError(_));
        let ended = if lost { self.ended() } else { None };
        ended.unwrap_or_else(|| self.connector.explain(error))
    }

    fn ended(&self) -> Option<Error> {
        let Owned::Server(server) = &self.owned else { return None };
        let begun = Instant::now();
        loop {
            let died = lock::hold(server).died();
            if died.is_some() || begun.elapsed() > ENDING {
                return died;
            }
            sleep(Duration::from_millis(20));
        }
    }

    fn drop_table(&self) -> Result<()> {
        let mut conn = self.connector.connect()?;
        conn.query_drop(self.table.drop()).map_err(|e| self.explain(e))
    }
}

/// Statements that set variables for a session alone.
fn session_variables(settings: &Settings) -> Result<Vec<String>> {
    let literal = |value: &str| {
        let number = !value.is_empty() && value.chars().all(|c| c.is_ascii_digit());
        if number {
            value.to_owned()
        } else {
            format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
        }
    };
    let variables = setting::variables(settings)?.into_iter();
    Ok(variables.map(|(name, value)| format!("SET SESSION {name}={}", literal(value))).collect())
}

/// A table that is there already may be what a killed run left.
fn taken(error: Error, address: &Address) -> Error {
    if !error.to_string().contains(&format!("(error {})", code::TABLE_EXISTS)) {
        return error;
    }
    let table = address.quoted_table();
    Error::new(
        ErrorKind::Exists,
        format!("{address}: there is a table {table}; if a killed run left it: DROP TABLE {table}"),
    )
}

impl Store for TableStore {
    fn keys(&self) -> KeyKind {
        self.table.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(TableSession::new(self)?))
    }

    fn in_effect(&self) -> Result<Settings> {
        self.read_back(&mut self.connector.connect()?)
    }

    fn durability(&self) -> Durability {
        self.flushing.class(self.table.kind)
    }

    fn processes(&self) -> Vec<u32> {
        match &self.owned {
            Owned::Server(server) => vec![lock::hold(server).pid()],
            _ => Vec::new(),
        }
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let mut conn = self.connector.connect()?;
        let said: Vec<(String, String, String, String)> =
            conn.query(self.table.check()).map_err(|e| self.explain(e))?;
        let fine = |kind: &str, text: &str| kind == "status" && text == "OK";
        let complaints = said.into_iter().filter(|(_, _, kind, text)| !fine(kind, text));
        Ok(Some(complaints.map(|(_, _, kind, text)| format!("{kind}: {text}")).collect()))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        match std::mem::replace(&mut self.owned, Owned::Nothing) {
            Owned::Server(server) => {
                let mut server =
                    server.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
                match server.died() {
                    Some(died) => Err(died),
                    None => server.stop(),
                }
            }
            Owned::Table => self.drop_table(),
            Owned::Nothing => Ok(()),
        }
    }
}

impl Drop for TableStore {
    fn drop(&mut self) {
        if matches!(self.owned, Owned::Table) {
            // Nowhere to report to; the next run names the table that is left.
            let _ = self.drop_table();
        }
    }
}
