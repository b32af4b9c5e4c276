//! Credentials from the usual places: the environment, or a profile file. They are never part of a
//! setting, and nothing prints them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use model::{Accepts, Error, Result, Setting, Settings, variable};
use rusty_s3::Credentials;

pub(super) const PROFILE: Setting = Setting::new(
    "profile",
    Accepts::Text,
    "the profile of the file whose credentials sign requests; else those in the environment \
     (AWS_ACCESS_KEY_ID), then the profile of AWS_PROFILE, or \"default\"",
);

pub(super) const FILE: Setting = Setting::new(
    "credentials",
    Accepts::Text,
    "the file with profiles; else that of AWS_SHARED_CREDENTIALS_FILE, or ~/.aws/credentials",
);

/// Returns the credentials for requests with `settings`.
///
/// # Errors
///
/// Fails if there are none.
pub(super) fn find(settings: &Settings) -> Result<Credentials> {
    let named = settings.get(PROFILE.name).or(settings.get(FILE.name)).is_some();
    let own = if named { None } else { of_environment() };
    own.map_or_else(|| of_file(settings), Ok)
}

fn of_environment() -> Option<Credentials> {
    let (key, secret) = (variable("AWS_ACCESS_KEY_ID")?, variable("AWS_SECRET_ACCESS_KEY")?);
    Some(match variable("AWS_SESSION_TOKEN") {
        Some(token) => Credentials::new_with_token(key, secret, token),
        None => Credentials::new(key, secret),
    })
}

fn of_file(settings: &Settings) -> Result<Credentials> {
    let text = |setting: Setting, name| {
        settings.get(setting.name).map(str::to_owned).or_else(|| variable(name))
    };
    let profile = text(PROFILE, "AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
    let file = text(FILE, "AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from);
    let usual = || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".aws/credentials");
    let file = file.unwrap_or_else(usual);
    in_file(&file, &profile).ok_or_else(|| {
        Error::usage(format!(
            "no credentials: {} has no profile {profile:?} with a key and its secret (accepted: \
             AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or a profile file)",
            file.display()
        ))
    })
}

fn in_file(file: &Path, profile: &str) -> Option<Credentials> {
    let text = fs::read_to_string(file).ok()?;
    let head = format!("[{profile}]");
    let lines = text.lines().map(str::trim).skip_while(|line| *line != head).skip(1);
    let lines: Vec<_> = lines.take_while(|line| !line.starts_with('[')).collect();
    let value = |name: &str| {
        let pairs = lines.iter().filter_map(|line| line.split_once('='));
        pairs.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == name)
    };
    let (key, secret) = (value("aws_access_key_id")?.1, value("aws_secret_access_key")?.1);
    Some(match value("aws_session_token") {
        Some((_, token)) => Credentials::new_with_token(key, secret, token),
        None => Credentials::new(key, secret),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_its_own_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "# mine\n[default]\naws_access_key_id = A\n\n[other]\naws_access_key_id=B\n\
                    aws_secret_access_key =s/=\naws_session_token= t\n[last]\n";
        fs::write(file.path(), text).unwrap();
        let of = |profile: &str| in_file(file.path(), profile);
        assert_eq!(of("other"), Some(Credentials::new_with_token("B", "s/=", "t")));
        assert!(of("default").is_none() && of("last").is_none() && of("absent").is_none());
    }

    #[test]
    fn an_absent_profile_is_named_with_its_file() {
        let mut settings = Settings::default();
        settings.set(FILE.name, "/no/such/file");
        settings.set(PROFILE.name, "mine");
        let said = find(&settings).unwrap_err().to_string();
        assert!(said.contains("/no/such/file") && said.contains("\"mine\""), "{said}");
    }
}
