//! Files of known pieces on a real ext4, in an image where this user may mount one; the honest
//! answer of whatever is there where not.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// The name the workspace calls it by.
extern crate storemark_lab as lab;

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use lab::host;

const IMAGE_BYTES: u64 = 8 << 20;
const BLOCK: usize = 4096;

/// An ext4 in a file, unmounted when it is dropped; the loop device goes with the mount.
struct Image {
    folder: tempfile::TempDir,
}

impl Image {
    /// Or what could not be done here.
    fn mount() -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let (file, place) = (folder.path().join("image"), folder.path().join("mount"));
        File::create(&file).unwrap().set_len(IMAGE_BYTES).unwrap();
        fs::create_dir(&place).unwrap();
        let form = ["-q", "-b", "4096", "-m", "0", "-N", "4096", "-O", "^has_journal"];
        run("mkfs.ext4", &[&form[..], &[text(&file)]].concat())?;
        run("mount", &["-o", "loop", text(&file), text(&place)])?;
        Ok(Self { folder })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("mount").join(name)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // A second panic would hide the first.
        if let Err(why) = run("umount", &[text(&self.folder.path().join("mount"))]) {
            eprintln!("{why}");
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    // Where Debian's tools are, which not every user's path names.
    let path = format!("{}:/usr/sbin:/sbin", env::var("PATH").unwrap_or_default());
    let output = Command::new(program).args(arguments).env("PATH", path).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = || format!("{program}: {}", String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(told) } else { Err(failed()) }
}

fn pieces(path: &Path) -> Option<u64> {
    host::extents(&[path.to_owned()]).unwrap().extents
}

/// Where no image can be mounted: not told, or at least one piece for each file.
fn nothing_is_made_up(why: &str) {
    eprintln!("no image can be mounted here: {why}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, [1; BLOCK]).unwrap();
    assert!(pieces(&file).is_none_or(|pieces| pieces == 1));
}

#[test]
fn a_file_in_one_piece_and_one_in_hundreds_are_told_apart() {
    let image = match Image::mount() {
        Ok(image) => image,
        Err(why) => return nothing_is_made_up(&why),
    };
    let whole = image.at("whole");
    fs::write(&whole, vec![1; 64 * BLOCK]).unwrap();
    assert_eq!(pieces(&whole), Some(1));

    // Single blocks until the disk is full, of which every second is free again: what comes next
    // finds no two neighbours, but for the few that metadata gives back.
    let mut blocks: Vec<PathBuf> = Vec::new();
    while fs::write(image.at(&blocks.len().to_string()), [2; BLOCK]).is_ok() {
        blocks.push(image.at(&blocks.len().to_string()));
        if blocks.len().is_multiple_of(256) {
            File::open(image.at(".")).unwrap().sync_all().unwrap();
        }
    }
    host::sync(&image.at(".")).unwrap();
    blocks.iter().step_by(2).for_each(|path| fs::remove_file(path).unwrap());
    host::sync(&image.at(".")).unwrap();
    let scattered = image.at("scattered");
    fs::write(&scattered, vec![3; 400 * BLOCK]).unwrap();
    let found = pieces(&scattered).unwrap();
    assert!((200..=400).contains(&found), "{found} pieces of 400 blocks");
    match run("filefrag", &[text(&scattered)]) {
        Ok(told) => assert!(told.contains(&format!(": {found} extents found")), "{found}: {told}"),
        Err(why) => eprintln!("{why}"),
    }
}
