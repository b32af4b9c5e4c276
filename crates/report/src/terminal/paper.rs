//! Lines of a page, none wider than it, in colour if wanted.

use crate::{
    table::{Line, Tone},
    text::{harmless, width, wrap},
};

/// The parameter of ECMA-48's SGR sequence.
fn code(tone: Tone) -> Option<u8> {
    match tone {
        Tone::Plain => None,
        Tone::Bold => Some(1),
        Tone::Dim => Some(2),
        Tone::Bad => Some(31),
        Tone::Good => Some(32),
    }
}

/// A page as it grows.
pub(super) struct Paper {
    width: usize,
    color: bool,
    text: String,
}

impl Paper {
    pub(super) fn new(width: usize, color: bool) -> Self {
        Self { width, color, text: String::new() }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Separates what follows by a blank line.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    pub(super) fn title(&mut self, title: &str) {
        if !title.is_empty() {
            self.paragraph("", title, Tone::Bold);
        }
    }

    pub(super) fn sentence(&mut self, line: &Line) {
        self.paragraph(&line.lead, &line.text, line.tone);
    }

    /// A sentence after `lead`; if it takes several lines, they start below its beginning.
    pub(super) fn paragraph(&mut self, lead: &str, text: &str, tone: Tone) {
        let indent = width(lead);
        for (i, line) in wrap(&harmless(text), self.width - indent).iter().enumerate() {
            let before = if i == 0 { lead.to_owned() } else { " ".repeat(indent) };
            self.line([(before + line, tone)]);
        }
    }

    /// A line of pieces that fit.
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
        let code = code(tone).filter(|_| self.color && !text.trim().is_empty());
        let painted = code.map(|code| format!("\u{1b}[{code}m{text}\u{1b}[0m"));
        self.text.push_str(painted.as_deref().unwrap_or(text));
    }
}
