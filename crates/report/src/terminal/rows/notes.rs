//! What to know when reading the page.

use std::collections::BTreeMap;

use model::{PlannedTarget, Settings, Work, Workload, record::Record};

use crate::terminal::page::{Page, Paint};

/// How the published set-up differs from this one.
const PUBLISHED: [&str; 2] = [
    "published figures are of the machine and the versions above, in PHP, of MySQL over TCP; of SQLite \
     100,000 rows a transaction, of MySQL 30,000; sizes of MySQL are what it told of itself",
    "text is the published style: one SQL string a row, made and parsed for each; SQLite takes it by a \
     call, a server by a round trip over a socket. prepared leaves out the parsing, multi (1,000 rows \
     a statement) and bulk the round trips as well: what a ratio of text loses there is not the store's",
];

pub(super) fn print(page: &mut Page, record: &Record, published: bool, all: bool) {
    page.gap();
    if published {
        for note in PUBLISHED {
            page.paragraph("  ", note, Paint::Dim);
        }
    }
    let on_one = |(index, workload): (usize, &Workload)| {
        let measured = record.samples.iter().any(|sample| sample.workload == index);
        workload.processes > 1
            && matches!(workload.work, Work::Rows { own_databases: false, .. })
            && measured
    };
    if record.header.plan.workloads.iter().enumerate().any(on_one) {
        let shared = "on one database each process inserts rows of its own, but sums and changes \
                      those of all";
        page.paragraph("  ", shared, Paint::Dim);
    }
    settings(page, record, all);
}

/// Settings that stand in no label, once for all targets that have them alike.
pub(in crate::terminal) fn settings(page: &mut Page, record: &Record, all: bool) {
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for facts in &record.stores {
        if let Some(target) = record.header.plan.targets.get(facts.target) {
            let told = beyond(target, &facts.in_effect);
            alike
                .entry(format!("{told} durability={}", facts.durability))
                .or_default()
                .push(&target.label);
        }
    }
    for (settings, labels) in alike {
        let named = if all || labels.len() <= 3 {
            labels.join(", ")
        } else {
            format!("{}, {} and {} more", labels[0], labels[1], labels.len() - 2)
        };
        page.paragraph("  ", &format!("{named}: {}", settings.trim()), Paint::Dim);
    }
}

fn beyond(target: &PlannedTarget, in_effect: &Settings) -> String {
    let words: Vec<&str> = target.label.split([' ', '?', '&', ',']).collect();
    let settings = in_effect.0.iter().filter(|(name, _)| *name != "style");
    let settings = settings.map(|(name, value)| format!("{name}={value}"));
    settings.filter(|setting| !words.contains(&setting.as_str())).collect::<Vec<_>>().join(" ")
}
