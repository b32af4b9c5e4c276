//! Stores on a file system that a program provides.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{running::within, world::World};

/// A folder that bindfs shows at another place, as long as this lives.
struct Bound(PathBuf);

impl Bound {
    fn new(from: &Path, at: PathBuf) -> Self {
        fs::create_dir(&at).unwrap();
        let bound = Command::new("bindfs").arg(from).arg(&at).output();
        let bound = bound.expect("bindfs is installed by `make test`");
        assert!(bound.status.success(), "{bound:?}");
        Self(at)
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        let unmount = || {
            // What still ends there does not keep it.
            let all = [("umount", "-l"), ("fusermount3", "-uz"), ("fusermount", "-uz")];
            all.into_iter().any(|(program, option)| {
                let ran = Command::new(program).arg(option).arg(&self.0).output();
                ran.is_ok_and(|ran| ran.status.success())
            })
        };
        assert!(unmount() || std::thread::panicking(), "{} is still mounted", self.0.display());
    }
}

#[test]
fn what_a_program_in_between_does_is_a_finding() {
    if !Path::new("/dev/fuse").exists() {
        return host::unchecked("fuse", "/dev/fuse is absent");
    }
    let world = World::new();
    fs::create_dir(world.path("below")).unwrap();
    let bound = Bound::new(&world.path("below"), world.path("mounted"));
    let line = "run files: --scratch mounted --cache data-cold --read --keys 50 --rounds 1 -v";
    let cold = world.ok(line).words();
    assert!(cold.contains("in a second cache too, that of its program"), "{cold}");
    assert!(cold.contains("the stores are on fuse"), "{cold}");
    assert!(!cold.contains("may prove nothing"), "nothing is flushed: {cold}");
    let line = "run files: --scratch mounted --update --durability durable --keys 20 --rounds 1 -v";
    let durable = world.ok(line).words();
    assert!(
        durable.contains("may prove nothing: the kernel acknowledges every flush"),
        "{durable}"
    );
    assert!(!durable.contains("in a second cache"), "nothing is cold: {durable}");
    // FUSE removes a file that was open under another name, once its last user has gone.
    let left = || fs::read_dir(&bound.0).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(within(10, || left().next().is_none()), "{:?}", left().collect::<Vec<_>>());
}
