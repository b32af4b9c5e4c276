//! Removes passwords from the command line that other users of the machine see.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Seek, SeekFrom, Write},
    sync::OnceLock,
};

use model::without_passwords;

static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Returns the arguments of this process as they were given.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only `crash` asks"))]
pub(crate) fn arguments() -> &'static [OsString] {
    ARGUMENTS.get().map_or(&[], Vec::as_slice)
}

/// Returns the arguments, and overwrites the passwords in them if the system shows them to other
/// users (Linux). Between the start of this process and this call they can be seen.
pub(crate) fn take() -> &'static [OsString] {
    let arguments = ARGUMENTS.get_or_init(|| std::env::args_os().collect());
    if cfg!(target_os = "linux") {
        // A system that does not allow it has other users see them.
        let _ = overwrite();
    }
    arguments
}

fn overwrite() -> io::Result<()> {
    let line = fs::read("/proc/self/cmdline")?;
    let hidden = hidden(&line);
    let start = fs::read_to_string("/proc/self/stat").ok().and_then(|stat| start(&stat));
    let Some(start) = start.filter(|_| hidden != line) else { return Ok(()) };
    let mut memory = File::options().write(true).open("/proc/self/mem")?;
    memory.seek(SeekFrom::Start(start))?;
    memory.write_all(&hidden)
}

/// Returns where the arguments are in memory: the 48th field, the 46th after the name in
/// parentheses (proc(5)).
fn start(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(45)?.parse().ok().filter(|start| *start > 0)
}

/// Returns the arguments without passwords, each ended by a NUL, in as many bytes.
fn hidden(line: &[u8]) -> Vec<u8> {
    let arguments = line.split(|byte| *byte == 0).map(|argument| {
        let Ok(text) = std::str::from_utf8(argument) else { return argument.to_vec() };
        let mut shown = without_passwords(text).into_bytes();
        shown.resize(argument.len(), b' ');
        shown
    });
    arguments.collect::<Vec<_>>().join(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_replaced_by_spaces() {
        let line =
            b"storemark\0run\0redis://:secret@h:1/0\0\0mysql://u@h/d?password=s\0a b\0\xff@\0";
        let hidden = hidden(line);
        assert_eq!(hidden.len(), line.len());
        let shown = String::from_utf8_lossy(&hidden).into_owned();
        assert!(
            shown.starts_with("storemark\0run\0redis://@h:1/0       \0\0mysql://u@h/d?password=")
        );
        assert!(!shown.contains("secret") && shown.contains("\0a b\0"), "{shown}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_arguments_are_where_the_system_says() {
        let start = start(&fs::read_to_string("/proc/self/stat").unwrap()).unwrap();
        let line = fs::read("/proc/self/cmdline").unwrap();
        let mut found = vec![0; line.len()];
        let memory = File::open("/proc/self/mem").unwrap();
        std::os::unix::fs::FileExt::read_exact_at(&memory, &mut found, start).unwrap();
        assert_eq!(found, line);
    }
}
