//! An open store: its objects, and the private or existing server.

mod list;
mod session;
mod spread;

use std::{
    ops::ControlFlow,
    path::Path,
    sync::{Mutex, atomic::AtomicU8},
};

use kit::{lock, refusal};
use model::{
    Access, Action, Durability, Entry, Error, ErrorKind, Facet, FoundValues, Key, KeyKind,
    Leftover, OpenOptions, Requests, Result, Scan, Session, Settings, Store,
};

use super::{
    ACKNOWLEDGED, CONCURRENCY, EXISTING, KEYS, PART,
    address::{self, ENDPOINT, Link, REGION, is_aws},
    client::S3Client,
    leftovers,
    names::{self, Form},
    prices::{self, PRICES, Prices},
    private::{self, Private},
    software::{SERVER, ServerKind},
    sums::CHECK,
    transfer::{Transfer, transfer},
};

use crate::server::{ServerStore, Software, TIMEOUT, limit_in_effect};
use session::ObjectSession;

/// The most bytes of a part of a path in a server's folder.
const LONGEST_PART: usize = 255;
/// The most parts of an object.
const PARTS: u64 = 10_000;

/// The answers to whether the service refuses to overwrite an object when it is asked not to: not
/// known yet, yes, or no.
pub(super) const UNKNOWN: u8 = 0;
pub(super) const FORBIDS: u8 = 1;
pub(super) const ASKS: u8 = 2;

pub(crate) struct ObjectStore {
    pub(super) form: Form,
    pub(super) access: Access,
    pub(super) transfer: Transfer,
    pub(super) conditional: AtomicU8,
    /// The objects that are no values; `None` before they were all listed.
    pub(super) left_out: Mutex<Option<Vec<Entry>>>,
    /// The removal of its objects; it comes before the server.
    removal: Option<Removal>,
    pub(super) link: Link,
    private: Option<Private>,
    settings: Settings,
}

/// The removal of the objects that this process created in an existing bucket.
struct Removal {
    objects: Link,
    owner: Link,
    transfer: Transfer,
}

impl Removal {
    fn run(&self) -> Result<()> {
        let objects = S3Client::new(&self.objects, self.transfer);
        objects.delete_all()?;
        match objects.give_up_all() {
            // Who may not look at uploads has none that is known.
            Err(error) if error.kind() != ErrorKind::Usage => return Err(error),
            _ => {}
        }
        S3Client::new(&self.owner, self.transfer).delete_all()
    }
}

impl ServerStore for ObjectStore {
    const MADE: &'static str = "objects are made and deleted";

    fn software(settings: &Settings) -> &'static Software {
        ServerKind::from_settings(settings).software
    }

    fn installed() -> Result<()> {
        ServerKind::any_installed()
    }

    fn recognises(path: &Path) -> bool {
        ServerKind::recognise(path).is_some()
    }

    fn check_free(path: &Path) -> Result<()> {
        private::check_free(path)
    }

    fn check(_: Facet, settings: &Settings) -> Result<()> {
        if settings.get(SERVER.name).is_some() {
            Self::software(settings).installed()?;
        }
        Prices::from_settings(settings).map(drop)
    }

    fn unsupported_reason(private: bool, class: Durability, settings: &Settings) -> Option<String> {
        let known = private
            || class == Durability::None
            || settings.is(ACKNOWLEDGED.name, "durable")
            || is_aws(settings);
        (!known).then(|| {
            "what the service promises is not known; ?acknowledged=durable states that it stores \
             an acknowledged put for good"
                .to_owned()
        })
    }

    fn create(path: &Path, options: &OpenOptions) -> Result<Self> {
        let transfer = transfer(&options.settings);
        let (private, link) = Private::create(path, &options.settings, transfer, options.keys)?;
        let form = Form::new(options.keys, false);
        Ok(Self::open_bucket(link, Some(private), options, form))
    }

    fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let found = Private::open(path, &options.settings, transfer(&options.settings));
        Ok(Self::of_folder(found?, options))
    }

    fn join(path: &Path, options: &OpenOptions) -> Result<Self> {
        let found = Private::join(path, &options.settings, transfer(&options.settings));
        Ok(Self::of_folder(found?, options))
    }

    fn create_at(location: &Path, options: &OpenOptions) -> Result<Self> {
        let (settings, transfer) = (&options.settings, transfer(&options.settings));
        let find = || Link::find(location, settings);
        if is_users(location, settings) {
            return Self::create_existing(find()?, options);
        }
        let mut store = Self::open_bucket(find()?, None, options, Form::new(options.keys, false));
        let client = S3Client::new(&store.link, transfer);
        if !client.list("", None, 1)?.contents.is_empty() {
            let what = format!("{}: there are objects already", store.link.shown);
            return Err(Error::new(ErrorKind::Exists, what));
        }
        let owner = leftovers::sign(find()?, transfer)?;
        store.removal = Some(Removal { objects: find()?, owner, transfer });
        Ok(store)
    }

    fn join_at(location: &Path, options: &OpenOptions) -> Result<Self> {
        let form = Form::new(options.keys, false);
        Ok(Self::open_bucket(Link::find(location, &options.settings)?, None, options, form))
    }

    fn names_values(settings: &Settings) -> bool {
        is_existing(settings)
    }

    fn destination() -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[(EXISTING.name, "yes")])
    }

    fn open_at(location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        if leftovers::is_run(location) {
            return Ok(Box::new(Self::join_at(location, options)?));
        }
        let names_integers = options.settings.is(KEYS.name, KeyKind::Integers.as_str());
        let makes_integers = options.access == Access::Write && options.keys == KeyKind::Integers;
        let keys =
            if names_integers || makes_integers { KeyKind::Integers } else { KeyKind::Names };
        let form = Form::new(keys, true);
        let link = Link::find(location, &options.settings)?;
        Ok(Box::new(Self::open_bucket(link, None, options, form)))
    }

    fn find_values(location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        let link = Link::find(location, asked)?;
        let page = S3Client::new(&link, transfer(asked)).list("", None, 1)?;
        if page.contents.is_empty() {
            return Err(Error::usage("no object has a key with this prefix").at(&link.shown));
        }
        let mut settings = Settings::default();
        settings.set(EXISTING.name, "yes");
        Ok(Some(FoundValues { settings, ..FoundValues::default() }))
    }

    fn check_address(address: &str) -> Result<()> {
        address::split(Path::new(address)).map(drop)
    }

    fn class_at(address: &str, settings: &Settings) -> Result<Durability> {
        Link::find(Path::new(address), settings).map(|_| super::class(settings))
    }

    fn clean(address: &str, settings: &Settings) -> Result<Vec<Leftover>> {
        leftovers::clean(address, settings)
    }

    fn requests(action: Action, bytes: u64, settings: &Settings) -> Option<Requests> {
        Some(transfer(settings).requests(action, bytes))
    }

    fn store_requests(values: u64, settings: &Settings) -> Option<Requests> {
        Some(transfer(settings).store_requests(values))
    }
}

/// Returns whether settings say that the objects at an address are the user's own.
fn is_existing(settings: &Settings) -> bool {
    settings.is(EXISTING.name, "yes")
}

/// Returns whether the objects at a location are the user's own: those of a run are not, which has
/// copies of them.
fn is_users(location: &Path, settings: &Settings) -> bool {
    is_existing(settings) && !leftovers::is_run(location)
}

impl ObjectStore {
    /// Opens a place in a bucket for a copy, which has no objects yet.
    fn create_existing(link: Link, options: &OpenOptions) -> Result<Self> {
        let client = S3Client::new(&link, transfer(&options.settings));
        if !client.list("", None, 1)?.contents.is_empty() {
            let what = format!("{}: there are objects already", link.shown);
            return Err(Error::new(ErrorKind::Exists, what));
        }
        drop(client);
        Ok(Self::open_bucket(link, None, options, Form::new(options.keys, true)))
    }

    fn of_folder((private, link): (Private, Link), options: &OpenOptions) -> Self {
        let names = link.bucket.name() == KeyKind::Names.as_str();
        let keys = if names { KeyKind::Names } else { KeyKind::Integers };
        Self::open_bucket(link, Some(private), options, Form::new(keys, false))
    }

    fn open_bucket(
        link: Link,
        private: Option<Private>,
        options: &OpenOptions,
        form: Form,
    ) -> Self {
        let settings = options.settings.clone();
        Self {
            form,
            left_out: Mutex::default(),
            access: options.access,
            transfer: transfer(&settings),
            conditional: AtomicU8::new(UNKNOWN),
            removal: None,
            link,
            private,
            settings,
        }
    }

    /// Returns how its server ended, if it did, or `error`.
    #[cold]
    pub(super) fn explain(&self, error: Error) -> Error {
        match &self.private {
            Some(private) => private.explain(error),
            None => error,
        }
    }
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        if let Some(removal) = self.removal.take() {
            // An error has nowhere to go; `storemark clean` removes what is left.
            let _ = removal.run();
        }
    }
}

impl Store for ObjectStore {
    fn keys(&self) -> KeyKind {
        self.form.keys()
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(ObjectSession::new(self)))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        let longest = self.transfer.part as u64 * PARTS;
        refusal::check_value(key, length, longest)?;
        let Key::Name(name) = key else { return Ok(()) };
        if self.form == Form::Plain {
            return names::check_plain(&self.link.prefix, name);
        }
        names::check(&self.link.prefix, name)?;
        let long = name.split(|byte| *byte == b'/').any(|part| part.len() > LONGEST_PART);
        if self.private.is_some() && long {
            return Err(Error::unsupported(format!(
                "the name {key} has a part of more than {LONGEST_PART} bytes, which the server's \
                 file system does not take"
            )));
        }
        Ok(())
    }

    /// Returns the objects that no request can name, and those that mark folders.
    fn left_out(&self) -> Result<Vec<Entry>> {
        if self.form != Form::Plain {
            return Ok(Vec::new());
        }
        let noted = || lock::hold(&self.left_out).clone();
        if let Some(entries) = noted() {
            return Ok(entries);
        }
        self.session()?.scan(Scan::LENGTHS, &mut |_| Ok(ControlFlow::Continue(())))?;
        Ok(noted().unwrap_or_default())
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut found = Settings::default();
        let Transfer { part, concurrency, check, .. } = self.transfer;
        found.set(PART.name, part);
        found.set(CONCURRENCY.name, concurrency);
        found.set(CHECK.name, check);
        found.set(PRICES.name, self.settings.get(PRICES.name).unwrap_or(prices::NONE));
        found.set(TIMEOUT.name, limit_in_effect(&self.settings));
        if let Some(private) = &self.private {
            found.set(SERVER.name, private.kind.word);
            return Ok((found, Durability::None));
        }
        found.set(ENDPOINT.name, &self.link.endpoint);
        found.set(REGION.name, self.link.bucket.region());
        found.set(EXISTING.name, if is_existing(&self.settings) { "yes" } else { "no" });
        found.set(KEYS.name, self.settings.get(KEYS.name).unwrap_or(self.keys().as_str()));
        for (name, word) in super::in_effect_of(&self.settings) {
            found.set(name, word);
        }
        let class = super::class(&self.settings);
        Ok((found, class))
    }

    fn processes(&self) -> Vec<u32> {
        self.private.iter().flat_map(Private::processes).collect()
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        if let Some(removal) = self.removal.take() {
            removal.run()?;
        }
        self.private.take().map_or(Ok(()), Private::stop)
    }
}
