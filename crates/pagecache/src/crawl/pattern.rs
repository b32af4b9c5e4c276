//! Patterns for names, as in a shell.

/// Returns whether `pattern` matches the whole of `name`: `*` matches any bytes, `?` one, `[a-z]`
/// and `[!a-z]` one of a set, and after `\` the next byte matches itself. A `[` without its end is
/// an ordinary byte.
pub(super) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // The position of the last `*`, and how far it reaches: only that one is ever extended, which keeps
    // the time at most quadratic.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(length) = element_length(&pattern[p..], name[n]) {
            p += length;
            n += 1;
        } else if let Some((at, reach)) = star {
            star = Some((at, reach + 1));
            (p, n) = (at + 1, reach + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Returns the length of the pattern's first element, if it matches `byte`.
fn element_length(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [b'[', set @ ..] => match set_end(set) {
            Some(end) => in_set(&set[..end], byte).then_some(end + 2),
            None => (byte == b'[').then_some(1),
        },
        [first, ..] => (*first == byte).then_some(1),
        [] => None,
    }
}

/// Returns where the set ends: at the first `]` that is not its first member.
fn set_end(set: &[u8]) -> Option<usize> {
    let members = usize::from(matches!(set.first(), Some(b'!' | b'^')));
    let rest = set.get(members + 1..)?;
    rest.iter().position(|byte| *byte == b']').map(|at| at + members + 1)
}

fn in_set(set: &[u8], byte: u8) -> bool {
    let (negated, mut left) = match set {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, set),
    };
    let mut found = false;
    while let [first, rest @ ..] = left {
        left = rest;
        let mut last = *first;
        if let [b'-', end, rest @ ..] = left {
            (last, left) = (*end, rest);
        }
        found |= (*first..=last).contains(&byte);
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("*.c", "a.c", true),
            ("*.c", "a.cc", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("?", "a", true),
            ("?", "", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            (".git", ".git", true),
            ("*.bak", ".bak", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]]", "]", true),
            ("[!]]", "a", true),
            ("[a-]", "-", true),
            ("[", "[", true),
            ("[ab", "[ab", true),
            (r"\*", "*", true),
            (r"\*", "a", false),
            (r"\", r"\", true),
            ("**a**", "bab", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_little_time() {
        let pattern = b"*a".repeat(1_000);
        assert!(!matches(&pattern, &b"a".repeat(999)));
        assert!(matches(&pattern, &b"a".repeat(1_000)));
    }
}
