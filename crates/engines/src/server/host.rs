//! The server behind a store, to which its sessions connect.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError, mpsc::channel},
    thread,
    time::Duration,
};

use model::{Error, ErrorKind, Facet, Result, Settings};

use super::{
    address::Address,
    dialect::{Answer, Connect, Dialect, Failure, Peer, Why},
    folder::{Folder, VIA},
    process::{Server, failed, run},
    variables::{Variables, own_variables, variables},
};
use crate::lock;

/// Longest time until a server that exists has accepted a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server, by where it is.
pub(crate) struct Host<C> {
    pub(crate) connect: Connect<C>,
    /// Its name or its address without the password, for people.
    pub(crate) shown: String,
    /// The log of a server that storemark started.
    pub(crate) log: Option<PathBuf>,
    /// Kept because connecting would count as time when little is left to do. Dropped before the
    /// server ends.
    control: Mutex<C>,
    /// The server that this process started.
    server: Option<Mutex<Server>>,
}

impl<C: Peer> Host<C> {
    /// Creates the folder with a data directory in it, and returns what `start` makes of them. An
    /// error leaves no folder.
    pub(crate) fn install<T>(
        folder: &Folder,
        settings: &Settings,
        start: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let software = folder.software;
        let installer = software.installed()?.installer.as_ref();
        own_variables(settings)?;
        folder.create()?;
        let install = || {
            if settings.is(VIA.name, "tcp") {
                folder.choose_tcp()?;
            }
            let Some(installer) = installer else { return Ok(()) };
            run(installer, &(software.install)(folder, settings), software.account()).map(drop)
        };
        let started =
            install().map_err(|error| software.explain(error, settings)).and_then(|()| start());
        started.inspect_err(|_| {
            // An error of its own would hide the first.
            let _ = folder.remove();
        })
    }

    /// Starts a server on `folder`.
    pub(crate) fn start(folder: &Folder, facet: Facet, settings: &Settings) -> Result<Self> {
        let software = folder.software;
        let arguments = (software.start)(folder, facet, settings)?;
        let connect = C::to_folder(folder, None, None);
        let mut found = None;
        let server = Server::start(folder, &arguments, &[], || {
            found = match connect() {
                Err(Failure { why: Why::Absent, .. }) => None,
                answer => Some(answer),
            };
            found.is_some()
        });
        let mut server = server.map_err(|error| software.explain(error, settings))?;
        let answer = found.expect("a server has started once it answers");
        if let Err(Failure { why: Why::Lost, .. }) = &answer
            && let Some(died) = server.dies()
        {
            return Err(died);
        }
        let mut host = Self::new(connect, answer, software.name, Some(folder.log()))?;
        host.server = Some(Mutex::new(server));
        host.check(settings).map(|()| host)
    }

    /// The server that another part of storemark has started on `folder`.
    pub(crate) fn joined(folder: &Folder) -> Result<Self> {
        folder.check_served()?;
        let connect = C::to_folder(folder, None, None);
        let answer = connect();
        Self::new(connect, answer, folder.software.name, Some(folder.log()))
    }

    /// An existing server, which may be in another condition than `settings` ask for.
    pub(crate) fn found(address: &Address, settings: &Settings) -> Result<Self> {
        let connect = C::to_address(address, settings);
        let answer =
            greeted(C::ADDRESS.servers, &connect).map_err(|e| e.context(&address.shown))?;
        Self::new(connect, answer, &address.shown, None)
    }

    /// An existing server.
    pub(crate) fn remote(address: &Address, settings: &Settings) -> Result<Self> {
        let host = Self::found(address, settings)?;
        host.check(settings).map_err(|error| error.context(&host.shown))?;
        Ok(host)
    }

    fn new(
        connect: Connect<C>,
        answer: Answer<C>,
        shown: &str,
        log: Option<PathBuf>,
    ) -> Result<Self> {
        let control = answer.map_err(|Failure { error, why }| match why {
            Why::Absent => {
                error.with_kind(ErrorKind::Usage).context("nothing answers there").context(shown)
            }
            _ => error.context(shown),
        })?;
        let (shown, control) = (shown.to_owned(), Mutex::new(control));
        Ok(Self { connect, shown, log, control, server: None })
    }

    /// Whether storemark started it.
    pub(crate) fn is_private(&self) -> bool {
        self.log.is_some()
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        self.server.iter().map(|server| lock::hold(server).pid()).collect()
    }

    /// Does what no session does.
    pub(crate) fn control<T>(&self, work: impl FnOnce(&mut C) -> Answer<T>) -> Result<T> {
        work(&mut lock::hold(&self.control)).map_err(|failure| self.explain(failure))
    }

    pub(crate) fn variables(&self) -> Result<Variables> {
        self.control(C::variables)
    }

    /// An error if a variable that was asked for did not take effect.
    fn check(&self, asked: &Settings) -> Result<()> {
        if variables(asked).next().is_none() {
            return Ok(());
        }
        self.variables()?.check(asked, C::took_effect)
    }

    /// Returns what `failure` means; if the server ended, how.
    #[cold]
    pub(crate) fn explain(&self, Failure { error, why }: Failure) -> Error {
        if !matches!(why, Why::Absent | Why::Lost) {
            return error.context(&self.shown);
        }
        let ended = self.server.as_ref().and_then(|server| lock::hold(server).dies());
        ended.unwrap_or_else(|| {
            let why = format!("lost the connection ({error})");
            let shown = &self.shown;
            self.log.as_ref().map_or_else(
                || {
                    let hint =
                        format!("storemark clean {shown} removes what is left once it is back");
                    Error::failed(format!("{why}; {hint}")).context(shown)
                },
                |log| failed(shown, &why, log),
            )
        })
    }

    /// Ends the server if this process started it.
    pub(crate) fn stop(self) -> Result<()> {
        drop(self.control);
        let server = self.server.map(Mutex::into_inner);
        server.map_or(Ok(()), |server| server.unwrap_or_else(PoisonError::into_inner).stop())
    }
}

impl<D: Dialect> Host<D> {
    /// A connection whose waits for locks are counted, and what `prepare` makes of it.
    pub(crate) fn session<T>(
        &self,
        connect: &Connect<D>,
        facet: Facet,
        prepare: impl FnOnce(&mut D) -> Answer<T>,
    ) -> Result<(D, T)> {
        let session = connect().and_then(|mut conn| {
            let prepared = prepare(&mut conn)?;
            conn.count_waits(self.log.as_deref(), facet)?;
            Ok((conn, prepared))
        });
        session.map_err(|failure| self.explain(failure))
    }
}

/// Returns what `connect` returns for one of `servers`. If nothing ever answers, the thread is left
/// waiting.
fn greeted<C: Send + 'static>(servers: &str, connect: &Connect<C>) -> Result<Answer<C>> {
    let (sender, receiver) = channel();
    let connect = connect.clone();
    thread::spawn(move || sender.send(connect()));
    receiver.recv_timeout(PATIENCE).map_err(|_| {
        let waited = PATIENCE.as_secs();
        Error::usage(format!(
            "nothing that speaks as {servers} does answers there (waited {waited} s)"
        ))
    })
}
