//! Tables of databases that other programs made. redb compares the types of a table's keys and values with
//! those of the program that opens it; here they are those that the table has.

use std::{cell::RefCell, cmp::Ordering};

use model::{Error, Key, KeyKind, Result, Shown};
use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTableMetadata, TableDefinition, TableError,
    TableHandle, TypeName, Value,
};

use crate::part::{self, Size};

/// The setting that names a table of another program.
pub(super) const TABLE: &str = "table";

/// A table of another program.
pub(super) struct UserTable {
    pub(super) name: String,
    types: [TypeName; 2],
    pub(super) keys: UserKeys,
}

/// The types of keys that are read.
#[derive(Clone, Copy)]
pub(super) enum UserKeys {
    /// Bytes and texts, in the order of their bytes.
    Bytes,
    U32,
    U64,
    I32,
    I64,
}

impl UserKeys {
    const ALL: [(Self, fn() -> TypeName); 7] = [
        (Self::Bytes, <&[u8]>::type_name),
        (Self::Bytes, <&str>::type_name),
        (Self::Bytes, String::type_name),
        (Self::U32, u32::type_name),
        (Self::U64, u64::type_name),
        (Self::I32, i32::type_name),
        (Self::I64, i64::type_name),
    ];

    pub(super) fn kind(self) -> KeyKind {
        if matches!(self, Self::Bytes) { KeyKind::Names } else { KeyKind::Integers }
    }
}

impl UserTable {
    /// Finds the types of the table `name`.
    ///
    /// # Errors
    ///
    /// Fails with the names of types that are not read.
    pub(super) fn find(txn: &ReadTransaction, name: &str) -> Result<Self> {
        let bytes = TableDefinition::<&[u8], &[u8]>::new(name);
        let types = match txn.open_table(bytes) {
            Ok(_) => [<&[u8]>::type_name(), <&[u8]>::type_name()],
            Err(TableError::TableTypeMismatch { key, value, .. }) => [key, value],
            Err(error) => return Err(Error::unsupported(format!("{TABLE}={name}: {error}"))),
        };
        let [key, value] = &types;
        let keys = UserKeys::ALL.into_iter().find(|(_, own)| own() == *key).map(|(keys, _)| keys);
        let values = [<&[u8]>::type_name, <&str>::type_name, String::type_name];
        match keys {
            Some(keys) if values.iter().any(|own| own() == *value) => {
                Ok(Self { name: name.to_owned(), types, keys })
            }
            _ => {
                let (key, value) = (key.name(), value.name());
                Err(Error::unsupported(format!(
                    "{TABLE}={}: has keys of the type {key} and values of the type {value}; accepted: keys \
                     of &[u8], &str, String, u32, u64, i32 or i64, values of &[u8], &str or String",
                    Shown(name.as_bytes())
                )))
            }
        }
    }

    /// Opens the table in a transaction.
    pub(super) fn open<K: redb::Key + 'static>(
        &self,
        txn: &ReadTransaction,
    ) -> Result<ReadOnlyTable<K, AnyValue>, TableError> {
        TYPES.set(Some(self.types.clone()));
        txn.open_table(TableDefinition::new(&self.name))
    }
}

/// Returns how many values each table has.
pub(super) fn sizes(txn: &ReadTransaction) -> Result<Vec<Size>, redb::Error> {
    let size = |table: redb::UntypedTableHandle| {
        let name = table.name().to_owned();
        let values = Some(txn.open_untyped_table(table)?.len()?);
        Ok(Size { name, values, how: "", bytes: None })
    };
    txn.list_tables()?.map(size).collect()
}

thread_local! {
    /// The types of keys and values of the table that this thread opens.
    static TYPES: RefCell<Option<[TypeName; 2]>> = const { RefCell::new(None) };
}

fn opened_type(which: usize) -> TypeName {
    let own = TYPES.with_borrow(|types| types.as_ref().map(|types| types[which].clone()));
    own.unwrap_or_else(<&[u8]>::type_name)
}

/// Bytes under the name of a type that is stored as bytes: redb's code for a table is generated once for
/// all of these types.
#[derive(Debug)]
pub(super) struct Any<const WHICH: usize>;

/// Keys that are bytes.
pub(super) type AnyKey = Any<0>;
/// Values that are bytes.
pub(super) type AnyValue = Any<1>;

impl<const WHICH: usize> Value for Any<WHICH> {
    type SelfType<'a> = &'a [u8];
    type AsBytes<'a> = &'a [u8];

    fn fixed_width() -> Option<usize> {
        None
    }

    fn from_bytes<'a>(data: &'a [u8]) -> &'a [u8]
    where
        Self: 'a,
    {
        data
    }

    fn as_bytes<'a, 'b: 'a>(value: &'a &'b [u8]) -> &'a [u8] {
        value
    }

    fn type_name() -> TypeName {
        opened_type(WHICH)
    }
}

impl<const WHICH: usize> redb::Key for Any<WHICH> {
    fn compare(data1: &[u8], data2: &[u8]) -> Ordering {
        data1.cmp(data2)
    }
}

/// A type of keys of other programs.
pub(super) trait UserKey: redb::Key + Sized + 'static {
    fn to_stored<'k>(key: &Key<'k>) -> Result<Sought<Self::SelfType<'k>>>;

    fn key(stored: Self::SelfType<'_>) -> Result<Key<'_>>;
}

/// A key that is looked for, or where it would be among those that its type has.
pub(super) enum Sought<K> {
    Key(K),
    BeforeAll,
    AfterAll,
}

impl UserKey for AnyKey {
    fn to_stored<'k>(key: &Key<'k>) -> Result<Sought<&'k [u8]>> {
        match key {
            Key::Name(name) => Ok(Sought::Key(name)),
            Key::Int(_) => Err(kit::refusal::wrong_kind(*key, KeyKind::Names)),
        }
    }

    fn key(stored: <Self as Value>::SelfType<'_>) -> Result<Key<'_>> {
        Ok(Key::Name(stored))
    }
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl UserKey for $type {
            fn to_stored(key: &Key<'_>) -> Result<Sought<$type>> {
                match key {
                    Key::Int(key) => Ok(match <$type>::try_from(*key) {
                        Ok(key) => Sought::Key(key),
                        Err(_) if *key < 0 => Sought::BeforeAll,
                        Err(_) => Sought::AfterAll,
                    }),
                    Key::Name(_) => Err(kit::refusal::wrong_kind(*key, KeyKind::Integers)),
                }
            }

            #[allow(clippy::useless_conversion, reason = "one of them is an i64")]
            fn key<'k>(stored: $type) -> Result<Key<'k>> {
                let too_large = |_| Error::unsupported(format!(
                    "the key {stored} is larger than storemark's integers ({})", i64::MAX
                ));
                i64::try_from(stored).map(Key::Int).map_err(too_large)
            }
        }
    )*};
}

integers!(u32 u64 i32 i64);

/// Returns the setting that names a table.
pub(super) const fn setting() -> model::Setting {
    part::setting(TABLE, "the table with the values, in a database of another program")
}
