//! Shared code of the engines whose library keeps bytes in the order of their keys.

use std::{mem, path::Path};

use kit::{first::stop_after, lock::Waits, refusal::wrong_kind};
use model::{Error, Key, KeyKind, Mode, Put, Result, Scan, Session, Visitor};

use crate::caught::StoreName;

/// Returns the bytes of `key`, in the order of the keys: an integer with its sign bit flipped,
/// highest byte first; a name as it is. An integer's bytes are put into `room`.
///
/// The key is matched by reference: copied whole, it would be read back before its parts are
/// written out, which waits for the end of the last value's copy.
///
/// # Errors
///
/// Fails if the key is of another kind than `held`.
#[inline]
pub(crate) fn bytes<'k>(key: &Key<'k>, held: KeyKind, room: &'k mut [u8; 8]) -> Result<&'k [u8]> {
    match held {
        KeyKind::Integers => match key {
            Key::Int(key) => {
                *room = (key ^ i64::MIN).to_be_bytes();
                Ok(room)
            }
            Key::Name(_) => Err(wrong_kind(*key, held)),
        },
        KeyKind::Names => match key {
            Key::Name(name) => Ok(name),
            Key::Int(_) => Err(wrong_kind(*key, held)),
        },
    }
}

pub(crate) fn key(bytes: &[u8], held: KeyKind) -> Result<Key<'_>> {
    match held {
        KeyKind::Names => Ok(Key::Name(bytes)),
        KeyKind::Integers => match bytes.try_into() {
            Ok(bytes) => Ok(Key::Int(i64::from_be_bytes(bytes) ^ i64::MIN)),
            Err(_) => {
                Err(Error::corrupt(format!("a key of {} bytes among the integers", bytes.len())))
            }
        },
    }
}

/// Returns the kind of keys of the store at `path`, which has a database or table named after it.
///
/// # Errors
///
/// Fails if there is none for either kind.
pub(crate) fn kind(path: &Path, mut has: impl FnMut(&str) -> bool) -> Result<KeyKind> {
    KeyKind::ALL.into_iter().find(|keys| has(keys.as_str())).ok_or_else(|| {
        let path = path.display();
        Error::corrupt("holds nothing called integers or names").at(&path)
    })
}

/// The library as one session uses it.
pub(crate) trait Library: Sized {
    /// Whether it panics on a damaged store; one in C does not.
    const PANICS: bool;

    type Key<'k>;
    /// The store as it was at one moment.
    type Read;
    /// A transaction that writes, and sees what it wrote.
    type Write;

    /// Returns the key in the library's form; `room` is for its bytes.
    fn key<'k>(&self, key: &Key<'k>, room: &'k mut [u8; 8]) -> Result<Self::Key<'k>>;

    fn read(&self) -> Result<Self::Read>;

    /// Returns the view for one operation that is in no batch.
    fn now(&self) -> Result<Self::Read> {
        self.read()
    }

    /// Starts a transaction, and counts in `waits` if another one has to end first.
    fn write(&self, waits: &Waits) -> Result<Self::Write>;

    fn commit(&self, txn: Self::Write) -> Result<()>;

    fn get(&self, txn: Txn<'_, Self>, key: Self::Key<'_>, into: &mut [u8])
    -> Result<Option<usize>>;

    /// Returns the length of a value.
    fn length(&self, txn: Txn<'_, Self>, key: Self::Key<'_>) -> Result<Option<u64>> {
        Ok(self.get(txn, key, &mut [])?.map(|length| length as u64))
    }

    fn put(
        &self,
        txn: &mut Self::Write,
        key: Self::Key<'_>,
        value: &[u8],
        put: &Put,
    ) -> Result<bool>;

    fn delete(&self, txn: &mut Self::Write, key: Self::Key<'_>) -> Result<bool>;

    /// Visits items in key order from `from` on; `values` is whether the caller needs more than
    /// their lengths.
    fn scan(
        &self,
        txn: Txn<'_, Self>,
        from: Option<Self::Key<'_>>,
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()>;

    /// Returns the library's own counters since the last call.
    fn counters(&self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }
}

/// The transaction or view that an operation reads from.
pub(crate) enum Txn<'t, L: Library> {
    Read(&'t L::Read),
    Write(&'t L::Write),
}

impl<L: Library> Clone for Txn<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Library> Copy for Txn<'_, L> {}

/// The batch between `begin` and `commit`; without one, each operation has its own transaction.
enum OpenBatch<L: Library> {
    None,
    Read(L::Read),
    Write(L::Write),
}

/// A session on a store whose library has transactions over keys in order.
pub(crate) struct TransactionSession<L: Library> {
    library: L,
    store: &'static StoreName,
    batch: OpenBatch<L>,
    /// The transactions that had to wait for another session's, since the last call.
    waits: Waits,
}

impl<L: Library> TransactionSession<L> {
    /// Creates a session on the store at `path`.
    pub(crate) fn new(library: L, path: &Path) -> Self {
        Self {
            library,
            store: StoreName::intern(path),
            batch: OpenBatch::None,
            waits: Waits::default(),
        }
    }

    /// Lets `work` call the library, which may give up on a damaged store.
    #[inline]
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let store = self.store;
        let done =
            if L::PANICS { store.catch(|| work(self)) } else { store.at_work(|| work(self)) };
        done.map_err(|error| store.names(error))
    }

    /// Returns the batch, or a view for one operation, which is put into `now`.
    #[inline]
    fn txn<'t>(&'t self, now: &'t mut Option<L::Read>) -> Result<Txn<'t, L>> {
        Ok(match &self.batch {
            OpenBatch::Read(txn) => Txn::Read(txn),
            OpenBatch::Write(txn) => Txn::Write(txn),
            OpenBatch::None => Txn::Read(now.insert(self.library.now()?)),
        })
    }

    fn change<T>(&mut self, change: impl FnOnce(&L, &mut L::Write) -> Result<T>) -> Result<T> {
        match &mut self.batch {
            OpenBatch::Write(txn) => change(&self.library, txn),
            OpenBatch::Read(_) => {
                Err(Error::usage("the batch was begun to read; nothing was written"))
            }
            OpenBatch::None => {
                let mut txn = self.library.write(&self.waits)?;
                let answer = change(&self.library, &mut txn)?;
                self.library.commit(txn)?;
                Ok(answer)
            }
        }
    }
}

impl<L: Library> Session for TransactionSession<L> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        self.guarded(|session| {
            let (mut room, mut now) = ([0; 8], None);
            let key = session.library.key(&key, &mut room)?;
            session.library.get(session.txn(&mut now)?, key, into)
        })
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        self.guarded(|session| {
            let (mut room, mut now) = ([0; 8], None);
            let key = session.library.key(&key, &mut room)?;
            session.library.length(session.txn(&mut now)?, key)
        })
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.guarded(|session| {
            let mut room = [0; 8];
            let key = session.library.key(&key, &mut room)?;
            session.change(|library, txn| library.put(txn, key, value, put))
        })
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.guarded(|session| {
            let mut room = [0; 8];
            let key = session.library.key(&key, &mut room)?;
            session.change(|library, txn| library.delete(txn, key))
        })
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.guarded(|session| {
            // The old one ends first: a writer would wait for itself.
            session.batch = OpenBatch::None;
            session.batch = match mode {
                Mode::Read => OpenBatch::Read(session.library.read()?),
                Mode::Write | Mode::Deferred => {
                    OpenBatch::Write(session.library.write(&session.waits)?)
                }
            };
            Ok(())
        })
    }

    fn roll_back(&mut self) {
        self.batch = OpenBatch::None;
    }

    fn commit(&mut self) -> Result<()> {
        self.guarded(|session| match mem::replace(&mut session.batch, OpenBatch::None) {
            OpenBatch::Write(txn) => session.library.commit(txn),
            OpenBatch::Read(_) | OpenBatch::None => Ok(()),
        })
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        self.guarded(|session| {
            let (mut room, mut now) = ([0; 8], None);
            let from = match &scan.from {
                Some(key) => Some(session.library.key(key, &mut room)?),
                None => None,
            };
            let visit = &mut stop_after(scan.limit, visit);
            session.library.scan(session.txn(&mut now)?, from, scan.values, visit)
        })
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        let mut counters = self.library.counters();
        counters.extend(self.waits.take());
        counters
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn integers_keep_their_order_and_come_back(a in any::<i64>(), b in any::<i64>()) {
            let mut rooms = [[0; 8]; 2];
            let [room_a, room_b] = &mut rooms;
            let encoded_a = bytes(&Key::Int(a), KeyKind::Integers, room_a).unwrap();
            let encoded_b = bytes(&Key::Int(b), KeyKind::Integers, room_b).unwrap();
            prop_assert_eq!(encoded_a.cmp(encoded_b), a.cmp(&b));
            prop_assert_eq!(key(encoded_a, KeyKind::Integers).unwrap(), Key::Int(a));
        }
    }

    /// A library that panics when it looks for 1, and has nothing.
    struct Fragile;

    impl Library for Fragile {
        const PANICS: bool = true;
        type Key<'k> = Key<'k>;
        type Read = ();
        type Write = ();

        fn key<'k>(&self, key: &Key<'k>, _: &'k mut [u8; 8]) -> Result<Key<'k>> {
            Ok(*key)
        }

        fn read(&self) -> Result<()> {
            Ok(())
        }

        fn write(&self, _: &Waits) -> Result<()> {
            Ok(())
        }

        fn commit(&self, (): ()) -> Result<()> {
            panic!("at the end")
        }

        fn get(&self, _: Txn<'_, Self>, key: Key<'_>, _: &mut [u8]) -> Result<Option<usize>> {
            assert_ne!(key, Key::Int(1), "a block is torn");
            Ok(None)
        }

        fn put(&self, (): &mut (), _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
            Ok(true)
        }

        fn delete(&self, (): &mut (), _: Key<'_>) -> Result<bool> {
            Ok(true)
        }

        fn scan(
            &self,
            _: Txn<'_, Self>,
            _: Option<Key<'_>>,
            _: bool,
            _: &mut Visitor<'_>,
        ) -> Result<()> {
            panic!("in the middle")
        }
    }

    #[test]
    fn a_panic_while_values_are_read_or_written_names_the_store() {
        let mut session = TransactionSession::new(Fragile, Path::new("a/store"));
        assert_eq!(session.get(Key::Int(2), &mut []).unwrap(), None);
        let torn = session.get(Key::Int(1), &mut []).unwrap_err();
        let scanned = session.scan(Scan::ALL, &mut |_| unreachable!()).unwrap_err();
        let written = session.put(Key::Int(2), b"", &Put::default()).unwrap_err();
        for (error, why) in [(torn, "a block is torn"), (scanned, "middle"), (written, "the end")] {
            assert_eq!(error.kind(), model::ErrorKind::Corrupt);
            let said = error.to_string();
            assert!(said.starts_with("a/store: may be damaged") && said.contains(why), "{said}");
        }
    }

    #[test]
    fn bytes_of_another_length_are_no_integer() {
        assert!(key(b"seven", KeyKind::Integers).is_err());
    }
}
