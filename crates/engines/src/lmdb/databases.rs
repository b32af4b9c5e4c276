//! The databases of an environment that another program made.

use heed::{CommitOrAbort, Database, Env, WithoutTls, types::Bytes};
use model::{Error, Result, Shown};

use super::{DATABASE, environment::Environment};
use crate::part::Size;

/// A database as LMDB keeps it: bytes by bytes.
pub(super) type Values = Database<'static, Bytes, Bytes>;

/// What LMDB keeps of a named database, as a value of the unnamed one: `MDB_db` of `mdb.c`, in the machine's
/// order.
struct Head {
    flags: u16,
    pages: u64,
    values: u64,
}

/// The flags of a database whose keys have several values, or are in another order than that of their bytes.
const UNUSUAL: [(u16, &str); 3] =
    [(0x02, "MDB_REVERSEKEY"), (0x04, "MDB_DUPSORT"), (0x08, "MDB_INTEGERKEY")];

impl Head {
    /// Reads it from a value of its length, which depends on the word size; `None` if the value is something
    /// else.
    fn read(value: &[u8]) -> Option<Self> {
        const WORD: usize = size_of::<usize>();
        let value: &[u8; 8 + 5 * WORD] = value.try_into().ok()?;
        let number = |place: usize| {
            let word = &value[8 + place * WORD..][..WORD];
            usize::from_ne_bytes(word.try_into().expect("it has the bytes of a word"))
        };
        let flags = u16::from_ne_bytes([value[4], value[5]]);
        let [branches, leaves, others, values, root] = [0, 1, 2, 3, 4].map(number);
        let pages = branches.checked_add(leaves)?.checked_add(others)?;
        let head = Self { flags, pages: pages as u64, values: values as u64 };
        // An empty database has no page, and its root is none.
        ((pages == 0) == (root == usize::MAX)).then_some(head)
    }
}

/// The most entries of the unnamed database that are looked through for names of others: with more, they are
/// values.
const ENTRIES: usize = 10_000;

/// Opens the database `name`, the unnamed one if that is empty; returns `None` if there is none.
pub(super) fn find(env: &Env<WithoutTls>, name: &str) -> heed::Result<Option<Values>> {
    let found = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
        let name = Some(name).filter(|name| !name.is_empty());
        Ok::<_, heed::Error>(match opener.open_database(txn, name)? {
            Some(values) => CommitOrAbort::Commit(values),
            None => CommitOrAbort::Abort(()),
        })
    });
    found.map(CommitOrAbort::commit)
}

/// Returns whether `name` is that of a database; its handle is not kept.
fn is_database(env: &Env<WithoutTls>, name: &str) -> bool {
    let is_found = || {
        let found = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
            let found = opener.open_database::<Bytes, Bytes>(txn, Some(name))?;
            Ok::<_, heed::Error>(CommitOrAbort::<(), _>::Abort(found.is_some()))
        })?;
        Ok::<_, heed::Error>(matches!(found, CommitOrAbort::Abort(true)))
    };
    is_found().unwrap_or(false)
}

/// Checks that the keys of the database `name` have one value each, in the order of their bytes.
///
/// # Errors
///
/// Fails if its flags say otherwise.
pub(super) fn check(environment: &Environment, name: &str) -> Result<()> {
    let env = &environment.env;
    let flags = || {
        let Some(unnamed) = find(env, "")? else { return Ok(0) };
        let txn = env.read_txn()?;
        // The unnamed database itself has no head among its values.
        let value = if name.is_empty() { None } else { unnamed.get(&txn, name.as_bytes())? };
        Ok(value.and_then(Head::read).map_or(0, |head| head.flags))
    };
    let flags = flags().map_err(|e| environment.failed(e))?;
    let Some((_, flag)) = UNUSUAL.iter().find(|(flag, _)| flags & flag != 0) else {
        return Ok(());
    };
    Err(unusual(environment, name, flag))
}

/// Creates the error of a database whose keys are not as storemark reads them.
#[cold]
pub(super) fn unusual(environment: &Environment, name: &str, how: &str) -> Error {
    let why = format!(
        "{DATABASE}={name} has keys that are {how}; accepted: one value for each key, in the order of the \
         keys' bytes"
    );
    Error::unsupported(why).at(environment.path.display())
}

/// Returns whether an entry of the unnamed database is the name of another one.
pub(super) fn is_name(env: &Env<WithoutTls>, key: &[u8], value: &[u8]) -> bool {
    Head::read(value).is_some() && str::from_utf8(key).map_or(true, |name| is_database(env, name))
}

/// Returns how much each database of the environment holds.
///
/// # Errors
///
/// Fails if it cannot be read, or if none of its databases has a name that a target can have.
pub(super) fn sizes(environment: &Environment) -> Result<Vec<Size>> {
    let env = &environment.env;
    let list = || {
        let (mut sizes, mut others, mut nameless) = (Vec::new(), false, None);
        let Some(unnamed) = find(env, "")? else { return Ok((sizes, nameless)) };
        let txn = env.read_txn()?;
        let stat = unnamed.stat(&txn)?;
        let page = u64::from(stat.page_size);
        for entry in unnamed.iter(&txn)?.take(ENTRIES) {
            let (key, value) = entry?;
            match (Head::read(value), str::from_utf8(key)) {
                (Some(Head { pages, values, .. }), Ok(name)) if is_database(env, name) => {
                    let (name, bytes) = (name.to_owned(), Some(pages.saturating_mul(page)));
                    sizes.push(Size { name, values: Some(values), how: "", bytes });
                }
                // No target can name it.
                (Some(_), Err(_)) => nameless = Some(Shown(key).to_string()),
                _ => others = true,
            }
        }
        if others {
            let pages = stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
            let (values, bytes) = (stat.entries - sizes.len(), Some(pages as u64 * page));
            let values = Some(values as u64);
            sizes.push(Size { name: String::new(), values, how: "", bytes });
        }
        Ok((sizes, nameless))
    };
    match list().map_err(|e| environment.failed(e))? {
        (sizes, Some(name)) if sizes.is_empty() => Err(Error::unsupported(format!(
            "its database {name} has a name that is not UTF-8, which no target can have"
        ))
        .at(environment.path.display())),
        (sizes, _) => Ok(sizes),
    }
}
