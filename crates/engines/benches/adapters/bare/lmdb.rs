//! LMDB through heed: one read transaction, values copied out of the map.

use std::{fs, path::Path};

use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, WithoutTls, types::Bytes};
use model::{Error, Result};

use super::{Bare, Work, own_copy};

pub(crate) struct Reader {
    env: Env<WithoutTls>,
    values: Database<'static, Bytes, Bytes>,
}

impl Reader {
    /// Opens the environment at `path` by another name, as heed opens one only once in a process:
    /// the file is the same, and so are its pages in memory.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let other = own_copy(path);
        fs::create_dir(&other)
            .and_then(|()| fs::hard_link(path.join("data.mdb"), other.join("data.mdb")))
            .map_err(|e| Error::io(other.display(), e))?;
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.max_dbs(2).map_size(1 << 40);
        // SAFETY: nobody writes to the file while the bench runs.
        let env = unsafe { options.flags(EnvFlags::READ_ONLY | EnvFlags::NO_LOCK).open(&other) };
        let env = env.expect("opening the environment");
        let txn = env.read_txn().expect("a transaction");
        let values = env.open_databases_and_commit(txn, |opener, txn| {
            opener.open_database(txn, Some("integers")).map(CommitOrAbort::<_, ()>::Commit)
        });
        let values = values.expect("opening its database").unwrap_commit();
        Ok(Self { env, values: values.expect("it holds integers") })
    }
}

impl Bare for Reader {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let txn = self.env.read_txn().expect("a transaction");
        let mut bytes = 0;
        for key in work.keys {
            let key = (key ^ i64::MIN).to_be_bytes();
            let value = self.values.get(&txn, &key).expect("reading").expect("the key is there");
            buffer[..value.len()].copy_from_slice(value);
            bytes += value.len();
        }
        bytes
    }
}
