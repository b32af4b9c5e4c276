//! Settings in effect, a paragraph for each target that has more than its label shows.

use model::{Settings, record::Record};

use super::page::{Page, Paint};
use crate::StoreFigures;

pub(super) fn print(page: &mut Page, record: &Record, stores: &[StoreFigures]) {
    let targets = stores.iter().zip(&record.header.plan.targets);
    let said: Vec<String> =
        targets.filter_map(|(store, target)| beyond(&target.label, &store.in_effect)).collect();
    if said.is_empty() {
        return;
    }
    page.gap();
    page.paragraph("", "settings in effect", Paint::Bold);
    for line in said {
        page.paragraph("  ", &line, Paint::Dim);
    }
}

/// `sqlite: journal=delete sync=full`, without what the label says already.
fn beyond(label: &str, in_effect: &Settings) -> Option<String> {
    let words: Vec<&str> = label.split([' ', '?', '&', ',']).collect();
    let rest: Vec<String> = in_effect
        .0
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .filter(|setting| !words.contains(&setting.as_str()))
        .collect();
    (!rest.is_empty()).then(|| format!("{label}: {}", rest.join(" ")))
}
