//! The address of objects in an existing bucket, `//bucket/prefix`, and the endpoint that serves it.

use std::path::Path;

use model::{Accepts, Error, Result, Setting, Settings, variable};
use rusty_s3::{Bucket, Credentials, UrlStyle};

use super::credentials;

pub(super) const ENDPOINT: Setting = Setting::new(
    "endpoint",
    Accepts::Text,
    "the URL of the service (http://host:port); else that of AWS_ENDPOINT_URL_S3 or \
     AWS_ENDPOINT_URL, or AWS itself",
);

pub(super) const REGION: Setting = Setting::new(
    "region",
    Accepts::Text,
    "the region that requests are signed for; else AWS_REGION or AWS_DEFAULT_REGION, or us-east-1",
);

/// The address of objects, with what signs requests for them.
pub(super) struct Link {
    pub(super) bucket: Bucket,
    pub(super) credentials: Credentials,
    /// The start of the keys of all objects: nothing, or a path that ends in a slash.
    pub(super) prefix: String,
    /// The address for messages.
    pub(super) shown: String,
    pub(super) endpoint: String,
    /// Whether no proxy is used: the server is a part of storemark.
    pub(super) direct: bool,
}

impl Link {
    /// Parses the location `//bucket/prefix`, and finds its endpoint and credentials.
    ///
    /// # Errors
    ///
    /// Fails if a part is not accepted, or there are no credentials.
    pub(super) fn find(location: &Path, settings: &Settings) -> Result<Self> {
        let (name, prefix) = split(location)?;
        let shown = shown(location);
        let region = text_of(settings, REGION, &["AWS_REGION", "AWS_DEFAULT_REGION"]);
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let endpoint = endpoint(settings);
        // A certificate of AWS covers one more part of a name.
        let by_host = endpoint.is_none() && !name.contains('.');
        let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let bad = |why: String| refused(location, &format!("endpoint={endpoint}: {why}"));
        let url = endpoint.parse().map_err(|why| bad(format!("{why}")))?;
        let style = if by_host { UrlStyle::VirtualHost } else { UrlStyle::Path };
        let bucket = Bucket::new(url, style, name.to_owned(), region);
        let bucket = bucket.map_err(|why| bad(why.to_string()))?;
        let credentials = credentials::find(settings).map_err(|error| error.at(&shown))?;
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Ok(Self { bucket, credentials, prefix, shown, endpoint, direct: false })
    }
}

/// Splits the location `//bucket/prefix` into the names of the bucket and the prefix, which may be empty.
///
/// # Errors
///
/// Fails if one of them is not accepted.
pub(super) fn split(location: &Path) -> Result<(&str, &str)> {
    let path = location.to_str().unwrap_or_default().trim_matches('/');
    let (name, prefix) = path.split_once('/').unwrap_or((path, ""));
    if !is_bucket(name) {
        let why = "a bucket's name has 3 to 63 of a-z, 0-9, \".\" and \"-\"";
        return Err(refused(location, why));
    }
    let clean = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
    if !prefix.is_empty() && !prefix.split('/').all(clean) {
        return Err(refused(location, "a prefix has no empty part, \".\" or \"..\""));
    }
    Ok((name, prefix))
}

/// Returns the location as messages show it.
fn shown(location: &Path) -> String {
    format!("s3:{}", location.to_str().unwrap_or_default())
}

fn refused(location: &Path, why: &str) -> Error {
    let accepted = "(accepted: s3://bucket/prefix?endpoint=http://host:port&region=name)";
    Error::usage(format!("{why} {accepted}")).at(shown(location))
}

/// Returns the endpoint that is named; `None` for that of AWS.
fn endpoint(settings: &Settings) -> Option<String> {
    text_of(settings, ENDPOINT, &["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"])
}

/// Returns whether AWS itself serves what is reached with `settings`.
pub(super) fn is_aws(settings: &Settings) -> bool {
    endpoint(settings).is_none()
}

fn text_of(settings: &Settings, setting: Setting, variables: &[&str]) -> Option<String> {
    let named = settings.get(setting.name).map(str::to_owned);
    let mut found = variables.iter().filter_map(|name| variable(name));
    named.or_else(|| found.next())
}

fn is_bucket(name: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
    (3..=63).contains(&name.len()) && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::ErrorKind;

    use super::*;

    fn find(location: &str, endpoint: &str) -> Result<Link> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "[default]\naws_access_key_id=KEY\naws_secret_access_key=SECRET\n";
        fs::write(file.path(), text).unwrap();
        let mut settings = Settings::default();
        settings.set("credentials", file.path().display());
        settings.set("region", "eu-west-1");
        if !endpoint.is_empty() {
            settings.set("endpoint", endpoint);
        }
        Link::find(location.as_ref(), &settings)
    }

    #[test]
    fn an_address_has_a_bucket_and_a_prefix() {
        let link = find("//photos/2026/thumbs", "http://127.0.0.1:9").unwrap();
        assert_eq!((link.bucket.name(), &*link.prefix), ("photos", "2026/thumbs/"));
        assert_eq!(link.bucket.base_url().as_str(), "http://127.0.0.1:9/photos/");
        assert_eq!(find("//photos", "http://h").unwrap().prefix, "");
    }

    #[test]
    fn aws_is_reached_by_the_name_of_the_bucket() {
        let link = find("//photos", "").unwrap();
        assert_eq!(link.bucket.base_url().as_str(), "https://photos.s3.eu-west-1.amazonaws.com/");
        let dotted = find("//my.photos", "").unwrap();
        assert_eq!(dotted.bucket.base_url().path(), "/my.photos/");
    }

    #[test]
    fn a_wrong_address_is_refused_with_what_is_accepted() {
        for (location, endpoint, why) in [
            ("//", "", "a bucket's name"),
            ("//ab", "", "a bucket's name"),
            ("//Photos", "", "a bucket's name"),
            ("//photos/a//b", "", "a prefix has no empty part"),
            ("//photos/..", "", "a prefix has no empty part"),
            ("//photos", "127.0.0.1:9", "endpoint=127.0.0.1:9"),
            ("//photos", "ftp://h", "endpoint=ftp://h"),
        ] {
            let error = find(location, endpoint).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Usage);
            let said = error.to_string();
            assert!(said.contains(why) && said.contains("(accepted: s3://"), "{said}");
        }
    }
}
