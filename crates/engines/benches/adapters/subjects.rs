//! What is compared: the list of rows, and making their stores.

use std::path::Path;

use model::{Access, Facet, How, Key, KeyKind, Mode, OpenOptions, Put, Result, Settings, Store};
use storemark_engines::registry;

#[cfg(feature = "fjall")]
use crate::bare::fjall;
#[cfg(feature = "rocksdb")]
use crate::bare::rocksdb;
#[cfg(feature = "s3")]
use crate::bare::s3;
#[cfg(all(unix, feature = "valkey"))]
use crate::bare::valkey;
#[cfg(unix)]
use crate::bare::{files, hybrid, pack};
use crate::{
    bare::{Bare, lmdb, memory, redb, sqlite},
    data::Data,
    rounds::Op,
    scratch::Stop,
};

/// One line of the list. Rows with the same `place` share its files.
struct Recipe {
    name: &'static str,
    engine: &'static str,
    place: &'static str,
    /// Settings to fill with and to open with.
    fill: &'static str,
    open: &'static str,
    op: Op,
    limit: f64,
    bare: MakeBare,
}

type MakeBare = fn(&Path, &Data) -> Result<Option<Box<dyn Bare>>>;

/// A row ready to be measured.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) op: Op,
    /// The most that adapter / bare may be.
    pub(crate) limit: f64,
    pub(crate) store: Box<dyn Store>,
    /// Without one, the adapter is held against a nanosecond an operation.
    pub(crate) bare: Option<Box<dyn Bare>>,
}

#[expect(clippy::unnecessary_wraps, reason = "the answer of a recipe")]
fn some(bare: impl Bare + 'static) -> Result<Option<Box<dyn Bare>>> {
    Ok(Some(Box::new(bare)))
}

const LIMIT: f64 = 1.03;
const UNSYNCED: &str = "journal=off&sync=off";
const UNSYNCED_PRAGMAS: &str = "PRAGMA journal_mode=off; PRAGMA synchronous=off";
const MAP_PRAGMA: &str = "PRAGMA mmap_size=2000000000";

/// Recipes differ from this one.
const SQLITE_READ: Recipe = Recipe {
    name: "sqlite get, SQL",
    engine: "sqlite",
    place: "read.db",
    fill: UNSYNCED,
    open: "api=sql",
    op: Op::Get,
    limit: LIMIT,
    bare: |path, _| some(sqlite::Select::open(path, "")?),
};

const SQLITE_UPDATE: Recipe = Recipe {
    name: "sqlite update, SQL",
    place: "update.db",
    open: "journal=off&sync=off&api=sql",
    op: Op::Update,
    bare: |path, _| some(sqlite::Update::open(path, UNSYNCED_PRAGMAS)?),
    ..SQLITE_READ
};

#[cfg(unix)]
const FILES_READ: Recipe = Recipe {
    name: "files get, flat",
    engine: "files",
    place: "flat",
    fill: "layout=flat",
    open: "layout=flat",
    bare: |path, _| some(files::Reader::open(path, files::Layout::Flat)?),
    ..SQLITE_READ
};

#[cfg(unix)]
const PACK_READ: Recipe = Recipe {
    name: "pack get, pread",
    engine: "pack",
    place: "values.pack",
    fill: "",
    open: "io=pread",
    bare: |path, data| some(pack::Pread::open(path, data)?),
    ..SQLITE_READ
};

#[cfg(feature = "fjall")]
const FJALL_READ: Recipe = Recipe {
    name: "fjall get",
    engine: "fjall",
    place: "values.fjall",
    fill: "",
    open: "cache=33554432",
    bare: |path, data| some(fjall::Get::open(path, data, 32 << 20)?),
    ..SQLITE_READ
};

#[cfg(feature = "rocksdb")]
const ROCKSDB_READ: Recipe = Recipe {
    name: "rocksdb get",
    engine: "rocksdb",
    place: "blobs.rocksdb",
    fill: "",
    open: "",
    bare: |path, _| some(rocksdb::Get::open(path, None)?),
    ..SQLITE_READ
};

#[cfg(feature = "s3")]
const S3_GET: Recipe = Recipe {
    name: "s3 get",
    engine: "s3",
    place: "objects.read",
    fill: "",
    open: "",
    bare: |path, _| some(s3::Get::open(path)?),
    ..SQLITE_READ
};

const RECIPES: &[Recipe] = &[
    SQLITE_READ,
    Recipe {
        name: "sqlite get, own table",
        place: "own.db",
        fill: "journal=off&sync=off&table=photos&key=id&value=data",
        open: "api=sql&table=photos&key=id&value=data",
        bare: |path, _| some(sqlite::Select::by(path, "", "SELECT data FROM photos WHERE id=?1")?),
        ..SQLITE_READ
    },
    Recipe {
        name: "sqlite get, SQL, mmap",
        open: "api=sql&mmap=2000000000",
        bare: |path, _| some(sqlite::Select::open(path, MAP_PRAGMA)?),
        ..SQLITE_READ
    },
    Recipe {
        name: "sqlite get, blob",
        open: "api=blob",
        bare: |path, _| some(sqlite::BlobRead::open(path, "")?),
        ..SQLITE_READ
    },
    Recipe {
        name: "sqlite get, blob, mmap",
        open: "api=blob&mmap=2000000000",
        bare: |path, _| some(sqlite::BlobRead::open(path, MAP_PRAGMA)?),
        ..SQLITE_READ
    },
    SQLITE_UPDATE,
    Recipe {
        name: "sqlite update, blob",
        open: "journal=off&sync=off&api=blob",
        bare: |path, _| some(sqlite::BlobWrite::open(path, UNSYNCED_PRAGMAS)?),
        ..SQLITE_UPDATE
    },
    #[cfg(unix)]
    Recipe {
        name: "hybrid get, in the row",
        engine: "hybrid",
        place: "rows.hybrid",
        open: "",
        bare: |path, _| some(sqlite::Select::by(&path.join("hybrid.db"), "", hybrid::SELECT)?),
        ..SQLITE_READ
    },
    #[cfg(unix)]
    Recipe {
        name: "hybrid get, in a file",
        engine: "hybrid",
        place: "files.hybrid",
        fill: "journal=off&sync=off&inline=0",
        open: "",
        bare: |path, _| some(hybrid::Get::open(path)?),
        ..SQLITE_READ
    },
    #[cfg(unix)]
    FILES_READ,
    #[cfg(unix)]
    Recipe {
        name: "files get, tree",
        place: "tree",
        fill: "layout=tree",
        open: "layout=tree",
        bare: |path, _| some(files::Reader::open(path, files::Layout::Tree)?),
        ..FILES_READ
    },
    #[cfg(unix)]
    Recipe {
        name: "files update, in place",
        place: "overwritten",
        op: Op::Update,
        bare: |path, _| some(files::Writer::open(path)?),
        ..FILES_READ
    },
    #[cfg(unix)]
    Recipe {
        name: "files stat",
        op: Op::Length,
        bare: |path, _| some(files::Stat::open(path)?),
        ..FILES_READ
    },
    #[cfg(unix)]
    Recipe {
        name: "files create",
        place: "created",
        op: Op::Create,
        bare: |path, _| some(files::Create::open(path)?),
        ..FILES_READ
    },
    #[cfg(unix)]
    Recipe {
        name: "files delete",
        place: "deleted",
        op: Op::Delete,
        bare: |path, _| some(files::Delete::open(path)?),
        ..FILES_READ
    },
    #[cfg(unix)]
    PACK_READ,
    #[cfg(unix)]
    Recipe {
        name: "pack get, mmap",
        open: "io=mmap",
        // Little but a copy of 10 kB is left to compare with.
        limit: 1.10,
        bare: |path, data| some(pack::Mapped::open(path, data)?),
        ..PACK_READ
    },
    #[cfg(feature = "fjall")]
    FJALL_READ,
    #[cfg(feature = "fjall")]
    Recipe {
        name: "fjall get, all cached",
        place: "cached.fjall",
        open: "cache=2000000000",
        bare: |path, data| some(fjall::Get::open(path, data, 2_000_000_000)?),
        ..FJALL_READ
    },
    #[cfg(feature = "rocksdb")]
    ROCKSDB_READ,
    #[cfg(feature = "rocksdb")]
    Recipe {
        name: "rocksdb get, all cached",
        place: "values.rocksdb",
        fill: "blobs=off",
        open: "cache=2000000000",
        bare: |path, _| some(rocksdb::Get::open(path, Some(2_000_000_000))?),
        ..ROCKSDB_READ
    },
    #[cfg(feature = "s3")]
    S3_GET,
    #[cfg(feature = "s3")]
    Recipe {
        name: "s3 put",
        place: "objects.put",
        op: Op::Put,
        bare: |path, _| some(s3::Put::open(path)?),
        ..S3_GET
    },
    Recipe {
        name: "lmdb get",
        engine: "lmdb",
        place: "values.lmdb",
        fill: "sync=off",
        open: "",
        bare: |path, _| some(lmdb::Reader::open(path)?),
        ..SQLITE_READ
    },
    Recipe {
        name: "redb get",
        engine: "redb",
        place: "values.redb",
        fill: "sync=off",
        open: "",
        bare: |path, _| some(redb::Reader::open(path)?),
        ..SQLITE_READ
    },
    #[cfg(all(unix, feature = "valkey"))]
    Recipe {
        name: "valkey get",
        engine: "valkey",
        place: "values.valkey",
        fill: "sync=no",
        open: "sync=no",
        bare: |path, _| some(valkey::Get::open(path)?),
        ..SQLITE_READ
    },
    #[cfg(all(unix, feature = "valkey"))]
    Recipe {
        name: "valkey update",
        engine: "valkey",
        place: "updated.valkey",
        fill: "sync=no",
        open: "sync=no",
        op: Op::Update,
        bare: |path, _| some(valkey::Set::open(path)?),
        ..SQLITE_READ
    },
    Recipe {
        name: "memory get",
        engine: "memory",
        fill: "",
        open: "",
        // Each read locks the map, which workers share, and little but a copy of 10 kB is left to
        // compare with.
        limit: 1.06,
        bare: |_, data| some(memory::Values::new(data)),
        ..SQLITE_READ
    },
    Recipe {
        name: "null get, over 1 ns",
        engine: "null",
        fill: "",
        open: "",
        limit: 15.0,
        bare: |_, _| Ok(None),
        ..SQLITE_READ
    },
];

/// The rows whose names hold one of the words in `only`, or all.
pub(crate) fn make(
    folder: &Path,
    data: &Data,
    only: &[String],
    stop: &Stop,
) -> Result<Vec<Subject>> {
    let wanted = |recipe: &&Recipe| {
        only.is_empty() || only.iter().any(|word| recipe.name.contains(word.as_str()))
    };
    RECIPES.iter().filter(wanted).map(|recipe| recipe.subject(folder, data, stop)).collect()
}

impl Recipe {
    fn subject(&self, folder: &Path, data: &Data, stop: &Stop) -> Result<Subject> {
        let path = folder.join(self.place);
        Ok(Subject {
            name: self.name,
            op: self.op,
            limit: self.limit,
            store: self.store(&path, data, stop)?,
            bare: (self.bare)(&path, data)?,
        })
    }

    fn store(&self, path: &Path, data: &Data, stop: &Stop) -> Result<Box<dyn Store>> {
        let engine = registry::blobs(self.engine)?;
        let options = |settings: &str, access| {
            let pairs = settings.split('&').filter_map(|pair| pair.split_once('='));
            let settings = Settings::check(engine.settings(Facet::Blobs), pairs)?;
            Ok(OpenOptions { settings, access, keys: KeyKind::Integers })
        };
        let persistent = engine.capabilities().persistent;
        if !persistent || !path.exists() {
            let store = engine.create(path, &options(self.fill, Access::Write)?)?;
            fill(&*store, data, stop)?;
            if !persistent {
                return Ok(store);
            }
            store.close()?;
        }
        let access = if self.op.mode() == Mode::Read { Access::Read } else { Access::Write };
        engine.open(path, &options(self.open, access)?)
    }
}

/// Puts all values in key order.
fn fill(store: &dyn Store, data: &Data, stop: &Stop) -> Result<()> {
    let mut session = store.session()?;
    session.begin(Mode::Write)?;
    for key in data.keys() {
        stop.check()?;
        session.put(Key::Int(key), data.value(key), &Put::new(How::Insert))?;
    }
    session.commit()?;
    drop(session);
    store.flush_writes()
}
