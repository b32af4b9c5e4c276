//! The server behind a store, to which its sessions connect.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kit::lock;
use model::{Error, ErrorKind, Facet, Result, Settings};

use super::{
    address::Address,
    command::run,
    dialect::{Answer, Connect, Dialect, Failure, Peer, Why},
    folder::{ServerFolder, VIA},
    process::{Server, server_error},
    variables::{Variables, own_variables, variables},
    watch,
};

/// The server of a store, with a connection to it.
pub(crate) struct Host<C> {
    pub(crate) connect: Connect<C>,
    /// The name, or the address without the password, for messages.
    pub(crate) shown: String,
    /// The log of a server that storemark started.
    pub(crate) log: Option<PathBuf>,
    /// The longest time that an operation may take.
    limit: Duration,
    /// A connection that is kept because connecting would count as time when little is left to do.
    /// It is dropped before the server ends.
    control: Mutex<C>,
    /// The server that this process started.
    server: Option<Mutex<Server>>,
}

impl<C: Peer> Host<C> {
    /// Creates the folder with a data directory in it, and returns the result of `start`. After an
    /// error there is no folder.
    pub(crate) fn install<T>(
        folder: &ServerFolder,
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
            run(installer, &(C::INSTALL)(folder, settings), software.account()).map(drop)
        };
        let started =
            install().map_err(|error| software.explain(error, settings)).and_then(|()| start());
        started.inspect_err(|_| {
            // An error of its own would hide the first.
            let _ = folder.remove();
        })
    }

    /// Starts a server on `folder`.
    pub(crate) fn start(folder: &ServerFolder, facet: Facet, settings: &Settings) -> Result<Self> {
        let software = folder.software;
        let arguments = (C::START)(folder, facet, settings)?;
        let limit = watch::limit(settings);
        let connect = limited(C::to_folder(folder, None, None), limit);
        let mut found = None;
        let server = Server::start(folder, &arguments, &[], || {
            found = match connect() {
                Err(Failure { why: Why::Absent | Why::Odd | Why::Silent, .. })
                    if !watch::is_stopped() =>
                {
                    None
                }
                answer => Some(answer),
            };
            found.is_some()
        });
        let mut server = server.map_err(|error| software.explain(error, settings))?;
        let answer = found.expect("a server has started once it answers");
        if watch::is_stopped() && answer.as_ref().is_err_and(|failure| failure.why.is_over()) {
            server.give_up();
            return Err(Error::interrupted());
        }
        if let Err(Failure { why: Why::Lost, .. }) = &answer
            && let Some(died) = server.dies()
        {
            return Err(died);
        }
        let mut host = Self::new(connect, answer, software.name, Some(folder.log()), limit)?;
        host.server = Some(Mutex::new(server));
        host.check(settings).map(|()| host)
    }

    /// Connects to the server that another part of storemark has started on `folder`.
    pub(crate) fn connect_started(folder: &ServerFolder, settings: &Settings) -> Result<Self> {
        folder.check_served()?;
        let limit = watch::limit(settings);
        let connect = limited(C::to_folder(folder, None, None), limit);
        let answer = connect();
        Self::new(connect, answer, folder.software.name, Some(folder.log()), limit)
    }

    /// Connects to an existing server, which may be in another condition than `settings` ask for.
    pub(crate) fn connect_existing(address: &Address, settings: &Settings) -> Result<Self> {
        let limit = watch::limit(settings);
        let connect = limited(C::to_address(address, settings), limit);
        let answer = connect();
        let other = if address.tls.is_some() {
            ", or only without encryption (?tls=off)"
        } else {
            ", or only encrypted (?tls=on)"
        };
        let answer = answer.map_err(|failure| match failure {
            Failure { error, why: Why::Odd } => {
                let servers = C::ADDRESS.servers;
                let what = format!("what answers there does not speak as {servers} does{other}");
                Failure { error: Error::usage(error.to_string()).context(what), why: Why::Other }
            }
            failure => failure,
        });
        Self::new(connect, answer, &address.shown, None, limit)
    }

    /// Connects to an existing server, and checks the variables that `settings` ask for.
    pub(crate) fn remote(address: &Address, settings: &Settings) -> Result<Self> {
        let host = Self::connect_existing(address, settings)?;
        host.check(settings).map_err(|error| error.at(&host.shown))?;
        Ok(host)
    }

    fn new(
        connect: Connect<C>,
        answer: Answer<C>,
        shown: &str,
        log: Option<PathBuf>,
        limit: Duration,
    ) -> Result<Self> {
        let servers = C::ADDRESS.servers;
        let control = answer.map_err(|Failure { error, why }| match why {
            Why::Absent => {
                error.with_kind(ErrorKind::Usage).context("nothing answers there").at(shown)
            }
            Why::Silent if error.kind() != ErrorKind::Interrupted => Error::usage(format!(
                "nothing that speaks as {servers} does answers there (waited {} s)",
                watch::connect_limit().as_secs()
            ))
            .at(shown),
            _ => error.at(shown),
        })?;
        let (shown, control) = (shown.to_owned(), Mutex::new(control));
        Ok(Self { connect, shown, log, limit, control, server: None })
    }

    /// Returns whether storemark started the server.
    pub(crate) fn is_private(&self) -> bool {
        self.log.is_some()
    }

    /// Returns the folder of a server that storemark started.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.log.as_deref()?.parent()
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        self.server.iter().map(|server| lock::hold(server).pid()).collect()
    }

    /// Runs `work` that no session does, on the host's own connection.
    pub(crate) fn control<T>(&self, work: impl FnOnce(&mut C) -> Answer<T>) -> Result<T> {
        work(&mut lock::hold(&self.control)).map_err(|failure| self.explain(failure))
    }

    /// Runs `work` that may take as long as a whole table needs.
    pub(crate) fn control_table<T>(&self, work: impl FnOnce(&mut C) -> Answer<T>) -> Result<T> {
        self.control(|control| {
            control.set_limit(self.table_limit());
            let done = work(control);
            control.set_limit(self.limit);
            done
        })
    }

    /// Returns the longest time that an operation may take.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Returns the longest time that an operation on a whole table may take.
    pub(super) fn table_limit(&self) -> Duration {
        self.limit.max(watch::LONG)
    }

    pub(crate) fn variables(&self) -> Result<Variables> {
        self.control(C::variables)
    }

    /// Checks that the variables that were asked for took effect.
    fn check(&self, asked: &Settings) -> Result<()> {
        if variables(asked).next().is_none() {
            return Ok(());
        }
        self.variables()?.check(asked, C::took_effect)
    }

    /// Returns the meaning of `failure`; if the server ended, how.
    #[cold]
    pub(crate) fn explain(&self, Failure { error, why }: Failure) -> Error {
        if why == Why::Silent {
            self.server.iter().for_each(|server| lock::hold(server).give_up());
        }
        if why == Why::Silent || !why.is_over() {
            return if error.is_stopped() { error } else { error.at(&self.shown) };
        }
        let ended = self.server.as_ref().and_then(|server| lock::hold(server).dies());
        ended.unwrap_or_else(|| {
            let why = format!("lost the connection ({error})");
            let shown = &self.shown;
            self.log.as_ref().map_or_else(
                || {
                    let hint =
                        format!("storemark clean {shown} removes what is left once it is back");
                    Error::failed(format!("{why}; {hint}")).at(shown)
                },
                |log| server_error(shown, &why, log),
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
    /// Opens a connection whose waits for locks are counted, and returns it with the result of
    /// `prepare`.
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

/// Limits the operations of each connection.
fn limited<C: Peer>(connect: Connect<C>, limit: Duration) -> Connect<C> {
    Arc::new(move || {
        let mut connection = connect()?;
        connection.set_limit(limit);
        Ok(connection)
    })
}
