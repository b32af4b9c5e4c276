//! Text from outside (a name, a path, a label) as people see it: it must neither command a terminal
//! nor look like text that storemark wrote.

use std::fmt::{self, Write};

/// Returns whether a terminal obeys `c` instead of showing it: control characters, ends of lines,
/// characters that turn the direction of writing or join others, and characters without width.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns `text` with each character that [`is_hostile`] replaced, for a line that may contain any
/// text.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_hostile(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A name of any bytes, for display. A plain name is shown as it is, any other one in quotes with
/// escapes, so that no two names look the same and none looks like several.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        match str::from_utf8(name) {
            Ok(text) if is_plain(text) => return f.write_str(text),
            _ => f.write_char('"')?,
        }
        for chunk in name.utf8_chunks() {
            chunk.valid().chars().try_for_each(|c| escape(c, f))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        f.write_char('"')
    }
}

/// Returns whether a name is distinct from what is around it in a list.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.trim() == name
        && !name.contains(", ")
        && !name.ends_with(',')
        && !name.contains(['"', '\\'])
        && !name.contains(is_hostile)
}

fn escape(c: char, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match c {
        '"' | '\\' => write!(f, "\\{c}"),
        '\n' => f.write_str("\\n"),
        '\t' => f.write_str("\\t"),
        c if is_hostile(c) => write!(f, "{}", c.escape_unicode()),
        c => f.write_char(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(name: impl AsRef<[u8]>) -> String {
        Shown(name.as_ref()).to_string()
    }

    #[test]
    fn a_plain_name_is_shown_as_it_is() {
        for name in ["a", "a b", "grüße/日本", "000001", "a-b_c.d"] {
            assert_eq!(shown(name), name);
        }
    }

    #[test]
    fn any_other_name_is_quoted() {
        for (name, says) in [
            (&b""[..], r#""""#),
            (b"a\nsame: 2 values", r#""a\nsame: 2 values""#),
            (b"a, b", r#""a, b""#),
            ("x\u{202e}y".as_bytes(), r#""x\u{202e}y""#),
            (b"gr\xfc\xdfe", r#""gr\xfc\xdfe""#),
            (b"\x1b[2J", r#""\u{1b}[2J""#),
            (br#"a\xfc"b"#, r#""a\\xfc\"b""#),
        ] {
            assert_eq!(shown(name), says);
        }
    }

    proptest! {
        #[test]
        fn no_two_names_look_the_same_and_none_commands_a_terminal(
            a in proptest::collection::vec(any::<u8>(), 0..8),
            b in proptest::collection::vec(any::<u8>(), 0..8),
        ) {
            prop_assert_eq!(shown(&a) == shown(&b), a == b);
            prop_assert!(!shown(&a).contains(is_hostile));
        }

        #[test]
        fn text_is_harmless_at_once(text in ".*") {
            let once = harmless(&text);
            prop_assert!(!once.contains(is_hostile));
            prop_assert_eq!(harmless(&once), once);
        }
    }
}
