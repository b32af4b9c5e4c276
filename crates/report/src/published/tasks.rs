//! Published figures of a queue of tasks.

use model::Settings;

/// The tables as published; the first lines say where and on what.
const TASK_QUEUE: &str = include_str!("task_queue.tsv");

/// What it was published as.
pub(crate) const TITLE: &str = "DBENCH";
/// Where, and when.
pub(crate) const SOURCE: &str = "github.com/chrisdavies/dbench, February 12, 2022";
/// On which machines, with which versions.
pub(crate) const MACHINE: &str = "Go 1.17, mattn/go-sqlite3 1.14.11; btrfs: SSD of a Dell XPS of \
                                  2020; ext4: a 5 $ Linode";
/// Workers, tasks of each, and times that an output was written.
pub(crate) const WORKERS: u32 = 100;
const TASKS: f64 = 10_000.0;
pub(crate) const REWRITES: u64 = 10;
/// Bytes of an output.
pub(crate) const OUTPUT: u64 = 33;

/// A row of a published table.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedQueue {
    /// Which of its experiments: `tasks`, `loop`, `writers`.
    pub what: &'static str,
    /// Rows of the same table were measured beside each other.
    pub table: &'static str,
    /// The file system.
    pub kind: &'static str,
    /// What it is called there.
    pub name: &'static str,
    /// The engine that does the same here.
    pub engine: &'static str,
    /// Its settings, all of which must be in effect.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Seconds of each run.
    pub runs: Vec<f64>,
}

impl PublishedQueue {
    /// Milliseconds that all workers together took for a task, the mean of the runs.
    pub fn ms_per_task(&self) -> f64 {
        self.seconds() / TASKS * 1e3
    }

    fn seconds(&self) -> f64 {
        self.runs.iter().sum::<f64>() / self.runs.len() as f64
    }

    /// Its time over that of another row of the same table.
    pub(crate) fn over(&self, other: &Self) -> Option<f64> {
        (self.table == other.table).then(|| self.seconds() / other.seconds())
    }
}

/// All rows.
pub fn published_queues() -> Vec<PublishedQueue> {
    TASK_QUEUE.lines().filter(|line| !line.starts_with('#')).filter_map(parse).collect()
}

fn parse(line: &'static str) -> Option<PublishedQueue> {
    let cells: Vec<&'static str> = line.split('\t').collect();
    let [what, table, kind, name, engine, settings, runs] = cells[..] else { return None };
    let settings = settings.split('&').filter_map(|pair| pair.split_once('=')).collect();
    let runs: Option<Vec<f64>> = runs.split(' ').map(|run| run.parse().ok()).collect();
    let runs = runs.filter(|runs| !runs.is_empty())?;
    Some(PublishedQueue { what, table, kind, name, engine, settings, runs })
}

/// The rows that were published of tasks for an engine with these settings in effect, on this kind
/// of file system.
pub(crate) fn of(engine: &str, in_effect: &Settings, kind: &str) -> Vec<PublishedQueue> {
    let mut rows = published_queues();
    rows.retain(|row| {
        let same = row.settings.iter().all(|(name, value)| in_effect.get(name) == Some(*value));
        row.what == "tasks" && same && row.engine == engine && row.kind == kind
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_read() {
        let lines = TASK_QUEUE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!((published_queues().len(), lines), (11, 11));
        let runs: usize = published_queues().iter().map(|row| row.runs.len()).sum();
        assert_eq!(runs, 3 * 8 + 6 + 6 + 5);
    }

    #[test]
    fn ratios_are_those_that_the_source_draws() {
        let rows = published_queues();
        let of = |table: &str, engine: &str| {
            let row = rows.iter().find(|row| row.table == table && row.engine == engine);
            row.unwrap().clone()
        };
        // "3.3x faster", "twice as fast" of a SQLite that is warm.
        let plain = of("realistic", "sqlite").over(&of("realistic", "files")).unwrap();
        assert!((plain - 3.33).abs() < 0.01, "{plain}");
        let ext4 = of("ext4", "files").over(&of("ext4", "sqlite")).unwrap();
        assert!((ext4 - 2.03).abs() < 0.01, "{ext4}");
        assert_eq!(of("ext4", "files").over(&of("realistic", "sqlite")), None);
        assert!((of("ext4", "files").ms_per_task() - 1.68).abs() < 0.001);
    }
}
