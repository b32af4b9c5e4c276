//! The engines, a line for each: the only list of them.

use model::Engine;

/// An engine of this build or of others.
pub(crate) struct Listed {
    /// Its name in a target string.
    pub(crate) name: &'static str,
    /// The cargo feature that adds it; `None` if every build has it.
    pub(crate) feature: Option<&'static str>,
    /// The names in a folder by which the folder is the engine's, also if it is damaged or the
    /// engine is not in this build: names that others hardly use, at least one of which exists. A
    /// `*` is any text.
    pub(crate) own_marks: &'static [&'static str],
    /// The names that others use too. Of all names two exist, unless there is nothing else.
    pub(crate) common_marks: &'static [&'static str],
    /// The engine; `None` if it is not in this build.
    pub(crate) engine: Option<&'static dyn Engine>,
}

/// Each line is `NAME: MODULE::ENGINE, feature FEATURE, marks [OWN, …] [COMMON, …];` without what
/// the engine does not have. `unix` after a feature leaves the engine out of other systems.
macro_rules! engines {
    ($(
        $name:literal: $module:ident::$engine:ident
        $(, feature $feature:literal $($unix:ident)?)?
        $(, marks $own_marks:tt $common_marks:tt)?;
    )*) => {
        &[$(Listed {
            name: $name,
            feature: [$(Some($feature),)? None][0],
            own_marks: [$(&$own_marks as &[_],)? &[]][0],
            common_marks: [$(&$common_marks as &[_],)? &[]][0],
            engine: {
                #[cfg(all($(feature = $feature $(, $unix)?)?))]
                {
                    Some(&crate::$module::$engine)
                }
                #[cfg(not(all($(feature = $feature $(, $unix)?)?)))]
                {
                    None
                }
            },
        }),*]
    };
}

/// The engines in the order in which they are asked whether a path is a store of theirs: `files`
/// recognises any folder, so it is last.
pub(crate) static LIST: &[Listed] = engines! {
    "null": null::Null;
    "memory": memory::Memory;
    "pack": pack::Pack;
    "sqlite": sqlite::Sqlite, feature "sqlite";
    "hybrid": hybrid::Hybrid, feature "sqlite",
        marks ["hybrid.db", "hybrid.db-*", "hybrid.files"] [];
    "lmdb": lmdb::Lmdb, feature "lmdb", marks ["data.mdb", "lock.mdb"] [];
    "redb": redb::Redb, feature "redb";
    "fjall": fjall::Fjall, feature "fjall", marks ["keyspaces", "*.jnl"] ["version", "lock"];
    "rocksdb": rocksdb::RocksDb, feature "rocksdb",
        marks ["MANIFEST-*", "OPTIONS-*", "*.sst"] ["CURRENT", "IDENTITY", "LOCK", "LOG", "*.log"];
    "mariadb": mariadb::MARIADB, feature "mariadb" unix,
        marks ["ibdata1", "aria_log_control", "ib_logfile0", "undo001"] ["mysql"];
    "mysql": mariadb::MYSQL, feature "mariadb" unix;
    "postgres": postgres::POSTGRES, feature "postgres" unix,
        marks ["PG_VERSION", "pg_wal", "pg_xact"] ["global", "base"];
    "postgresql": postgres::POSTGRESQL, feature "postgres" unix;
    "s3": s3::S3, feature "s3" unix, marks ["storemark.rclone", "storemark.seaweedfs"] [];
    "bucket": s3::BUCKET, feature "s3" unix;
    "valkey": valkey::VALKEY, feature "valkey" unix,
        marks ["appendonlydir", "dump.rdb"] ["appendonly.aof*"];
    "redis": valkey::REDIS, feature "valkey" unix;
    "files": files::Files;
    "csv": lines::CSV;
    "jsonl": lines::JSONL;
};
