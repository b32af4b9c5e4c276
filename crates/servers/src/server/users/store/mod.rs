//! An open table of the user's own, a copy of one, or one that is created.

mod session;

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use kit::own_table::TABLE;
use model::{
    Access, Durability, Entry, EntryKind, Facet, Key, KeyKind, OpenOptions, Result, Session,
    Settings, Store, TableFacts,
};

use super::{
    catalog::{Catalog, Column, ColumnKind},
    describe::{UsersTable, describe},
    name::TableName,
    new_table,
};
use session::UsersSession;

use crate::server::{
    address::Address,
    at_end::{AtEnd, RETURN},
    host::Host,
    in_effect::{in_effect, with_fixed, with_tls},
    leftovers::{NAME, in_database, mark, sweep},
    packet::{AROUND, too_long},
};

/// An open table.
pub(crate) struct UsersStore<D: Catalog> {
    access: Access,
    table: UsersTable,
    /// The table, as statements write it.
    name: String,
    /// The user's own table, if this is a copy of it.
    original: Option<String>,
    /// The name that a new table gets.
    becomes: Option<TableName>,
    /// The most bytes of a value.
    longest_value: u64,
    settings: Settings,
    /// Whether the session that fills a copy was opened: the first one.
    is_filled: AtomicBool,
    // This comes before the connection whose lock shows that the table is in use.
    removal: AtEnd<D>,
    host: Host<D>,
}

impl<D: Catalog> UsersStore<D> {
    /// Opens the user's own table; or the copy that another process has created, if `location` ends with
    /// its name.
    pub(crate) fn open(location: &Path, options: &OpenOptions) -> Result<Self> {
        if is_run::<D>(location, &options.settings) {
            return Self::join_copy(location, options);
        }
        let host = connect::<D>(location, &options.settings)?;
        if options.access == Access::Read {
            host.control(|control| control.run_all(D::READ_ONLY))?;
        }
        let table = found(&host, &options.settings)?;
        let name = table.relation.quoted.clone();
        Self::new(host, (table, name), AtEnd::NOTHING, options)
    }

    /// Opens the copy that another process has created.
    fn join_copy(location: &Path, options: &OpenOptions) -> Result<Self> {
        let address = Address::parse(location, &options.settings, &D::ADDRESS)?;
        let host = Host::<D>::remote(&address, &options.settings)?;
        let mut table = found(&host, &options.settings)?;
        let name = D::table_name(&address.database, &address.table);
        table.relation.quoted.clone_from(&name);
        Self::new(host, (table, name), AtEnd::NOTHING, options)
    }

    /// Creates an empty copy of the user's own table if `location` ends with the name of a run's table, or
    /// else a new table of the user's.
    pub(crate) fn create(location: &Path, options: &OpenOptions) -> Result<Self> {
        if is_run::<D>(location, &options.settings) {
            Self::create_copy(location, options)
        } else {
            Self::create_new(location, options)
        }
    }

    /// Creates an empty copy of the user's own table, which the first session fills with its rows.
    fn create_copy(location: &Path, options: &OpenOptions) -> Result<Self> {
        let address = Address::parse(location, &options.settings, &D::ADDRESS)?;
        let host = Host::<D>::remote(&address, &options.settings)?;
        let mut table = found(&host, &options.settings)?;
        if table.relation.is_view {
            return Err(table.refused("is a view: only reads of it are measured"));
        }
        // Leftovers that cannot be removed do not prevent the run.
        let _ = sweep(&host, &address.database);
        let name = D::table_name(&address.database, &address.table);
        let original = std::mem::replace(&mut table.relation.quoted, name.clone());
        host.control(|control| control.create_like(&name, &original, &mark()))?;
        let removal = removal(&host, &name);
        let mut store = Self::new(host, (table, name), removal, options)?;
        store.original = Some(original);
        *store.is_filled.get_mut() = false;
        Ok(store)
    }

    /// Creates a table of the user's own, under another name until it is closed: it is whole then.
    fn create_new(location: &Path, options: &OpenOptions) -> Result<Self> {
        let host = connect::<D>(location, &options.settings)?;
        let database = database::<D>(location, &options.settings)?;
        let _ = sweep(&host, &database);
        let (name, becomes, settings) = new_table::create::<D>(&host, &database, options)?;
        let removal = removal(&host, &name);
        let plain = TableName::parse(&name);
        let listed = host.control(D::listed)?;
        let mut asked = settings.clone();
        asked.set(TABLE, TableName { schema: None, ..plain }.to_string());
        let mut table = describe(&host, &listed, &asked)?;
        table.settings = settings;
        let options = &OpenOptions { settings: table.settings.clone(), ..options.clone() };
        let mut store = Self::new(host, (table, name), removal, options)?;
        store.becomes = Some(becomes);
        Ok(store)
    }

    /// Opens a table. It takes `removal`, so that an error runs it.
    fn new(
        host: Host<D>,
        (table, name): (UsersTable, String),
        removal: AtEnd<D>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let fixed = if table.relation.is_view {
            None
        } else {
            host.control(|control| control.fixed_of(&name, &table.value.name))?
        };
        let settings = options.settings.clone().overlaid(&table.settings);
        let settings = match fixed {
            Some(fixed) => with_fixed(&host, fixed, &settings)?,
            None => settings,
        };
        let variables = host.variables()?;
        let packet = D::PACKET.and_then(|name| variables.get(name).parse::<u64>().ok());
        Ok(Self {
            access: options.access,
            table,
            name,
            original: None,
            becomes: None,
            longest_value: packet.map_or(u64::MAX, |packet| packet.saturating_sub(AROUND)),
            settings,
            is_filled: AtomicBool::new(true),
            removal,
            host,
        })
    }

    pub(super) fn is_written(&self) -> bool {
        self.access == Access::Write && !self.table.relation.is_view
    }

    /// Fails if a row with only key and value cannot be inserted.
    pub(super) fn check_insert(&self, value: &[u8]) -> Result<()> {
        self.check_update(value)?;
        match &self.table.needs {
            Some(column) => Err(self.table.refused(&format!(
                "an insert needs a value for {column}, which is NOT NULL and has no default"
            ))),
            None => Ok(()),
        }
    }

    /// Fails if the column does not take `value`.
    pub(super) fn check_update(&self, value: &[u8]) -> Result<()> {
        let Column { name, kind, is_computed, .. } = &self.table.value;
        let why = match kind {
            Some(ColumnKind::LargeObject) => "names large objects, which are only read",
            _ if *is_computed => "is computed by the server: only reads are measured",
            Some(ColumnKind::Text) if str::from_utf8(value).is_err() => {
                "is text, which takes no bytes that are not UTF-8: updates with random bytes are not measured"
            }
            _ => return Ok(()),
        };
        Err(self.table.refused(&format!("{name} {why}")))
    }
}

/// Returns whether a location ends with the name of a table of a run.
fn is_run<D: Catalog>(location: &Path, settings: &Settings) -> bool {
    let address = Address::parse(location, settings, &D::ADDRESS);
    address.is_ok_and(|address| address.table.starts_with(NAME))
}

/// Returns the table that settings name on a server.
fn found<D: Catalog>(host: &Host<D>, settings: &Settings) -> Result<UsersTable> {
    let listed = host.control(D::listed)?;
    describe(host, &listed, settings)
        .map_err(|error| if error.location().is_empty() { error.at(&host.shown) } else { error })
}

/// Connects to the database at an address.
pub(crate) fn connect<D: Catalog>(location: &Path, settings: &Settings) -> Result<Host<D>> {
    let address = in_database::<D>(location.to_str().unwrap_or_default(), settings)?;
    Host::remote(&address, settings)
}

fn database<D: Catalog>(location: &Path, settings: &Settings) -> Result<String> {
    Ok(in_database::<D>(location.to_str().unwrap_or_default(), settings)?.database)
}

fn removal<D: Catalog>(host: &Host<D>, name: &str) -> AtEnd<D> {
    let drop = format!("DROP TABLE IF EXISTS {name}");
    AtEnd::new(RETURN, host.connect.clone(), move |control| {
        control.run_all([D::LOCK_TIMEOUT, &drop])
    })
}

impl<D: Catalog> Store for UsersStore<D> {
    fn keys(&self) -> KeyKind {
        self.table.key_columns.kind()
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let fills = !self.is_filled.swap(true, Relaxed);
        Ok(Box::new(UsersSession::new(self, fills)?))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        self.table.key_columns.check(key)?;
        if length > self.longest_value {
            return Err(too_long::<D>(length, self.longest_value));
        }
        Ok(())
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let (settings, class) = in_effect(&self.host, Facet::Blobs, &self.settings)?;
        let mut settings = with_tls(&self.host, &self.settings, settings)?;
        settings.0.retain(|_, word| !word.is_empty());
        Ok((settings.overlaid(&self.table.settings), class))
    }

    /// Lists the columns that are neither key nor value.
    fn left_out(&self) -> Result<Vec<Entry>> {
        let UsersTable { key, value, relation, .. } = &self.table;
        let is_used = |name: &str| key.iter().chain([value]).any(|used| used.name == name);
        let columns = relation.columns.iter().map(|column| column.name.as_str());
        let others = columns.filter(|name| !is_used(name)).map(|name| Entry {
            name: format!("column {name}").into_bytes(),
            kind: EntryKind::Further,
            content: Vec::new(),
        });
        Ok(others.collect())
    }

    fn table(&self) -> Result<Option<TableFacts>> {
        let not_in_copy = self.table.relation.not_in_copy.clone();
        Ok(Some(TableFacts { not_in_copy, ..TableFacts::default() }))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        if let Some(becomes) = &self.becomes {
            let rename = D::rename(&self.name, becomes);
            self.host.control(|control| control.run_all(&rename))?;
            self.removal.forget();
        }
        let Self { host, mut removal, .. } = *self;
        removal.run().map_err(|failure| host.explain(failure))?;
        host.stop()
    }
}
