//! What a statement does, apart from the texts, names and comments in it.

/// Returns a statement in small letters in which each text and each quoted name is an apostrophe, and each comment
/// a blank.
pub fn strip(sql: &str) -> String {
    let (mut code, mut rest) = (String::new(), sql);
    while let Some(at) = rest.find(['\'', '"', '`', '-', '/']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let (start, end, shown) = match rest.as_bytes() {
            [b'-', b'-', ..] => (2, "\n", " "),
            [b'/', b'*', ..] => (2, "*/", " "),
            [b'-' | b'/', ..] => (1, "", &rest[..1]),
            _ => (1, &rest[..1], "'"),
        };
        code.push_str(shown);
        let length = rest[start..].find(end).map(|found| start + found + end.len());
        rest = &rest[length.unwrap_or(rest.len())..];
    }
    code.push_str(rest);
    code.to_lowercase()
}

/// Returns the words of stripped code, each with what follows it. A name with that of its schema is one word.
pub fn words(code: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |of: char| of.is_alphanumeric() || ['_', '.'].contains(&of);
    let mut rest = code;
    std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        let word = &rest[start..];
        let end = word.find(|of| !is_part(of)).unwrap_or(word.len());
        rest = &word[end..];
        Some((&word[..end], rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_names_and_comments_are_no_code() {
        for (sql, code) in [
            ("A = 'it''s (1)' -- now()\nAND b", "a = ''  and b"),
            ("\"Check (\" /* x */ - 1 / `y`", "'   - 1 / '"),
            ("random/**/()", "random ()"),
            ("open 'to the end", "open '"),
        ] {
            assert_eq!(strip(sql), code);
        }
        let found: Vec<_> = words("a_1(b.c) d").collect();
        assert_eq!(found, [("a_1", "(b.c) d"), ("b.c", ") d"), ("d", "")]);
    }
}
