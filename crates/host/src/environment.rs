//! A description of the machine.

use std::path::PathBuf;

use model::Environment;

use crate::{clock, memory, mounts, processor, virtualised};

/// Describes the machine for a run over stores at `paths`, present or not. The caller fills in
/// `libraries` and `loop_ns`.
pub fn environment(paths: &[PathBuf]) -> Environment {
    Environment {
        storemark: env!("CARGO_PKG_VERSION").to_owned(),
        debug_build: cfg!(debug_assertions),
        os: std::env::consts::OS.to_owned(),
        kernel: kernel(),
        cpu: processor::cpu(),
        memory: memory::memory(),
        virtualised: virtualised::virtualised(),
        filesystems: mounts::filesystems(paths),
        libraries: Vec::new(),
        clock_ns: clock::clock_ns(),
        loop_ns: 0.0,
    }
}

#[cfg(unix)]
fn kernel() -> Option<String> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    (!release.is_empty()).then_some(release)
}

#[cfg(not(unix))]
fn kernel() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_reports_everything() {
        let environment = environment(&[PathBuf::from("/proc/self/no/such/file"), "/proc".into()]);
        assert_eq!(environment.os, "linux");
        assert!(environment.kernel.is_some_and(|kernel| !kernel.is_empty()));
        assert!(environment.cpu.count > 0);
        assert!(environment.memory.total_bytes > environment.memory.available_bytes);
        let kinds: Vec<_> = environment.filesystems.iter().map(|fs| fs.kind.as_str()).collect();
        assert_eq!(kinds, ["proc"]);
    }
}
