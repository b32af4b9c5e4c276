//! Objects that runs left in an existing bucket. The objects of a run are below a prefix of its own,
//! and an object next to it names its owner.

use std::{ffi::OsStr, path::Path};

use model::{Cleaned, Leftover, Result, Settings};
use rustix::{
    process::{Pid, test_kill_process},
    system::uname,
};

use super::{
    address::Link,
    client::{S3Client, Upload},
    transfer::{Transfer, transfer},
};

/// The start of the prefixes of a run's objects.
const NAME: &str = "storemark_";
/// The end of the key of the object that names the owner of a prefix.
const OWNER: &str = ".owner";
/// The most bytes of such an object.
const LONGEST: usize = 300;

fn machine() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

/// Returns whether the objects at a location are those of a run.
pub(super) fn is_run(location: &Path) -> bool {
    let name = location.file_name().map_or(&[][..], OsStr::as_encoded_bytes);
    let number = name.strip_prefix(NAME.as_bytes()).and_then(|rest| rest.split_first_chunk::<16>());
    number.is_some_and(|(number, rest)| {
        number.iter().all(u8::is_ascii_hexdigit) && rest.starts_with(b"_")
    })
}

/// Puts the object that names this process as the owner of the objects at `link`, and returns its
/// address.
pub(super) fn sign(mut link: Link, transfer: Transfer) -> Result<Link> {
    link.prefix.truncate(link.prefix.trim_end_matches('/').len());
    link.prefix += OWNER;
    let owner = format!("process {} on {}", std::process::id(), machine());
    S3Client::new(&link, transfer).put(&link.prefix, owner.as_bytes(), &[])?;
    Ok(link)
}

/// Removes the objects of killed runs below the prefix at `address`, and returns what happened to
/// each.
pub(super) fn clean(address: &str, settings: &Settings) -> Result<Vec<Leftover>> {
    let transfer = transfer(settings);
    let mut base = Link::find(Path::new(address), settings)?;
    base.prefix += NAME;
    let client = S3Client::new(&base, transfer);
    // Before the owners: a run that starts meanwhile names its owner first.
    let uploads = client.uploads()?;
    let (mut owners, mut token) = (Vec::new(), None);
    loop {
        let page = client.list("", token.as_deref(), usize::MAX)?;
        owners.extend(page.contents.into_iter().map(|object| object.key).filter(|key| {
            key.strip_suffix(OWNER).is_some_and(|own| !own[base.prefix.len()..].contains('/'))
        }));
        match page.next_continuation_token {
            Some(next) => token = Some(next),
            None => break,
        }
    }
    let leftover = |key: String| {
        let mut text = [0; LONGEST];
        let length = client.get(&key, &mut text)?.map_or(0, |(length, _)| length.min(LONGEST));
        let owner = String::from_utf8_lossy(&text[..length]).into_owned();
        let outcome = match has_ended(&owner) {
            Some(true) => remove(address, settings, &key)
                .map_or_else(|error| Cleaned::Failed(error.to_string()), |()| Cleaned::Removed),
            Some(false) => Cleaned::InUse,
            None => Cleaned::Failed(format!("clean it on that machine, or delete {key}")),
        };
        let table = key.trim_end_matches(OWNER).rsplit('/').next().unwrap_or_default().to_owned();
        Ok(Leftover { table, owner, outcome })
    };
    let run = |upload: &Upload| {
        let name = upload.object[base.prefix.len()..].split('/').next().unwrap_or_default();
        format!("{}{name}", base.prefix)
    };
    let is_owned = |upload: &Upload| owners.contains(&format!("{}{OWNER}", run(upload)));
    let (_, unowned): (Vec<_>, Vec<_>) = uploads.into_iter().partition(is_owned);
    let given_up = unowned.into_iter().map(|upload| {
        let outcome = client.give_up(&upload);
        Leftover {
            table: format!("the unfinished upload of {}", upload.object),
            owner: "a run that has ended".to_owned(),
            outcome: outcome.map_or_else(|e| Cleaned::Failed(e.to_string()), |()| Cleaned::Removed),
        }
    });
    let given_up: Vec<_> = given_up.collect();
    let left: Result<Vec<_>> = owners.into_iter().map(leftover).collect();
    left.map(|left| left.into_iter().chain(given_up).collect())
}

/// Removes the objects whose owner the object `key` names, and then that object.
fn remove(address: &str, settings: &Settings, key: &str) -> Result<()> {
    let mut link = Link::find(Path::new(address), settings)?;
    link.prefix = format!("{}/", key.trim_end_matches(OWNER));
    let client = S3Client::new(&link, transfer(settings));
    client.delete_all()?;
    client.give_up_all()?;
    client.delete(key)
}

/// Returns whether an owner has ended; `None` if it is on another machine.
fn has_ended(owner: &str) -> Option<bool> {
    let (process, machine) = owner.strip_prefix("process ")?.split_once(" on ")?;
    let pid = Pid::from_raw(process.parse().ok()?)?;
    let here = machine == self::machine();
    here.then(|| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}
