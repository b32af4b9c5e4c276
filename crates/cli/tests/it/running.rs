//! Commands under way: started, watched through their records, ended by signals.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::world::{Ran, World};

/// How a line of a record with a sample starts.
pub(crate) const SAMPLE: &str = r#"{"line":"sample""#;

/// Waits up to `seconds` until `is_so`, and returns whether it became so.
pub(crate) fn within(seconds: u64, mut is_so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() {
        if start.elapsed() > Duration::from_secs(seconds) {
            return false;
        }
        sleep(Duration::from_millis(20));
    }
    true
}

pub(crate) fn signal(id: u32, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &id.to_string()]).status().unwrap().success());
}

impl World {
    /// How often `part` is in the file `name`; 0 if there is no such file.
    pub(crate) fn count(&self, name: &str, part: &str) -> usize {
        fs::read_to_string(self.path(name)).unwrap_or_default().matches(part).count()
    }

    /// Starts a command, and waits until `part` is in its record `count` times.
    pub(crate) fn under_way(&self, line: &str, record: &str, part: &str, count: usize) -> Child {
        let mut command = self.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut has_ended = false;
        let recorded = within(300, || {
            has_ended = child.try_wait().unwrap().is_some();
            has_ended || self.count(record, part) >= count
        });
        if has_ended || !recorded {
            child.kill().unwrap();
            let ran = Ran::from(child.wait_with_output().unwrap());
            panic!("{line}: not {count} × {part} in {record}: {}{}", ran.out, ran.err);
        }
        child
    }
}
