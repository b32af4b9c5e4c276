//! The only list of engines.

use std::path::Path;

use model::{Blobs, Error, Library, Result, nearest};

#[cfg(feature = "fjall")]
use crate::fjall;
#[cfg(feature = "lmdb")]
use crate::lmdb;
#[cfg(all(unix, feature = "mariadb"))]
use crate::mariadb;
#[cfg(all(unix, feature = "postgres"))]
use crate::postgres;
#[cfg(feature = "redb")]
use crate::redb;
#[cfg(feature = "rocksdb")]
use crate::rocksdb;
#[cfg(feature = "sqlite")]
use crate::sqlite;
use crate::{files, memory, null, pack};

/// In the order in which they are asked whose a path is: any folder is `files`' own, so it
/// comes last.
static ENGINES: &[&dyn Blobs] = &[
    &null::Null,
    &memory::Memory,
    &pack::Pack,
    #[cfg(feature = "sqlite")]
    &sqlite::Sqlite,
    #[cfg(feature = "lmdb")]
    &lmdb::Lmdb,
    #[cfg(feature = "redb")]
    &redb::Redb,
    #[cfg(feature = "fjall")]
    &fjall::Fjall,
    #[cfg(feature = "rocksdb")]
    &rocksdb::RocksDb,
    #[cfg(all(unix, feature = "mariadb"))]
    &mariadb::Mariadb,
    #[cfg(all(unix, feature = "mariadb"))]
    &mariadb::Mysql,
    #[cfg(all(unix, feature = "postgres"))]
    &postgres::Postgres,
    #[cfg(all(unix, feature = "postgres"))]
    &postgres::Postgresql,
    &files::Files,
];

/// Engines that a cargo feature brings in.
const OPTIONAL: &[(&str, &str)] = &[
    ("fjall", "fjall"),
    ("lmdb", "lmdb"),
    ("mariadb", "mariadb"),
    ("mysql", "mariadb"),
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("redb", "redb"),
    ("rocksdb", "rocksdb"),
    ("sqlite", "sqlite"),
];

/// Engines of servers, which are programs of their own.
const SERVERS: &[&str] = &["mariadb", "mysql", "postgres", "postgresql"];

/// Schemes of servers' addresses, and the engines that take them.
const SCHEMES: &[(&str, &str)] = &[
    ("mysql", "mysql"),
    ("mariadb", "mysql"),
    ("postgres", "postgresql"),
    ("postgresql", "postgresql"),
];

/// All engines of this build.
pub fn all() -> &'static [&'static dyn Blobs] {
    ENGINES
}

/// The engines that other builds have.
pub fn left_out() -> impl Iterator<Item = &'static str> {
    OPTIONAL
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !all().iter().any(|engine| engine.name() == *name))
}

/// The libraries that are linked into this program. No server is asked.
pub fn linked() -> impl Iterator<Item = Library> {
    let linked = all().iter().filter(|engine| !SERVERS.contains(&engine.name()));
    linked.filter_map(|engine| engine.library())
}

/// The engine called `name`.
pub fn find(name: &str) -> Result<&'static dyn Blobs> {
    all().iter().find(|engine| engine.name() == name).copied().ok_or_else(|| unknown(name))
}

/// The engine that takes addresses `scheme://…`.
pub fn remote(scheme: &str) -> Result<&'static dyn Blobs> {
    if let Some((_, name)) = SCHEMES.iter().find(|(of, _)| *of == scheme) {
        return find(name);
    }
    let schemes = SCHEMES.iter().map(|(scheme, _)| *scheme);
    let hint = nearest(scheme, schemes.clone())
        .map_or_else(String::new, |near| format!(": did you mean {near}?"));
    let accepted = schemes.collect::<Vec<_>>().join("://, ");
    Err(Error::usage(format!("no server {scheme}://{hint} (accepted: {accepted}://)")))
}

/// The engine whose store the file or folder at `path` looks like.
pub fn recognise(path: &Path) -> Option<&'static dyn Blobs> {
    all().iter().find(|engine| engine.recognises(path)).copied()
}

fn unknown(name: &str) -> Error {
    if let Some((_, feature)) = OPTIONAL.iter().find(|(engine, _)| *engine == name) {
        return Error::unsupported(format!(
            "the engine {name} is not part of this build; the cargo feature {feature:?} brings it in"
        ));
    }
    let names: Vec<_> = all().iter().map(|engine| engine.name()).collect();
    let hint = nearest(name, names.iter().copied())
        .map_or_else(String::new, |near| format!(": did you mean {near}?"));
    Error::usage(format!("no engine {name:?}{hint} (accepted: {})", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for engine in all() {
            assert!(std::ptr::addr_eq(find(engine.name()).unwrap(), *engine));
        }
    }

    #[test]
    fn a_slip_is_answered_with_the_nearest_match() {
        let error = find("file").err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("did you mean files?"), "{error}");
        assert!(find("oracle").err().unwrap().to_string().contains("(accepted: "));
    }

    #[test]
    fn an_engine_left_out_of_the_build_names_its_feature() {
        let absent = |name| !all().iter().any(|engine| engine.name() == name);
        for (name, feature) in OPTIONAL.iter().filter(|(name, _)| absent(*name)) {
            let error = find(name).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains(&format!("feature {feature:?}")), "{error}");
        }
    }

    #[test]
    fn paths_are_recognised_by_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(recognise(dir.path()).unwrap().name(), "files");
        assert!(recognise(&dir.path().join("absent")).is_none());
        std::fs::write(dir.path().join("text"), "text").unwrap();
        assert!(recognise(&dir.path().join("text")).is_none());
    }
}
