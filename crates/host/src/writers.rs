//! Finds other processes that have files open to write (Linux: `/proc/PID/fd`, see proc(5)).

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::text::{entries, read_line, value};

/// Returns the other processes that have any of `paths`, or a file in a folder among them, open to
/// write: `sqlite3 (process 1234)`. Those of other users are only seen as root.
pub fn writers(paths: &[PathBuf]) -> Vec<String> {
    let paths: Vec<_> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let processes = entries(Path::new("/proc")).filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        (id != std::process::id() && writes(&entry.path(), &paths)).then_some((id, entry.path()))
    });
    let named = |(id, folder): (u32, PathBuf)| {
        let name = read_line(folder.join("comm")).unwrap_or_else(|| "a program".to_owned());
        format!("{name} (process {id})")
    };
    processes.map(named).collect()
}

fn writes(process: &Path, paths: &[PathBuf]) -> bool {
    entries(&process.join("fd")).any(|fd| {
        let of_store = |file: PathBuf| paths.iter().any(|path| file.starts_with(path));
        let info = process.join("fdinfo").join(fd.file_name());
        fs::read_link(fd.path()).is_ok_and(of_store)
            && fs::read_to_string(info).is_ok_and(|info| is_writable(&info))
    })
}

/// Returns whether a file is open to write. The access mode is in the last two bits of the flags of
/// open(2), which are octal.
fn is_writable(info: &str) -> bool {
    let flags = value("flags", ':', info).and_then(|flags| u64::from_str_radix(flags, 8).ok());
    flags.is_some_and(|flags| flags & 0b11 != 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn flags_show_who_writes() {
        assert!(is_writable("pos:\t0\nflags:\t0100002\nmnt_id:\t30\n"));
        assert!(is_writable("flags:\t01\n"));
        for text in ["flags:\t0100000\n", "", "flags:", "flags: 9", "pos: 2"] {
            assert!(!is_writable(text), "{text}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_writes_is_named_and_one_that_reads_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        fs::create_dir(&store).unwrap();
        fs::write(store.join("file"), "").unwrap();
        let open = |redirect: &str| {
            let wait = format!("exec 3{redirect}store/file; echo; read line");
            let mut shell = Command::new("sh");
            shell.args(["-c", &wait]).current_dir(folder.path());
            let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            std::io::Read::read_exact(&mut shell.stdout.take().unwrap(), &mut [0]).unwrap();
            let found = writers(std::slice::from_ref(&store));
            drop(shell.stdin.take());
            shell.wait().unwrap();
            (found, shell.id())
        };
        let (found, id) = open(">>");
        assert_eq!(found, [format!("sh (process {id})")]);
        assert_eq!(open("<").0, [""; 0]);
    }
}
