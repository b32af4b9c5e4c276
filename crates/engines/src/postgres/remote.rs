//! `postgresql`: an existing server, on which a store is a table that goes with it.

use std::{env, path::Path, time::Duration};

use model::{
    Accepts, Blobs, Capabilities, Declaration, Durability, Engine, Error, ErrorKind, KeyKind,
    OpenOptions, Result, Session, Setting, Settings, Store, without_password,
};
use postgres::{Client, Config, config::Host as Server, error::SqlState};

use super::{
    CLASSES, STORAGE,
    database::{Database, Door},
    error::told,
    host::Host,
    session::PostgresSession,
    table::Table,
    variables,
};
use crate::server;

/// Longest time until a server takes a connection.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Postgresql;

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "sync",
            Accepts::Words(&["off", "async", "on"]),
            "synchronous_commit of the sessions: on, or async for off; fsync and full_page_writes \
               are the server's own and must fit",
        ),
        STORAGE,
        Setting::new(
            "set.*",
            Accepts::Text,
            "any variable that a session may set, as in set.work_mem=64MB",
        ),
    ],
    durability: CLASSES,
    limitations: &[
        "the server's processor time, memory, space and bytes are not counted, wherever it runs",
        "its caches are neither emptied nor looked at",
        "what it leaves to its checkpoints and to autovacuum is not counted",
        "waits for locks are not counted",
        "a server whose fsync or full_page_writes do not fit the durability class is refused",
        "names longer than 2,692 bytes (an entry of its index must fit a third of a page)",
        "no TLS",
    ],
    capabilities: Capabilities::REMOTE,
    server: true,
    schemes: &["postgres", "postgresql"],
    ..Declaration::new(
        "postgresql",
        "an existing PostgreSQL server: a table that is made and dropped",
    )
};

impl Engine for Postgresql {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for Postgresql {
    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        // Nothing was measured yet, and all that can go wrong is in what the user named.
        let address = Address::parse(location)?;
        let made = address.create(options).map_err(|error| error.with_kind(ErrorKind::Usage));
        Ok(Box::new(made?))
    }

    fn open(&self, _: &Path, _: &OpenOptions) -> Result<Box<dyn Store>> {
        Err(Error::new(ErrorKind::Missing, "postgresql: its tables are made and dropped by a run"))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(Address::parse(location)?.join(options)?))
    }
}

/// `//user:password@host:port/database/table`, understood.
struct Address {
    config: Config,
    /// All but the password, for people.
    shown: String,
    table: String,
}

impl Address {
    fn parse(location: &Path) -> Result<Self> {
        let text = location.to_str().unwrap_or_default();
        let shown = format!("postgres:{}", without_password(text));
        let wrong = |why: &str| {
            Error::usage(format!(
                "{shown}: {why} (accepted: postgres://user:password@host:port/database)"
            ))
        };
        let (server, table) = text.rsplit_once('/').ok_or_else(|| wrong("names no table"))?;
        if !server.trim_start_matches('/').contains('/') {
            return Err(wrong("names no database"));
        }
        let parsed = format!("postgres:{server}").parse::<Config>();
        let mut config = parsed.map_err(|error| wrong(&super::error::text(&error)))?;
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(wrong("names no database"));
        }
        let at = |host: &Server| matches!(host, Server::Tcp(name) if name.contains('@'));
        if config.get_hosts().iter().any(at) {
            return Err(wrong("an @ in a password is written %40"));
        }
        if config.get_hosts().is_empty() {
            return Err(wrong("names no host"));
        }
        if let (None, Some(password)) = (config.get_password(), env::var_os("PGPASSWORD")) {
            config.password(password.as_encoded_bytes());
        }
        config.application_name("storemark").connect_timeout(PATIENCE);
        let shown = shown.rsplit_once('/').map_or("", |(shown, _)| shown).to_owned();
        Ok(Self { config, shown, table: table.to_owned() })
    }

    fn create(self, options: &OpenOptions) -> Result<RemoteStore> {
        let (door, mut client) = self.connect(options)?;
        variables::check_set(&mut client, &options.settings).map_err(|e| e.context(&self.shown))?;
        let table = Table::new(&self.table, options.keys);
        let storage = options.settings.get("storage").unwrap_or("external");
        table.create(&mut client, storage).map_err(|error| self.refused(&error))?;
        self.store(door, client, table, options, true)
    }

    fn join(self, options: &OpenOptions) -> Result<RemoteStore> {
        let (door, mut client) = self.connect(options)?;
        let table = Table::find(&mut client, &self.table).map_err(|e| e.context(&self.shown))?;
        self.store(door, client, table, options, false)
    }

    fn connect(&self, options: &OpenOptions) -> Result<(Door, Client)> {
        let prelude = variables::session(&options.settings);
        let door = Door { config: self.config.clone(), prelude };
        let first = door.clone();
        let client = server::greeted("PostgreSQL", move || first.connect())
            .and_then(|connected| connected.map_err(|error| refused_login(&error)))
            .map_err(|error| error.context(&self.shown))?;
        Ok((door, client))
    }

    fn store(
        self,
        door: Door,
        client: Client,
        table: Table,
        options: &OpenOptions,
        made: bool,
    ) -> Result<RemoteStore> {
        let host = Host::Remote(self.shown.clone());
        let database = Database::new(host, door, client, table, options)?;
        // From here on it is dropped whatever happens.
        let store = RemoteStore { database, made };
        let class = match options.settings.get("sync") {
            Some("off") => Durability::None,
            Some("async") => Durability::Consistent,
            Some(_) => Durability::Durable,
            None => store.durability(),
        };
        if store.durability() == class {
            return Ok(store);
        }
        let needs = if class == Durability::None { "off" } else { "on" };
        Err(Error::usage(format!(
            "{}: gives durability {}, not {class}: that needs a server with fsync and \
             full_page_writes {needs}",
            self.shown,
            store.durability()
        )))
    }

    /// Why the table could not be made, and what would help.
    fn refused(&self, error: &postgres::Error) -> Error {
        let table = &self.table;
        let user = self.config.get_user().unwrap_or("the user");
        let hint = match error.code() {
            Some(&SqlState::DUPLICATE_TABLE) => {
                format!("; if it was left by a run that was killed, DROP TABLE {table} removes it")
            }
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                format!("; GRANT CREATE ON SCHEMA public TO {user} lets it make its table")
            }
            _ => String::new(),
        };
        Error::usage(format!("{}: {}{hint}", self.shown, told(error)))
    }
}

/// Why no connection came of it, and what would help.
fn refused_login(error: &postgres::Error) -> Error {
    let missing = error.as_db_error().is_none() && super::error::text(error).contains("password");
    let denied = error.code() == Some(&SqlState::INVALID_PASSWORD);
    let hint = if missing || denied {
        "; the password stands in the address (%40 for an @ in it) or in PGPASSWORD"
    } else {
        ""
    };
    Error::failed(format!("{}{hint}", told(error)))
}

struct RemoteStore {
    database: Database,
    /// Whether the table is this store's to drop.
    made: bool,
}

impl RemoteStore {
    /// Drops the table, over a new connection where the old one is lost.
    fn remove(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.made) {
            return Ok(());
        }
        let sql = format!("SET lock_timeout='10s'; {}", self.database.table.removal());
        if self.database.run(&sql).is_ok() {
            return Ok(());
        }
        let again = self.database.connect()?.batch_execute(&sql);
        again.map_err(|error| self.database.host.explain(&error))
    }
}

impl Drop for RemoteStore {
    fn drop(&mut self) {
        // Nowhere to report to; the next run names the table and how to drop it.
        let _ = self.remove();
    }
}

impl Store for RemoteStore {
    fn keys(&self) -> KeyKind {
        self.database.table.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(PostgresSession::new(&self.database)?))
    }

    fn in_effect(&self) -> Result<Settings> {
        self.database.in_effect()
    }

    fn durability(&self) -> Durability {
        self.database.durability
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.remove()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_server_database_and_table() {
        let address = Address::parse("//me:se%2Fcret@host:1/db/storemark_0".as_ref()).unwrap();
        assert_eq!(address.config.get_user(), Some("me"));
        assert_eq!(address.config.get_password(), Some(&b"se/cret"[..]));
        assert_eq!(address.config.get_dbname(), Some("db"));
        assert_eq!(address.config.get_ports(), [1]);
        assert_eq!(address.table, "storemark_0");
        assert_eq!(address.shown, "postgres://me@host:1/db");
    }

    #[test]
    fn a_mutilated_address_is_answered_without_its_password() {
        for text in [
            "",
            "//",
            "//me:SECRET@host",
            "//me:SECRET@host/",
            "//me:SECRET@host//table",
            "//me:SECRET@host:x/db/table",
            "//me:SECRET@host:99999/db/table",
            "//me:SECRET@/table",
            "//me@host:1/table",
            "//me:SECRET@more@host/db/table",
        ] {
            let error = Address::parse(text.as_ref()).err().unwrap_or_else(|| panic!("{text}"));
            let said = error.to_string();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(said.contains("accepted: postgres://") && !said.contains("SECRET"), "{said}");
        }
    }
}
