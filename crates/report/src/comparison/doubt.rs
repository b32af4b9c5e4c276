//! Doubts about two records that are compared.

use model::{Severity, record::Record};

use crate::{figures, remarks_of_all, terminal::remark_sentence};

/// A doubt, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedDoubt {
    /// How much it weighs.
    pub severity: Severity,
    /// Which record it is about.
    pub whose: Whose,
    /// What is doubted.
    pub sentence: String,
}

/// One of two records, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The old one.
    Old,
    /// The new one.
    New,
    /// The same is said of both.
    Both,
}

impl Whose {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
            Self::Both => "both",
        }
    }
}

/// All of them, the worst first.
pub(super) fn doubts(old: &[Record], new: &[Record]) -> Vec<ComparedDoubt> {
    let mut all = of(old, Whose::Old);
    for doubt in of(new, Whose::New) {
        match all.iter_mut().find(|other| other.sentence == doubt.sentence) {
            Some(other) => other.whose = Whose::Both,
            None => all.push(doubt),
        }
    }
    all.sort_by_key(|doubt| std::cmp::Reverse(doubt.severity));
    all
}

fn of(runs: &[Record], whose: Whose) -> Vec<ComparedDoubt> {
    let Some(first) = runs.first() else { return vec![] };
    let figures: Vec<_> = runs.iter().map(figures).collect();
    let remarks = remarks_of_all(runs, &figures);
    let doubt = |remark: &crate::Remark| ComparedDoubt {
        severity: remark.kind.severity(),
        whose,
        sentence: remark_sentence(&first.header.plan, remark),
    };
    remarks.iter().map(doubt).collect()
}
