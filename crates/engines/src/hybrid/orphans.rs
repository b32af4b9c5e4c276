//! Compares rows with files: finds files that no row names, and rows whose file is not whole.

use std::collections::HashSet;

use model::{Error, Key, Removed, Result, Session};

use super::{parts::Parts, table::FileReference};

/// The most complaints, as in `PRAGMA integrity_check`.
const COMPLAINTS: usize = 100;

/// Returns `column` of all rows that name a file, by the index on them alone if there is one.
fn named_files(parts: &Parts, column: &str) -> Result<Vec<String>> {
    let table = &parts.rows.table().name;
    parts.rows.column(&format!("SELECT {column} FROM {table} WHERE file IS NOT NULL"), 0)
}

fn number(text: &str) -> Result<i64> {
    text.parse().map_err(|_| Error::corrupt(format!("a row names no file: {text:?}")))
}

/// Returns the numbers of files that no row names, or that belong to a batch under way.
pub(super) fn find(parts: &Parts) -> Result<Vec<i64>> {
    // Before the rows: a file that gets its row meanwhile is not among them.
    let mut numbers = parts.files.numbers()?;
    let named = named_files(parts, "file")?;
    let named = named.iter().map(|text| number(text)).collect::<Result<HashSet<_>>>()?;
    numbers.retain(|number| !named.contains(number));
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes the files that no row names, while nobody writes.
pub(super) fn remove(parts: &Parts) -> Result<Removed> {
    if find(parts)?.is_empty() {
        return Ok(Removed::default());
    }
    parts.rows.execute("BEGIN IMMEDIATE")?;
    let removed = remove_alone(parts);
    parts.rows.execute("COMMIT")?;
    removed
}

fn remove_alone(parts: &Parts) -> Result<Removed> {
    // The commit after which no row names one may be another process's, which did not flush it.
    parts.flush_log()?;
    let (mut files, mut removed) = (parts.files.worker(), Removed::default());
    for number in find(parts)? {
        removed.files += 1;
        removed.bytes += files.length(Key::Int(number))?.unwrap_or(0);
        files.discard(Key::Int(number))?;
    }
    Ok(removed)
}

/// Returns complaints about rows whose file is missing, has another length, or belongs to two.
pub(super) fn damage(parts: &Parts) -> Result<Vec<String>> {
    let (mut files, mut seen, mut complaints) = (parts.files.worker(), HashSet::new(), Vec::new());
    for text in named_files(parts, "file||' '||value")? {
        let parsed = text.split_once(' ').and_then(|(file, value)| {
            let named = FileReference::parse(value.as_bytes());
            named.filter(|named| named.number.to_string() == file)
        });
        let Some(FileReference { number, length }) = parsed else {
            complaints.push(format!("a row names no file, or two: {text:?}"));
            continue;
        };
        let wrong = match files.length(Key::Int(number))? {
            None => "is missing".to_owned(),
            Some(has) if has != length => format!("has {has} of {length} bytes"),
            Some(_) if !seen.insert(number) => "is named by two rows".to_owned(),
            Some(_) => continue,
        };
        let path = files.path(Key::Int(number))?;
        let within = path.strip_prefix(&parts.path).unwrap_or(&path);
        complaints.push(format!("{}: {wrong}", within.display()));
        if complaints.len() == COMPLAINTS {
            break;
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use model::{Access, How, KeyKind, OpenOptions, Put, Session as _, Settings};

    use super::{super::session::HybridSession, *};

    #[test]
    fn a_row_whose_two_names_of_a_file_differ_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.set("inline", 10);
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
        let parts = Parts::create(folder.path(), &options).unwrap();
        let put = |key| {
            let mut session = HybridSession::new(&parts).unwrap();
            session.put(Key::Int(key), b"a large value", &Put::new(How::Insert)).unwrap()
        };
        assert!(put(1) && put(2));
        assert_eq!(damage(&parts).unwrap(), [""; 0]);
        parts.rows.execute("UPDATE integers SET file=99 WHERE number=2").unwrap();
        let [complaint] = damage(&parts).unwrap().try_into().unwrap();
        assert!(complaint.contains("or two: \"99 "), "{complaint}");
    }
}
