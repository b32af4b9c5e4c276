//! A description of the machine.

use std::path::{Path, PathBuf};

use model::{Environment, Memory};

use crate::{
    clock,
    defender::defender,
    memory, mounts, os, paging, processor,
    text::{read, read_line},
};

/// Describes the machine for a run over stores at `paths`, present or not. The caller fills in
/// `libraries` and `loop_ns`.
pub fn environment(paths: &[PathBuf]) -> Environment {
    let (defender, defender_excludes) = defender(paths);
    Environment {
        machine: name(),
        storemark: env!("CARGO_PKG_VERSION").to_owned(),
        debug_build: cfg!(debug_assertions),
        os: std::env::consts::OS.to_owned(),
        kernel: kernel(),
        cpu: processor::cpu(),
        memory: Memory {
            pages_out_after_s: paging::pages_out_after().map(|time| time.as_secs()),
            ..memory::memory()
        },
        virtualised: virtualised(),
        emulator: os::emulator(),
        defender,
        defender_excludes,
        filesystems: mounts::filesystems(paths),
        libraries: Vec::new(),
        clock_ns: clock::clock_ns(),
        loop_ns: 0.0,
    }
}

/// Returns the machine's name without the domain, which describes a network more than a machine.
fn name() -> Option<String> {
    #[cfg(unix)]
    let name = Some(rustix::system::uname().nodename().to_string_lossy().into_owned());
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").ok();
    let name = name?.split('.').next()?.to_owned();
    Some(name).filter(|name| !name.is_empty())
}

fn kernel() -> Option<String> {
    os::kernel().filter(|release| !release.is_empty())
}

/// The names of vendors and products in the firmware that identify a virtual machine, and what it
/// is then called. Clouds that also rent whole machines under the same name are not included: there
/// the processor's flag decides.
const NAMES: [(&str, &str); 12] = [
    ("KVM", "KVM"),
    ("QEMU", "QEMU"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("Xen", "Xen"),
    ("Bochs", "Bochs"),
    ("Parallels", "Parallels"),
    ("Apple Virtualization", "Apple virtualisation"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("OpenStack", "OpenStack"),
    ("Microsoft Corporation Virtual Machine", "Hyper-V"),
];

/// Returns the kinds of virtual machine and container, outermost first; `None` if none was
/// detected.
fn virtualised() -> Option<String> {
    let firmware: Vec<String> = os::firmware().into_iter().flatten().collect();
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    let flag = processor::sees_hypervisor(&cpuinfo);
    with_container(machine(&firmware.join(" "), os::hypervisor(), flag), container())
}

fn with_container(machine: Option<String>, container: Option<String>) -> Option<String> {
    let container = container.map(|kind| format!("{kind} container"));
    let kinds: Vec<String> = machine.into_iter().chain(container).collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// Returns the virtual machine that the firmware or the kernel names. The processor's flag shows
/// only that there is a hypervisor, the firmware perhaps which one.
fn machine(firmware: &str, hypervisor: Option<String>, flag: bool) -> Option<String> {
    let named = NAMES.iter().find(|(name, _)| firmware.contains(name));
    named.map(|(_, kind)| (*kind).to_owned()).or(hypervisor).or_else(|| match firmware {
        _ if !flag => None,
        "" => Some("virtual machine".to_owned()),
        _ => Some(format!("virtual machine ({firmware})")),
    })
}

/// Returns the container's kind: systemd's convention first, then the files that Docker and Podman
/// create.
fn container() -> Option<String> {
    let marked = |path: &str, kind: &str| {
        (!cfg!(windows) && Path::new(path).exists()).then(|| kind.to_owned())
    };
    read_line("/run/systemd/container")
        .or_else(|| marked("/run/.containerenv", "podman"))
        .or_else(|| marked("/.dockerenv", "docker"))
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

#[cfg(test)]
mod virtual_tests {
    use super::*;

    fn judge(firmware: &str, flag: bool) -> Option<String> {
        machine(firmware, None, flag)
    }

    #[test]
    fn a_plain_machine_is_not_virtual() {
        assert_eq!(judge("", false), None);
        assert_eq!(judge("LENOVO 20XW", false), None);
        assert_eq!(judge("Amazon EC2 m7i.metal-24xl", false), None);
        assert_eq!(judge("Microsoft Corporation Surface Laptop", false), None);
    }

    #[test]
    fn a_known_name_is_enough() {
        assert_eq!(judge("QEMU Standard PC (Q35)", false).as_deref(), Some("QEMU"));
        let hyper_v = "Microsoft Corporation Virtual Machine";
        assert_eq!(judge(hyper_v, true).as_deref(), Some("Hyper-V"));
    }

    #[test]
    fn the_flag_alone_names_what_is_known() {
        assert_eq!(judge("", true).as_deref(), Some("virtual machine"));
        assert_eq!(
            judge("Amazon EC2 m7i.large", true).as_deref(),
            Some("virtual machine (Amazon EC2 m7i.large)")
        );
    }

    #[test]
    fn a_container_is_named_after_the_machine() {
        let both = with_container(Some("KVM".to_owned()), Some("docker".to_owned()));
        assert_eq!(both.as_deref(), Some("KVM, docker container"));
        let one = with_container(None, Some("podman".to_owned()));
        assert_eq!(one.as_deref(), Some("podman container"));
        assert_eq!(with_container(None, None), None);
    }

    #[test]
    fn the_kernel_may_name_the_hypervisor() {
        assert_eq!(machine("", Some("xen".to_owned()), true).as_deref(), Some("xen"));
    }
}
