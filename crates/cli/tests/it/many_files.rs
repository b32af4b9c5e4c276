//! Folders of more files than can be looked at in the time: what takes as long as there are files has a
//! limit, and a finding says so.

use std::fs;

use model::{FindingKind, record::Record};

use crate::world::World;

/// So many files that no machine looks at all of them in the shares of [`RUN`].
const FILES: u64 = 5_000;
/// Ends with its rounds: its time is only what shares are of.
const RUN: &str = "--read --rounds 2 --time 10ms --json r.json";

/// A folder `many`, each file of which takes a page.
fn made() -> World {
    let world = World::new();
    fs::create_dir(world.path("many")).unwrap();
    for number in 1..=FILES {
        fs::write(world.path(&format!("many/{number:06}")), [7; 100]).unwrap();
    }
    world
}

/// Returns what is found about the targets with these labels, or about the run, in this order.
fn found<T>(
    record: &Record,
    labels: &[Option<&str>],
    about: impl Fn(&FindingKind) -> Option<T>,
) -> Vec<T> {
    let own = |label: Option<&str>| {
        let findings = record.findings.iter().filter(move |one| one.target.as_deref() == label);
        findings.filter_map(|finding| about(&finding.kind)).collect::<Vec<_>>()
    };
    labels.iter().copied().flat_map(own).collect()
}

#[test]
fn some_files_are_examined_where_all_take_too_long() {
    let world = made();
    let labels = ["many", "many?write=overwrite"];
    world.ok(&format!("run {} {RUN}", labels.join(" ")));
    let record = world.record("r.json");
    let labels = labels.map(Some);
    let examined = found(&record, &labels, |kind| match kind {
        FindingKind::FilesNotExamined { examined, files: FILES } => Some(*examined),
        _ => None,
    });
    let drawn = record.header.plan.experiment.blobs().unwrap().drawn;
    assert!(drawn.is_some_and(|drawn| drawn > 0 && drawn < FILES), "{drawn:?}");
    assert_eq!(examined.iter().copied().map(Some).collect::<Vec<_>>(), [drawn, drawn]);
    assert_eq!(record.samples.len(), 4);
    let mut pages = record.samples.iter().filter_map(|sample| sample.before);
    assert!(pages.all(|before| Some(before.pages) == drawn), "those of the measured values");
    let estimated = found(&record, &labels, |kind| match kind {
        FindingKind::SpaceEstimated { files, all: FILES } => Some(*files < FILES),
        _ => None,
    });
    assert_eq!(estimated, [true, true]);
    let bytes = record.stores.iter().map(|facts| facts.apparent_bytes);
    assert_eq!(bytes.collect::<Vec<_>>(), [FILES * 100, FILES * 100]);
}

#[test]
fn stores_are_filled_with_all_though_the_lengths_of_some_values_are_known() {
    let world = made();
    world.ok(&format!("run many pack: {RUN}"));
    let record = world.record("r.json");
    let drawn = record.header.plan.experiment.blobs().unwrap().drawn;
    assert!(drawn.is_some_and(|drawn| drawn < FILES), "{drawn:?}");
    let pack = record.stores.iter().find(|facts| facts.fill_ns.is_some()).unwrap();
    assert!(pack.apparent_bytes >= FILES * 100, "{pack:?}");
}

#[test]
fn a_sample_may_be_of_one_value() {
    let world = made();
    for options in ["--sample 1", "--sample 2 --threads 3"] {
        let ran = world.run(&format!("run --data many sqlite: files: {options} --read --rounds 8"));
        assert_eq!(ran.code, Some(0), "{options}: {}", ran.err);
    }
}

#[test]
fn a_sample_is_one_of_the_values_whose_lengths_are_known() {
    let world = made();
    // Each run writes to a store of its own, filled with the same sample.
    let run = RUN.replace("--read --rounds 2", "--update --rounds 1");
    world.ok(&format!("run --data many files: --sample 50 --threads 1,2 --yes {run}"));
    let records = world.records("r.json");
    assert_eq!(records.len(), 2);
    for record in records {
        let said = found(&record, &[None], |kind| match kind {
            FindingKind::Sampled { count: 50, all: FILES, .. } => Some(50),
            FindingKind::LengthsDrawn { listed, keys: FILES } => Some(*listed),
            _ => None,
        });
        assert!(matches!(said[..], [50, 50..FILES]), "{said:?}");
        assert_eq!(record.header.plan.experiment.blobs().unwrap().summary.count, 50);
    }
}
