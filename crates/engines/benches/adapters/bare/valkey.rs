//! Valkey through the crate `redis`, over the socket of the server that the adapter has started.

use std::path::Path;

use model::Result;
use redis::{Client, Connection, ConnectionAddr, IntoConnectionInfo, cmd, pipe};

use super::{Bare, Work};

fn connect(path: &Path) -> Connection {
    let place = ConnectionAddr::Unix(path.join("socket"));
    let info = place.into_connection_info().expect("the path of a socket");
    Client::open(info).and_then(|client| client.get_connection()).expect("a connection")
}

pub(crate) struct Get(Connection);

impl Get {
    #[expect(clippy::unnecessary_wraps, reason = "as the other loops")]
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self(connect(path)))
    }
}

impl Bare for Get {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let mut bytes = 0;
        for key in work.keys {
            let value: Vec<u8> =
                cmd("GET").arg(format!("kv:{key}")).query(&mut self.0).expect("reading");
            buffer[..value.len()].copy_from_slice(&value);
            bytes += value.len();
        }
        bytes
    }
}

/// One transaction of updates of keys that exist.
pub(crate) struct Set(Connection);

impl Set {
    #[expect(clippy::unnecessary_wraps, reason = "as the other loops")]
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self(connect(path)))
    }
}

impl Bare for Set {
    fn pass(&mut self, work: &Work<'_>, _: &mut [u8]) -> usize {
        let mut batch = pipe();
        batch.atomic();
        let mut bytes = 0;
        for key in work.keys {
            let name = format!("kv:{key}");
            let exists: i64 = cmd("EXISTS").arg(&name).query(&mut self.0).expect("asking");
            assert_eq!(exists, 1);
            let value = work.data.payload(*key, work.salt);
            batch.cmd("SET").arg(name).arg(value).ignore();
            bytes += value.len();
        }
        batch.exec(&mut self.0).expect("writing");
        bytes
    }
}
