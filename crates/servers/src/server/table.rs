//! The table of a store: key `k`, value `v`, and for names mode and time.

use model::KeyKind;

/// The differences in the language of a kind of server.
pub(crate) struct Grammar {
    /// The character that encloses a name.
    pub(crate) quote: char,
    /// The form of the `n`-th parameter of a statement, from 1 on.
    pub(crate) parameter: fn(n: usize) -> String,
    /// The text after a table's name that makes a server read it in the order of its keys.
    pub(crate) in_key_order: &'static str,
    /// The end of an insert that leaves an existing row as it is.
    pub(crate) or_nothing: &'static str,
    /// The end of an insert that replaces an existing row, before the columns.
    pub(crate) or_update: &'static str,
    /// The form of the value of a column that was to be inserted.
    pub(crate) new: fn(column: &str) -> String,
}

/// The columns for mode and time, in which a put may leave the old values.
const META: &[&str] = &["mode", "seconds", "nanoseconds"];

/// The indices into the statements of [`Grammar::statements`]. This one selects a value by its key.
pub(super) const GET: usize = 0;
/// The insert. Parameters: key, value, and for names mode, seconds and nanoseconds.
pub(super) const INSERT: usize = 1;
pub(super) const UPSERT: usize = 2;
/// The update. Parameters: value, for names mode, seconds and nanoseconds, and the key.
pub(super) const UPDATE: usize = 3;
pub(super) const DELETE: usize = 4;
/// The scan, which selects keys and values, and for names mode, seconds and nanoseconds.
/// Parameters: the first key and the most rows.
pub(super) const SCAN_FROM: usize = 5;
/// The same scan with keys and lengths.
pub(super) const LIST_FROM: usize = 6;

impl Grammar {
    pub(crate) fn quoted(&self, name: &str) -> String {
        let quote = self.quote;
        format!("{quote}{}{quote}", name.replace(quote, &format!("{quote}{quote}")))
    }

    /// Returns the statements on the table `name`.
    pub(super) fn statements(&self, name: &str, keys: KeyKind) -> [String; 7] {
        let Self { parameter, new, in_key_order, or_nothing, or_update, .. } = self;
        let meta = if keys == KeyKind::Names { META } else { &[] };
        // A column that a put leaves out keeps its old value.
        let kept = |value: &dyn Fn(usize, &str) -> (String, String)| -> String {
            let kept = (2..).zip(meta).map(|(n, column)| {
                let (new, old) = value(n, column);
                format!(", {column}=COALESCE({new}, {old})")
            });
            kept.collect()
        };
        let inserted = kept(&|_, column| (new(column), format!("{name}.{column}")));
        let updated = kept(&|n, column| (parameter(n), column.to_owned()));
        let columns = [&["k", "v"], meta].concat();
        let values: Vec<_> = (1..=columns.len()).map(parameter).collect();
        let (columns, values) = (columns.join(", "), values.join(", "));
        let put = format!("INSERT INTO {name} ({columns}) VALUES ({values})");
        let [first, second, last] = [1, 2, meta.len() + 2].map(parameter);
        let from = format!("{name}{in_key_order} WHERE k>={first} ORDER BY k LIMIT {second}");
        [
            format!("SELECT v FROM {name} WHERE k={first}"),
            format!("{put}{or_nothing}"),
            format!("{put}{or_update} v={}{inserted}", new("v")),
            format!("UPDATE {name} SET v={first}{updated} WHERE k={last}"),
            format!("DELETE FROM {name} WHERE k={first}"),
            format!("SELECT {columns} FROM {from}"),
            format!("SELECT k, OCTET_LENGTH(v) FROM {from}"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAMMAR: Grammar = Grammar {
        quote: '"',
        parameter: |n| format!("${n}"),
        in_key_order: "",
        or_nothing: " ON CONFLICT DO NOTHING",
        or_update: " ON CONFLICT(k) DO UPDATE SET",
        new: |column| format!("excluded.{column}"),
    };

    #[test]
    fn a_quote_in_a_name_is_doubled() {
        assert_eq!(GRAMMAR.quoted("a\"b"), "\"a\"\"b\"");
    }

    #[test]
    fn statements_of_names_keep_what_a_put_leaves_out() {
        let sql = GRAMMAR.statements("kv", KeyKind::Names);
        let insert =
            "INSERT INTO kv (k, v, mode, seconds, nanoseconds) VALUES ($1, $2, $3, $4, $5)";
        assert_eq!(sql[INSERT], format!("{insert} ON CONFLICT DO NOTHING"));
        assert_eq!(
            sql[UPSERT],
            format!(
                "{insert} ON CONFLICT(k) DO UPDATE SET v=excluded.v, \
                 mode=COALESCE(excluded.mode, kv.mode), \
                 seconds=COALESCE(excluded.seconds, kv.seconds), \
                 nanoseconds=COALESCE(excluded.nanoseconds, kv.nanoseconds)"
            )
        );
        assert_eq!(
            sql[UPDATE],
            "UPDATE kv SET v=$1, mode=COALESCE($2, mode), seconds=COALESCE($3, seconds), \
             nanoseconds=COALESCE($4, nanoseconds) WHERE k=$5"
        );
        assert_eq!(
            sql[SCAN_FROM],
            "SELECT k, v, mode, seconds, nanoseconds FROM kv WHERE k>=$1 ORDER BY k LIMIT $2"
        );
    }

    #[test]
    fn statements_of_integers_have_no_mode_and_time() {
        let sql = GRAMMAR.statements("kv", KeyKind::Integers);
        assert_eq!(sql[UPDATE], "UPDATE kv SET v=$1 WHERE k=$2");
        assert_eq!(sql[SCAN_FROM], "SELECT k, v FROM kv WHERE k>=$1 ORDER BY k LIMIT $2");
    }
}
