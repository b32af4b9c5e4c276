//! What targets are called in tables, and finding them by it.

use model::{Error, Result};

/// `label`, or where it is taken with the next number.
pub(super) fn unique<'a>(label: String, taken: impl Iterator<Item = &'a str>) -> String {
    let same = |other: &&str| {
        other.strip_prefix(&label).is_some_and(|rest| rest.is_empty() || rest.starts_with(" #"))
    };
    match taken.filter(same).count() {
        0 => label,
        n => format!("{label} #{}", n + 1),
    }
}

/// The index of the target that `--baseline` names: by its label, or by its number from 1.
pub(super) fn baseline<'a>(
    wanted: &str,
    labels: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize> {
    if let Some(index) = labels.clone().position(|label| label == wanted) {
        return Ok(index);
    }
    let count = labels.clone().count();
    match wanted.parse::<usize>() {
        Ok(number) if (1..=count).contains(&number) => Ok(number - 1),
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
        let index = |wanted| baseline(wanted, labels.into_iter());
        assert_eq!(index("y").unwrap(), 1);
        assert_eq!(index("1").unwrap(), 0);
        assert_eq!(index("2").unwrap(), 2, "a label before a number");
        for wrong in ["0", "4", "z", ""] {
            let said = index(wrong).unwrap_err().to_string();
            assert!(said.contains("accepted: x, y, 2, or 1 to 3"), "{said}");
        }
    }
}
