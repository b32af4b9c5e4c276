//! Names of targets in tables, and finding targets by them.

use model::{Error, Result};

/// `label`, or with the next number if it is taken.
pub(super) fn unique<'a>(label: String, taken: impl Iterator<Item = &'a str>) -> String {
    let same = |other: &&str| {
        other.strip_prefix(&label).is_some_and(|rest| rest.is_empty() || rest.starts_with(" #"))
    };
    match taken.filter(same).count() {
        0 => label,
        n => format!("{label} #{}", n + 1),
    }
}

/// The index of the target that `--baseline` names: by its label, or by its number from 1; else
/// that of the target labelled `default`, or the first.
pub(super) fn baseline<'a>(
    wanted: Option<String>,
    default: Option<&str>,
    labels: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize> {
    let place = |wanted: &str| labels.clone().position(|label| label == wanted);
    let Some(wanted) = wanted else { return Ok(default.and_then(place).unwrap_or(0)) };
    let count = labels.clone().count();
    match (place(&wanted), wanted.parse::<usize>()) {
        (Some(index), _) => Ok(index),
        (None, Ok(number)) if (1..=count).contains(&number) => Ok(number - 1),
        _ => Err(Error::usage(format!(
            "--baseline {wanted}: no such target (accepted: {}, or 1 to {count})",
            labels.collect::<Vec<_>>().join(", "),
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_target_again_gets_a_number() {
        let mut labels: Vec<String> = Vec::new();
        for label in ["a", "a", "b", "a", "ab"] {
            let label = unique(label.to_owned(), labels.iter().map(String::as_str));
            labels.push(label);
        }
        assert_eq!(labels, ["a", "a #2", "b", "a #3", "ab"]);
    }

    #[test]
    fn a_baseline_is_named_or_numbered() {
        let labels = ["x", "y", "2"];
        let index = |wanted: &str| baseline(Some(wanted.to_owned()), None, labels.into_iter());
        assert_eq!(index("y").unwrap(), 1);
        assert_eq!(index("1").unwrap(), 0);
        assert_eq!(index("2").unwrap(), 2, "a label before a number");
        for wrong in ["0", "4", "z", ""] {
            let said = index(wrong).unwrap_err().to_string();
            assert!(said.contains("accepted: x, y, 2, or 1 to 3"), "{said}");
        }
        let default = |label| baseline(None, Some(label), labels.into_iter()).unwrap();
        assert_eq!((default("2"), default("z")), (2, 0));
    }
}
