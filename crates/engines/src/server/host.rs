//! The server behind a store, to which its sessions connect.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, mpsc::channel},
    thread,
    time::Duration,
};

use model::{Error, Facet, Result, Settings};

use super::{
    address::Address,
    dialect::{Connection, Dialect, Failure, Row, RowOf},
    folder::Folder,
    process::{Recipe, Server, failed, run},
    variables::{Expected, Variables, variables},
};
use crate::lock;

/// Longest time until a server that exists has accepted a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server, by where it is.
pub(crate) struct Host<D: Dialect> {
    pub(crate) options: D::Options,
    /// Its name or its address without the password, for people.
    pub(crate) shown: String,
    /// The log of a server that storemark started.
    log: Option<PathBuf>,
    /// The server that this process started.
    server: Option<Mutex<Server>>,
}

impl<D: Dialect> Host<D> {
    /// Creates the folder and the data directory in it. An error leaves no folder.
    pub(crate) fn install(folder: &Folder, settings: &Settings) -> Result<()> {
        let software = D::software();
        let installed = software.installed()?;
        let account = software.account();
        folder.create(account)?;
        (software.arguments.install)(folder, settings)
            .and_then(|arguments| run(&installed.installer, &arguments, account))
            .map(drop)
            .map_err(|error| {
                // An error of its own would hide why the folder is incomplete.
                let _ = folder.remove();
                (software.arguments.explain)(error, settings)
            })
    }

    /// Starts a server on `folder` and connects to it.
    pub(crate) fn start(
        folder: &Folder,
        facet: Facet,
        settings: &Settings,
    ) -> Result<(Self, D::Conn)> {
        let software = D::software();
        let expected = (software.arguments.expected)(folder, settings)?;
        remove_if_there(&folder.log())?;
        let recipe = Recipe {
            name: software.name,
            program: software.installed()?.server.clone(),
            arguments: (software.arguments.start)(folder, facet, settings)?,
            account: software.account(),
            log: folder.log(),
            signals: software.signals,
        };
        let mut host = Self::joined(folder);
        let mut found = None;
        let server = Server::start(&recipe, || {
            found = match D::connect(&host.options) {
                Err(failure) if D::is_starting(&failure) => None,
                answer => Some(answer),
            };
            found.is_some()
        });
        host.server =
            Some(Mutex::new(server.map_err(|e| (software.arguments.explain)(e, settings))?));
        let answer = found.expect("a server has started once it answers");
        let mut conn = answer.map_err(|failure| host.explain(&failure))?;
        host.check(&mut conn, settings, &expected)?;
        Ok((host, conn))
    }

    /// The server that another part of storemark has started on `folder`.
    pub(crate) fn joined(folder: &Folder) -> Self {
        Self {
            options: D::to_folder(folder, None),
            shown: D::software().name.to_owned(),
            log: Some(folder.log()),
            server: None,
        }
    }

    /// An existing server.
    pub(crate) fn remote(address: &Address, settings: &Settings) -> Result<(Self, D::Conn)> {
        let options = D::to_address(address, settings)?;
        let host = Self { options, shown: address.shown.clone(), log: None, server: None };
        let options = host.options.clone();
        let conn = greeted(D::ADDRESS.servers, move || D::connect(&options))
            .and_then(|conn| conn.map_err(|failure| D::explain(&failure, &host.options)))
            .and_then(|mut conn| host.check(&mut conn, settings, &Expected::new()).map(|()| conn));
        let conn = conn.map_err(|error| error.context(&host.shown))?;
        Ok((host, conn))
    }

    /// Whether storemark started it.
    pub(crate) fn is_private(&self) -> bool {
        self.log.is_some()
    }

    pub(crate) fn log(&self) -> Option<&Path> {
        self.log.as_deref()
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        self.server.iter().map(|server| lock::hold(server).pid()).collect()
    }

    pub(crate) fn connect(&self) -> Result<D::Conn> {
        self.connect_by(&self.options)
    }

    pub(crate) fn connect_by(&self, options: &D::Options) -> Result<D::Conn> {
        D::connect(options).map_err(|failure| self.explain(&failure))
    }

    pub(crate) fn variables(&self, conn: &mut D::Conn) -> Result<Variables> {
        let rows = conn.rows(D::VARIABLES).map_err(|failure| self.explain(&failure))?;
        let pair = |row: &RowOf<D>| {
            Some((row.text(0)?.to_owned(), row.text(1).unwrap_or_default().to_owned()))
        };
        Ok(Variables::new(rows.iter().filter_map(pair)))
    }

    /// An error if a variable that was asked for did not take effect.
    fn check(&self, conn: &mut D::Conn, asked: &Settings, expected: &Expected) -> Result<()> {
        if variables(asked).next().is_none() {
            return Ok(());
        }
        let fits = |name: &str, asked: &str, found: &str| {
            D::took_effect(expected.get(name).map(String::as_str), asked, found)
        };
        self.variables(conn)?.check(asked, fits)
    }

    /// Returns what `failure` means; if the server ended, how.
    #[cold]
    pub(crate) fn explain(&self, failure: &Failure<D>) -> Error {
        let error = D::explain(failure, &self.options);
        if !D::is_lost(failure) {
            return error.context(&self.shown);
        }
        let ended = self.server.as_ref().and_then(|server| lock::hold(server).dies());
        ended.unwrap_or_else(|| {
            let why = format!("lost the connection ({error})");
            match &self.log {
                Some(log) => failed(&self.shown, &why, log),
                None => Error::failed(why).context(&self.shown),
            }
        })
    }

    /// Ends the server if this process started it.
    pub(crate) fn stop(self) -> Result<()> {
        let server = self.server.map(Mutex::into_inner);
        server.map_or(Ok(()), |server| server.unwrap_or_else(PoisonError::into_inner).stop())
    }
}

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(path.display(), cause))
        }
        _ => Ok(()),
    }
}

/// Returns what `connect` returns for one of `servers`. If nothing ever answers, the thread is left
/// waiting.
fn greeted<T: Send + 'static>(
    servers: &str,
    connect: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(connect()));
    receiver.recv_timeout(PATIENCE).map_err(|_| {
        let waited = PATIENCE.as_secs();
        Error::usage(format!(
            "nothing that speaks as {servers} does answers there (waited {waited} s)"
        ))
    })
}
