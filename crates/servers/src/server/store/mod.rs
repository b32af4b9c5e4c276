//! An open store: its table, and the private, joined or remote server.

mod session;

use std::path::Path;

use kit::own_table;
use model::{
    Access, CopiedValues, Durability, Error, Facet, FoundValues, Key, KeyKind, Leftover,
    Maintenance, OpenOptions, Result, Session, Settings, Store,
};

use super::{
    address::Address,
    at_end::{AtEnd, RETURN},
    command::run_into,
    dialect::{Dialect, ResultRow},
    engine::ServerStore,
    folder::ServerFolder,
    host::Host,
    in_effect::{durability, in_effect, with_fixed, with_tls},
    leftovers::{self, in_database},
    packet::{AROUND, too_long},
    software::Software,
    users::{self, Catalog, UsersStore},
    variables::{Variables, own_variables},
};
use session::{TableSession, long_name};

/// The table of a server that storemark starts.
const TABLE: &str = "kv";

pub(crate) struct TableStore<D: Dialect> {
    pub(super) keys: KeyKind,
    pub(super) access: Access,
    pub(super) statements: [String; 7],
    /// The most bytes of a name.
    pub(super) longest_name: usize,
    /// The most bytes of a value.
    pub(super) longest_value: u64,
    /// The table, as statements write it.
    name: String,
    /// The settings that were asked for, with those that are fixed of the table.
    settings: Settings,
    /// The statements that end a pass.
    flush: Vec<String>,
    // This comes before the connection whose lock shows that the table is in use.
    removal: AtEnd<D>,
    pub(super) host: Host<D>,
}

impl<D: Catalog> ServerStore for TableStore<D> {
    const MADE: &'static str = "tables are made and dropped";

    fn software(_: &Settings) -> &'static Software {
        D::software()
    }

    fn check(facet: Facet, settings: &Settings) -> Result<()> {
        if facet != Facet::Rows {
            return Ok(());
        }
        own_variables(settings)?;
        D::check(facet, settings)
    }

    fn logs() -> &'static [&'static str] {
        D::LOGS
    }

    fn unsupported_reason(_: bool, class: Durability, settings: &Settings) -> Option<String> {
        let keeps = class == Durability::None || D::is_transactional(settings);
        let engine = settings.get("engine").unwrap_or_default();
        (!keeps).then(|| format!("engine={engine} promises nothing (none)"))
    }

    fn create(path: &Path, options: &OpenOptions) -> Result<Self> {
        D::check(Facet::Blobs, &options.settings)?;
        let folder = ServerFolder::new(path, D::software())?;
        Host::<D>::install(&folder, &options.settings, || {
            let host = Host::<D>::start(&folder, Facet::Blobs, &options.settings)?;
            host.control(|control| control.run_all(D::DATABASE.1))?;
            let name = own_table::<D>();
            let create = D::create_table(&name, options.keys, &options.settings);
            host.control(|control| control.run(&create))?;
            let store = Self::open_table(host, name, AtEnd::NOTHING, options)?;
            folder.mark().map(|()| store)
        })
    }

    fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let folder = ServerFolder::new(path, D::software())?;
        folder.adopt()?;
        let host = Host::start(&folder, Facet::Blobs, &options.settings)?;
        Self::open_table(host, own_table::<D>(), AtEnd::NOTHING, options)
            .map_err(|error| error.context(folder.path().display()))
    }

    fn join(path: &Path, options: &OpenOptions) -> Result<Self> {
        let host =
            Host::connect_started(&ServerFolder::new(path, D::software())?, &options.settings)?;
        Self::open_table(host, own_table::<D>(), AtEnd::NOTHING, options)
    }

    fn create_at(location: &Path, options: &OpenOptions) -> Result<Self> {
        D::check(Facet::Blobs, &options.settings)?;
        let (host, name, database) = existing::<D>(location, options)?;
        // Leftovers that cannot be removed do not prevent the run.
        let _ = leftovers::sweep(&host, &database);
        let create = D::create_table(&name, options.keys, &options.settings);
        host.control(|control| control.create_marked(&create, &name, &leftovers::mark()))?;
        let drop = format!("DROP TABLE {name}");
        let removal = AtEnd::new(RETURN, host.connect.clone(), move |control| {
            control.run_all([D::LOCK_TIMEOUT, &drop])
        });
        Self::open_table(host, name, removal, options)
    }

    fn join_at(location: &Path, options: &OpenOptions) -> Result<Self> {
        let (host, name, _) = existing(location, options)?;
        Self::open_table(host, name, AtEnd::NOTHING, options)
    }

    fn names_values(settings: &Settings) -> bool {
        own_table::is_named(settings)
    }

    fn open_at(location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(UsersStore::<D>::open(location, options)?))
    }

    fn create_named(location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(UsersStore::<D>::create(location, options)?))
    }

    fn destination() -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[])
    }

    fn find_values(location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        users::find(&users::connect::<D>(location, asked)?, asked)
    }

    fn replace_by_paths(copied: &CopiedValues<'_>) -> Result<Option<Vec<String>>> {
        users::replace_by_paths::<D>(copied)
    }

    fn other_contents(&self) -> Result<Vec<String>> {
        let rows = self.host.control(|control| control.rows(D::OTHERS))?;
        Ok(rows.iter().filter_map(|row| row.text(0)).map(str::to_owned).collect())
    }

    fn repair(location: &Path) -> Option<String> {
        D::repair(location)
    }

    fn check_address(address: &str) -> Result<()> {
        in_database::<D>(address, &Settings::default()).map(drop)
    }

    fn class_at(address: &str, settings: &Settings) -> Result<Durability> {
        let host = Host::<D>::connect_existing(&in_database::<D>(address, settings)?, settings)?;
        Ok(durability::<D>(&host.variables()?, settings))
    }

    fn clean(address: &str, settings: &Settings) -> Result<Vec<Leftover>> {
        let address = in_database::<D>(address, settings)?;
        leftovers::sweep(&Host::<D>::remote(&address, settings)?, &address.database)
    }
}

impl<D: Dialect> TableStore<D> {
    /// Opens the table `name`. It takes `removal`, so that an error runs it.
    fn open_table(
        host: Host<D>,
        name: String,
        removal: AtEnd<D>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let keys = host.control(|control| control.prepare(&format!("SELECT k, v FROM {name}")))?;
        let keys = D::keys(&keys).ok_or_else(|| {
            Error::usage(format!(
                "storemark did not create the table {name}: its columns k and v differ"
            ))
        })?;
        let settings =
            with_fixed(&host, host.control(|c| D::fixed_setting(c, &name))?, &options.settings)?;
        let variables = host.variables()?;
        if !host.is_private() {
            check_sync::<D>(&settings, &variables).map_err(|error| error.at(&host.shown))?;
        }
        let packet = D::PACKET.and_then(|name| variables.get(name).parse::<u64>().ok());
        Ok(Self {
            keys,
            access: options.access,
            statements: D::GRAMMAR.statements(&name, keys),
            longest_name: D::longest_name(&settings),
            longest_value: packet.map_or(u64::MAX, |packet| packet.saturating_sub(AROUND)),
            flush: if host.is_private() {
                D::flush_statements(&variables, &name)
            } else {
                Vec::new()
            },
            name,
            settings,
            host,
            removal,
        })
    }
}

fn own_table<D: Dialect>() -> String {
    D::table_name(D::DATABASE.0, TABLE)
}

/// Connects to the existing server at an address, and returns it with the table in it and its
/// database.
fn existing<D: Dialect>(
    location: &Path,
    options: &OpenOptions,
) -> Result<(Host<D>, String, String)> {
    let address = Address::parse(location, &options.settings, &D::ADDRESS)?;
    let host = Host::remote(&address, &options.settings)?;
    Ok((host, D::table_name(&address.database, &address.table), address.database))
}

/// Checks that a server that storemark does not change is set as asked.
fn check_sync<D: Dialect>(settings: &Settings, variables: &Variables) -> Result<()> {
    let sync = D::sync(variables);
    let Some(asked) = settings.get("sync").filter(|asked| *asked != sync) else { return Ok(()) };
    let shown: Vec<_> =
        D::SYNC.iter().map(|name| format!("{name}={}", variables.get(name))).collect();
    Err(Error::usage(format!(
        "sync={asked} cannot be had: sessions have sync={sync} ({}) there, and storemark does not \
         change the server; without --durability and sync= all targets get the server's own class",
        shown.join(", ")
    )))
}

impl<D: Dialect> Store for TableStore<D> {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(TableSession::new(self)?))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        if let Key::Name(name) = key
            && name.len() > self.longest_name
        {
            return Err(long_name(key, self.longest_name));
        }
        if length > self.longest_value {
            Err(too_long::<D>(length, self.longest_value))
        } else {
            Ok(())
        }
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let (mut settings, class) = in_effect(&self.host, Facet::Blobs, &self.settings)?;
        if !self.host.is_private() {
            settings = with_tls(&self.host, &self.settings, settings)?;
        }
        Ok((settings, class))
    }

    fn processes(&self) -> Vec<u32> {
        self.host.processes()
    }

    fn flush_writes(&self) -> Result<()> {
        if self.access == Access::Read {
            return Ok(());
        }
        self.host.control_table(|control| control.run_all(&self.flush))
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        self.host.control_table(|control| D::integrity(control, &self.name))
    }

    fn maintain(&self, what: Maintenance, to: &Path, _: &dyn Fn() -> bool) -> Result<bool> {
        if let Some(folder) = self.host.folder().filter(|_| what == Maintenance::Backup) {
            let arguments = D::backup_arguments(ServerFolder::as_input(folder));
            return run_into(&D::software().program(D::BACKUP)?, &arguments, folder, to)
                .map(|()| true);
        }
        let statement = D::maintenance(what, &self.name)
            .ok_or_else(|| Error::unsupported(format!("the server has no {what} for a table")))?;
        self.host.control_table(|control| control.run(&statement).map(drop))?;
        Ok(true)
    }

    fn reclaim(self: Box<Self>) -> Result<()> {
        self.host.control_table(|control| control.run(&D::reclaim(&self.name)).map(drop))?;
        self.flush_writes()?;
        self.close()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { host, mut removal, .. } = *self;
        removal.run().map_err(|failure| host.explain(failure))?;
        host.stop()
    }
}
