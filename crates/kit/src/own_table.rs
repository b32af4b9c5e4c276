//! Tables of the user's own: the settings that name one, and the sentences about those that may be meant.

use std::fmt;

use model::{
    Accepts, Error, Facet, FoundValues, Key, Result, Setting, Settings, settings_text,
    shell_quoted,
    units::{show_count, show_size},
};

use crate::code;

/// The setting that names the table.
pub const TABLE: &str = "table";
/// The setting that names the columns of the key.
pub const KEY: &str = "key";
/// The setting that names the column of the value.
pub const VALUE: &str = "value";
/// The setting that restricts the rows.
pub const WHERE: &str = "where";

/// The settings that find the values.
pub const SETTINGS: [Setting; 4] = [
    Setting::new(TABLE, Accepts::Text, "a table or view of your own that has the values")
        .only_for(&[Facet::Blobs]),
    Setting::new(
        KEY,
        Accepts::Text,
        "its column with the key, several with commas (in double quotes if a name has one); without it the primary key or the only unique index",
    )
    .only_for(&[Facet::Blobs]),
    Setting::new(VALUE, Accepts::Text, "its column with the value: bytes or text")
        .only_for(&[Facet::Blobs]),
    Setting::new(WHERE, Accepts::Text, "an SQL condition for the rows that are values")
        .of_use()
        .only_for(&[Facet::Blobs]),
];

/// The columns of tiles in `MBTiles` (<https://github.com/mapbox/mbtiles-spec>) and in `GeoPackage`
/// (<https://www.geopackage.org/spec/#tiles>): the key, then the value.
pub const TILES: [&str; 4] = ["zoom_level", "tile_column", "tile_row", "tile_data"];

/// Returns whether `key` has the columns of the key of tiles.
pub fn is_tile(key: &str) -> bool {
    column_names(key) == TILES[..3]
}

/// Returns whether `settings` name a table of the user's own.
pub fn is_named(settings: &Settings) -> bool {
    SETTINGS.iter().any(|setting| settings.get(setting.name).is_some())
}

/// The names of a table's parts, for settings.
#[derive(Clone, Debug)]
pub struct Names<'n> {
    /// The table or view.
    pub table: &'n str,
    /// The columns of the key, with commas.
    pub key: &'n str,
    /// The column of the value.
    pub value: &'n str,
    /// The condition on rows; `None` if all rows are values.
    pub condition: Option<&'n str>,
}

impl Names<'_> {
    /// Returns the settings that name the parts, in the words of those that were `asked` for.
    pub fn settings(&self, asked: &Settings) -> Settings {
        let mut settings = Settings::default();
        for (name, found) in [
            (TABLE, Some(self.table)),
            (KEY, Some(self.key)),
            (VALUE, Some(self.value)),
            (WHERE, self.condition),
        ] {
            if let Some(word) = asked.get(name).or(found) {
                settings.set(name, word);
            }
        }
        settings
    }
}

/// Returns the names of columns in a list with commas, in which a name in double quotes may have some.
pub fn column_names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = list.trim();
    loop {
        let (name, after) = quoted_name(rest).unwrap_or_else(|| {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].trim().to_owned(), &rest[end..])
        });
        names.push(name);
        match after.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None => return names,
        }
    }
}

/// Returns the name in double quotes with which a list begins, and what follows it; `None` if it begins
/// with none, or more than a comma follows.
fn quoted_name(list: &str) -> Option<(String, &str)> {
    let (mut name, mut rest) = (String::new(), list.strip_prefix('"')?);
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        let Some(next) = after.strip_prefix('"') else {
            let after = after.trim_start();
            return (after.is_empty() || after.starts_with(',')).then_some((name, after));
        };
        name.push('"');
        rest = next;
    }
}

/// Returns the list of these names of columns.
pub fn column_list<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let one = |name: &String| match name {
        name if name.contains([',', '"']) || name.trim() != name => {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
        name => name.clone(),
    };
    names.into_iter().map(one).collect::<Vec<_>>().join(",")
}

/// The number of values of a column, and their size, as far as a few rows show it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate {
    /// The number of values.
    pub count: i64,
    /// What is true of the count: `about `, `up to `, `more than `, or nothing.
    pub how: &'static str,
    /// The mean size in bytes; `None` if no row that was read has a value.
    pub mean: Option<u64>,
}

/// Shows them as `about 2,000 values, about 7.5 kB on average`.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count.unsigned_abs();
        let values = if count == 1 { "value" } else { "values" };
        write!(f, "{}{} {values}", self.how, show_count(count))?;
        match self.mean {
            Some(mean) => write!(f, ", about {} on average", show_size(mean)),
            None => Ok(()),
        }
    }
}

/// Returns the values that `settings` name, with a sentence on them unless they were `asked` for by name.
///
/// # Errors
///
/// Fails if `estimate` does.
pub fn found(
    settings: Settings,
    asked: &Settings,
    estimate: impl FnOnce() -> Result<Estimate>,
) -> Result<FoundValues> {
    if asked.get(TABLE).is_some() && asked.get(VALUE).is_some() {
        return Ok(FoundValues { settings, ..FoundValues::default() });
    }
    let word = |name| settings.get(name).unwrap_or_default();
    let (table, value, key) = (word(TABLE), word(VALUE), word(KEY));
    let about = Some(format!("the values are {table}.{value} by {key}: {}", estimate()?));
    Ok(FoundValues { settings, about, only_moved: None })
}

/// The most candidates that an error names.
const NAMED: usize = 10;

/// Returns the error that names the first of several tables and columns as targets; `store` is what a target
/// has before its settings. The error of an estimate is returned instead.
pub fn several<'n>(
    store: &str,
    found: impl ExactSizeIterator<Item = Result<(&'n str, &'n str, Estimate)>>,
) -> Error {
    let count = found.len();
    let one = |found: Result<(&str, &str, Estimate)>| {
        let (table, value, estimate) = found?;
        let settings = settings_text([(TABLE, table), (VALUE, value)]);
        Ok(format!("{} ({estimate})", shell_quoted(&format!("{store}?{settings}"))))
    };
    let more = if count > NAMED { ", …" } else { "" };
    match found.take(NAMED).map(one).collect::<Result<Vec<_>>>() {
        Err(error) => error,
        Ok(list) => {
            let list = list.join(", ");
            Error::usage(format!("{count} columns can have the values; name one: {list}{more}"))
        }
    }
}

/// Words before a parenthesis that begin no call, or one of a function whose value depends on its arguments alone.
const LASTING: [&str; 22] = [
    "in",
    "and",
    "or",
    "not",
    "like",
    "is",
    "between",
    "when",
    "then",
    "else",
    "glob",
    "length",
    "octet_length",
    "char_length",
    "typeof",
    "lower",
    "upper",
    "substr",
    "coalesce",
    "ifnull",
    "abs",
    "cast",
];
/// Words that have another value later, or may, without parentheses.
const CHANGING: [&str; 10] = [
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "sysdate",
    "select",
];
/// Texts that are such times if they are taken for one.
const TIMES: [&str; 4] = ["'now", "'today", "'tomorrow", "'yesterday"];

/// Checks that a condition holds for the same rows as long as these do not change.
///
/// # Errors
///
/// Fails if it may not: it reads a clock, say, or calls a function that may.
pub fn check_lasts(condition: &str) -> Result<()> {
    let code = code::strip(condition);
    let is_call =
        |word: &str, after: &str| after.trim_start().starts_with('(') && !LASTING.contains(&word);
    let changes = |(word, after): (&str, &str)| CHANGING.contains(&word) || is_call(word, after);
    // A quoted name may be that of any function, and a variable may be set.
    let may_be_any = code.contains('@') || code.replace(' ', "").contains("'(");
    let written = condition.to_lowercase();
    if may_be_any || code::words(&code).any(changes) || TIMES.iter().any(|of| written.contains(of))
    {
        return Err(Error::unsupported(format!(
            "{WHERE}= is more than a comparison of columns and constants, and may hold for other rows by then"
        )));
    }
    Ok(())
}

/// Returns why a row whose columns `key` give no key is refused; `other` is what else they may hold.
pub fn no_key(key: &str, other: &str) -> String {
    format!("a row has NULL, or {other}, in {key}; where= leaves such rows out")
}

/// Returns why the row of `key`, whose column `value` is `what`, is refused; `only` is the condition for
/// the others.
pub fn no_value(value: &str, key: Key<'_>, what: impl fmt::Display, only: &str) -> String {
    format!("{value} of key {key} is {what}, which is no value; where={only} leaves such rows out")
}

/// Returns why a second row of the same key in `columns` is refused.
pub fn repeated(columns: &str, key: Key<'_>) -> String {
    format!(
        "{columns} is no key: {key} repeats; key= names other columns, and where= leaves rows out"
    )
}

/// The bound on the rows that a read by a key without an index may look at.
pub const FEW_ROWS: i64 = 1_000;

/// Returns why single values of a table without an index on `key` are not read.
pub fn unindexed(key: &str) -> String {
    format!(
        "has no index on {key}: each read would look at all of its rows; add an index, or move the values with \
         `storemark copy`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_lasts_if_it_reads_columns_alone() {
        for lasting in [
            "id in (1, 2) and (length(data) > 10 or name like 'photo(1)%')",
            "selected=1 and is_current_version=1 and mail='a@b.c'",
            "\"order\"=1 -- now()",
            "photos.price>1.5",
        ] {
            assert!(check_lasts(lasting).is_ok(), "{lasting}");
        }
        for changing in [
            "expires<unixepoch()",
            "id<abs(random/**/())",
            "id<abs(\"random\" ())",
            "day<current_date",
            "day<date('now')",
            "day<'now'",
            "id in (select id from other)",
            "mine.length(data)>1",
            "id<@most",
        ] {
            assert!(check_lasts(changing).is_err(), "{changing}");
        }
    }
}
