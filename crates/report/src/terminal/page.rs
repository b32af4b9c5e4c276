//! Lines of a page, none wider than it, in colour where wanted.

use super::text::{harmless, width, wrap};

/// How a piece of text stands out. Colour is never the only bearer of a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Paint {
    #[default]
    Plain,
    Bold,
    Dim,
    Green,
    Red,
}

impl Paint {
    /// The parameter of ECMA-48's SGR sequence.
    fn code(self) -> Option<u8> {
        match self {
            Self::Plain => None,
            Self::Bold => Some(1),
            Self::Dim => Some(2),
            Self::Red => Some(31),
            Self::Green => Some(32),
        }
    }
}

/// A page as it grows.
pub(super) struct Page {
    width: usize,
    color: bool,
    bars: bool,
    text: String,
}

impl Page {
    pub(super) fn new(width: usize, color: bool) -> Self {
        Self { width, color, bars: false, text: String::new() }
    }

    /// The same with bars beside ratios, if `bars`.
    pub(super) fn with_bars(mut self, bars: bool) -> Self {
        self.bars = bars;
        self
    }

    pub(super) fn bars(&self) -> bool {
        self.bars
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// A blank line between what stands above and what follows.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// A sentence led by `lead`; where it takes several lines, they stand below its beginning.
    pub(super) fn paragraph(&mut self, lead: &str, text: &str, paint: Paint) {
        let indent = width(lead);
        for (i, line) in wrap(&harmless(text), self.width - indent).iter().enumerate() {
            let before = if i == 0 { lead.to_owned() } else { " ".repeat(indent) };
            self.line([(before + line, paint)]);
        }
    }

    /// A line of painted pieces that fit.
    pub(super) fn line(&mut self, pieces: impl IntoIterator<Item = (String, Paint)>) {
        let start = self.text.len();
        for (piece, paint) in pieces {
            self.piece(&piece, paint);
        }
        let end = start + self.text[start..].trim_end().len();
        self.text.truncate(end);
        self.text.push('\n');
    }

    fn piece(&mut self, text: &str, paint: Paint) {
        let code = paint.code().filter(|_| self.color && !text.trim().is_empty());
        let painted = code.map(|code| format!("\u{1b}[{code}m{text}\u{1b}[0m"));
        self.text.push_str(painted.as_deref().unwrap_or(text));
    }
}
