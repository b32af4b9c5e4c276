//! A store's folder: `data` is what initdb makes and the server works on, `socket` holds the only
//! door to it, `log` is what the server said since its last start, and a mark tells whose it is.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Account, Error, Result, Settings};
use postgres::{Client, Config, NoTls};
use rustix::process::{Pid, test_kill_process};

use super::{
    error::{not_yet, text},
    host::Host,
    program::Installed,
    variables,
};
use crate::server::{self, Recipe, Server};

const MARK: &str = "storemark-postgres";
const USER: &str = "storemark";
const DATABASE: &str = "postgres";
/// Only a part of the socket's name: no port is opened.
const PORT: u16 = 5432;
/// Longest time for an earlier server, whose storemark was killed, to be gone.
const ENDING: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) folder: PathBuf,
}

impl Cluster {
    pub(crate) fn at(folder: &Path) -> Self {
        // The server works in a folder of its own.
        Self { folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()) }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn sockets(&self) -> PathBuf {
        self.folder.join("socket")
    }

    fn door(&self) -> PathBuf {
        self.sockets().join(format!(".s.PGSQL.{PORT}"))
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Whether it looks like one of ours.
    pub(super) fn is_there(&self) -> bool {
        self.folder.join(MARK).is_file() && self.data().join("PG_VERSION").is_file()
    }

    /// Where a session connects.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new();
        config.host_path(self.sockets()).port(PORT).user(USER).dbname(DATABASE);
        config.application_name("storemark");
        config
    }

    /// Makes the folder with an empty cluster; nothing may stand there yet.
    pub(crate) fn make(&self, account: Option<Account>) -> Result<()> {
        let installed = Installed::find()?;
        self.check_place(account)?;
        folder(&self.folder, account)?;
        server::claim(&self.folder)?;
        let made = self.fill(installed, account);
        if made.is_err() {
            self.remove();
        }
        made
    }

    fn check_place(&self, account: Option<Account>) -> Result<()> {
        server::check_socket(&self.door())?;
        let parent = self.folder.parent().unwrap_or(&self.folder);
        server::check_enters(parent, account)
    }

    fn fill(&self, installed: &Installed, account: Option<Account>) -> Result<()> {
        let mark = self.folder.join(MARK);
        fs::write(&mark, "A PostgreSQL cluster that storemark made\n")
            .map_err(|e| Error::io(mark.display(), e))?;
        let mut arguments = vec![OsString::from("-D"), self.data().into()];
        let fixed = ["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"];
        arguments.extend(fixed.map(OsString::from));
        arguments.push(format!("--username={USER}").into());
        server::run(&installed.initdb, &arguments, account).map(drop)
    }

    /// Removes what [`Self::make`] made.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Refuses what is no store, or another process's.
    pub(super) fn check_free(&self) -> Result<()> {
        let folder = self.folder.display();
        fs::metadata(&self.folder).map_err(|e| Error::io(&folder, e))?;
        if !self.is_there() {
            return Err(Error::usage(format!("{folder} is no store of the engine postgres")));
        }
        server::claim(&self.folder)?;
        self.wait_for_earlier()
    }

    /// Refuses what this server cannot open.
    pub(super) fn check(&self, account: Option<Account>) -> Result<()> {
        self.check_free()?;
        let folder = self.folder.display();
        let installed = Installed::find()?;
        let file = self.data().join("PG_VERSION");
        let made = fs::read_to_string(&file).map_err(|e| Error::io(file.display(), e))?;
        if made.trim() != installed.major.to_string() {
            return Err(Error::unsupported(format!(
                "{folder} was made by PostgreSQL {}; {} is PostgreSQL {}, which cannot open it",
                made.trim(),
                installed.postgres.display(),
                installed.major
            )));
        }
        self.check_place(account)?;
        self.adopt(account).map_err(|e| Error::io(&folder, e))
    }

    /// The server insists on owning its folder alone, which a copy of one may have lost.
    fn adopt(&self, account: Option<Account>) -> io::Result<()> {
        let data = self.data();
        if let Some(account) = account
            && fs::metadata(&data)?.uid() != account.user
        {
            give_all(&self.folder, account)?;
        }
        let alone = Permissions::from_mode(0o700);
        [&self.folder, &data].into_iter().try_for_each(|f| fs::set_permissions(f, alone.clone()))
    }

    /// Waits until the server of a storemark that was killed is gone.
    fn wait_for_earlier(&self) -> Result<()> {
        let begun = Instant::now();
        while let Some(pid) = self.runs() {
            if begun.elapsed() > ENDING {
                // After a crash of the system the number may have become another program's.
                let answers = UnixStream::connect(self.door()).is_ok();
                let path = self.folder.display();
                let what = format!("{path} is in use: its server runs as process {pid}");
                return if answers { Err(Error::usage(what)) } else { Ok(()) };
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The process id of a server that works on it.
    pub(super) fn runs(&self) -> Option<u32> {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        let number: i32 = file.lines().next()?.trim().parse().ok()?;
        let lives = test_kill_process(Pid::from_raw(number)?);
        let gone = lives.is_err_and(|error| error == rustix::io::Errno::SRCH);
        if gone { None } else { number.try_into().ok() }
    }

    /// The server that works on it, which another part of storemark has started.
    pub(crate) fn joined(&self) -> Result<Host> {
        let pid = self.runs().ok_or_else(|| {
            Error::failed(format!("{}: no server runs to be joined", self.folder.display()))
        })?;
        Ok(Host::Joined { pid, log: self.log() })
    }

    /// Starts a server on it and connects.
    pub(crate) fn start(
        &self,
        settings: &Settings,
        account: Option<Account>,
    ) -> Result<(Server, Client)> {
        let installed = Installed::find()?;
        let sockets = self.sockets();
        if !sockets.exists() {
            folder(&sockets, account)?;
        }
        let log = self.log();
        match fs::remove_file(&log) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io(log.display(), cause));
            }
            _ => {}
        }
        let data = self.data();
        let known = variables::Known { postgres: &installed.postgres, data: &data, account };
        let expected = known.check(settings)?;
        let recipe = Recipe {
            name: "PostgreSQL",
            program: installed.postgres.clone(),
            arguments: arguments(&data, settings),
            account,
            log,
            clean: "INT",
            quick: "QUIT",
        };
        let mut found = None;
        let config = self.config();
        let server = Server::start(&recipe, || {
            found = Some(config.connect(NoTls));
            found.as_ref().is_some_and(|found| !found.as_ref().is_err_and(not_yet))
        })?;
        let connected = found.expect("a server that answers was asked");
        let mut client = connected.map_err(|e| server.failed(&text(&e)))?;
        variables::verify(&mut client, settings, &expected)?;
        Ok((server, client))
    }
}

/// A folder that only the server's user enters.
fn folder(path: &Path, account: Option<Account>) -> Result<()> {
    DirBuilder::new().mode(0o700).create(path).map_err(|e| Error::io(path.display(), e))?;
    server::give(path, account)
}

/// What is asked for comes before what must be so: of two values the server takes the later.
fn arguments(data: &Path, settings: &Settings) -> Vec<OsString> {
    let fixed = [
        ("listen_addresses", ""),
        // From the folder of the data, so that no character of the path needs a quote.
        ("unix_socket_directories", "../socket"),
        ("unix_socket_permissions", "0700"),
        ("logging_collector", "off"),
        ("log_destination", "stderr"),
        ("log_line_prefix", ""),
    ];
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let fixed = fixed.into_iter().chain([("port".to_owned(), PORT.to_string())]);
    let mut arguments = vec![OsString::from("-D"), data.into()];
    for (name, value) in variables::of(settings).into_iter().chain(fixed) {
        arguments.extend([OsString::from("-c"), format!("{name}={value}").into()]);
    }
    arguments
}

/// Gives a folder and all in it to `account`; links are not followed.
fn give_all(path: &Path, account: Account) -> io::Result<()> {
    let meta = fs::symlink_metadata(path)?;
    if meta.is_symlink() {
        return Ok(());
    }
    chown(path, Some(account.user), Some(account.group))?;
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            give_all(&entry?.path(), account)?;
        }
    }
    Ok(())
}
