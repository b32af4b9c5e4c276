//! Prints a page as Markdown, as hosts of pull requests show it (GitHub Flavored Markdown, tables
//! included).

use std::collections::BTreeSet;

use itertools::Itertools;
use model::Severity;

use crate::{
    pages::Page,
    table::{Block, Lines, Table},
    tables,
    text::harmless,
    words::joined,
};

impl Page {
    /// Formats the page as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut seen = BTreeSet::new();
        let titled =
            |block: &Block| matches!(block, Block::Lines(lines) if !lines.title.is_empty());
        let head = self.blocks.iter().position(titled);
        let blocks = self.blocks.iter().enumerate().map(|(place, block)| match block {
            Block::Table(table) => self::table(table, &mut seen),
            Block::Lines(block) => lines(block, Some(place) == head),
            Block::Findings { findings, .. } => {
                list("Findings", &findings.iter().map(weighed).collect::<Vec<_>>())
            }
        });
        joined(blocks, "\n").unwrap_or_default()
    }
}

/// Escapes `text` so that it is shown as it is: nothing in it is markup, a link, or the end of a
/// cell.
fn shown(text: &str) -> String {
    let text = harmless(text);
    let mut rest = text.chars().peekable();
    let mut safe = String::new();
    while let Some(c) = rest.next() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // A name after it would be notified, a number taken for an issue.
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

/// Formats a title, in bold up to its first colon.
fn title(title: &str) -> String {
    match title.split_once(": ") {
        _ if title.is_empty() => String::new(),
        Some((name, rest)) => format!("**{}**: {}\n\n", shown(name), shown(rest)),
        None => format!("**{}**\n\n", shown(title)),
    }
}

fn table(table: &Table, seen: &mut BTreeSet<&'static str>) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let table = &table.scaled(true);
    let columns = || table.printed().map(|(_, column)| column);
    let heads = columns().map(|column| {
        let words = joined([column.head.to_string(), column.unit.to_string()], " ");
        shown(&words.unwrap_or_default())
    });
    let sides = columns().map(|column| if column.number { "--:" } else { ":--" });
    let rows = table
        .rows
        .iter()
        .map(|row| line(table.printed().map(|(place, _)| shown(&row[place].text(true)))));
    let meaning = tables::legend(columns(), seen);
    let notes = meaning
        .iter()
        .chain(&table.legend)
        .chain(&table.notes)
        .map(|note| format!("\n{}\n", shown(note)));
    let title = title(&table.title);
    let (heads, sides) = (line(heads), line(sides.map(str::to_owned)));
    [title, heads, sides].into_iter().chain(rows).chain(notes).collect()
}

fn line(mut cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Formats lines as paragraphs, under a heading if the page is about them; otherwise as a list.
fn lines(block: &Lines, head: bool) -> String {
    let texts = block.lines.iter().map(|line| format!("{}{}", line.lead.trim_start(), line.text));
    let texts: Vec<_> = texts.collect();
    if !head && !block.title.is_empty() {
        return if texts.is_empty() { title(&block.title) } else { list(&block.title, &texts) };
    }
    let heading = (!block.title.is_empty()).then(|| format!("### {}", shown(&block.title)));
    let paragraphs = heading.into_iter().chain(texts.iter().map(|text| shown(text)));
    joined(paragraphs, "\n\n").map_or_else(String::new, |text| text + "\n")
}

/// Puts the severity before a finding.
fn weighed((severity, sentence): &(Severity, String)) -> String {
    let weight = match severity {
        Severity::Wrong => "wrong",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    format!("{weight}: {sentence}")
}

/// Formats a list, folded if it is long.
fn list(title: &str, lines: &[String]) -> String {
    /// The longest list that is shown unfolded.
    const LONG: usize = 8;
    if lines.is_empty() {
        return String::new();
    }
    let items = lines.iter().map(|line| format!("- {}\n", shown(line))).join("");
    if lines.len() <= LONG {
        return format!("{}\n\n{items}", shown(title));
    }
    let title = shown(&format!("{title}: {}", lines.len()));
    format!("<details><summary>{title}</summary>\n\n{items}\n</details>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(shown("<b>a|b`*_"), "&lt;b&gt;a\\|b\\`\\*\\_");
        assert_eq!(shown("![x](http://y)"), "!\\[x\\](http&#58;//y)");
        assert_eq!(shown("@all #1\na\\|"), "&#64;all &#35;1\u{fffd}a\\\\\\|");
    }

    #[test]
    fn a_cell_ends_where_it_must() {
        let rows = Table::for_rows("read, warm: all", &[1.0])
            .with(Column::text("target"), |_| "a|b")
            .with(Column::number("time", "µs"), |time| *time)
            .with(Column::text("verdict"), |_| "");
        assert_eq!(
            table(&rows.into_table(), &mut BTreeSet::new()),
            "**read, warm**: all\n\n| target | time µs | verdict |\n| :-- | --: | :-- |\n| a\\|b | 1.00 |  |\n"
        );
    }
}
