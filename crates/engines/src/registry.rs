//! Finds engines by name, address and path.

use std::{collections::BTreeSet, path::Path};

use model::{
    Blobs, Engine, EngineFacts, Error, Library, Result, Rows, Settings, Tasks, did_you_mean,
    no_such,
};

use crate::{LIST, list::Listed};

/// Returns all engines of this build.
pub fn engines() -> impl Iterator<Item = &'static dyn Engine> + Clone {
    LIST.iter().filter_map(|listed| listed.engine)
}

/// Returns the engines of this build that store values.
pub fn all_blobs() -> impl Iterator<Item = &'static dyn Blobs> + Clone {
    engines().filter_map(Engine::blobs)
}

/// Returns the engines of this build that store rows.
pub fn all_rows() -> impl Iterator<Item = &'static dyn Rows> + Clone {
    engines().filter_map(EngineFacts::rows)
}

/// Returns the engines of this build that store tasks.
pub fn all_tasks() -> impl Iterator<Item = &'static dyn Tasks> + Clone {
    engines().filter_map(EngineFacts::tasks)
}

/// Returns the engines that a user's data can be in, those that need the least care first: folders
/// of files, then in the order of the list.
pub fn plainest_first() -> impl Iterator<Item = &'static dyn Blobs> {
    let folder = |engine: &&'static dyn Blobs| engine.name() == folders().name();
    let others = all_blobs().filter(move |engine| !folder(engine));
    let all = [folders()].into_iter().chain(others);
    all.filter(|engine| !engine.declaration().worth_trying.is_empty())
}

/// Returns the names of the engines that other builds have, in alphabetical order.
pub fn left_out() -> impl Iterator<Item = &'static str> {
    let absent = LIST.iter().filter(|listed| listed.engine.is_none());
    absent.map(|listed| listed.name).collect::<BTreeSet<_>>().into_iter()
}

/// Returns the libraries that are linked into this program, each once, without servers.
pub fn linked() -> impl Iterator<Item = Library> {
    let mut seen = BTreeSet::new();
    let linked = engines().filter(|engine| engine.declaration().servers.is_none());
    let libraries = linked.filter_map(|engine| engine.library(&Settings::default()));
    libraries.filter(move |library| seen.insert(library.name.clone()))
}

/// Returns the names of the engines of this build that are programs of their own, which the system
/// may have.
pub fn servers() -> impl Iterator<Item = &'static str> {
    let servers = engines().map(Engine::declaration);
    let servers = servers.filter(|engine| engine.servers.is_some());
    servers.filter(|engine| engine.schemes.is_empty()).map(|engine| engine.name)
}

/// Returns the engine called `name`, as a store of values.
///
/// # Errors
///
/// Fails if there is none, or it is not part of this build.
pub fn blobs(name: &str) -> Result<&'static dyn Blobs> {
    facet(name, "values", all_blobs())
}

/// Returns the engine called `name`, as a store of rows.
///
/// # Errors
///
/// Fails if there is none, or it is not part of this build.
pub fn rows(name: &str) -> Result<&'static dyn Rows> {
    facet(name, "rows", all_rows())
}

/// Returns the engine called `name`, as a store of tasks.
///
/// # Errors
///
/// Fails if there is none, or it is not part of this build.
pub fn tasks(name: &str) -> Result<&'static dyn Tasks> {
    facet(name, "tasks", all_tasks())
}

fn facet<E: Engine + ?Sized>(
    name: &str,
    what: &str,
    mut engines: impl Iterator<Item = &'static E> + Clone,
) -> Result<&'static E> {
    let names = engines.clone().map(EngineFacts::name);
    if let Some(engine) = engines.find(|engine| engine.name() == name) {
        return Ok(engine);
    }
    Err(match LIST.iter().find(|listed| listed.name == name) {
        Some(Listed { engine: None, feature, .. }) => {
            let feature = feature.unwrap_or_default();
            Error::unsupported(format!(
                "the engine {name} is not part of this build; the cargo feature {feature:?} brings \
                 it in"
            ))
        }
        Some(_) => {
            let names = names.collect::<Vec<_>>().join(", ");
            Error::usage(format!("the engine {name} does not store {what} (accepted: {names})"))
        }
        None => Error::usage(reader(name).map_or_else(
            || no_such("engine", name, names),
            |own| format!("no engine {name:?}: {own} reads its stores, as in {own}:DIR"),
        )),
    })
}

/// Returns the engine that reads the stores of another program called `name`.
fn reader(name: &str) -> Option<&'static str> {
    let reads = |program: &str| program.eq_ignore_ascii_case(name);
    LIST.iter().find(|listed| listed.also_reads.is_some_and(reads)).map(|listed| listed.name)
}

/// Returns the engine of folders of files, which is in every build.
pub fn folders() -> &'static dyn Blobs {
    &crate::files::Files
}

/// Returns the engine that needs the processor and memory only.
pub fn in_memory() -> &'static dyn Blobs {
    &crate::memory::Memory
}

/// Returns the engine whose times vary least, in every build: a file and an offset table.
pub fn steadiest() -> &'static dyn Blobs {
    &crate::pack::Pack
}

/// Returns the engine of the databases that kvtest reads and writes.
///
/// # Errors
///
/// Fails if this build has no SQLite.
pub fn databases() -> Result<&'static dyn Blobs> {
    blobs("sqlite")
}

/// Returns the engine that opens addresses `scheme://…`.
///
/// # Errors
///
/// Fails if there is none, or it is not part of this build.
pub fn remote(scheme: &str) -> Result<&'static dyn Blobs> {
    let schemes = |engine: &'static dyn Blobs| engine.declaration().schemes;
    if let Some(engine) = all_blobs().find(|engine| schemes(*engine).contains(&scheme)) {
        return Ok(engine);
    }
    if left_out().any(|name| name == scheme) {
        return blobs(scheme);
    }
    let accepted: Vec<_> = all_blobs().flat_map(schemes).copied().collect();
    let hint = did_you_mean(scheme, accepted.iter().copied());
    let accepted = accepted.join("://, ");
    Err(Error::usage(format!("no server {scheme}://{hint} (accepted: {accepted}://)")))
}

/// Returns the engine whose store the file or folder at `path` looks like. A folder with an
/// engine's own files that is not a whole store of it belongs to no engine.
pub fn recognise(path: &Path) -> Option<&'static dyn Blobs> {
    let engine = all_blobs().find(|engine| engine.recognises(path))?;
    let is_folder = engine.name() == folders().name();
    if is_folder && marked(path).is_some() { None } else { Some(engine) }
}

/// Returns the engine whose own files the folder at `path` has, with one of their names.
pub fn marked(path: &Path) -> Option<(&'static str, String)> {
    let entries =
        path.read_dir().ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<_> = entries.collect();
    LIST.iter().find_map(|Listed { name, own_marks: own, common_marks: common, .. }| {
        let among = |marks: &[&str], name: &str| marks.iter().any(|mark| fits(name, mark));
        let first = names.iter().filter(|name| among(own, name)).min()?;
        let found = names.iter().filter(|name| among(own, name) || among(common, name)).count();
        (found >= names.len().min(2)).then(|| (*name, first.clone()))
    })
}

/// Returns whose stores the engine called `name` reads, and the cargo feature that brings it in; `None` if
/// it is part of this build.
pub fn absent(name: &str) -> Option<(String, &'static str)> {
    let mut others = LIST.iter().filter(|listed| listed.engine.is_none());
    let listed = others.find(|listed| listed.name == name)?;
    let also = listed.also_reads.map_or_else(String::new, |program| format!(" or {program}"));
    Some((format!("{name}{also}"), listed.feature?))
}

fn fits(name: &str, mark: &str) -> bool {
    mark.split_once('*').map_or(name == mark, |(head, tail)| {
        name.strip_prefix(head).is_some_and(|rest| rest.ends_with(tail))
    })
}

#[cfg(test)]
mod tests {
    use model::{Accepts, Declaration, ErrorKind, Facet, Setting, TypedTarget};

    use super::*;

    #[test]
    fn engines_are_listed_once_by_their_own_names() {
        for Listed { name, engine, .. } in LIST {
            assert_eq!(LIST.iter().filter(|other| other.name == *name).count(), 1, "{name}");
            assert_eq!(engine.map_or(*name, EngineFacts::name), *name);
        }
    }

    #[test]
    fn versions_that_a_library_does_not_report_are_those_of_the_lock_file() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        let lock = std::fs::read_to_string(lock).unwrap();
        for (name, version) in engines().filter_map(|engine| engine.declaration().linked) {
            // Without the commit of one that is not published.
            let version = version.split(' ').next().unwrap();
            let locked = format!("name = {name:?}\nversion = {version:?}\n");
            assert!(lock.contains(&locked), "{locked}");
        }
    }

    #[test]
    fn what_is_worth_trying_is_accepted_and_in_order() {
        let names: Vec<_> = plainest_first().map(EngineFacts::name).collect();
        assert_eq!(names[0], "files");
        assert!(names.len() > 1, "{names:?}");
        for engine in plainest_first() {
            let Declaration { worth_trying, threshold, reference, .. } = engine.declaration();
            assert!(!reference, "{}", engine.name());
            let table = engine.settings(Facet::Blobs);
            for one in *worth_trying {
                let target = TypedTarget::parse(format!("{}:?{}", engine.name(), one.settings));
                let pairs = target.settings.iter().map(|(name, value)| (&**name, &**value));
                let settings = Settings::check(table.iter().copied(), pairs).unwrap();
                engine.check(Facet::Blobs, &settings).unwrap();
                assert!(!one.trades.is_empty() && !one.trades.ends_with('.'), "{target}");
            }
            let counts = worth_trying.iter().map(|one| one.settings.matches('=').count());
            assert!(counts.is_sorted(), "{}: fewer settings first", engine.name());
            let sizes = |setting: &&&Setting| matches!(setting.accepts, Accepts::Size(..));
            let bound = |name: &&str| table.iter().filter(sizes).any(|of| of.name == *name);
            assert!(threshold.as_ref().is_none_or(bound), "{}", engine.name());
        }
    }

    /// The recommendation relies on the statement about a killed process.
    #[test]
    fn a_class_that_a_killed_process_breaks_says_so() {
        for engine in all_blobs() {
            for kept in engine.declaration().durability {
                let says = kept.how.contains("or a killed process");
                assert_eq!(kept.lost_if_killed, says, "{} {}", engine.name(), kept.class);
                let says = kept.how.contains("a killed server");
                assert_eq!(kept.lost_if_server_killed, says, "{} {}", engine.name(), kept.class);
            }
        }
    }

    #[test]
    fn a_typo_is_answered_with_the_nearest_match() {
        let error = blobs("file").err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("did you mean files?"), "{error}");
        let leveldb = blobs("leveldb").err().unwrap().to_string();
        assert!(leveldb.contains("rocksdb reads its stores, as in rocksdb:DIR"), "{leveldb}");
        assert!(blobs("oracle").err().unwrap().to_string().contains("(accepted: "));
    }

    #[test]
    fn an_engine_left_out_of_the_build_names_its_feature() {
        for Listed { name, feature, .. } in LIST.iter().filter(|listed| listed.engine.is_none()) {
            let error = blobs(name).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            let feature = format!("feature {:?}", feature.unwrap());
            assert!(error.to_string().contains(&feature), "{error}");
            let (stores, named) = absent(name).unwrap();
            assert!(stores.starts_with(name) && feature.contains(named), "{stores} {named}");
        }
    }

    #[test]
    fn an_engine_of_this_build_is_not_absent() {
        assert!(engines().all(|engine| absent(engine.name()).is_none()));
        assert!(absent("oracle").is_none());
    }

    #[test]
    fn paths_are_recognised_by_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(recognise(dir.path()).unwrap().name(), "files");
        assert!(recognise(&dir.path().join("absent")).is_none());
        std::fs::write(dir.path().join("text"), "text").unwrap();
        assert!(marked(dir.path()).is_none());
        assert!(recognise(&dir.path().join("text")).is_none());
    }

    #[test]
    fn a_folder_with_an_engines_files_is_no_folder_of_files() {
        for (files, engine) in [
            (&["lock.mdb"][..], Some("lmdb")),
            (&["hybrid.files"], Some("hybrid")),
            (&["hybrid.db-wal", "hybrid.files"], Some("hybrid")),
            (&["hybrid.db", "a.jpg"], None),
            (&["lock", "0.jnl"], Some("fjall")),
            (&["MANIFEST-000005", "000012.sst"], Some("rocksdb")),
            (&["PG_VERSION", "base"], Some("postgres")),
            (&["dump.rdb"], Some("valkey")),
            (&["appendonlydir", "dump.rdb", "temp-1.rdb"], Some("valkey")),
            (&["lock", "readme"], None),
            (&["lock", "version"], None),
            (&["base", "global"], None),
            (&["LOG", "LOCK", "CURRENT"], None),
            (&["data.mdb", "a.jpg"], None),
            (&["LOG", "a.jpg"], None),
        ] {
            let dir = tempfile::tempdir().unwrap();
            for file in files {
                std::fs::write(dir.path().join(file), "x").unwrap();
            }
            assert_eq!(marked(dir.path()).map(|(engine, _)| engine), engine, "{files:?}");
            assert_eq!(recognise(dir.path()).is_some(), engine.is_none(), "{files:?}");
        }
    }
}
