//! Names of tables as a user writes them: `photos`, `app.photos`, `app."my.photos"`.

use std::fmt;

/// The name of a table, and of its schema if it needs one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableName {
    pub(crate) schema: Option<String>,
    pub(crate) table: String,
}

impl TableName {
    /// Reads a name. A dot in double quotes or backticks separates nothing.
    pub(crate) fn parse(text: &str) -> Self {
        let mut parts = vec![String::new()];
        let (mut quote, mut chars) = (None, text.chars().peekable());
        while let Some(c) = chars.next() {
            let last = parts.last_mut().expect("there is one part at least");
            match quote {
                // A quote that is written twice is one.
                Some(q) if c == q && chars.next_if_eq(&q).is_some() => last.push(q),
                Some(q) if c == q => quote = None,
                None if matches!(c, '"' | '`') => quote = Some(c),
                None if c == '.' => parts.push(String::new()),
                _ => last.push(c),
            }
        }
        let table = parts.pop().unwrap_or_default();
        Self { schema: (!parts.is_empty()).then(|| parts.join(".")), table }
    }

    /// Returns whether this is the name of `other`, whose letters may differ in case.
    pub(super) fn is(&self, other: &Self, schema: &str) -> bool {
        let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        same(&self.table, &other.table)
            && self.schema.as_ref().map_or(other.schema.is_none(), |own| same(own, schema))
    }
}

/// Shows the name so that [`TableName::parse`] reads it.
impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| {
            let is_plain = !text.contains(['.', '"', '`']);
            if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
        };
        if let Some(schema) = &self.schema {
            write!(f, "{}.", quoted(schema))?;
        }
        f.write_str(&quoted(&self.table))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_dot_separates_unless_it_is_quoted() {
        for (text, schema, table) in [
            ("photos", None, "photos"),
            ("app.photos", Some("app"), "photos"),
            ("app.\"my.photos\"", Some("app"), "my.photos"),
            ("`a``b`", None, "a`b"),
        ] {
            let name = TableName { schema: schema.map(str::to_owned), table: table.to_owned() };
            assert_eq!(TableName::parse(text), name);
        }
    }

    proptest! {
        #[test]
        fn a_name_is_read_as_it_is_shown(schema in "[a.\"`]{1,4}", table in "[a.\"`]{1,4}") {
            for schema in [None, Some(schema)] {
                let name = TableName { schema, table: table.clone() };
                prop_assert_eq!(TableName::parse(&name.to_string()), name);
            }
        }
    }
}
