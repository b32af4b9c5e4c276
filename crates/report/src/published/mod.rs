//! Published figures of rows, to stand beside measured ones.

pub(crate) mod tasks;

use model::{Settings, Work, Workload};

/// The table as published; its first lines say where and on what.
const MASS_INSERTS: &str = include_str!("mass_inserts.tsv");

/// What it was published as.
pub(crate) const TITLE: &str = "Mass inserts, updates: SQLite vs MySQL";
/// When.
pub(crate) const DATE: &str = "September 13, 2012";
/// On which machine, with which versions.
pub(crate) const MACHINE: &str =
    "MySQL 5.6.5, SQLite 3.7.7, PHP 5.4.5, 2 × 1.4 GHz, disk of 5,400 rpm";
/// Rows that each process inserted.
pub(crate) const ROWS: u64 = 200_000;

/// A row of the published table. Absent: not published.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// What it is called there.
    pub name: &'static str,
    /// The engine that does the same here.
    pub engine: &'static str,
    /// Its settings, all of which must be in effect.
    pub settings: Vec<(&'static str, &'static str)>,
    /// How rows are handed over.
    pub style: &'static str,
    /// Processes at once, a database each.
    pub processes: u32,
    /// Seconds of inserting, summing and changing.
    pub seconds: [Option<f64>; 3],
    /// Size in units of 1,048,576 bytes, as the script divided.
    pub mib: Option<f64>,
}

/// All rows.
pub fn published() -> Vec<Published> {
    MASS_INSERTS.lines().filter_map(parse).collect()
}

/// A comment has no tabs but in the heads of the columns, which are no numbers.
fn parse(line: &'static str) -> Option<Published> {
    let mut cells = line.split('\t');
    let mut text = || cells.next();
    let (name, engine, settings, style) = (text()?, text()?, text()?, text()?);
    let processes = text()?.parse().ok()?;
    let mut number = || text().and_then(|cell| cell.parse().ok());
    let seconds = [number(), number(), number()];
    let settings = settings.split('&').filter_map(|pair| pair.split_once('=')).collect();
    Some(Published { name, engine, settings, style, processes, seconds, mib: number() })
}

/// The row that was published for a target with these settings in effect under this workload.
pub(crate) fn of(engine: &str, in_effect: &Settings, workload: &Workload) -> Option<Published> {
    let own =
        matches!(workload.work, Work::Rows { own_databases: true, .. }) || workload.processes == 1;
    published().into_iter().find(|row| {
        let same = row.settings.iter().all(|(name, value)| in_effect.get(name) == Some(*value));
        let style = in_effect.get("style") == Some(row.style);
        own && same && style && row.engine == engine && row.processes == workload.processes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let rows = published();
        let lines = MASS_INSERTS.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!((rows.len(), lines), (45, 45));
        let of = |processes: u32| rows.iter().filter(|row| row.processes == processes).count();
        assert_eq!((of(1), of(2), of(4)), (21, 12, 12));
    }

    #[test]
    fn figures_are_those_of_the_source() {
        let rows = published();
        let sum = |column: usize| rows.iter().filter_map(|row| row.seconds[column]).sum::<f64>();
        // Added up from the text of the source.
        assert!((sum(0) - 1_308.05).abs() < 0.005, "{}", sum(0));
        let innodb = rows.iter().find(|row| row.name == "MySQL (InnoDB)").unwrap();
        assert_eq!(innodb.seconds, [Some(27.72), Some(0.31), Some(5.65)]);
        assert_eq!(innodb.mib, Some(7.52));
    }
}
