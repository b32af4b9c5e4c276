//! Rows and files held against each other: files that no row names, and rows whose file is not whole.

use std::collections::HashSet;

use model::{Error, Key, Removed, Result, Session};

use super::{parts::Parts, table::Reference};

/// Complaints at most, as `PRAGMA integrity_check` has.
const COMPLAINTS: usize = 100;

/// The texts of all rows that name a file; by the index on them alone, if there is one.
fn references(parts: &Parts) -> Result<Vec<String>> {
    let table = parts.rows.table().name;
    parts.rows.column(&format!("SELECT value FROM {table} WHERE typeof(value)='text'"), 0)
}

fn parse(text: &str) -> Result<Reference> {
    let wrong = || Error::corrupt(format!("a row names no file: {text:?}"));
    Reference::parse(text.as_bytes()).ok_or_else(wrong)
}

/// The numbers of files that no row names, or that belong to a batch under way.
pub(super) fn find(parts: &Parts) -> Result<Vec<i64>> {
    // Before the rows: a file that gets its row meanwhile is not among them.
    let mut numbers = parts.files.numbers()?;
    let named = references(parts)?;
    let named = named.iter().map(|text| Ok(parse(text)?.number));
    let named = named.collect::<Result<HashSet<_>>>()?;
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

/// Rows whose file is missing, has another length, or belongs to two.
pub(super) fn damage(parts: &Parts) -> Result<Vec<String>> {
    let (mut files, mut seen, mut complaints) = (parts.files.worker(), HashSet::new(), Vec::new());
    for text in references(parts)? {
        let Ok(Reference { number, length }) = parse(&text) else {
            complaints.push(format!("a row names no file: {text:?}"));
            continue;
        };
        let wrong = match files.length(Key::Int(number))? {
            None => "is missing".to_owned(),
            Some(has) if has != length => format!("has {has} of {length} bytes"),
            Some(_) if !seen.insert(number) => "is named by two rows".to_owned(),
            Some(_) => continue,
        };
        complaints.push(format!("{}: {wrong}", files.path(Key::Int(number))?.display()));
        if complaints.len() == COMPLAINTS {
            break;
        }
    }
    Ok(complaints)
}
