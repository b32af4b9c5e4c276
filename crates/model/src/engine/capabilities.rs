//! What an engine can do.

/// The optional abilities of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent yes-or-no facts, named one by one")]
pub struct Capabilities {
    /// Whether the store is on disk and exists after closing. A store that does not is held open
    /// from its creation to the end of a run.
    pub persistent: bool,
    /// Whether all values are in memory while the store is open.
    pub resident: bool,
    /// Whether it keeps what is written. Only `null`, which measures the tool, does not.
    pub retains: bool,
    /// Whether it keeps mode and time with a named value.
    pub meta: bool,
    /// Whether it keeps the type of a value ([`ValueType`](crate::ValueType)).
    pub types: bool,
    /// Whether names are paths of a file system, so that none can be a file and a folder.
    pub paths: bool,
    /// Whether a scan shows the store as it was at one moment, whatever others write meanwhile.
    pub snapshots: bool,
    /// Whether several writes can be one commit. Without that each is a commit of its own.
    pub batches: bool,
    /// Whether a batch is stored as a whole or not at all, in the order of commits.
    pub atomic_batches: bool,
    /// Whether several sessions may write at once (they may wait for each other).
    pub concurrent_writes: bool,
    /// Whether several processes may have a store open at once, see [`Blobs::join`](super::Blobs::join).
    pub processes: bool,
    /// Whether one process may open a store several times.
    pub reopens: bool,
    /// Whether a store is written once, from start to end, and then only read, as an archive is.
    pub written_once: bool,
    /// Whether a location is an address of an existing server (`//user@host/database`), in which
    /// stores are created (`//user@host/database/table`) and dropped when they are closed.
    pub remote: bool,
    /// Whether its library calls the kernel without the C library, so that its flushes are not counted.
    pub own_calls: bool,
}

impl Capabilities {
    /// The abilities of a store on disk that sessions and processes share.
    pub const ON_DISK: Self = Self {
        persistent: true,
        resident: false,
        retains: true,
        meta: true,
        types: false,
        paths: false,
        snapshots: true,
        batches: true,
        atomic_batches: true,
        concurrent_writes: true,
        processes: true,
        reopens: true,
        written_once: false,
        remote: false,
        own_calls: false,
    };
    /// The abilities of a store on disk that one process locks.
    pub const IN_ONE_PROCESS: Self = Self { processes: false, reopens: false, ..Self::ON_DISK };
    /// The abilities of a store in the memory of one process.
    pub const IN_MEMORY: Self = Self { persistent: false, resident: true, ..Self::IN_ONE_PROCESS };
    /// The abilities of an existing server.
    pub const REMOTE: Self = Self { persistent: false, remote: true, ..Self::ON_DISK };
}
