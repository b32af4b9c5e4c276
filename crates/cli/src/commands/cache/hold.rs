//! Holding locks until a signal comes, in the background if wanted.

use std::{
    env, io,
    io::{Read, Write},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
};

use host::PidFile;
use model::{Error, Result};
use pagecache::CrawlReport;

use super::CacheOptions;
use super::{show::Show, summary};
use crate::{command_line::arguments, exit::Failure, output};

/// The environment variable of the process that a daemon's starter starts.
const MARK: &str = "STOREMARK_CACHE_DAEMON";

/// Reports whether this process was started to continue in the background.
pub(super) fn is_daemon() -> bool {
    env::var_os(MARK).is_some()
}

/// Starts this program again with the same arguments, and waits until it has locked all. Its
/// errors go to the same place; its standard output ends when it is ready, or has ended.
///
/// A second program instead of fork(2): locks are not inherited in any case.
pub(super) fn start_daemon(options: &CacheOptions) -> Result<(), Failure> {
    let reads_list = options.list.as_deref() == Some(Path::new("-"));
    let wrong = |cause| Error::io("the daemon cannot be started", cause);
    let mut daemon = Command::new(env::current_exe().map_err(wrong)?)
        .args(arguments().iter().skip(1))
        .env(MARK, "1")
        .stdin(if reads_list { Stdio::inherit() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .spawn()
        .map_err(wrong)?;
    let mut printed = String::new();
    if let Some(mut out) = daemon.stdout.take() {
        out.read_to_string(&mut printed).map_err(wrong)?;
    }
    if !printed.lines().last().is_some_and(|line| line.starts_with(summary::LOCKED)) {
        let ended = daemon.wait().map_err(wrong)?;
        let Some(code) = ended.code().and_then(|code| u8::try_from(code).ok()) else {
            return Err(Error::failed(format!("the daemon ended early: {ended}")).into());
        };
        return Err(Failure::Printed(code));
    }
    if !options.quiet {
        output::print_lines(&printed)?;
    }
    Ok(())
}

/// Prints what is locked and what is not, and holds it until a signal asks to end.
pub(super) fn until_signalled(
    options: &CacheOptions,
    found: &CrawlReport,
    show: &Show<'_>,
) -> Result<(), Failure> {
    if options.lock_all {
        pagecache::lock_all().map_err(|error| Error::io("all that is mapped", error))?;
    }
    let (signal, signalled) = mpsc::channel();
    host::on_interrupt(move || {
        // The receiver lives until the process ends.
        let _ = signal.send(());
    })?;
    let pidfile = options.pidfile.as_deref().map(PidFile::write).transpose()?;
    let failed = show.failed();
    if let Some(line) = &failed {
        output::say(line);
    }
    if options.daemon {
        // A starter that was ended meanwhile does not read: then nobody wants this daemon.
        let mut out = io::stdout().lock();
        out.write_all(summary::locked(found).as_bytes())
            .and_then(|()| out.flush())
            .map_err(|cause| Error::io("the daemon's starter is gone", cause))?;
        drop(out);
        host::leave_terminal().map_err(|cause| Error::io("the terminal cannot be left", cause))?;
    } else if !options.quiet {
        output::print_lines(&summary::locked(found))?;
    }
    // An error would mean that no signal can come any more.
    let _ = signalled.recv();
    drop(pidfile);
    if failed.is_some() { Err(Failure::Printed(2)) } else { Ok(()) }
}
