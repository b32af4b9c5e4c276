//! Markdown, as hosts of pull requests show it (GitHub Flavored Markdown, tables included).

mod comparison;
mod report;

pub use self::{comparison::comparison_markdown, report::report_markdown};
use crate::terminal::harmless;
use model::Severity;

/// `text` so that it is shown as it is: nothing in it is markup, a link, or the end of a cell.
fn shown(text: &str) -> String {
    let text = harmless(text);
    let mut rest = text.chars().peekable();
    let mut safe = String::new();
    while let Some(c) = rest.next() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // A name after it would be told, a number taken for an issue.
            '@' => safe.push_str("&#64;"),
            '#' => safe.push_str("&#35;"),
            // With it an address would become a link.
            ':' if rest.peek() == Some(&'/') => safe.push_str("&#58;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => safe.extend(['\\', c]),
            other => safe.push(other),
        }
    }
    safe
}

/// Columns and rows; all but the first and the last column hold figures.
struct Table(String);

impl Table {
    fn new(columns: &[&str]) -> Self {
        let sides = (0..columns.len()).map(|column| {
            let is_text = column == 0 || column + 1 == columns.len();
            if is_text { ":--" } else { "--:" }.to_owned()
        });
        let heads = columns.iter().map(|head| shown(head));
        Self(line(heads) + &line(sides))
    }

    fn row(&mut self, cells: &[String]) {
        self.0 += &line(cells.iter().map(|cell| shown(cell)));
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// A doubt, led by its weight.
fn weighed(severity: Severity, sentence: &str) -> String {
    match severity {
        Severity::Wrong => format!("wrong: {sentence}"),
        Severity::Warning => format!("warning: {sentence}"),
        Severity::Note => format!("note: {sentence}"),
    }
}

/// A list; a long one is folded.
fn list(title: &str, lines: &[String]) -> String {
    /// What is longer is seen when it is asked for.
    const LONG: usize = 8;
    if lines.is_empty() {
        return String::new();
    }
    let items: Vec<_> = lines.iter().map(|line| format!("- {}\n", shown(line))).collect();
    let items = items.concat();
    if lines.len() <= LONG {
        return format!("\n{}\n\n{items}", shown(title));
    }
    let title = shown(&format!("{title}: {}", lines.len()));
    format!("\n<details><summary>{title}</summary>\n\n{items}\n</details>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(shown("<b>a|b`*_"), "&lt;b&gt;a\\|b\\`\\*\\_");
        assert_eq!(shown("![x](http://y)"), "!\\[x\\](http&#58;//y)");
        assert_eq!(shown("@all #1\na\\|"), "&#64;all &#35;1\u{fffd}a\\\\\\|");
    }

    #[test]
    fn a_cell_ends_where_it_must() {
        let mut table = Table::new(&["target", "time", "verdict"]);
        table.row(&["a|b".to_owned(), "1".to_owned(), String::new()]);
        assert_eq!(table.0, "| target | time | verdict |\n| :-- | --: | :-- |\n| a\\|b | 1 |  |\n");
    }
}
