//! Prints a page for a person at a terminal.

mod bar;
mod paper;
mod table;

use std::collections::BTreeSet;

use model::Severity;

use self::paper::Paper;
use crate::{
    pages::Page,
    table::{Block, Line, Lines},
};

/// The narrowest layout of tables: narrower terminals wrap it; wider ones leave columns out.
const NARROWEST: usize = 60;
/// The narrowest layout of sentences.
const NARROWEST_PROSE: usize = 80;
/// The widest layout of sentences, however wide the terminal is.
const WIDEST_PROSE: usize = 100;

/// The way in which a terminal shows a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal. No line is wider, unless the terminal has fewer than 60 or, for
    /// pages of sentences, fewer than 80.
    pub width: u16,
    /// Whether it shows colours.
    pub color: bool,
    /// Whether it shows block characters; ratios then have bars.
    pub bars: bool,
}

impl Page {
    /// Formats the page for a terminal.
    #[must_use]
    pub fn terminal(&self, style: &Style) -> String {
        let width = usize::from(style.width);
        let width = if self.prose {
            width.clamp(NARROWEST_PROSE, WIDEST_PROSE)
        } else {
            width.max(NARROWEST)
        };
        let mut paper = Paper::new(width, style.color);
        let mut seen = BTreeSet::new();
        for block in &self.blocks {
            match block {
                Block::Table(table) => table::print(&mut paper, table, style.bars, &mut seen),
                Block::Lines(lines) => print_lines(&mut paper, lines),
                Block::Findings { findings, all } => print_findings(&mut paper, findings, *all),
            }
        }
        paper.text
    }
}

fn print_lines(paper: &mut Paper, block: &Lines) {
    if block.title.is_empty() && block.lines.is_empty() {
        return;
    }
    paper.gap();
    paper.title(&block.title);
    block.lines.iter().for_each(|line| paper.sentence(line));
}

/// The number of findings that are shown unless all are asked for.
const FEW: usize = 3;

fn print_findings(paper: &mut Paper, findings: &[(Severity, String)], all: bool) {
    if findings.is_empty() {
        return;
    }
    paper.gap();
    let shown = if all { findings.len() } else { findings.len().min(FEW) };
    for (severity, sentence) in &findings[..shown] {
        paper.sentence(&Line::finding(*severity, sentence));
    }
    let more = match findings.len() - shown {
        0 => return,
        1 => "and 1 finding more (-v shows all)".to_owned(),
        n => format!("and {n} findings more (-v shows all)"),
    };
    paper.sentence(&Line::dim(more));
}
