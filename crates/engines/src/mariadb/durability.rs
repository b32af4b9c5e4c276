//! The durability that the server's variables give.

use model::{Durability, DurabilitySettings};

use super::kind::Kind;
use crate::server::Variables;

/// The words of the setting `sync`, for what InnoDB does with its log.
pub(crate) const SYNC: &[&str] = &["none", "second", "commit"];

/// Returns the options of a server for a word of `sync`. `debug_no_sync` leaves out what the rest
/// of the server flushes; 2700 s is the longest time that the log may wait. Files are read and
/// written through the page cache, as by the other engines, so that cache states mean the same.
pub(crate) fn options(sync: &str) -> &'static [&'static str] {
    match sync {
        "none" => &[
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-flush-log-at-timeout=2700",
            "--innodb-flush-method=nosync",
            "--innodb-doublewrite=0",
            "--loose-innodb-log-file-buffering=1",
            "--debug-no-sync",
        ],
        "second" => &[
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-flush-method=fsync",
            "--loose-innodb-log-file-buffering=1",
        ],
        _ => &["--innodb-flush-log-at-trx-commit=1", "--innodb-flush-method=fsync"],
    }
}

/// How the classes are kept.
pub(crate) const CLASSES: &[DurabilitySettings] = &[
    DurabilitySettings::new(
        Durability::None,
        &[("sync", "none")],
        "InnoDB: no commit writes the log or waits for a flush, and pages are written once; the \
         server still flushes in the background, and its files when they grow: a power cut may \
         leave no readable table",
    ),
    DurabilitySettings::new(
        Durability::Consistent,
        &[("sync", "second")],
        "InnoDB: log written with pwrite(2) at each commit, fdatasync(2) of it once a second; \
         pages written twice (doublewrite): a power cut may undo the last second",
    ),
    DurabilitySettings::new(
        Durability::Durable,
        &[("sync", "commit")],
        "InnoDB: pwrite(2) and fdatasync(2) of the log before the commit returns; pages written \
         twice (doublewrite)",
    ),
];

/// Returns the word of `sync` for what a server does. With a binary log, a commit that this log
/// lost in a power cut is undone.
pub(crate) fn sync(variables: &Variables) -> &'static str {
    let is = |name: &str, words: &[&str]| words.iter().any(|word| variables.is(name, word));
    let flushes = !is("innodb_flush_method", &["nosync", "littlesync"])
        && !is("innodb_doublewrite", &["OFF", "0", "DETECT_ONLY"]);
    let each = is("innodb_flush_log_at_trx_commit", &["1", "3"])
        && (!variables.is("log_bin", "ON") || variables.is("sync_binlog", "1"));
    match (flushes, each) {
        (false, _) => "none",
        (true, false) => "second",
        (true, true) => "commit",
    }
}

/// Returns the class of a table of this kind. MyISAM, CSV and MEMORY flush nothing. Aria flushes
/// its log at the end of each statement, but the log has changes of pages, no whole ones, and pages
/// are overwritten in place: a page that a power cut tears stays torn.
pub(crate) fn class(variables: &Variables, kind: Kind) -> Durability {
    match (kind, sync(variables)) {
        (Kind::Innodb, "commit") => Durability::Durable,
        (Kind::Innodb, "second") => Durability::Consistent,
        _ => Durability::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(log: &str, method: &str, doublewrite: &str, binlog: Option<&str>) -> Variables {
        let all = [
            ("innodb_flush_log_at_trx_commit", log),
            ("innodb_flush_method", method),
            ("innodb_doublewrite", doublewrite),
            ("log_bin", if binlog.is_some() { "ON" } else { "OFF" }),
            ("sync_binlog", binlog.unwrap_or("0")),
        ];
        Variables::new(all.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter())
    }

    #[test]
    fn each_variable_that_flushes_less_lowers_the_class() {
        for (log, method, doublewrite, binlog, class) in [
            ("1", "O_DIRECT", "ON", None, Durability::Durable),
            ("1", "fsync", "ON", Some("1"), Durability::Durable),
            ("1", "fsync", "ON", Some("0"), Durability::Consistent),
            ("2", "fsync", "ON", None, Durability::Consistent),
            ("1", "nosync", "ON", None, Durability::None),
            ("1", "fsync", "OFF", None, Durability::None),
        ] {
            let variables = variables(log, method, doublewrite, binlog);
            assert_eq!(super::class(&variables, Kind::Innodb), class, "{log} {method} {binlog:?}");
        }
    }

    #[test]
    fn only_innodb_has_a_class() {
        let variables = variables("1", "fsync", "ON", None);
        for kind in [Kind::Myisam, Kind::Aria, Kind::Memory, Kind::Csv] {
            assert_eq!(class(&variables, kind), Durability::None);
        }
    }
}
