//! Commands under way: started, watched through their records, ended by signals.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Once,
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

/// How long a command of a test may run. A wait for one ends at the latest then.
const LONGEST: Duration = Duration::from_secs(20 * 60);

/// Ends commands that run for longer than any test needs, with all that they have started, so that no test
/// waits for ever (Linux: /proc).
pub(crate) fn end_old_children() {
    static START: Once = Once::new();
    START.call_once(|| {
        std::thread::spawn(|| {
            let mut seen = BTreeMap::new();
            loop {
                sleep(Duration::from_secs(5));
                let children = children(std::process::id());
                seen.retain(|child, _| children.contains(child));
                for child in children {
                    if seen.entry(child.clone()).or_insert_with(Instant::now).elapsed() > LONGEST {
                        end_tree(child.0);
                    }
                }
            }
        });
    });
}

/// The numbers of all processes (Linux: /proc).
pub(crate) fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The processes whose parent is `parent`, each with the time of its start.
pub(crate) fn children(parent: u32) -> Vec<(u32, String)> {
    let child = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let is_child = fields.nth(1)?.parse() == Ok(parent);
        is_child.then(|| Some((id, fields.nth(17)?.to_owned())))?
    };
    processes().filter_map(child).collect()
}

fn end_tree(id: u32) {
    let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    eprintln!("ended after {} s: {}", LONGEST.as_secs(), line.replace('\0', " "));
    let below = children(id);
    send(id, "KILL");
    for (child, _) in below {
        end_tree(child);
    }
}

pub(crate) fn signal(id: u32, name: &str) {
    assert!(send(id, name), "process {id} is gone");
}

/// Sends a signal to a process that may be gone; returns whether it was there.
pub(crate) fn send(id: u32, name: &str) -> bool {
    let sent = Command::new("kill").args(["-s", name, &id.to_string()]).status();
    sent.is_ok_and(|status| status.success())
}

impl Drop for World {
    /// What a test that fails has started in this folder is interrupted, so that it removes what it
    /// holds: a run of many rounds, with its mounts and servers, would go on for hours.
    fn drop(&mut self) {
        if std::thread::panicking() {
            for id in running_in(&self.path("")) {
                // A second panic would end all tests.
                send(id, "INT");
            }
            within(60, || running_in(&self.path("")).next().is_none());
        }
    }
}

/// Processes that this one started in `folder`, as far as the system shows them (Linux: /proc).
fn running_in(folder: &Path) -> impl Iterator<Item = u32> {
    processes().filter(move |id| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let own = status.contains(&format!("\nPPid:\t{}\n", std::process::id()));
        own && fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    })
}

impl World {
    /// How often `part` is in the record `name`, which may not be whole yet; 0 if there is none.
    pub(crate) fn count(&self, name: &str, part: &str) -> usize {
        self.text(name).matches(part).count()
    }

    /// The record `name`, which may not be whole yet; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> String {
        let read = |name: &str| fs::read_to_string(self.path(name));
        read(&format!("{name}.unfinished")).or_else(|_| read(name)).unwrap_or_default()
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
