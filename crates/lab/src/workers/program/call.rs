//! The calls of a store that another process has open, and what it replies.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use model::{
    Arrangement, Durability, KeyKind, Meta, Mode, OwnedKey, Put, Settings, TableFacts, ValueType,
    Workload,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    dataset::{DatasetMetadata, PoolSpec},
    workload::{Pass, PassOutcome, WorkerReport},
};

/// A call. Sessions have the numbers that the caller gave them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoreCall {
    Keys,
    InEffect,
    Flush,
    Integrity,
    Unlocked,
    Arrangement,
    Table,
    Session(u32),
    End(u32),
    Get {
        session: u32,
        key: OwnedKey,
        room: u64,
    },
    Length {
        session: u32,
        key: OwnedKey,
    },
    Put {
        session: u32,
        put: SentPut,
    },
    /// Fails at one that is forbidden.
    PutEach {
        session: u32,
        puts: Vec<SentPut>,
    },
    Delete {
        session: u32,
        key: OwnedKey,
    },
    Begin {
        session: u32,
        mode: Mode,
    },
    RollBack {
        session: u32,
    },
    Commit {
        session: u32,
    },
    /// Replied with items as often as needed, and then with [`StoreReply::Done`].
    Scan {
        session: u32,
        from: Option<OwnedKey>,
        limit: u64,
        values: bool,
    },
    /// As [`StoreCall::Scan`].
    Visit {
        session: u32,
        keys: Vec<(OwnedKey, u64)>,
    },
    /// Opens a session for each worker, which make passes until [`StoreCall::EndPasses`].
    Passes(Box<PassesJob>),
    Pass {
        pass: Pass,
        start_ns: u64,
    },
    EndPasses,
}

/// The passes that workers make: the work, and the values in their order.
#[derive(Serialize, Deserialize)]
pub(super) struct PassesJob {
    pub(super) workload: Workload,
    /// The seed from which operations are drawn, if they are.
    pub(super) seed: u64,
    pub(super) metadata: DatasetMetadata,
    /// The dataset, as [`Dataset::send`](crate::dataset::Dataset::send) writes it.
    pub(super) entries: Bytes,
    pub(super) pool: PoolSpec,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoreReply {
    Done,
    /// The length of a value, and the value itself if there was room for it.
    Value(Option<(u64, Bytes)>),
    Length(Option<u64>),
    Flag(bool),
    Keys(KeyKind),
    Items(Vec<SentItem>),
    InEffect(Settings, Durability),
    Complaints(Option<Vec<String>>),
    Arrangement(Option<Arrangement>),
    Table(Option<TableFacts>),
    Passed(Vec<WorkerReport<PassOutcome>>),
}

/// A key, its value, and how it is put.
pub(super) type SentPut = (OwnedKey, Bytes, Put);

/// An item as a scan shows it.
#[derive(Serialize, Deserialize)]
pub(super) struct SentItem {
    pub(super) key: OwnedKey,
    pub(super) value: Bytes,
    pub(super) length: u64,
    pub(super) meta: Option<Meta>,
    pub(super) value_type: ValueType,
}

/// Bytes, which a line of JSON holds in base64.
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        BASE64_STANDARD.decode(text).map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use model::How;

    use super::*;
    use crate::workers::message::{Reply, WorkerRequest, parse, send};

    #[test]
    fn calls_and_replies_are_read_as_they_were_written_and_damage_is_refused() {
        let value = || Bytes((0..=255).collect());
        let put = (OwnedKey::Name(b"a/\xff".as_slice().into()), value(), Put::new(How::Insert));
        let pass = StoreCall::PutEach { session: 3, puts: vec![put] };
        let mut line = Vec::new();
        send(&mut line, &WorkerRequest::Pass { pass, start_ns: 0 }).unwrap();
        let read = parse::<WorkerRequest<StoreCall>>(std::str::from_utf8(&line).unwrap());
        let Ok(WorkerRequest::Pass { pass: StoreCall::PutEach { session: 3, puts }, .. }) = read
        else {
            panic!("another request");
        };
        let (key, read, put) = &puts[0];
        assert_eq!((key.as_key(), &read.0), (model::Key::Name(b"a/\xff"), &value().0));
        assert_eq!(put.how, How::Insert);
        for text in host::mutilations(&line) {
            let _ = parse::<WorkerRequest<StoreCall>>(&String::from_utf8_lossy(&text));
        }
        let mut line = Vec::new();
        let reply = StoreReply::Value(Some((256, value())));
        send(&mut line, &Reply::Done(vec![reply])).unwrap();
        for text in host::mutilations(&line) {
            let _ = parse::<Reply<StoreReply>>(&String::from_utf8_lossy(&text));
        }
        assert!(parse::<Reply<StoreReply>>(r#"{"done":[{"value":[1,"?"]}]}"#).is_err());
    }
}
