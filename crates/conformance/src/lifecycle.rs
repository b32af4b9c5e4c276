//! Creating, opening and closing.

use std::fs;

use model::{Access, Batch, ErrorKind, KeyKind, Mode, Put};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, Fault, holds, same},
    files::unchanged,
    store_folder::StoreFolder,
};

pub(crate) fn a_store_holds_what_it_held_before_it_was_closed(
    case: &Case,
    place: &StoreFolder,
) -> Checked {
    case.create_filled(&place.path, 20)?;
    let store = case.open(&place.path, Access::Write)?;
    let mut session = store.session()?;
    session.write(&case.key(3), &bytes(-3, 5000))?;
    session.write(&case.key(21), b"more")?;
    session.remove(&case.key(4))?;
    drop(session);
    store.close()?;
    let store = case.open(&place.path, Access::Read)?;
    let mut session = store.session()?;
    for (n, what, value) in [
        (2, "was put", Some(bytes(2, 100))),
        (3, "was replaced", Some(bytes(-3, 5000))),
        (4, "was deleted", None),
        (21, "was put last", Some(b"more".to_vec())),
    ] {
        let what = format_args!("key {n}, which {what} before the store was closed,");
        same(what, session.value(&case.key(n))?, value)?;
    }
    same("the number of items after the store was opened again", session.items()?.len(), 20)
}

pub(crate) fn a_store_finds_its_own_kind_of_keys(case: &Case, place: &StoreFolder) -> Checked {
    case.create_filled(&place.path, 3)?;
    let other = match case.keys {
        KeyKind::Integers => KeyKind::Names,
        KeyKind::Names => KeyKind::Integers,
    };
    let asked =
        Case { keys: other, settings: case.settings.clone(), base: case.base.clone(), ..*case };
    let store = asked.open(&place.path, Access::Read)?;
    // A folder of numbers is one of names as well, where names are asked for.
    let unsaid = case.settings.get("layout").is_none();
    let either = case.engine.name() == "files" && other == KeyKind::Names && unsaid;
    let expected = if either { other } else { case.keys };
    same("the kind of keys", store.keys().to_string(), expected.to_string())?;
    same("the number of items", store.session()?.items()?.len(), 3)
}

pub(crate) fn a_store_that_is_dropped_is_there_after_all(
    case: &Case,
    place: &StoreFolder,
) -> Checked {
    drop(case.filled(&place.path, 5)?);
    let store = case.open(&place.path, Access::Read)?;
    same("the number of items of a store that was not closed", store.session()?.items()?.len(), 5)
}

/// Compares files only where no server writes them: its logs grow meanwhile.
pub(crate) fn reclaiming_gives_space_back_and_keeps_what_is_left(
    case: &Case,
    place: &StoreFolder,
) -> Checked {
    let store = case.create(&place.path)?;
    if case.engine.declaration().reclaim.is_none() {
        let kind = store.reclaim().err().map(|error| error.kind());
        return holds(kind == Some(ErrorKind::Unsupported), "reclaims, and does not declare it");
    }
    let mut session = store.session()?;
    session.begin(Mode::Write)?;
    for n in 1..=100 {
        session.write(&case.key(n), &bytes(n, 20_000))?;
    }
    session.commit()?;
    session.begin(Mode::Write)?;
    for n in 11..=100 {
        session.remove(&case.key(n))?;
    }
    session.commit()?;
    drop(session);
    store.close()?;
    let size = || -> Checked<usize> {
        let files = place.snapshot()?.into_values().filter_map(|(bytes, _)| bytes);
        Ok(files.map(|bytes| bytes.len()).sum())
    };
    let before = size()?;
    case.open(&place.path, Access::Write)?.reclaim()?;
    let after = size()?;
    // 200 kB are left; what engines write of themselves may be as much again.
    let given_back = after < before || after < 500_000;
    holds(case.is_server() || given_back, format_args!("{after} bytes after {before}"))?;
    let store = case.open(&place.path, Access::Write)?;
    let mut session = store.session()?;
    for n in 1..=10 {
        let what = format_args!("key {n}, which was not deleted,");
        same(what, session.value(&case.key(n))?, Some(bytes(n, 20_000)))?;
    }
    same("the number of items", session.items()?.len(), 10)?;
    session.write(&case.key(11), b"more")?;
    drop(session);
    Ok(store.close()?)
}

pub(crate) fn settling_changes_nothing_that_is_read(case: &Case, place: &StoreFolder) -> Checked {
    let store = case.create(&place.path)?;
    let mut session = store.session()?;
    for n in 1..5 {
        case.fill(&mut *session, n)?;
        store.flush_writes()?;
        let count = usize::try_from(n).unwrap_or_default();
        same("the number of items after a flush", session.items()?.len(), count)?;
    }
    session.begin(Mode::Read)?;
    same("a value after a flush", session.value(&case.key(4))?, Some(bytes(4, 100)))?;
    Ok(session.commit()?)
}

pub(crate) fn opening_what_is_absent_fails_and_makes_nothing(
    case: &Case,
    place: &StoreFolder,
) -> Checked {
    for access in [Access::Read, Access::Write] {
        let error = case.open(&place.path, access).err();
        let is_it = error.is_some_and(|error| error.kind() == ErrorKind::Missing);
        holds(is_it, "opening a path where nothing is does not say so")?;
        same("the number of files that opening nothing makes", place.snapshot()?.len() - 1, 0)?;
    }
    Ok(())
}

pub(crate) fn creating_over_what_is_there_fails_and_changes_nothing(
    case: &Case,
    _: &StoreFolder,
) -> Checked {
    let (file, folder, store) = (StoreFolder::new()?, StoreFolder::new()?, StoreFolder::new()?);
    fs::write(&file.path, "somebody's")?;
    fs::create_dir(&folder.path)?;
    case.create_filled(&store.path, 2)?;
    for (what, place) in [("a file", file), ("a folder", folder), ("a store", store)] {
        let before = place.snapshot()?;
        let error = case.create(&place.path).err();
        let is_it = error.is_some_and(|error| error.kind() == ErrorKind::Exists);
        holds(is_it, format_args!("creating over {what} does not say that it exists"))?;
        let named = |fault: Fault| fault.within(format_args!("creating over {what}"));
        unchanged(&before, &place.snapshot()?).map_err(named)?;
    }
    Ok(())
}

pub(crate) fn reading_leaves_the_files_as_they_were(case: &Case, place: &StoreFolder) -> Checked {
    case.create_filled(&place.path, 20)?;
    if case.engine.reading_changes(&place.path, &case.settings, Batch::All).is_some() {
        return Ok(());
    }
    let before = place.snapshot()?;
    let store = case.open(&place.path, Access::Read)?;
    let mut session = store.session()?;
    session.begin(Mode::Read)?;
    same("a value", session.value(&case.key(1))?, Some(bytes(1, 100)))?;
    session.commit()?;
    same("the number of items", session.items()?.len(), 20)?;
    let put = session.put(case.key(1).as_key(), b"no", &Put::default());
    holds(put.is_err(), "a store that was opened to read is put to")?;
    let deleted = session.delete(case.key(1).as_key());
    holds(deleted.is_err(), "a store that was opened to read is deleted from")?;
    drop(session);
    store.flush_writes()?;
    store.close()?;
    unchanged(&before, &place.snapshot()?)
}

pub(crate) fn a_store_is_recognised_and_its_files_are_all_there_is(
    case: &Case,
    place: &StoreFolder,
) -> Checked {
    holds(!case.engine.recognises(&place.path), "recognises a store where nothing is")?;
    case.create_filled(&place.path, 5)?;
    holds(case.engine.recognises(&place.path), "does not recognise its own store")?;
    let files = case.engine.files(&place.path);
    holds(files.iter().any(|file| file.exists()), format_args!("no file exists of {files:?}"))?;
    for entry in place.folder.read_dir()? {
        let path = entry?.path();
        let is_told = files.contains(&path);
        holds(is_told, format_args!("made {}, which it does not list", path.display()))?;
    }
    let inside = files.iter().all(|file| file.starts_with(&place.folder));
    holds(inside, format_args!("a file is elsewhere: {files:?}"))
}
