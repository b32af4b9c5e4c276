//! An open environment.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use heed::{CompactionOption, Env, EnvFlags, EnvOpenOptions, MdbError, WithoutTls};
use kit::refusal;
use model::{Access, Error, OpenOptions, Result, Settings};

use super::{DATABASE, MAP, data_file};

/// The number of databases: two that a store of names has, and one that is looked for as well.
const DATABASES: u32 = 3;

/// The most readers at once, of all processes; each costs 64 bytes of the lock file.
const READERS: u32 = 1000;

pub(super) struct Environment {
    pub(super) path: PathBuf,
    settings: Settings,
    pub(super) access: Access,
    pub(super) env: Env<WithoutTls>,
}

impl Environment {
    /// Opens the environment at `path`. `shared` is whether others have it open; if none has, it is
    /// read without locks.
    pub(super) fn open(
        path: &Path,
        settings: &Settings,
        access: Access,
        shared: bool,
    ) -> Result<Self> {
        let alone = access == Access::Read && !shared;
        let mut flags = flags(settings, access, alone);
        flags.set(EnvFlags::NO_SUB_DIR, path.is_file());
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.max_dbs(DATABASES).max_readers(READERS).map_size(map_size(settings)?);
        // SAFETY: the file is changed by LMDB alone, under its locks. Without them it is read
        // only while no other process has it open (nothing guards against one that comes
        // later). The flags that leave out flushes endanger the file in a power cut only.
        let env = unsafe { options.flags(flags).open(path) };
        let env = env.map_err(|error| opening(path, settings, error))?;
        if !shared {
            check_whole(path, &env)?;
        }
        Ok(Self { path: path.to_owned(), settings: of_environment(settings), access, env })
    }

    /// Returns whether the environment is open to read as `options` ask for it.
    pub(super) fn serves(&self, location: &Path, options: &OpenOptions) -> bool {
        self.access == Access::Read
            && options.access == Access::Read
            && self.settings == of_environment(&options.settings)
            && location.canonicalize().is_ok_and(|location| location == self.env.path())
    }

    /// Flushes the drive's cache after a durable commit on macOS, where `O_DSYNC` leaves the page in that cache that
    /// makes the commit's pages current.
    pub(super) fn flush_drive(&self) -> heed::Result<()> {
        let is_durable = self.settings.get("sync").is_none_or(|sync| sync == "full");
        if cfg!(target_vendor = "apple") && is_durable { self.env.force_sync() } else { Ok(()) }
    }

    /// Makes the file as long as its pages. Pages that are used and freed within one batch are
    /// never written, and the file may end before them: lengthened, it passes for whole.
    pub(super) fn make_whole(&self) -> Result<()> {
        let lengthen = || {
            if self.env.real_disk_size()? >= extent(&self.env) {
                return Ok(());
            }
            // Nobody else lengthens the file meanwhile.
            let _turn = self.env.write_txn()?;
            let file = self.env.try_clone_inner_file()?;
            Ok(file.set_len(file.metadata()?.len().max(extent(&self.env)))?)
        };
        match self.access {
            Access::Read => Ok(()),
            Access::Write => lengthen().map_err(|e| self.failed(e)),
        }
    }

    /// Writes a copy of the data file to `to`, and flushes it.
    pub(super) fn copy_to(&self, to: &Path, compacted: bool) -> heed::Result<()> {
        let option = if compacted { CompactionOption::Enabled } else { CompactionOption::Disabled };
        let mut file = File::create(to)?;
        self.env.copy_to_file(&mut file, option)?;
        Ok(file.sync_all()?)
    }

    /// Writes a copy next to the data file, and flushes it; after a failure there is none.
    pub(super) fn copy_without_free_pages(&self) -> Result<PathBuf> {
        let mut copy = data_file(&self.path).into_os_string();
        copy.push(".new");
        let copy = PathBuf::from(copy);
        if self.access == Access::Read {
            return Err(refusal::read_only());
        }
        self.copy_to(&copy, true).map_err(|error| {
            // The first failure is the one to report.
            let _ = fs::remove_file(&copy);
            self.failed(error)
        })?;
        Ok(copy)
    }

    /// Returns the settings as LMDB reports them.
    pub(super) fn settings(&self) -> Result<Settings> {
        let flags = self.env.get_flags().map_err(|e| self.failed(e))?;
        let flags = EnvFlags::from_bits_truncate(flags);
        let sync = SYNC.iter().find(|(_, flag)| flags.contains(*flag)).expect("the last always is");
        let readahead = !flags.contains(EnvFlags::NO_READ_AHEAD);
        let mut settings = Settings::default();
        settings.set("map", self.env.info().map_size);
        settings.set("sync", sync.0);
        settings.set("readahead", if readahead { "on" } else { "off" });
        Ok(settings)
    }

    #[cold]
    pub(super) fn failed(&self, error: heed::Error) -> Error {
        let path = self.path.display();
        match error {
            heed::Error::Io(cause) => Error::io(path, cause),
            heed::Error::Mdb(MdbError::MapFull) => Error::failed(format!(
                "the batch does not fit into map={}, of which {} bytes are in use; a \
                 larger map= holds more",
                self.env.info().map_size,
                extent(&self.env)
            ))
            .at(&path),
            heed::Error::Mdb(MdbError::ReadersFull) => {
                Error::failed(format!("has {READERS} readers already, which is the most it takes"))
                    .at(&path)
            }
            heed::Error::Mdb(MdbError::Corrupted | MdbError::PageNotFound) => {
                Error::corrupt(format!("{error}")).at(&path)
            }
            other => Error::failed(format!("{other}")).at(&path),
        }
    }
}

/// Makes a store whole as far as possible that is dropped, not closed.
impl Drop for Environment {
    fn drop(&mut self) {
        let _ = self.make_whole();
    }
}

/// Returns the bytes up to the end of the last page that was ever in use.
fn extent(env: &Env<WithoutTls>) -> u64 {
    let page_size = u64::from(env.unnamed_database_stat().page_size);
    (env.info().last_page_number as u64 + 1) * page_size
}

/// Checks that the file has all pages: one that it lacks would end the process when it is touched.
fn check_whole(path: &Path, env: &Env<WithoutTls>) -> Result<()> {
    let length = env.real_disk_size().map_err(|e| Error::failed(e.to_string()))?;
    if length >= extent(env) {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "is cut short: its data file has {length} of {} bytes",
        extent(env)
    ))
    .at(path.display()))
}

/// Returns the settings of an environment, whichever database is used.
fn of_environment(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.0.remove(DATABASE);
    settings
}

fn map_size(settings: &Settings) -> Result<usize> {
    refusal::size(settings.parse("map").unwrap_or(MAP))
}

/// The words of the setting `sync`, with the flag of each. All sets of flags contain the last,
/// which is the library's default.
const SYNC: [(&str, EnvFlags); 3] =
    [("off", EnvFlags::NO_SYNC), ("data", EnvFlags::NO_META_SYNC), ("full", EnvFlags::empty())];

fn flags(settings: &Settings, access: Access, alone: bool) -> EnvFlags {
    let sync = SYNC.iter().find(|(word, _)| settings.is("sync", word));
    let mut flags = sync.map_or(EnvFlags::empty(), |(_, flag)| *flag);
    flags.set(EnvFlags::NO_READ_AHEAD, settings.is("readahead", "off"));
    flags.set(EnvFlags::READ_ONLY, access == Access::Read);
    flags.set(EnvFlags::NO_LOCK, alone);
    flags
}

fn opening(path: &Path, settings: &Settings, error: heed::Error) -> Error {
    let path = path.display();
    match error {
        heed::Error::EnvAlreadyOpened => Error::usage("is open in this process already").at(&path),
        heed::Error::Io(cause) if cause.kind() == std::io::ErrorKind::OutOfMemory => {
            let map = settings.parse("map").unwrap_or(MAP);
            let what = format!("{path}: cannot map map={map} bytes; a smaller map= may do");
            Error::io(what, cause)
        }
        heed::Error::Io(cause) => Error::io(path, cause),
        heed::Error::Mdb(MdbError::VersionMismatch) => Error::unsupported(
            "another program has it open, or made it, with another version of LMDB's format; end that \
             program, or measure a copy",
        )
        .at(&path),
        other => Error::corrupt(format!("{other}")).at(&path),
    }
}
