//! Windows Defender: whether it scans files as they are opened, and which it leaves out.

use std::path::PathBuf;

use crate::os;

/// Returns whether Windows Defender runs, and whether it leaves out the folders of all stores at `paths`;
/// `None` for what is not known.
pub(crate) fn defender(paths: &[PathBuf]) -> (Option<bool>, Option<bool>) {
    let runs = os::defender_runs();
    let exclusions = if runs == Some(true) { os::defender_exclusions() } else { None };
    let full = |path: &PathBuf| {
        std::path::absolute(path).map(|path| path.to_string_lossy().into_owned()).ok()
    };
    let paths: Option<Vec<_>> = paths.iter().map(full).collect();
    let paths = paths.filter(|paths| !paths.is_empty());
    (runs, paths.zip(exclusions).and_then(|(paths, exclusions)| excludes(&paths, &exclusions)))
}

/// Returns whether `exclusions` have all of `paths`; `None` if that depends on a pattern.
fn excludes(paths: &[String], exclusions: &[String]) -> Option<bool> {
    let is_pattern = |exclusion: &&String| exclusion.contains(['*', '?', '%']);
    let (patterns, folders): (Vec<_>, Vec<_>) = exclusions.iter().partition(is_pattern);
    let is_excluded = |path: &String| folders.iter().any(|folder| is_in(path, folder));
    let all = paths.iter().all(is_excluded);
    (all || patterns.is_empty()).then_some(all)
}

/// Returns whether `path` is `folder` or below it, as Windows compares them.
fn is_in(path: &str, folder: &str) -> bool {
    let plain = |text: &str| {
        let text = text.strip_prefix(r"\\?\").unwrap_or(text);
        text.replace('/', r"\").trim_end_matches('\\').to_lowercase()
    };
    let (path, folder) = (plain(path), plain(folder));
    path.strip_prefix(&folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(paths: &[&str], exclusions: &[&str]) -> Option<bool> {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        excludes(&owned(paths), &owned(exclusions))
    }

    #[test]
    fn a_store_is_excluded_with_the_folder_that_it_is_in() {
        let stores = [r"C:\Data\photos.db", r"\\?\C:\data\files\"];
        assert_eq!(judge(&stores, &[r"c:\DATA\"]), Some(true));
        assert_eq!(judge(&stores, &["C:/data/photos.db", r"C:\data\files"]), Some(true));
        assert_eq!(judge(&stores, &["C:\\"]), Some(true));
        assert_eq!(judge(&stores, &[r"C:\data\photos.db"]), Some(false), "one of two");
        assert_eq!(judge(&stores, &[r"C:\dat", r"D:\data"]), Some(false));
        assert_eq!(judge(&stores, &[]), Some(false));
    }

    #[test]
    fn a_pattern_leaves_it_open() {
        let store = [r"C:\data\photos.db"];
        assert_eq!(judge(&store, &[r"C:\data\*.db"]), None);
        assert_eq!(judge(&store, &[r"%TEMP%", r"C:\data"]), Some(true));
    }
}
