//! The published experiments, as files built into the program.

use model::{Error, Result, nearest, study::Study};

/// Names and texts, in the order in which they are listed.
const STUDIES: [(&str, &str); 6] = [
    ("faster-than-fs", include_str!("../../../studies/faster-than-fs.toml")),
    ("page-cache", include_str!("../../../studies/page-cache.toml")),
    ("mass-inserts", include_str!("../../../studies/mass-inserts.toml")),
    ("task-queue", include_str!("../../../studies/task-queue.toml")),
    ("internal-or-external", include_str!("../../../studies/internal-or-external.toml")),
    ("to-blob-or-not", include_str!("../../../studies/to-blob-or-not.toml")),
];

/// All of them by their names.
pub(crate) fn all() -> Vec<(&'static str, Study)> {
    STUDIES.iter().map(|(name, text)| (*name, parse(text))).collect()
}

/// The one called `name`.
pub(crate) fn find(name: &str) -> Result<Study> {
    let names = || STUDIES.iter().map(|(name, _)| *name);
    STUDIES.iter().find(|(own, _)| *own == name).map(|(_, text)| parse(text)).ok_or_else(|| {
        let near = nearest(name, names());
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        let accepted = names().collect::<Vec<_>>().join(", ");
        Error::usage(format!("no study {name}: accepted is {accepted}{near}"))
    })
}

fn parse(text: &str) -> Study {
    toml::from_str(text).expect("a test reads every study")
}

#[cfg(test)]
mod tests {
    use model::study::Size;

    use super::*;
    use crate::commands::study;

    #[test]
    fn every_study_is_read_and_its_steps_are_commands() {
        for (name, study) in all() {
            for step in &study.steps {
                for size in [Size::Quick, Size::Default, Size::Full] {
                    let words = study::words(step, size, &[]);
                    let command = crate::args::understand(words);
                    assert!(command.is_ok(), "{name}, {}: {:?}", step.title, command.err());
                }
            }
        }
    }

    #[test]
    fn a_slip_is_answered() {
        let error = find("faster-than-sf").unwrap_err().to_string();
        assert!(error.ends_with("did you mean faster-than-fs?"), "{error}");
    }
}
