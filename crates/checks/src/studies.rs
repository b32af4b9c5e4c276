//! The published experiments, as files built into the program.

use std::sync::LazyLock;

use model::{Error, Result, no_such};
use spec::{
    TaskLoad,
    study::{Published, RowFigures, RowLoad, Study, TaskFigures},
};

/// The names and texts of the studies, in the order in which they are listed.
const STUDIES: [(&str, &str); 18] = [
    ("faster-than-fs", include_str!("../studies/faster-than-fs.toml")),
    ("page-cache", include_str!("../studies/page-cache.toml")),
    ("mass-inserts", include_str!("../studies/mass-inserts.toml")),
    ("task-queue", include_str!("../studies/task-queue.toml")),
    ("internal-or-external", include_str!("../studies/internal-or-external.toml")),
    ("to-blob-or-not", include_str!("../studies/to-blob-or-not.toml")),
    ("hashbackup", include_str!("../studies/hashbackup.toml")),
    ("on-access-scan", include_str!("../studies/on-access-scan.toml")),
    ("small-records", include_str!("../studies/small-records.toml")),
    ("sqlite-options", include_str!("../studies/sqlite-options.toml")),
    ("sqlite-versions", include_str!("../studies/sqlite-versions.toml")),
    ("tar-shards", include_str!("../studies/tar-shards.toml")),
    ("readers-writers", include_str!("../studies/readers-writers.toml")),
    ("read-while-writing", include_str!("../studies/read-while-writing.toml")),
    ("leveldb", include_str!("../studies/leveldb.toml")),
    ("redb", include_str!("../studies/redb.toml")),
    ("seaweedfs", include_str!("../studies/seaweedfs.toml")),
    ("crash-consistency", include_str!("../studies/crash-consistency.toml")),
];

/// Returns all studies with their names.
pub fn all_studies() -> &'static [(&'static str, Study)] {
    static ALL: LazyLock<Vec<(&str, Study)>> = LazyLock::new(|| {
        let parse = |text| Study::parse(text).expect("a test parses every study");
        STUDIES.iter().map(|(name, text)| (*name, parse(text))).collect()
    });
    &ALL
}

/// Returns the study called `name`.
///
/// # Errors
///
/// Fails if there is none, and names the similar ones.
pub fn find(name: &str) -> Result<&'static Study> {
    all_studies().iter().find(|(own, _)| *own == name).map(|(_, study)| study).ok_or_else(|| {
        let names = STUDIES.map(|(name, _)| name);
        Error::usage(no_such("study", name, names))
    })
}

/// Returns the published figures of rows.
pub fn rows() -> &'static Published<RowLoad, RowFigures> {
    all_studies().iter().find_map(|(_, study)| study.rows.as_ref()).expect("mass-inserts has them")
}

/// Returns the published figures of tasks.
pub fn tasks() -> &'static Published<TaskLoad, TaskFigures> {
    all_studies().iter().find_map(|(_, study)| study.tasks.as_ref()).expect("task-queue has them")
}

#[cfg(test)]
mod tests {
    use spec::Options;

    use super::*;

    #[test]
    fn every_step_of_every_study_is_a_run() {
        let steps = all_studies()
            .iter()
            .flat_map(|(name, study)| study.steps.iter().map(move |s| (name, s)));
        // The command line has the options of `crash`; a test of it reads those steps.
        for (name, step) in steps.filter(|(_, step)| !step.cuts_power()) {
            for changes in [&step.quick, &step.full, &Options::new()] {
                let checked = step.spec(changes).and_then(|spec| spec.check());
                assert!(checked.is_ok(), "{name}: {}: {checked:?}", step.title);
            }
        }
    }

    #[test]
    fn figures_of_rows_are_those_of_the_source() {
        let figures = &rows().figures;
        assert_eq!(rows().work.rows, 200_000);
        let of = |processes: u32| figures.iter().filter(|row| row.processes == processes).count();
        assert_eq!((of(1), of(2), of(4), figures.len()), (21, 12, 12, 45));
        let sum: f64 = figures.iter().filter_map(|row| row.insert).sum();
        // Added up from the text of the source.
        assert!((sum - 1_308.05).abs() < 0.005, "{sum}");
        let row = figures.iter().find(|row| row.name == "MySQL (InnoDB)").unwrap();
        let found = (row.insert, row.sum, row.update, row.size);
        assert_eq!(found, (Some(27.72), Some(0.31), Some(5.65), Some(7.52)));
    }

    #[test]
    fn figures_of_tasks_have_the_ratios_of_the_source() {
        let figures = &tasks().figures;
        assert_eq!(tasks().work.workers, 100);
        let runs: usize = figures.iter().map(|row| row.runs.len()).sum();
        assert_eq!((figures.len(), runs), (11, 3 * 8 + 6 + 6 + 5));
        let seconds = |table: &str, engine: &str| {
            let of = |row: &&TaskFigures| row.table == table && row.target.starts_with(engine);
            figures.iter().find(of).unwrap().seconds()
        };
        // "3.3x faster", "twice as fast" of a SQLite that is warm.
        let plain = seconds("realistic", "sqlite") / seconds("realistic", "files");
        assert!((plain - 3.33).abs() < 0.01, "{plain}");
        let ext4 = seconds("ext4", "files") / seconds("ext4", "sqlite");
        assert!((ext4 - 2.03).abs() < 0.01, "{ext4}");
    }

    #[test]
    fn a_mistyped_name_is_answered_with_the_nearest() {
        let error = find("faster-than-sf").unwrap_err().to_string();
        assert!(error.contains("did you mean faster-than-fs? (accepted: "), "{error}");
    }
}
