//! What the server's variables promise.

use model::{Durability, DurabilitySettings};

use super::kind::Kind;

/// The words of the setting `sync`, by what InnoDB does with its log.
pub(crate) const SYNC: &[&str] = &["none", "second", "commit"];

/// Options with which a server starts for a word of `sync`. `debug_no_sync` leaves out what the
/// rest of the server flushes; 2700 s is the longest that the log may wait. Files are read and
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

/// Variables of the server that make the class of an InnoDB table.
#[derive(Default)]
pub(crate) struct Flushing {
    /// `innodb_flush_log_at_trx_commit`.
    pub(crate) log: String,
    /// `innodb_flush_method`, where the server has it.
    pub(crate) method: String,
    /// `innodb_doublewrite`.
    pub(crate) doublewrite: String,
    /// `sync_binlog`, where a binary log is written: after a power cut, what it has not is undone.
    pub(crate) binlog: Option<String>,
}

impl Flushing {
    /// The word of `sync` that says as much.
    pub(crate) fn sync(&self) -> &'static str {
        let is = |value: &str, words: &[&str]| words.iter().any(|w| value.eq_ignore_ascii_case(w));
        let flushes = !is(&self.method, &["nosync", "littlesync"])
            && !is(&self.doublewrite, &["OFF", "0", "DETECT_ONLY"]);
        let each = is(&self.log, &["1", "3"]) && self.binlog.as_deref().is_none_or(|n| n == "1");
        match (flushes, each) {
            (false, _) => "none",
            (true, false) => "second",
            (true, true) => "commit",
        }
    }

    /// What a table of this kind is promised. MyISAM, CSV and MEMORY flush nothing. Aria flushes
    /// its log at the end of each statement, but that holds changes of pages, no whole ones, and
    /// pages are overwritten in place: one that a power cut tears stays torn.
    pub(crate) fn class(&self, kind: Kind) -> Durability {
        match (kind, self.sync()) {
            (Kind::Innodb, "commit") => Durability::Durable,
            (Kind::Innodb, "second") => Durability::Consistent,
            _ => Durability::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(log: &str, method: &str, doublewrite: &str, binlog: Option<&str>) -> Durability {
        let [log, method, doublewrite] = [log, method, doublewrite].map(str::to_owned);
        let binlog = binlog.map(str::to_owned);
        Flushing { log, method, doublewrite, binlog }.class(Kind::Innodb)
    }

    #[test]
    fn each_setting_that_flushes_less_promises_less() {
        assert_eq!(class("1", "O_DIRECT", "ON", None), Durability::Durable);
        assert_eq!(class("1", "fsync", "ON", Some("1")), Durability::Durable);
        assert_eq!(class("1", "fsync", "ON", Some("0")), Durability::Consistent);
        assert_eq!(class("2", "fsync", "ON", None), Durability::Consistent);
        assert_eq!(class("1", "nosync", "ON", None), Durability::None);
        assert_eq!(class("1", "fsync", "OFF", None), Durability::None);
    }

    #[test]
    fn only_innodb_is_promised_anything() {
        let flushing = Flushing {
            log: "1".to_owned(),
            method: "fsync".to_owned(),
            doublewrite: "ON".to_owned(),
            binlog: None,
        };
        for kind in [Kind::Myisam, Kind::Aria, Kind::Memory, Kind::Csv] {
            assert_eq!(flushing.class(kind), Durability::None);
        }
    }
}
