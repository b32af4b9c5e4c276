//! Whether the machine is a virtual one, or a container.

use std::{fs, path::Path};

use crate::{processor::sees_hypervisor, text::read_line};

/// Names of vendors and products in the firmware that identify a virtual machine, and what it is
/// then called. Clouds that also rent whole machines under the same name are not included: there
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

/// Kinds of virtual machine and container, outermost first; `None`: none was seen.
pub(crate) fn virtualised() -> Option<String> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let hints = Hints {
        firmware: firmware(),
        hypervisor: read_line("/sys/hypervisor/type"),
        flag: sees_hypervisor(&cpuinfo),
        container: container(),
    };
    hints.judge()
}

/// Vendor and product, as the firmware gives them.
fn firmware() -> Option<String> {
    let names = ["sys_vendor", "product_name"];
    let found = names.map(|name| read_line(Path::new("/sys/class/dmi/id").join(name)));
    let known: Vec<String> = found.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(" "))
}

/// The container's kind: systemd's convention first, then the files that Docker and Podman create.
fn container() -> Option<String> {
    let marked = |path: &str, kind: &str| Path::new(path).exists().then(|| kind.to_owned());
    read_line("/run/systemd/container")
        .or_else(|| marked("/run/.containerenv", "podman"))
        .or_else(|| marked("/.dockerenv", "docker"))
}

#[derive(Default)]
struct Hints {
    firmware: Option<String>,
    hypervisor: Option<String>,
    flag: bool,
    container: Option<String>,
}

impl Hints {
    fn judge(&self) -> Option<String> {
        let container = self.container.as_ref().map(|kind| format!("{kind} container"));
        let parts: Vec<String> = self.machine().into_iter().chain(container).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn machine(&self) -> Option<String> {
        self.by_name().or_else(|| self.hypervisor.clone()).or_else(|| self.by_flag())
    }

    fn by_name(&self) -> Option<String> {
        let firmware = self.firmware.as_ref()?;
        let (_, kind) = NAMES.iter().find(|(name, _)| firmware.contains(name))?;
        Some((*kind).to_owned())
    }

    /// The flag shows that there is a hypervisor, the firmware perhaps whose.
    fn by_flag(&self) -> Option<String> {
        self.flag.then(|| match &self.firmware {
            Some(firmware) => format!("virtual machine ({firmware})"),
            None => "virtual machine".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(firmware: &str, flag: bool, container: &str) -> Option<String> {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let (firmware, container) = (some(firmware), some(container));
        Hints { firmware, hypervisor: None, flag, container }.judge()
    }

    #[test]
    fn a_plain_machine_is_not_virtual() {
        assert_eq!(judge("LENOVO 20XW", false, ""), None);
        assert_eq!(judge("Amazon EC2 m7i.metal-24xl", false, ""), None);
        assert_eq!(judge("Microsoft Corporation Surface Laptop", false, ""), None);
    }

    #[test]
    fn a_known_name_is_enough() {
        assert_eq!(judge("QEMU Standard PC (Q35)", false, "").as_deref(), Some("QEMU"));
        let hyper_v = "Microsoft Corporation Virtual Machine";
        assert_eq!(judge(hyper_v, true, "").as_deref(), Some("Hyper-V"));
    }

    #[test]
    fn the_flag_alone_names_what_is_known() {
        assert_eq!(judge("", true, "docker").as_deref(), Some("virtual machine, docker container"));
        assert_eq!(
            judge("Amazon EC2 m7i.large", true, "").as_deref(),
            Some("virtual machine (Amazon EC2 m7i.large)")
        );
    }

    #[test]
    fn a_container_on_a_plain_machine_is_a_container() {
        assert_eq!(judge("LENOVO 20XW", false, "podman").as_deref(), Some("podman container"));
    }

    #[test]
    fn the_kernel_may_name_the_hypervisor() {
        let hints = Hints { hypervisor: Some("xen".to_owned()), flag: true, ..Hints::default() };
        assert_eq!(hints.judge().as_deref(), Some("xen"));
    }
}
