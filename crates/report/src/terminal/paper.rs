//! Lines of a page, none wider than it, in colour if wanted.

use crate::{
    table::{Line, Tone},
    text::{harmless, width, wrap},
};

pub(super) struct Paper {
    pub(super) width: usize,
    color: bool,
    pub(super) text: String,
}

impl Paper {
    pub(super) fn new(width: usize, color: bool) -> Self {
        Self { width, color, text: String::new() }
    }

    /// Adds a blank line before what follows.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    pub(super) fn title(&mut self, title: &str) {
        if !title.is_empty() {
            self.sentence(&Line::new("", title).tone(Tone::Bold));
        }
    }

    /// Prints a sentence. If it takes several lines, they are aligned to the start of its text.
    pub(super) fn sentence(&mut self, Line { lead, text, tone }: &Line) {
        let indent = width(lead);
        for (i, line) in wrap(&harmless(text), self.width - indent).iter().enumerate() {
            let before = if i == 0 { lead.to_string() } else { " ".repeat(indent) };
            self.line([(before + line, *tone)]);
        }
    }

    pub(super) fn line(&mut self, pieces: impl IntoIterator<Item = (String, Tone)>) {
        let start = self.text.len();
        for (piece, tone) in pieces {
            self.piece(&piece, tone);
        }
        let end = start + self.text[start..].trim_end().len();
        self.text.truncate(end);
        self.text.push('\n');
    }

    fn piece(&mut self, text: &str, tone: Tone) {
        // The parameters of ECMA-48's SGR sequence.
        let code = match tone {
            _ if !self.color || text.trim().is_empty() => 0,
            Tone::Plain => 0,
            Tone::Bold => 1,
            Tone::Dim => 2,
            Tone::Bad => 31,
            Tone::Good => 32,
        };
        let painted = format!("\u{1b}[{code}m{text}\u{1b}[0m");
        self.text.push_str(if code == 0 { text } else { &painted });
    }
}
