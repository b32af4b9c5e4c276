//! The published experiments, as files built into the program.

use std::sync::LazyLock;

use model::{
    Error, Result, nearest,
    spec::TaskLoad,
    study::{Published, RowFigures, RowLoad, Study, TaskFigures},
};

/// Names and texts, in the order in which they are listed.
const STUDIES: [(&str, &str); 11] = [
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
];

/// All of them with their names.
pub fn all() -> &'static [(&'static str, Study)] {
    static ALL: LazyLock<Vec<(&str, Study)>> = LazyLock::new(|| {
        let parse = |text| Study::parse(text).expect("a test parses every study");
        STUDIES.iter().map(|(name, text)| (*name, parse(text))).collect()
    });
    &ALL
}

/// The one called `name`.
pub fn find(name: &str) -> Result<&'static Study> {
    all().iter().find(|(own, _)| *own == name).map(|(_, study)| study).ok_or_else(|| {
        let names = STUDIES.map(|(name, _)| name);
        let near = nearest(name, names);
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        Error::usage(format!("no study {name}: accepted is {}{near}", names.join(", ")))
    })
}

/// The published figures of rows.
pub(crate) fn rows() -> &'static Published<RowLoad, RowFigures> {
    all().iter().find_map(|(_, study)| study.rows.as_ref()).expect("mass-inserts has them")
}

/// The published figures of tasks.
pub(crate) fn tasks() -> &'static Published<TaskLoad, TaskFigures> {
    all().iter().find_map(|(_, study)| study.tasks.as_ref()).expect("task-queue has them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_parsed() {
        assert_eq!(all().len(), STUDIES.len());
        assert_eq!((rows().work.rows, tasks().work.workers), (200_000, 100));
    }

    #[test]
    fn a_mistyped_name_is_answered_with_the_nearest() {
        let error = find("faster-than-sf").unwrap_err().to_string();
        assert!(error.ends_with("did you mean faster-than-fs?"), "{error}");
    }
}
