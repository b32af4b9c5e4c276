//! Variables of a server that would take it out of its store's folder.

use model::{Error, Result};

/// How the names of those end that name a place, or code to load or run.
const ENDS: &[&str] = &[
    "dir",
    "_directory",
    "_directories",
    "_file",
    "_keyfile",
    "_dir_path",
    "_library_path",
    "_command",
    "_cmd",
    "_library",
    "_libraries",
    "_provider",
    "_conninfo",
    "plugin_load",
    "plugin_load_add",
];

/// The ends of names of those whose values hold a `/` and name no place.
const ZONES: &[&str] = &["timezone", "time_zone"];

/// Refuses a variable through which a server reads, writes or runs what is not its store's. The
/// value tells as well as the name, which servers also take with a prefix, or cut short.
pub(crate) fn check_inside(name: &str, value: &str) -> Result<()> {
    let plain = name.to_ascii_lowercase().replace('-', "_");
    let ends = |list: &[&str]| list.iter().any(|end| plain.ends_with(end));
    let place = value.contains(['/', '\\']) && !ends(ZONES);
    if !place && !ends(ENDS) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "set.{name}={value}: names a place or code, and a server that storemark starts keeps to its \
         store's folder (accepted: variables that name neither)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for (name, value) in [
            ("data_directory", "other"),
            ("DATA-directory", "other"),
            ("hba_file", "x"),
            ("archive_command", "true"),
            ("ssl_passphrase_command", "echo"),
            ("shared_preload_libraries", "auto_explain"),
            ("jit_provider", "x"),
            ("krb_server_keyfile", "x"),
            ("tmpdir", "x"),
            ("plugin_load_add", "ha_x"),
            ("log_bin", "/tmp/x"),
            ("log_error", "../x"),
            ("loose_innodb_data_home", "/tmp"),
            ("innodb_data_file_path", "../x:12M"),
            ("wsrep_notify_cmd", "x"),
        ] {
            let error = check_inside(name, value).unwrap_err().to_string();
            assert!(error.starts_with(&format!("set.{name}={value}: ")), "{error}");
        }
    }

    #[test]
    fn what_stays_inside_is_taken() {
        for (name, value) in [
            ("innodb_log_file_size", "1G"),
            ("innodb_file_per_table", "1"),
            ("innodb_data_file_path", "ibdata1:12M:autoextend"),
            ("local_infile", "0"),
            ("log_bin", "on"),
            ("search_path", "public"),
            ("work_mem", "64MB"),
            ("TimeZone", "Europe/Berlin"),
            ("default_time_zone", "Europe/Berlin"),
        ] {
            check_inside(name, value).unwrap();
        }
    }
}
