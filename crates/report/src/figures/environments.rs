//! What differs between the machines and the software that records were made on.
//!
//! What is measured each time (a flush, a look at the clock) differs if it is at least twice
//! as long; the memory that happened to be free, mount points and numbers of loop devices do not
//! count.

use itertools::Itertools;
use model::{Environment, Filesystem, Library, units::show_size};

use crate::Unlike;

/// What differs between `all`, the machine first, then what runs on it.
pub fn environment_differences(all: &[&Environment]) -> Vec<Unlike> {
    let plain = ASPECTS.iter().filter_map(|(what, value)| Unlike::of_each(what, all, value));
    let measured = MEASURED.iter().filter_map(|(what, ns)| measured(what, all, *ns));
    let libraries = all.iter().flat_map(|environment| &environment.libraries);
    let names = libraries.map(|library| library.name.as_str()).unique();
    plain.chain(measured).chain(names.flat_map(|name| library(name, all)).flatten()).collect()
}

/// What identifies a machine, with its name; empty: not known.
pub(crate) const ASPECTS: [(&str, fn(&Environment) -> String); 14] = [
    ("storemark", |e| e.storemark.clone()),
    ("build of storemark", |e| if e.debug_build { "debug" } else { "release" }.to_owned()),
    ("system", |e| e.os.clone()),
    ("kernel", |e| e.kernel.clone().unwrap_or_default()),
    ("processor", |e| e.cpu.model.clone().unwrap_or_default()),
    ("processors", |e| e.cpu.count.to_string()),
    ("last-level cache", |e| size(e.cpu.last_level_cache_bytes)),
    ("frequency governor", |e| e.cpu.governor.clone().unwrap_or_default()),
    ("memory", |e| size(e.memory.total_bytes)),
    ("swap space", |e| size(e.memory.swap_bytes)),
    ("virtual machine", |e| e.virtualised.clone().unwrap_or_else(|| "none seen".to_owned())),
    ("file system", |e| each_filesystem(e, kind)),
    ("mount options", |e| each_filesystem(e, |fs| fs.options.clone())),
    ("disk", |e| each_filesystem(e, disk)),
];

fn size(bytes: Option<u64>) -> String {
    bytes.map(show_size).unwrap_or_default()
}

/// What all of them are, each once.
fn each_filesystem(environment: &Environment, word: fn(&Filesystem) -> String) -> String {
    environment.filesystems.iter().map(word).dedup().join("; ")
}

fn kind(filesystem: &Filesystem) -> String {
    match &filesystem.compression {
        Some(how) => format!("{} compressing with {how}", filesystem.kind),
        None => filesystem.kind.clone(),
    }
}

fn disk(filesystem: &Filesystem) -> String {
    let device = filesystem.device.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_loop = device.ends_with("/loop");
    let device = if is_loop { device } else { &filesystem.device };
    let turns = if filesystem.rotational == Some(true) { ", rotating" } else { "" };
    let direct = match filesystem.loop_direct_io {
        Some(true) => ", past the page cache",
        Some(false) => ", through the page cache",
        None => "",
    };
    format!("{device}{turns}{direct}")
}

/// How much longer one of them must be.
const TWICE: f64 = 2.0;

const MEASURED: [(&str, fn(&Environment) -> Option<u64>); 2] = [
    ("flush of 4 KiB, median", |e| Some(e.filesystems.first()?.flush?.p50_ns)),
    ("look at the clock", |e| Some(e.clock_ns)),
];

fn measured(
    what: &str,
    all: &[&Environment],
    ns: fn(&Environment) -> Option<u64>,
) -> Option<Unlike> {
    let times: Vec<u64> = all.iter().map(|environment| ns(environment)).collect::<Option<_>>()?;
    let (least, most) = (times.iter().min()?, times.iter().max()?);
    let differ = *most as f64 >= TWICE * *least as f64;
    let show = |ns: &u64| format!("{} µs", model::units::three_digits(*ns as f64 / 1e3));
    differ.then(|| Unlike::of(what, times.iter().map(show)))?
}

/// Its versions, and its options if all records have it.
fn library(name: &str, all: &[&Environment]) -> [Option<Unlike>; 2] {
    let find = |environment: &&Environment| {
        environment.libraries.iter().find(|library| library.name == name).cloned()
    };
    let found: Vec<Option<Library>> = all.iter().map(find).collect();
    let versions = found.iter().map(|library| Some(library.as_ref()?.version.clone()));
    let options: Option<Vec<_>> =
        found.iter().map(|library| Some(library.as_ref()?.options.clone())).collect();
    [
        Unlike::of(name, versions.map(Option::unwrap_or_default)),
        options.and_then(|lists| Unlike::of_lists(&format!("{name} compiled with"), &lists)),
    ]
}
