//! The language and the variables of MariaDB and MySQL.

use std::{
    ffi::OsString,
    io,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{
    DurabilitySettings, Error, Facet, KeyKind, LOCK_WAITS, Maintenance, Mode, Result, Secret,
    Settings,
    rows::{DELAYED_ROWS, NULL},
};
use mysql::{LocalInfileHandler, prelude::Queryable};

use super::{
    CLASSES,
    connection::{self, MariaDbClient},
    kind::StorageEngine,
    program::{self, SOFTWARE},
};
use crate::server::{
    Address, AddressForm, Answer, Connect, Dialect, Failure, Grammar, LOOPBACK, Peer, ResultRow,
    ServerFolder, Software, SqlConnection, TCP_USER, Tcp, Variables, Why, variables,
};

/// The variables that are read back because they affect the figures; those of InnoDB for its
/// tables.
const READ_BACK: &[&str] = &[
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_log_file_size",
    "innodb_log_file_buffering",
    "innodb_buffer_pool_load_at_startup",
    "innodb_fast_shutdown",
    "log_bin",
    "max_allowed_packet",
    "version",
];

impl Peer for MariaDbClient {
    const ADDRESS: AddressForm = AddressForm {
        scheme: "mysql",
        servers: "MariaDB or MySQL",
        port: 3306,
        needs_user: true,
        password_of: None,
        password: "MYSQL_PWD",
        hint: ", for a socket its path with %2F for each /, as host",
    };
    const INSTALL: fn(&ServerFolder, &Settings) -> Vec<OsString> = program::installer_arguments;
    const START: fn(&ServerFolder, Facet, &Settings) -> Result<Vec<OsString>> =
        program::server_arguments;

    fn software() -> &'static Software {
        &SOFTWARE
    }

    fn to_folder(
        folder: &ServerFolder,
        database: Option<&str>,
        tcp: Option<&Tcp>,
    ) -> Connect<Self> {
        let options = connection::options([].into_iter()).db_name(database);
        let Some(Tcp { port, password }) = tcp else {
            return connection::in_folder(options.user(Some("root")), folder.clone());
        };
        let options = options.user(Some(TCP_USER)).pass(Some(password));
        connection::connect_with(options.ip_or_hostname(Some(LOOPBACK)).tcp_port(*port))
    }

    fn to_address(address: &Address, settings: &Settings) -> Connect<Self> {
        let set = |(name, value)| format!("SET SESSION {name}={}", literal(value));
        // The lock of a table's owner lasts as long as its connection, which is idle for long.
        let idle = "SET SESSION wait_timeout=2147483".to_owned();
        let options = connection::options(variables(settings).map(set).chain([idle]))
            .user(address.user.as_ref())
            .pass(address.password.as_ref().map(Secret::reveal))
            .db_name(Some(&address.database))
            .ssl_opts(address.tls.as_ref().map(connection::encrypted));
        connection::connect_with(if address.host.starts_with('/') {
            options.socket(Some(&address.host))
        } else {
            options.ip_or_hostname(Some(&address.host)).tcp_port(address.port)
        })
    }

    fn set_limit(&mut self, limit: Duration) {
        self.driver.set_limit(limit);
    }

    fn variables(&mut self) -> Answer<Variables> {
        self.pairs("SHOW VARIABLES")
    }

    fn took_effect(_: &str, asked: &str, found: &str) -> bool {
        plain(asked) == plain(found)
    }
}

impl Dialect for MariaDbClient {
    const GRAMMAR: Grammar = Grammar {
        quote: '`',
        parameter: |_| "?".to_owned(),
        // Sorting would compare the first `max_sort_length` bytes only.
        in_key_order: " FORCE INDEX (PRIMARY)",
        or_nothing: "",
        or_update: " ON DUPLICATE KEY UPDATE",
        new: |column| format!("VALUES({column})"),
    };
    const CLASSES: &'static [DurabilitySettings] = CLASSES;
    const DATABASE: (&'static str, &'static [&'static str]) =
        ("storemark", &["CREATE DATABASE storemark"]);
    const NEW_DATABASE: &'static str = "";
    const SYNC: &'static [&'static str] =
        &["innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_doublewrite"];
    const LOCK_TIMEOUT: &'static str = "SET SESSION lock_wait_timeout=10";
    const OTHERS: &'static str = "SELECT CONCAT('table ', table_schema, '.', table_name) \
         FROM information_schema.tables \
         WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') \
         AND NOT (table_schema = 'storemark' AND table_name = 'kv') ORDER BY 1";
    const PACKET: Option<&'static str> = Some("max_allowed_packet");

    fn check(facet: Facet, settings: &Settings) -> Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if let Some((name, _)) = variables(settings).find(|(name, _)| !name.chars().all(plain)) {
            return Err(Error::usage(format!(
                "set.{name}: no name of a variable (letters, digits and _, as in \
                 set.innodb_io_capacity)"
            )));
        }
        let kind = StorageEngine::from_settings(settings);
        let word = kind.word;
        let wrong = if facet == Facet::Blobs {
            let accepted = "it serves rows, not blobs (accepted: innodb, myisam, aria)";
            kind.no_blobs.map(|why| format!("engine={word}: {why}; {accepted}"))
        } else if word == "csv" && settings.get(NULL.name) != Some("no") {
            Some("engine=csv: its columns cannot be NULL (accepted: null=no)".to_owned())
        } else {
            let cache = settings.get("cache").filter(|_| kind.cache.is_none());
            cache.map(|bytes| format!("cache={bytes}: engine={word} has no cache"))
        };
        wrong.map_or(Ok(()), |wrong| Err(Error::usage(wrong)))
    }

    const ENCRYPTION: &'static str = "SHOW SESSION STATUS LIKE 'Ssl_version'";
    /// A lock with the table's name shows that its owner's connection is open. A server may have
    /// the names of tables and databases in lower case (`lower_case_table_names`), whatever a
    /// statement says.
    const MARKED: &'static str = "SELECT table_name, table_comment, \
         IS_FREE_LOCK(CONCAT('storemark ', MD5(LOWER(table_name)))) \
         FROM information_schema.tables WHERE table_schema = DATABASE() \
         AND table_comment LIKE 'storemark: %' ORDER BY 1";

    fn create_marked(&mut self, create: &str, name: &str, mark: &str) -> Answer<()> {
        self.lock_name(name)?;
        self.run(&format!("{create} COMMENT={}", literal(mark))).map(drop)
    }

    /// Returns how commits are flushed. With a binary log, a commit that this log lost in a power
    /// cut is undone.
    fn sync(variables: &Variables) -> &'static str {
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

    /// Returns whether the storage engine has transactions. MyISAM, CSV and MEMORY flush nothing.
    /// Aria flushes its log at the end of each statement, but the log has changes of pages, no
    /// whole ones, and pages are overwritten in place: a page that a power cut tears stays torn.
    fn is_transactional(settings: &Settings) -> bool {
        StorageEngine::from_settings(settings).is_innodb()
    }

    fn in_effect(_: Facet, variables: &Variables, settings: &Settings) -> Settings {
        let kind = StorageEngine::from_settings(settings);
        let mut found = Settings::default();
        found.set("engine", kind.word);
        found.set("cache", kind.cache.and_then(|name| variables.find(name)).unwrap_or("0"));
        let of_kind = |name: &&&str| kind.is_innodb() || !name.starts_with("innodb");
        for name in READ_BACK.iter().filter(of_kind) {
            if let Some(value) = variables.find(name) {
                found.set(name, value);
            }
        }
        found
    }

    fn table_name(database: &str, table: &str) -> String {
        [database, table].map(|name| Self::GRAMMAR.quoted(name)).join(".")
    }

    fn create_table(name: &str, keys: KeyKind, settings: &Settings) -> String {
        let columns = match keys {
            KeyKind::Integers => "k BIGINT NOT NULL PRIMARY KEY, v LONGBLOB NOT NULL".to_owned(),
            KeyKind::Names => format!(
                "k VARBINARY({}) NOT NULL PRIMARY KEY, mode INT UNSIGNED, seconds BIGINT, \
                 nanoseconds INT UNSIGNED, v LONGBLOB NOT NULL",
                Self::longest_name(settings)
            ),
        };
        format!("CREATE TABLE {name} ({columns}){}", Self::table_options(settings))
    }

    fn table_options(settings: &Settings) -> String {
        format!(" ENGINE={}", StorageEngine::from_settings(settings).word)
    }

    fn fixed_setting(&mut self, name: &str) -> Answer<(&'static str, String)> {
        let rows = self.rows(&format!("SHOW CREATE TABLE {name}"))?;
        let sql = rows.first().and_then(|row| row.text(1)).unwrap_or_default();
        let (_, end) = sql.rsplit_once("ENGINE=").unwrap_or_default();
        let word = end.split_whitespace().next().unwrap_or_default();
        let error = || Error::unsupported(format!("the table has the engine {word:?}"));
        let kind =
            StorageEngine::find(word).ok_or_else(|| Failure { error: error(), why: Why::Other })?;
        Ok(("engine", kind.word.to_owned()))
    }

    fn longest_name(settings: &Settings) -> usize {
        StorageEngine::from_settings(settings).longest_name
    }

    fn reclaim(name: &str) -> String {
        format!("OPTIMIZE TABLE {name}")
    }

    fn maintenance(what: Maintenance, name: &str) -> Option<String> {
        match what {
            Maintenance::Vacuum => Some(format!("OPTIMIZE TABLE {name}")),
            Maintenance::Analyze => Some(format!("ANALYZE TABLE {name}")),
            Maintenance::IntegrityCheck => Some(format!("CHECK TABLE {name}")),
            _ => None,
        }
    }

    const BACKUP: &'static [&'static str] = &["mariadb-dump", "mysqldump"];

    fn backup_arguments(folder: &Path) -> Vec<OsString> {
        let mut socket = OsString::from("--socket=");
        socket.push(folder.join("socket"));
        // `--no-defaults` must come first.
        let fixed = ["--no-defaults", "--user=root", "--single-transaction", "--quick"];
        let fixed = fixed.into_iter().chain(["--hex-blob", Self::DATABASE.0]);
        fixed.map(OsString::from).chain([socket]).collect()
    }

    const LOGS: &'static [&'static str] = &["ib_logfile0", "aria_log.00000001"];

    fn integrity(&mut self, name: &str) -> Answer<Option<Vec<String>>> {
        let rows = self.rows(&format!("CHECK TABLE {name}"))?;
        let said = rows.iter().filter_map(|row| Some((row.text(2)?, row.text(3)?)));
        let complaints = said.filter(|said| *said != ("status", "OK"));
        Ok(Some(complaints.map(|(kind, text)| format!("{kind}: {text}")).collect()))
    }

    fn begin(mode: Mode) -> &'static str {
        match mode {
            Mode::Read => "START TRANSACTION READ ONLY",
            Mode::Write | Mode::Deferred => "START TRANSACTION",
        }
    }

    fn delays(settings: &Settings) -> bool {
        StorageEngine::from_settings(settings).delays
    }

    fn load(&mut self, rows: Range<i64>) -> Answer<()> {
        let lines = move |file: &mut dyn io::Write| {
            rows.clone().try_for_each(|i| writeln!(file, "{i}\t{}", 2 * i))
        };
        let handler = LocalInfileHandler::new(move |_, file| lines(file));
        self.driver.during(|conn| {
            conn.set_local_infile_handler(Some(handler));
            // No file is opened: the handler writes the rows.
            conn.query_drop("LOAD DATA LOCAL INFILE 'rows' INTO TABLE numbers")
        })
    }

    fn files(
        &mut self,
        folder: &ServerFolder,
        database: &str,
        settings: &Settings,
    ) -> Answer<Vec<PathBuf>> {
        let kind = StorageEngine::from_settings(settings);
        let table = folder.data().join(database).join("numbers");
        let files: Vec<_> = kind.suffixes.iter().map(|s| table.with_extension(s)).collect();
        let has_own = !kind.is_innodb() || files.iter().all(|file| file.exists());
        // One file has them all if innodb_file_per_table is off.
        Ok(if has_own { files } else { vec![folder.data().join("ibdata1")] })
    }

    /// Flushes delayed rows. Nothing else is deferred: a commit of InnoDB has done what its class
    /// asks for, and the other kinds have no commit.
    fn flush_rows(&mut self, databases: &[String], settings: &Settings) -> Answer<()> {
        if Self::delays(settings) && self.status("= 'Delayed_insert_threads'")? > 0 {
            close_tables(self, databases)?;
        }
        Ok(())
    }

    /// Returns the counters, after Aria has written its pages: it writes them at its checkpoints,
    /// and until then its files do not have their true size.
    fn counters(
        &mut self,
        databases: &[String],
        settings: &Settings,
    ) -> Answer<Vec<(&'static str, i64)>> {
        if StorageEngine::from_settings(settings).word == "aria" {
            close_tables(self, databases)?;
        }
        let delayed = self.status("= 'Delayed_writes'")?;
        Ok(vec![(LOCK_WAITS, self.all_waits()?), (DELAYED_ROWS, delayed)])
    }
}

impl MariaDbClient {
    /// Takes the lock that shows that the connection of a table's owner is open.
    pub(super) fn lock_name(&mut self, name: &str) -> Answer<()> {
        let table = name.rsplit('.').next().unwrap_or(name).replace('`', "");
        let lock = format!("CONCAT('storemark ', MD5(LOWER({})))", literal(&table));
        if self.number(&format!("SELECT GET_LOCK({lock}, 0)"))? != 1 {
            let error =
                Error::failed(format!("another connection holds the lock for the table {name}"));
            return Err(Failure { error, why: Why::Other });
        }
        Ok(())
    }
}

/// Writes everything that was deferred.
fn close_tables(client: &mut MariaDbClient, databases: &[String]) -> Answer<()> {
    let tables: Vec<_> = databases.iter().map(|name| format!("{name}.numbers")).collect();
    if tables.is_empty() {
        return Ok(());
    }
    client.run(&format!("FLUSH TABLES {}", tables.join(", "))).map(drop)
}

/// Writes a value as a statement does.
pub(super) fn literal(value: &str) -> String {
    if !value.is_empty() && value.chars().all(|c| c.is_ascii_digit()) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

/// Normalises a word for a truth value, or a number with the server's suffixes, which are powers of
/// 1024, to a plain number.
fn plain(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    let word = match &*lower {
        "on" | "true" | "yes" => "1",
        "off" | "false" | "no" => "0",
        other => other,
    };
    let factors = [('k', 1024.0), ('m', 1_048_576.0), ('g', 1_073_741_824.0)];
    let suffix = factors.iter().find_map(|(letter, n)| Some((word.strip_suffix(*letter)?, *n)));
    let (digits, factor) = suffix.unwrap_or((word, 1.0));
    let number = digits.parse::<f64>().map(|number| number * factor);
    number.map_or_else(|_| word.to_owned(), |number| number.to_string())
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
        for (log, method, doublewrite, binlog, sync) in [
            ("1", "O_DIRECT", "ON", None, "commit"),
            ("1", "fsync", "ON", Some("1"), "commit"),
            ("1", "fsync", "ON", Some("0"), "second"),
            ("2", "fsync", "ON", None, "second"),
            ("1", "nosync", "ON", None, "none"),
            ("1", "fsync", "OFF", None, "none"),
        ] {
            let variables = variables(log, method, doublewrite, binlog);
            assert_eq!(MariaDbClient::sync(&variables), sync, "{log} {method} {binlog:?}");
        }
    }

    #[test]
    fn the_same_in_other_words_is_the_same() {
        let same = |asked, found| MariaDbClient::took_effect("", asked, found);
        for (asked, found) in [
            ("1G", "1073741824"),
            ("on", "1"),
            ("OFF", "0"),
            ("o_direct", "O_DIRECT"),
            ("0.50", "0.500000"),
        ] {
            assert!(same(asked, found), "{asked}");
        }
        for (asked, found) in
            [("1G", "1G1"), ("200", "100"), ("on", "OFF"), ("", "x"), ("k", "1024")]
        {
            assert!(!same(asked, found), "{asked}");
        }
    }
}
