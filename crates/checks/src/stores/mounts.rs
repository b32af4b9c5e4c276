//! The findings about mounted file systems: their effect on caches, flushes and deletions.
//! `docs/mounts.md` has the sources.

use model::{Filesystem, FindingKind};

/// A family of file systems with the same effects on caches and flushes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Nfs,
    Smb,
    /// A file system of another kind of server.
    Network,
    /// Folders of the host of a virtual machine.
    Host,
    /// A program of its own.
    Fuse,
    Overlay,
    Other,
}

fn family(kind: &str) -> Family {
    match kind {
        "nfs" | "nfs4" => Family::Nfs,
        "cifs" | "smb3" => Family::Smb,
        // The last three are macOS's.
        "ceph" | "afs" | "lustre" | "beegfs" | "smbfs" | "afpfs" | "webdav" => Family::Network,
        "9p" | "virtiofs" => Family::Host,
        "fuse" | "macfuse" | "osxfuse" => Family::Fuse,
        "overlay" => Family::Overlay,
        _ if kind.starts_with("fuse.") => Family::Fuse,
        _ => Family::Other,
    }
}

/// Reports whether a file system reaches its disk through something else.
pub(super) fn is_reached_through_others(kind: &str) -> bool {
    family(kind) != Family::Other
}

pub(super) fn findings(filesystem: &Filesystem) -> impl Iterator<Item = FindingKind> {
    let checks = [second_cache, flush_unproven, attributes_cached, discards, no_journal];
    checks.into_iter().filter_map(move |check| check(filesystem))
}

fn second_cache(Filesystem { kind, mount, .. }: &Filesystem) -> Option<FindingKind> {
    let holder = match family(kind) {
        Family::Nfs | Family::Smb | Family::Network => "its server",
        Family::Host => "the host",
        Family::Fuse => "its program and of what that reads",
        Family::Overlay | Family::Other => return None,
    };
    let (kind, mount, holder) = (kind.clone(), mount.clone(), holder.to_owned());
    Some(FindingKind::SecondCache { kind, mount, holder })
}

fn flush_unproven(filesystem: &Filesystem) -> Option<FindingKind> {
    let Filesystem { kind, mount, options, .. } = filesystem;
    let how = match family(kind) {
        Family::Nfs => {
            "a server whose export has the option async acknowledges a flush before its disk has the \
             data; `exportfs -v` there shows it"
        }
        Family::Smb if option(options, "nostrictsync").is_some() => {
            "the mount option nostrictsync sends no flush to the server; mount it without"
        }
        Family::Smb => {
            "the server decides whether a flush reaches its disk; `testparm -v` on a Samba server \
             shows strict sync"
        }
        Family::Fuse => {
            "the kernel acknowledges every flush if the program of the file system has no fsync; ask \
             its manual"
        }
        Family::Overlay if option(options, "volatile").is_some() => {
            "the mount option volatile leaves out every flush; mount it without"
        }
        _ => return None,
    };
    let (kind, mount, how) = (kind.clone(), mount.clone(), how.to_owned());
    Some(FindingKind::FlushUnproven { kind, mount, how })
}

/// The seconds for which clients keep attributes of files unless the mount table shows others.
const NFS_SECONDS: u64 = 60;
const SMB_SECONDS: u64 = 1;

fn attributes_cached(filesystem: &Filesystem) -> Option<FindingKind> {
    let Filesystem { kind, mount, options, .. } = filesystem;
    let usual = match family(kind) {
        Family::Nfs => NFS_SECONDS,
        Family::Smb => SMB_SECONDS,
        _ => return None,
    };
    let set = option(options, "acregmax").or_else(|| option(options, "actimeo"));
    let seconds = set.and_then(|text| text.parse().ok()).unwrap_or(usual);
    let is_kept = seconds > 0 && option(options, "noac").is_none();
    let (kind, mount) = (kind.clone(), mount.clone());
    is_kept.then_some(FindingKind::AttributesCached { kind, mount, seconds })
}

fn discards(Filesystem { kind, mount, discards, .. }: &Filesystem) -> Option<FindingKind> {
    let (kind, mount) = (kind.clone(), mount.clone());
    discards.then_some(FindingKind::Discards { kind, mount })
}

fn no_journal(Filesystem { mount, no_journal, .. }: &Filesystem) -> Option<FindingKind> {
    no_journal.then(|| FindingKind::NoJournal { mount: mount.clone() })
}

/// Returns the value of a mount option, `""` if it has none; `None` if the option is not set.
fn option<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    options.split(',').find_map(|option| match option.split_once('=') {
        Some((key, value)) => (key == name).then_some(value),
        None => (option == name).then_some(""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: &str, options: &str) -> Vec<String> {
        let (kind, options) = (kind.to_owned(), options.to_owned());
        let filesystem = Filesystem { kind, options, mount: "/mnt".into(), ..Default::default() };
        findings(&filesystem).map(|kind| kind.to_string()).collect()
    }

    /// The sentences of a file system have these words, in order.
    fn says(kind: &str, options: &str, words: &[&str]) {
        let said = found(kind, options);
        assert_eq!(said.len(), words.len(), "{kind} {options}: {said:?}");
        for (said, words) in said.iter().zip(words) {
            assert!(said.contains(words), "{kind} {options}: {said}");
        }
    }

    #[test]
    fn each_kind_has_its_caches_and_flushes() {
        let nfs = "rw,relatime,vers=4.2,rsize=1048576,hard,proto=tcp,addr=10.0.0.1";
        says("nfs4", nfs, &["of its server", "export has the option async", "up to 60 s late"]);
        let smb = "rw,vers=3.1.1,cache=strict,actimeo=1";
        says("cifs", smb, &["of its server", "strict sync", "up to 1 s late"]);
        says("smb3", "rw,nostrictsync,actimeo=0", &["of its server", "nostrictsync"]);
        says("9p", "rw,trans=virtio", &["of the host"]);
        says("virtiofs", "rw", &["of the host"]);
        for kind in ["fuse", "fuse.sshfs", "fuse.rclone", "fuse.juicefs", "fuse.bindfs", "macfuse"]
        {
            says(kind, "rw,user_id=0,group_id=0", &["of its program", "has no fsync"]);
        }
        for kind in ["ceph", "smbfs", "webdav"] {
            says(kind, "rw", &["of its server"]);
        }
        says("overlay", "rw,lowerdir=/l,upperdir=/u,workdir=/w,volatile", &["volatile"]);
    }

    #[test]
    fn a_disks_own_file_system_has_none() {
        for kind in
            ["ext4", "xfs", "btrfs", "fuseblk", "tmpfs", "overlay", "apfs", "hfs", "NTFS", ""]
        {
            says(kind, "rw,relatime", &[]);
        }
    }

    #[test]
    fn options_turn_the_cache_of_attributes_off() {
        let late = |options: &str| found("nfs", options).iter().any(|said| said.contains("late"));
        assert!(late("rw,acregmin=3,acregmax=5"));
        for options in ["rw,noac", "rw,acregmin=0,acregmax=0", "actimeo=0"] {
            assert!(!late(options), "{options}");
        }
        assert!(found("nfs", "acregmax=5").iter().any(|said| said.contains("up to 5 s late")));
        assert!(late("rw,acregmax=soon"));
    }

    #[test]
    fn discards_are_a_finding_where_the_host_found_them() {
        let discards = Filesystem { discards: true, kind: "ext4".into(), ..Default::default() };
        let said: Vec<_> = findings(&discards).map(|kind| kind.to_string()).collect();
        assert!(matches!(&said[..], [said] if said.contains("fstrim")), "{said:?}");
    }

    #[test]
    fn an_ext4_without_a_journal_is_a_finding() {
        let without = Filesystem { no_journal: true, kind: "ext4".into(), ..Default::default() };
        let said: Vec<_> = findings(&without).map(|kind| kind.to_string()).collect();
        assert!(matches!(&said[..], [said] if said.contains("six minutes")), "{said:?}");
    }
}
