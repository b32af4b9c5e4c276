//! The server behind a store: what it says when it fails, and what its log tells of waiting.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Mutex,
    thread::sleep,
    time::Duration,
};

use model::Error;

use super::error::{lost, text, told};
use crate::{
    lock,
    server::{self, Server},
};

/// Whose server it is.
pub(crate) enum Host {
    /// Started by this process.
    Own { server: Mutex<Server>, log: PathBuf },
    /// Started by another one.
    Joined { pid: u32, log: PathBuf },
    /// An existing server, by its address.
    Remote(String),
}

impl Host {
    /// Its process id, where it is known.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Own { server, .. } => Some(lock::hold(server).pid()),
            Self::Joined { pid, .. } => Some(*pid),
            Self::Remote(_) => None,
        }
    }

    fn log(&self) -> Option<&Path> {
        match self {
            Self::Own { log, .. } | Self::Joined { log, .. } => Some(log),
            Self::Remote(_) => None,
        }
    }

    /// The error, and where the connection is lost what the server said last.
    #[cold]
    pub(crate) fn explain(&self, error: &postgres::Error) -> Error {
        let why = format!("lost the connection ({})", text(error));
        match self {
            Self::Remote(address) if lost(error) => Error::failed(why).context(address),
            Self::Remote(address) => told(error).context(address),
            _ if !lost(error) => told(error),
            Self::Own { server, log } => {
                died(server).unwrap_or_else(|| server::failed("PostgreSQL", &why, log))
            }
            Self::Joined { log, .. } => server::failed("PostgreSQL", &why, log),
        }
    }

    /// How long its log is by now.
    pub(crate) fn log_length(&self) -> u64 {
        self.log().and_then(|log| fs::metadata(log).ok()).map_or(0, |meta| meta.len())
    }

    /// How often its log tells since the byte `from` that the session of process `backend` waited
    /// for a lock, and where the log ends; `None` where it cannot be read.
    pub(crate) fn waits(&self, backend: i32, from: u64) -> Option<(i64, u64)> {
        let mut log = File::open(self.log()?).ok()?;
        log.seek(SeekFrom::Start(from)).ok()?;
        let mut news = Vec::new();
        let length = log.read_to_end(&mut news).ok()?;
        let line = format!("process {backend} still waiting for ");
        let waits = String::from_utf8_lossy(&news).matches(&line).count();
        Some((waits.try_into().ok()?, from + length as u64))
    }
}

/// Whether it ended by itself. Its connections break a little before it is gone.
fn died(server: &Mutex<Server>) -> Option<Error> {
    (0..50).find_map(|_| {
        sleep(Duration::from_millis(20));
        lock::hold(server).died()
    })
}
