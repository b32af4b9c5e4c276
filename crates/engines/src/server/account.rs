//! The user that a server runs as: database servers refuse to run as root.

use std::{
    fs,
    os::unix::fs::{MetadataExt, lchown},
    path::Path,
};

use model::{Account, Error, Result};
use rustix::process::geteuid;

/// Returns the first of `users` that exists if this process runs as root; otherwise `None`: the
/// server runs as the same user.
pub(crate) fn account(users: &[&str]) -> Option<Account> {
    if !geteuid().is_root() {
        return None;
    }
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    users.iter().chain(&["nobody"]).find_map(|user| entry(&known, user))
}

/// Returns the numbers of `user` from a file in the format of passwd(5).
fn entry(passwd: &str, user: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let user_number = fields.nth(1)?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        (name == user).then_some(Account { user: user_number, group })
    })
}

/// Gives a file, or a folder and everything in it, to `account`; links are not followed.
pub(crate) fn give(path: &Path, account: Option<Account>) -> Result<()> {
    let Some(Account { user, group }) = account else { return Ok(()) };
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let failed = |e| Error::io(path.display(), e);
        lchown(&path, Some(user), Some(group)).map_err(failed)?;
        if fs::symlink_metadata(&path).map_err(failed)?.is_dir() {
            let entries = fs::read_dir(&path).map_err(failed)?;
            left.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        }
    }
    Ok(())
}

/// Refuses a `folder` that `account` cannot enter.
pub(crate) fn check_enters(folder: &Path, account: Option<Account>) -> Result<()> {
    let Some(account) = account else { return Ok(()) };
    let real = folder.canonicalize().map_err(|e| Error::io(folder.display(), e))?;
    let Some(closed) = real.ancestors().find(|folder| !enters(folder, account)) else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "{} cannot be entered by user {}, which the server runs as; --scratch DIR names another place",
        closed.display(),
        account.user
    )))
}

/// Decides by the mode alone: access lists are not read.
fn enters(folder: &Path, account: Account) -> bool {
    fs::metadata(folder).is_ok_and(|meta| {
        let shift = match (meta.uid() == account.user, meta.gid() == account.group) {
            (true, _) => 6,
            (_, true) => 3,
            _ => 0,
        };
        meta.mode() >> shift & 1 == 1
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nmysql:x:106:112:M,,,:/none:/bin/false\n";

    #[test]
    fn a_user_is_found_by_name() {
        assert_eq!(entry(PASSWD, "mysql"), Some(Account { user: 106, group: 112 }));
        for text in ["", "mysql", "mysql:x", "mysql:x:1", "mysql:x:a:2", ":::", "sql:x:1:2"] {
            assert_eq!(entry(text, "mysql"), None, "{text}");
        }
    }

    #[test]
    fn no_server_runs_as_root() {
        if let Some(account) = account(&["storemark-no-such-user"]) {
            assert_ne!(account.user, 0);
        } else {
            assert!(!geteuid().is_root() || entry(PASSWD, "nobody").is_none());
        }
    }

    #[test]
    fn a_closed_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let stranger = Some(Account { user: 4_000_000, group: 4_000_000 });
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let error = check_enters(&inner, stranger).unwrap_err().to_string();
        assert!(error.contains("cannot be entered") && error.contains("--scratch DIR"), "{error}");
        assert!(!error.contains("inner"), "{error}");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
        check_enters(&inner, stranger).unwrap();
        check_enters(&inner, None).unwrap();
    }
}
