//! Ends operations on servers that are silent for too long. The drivers wait without a limit, or without
//! one that an interruption shortens, so a thread shuts down the sockets of an operation that is
//! overdue: then the driver fails.

use std::{
    collections::BTreeSet,
    fs,
    ops::Deref,
    os::fd::{BorrowedFd, OwnedFd, RawFd},
    sync::{
        Arc, Mutex, Once, OnceLock, TryLockError, Weak,
        atomic::{
            AtomicBool, AtomicU8, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread,
    time::{Duration, Instant},
};

use kit::lock;
use model::{Accepts, Error, ErrorKind, Facet, Setting, Settings, units};
use rustix::net::{Shutdown, shutdown, sockopt::socket_type};

use super::dialect::{Answer, Failure, Why};

pub(crate) const TIMEOUT: Setting = Setting::new(
    "timeout",
    Accepts::Duration(1, 86_400),
    "the longest time that the server may take for an operation (60s)",
)
.of_use()
.only_for(&[Facet::Blobs]);

/// The limit of an operation if none is set.
const USUAL: Duration = Duration::from_secs(60);
/// The limit of an operation on a whole table.
pub(crate) const LONG: Duration = Duration::from_secs(600);
/// The longest time until a server has accepted a connection and greeted.
const CONNECTING: Duration = Duration::from_secs(10);
/// The limit of what is under way when the user wishes to stop, of later connections, and of goodbyes.
const STOPPING: Duration = Duration::from_secs(2);
/// The limit of later operations, which remove what is left.
const REMOVING: Duration = Duration::from_secs(10);
/// The time between two checks of what is under way.
const LOOK: Duration = Duration::from_millis(100);

/// Whether the user wishes to stop.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Shortens the limits of all operations, because the user wishes to stop.
pub(crate) fn stop() {
    STOPPED.store(true, Relaxed);
}

pub(crate) fn is_stopped() -> bool {
    STOPPED.load(Relaxed)
}

/// Returns the setting of the limit that is in effect.
pub(crate) fn limit_in_effect(settings: &Settings) -> String {
    let asked = settings.get(TIMEOUT.name).map(str::to_owned);
    asked.unwrap_or_else(|| units::option_duration(USUAL))
}

/// Returns the limit of an operation by `settings`.
pub(crate) fn limit(settings: &Settings) -> Duration {
    let asked = settings.get(TIMEOUT.name).and_then(|text| units::parse_duration(text).ok());
    asked.unwrap_or(USUAL)
}

pub(crate) fn connect_limit() -> Duration {
    if is_stopped() { STOPPING } else { CONNECTING }
}

/// A driver's connection, whose operations are limited.
pub(crate) struct Driver<T> {
    /// The connection; `None` once it is closed, which is before the copies of its sockets are.
    connection: Option<T>,
    watch: Arc<Watch>,
}

const IS_OPEN: &str = "a connection is open until it is dropped";

impl<T> Deref for Driver<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.connection.as_ref().expect(IS_OPEN)
    }
}

impl<T> Drop for Driver<T> {
    /// Closes the connection. Some drivers wait until the server has seen that.
    fn drop(&mut self) {
        let Self { connection, watch } = self;
        watch.set_limit(STOPPING);
        // An error has nowhere to go.
        let _ = watch.during(|| {
            drop(connection.take());
            Ok::<_, Failure>(())
        });
    }
}

impl<T> Driver<T> {
    pub(crate) fn connect<E>(open: impl FnOnce() -> Result<T, E>) -> Answer<Self>
    where
        Failure: From<E>,
    {
        /// The lock of the thread that connects: new sockets are those of the connection.
        static CONNECT: Mutex<()> = Mutex::new(());
        let (limit, asked) = (connect_limit(), Instant::now());
        let _turn = loop {
            match CONNECT.try_lock() {
                Ok(turn) => break turn,
                Err(TryLockError::Poisoned(turn)) => break turn.into_inner(),
                Err(TryLockError::WouldBlock) if asked.elapsed() > limit => {
                    return Err(if is_stopped() {
                        silence(true, limit)
                    } else {
                        not_accepted_error(limit)
                    });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
            }
        };
        let before = sockets();
        let watch = Arc::new(Watch::new(limit, Sockets::OpenedSince(before.clone())));
        watch_over(&watch);
        let connection = watch.during(open).map_err(|failure| match failure.error.kind() {
            ErrorKind::Failed if failure.why == Why::Silent => not_accepted_error(limit),
            _ => failure,
        })?;
        *lock::hold(&watch.sockets) = Sockets::Own(opened_since(&before));
        watch.set_limit(LONG);
        Ok(Self { connection: Some(connection), watch })
    }

    /// Limits each of the next operations.
    pub(crate) fn set_limit(&self, limit: Duration) {
        self.watch.set_limit(limit);
    }

    /// Runs an operation.
    ///
    /// # Errors
    ///
    /// Fails if the server was silent for too long.
    pub(crate) fn during<R, E>(&mut self, work: impl FnOnce(&mut T) -> Result<R, E>) -> Answer<R>
    where
        Failure: From<E>,
    {
        let Self { connection, watch } = self;
        watch.during(|| work(connection.as_mut().expect(IS_OPEN)))
    }
}

/// A connection, as the thread sees it that ends overdue operations.
struct Watch {
    /// The number of starts and ends of operations: odd while one is under way.
    turns: AtomicU64,
    limit_ms: AtomicU64,
    sockets: Mutex<Sockets>,
    /// Whether an operation was ended, and why: `OPEN`, `SILENT` or `ENDED`.
    state: AtomicU8,
}

const OPEN: u8 = 0;
/// The state of a connection whose server was silent for too long.
const SILENT: u8 = 1;
/// The state of a connection after the user wished to stop.
const ENDED: u8 = 2;

enum Sockets {
    /// The sockets that this process did not have when it started to connect.
    OpenedSince(BTreeSet<RawFd>),
    /// Copies, which stay open when the driver closes its own.
    Own(Vec<OwnedFd>),
}

impl Watch {
    fn new(limit: Duration, sockets: Sockets) -> Self {
        let watch = Self {
            turns: AtomicU64::new(0),
            limit_ms: AtomicU64::new(0),
            sockets: Mutex::new(sockets),
            state: AtomicU8::new(OPEN),
        };
        watch.set_limit(limit);
        watch
    }

    fn limit(&self) -> Duration {
        Duration::from_millis(self.limit_ms.load(Relaxed))
    }

    fn set_limit(&self, limit: Duration) {
        let ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        self.limit_ms.store(ms, Relaxed);
    }

    fn during<R, E>(&self, work: impl FnOnce() -> Result<R, E>) -> Answer<R>
    where
        Failure: From<E>,
    {
        // One thread at a time uses a connection.
        let turn = self.turns.load(Relaxed);
        self.turns.store(turn + 1, Relaxed);
        let done = work();
        self.turns.store(turn + 2, Relaxed);
        done.map_err(|error| match self.state.load(Acquire) {
            OPEN => error.into(),
            state => silence(state == ENDED, self.limit()),
        })
    }

    /// Makes the operation that is under way fail, and all that follow.
    fn end(&self, is_stopped: bool) {
        self.state.store(if is_stopped { ENDED } else { SILENT }, Release);
        // One that the server has closed needs no end.
        let shut = |socket: &OwnedFd| {
            let _ = shutdown(socket, Shutdown::Both);
        };
        match &*lock::hold(&self.sockets) {
            Sockets::OpenedSince(before) => opened_since(before).iter().for_each(shut),
            Sockets::Own(own) => own.iter().for_each(shut),
        }
    }
}

/// Creates the failure of an operation that was ended.
#[cold]
fn silence(is_stopped: bool, limit: Duration) -> Failure {
    let error = if is_stopped {
        Error::interrupted()
    } else {
        let limit = units::show_duration(limit);
        Error::failed(format!("the server has not answered for {limit} (?timeout= is the limit)"))
    };
    Failure { error, why: Why::Silent }
}

#[cold]
fn not_accepted_error(limit: Duration) -> Failure {
    let limit = units::show_duration(limit);
    let error = Error::failed(format!("the server has not accepted a connection for {limit}"));
    Failure { error, why: Why::Silent }
}

/// A connection that is watched, with the operation that was last seen on it.
struct Watched {
    watch: Weak<Watch>,
    turn: u64,
    since: Instant,
    /// Whether the user wished to stop when the operation was first seen.
    is_removal: bool,
}

fn watched() -> &'static Mutex<Vec<Watched>> {
    static WATCHED: OnceLock<Mutex<Vec<Watched>>> = OnceLock::new();
    WATCHED.get_or_init(Mutex::default)
}

/// A function that makes requests under way fail.
pub(crate) type End = Box<dyn Fn() + Send + Sync>;

fn ends() -> &'static Mutex<Vec<Weak<End>>> {
    static ENDS: OnceLock<Mutex<Vec<Weak<End>>>> = OnceLock::new();
    ENDS.get_or_init(Mutex::default)
}

/// Calls `end` soon after the user wishes to stop, for as long as the result is kept.
pub(crate) fn at_stop(end: End) -> Arc<End> {
    let end = Arc::new(end);
    if !is_stopped() {
        lock::hold(ends()).push(Arc::downgrade(&end));
        start_watching();
    }
    end
}

fn watch_over(watch: &Arc<Watch>) {
    let watch = Arc::downgrade(watch);
    let seen = Watched { watch, turn: 0, since: Instant::now(), is_removal: is_stopped() };
    lock::hold(watched()).push(seen);
    start_watching();
}

/// Starts the thread that checks all connections.
fn start_watching() {
    static START: Once = Once::new();
    START.call_once(|| {
        let look = || {
            let mut stopped = None;
            loop {
                thread::sleep(LOOK);
                lock::hold(watched()).retain_mut(Watched::end_overdue);
                if is_stopped() {
                    let since = *stopped.get_or_insert_with(Instant::now);
                    if since.elapsed() >= STOPPING {
                        lock::hold(ends())
                            .drain(..)
                            .filter_map(|end| end.upgrade())
                            .for_each(|end| end());
                    }
                }
            }
        };
        // If the thread cannot start, operations have no time limit.
        let _ = thread::Builder::new().name("server-watch".to_owned()).spawn(look);
    });
}

impl Watched {
    /// Ends an operation that is overdue. Returns whether the connection still exists.
    fn end_overdue(&mut self) -> bool {
        let Some(watch) = self.watch.upgrade() else { return false };
        let (turn, is_stopped) = (watch.turns.load(Relaxed), is_stopped());
        if turn != self.turn || turn % 2 == 0 {
            (self.turn, self.since, self.is_removal) = (turn, Instant::now(), is_stopped);
            return true;
        }
        let limit = match (is_stopped, self.is_removal) {
            (false, _) => watch.limit(),
            (true, false) => watch.limit().min(STOPPING),
            (true, true) => watch.limit().min(REMOVING),
        };
        // Again and again: a driver may open another socket meanwhile.
        if self.since.elapsed() >= limit {
            watch.end(is_stopped && !self.is_removal);
        }
        true
    }
}

/// Returns the sockets of this process, by their numbers.
fn sockets() -> BTreeSet<RawFd> {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| socket_type(borrow_fd(*number)).is_ok()).collect()
}

/// Returns copies of the sockets that are not among those `before`.
fn opened_since(before: &BTreeSet<RawFd>) -> Vec<OwnedFd> {
    let copy = |number: &RawFd| borrow_fd(*number).try_clone_to_owned().ok();
    sockets().difference(before).filter_map(copy).collect()
}

/// Returns a file of this process that a driver opened and does not show.
fn borrow_fd<'a>(number: RawFd) -> BorrowedFd<'a> {
    // SAFETY: the number was just listed, so it is not -1. It is passed to one system call that neither
    // closes nor changes a file; if the driver has closed it meanwhile, that call fails or sees another file.
    unsafe { BorrowedFd::borrow_raw(number) }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Read},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    impl From<io::Error> for Failure {
        fn from(error: io::Error) -> Self {
            Self { error: Error::failed(error.to_string()), why: Why::Lost }
        }
    }

    #[test]
    fn a_silent_server_is_an_error_and_others_are_left_alone() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || TcpStream::connect(listener.local_addr().unwrap());
        let mut silent = Driver::connect(connect).ok().unwrap();
        let other = Driver::connect(connect).ok().unwrap();
        silent.set_limit(Duration::from_millis(300));
        let read = |stream: &mut TcpStream| {
            // An end is no answer.
            stream.read_exact(&mut [0])
        };
        for _ in 0..2 {
            let failure = silent.during(read).err().unwrap();
            assert!(failure.why == Why::Silent, "{}", failure.error);
            assert!(failure.error.to_string().contains("300 ms (?timeout="), "{}", failure.error);
        }
        assert!(other.peer_addr().is_ok());
        assert_eq!(other.watch.state.load(Acquire), OPEN);
        let failure = Driver::<()>::connect(|| Err::<(), _>(io::Error::other("no"))).err().unwrap();
        assert!(failure.why == Why::Lost);
    }

    #[test]
    fn a_limit_is_a_setting() {
        let mut settings = Settings::default();
        assert_eq!(limit(&settings), USUAL);
        settings.set(TIMEOUT.name, "90s");
        assert_eq!(limit(&settings), Duration::from_secs(90));
    }
}
