//! Variables of the environment that contain passwords and keys, and those that belong to them.

use std::{collections::BTreeMap, env, sync::OnceLock};

/// The names of the variables. A worker on another host gets those of the process that starts it,
/// through its standard input, which no other program sees.
const NAMES: [&str; 11] = [
    "MYSQL_PWD",
    "PGPASSWORD",
    "REDISCLI_AUTH",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
];

/// The values of variables by their names.
pub type Variables = BTreeMap<String, String>;

static GIVEN: OnceLock<Variables> = OnceLock::new();

/// Returns the variables that this process has.
pub fn variables() -> Variables {
    let pair = |name: &str| Some((name.to_owned(), variable(name)?));
    NAMES.into_iter().filter_map(pair).collect()
}

/// Sets the variables that another process has; only the first call counts.
pub fn give_variables(variables: Variables) {
    // The first are kept.
    let _ = GIVEN.set(variables);
}

/// Returns the value of a variable, unless it is empty. If another process has given one of its
/// group (`AWS`), only the given ones count.
pub fn variable(name: &str) -> Option<String> {
    let own = || env::var(name).ok();
    let value = GIVEN.get().map_or_else(own, |given| chosen(given, name, own));
    value.filter(|value| !value.is_empty())
}

fn chosen(given: &Variables, name: &str, own: impl FnOnce() -> Option<String>) -> Option<String> {
    let group = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
    let has_group = given.keys().any(|other| group(other) == group(name));
    if has_group { given.get(name).cloned() } else { own() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_two_hosts_are_not_mixed() {
        let given = Variables::from([("AWS_ACCESS_KEY_ID".to_owned(), "A".to_owned())]);
        let own = || Some("own".to_owned());
        assert_eq!(chosen(&given, "AWS_ACCESS_KEY_ID", own).as_deref(), Some("A"));
        assert_eq!(chosen(&given, "AWS_SESSION_TOKEN", own), None);
        assert_eq!(chosen(&given, "PGPASSWORD", own).as_deref(), Some("own"));
    }
}
