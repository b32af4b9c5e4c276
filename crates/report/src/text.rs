//! Text measured in columns of a terminal.

use model::is_hostile;
use unicode_width::UnicodeWidthChar;

/// The character in place of what was cut out.
const ELLIPSIS: char = '…';

/// Removes from `text` what could move the cursor, turn the direction of writing or change the
/// width of other characters, because a record may come from anywhere.
pub(crate) fn harmless(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\u{fe0f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .map(
            |c| if c.width().is_some() && !is_hostile(c) { c } else { char::REPLACEMENT_CHARACTER },
        )
        .collect()
}

/// Returns the largest number of columns that [`harmless`] text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    c.width().unwrap_or(1)
}

/// Cuts `text` in the middle to at most `columns`: names often differ only at their ends.
pub(crate) fn elide(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let head = head(text, room.div_ceil(2));
    let reversed: String = text.chars().rev().collect();
    let tail: String = self::head(&reversed, room / 2).chars().rev().collect();
    format!("{head}{ELLIPSIS}{tail}")
}

/// Returns the longest prefix of `text` in at most `columns`.
fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += char_width(*c);
        used > columns
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// Breaks `text` into lines of at most `columns`, at spaces where possible.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ').flat_map(|word| pieces(word, columns)) {
        let fits = used + 1 + width(word) <= columns;
        if used > 0 && !fits {
            lines.push(String::new());
            used = 0;
        }
        let Some(line) = lines.last_mut() else { break };
        if used > 0 {
            line.push(' ');
        }
        line.push_str(word);
        used = width(line);
    }
    lines
}

/// Breaks a word into pieces of at most `columns`, or of one character.
fn pieces(word: &str, columns: usize) -> Vec<&str> {
    let mut rest = word;
    let mut pieces = vec![];
    while width(rest) > columns {
        let least = rest.chars().next().map_or(0, char::len_utf8);
        let (piece, tail) = rest.split_at(head(rest, columns).len().max(least));
        pieces.push(piece);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_ends_of_a_name_remain() {
        assert_eq!(elide("sqlite page_size=4096", 13), "sqlite…e=4096");
        assert_eq!(elide("sqlite", 6), "sqlite");
        assert_eq!(elide("数据库数据库", 8), "数据…库");
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("same within ±3 %", 11), ["same within", "±3 %"]);
        assert_eq!(wrap("a abcdefgh b", 4), ["a", "abcd", "efgh", "b"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn what_moves_the_cursor_is_replaced() {
        assert_eq!(harmless("a\u{1b}[2J\nb\u{202e}"), "a\u{fffd}[2J\u{fffd}b");
    }

    proptest! {
        #[test]
        fn columns_are_kept(text in "\\PC*", columns in 2_usize..40) {
            let text = harmless(&text);
            prop_assert!(width(&elide(&text, columns)) <= columns);
            prop_assert!(wrap(&text, columns).iter().all(|line| width(line) <= columns));
        }
    }
}
