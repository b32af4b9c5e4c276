//! What is in a cell.

use crate::text::harmless;

/// A number, or text that no program takes for a formula. Empty: not known.
#[derive(Debug, Default, PartialEq)]
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
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Empty for what is not finite.
impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self(if number.is_finite() { number.to_string() } else { String::new() })
    }
}

macro_rules! from_plain {
    ($($plain:ty),*) => {
        $(impl From<$plain> for Cell {
            fn from(plain: $plain) -> Self {
                Self(plain.to_string())
            }
        })*
    };
}
from_plain!(bool, u32, u64, usize);

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map(Into::into).unwrap_or_default()
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
        assert_eq!(Cell::from(-0.5).0, "-0.5");
        assert_eq!(Cell::from(None::<u64>).0, "");
    }
}
