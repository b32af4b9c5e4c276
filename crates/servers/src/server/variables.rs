//! The variables of a server: those that the settings `set.NAME` ask for, and all as it has them.

use std::collections::BTreeMap;

use model::{Error, Result, Settings};

/// The start of a setting that names any variable.
const PREFIX: &str = "set.";

/// The ends of names that name a place, or code to load or run.
const ENDS: &str = "dir _directory _directories _file _keyfile _dir_path _library_path _command \
    _cmd _library _libraries _provider _conninfo plugin_load plugin_load_add";

/// The ends of names whose values have a `/` and name no place.
const ZONES: &str = "timezone time_zone";

/// Returns the variables that settings ask for, with their values.
pub(crate) fn variables(settings: &Settings) -> impl Iterator<Item = (&str, &str)> {
    let Settings(all) = settings;
    all.iter().filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value.as_str())))
}

/// Returns the variables for a server that storemark starts.
///
/// # Errors
///
/// Fails if one would lead out of its folder.
pub(crate) fn own_variables(settings: &Settings) -> Result<Vec<(&str, &str)>> {
    variables(settings)
        .map(|(name, value)| check_inside(name, value).map(|()| (name, value)))
        .collect()
}

/// Checks that a server does not read, write or run anything of others through this variable. The
/// value is checked as well as the name, because servers also accept names with a prefix, or cut
/// short.
fn check_inside(name: &str, value: &str) -> Result<()> {
    let plain = name.to_ascii_lowercase().replace('-', "_");
    let ends = |list: &str| list.split(' ').any(|end| plain.ends_with(end));
    let place = value.contains(['/', '\\']) && !ends(ZONES);
    if !place && !ends(ENDS) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{PREFIX}{name}={value}: names a place or code, and a server that storemark starts keeps to \
         its store's folder (accepted: variables that name neither)"
    )))
}

/// All variables of a server as it has them, by their names in lower case.
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(crate) fn new(all: impl Iterator<Item = (String, String)>) -> Self {
        Self(all.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        self.0.get(&name.to_ascii_lowercase()).map(String::as_str)
    }

    /// Returns the value of a variable, empty if it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    pub(crate) fn is(&self, name: &str, value: &str) -> bool {
        self.get(name).eq_ignore_ascii_case(value)
    }

    /// Checks the variables that were `asked` for; `fits` compares what was asked of a name with
    /// what was found.
    ///
    /// # Errors
    ///
    /// Fails if one has another value.
    pub(crate) fn check(
        &self,
        asked: &Settings,
        fits: impl Fn(&str, &str, &str) -> bool,
    ) -> Result<()> {
        for (name, asked) in variables(asked) {
            let found = match self.find(name) {
                Some(found) if fits(name, asked, found) => continue,
                Some(found) => format!("{found:?}"),
                None => "no such variable".to_owned(),
            };
            let what = format!("{PREFIX}{name}={asked} did not take effect");
            return Err(Error::usage(format!("the server has {found}")).at(&what));
        }
        Ok(())
    }
}

/// Adds the variables that were `asked` for, which have been checked, to what is in effect.
pub(crate) fn add_asked(in_effect: &mut Settings, asked: &Settings) {
    for (name, value) in variables(asked) {
        in_effect.set(&format!("{PREFIX}{name}"), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_out_of_the_folder_is_refused() {
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
    fn what_stays_inside_is_accepted() {
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

    #[test]
    fn a_variable_without_effect_is_an_error() {
        let found = Variables::new([("Work_Mem".to_owned(), "4".to_owned())].into_iter());
        let check = |name: &str, value: &str| {
            let mut asked = Settings::default();
            asked.set(name, value);
            found.check(&asked, |_, asked, found| asked == found).map_err(|e| e.to_string())
        };
        assert_eq!(check("set.work_mem", "4"), Ok(()));
        assert_eq!(check("engine", "x"), Ok(()));
        assert!(check("set.work_mem", "8").unwrap_err().ends_with("the server has \"4\""));
        assert!(check("set.no.such", "8").unwrap_err().ends_with("no such variable"));
    }
}
