//! The table of a store: key `k`, value `v`, and for names mode and time.

use model::KeyKind;

/// How the language of a kind of server differs from another's.
pub(crate) struct Grammar {
    /// What encloses a name.
    pub(crate) quote: char,
    /// The `n`-th parameter of a statement, from 1 on.
    pub(crate) parameter: fn(n: usize) -> String,
    /// What makes a server read a table in the order of its keys, after the table's name.
    pub(crate) in_key_order: &'static str,
    /// The end of an insert that leaves an existing row as it is.
    pub(crate) or_nothing: &'static str,
    /// The end of an insert that replaces an existing row, before the columns.
    pub(crate) or_update: &'static str,
    /// The value of a column that was to be inserted.
    pub(crate) new: fn(column: &str) -> String,
}

impl Grammar {
    pub(crate) fn quoted(&self, name: &str) -> String {
        let quote = self.quote;
        format!("{quote}{}{quote}", name.replace(quote, &format!("{quote}{quote}")))
    }
}

/// A table, and the statements on it. `F` is what was fixed when it was made.
#[derive(Clone, Debug)]
pub(crate) struct Table<F> {
    /// As statements write it.
    pub(crate) name: String,
    pub(crate) keys: KeyKind,
    pub(crate) form: F,
}

/// Columns for mode and time, of which a put may leave the old values.
const META: [&str; 3] = ["mode", "seconds", "nanoseconds"];

impl<F> Table<F> {
    fn meta(&self) -> &'static [&'static str] {
        if self.keys == KeyKind::Names { &META } else { &[] }
    }

    pub(crate) fn get(&self, grammar: &Grammar) -> String {
        format!("SELECT v FROM {} WHERE k={}", self.name, (grammar.parameter)(1))
    }

    /// Parameters: key, value, and for names mode, seconds and nanoseconds.
    fn put(&self, grammar: &Grammar) -> String {
        let columns = [&["k", "v"], self.meta()].concat();
        let values: Vec<_> = (1..=columns.len()).map(grammar.parameter).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", self.name, columns.join(", "), values.join(", "))
    }

    pub(crate) fn insert(&self, grammar: &Grammar) -> String {
        format!("{}{}", self.put(grammar), grammar.or_nothing)
    }

    pub(crate) fn upsert(&self, grammar: &Grammar) -> String {
        let kept = |column: &&str| {
            let new = (grammar.new)(column);
            format!(", {column}=COALESCE({new}, {}.{column})", self.name)
        };
        let meta: String = self.meta().iter().map(kept).collect();
        let value = (grammar.new)("v");
        format!("{}{} v={value}{meta}", self.put(grammar), grammar.or_update)
    }

    /// Parameters: value, for names mode, seconds and nanoseconds, and the key.
    pub(crate) fn update(&self, grammar: &Grammar) -> String {
        let parameter = grammar.parameter;
        let kept = |(n, column): (usize, &&str)| {
            format!(", {column}=COALESCE({}, {column})", parameter(n))
        };
        let meta: String = (2..).zip(self.meta()).map(kept).collect();
        let key = parameter(self.meta().len() + 2);
        format!("UPDATE {} SET v={}{meta} WHERE k={key}", self.name, parameter(1))
    }

    pub(crate) fn delete(&self, grammar: &Grammar) -> String {
        format!("DELETE FROM {} WHERE k={}", self.name, (grammar.parameter)(1))
    }

    /// Columns: key and length.
    pub(crate) fn list(&self, grammar: &Grammar) -> String {
        format!("SELECT k, OCTET_LENGTH(v) FROM {}{} ORDER BY k", self.name, grammar.in_key_order)
    }

    /// Columns: key, value, and for names mode, seconds and nanoseconds.
    pub(crate) fn scan(&self, grammar: &Grammar) -> String {
        self.select("", grammar)
    }

    /// The same from a key on; parameters: the key and the most rows.
    pub(crate) fn scan_from(&self, grammar: &Grammar) -> String {
        let [from, most] = [1, 2].map(grammar.parameter);
        format!("{} LIMIT {most}", self.select(&format!(" WHERE k>={from}"), grammar))
    }

    fn select(&self, which: &str, grammar: &Grammar) -> String {
        let columns = [&["k", "v"], self.meta()].concat().join(", ");
        format!("SELECT {columns} FROM {}{}{which} ORDER BY k", self.name, grammar.in_key_order)
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
        let table = Table { name: "kv".to_owned(), keys: KeyKind::Names, form: () };
        let insert =
            "INSERT INTO kv (k, v, mode, seconds, nanoseconds) VALUES ($1, $2, $3, $4, $5)";
        assert_eq!(table.insert(&GRAMMAR), format!("{insert} ON CONFLICT DO NOTHING"));
        assert_eq!(
            table.upsert(&GRAMMAR),
            format!(
                "{insert} ON CONFLICT(k) DO UPDATE SET v=excluded.v, \
                 mode=COALESCE(excluded.mode, kv.mode), \
                 seconds=COALESCE(excluded.seconds, kv.seconds), \
                 nanoseconds=COALESCE(excluded.nanoseconds, kv.nanoseconds)"
            )
        );
        assert_eq!(
            table.update(&GRAMMAR),
            "UPDATE kv SET v=$1, mode=COALESCE($2, mode), seconds=COALESCE($3, seconds), \
             nanoseconds=COALESCE($4, nanoseconds) WHERE k=$5"
        );
    }

    #[test]
    fn statements_of_integers_have_no_mode_and_time() {
        let table = Table { name: "kv".to_owned(), keys: KeyKind::Integers, form: () };
        assert_eq!(table.update(&GRAMMAR), "UPDATE kv SET v=$1 WHERE k=$2");
        assert_eq!(
            table.scan_from(&GRAMMAR),
            "SELECT k, v FROM kv WHERE k>=$1 ORDER BY k LIMIT $2"
        );
    }
}
