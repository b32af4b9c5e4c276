//! What stands in a cell.

use std::fmt::Display;

use crate::text::harmless;

/// A number, or text that no program takes for a formula.
#[derive(Debug, PartialEq)]
pub(super) struct Cell(pub(super) String);

/// With these a spreadsheet takes text for a formula (OWASP, "CSV Injection").
const OF_FORMULAS: [char; 4] = ['=', '+', '-', '@'];

impl Cell {
    /// An apostrophe before a formula makes it text; control characters are replaced.
    pub(super) fn text(text: &str) -> Self {
        let text = harmless(text);
        let first = text.trim_start().chars().next();
        let formula = first.is_some_and(|first| OF_FORMULAS.contains(&first));
        Self(if formula { format!("'{text}") } else { text })
    }

    pub(super) fn number(number: impl Display) -> Self {
        Self(number.to_string())
    }

    /// Empty where there is none.
    pub(super) fn maybe(number: Option<impl Display>) -> Self {
        number.map_or_else(|| Self(String::new()), Self::number)
    }

    /// `true` or `false`.
    pub(super) fn truth(holds: bool) -> Self {
        Self(holds.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\u{a0}=1"] {
            assert!(Cell::text(formula).0.starts_with('\''), "{formula}");
        }
        for control in ["\t=1", "\r=1", "a\nb"] {
            assert!(!Cell::text(control).0.contains(['\t', '\r', '\n']), "{control:?}");
        }
        assert_eq!(Cell::text("sqlite api=blob").0, "sqlite api=blob");
        assert_eq!(Cell::number(-0.5).0, "-0.5");
        assert_eq!(Cell::maybe(None::<u64>).0, "");
    }
}
