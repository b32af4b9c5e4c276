//! The facet of an engine whose work is done by servers.

use crate::{Action, Durability, Requests, Result, Settings};

/// The facet of an engine whose work is done by servers: those that storemark starts, or existing
/// ones that it connects to.
pub trait Servers: Sync {
    /// Checks that the programs of the servers that storemark starts are installed.
    ///
    /// # Errors
    ///
    /// Fails if they are not; the sentence says what would help (a package to install, for example).
    fn usable(&self) -> Result<()>;

    /// Returns the user that a server works as on its stores, who must be able to enter their
    /// folder; `None` if this process's own user does the work, or the server exists already.
    fn account(&self) -> Option<Account>;

    /// Checks the form of the address of an existing server, which is not asked.
    ///
    /// # Errors
    ///
    /// Fails if a part is missing or malformed.
    fn check_address(&self, address: &str) -> Result<()>;

    /// Returns the durability class of the existing server at `address`, which storemark does not
    /// change.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be asked.
    fn class_at(&self, address: &str, settings: &Settings) -> Result<Durability>;

    /// Returns whether `settings` name values of the user at an address: these are a store, which is
    /// read, or copied to. Otherwise stores are created at the address for a run.
    fn names_values(&self, _settings: &Settings) -> bool {
        false
    }

    /// Returns the settings with which a copy is made at an address, to stay there; `None` if none can
    /// be.
    fn destination(&self) -> Option<&'static [(&'static str, &'static str)]> {
        None
    }

    /// Removes the tables that killed runs left in the database of the existing server at
    /// `address`, and returns what happened to each.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached.
    fn clean(&self, address: &str, settings: &Settings) -> Result<Vec<Leftover>>;

    /// Returns the most requests, with their cost, that an operation on values of `bytes` sends to
    /// a service that charges for them; `None` if it sends none.
    fn requests(&self, _: Action, _bytes: u64, _: &Settings) -> Option<Requests> {
        None
    }

    /// Returns the most requests of a store in addition to those of operations: to create, list and
    /// remove so many `values`; `None` if it sends none.
    fn store_requests(&self, _values: u64, _: &Settings) -> Option<Requests> {
        None
    }
}

/// A user of the system and its group, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The user.
    pub user: u32,
    /// The group of the owner.
    pub group: u32,
}

impl Account {
    /// Returns whether the user can enter a folder of `owner` with this `mode`. Access lists do not
    /// count.
    pub fn can_enter(self, owner: Self, mode: u32) -> bool {
        let shift = match (owner.user == self.user, owner.group == self.group) {
            (true, _) => 6,
            (_, true) => 3,
            _ => 0,
        };
        mode >> shift & 1 == 1
    }
}

/// A table that a run left on an existing server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The name of the table, the key prefix or the bucket.
    pub table: String,
    /// Who created it, in words for people.
    pub owner: String,
    /// The outcome of its removal.
    pub outcome: Cleaned,
}

/// The outcome of removing a [`Leftover`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// It was removed.
    Removed,
    /// The owner of the leftover is connected and still uses it.
    InUse,
    /// It could not be removed, for this reason.
    Failed(String),
}
