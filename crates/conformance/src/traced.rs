//! strace sees the calls that a durability class names: the flush of a durable update before it is
//! acknowledged, and none where the class asks for none.

use std::{
    collections::BTreeSet,
    fs, io,
    path::Path,
    process::{Command, Stdio},
};

use model::{Blobs, Durability, DurabilitySettings, Facet, Key, Mode, Put};

use crate::{
    case::Case,
    fault::{Checked, Fault, holds, same},
    process::{Part, Start},
    store_folder::StoreFolder,
};

const BEGIN: &str = "the update begins";
const END: &str = "the update is acknowledged";
/// The updates that are traced, and the deletes after them.
const UPDATES: usize = 4;
const DELETES: usize = 2;
/// Calls that flush a file to its device.
const FLUSHES: [&str; 5] = ["fsync", "fdatasync", "msync", "sync_file_range", "syncfs"];
/// Calls that write to a file or name it, and the manual page of each.
const WRITES: [(&str, &str); 7] = [
    ("write", "write"),
    ("pwrite64", "pwrite"),
    ("writev", "writev"),
    ("pwritev", "pwritev"),
    ("rename", "rename"),
    ("renameat", "rename"),
    ("renameat2", "rename"),
];

/// Makes updates and deletes with marks on standard error around them: one after another has warmed up what
/// is only done once.
pub(crate) fn update(case: &Case, path: &Path) -> Checked {
    let store = case.create(path)?;
    let mut session = store.session()?;
    // In a batch, and as one of its own; without a value it is a delete.
    let mut change = |number: usize, value: Option<u8>| -> Checked {
        let batch = number.is_multiple_of(2);
        if batch {
            session.begin(Mode::Write)?;
        }
        let done = match value {
            Some(value) => session.put(Key::Int(1), &[value; 100], &Put::default())?,
            None => session.delete(Key::Int(1))?,
        };
        holds(done, "an update or a delete is answered with no")?;
        if batch {
            session.commit()?;
        }
        Ok(())
    };
    // Until the store has its files: MariaDB flushes one that grows, whatever the class, so that
    // values are small as well.
    (0..20).try_for_each(|value| change(value.into(), Some(value)))?;
    for (number, value) in (100..).take(UPDATES).enumerate() {
        eprintln!("{BEGIN}");
        change(number, Some(value))?;
        eprintln!("{END}");
    }
    for number in 0..DELETES {
        eprintln!("{BEGIN}");
        change(number, None)?;
        eprintln!("{END}");
        change(number, Some(1))?;
    }
    drop(session);
    Ok(store.close()?)
}

/// Returns the calls by which files were written and flushed during each update, by any of the processes and
/// threads of the engine.
fn calls(case: &Case, start: Start<'_>) -> Checked<Vec<BTreeSet<String>>> {
    let place = StoreFolder::new()?;
    let trace = place.folder.join("trace");
    let started = start(Part::Updater, case, &place.path);
    let writes = WRITES.map(|(call, _)| call).join(",");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-y", "-e", &format!("trace={writes},{}", FLUSHES.join(","))])
        .args(["-e", "signal=none", "-o"])
        .arg(&trace)
        .arg(started.get_program())
        .args(started.get_args())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    for (name, value) in started.get_envs() {
        if let Some(value) = value {
            strace.env(name, value);
        }
    }
    let output = match strace.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Fault::unchecked("strace is not installed"));
        }
        output => output?,
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("ptrace") && said.contains("not permitted") {
        return Err(Fault::unchecked("nobody may trace here"));
    }
    if !output.status.success() {
        return Err(Fault::of_process("the process that is traced", &said));
    }
    Ok(of_updates(&fs::read_to_string(trace)?, &place.folder))
}

/// Splits a trace at the marks of the updater. Only what was done to a file below `folder`, or to a mapping,
/// counts.
fn of_updates(trace: &str, folder: &Path) -> Vec<BTreeSet<String>> {
    let folder = folder.to_string_lossy();
    let mut updates: Vec<BTreeSet<String>> = Vec::new();
    let (mut within, mut waiting) = (false, Vec::new());
    for line in trace.lines() {
        let (process, call) = line.trim_start().split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if call.starts_with("write(") && call.contains(BEGIN) {
            updates.push(BTreeSet::new());
            within = true;
        } else if call.starts_with("write(") && call.contains(END) {
            within = false;
        }
        // A call during which another process did something is on two lines.
        let resumed = call.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed"));
        // What is mapped has an address, and no path.
        let ours = match resumed {
            Some(_) => waiting.contains(&process),
            None => call.contains(&*folder) || call.starts_with("msync("),
        };
        waiting.retain(|waits| *waits != process);
        if ours && call.contains("<unfinished") {
            waiting.push(process);
        } else if ours && within && !call.contains("= -1") {
            let name = resumed.map_or_else(|| call.split('(').next(), |(name, _)| Some(name));
            let name = name.unwrap_or_default();
            let page = WRITES.iter().find(|(call, _)| *call == name).map_or(name, |(_, page)| page);
            updates.iter_mut().last().map(|update| update.insert(page.to_owned()));
        }
    }
    updates
}

/// Returns the calls that a sentence names, as `fsync(2)`.
fn named(how: &str) -> BTreeSet<String> {
    let words = how.split("(2)").map(|before| before.rsplit(' ').next().unwrap_or_default());
    let known = |word: &&str| FLUSHES.contains(word) || WRITES.iter().any(|(_, page)| page == word);
    words.filter(known).map(str::to_owned).collect()
}

/// Checks what updates and the deletes after them did; `is_whole`: an update makes all calls that the
/// sentence names. A delete need not write what an update writes.
fn check(kept: &DurabilitySettings, is_whole: bool, updates: &[BTreeSet<String>]) -> Checked {
    let DurabilitySettings { class, how, .. } = kept;
    let named = named(how);
    same("the number of updates that were traced", updates.len(), UPDATES + DELETES)?;
    let listed = |calls: &BTreeSet<String>| match calls.len() {
        0 => "none".to_owned(),
        _ => calls.iter().cloned().collect::<Vec<_>>().join(", "),
    };
    for (number, calls) in updates.iter().enumerate() {
        let (what, is_whole) =
            if number < UPDATES { ("an update", is_whole) } else { ("a delete", false) };
        let flushes = calls.iter().filter(|call| FLUSHES.contains(&&***call));
        let flushes: BTreeSet<_> = flushes.cloned().collect();
        let of_class = match class {
            Durability::None => flushes.is_empty(),
            Durability::Consistent => true,
            Durability::Durable => !flushes.is_empty() && (!is_whole || named.is_subset(calls)),
        };
        let expected = match class {
            Durability::None => "no flush".to_owned(),
            _ => format!("as its sentence names them: {}", listed(&named)),
        };
        let said = format!(
            "{what} of class {class} made these calls before it was acknowledged: {}; expected, \
             {expected}",
            listed(calls)
        );
        holds(flushes.is_subset(&named) && of_class, said)?;
    }
    Ok(())
}

pub(crate) fn an_update_of_a_class_makes_the_calls_that_its_sentence_names(
    case: &Case,
    start: Start<'_>,
) -> Checked {
    let Some(kept) = case.class() else { return Ok(()) };
    if cfg!(not(target_os = "linux")) {
        return Err(Fault::unchecked("strace is on Linux only"));
    }
    if !has_files(case.engine) {
        return check(kept, true, &calls(case, start)?);
    }
    check(kept, false, &calls(case, start)?)?;
    // Less than the values have: all are files.
    let mut settings = case.settings.clone();
    settings.set("inline", 50);
    check(kept, true, &calls(&Case { settings, base: case.base.clone(), ..*case }, start)?)
}

/// Reports whether the engine has values in rows and in files.
fn has_files(engine: &dyn Blobs) -> bool {
    engine.settings(Facet::Blobs).iter().any(|setting| setting.name == "inline")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_split_at_the_marks() {
        let trace = "\
10 fsync(3</a/store>) = 0
10 write(2</dev/pts/0>, \"the update begins\\n\", 18) = 18
11 fdatasync(4</a/store> <unfinished ...>
10 fsync(5</b/other>) = 0
11 <... fdatasync resumed>) = 0
11 msync(0x7f0000000000, 4096, MS_SYNC) = 0
12 fsync(6</a/store>) = -1 EIO (Input/output error)
10 write(2</dev/pts/0>, \"the update is acknowledged\\n\", 27) = 27
10 fsync(3</a/store>) = 0
";
        let updates = of_updates(trace, "/a".as_ref());
        assert_eq!(updates, [BTreeSet::from(["fdatasync", "msync"].map(str::to_owned))]);
    }

    #[test]
    fn a_sentence_names_its_calls() {
        let names = |how| Vec::from_iter(named(how));
        assert_eq!(names("write(2) and fdatasync(2) of the log"), ["fdatasync", "write"]);
        assert_eq!(names("MDB_NOSYNC: nothing"), [""; 0]);
    }

    #[test]
    fn a_flush_that_is_missing_or_not_named_is_a_fault() {
        let made = |calls: &[&str]| {
            let calls: BTreeSet<_> = calls.iter().map(|call| (*call).to_owned()).collect();
            vec![calls; UPDATES + DELETES]
        };
        let durable = Durability::Durable.kept_by(&[], "pwrite(2) and fdatasync(2)");
        assert!(check(&durable, true, &made(&["pwrite", "fdatasync"])).is_ok());
        for calls in [&["pwrite"][..], &["fdatasync"], &["pwrite", "fdatasync", "fsync"]] {
            let said = check(&durable, true, &made(calls)).unwrap_err().to_string();
            assert!(
                said.contains("expected, as its sentence names them: fdatasync, pwrite"),
                "{said}"
            );
        }
        let mut unflushed = made(&["pwrite", "fdatasync"]);
        unflushed[UPDATES].remove("fdatasync");
        let said = check(&durable, true, &unflushed).unwrap_err().to_string();
        assert!(said.contains("a delete of class durable made these calls"), "{said}");
        let none = Durability::None.kept_by(&[], "fsync(2) never");
        assert!(check(&none, true, &made(&["fsync"])).is_err());
    }
}
