//! A private server of a store: started on its folder, with a key that is generated for this start.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
};

use kit::lock;
use model::{Error, ErrorKind, KeyKind, Result, Settings};
use rusty_s3::{Bucket, Credentials, UrlStyle};

use super::{
    address::Link,
    client::S3Client,
    software::{KEY, ServerKind},
    transfer::{Transfer, transfer},
};

use crate::server::{LOOPBACK, Server, ServerFolder, is_stopped};

/// The longest time until a server that answers delivers its objects.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// The server of a store, which this process or another one has started.
pub(super) struct Private {
    pub(super) kind: &'static ServerKind,
    folder: ServerFolder,
    /// The server; `None` if another process started it.
    server: Option<Mutex<Server>>,
    // After the server, which is ended before.
    _left: Left,
}

/// The files that are removed once a server has ended.
struct Left(Vec<PathBuf>);

impl Drop for Left {
    fn drop(&mut self) {
        for file in &self.0 {
            // Some of the files may not exist.
            let _ = fs::remove_file(file);
        }
    }
}

impl Private {
    /// Creates the folder of a store and starts a server on it, with a bucket for `keys`.
    pub(super) fn create(
        path: &Path,
        settings: &Settings,
        transfer: Transfer,
        keys: KeyKind,
    ) -> Result<(Self, Link)> {
        let kind = ServerKind::from_settings(settings);
        kind.software.installed()?;
        let folder = ServerFolder::new(path, kind.software)?;
        folder.create()?;
        let started = Self::start(kind, folder.clone(), transfer).and_then(|(private, base)| {
            let link = base.link(keys);
            S3Client::new(&link, transfer).create_bucket()?;
            folder.mark().map(|()| (private, link))
        });
        started.inspect_err(|_| {
            // An error of its own would hide the first.
            let _ = folder.remove();
        })
    }

    /// Starts a server on the folder of an existing store.
    pub(super) fn open(
        path: &Path,
        settings: &Settings,
        transfer: Transfer,
    ) -> Result<(Self, Link)> {
        let kind = ServerKind::detect(path, settings)?;
        let folder = ServerFolder::new(path, kind.software)?;
        folder.adopt()?;
        let (private, base) = Self::start(kind, folder, transfer)?;
        let link = base.existing(path, transfer)?;
        serves(&link, transfer).map(|()| (private, link))
    }

    /// Opens the store of a server that another process has started.
    pub(super) fn join(
        path: &Path,
        settings: &Settings,
        transfer: Transfer,
    ) -> Result<(Self, Link)> {
        let kind = ServerKind::detect(path, settings)?;
        let folder = ServerFolder::new(path, kind.software)?;
        folder.check_served()?;
        let link = Base::find(kind, &folder)?.existing(path, transfer)?;
        Ok((Self { kind, folder, server: None, _left: Left(Vec::new()) }, link))
    }

    fn start(
        kind: &'static ServerKind,
        folder: ServerFolder,
        transfer: Transfer,
    ) -> Result<(Self, Base)> {
        // Another program may have taken the port of an earlier start.
        folder.choose_tcp()?;
        let base = Base::find(kind, &folder)?;
        let start = (kind.start)(&folder, base.port, &base.secret)?;
        let probe = base.link(KeyKind::Integers);
        let client = S3Client::new(&probe, Transfer { counted: false, ..transfer });
        let answers = || client.has_bucket().is_ok() || is_stopped();
        let server = Server::start(&folder, &start.arguments, &start.environment, answers)?;
        folder.write("pid", &format!("{}\n", server.pid()))?;
        Ok((Self { kind, folder, server: Some(Mutex::new(server)), _left: Left(start.left) }, base))
    }

    pub(super) fn processes(&self) -> Vec<u32> {
        self.server.iter().map(|server| lock::hold(server).pid()).collect()
    }

    /// Returns how the server ended, if it did, or `error`.
    #[cold]
    pub(super) fn explain(&self, error: Error) -> Error {
        let ended = self.server.as_ref().and_then(|server| lock::hold(server).exit_error());
        ended.unwrap_or(error)
    }

    /// Ends the server if this process started it.
    pub(super) fn stop(self) -> Result<()> {
        let Some(server) = self.server else { return Ok(()) };
        let mut server = server.into_inner().unwrap_or_else(PoisonError::into_inner);
        if is_stopped() && !answers(self.kind, &self.folder) {
            server.give_up();
        }
        server.stop()?;
        let file = self.folder.pid_file();
        fs::remove_file(&file).map_err(|e| Error::io(file.display(), e))
    }
}

fn answers(kind: &'static ServerKind, folder: &ServerFolder) -> bool {
    let transfer = Transfer {
        limit: Duration::from_secs(2),
        counted: false,
        ..transfer(&Settings::default())
    };
    Base::find(kind, folder).is_ok_and(|base| {
        S3Client::new(&base.link(KeyKind::Integers), transfer).has_bucket().is_ok()
    })
}

/// Waits until a server delivers the first of its objects: some answer before they know where they
/// are.
fn serves(link: &Link, transfer: Transfer) -> Result<()> {
    let transfer = Transfer { counted: false, ..transfer };
    let (client, started) = (S3Client::new(link, transfer), Instant::now());
    loop {
        let page = client.list("", None, 1)?;
        let Some(first) = page.contents.first() else { return Ok(()) };
        match client.get(&first.key, &mut [0]) {
            Err(error) if error.kind() == ErrorKind::Failed && started.elapsed() < PATIENCE => {
                sleep(PAUSE);
            }
            answer => return answer.map(drop),
        }
    }
}

/// Checks that a store is at `path`, and that no other process has it open.
pub(super) fn check_free(path: &Path) -> Result<()> {
    let kind = ServerKind::detect(path, &Settings::default())?;
    ServerFolder::new(path, kind.software)?.check_free()
}

/// The address of a server that storemark started, and its key.
struct Base {
    shown: &'static str,
    port: u16,
    secret: String,
}

impl Base {
    fn find(kind: &'static ServerKind, folder: &ServerFolder) -> Result<Self> {
        let tcp = folder
            .tcp()
            .ok_or_else(|| Error::failed("no server runs there").at(folder.path().display()))?;
        Ok(Self { shown: kind.software.name, port: tcp.port, secret: tcp.password })
    }

    /// Returns the address of the objects with keys of this kind.
    fn link(&self, keys: KeyKind) -> Link {
        let endpoint = format!("http://{LOOPBACK}:{}", self.port);
        let url = endpoint.parse().expect("a number and a port make a URL");
        let bucket = Bucket::new(url, UrlStyle::Path, keys.as_str(), "us-east-1");
        Link {
            bucket: bucket.expect("a URL of http with a host"),
            credentials: Credentials::new(KEY, self.secret.as_str()),
            prefix: String::new(),
            shown: self.shown.to_owned(),
            endpoint,
            direct: true,
        }
    }

    /// Returns the address of the objects of the store at `path`.
    fn existing(&self, path: &Path, transfer: Transfer) -> Result<Link> {
        for keys in KeyKind::ALL {
            let link = self.link(keys);
            if S3Client::new(&link, transfer).has_bucket()? {
                return Ok(link);
            }
        }
        Err(Error::corrupt("has no bucket integers or names").at(path.display()))
    }
}
