//! An open store: its keys, and the private, joined or remote server.

mod session;

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use kit::refusal::check_value;
use model::{
    Access, Durability, Error, ErrorKind, Facet, Key, KeyKind, Leftover, Maintenance, OpenOptions,
    Result, Session, Settings, Store,
};

use super::{
    connection::{ValkeyClient, other_failure},
    peer,
    program::{self, VALKEY, software},
    stored::Stored,
};

use crate::server::{
    Address, Answer, AtEnd, Host, Peer, RETURN, ServerFolder, ServerStore, Software, TIMEOUT, TLS,
    add_asked, in_database, limit_in_effect, mark, own_variables, remove_unowned,
};
use session::ValkeySession;

/// The name of the store of a server that storemark starts.
const OWN: &str = "kv";
/// The hash on an existing server with the marks of the stores that runs have created.
const STORES: &[u8] = b"storemark:stores";
/// The default of `proto-max-bulk-len`.
const LONGEST: u64 = 512 << 20;
/// The file of a BGSAVE, among the server's data (`dbfilename`).
const SAVED: &str = "dump.rdb";

pub(crate) struct ValkeyStore {
    pub(super) access: Access,
    pub(super) stored: Stored,
    /// The most bytes of a value.
    longest: u64,
    /// The name by which its connections on an existing server are known.
    name: Option<String>,
    settings: Settings,
    // Before the connection that shows that the store is in use, and before the server ends.
    end: AtEnd<ValkeyClient>,
    pub(super) host: Host<ValkeyClient>,
}

impl ServerStore for ValkeyStore {
    const MADE: &'static str = "keys are made and removed";

    fn software(_: &Settings) -> &'static Software {
        software()
    }

    /// Asks for the form of a store alone: which program is installed is known only once it has run.
    fn recognises(path: &Path) -> bool {
        ServerFolder::is_one(path, &VALKEY)
    }

    fn logs() -> &'static [&'static str] {
        &["appendonlydir"]
    }

    fn check(_: Facet, settings: &Settings) -> Result<()> {
        own_variables(settings).map(drop)
    }

    fn unsupported_reason(_: bool, class: Durability, settings: &Settings) -> Option<String> {
        let unflushed = class > Durability::None && settings.is("sync", "no");
        unflushed
            .then(|| "sync=no leaves it to the system when the log is flushed (none)".to_owned())
    }

    fn create(path: &Path, options: &OpenOptions) -> Result<Self> {
        let folder = ServerFolder::new(path, software())?;
        Host::<ValkeyClient>::install(&folder, &options.settings, || {
            let host = Host::start(&folder, Facet::Blobs, &options.settings)?;
            host.control(|control| name_kind(control, OWN, options.keys))?;
            let store = Self::create_private(host, options)?;
            folder.mark().map(|()| store)
        })
    }

    fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let folder = ServerFolder::new(path, software())?;
        folder.adopt()?;
        let host = Host::start(&folder, Facet::Blobs, &options.settings)?;
        Self::create_private(host, options).map_err(|error| error.context(folder.path().display()))
    }

    fn join(path: &Path, options: &OpenOptions) -> Result<Self> {
        let host = Host::connect_started(&ServerFolder::new(path, software())?, &options.settings)?;
        Self::open_name(host, OWN, AtEnd::NOTHING, options)
    }

    fn create_at(location: &Path, options: &OpenOptions) -> Result<Self> {
        let (host, name) = existing(location, options)?;
        // Leftovers that cannot be removed do not prevent the run.
        let _ = sweep(&host);
        host.control(|control| {
            // Who sees the mark sees the connection.
            control.run_command(&[b"CLIENT", b"SETNAME", name.as_bytes()])?;
            if control.number(&[b"HSETNX", STORES, name.as_bytes(), mark().as_bytes()])? == 0 {
                let what = format!("{name}: another run has keys of this name there");
                return Err(other_failure(Error::new(ErrorKind::Exists, what)));
            }
            Ok(())
        })?;
        let own = name.clone();
        let end = AtEnd::new(RETURN, host.connect.clone(), move |control| remove(control, &own));
        host.control(|control| name_kind(control, &name, options.keys))?;
        Self::open_name(host, &name, end, options)
    }

    fn join_at(location: &Path, options: &OpenOptions) -> Result<Self> {
        let (host, name) = existing(location, options)?;
        Self::open_name(host, &name, AtEnd::NOTHING, options)
    }

    fn other_contents(&self) -> Result<Vec<String>> {
        self.host.control(|control| {
            let mut others = Vec::new();
            let info = control.text(&[b"INFO", b"keyspace"])?;
            let databases = info.lines().filter_map(|line| line.split_once(':'));
            let databases = databases.map(|(name, _)| name.trim()).filter(|name| *name != "db0");
            others.extend(databases.map(|name| format!("the database {name}")));
            control.each_key(b"*", |_, keys| {
                let keys = keys.iter().filter(|key| !self.stored.is_own(key));
                others.extend(keys.map(|key| format!("the key {}", key.escape_ascii())));
                Ok(())
            })?;
            Ok(others)
        })
    }

    fn repair(location: &Path) -> Option<String> {
        program::repair(location)
    }

    fn check_address(address: &str) -> Result<()> {
        in_database::<ValkeyClient>(address, &Settings::default()).map(drop)
    }

    fn class_at(address: &str, settings: &Settings) -> Result<Durability> {
        let host = Host::<ValkeyClient>::connect_existing(
            &in_database::<ValkeyClient>(address, settings)?,
            settings,
        )?;
        host.variables().map(|variables| peer::class(&variables))
    }

    fn clean(address: &str, settings: &Settings) -> Result<Vec<Leftover>> {
        sweep(&Host::remote(&in_database::<ValkeyClient>(address, settings)?, settings)?)
    }
}

impl ValkeyStore {
    /// Opens a store of a private server. Without a log the values are written at the end.
    fn create_private(host: Host<ValkeyClient>, options: &OpenOptions) -> Result<Self> {
        let mut end = AtEnd::NOTHING;
        if options.settings.is("sync", "off") {
            let log = |control: &mut ValkeyClient, word: &[u8]| {
                control.run_command(&[b"CONFIG", b"SET", b"appendonly", word]).map(drop)
            };
            host.control(|control| log(control, b"no"))?;
            if options.access == Access::Write {
                end = AtEnd::new(Duration::ZERO, host.connect.clone(), |control| {
                    control.rewrite(&[b"CONFIG", b"SET", b"appendonly", b"yes"])
                });
            }
        }
        Self::open_name(host, OWN, end, options)
    }

    fn open_name(
        host: Host<ValkeyClient>,
        name: &str,
        end: AtEnd<ValkeyClient>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let kind = host.control(|control| control.text(&[b"GET", name.as_bytes()]))?;
        let keys =
            KeyKind::ALL.into_iter().find(|keys| keys.as_str() == kind).ok_or_else(|| {
                Error::corrupt(format!("the key {name} has no kind of keys")).at(&host.shown)
            })?;
        let longest = host.variables()?.get("proto-max-bulk-len").parse().unwrap_or(LONGEST);
        Ok(Self {
            access: options.access,
            stored: Stored::new(name, keys),
            longest,
            name: (!host.is_private()).then(|| name.to_owned()),
            settings: options.settings.clone(),
            end,
            host,
        })
    }
}

/// Connects to the existing server at an address, which is as asked, and returns it with the name
/// of the store there.
fn existing(location: &Path, options: &OpenOptions) -> Result<(Host<ValkeyClient>, String)> {
    let address = Address::parse(location, &options.settings, &ValkeyClient::ADDRESS)?;
    let host = Host::<ValkeyClient>::remote(&address, &options.settings)?;
    let fits = peer::check(&options.settings, &host.variables()?);
    fits.map_err(|error| error.at(&host.shown))?;
    Ok((host, address.table))
}

/// Writes which kind of keys the store `name` has.
fn name_kind(control: &mut ValkeyClient, name: &str, keys: KeyKind) -> Answer<()> {
    control.run_command(&[b"SET", name.as_bytes(), keys.as_str().as_bytes()]).map(drop)
}

/// Removes the store `name` from an existing server.
fn remove(control: &mut ValkeyClient, name: &str) -> Answer<()> {
    let stored = Stored::new(name, KeyKind::Names);
    control.each_key(&stored.pattern(), |control, keys| {
        if keys.is_empty() {
            return Ok(());
        }
        let words: Vec<&[u8]> =
            [&b"DEL"[..]].into_iter().chain(keys.iter().map(|key| &**key)).collect();
        control.run_command(&words).map(drop)
    })?;
    control.run_command(&[b"DEL", name.as_bytes(), &stored.metas])?;
    control.run_command(&[b"HDEL", STORES, name.as_bytes()]).map(drop)
}

/// Removes the stores that killed runs left on an existing server (those whose name no connection
/// has), and returns what happened to each.
fn sweep(host: &Host<ValkeyClient>) -> Result<Vec<Leftover>> {
    let (marked, clients) = host.control(|control| {
        let marked = control.strings(&[b"HGETALL", STORES])?;
        let clients =
            if marked.is_empty() { String::new() } else { control.text(&[b"CLIENT", b"LIST"])? };
        Ok((marked, clients))
    })?;
    let words = clients.split_whitespace();
    let used: BTreeSet<_> = words.filter_map(|word| word.strip_prefix("name=")).collect();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let stores = marked.as_chunks().0.iter().map(|[name, mark]| {
        let name = text(name);
        let is_free = !used.contains(&*name);
        (name, text(mark), is_free)
    });
    Ok(remove_unowned(stores, |name| host.control(|control| remove(control, name))))
}

impl Store for ValkeyStore {
    fn keys(&self) -> KeyKind {
        self.stored.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let connected = (self.host.connect)().and_then(|mut client| {
            if let Some(name) = &self.name {
                client.run_command(&[b"CLIENT", b"SETNAME", name.as_bytes()])?;
            }
            Ok(client)
        });
        let client = connected.map_err(|failure| self.host.explain(failure))?;
        Ok(Box::new(ValkeySession::new(self, client)))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        check_value(key, length, self.longest)
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let variables = self.host.variables()?;
        let mut found = peer::in_effect(&variables);
        add_asked(&mut found, &self.settings);
        found.set(TIMEOUT.name, limit_in_effect(&self.settings));
        if self.name.is_some() {
            // A connection that is not encrypted as asked is none.
            found.set(TLS.name, self.settings.get(TLS.name).unwrap_or("off"));
        }
        Ok((found, peer::class(&variables)))
    }

    fn processes(&self) -> Vec<u32> {
        self.host.processes()
    }

    fn maintain(&self, what: Maintenance, _: &Path, _: &dyn Fn() -> bool) -> Result<bool> {
        if what != Maintenance::Backup {
            self.host.control_table(|control| control.rewrite(&[b"BGREWRITEAOF"]))?;
            return Ok(true);
        }
        let saved = self.host.control_table(ValkeyClient::save);
        let file = self.host.folder().map(|folder| folder.join("data").join(SAVED));
        // It would be one of the store's files.
        if let Some(file) = file.filter(|file| file.exists()) {
            fs::remove_file(&file).map_err(|e| Error::io(file.display(), e))?;
        }
        saved.map(|()| true)
    }

    fn reclaim(self: Box<Self>) -> Result<()> {
        // If there is no log, the server writes the data when it ends.
        if !self.settings.is("sync", "off") {
            self.host.control_table(|control| control.rewrite(&[b"BGREWRITEAOF"]))?;
        }
        self.close()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { host, mut end, .. } = *self;
        end.run().map_err(|failure| host.explain(failure))?;
        host.stop()
    }
}
