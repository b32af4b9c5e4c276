//! Differences between several records, in words.
//!
//! Of machines and software, what is measured each time (a flush, a look at the clock) differs if it
//! is at least twice as long; the memory that happened to be free, mount points and numbers of loop
//! devices do not count. Of plans, seeds, the number of rounds and what is calibrated on the spot
//! (operations in a pass) do not count, nor do the places of stores and folders, which differ from
//! machine to machine.

use std::fmt;

use itertools::Itertools;
use model::{
    Environment, Filesystem, Library, MemoryLimit, Plan,
    record::Record,
    units::{show_count, show_size},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{experiment::experiment_report, number::NONE, words};

/// An aspect in which several records differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Differs")]
pub struct Unlike {
    /// The aspect: `kernel`, `workloads`.
    pub what: String,
    /// Its value in each record, in their order.
    pub values: Vec<String>,
    /// How to make it the same; absent from JSON if it cannot be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Unlike {
    /// Compares values; `None` if all are equal. An empty value is not known, or lacks nothing that
    /// others have.
    pub(crate) fn compare(what: &str, values: impl IntoIterator<Item = String>) -> Option<Self> {
        let shown = |value: String| if value.is_empty() { NONE.to_owned() } else { value };
        let values: Vec<String> = values.into_iter().map(shown).collect();
        let differ = values.windows(2).any(|two| two[0] != two[1]);
        differ.then(|| Self { what: what.to_owned(), values, advice: None })
    }

    /// Compares what `value` returns for each element.
    pub(crate) fn compare_each<T>(
        what: &str,
        all: &[&T],
        value: impl Fn(&T) -> String,
    ) -> Option<Self> {
        Self::compare(what, all.iter().map(|one| value(one)))
    }

    /// Compares lists; keeps only items that are not in all of them, unless the lists differ only
    /// in their order.
    pub(crate) fn compare_lists(what: &str, lists: &[Vec<String>]) -> Option<Self> {
        let whole = || lists.iter().map(|list| list.join("; "));
        let differ = Self::compare(what, whole())?;
        let in_all = |item: &String| lists.iter().all(|list| list.contains(item));
        let own = |list: &Vec<String>| list.iter().filter(|item| !in_all(item)).join("; ");
        Some(Self::compare(what, lists.iter().map(own)).unwrap_or(differ))
    }
}

/// Formats as `kernel: 6.18.5 against 6.12.1`, with the advice.
impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.values.join(" against "))?;
        self.advice.as_ref().map_or(Ok(()), |advice| write!(f, "; {advice}"))
    }
}

/// Returns the differences between environments, first those of the machine, then those of what
/// runs on it.
pub fn environment_differences(all: &[&Environment]) -> Vec<Unlike> {
    let plain = ASPECTS.iter().filter_map(|(what, value)| Unlike::compare_each(what, all, value));
    let measured = MEASURED.iter().filter_map(|(what, ns)| measured(what, all, *ns));
    let libraries = all.iter().flat_map(|environment| &environment.libraries);
    let names = libraries.map(Library::title).unique();
    plain.chain(measured).chain(names.flat_map(|name| library(&name, all)).flatten()).collect()
}

/// The name of an aspect of a machine, and how its value is read.
pub(crate) type EnvironmentAspect<T> = (&'static str, fn(&Environment) -> T);

/// The aspects that identify a machine, each with its name; a value is empty if it is not known.
pub(crate) const ASPECTS: [EnvironmentAspect<String>; 14] = [
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

/// Joins the words for all file systems, each once.
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

/// The factor by which measured times must differ.
const TWICE: f64 = 2.0;

const MEASURED: [EnvironmentAspect<Option<u64>>; 2] = [
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
    differ.then(|| Unlike::compare(what, times.iter().map(show)))?
}

/// Compares the versions of a library, and its options if all records have it.
fn library(name: &str, all: &[&Environment]) -> [Option<Unlike>; 2] {
    let find = |environment: &&Environment| {
        environment.libraries.iter().find(|library| library.title() == name).cloned()
    };
    let found: Vec<Option<Library>> = all.iter().map(find).collect();
    let version = |library: &Library| {
        let program = library.program.as_ref().map(|program| format!(" of storemark {program}"));
        library.version.clone() + &program.unwrap_or_default()
    };
    let versions = found.iter().map(|library| library.as_ref().map(version));
    let options: Option<Vec<_>> =
        found.iter().map(|library| Some(library.as_ref()?.options.clone())).collect();
    [
        Unlike::compare(name, versions.map(Option::unwrap_or_default)),
        options.and_then(|lists| Unlike::compare_lists(&format!("{name} compiled with"), &lists)),
    ]
}

/// Returns the differences between plans. If there is none, their workloads, cache states and
/// targets have the same indices.
pub fn plan_differences(all: &[&Plan]) -> Vec<Unlike> {
    let lists = |what, of: fn(&Plan) -> Vec<String>| {
        Unlike::compare_lists(what, &all.iter().map(|plan| of(plan)).collect::<Vec<_>>())
    };
    let compared = [
        lists("targets", |plan| plan.targets.iter().map(words::target).collect()),
        lists("workloads", |plan| plan.workloads.iter().map(words::workload).collect()),
        lists("cache states", |plan| plan.caches.iter().map(ToString::to_string).collect()),
        Unlike::compare_each("baseline", all, |plan| words::label(plan, plan.baseline).to_owned()),
    ];
    compared.into_iter().flatten().chain(data_difference(all)).chain(conditions(all)).collect()
}

/// Describes how the plans of two records, or of two sweeps, differ; `None` if they do not.
pub(crate) fn record_difference(one: &[Record], other: &[Record]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("runs: {} against {}", one.len(), other.len()));
    }
    let varied = |record: &Record| record.header.point.as_ref().map(|point| point.varied.clone());
    one.iter().zip(other).find_map(|(one, other)| {
        let plans = plan_differences(&[&one.header.plan, &other.header.plan]);
        let words: Vec<_> = plans.iter().map(ToString::to_string).collect();
        if words.is_empty() {
            return (varied(one) != varied(other)).then(|| "what varies".to_owned());
        }
        Some(words.join("; "))
    })
}

/// Compares the data of the plans.
pub(crate) fn data_difference(all: &[&Plan]) -> Option<Unlike> {
    Unlike::compare_each("data", all, |plan| experiment_report(plan).data_for_comparison())
}

/// Compares the conditions under which the plans do the same work with the same data.
pub(crate) fn conditions(all: &[&Plan]) -> Vec<Unlike> {
    let same = "use the same --durability for all records".to_owned();
    let durability = Unlike::compare_each("durability", all, durability);
    let aspects = [
        Unlike::compare_each("keys touched", all, touched),
        durability.map(|unlike| Unlike { advice: Some(same), ..unlike }),
        Unlike::compare_each("memory", all, memory),
    ];
    aspects.into_iter().flatten().collect()
}

/// Returns the conditions that other records of one history share.
pub(crate) fn conditions_of(plan: &Plan) -> [String; 2] {
    [format!("durability: {}", durability(plan)), format!("memory: {}", memory(plan))]
}

fn durability(plan: &Plan) -> String {
    match plan.durability {
        Some(class) => format!("{class} for all targets"),
        None => "each target's own".to_owned(),
    }
}

fn touched(plan: &Plan) -> String {
    let Some(summary) = plan.experiment.summary() else { return String::new() };
    let available = plan.experiment.available().unwrap_or(summary.count);
    format!("{} of {}", show_count(summary.count), show_count(available))
}

fn memory(plan: &Plan) -> String {
    match plan.memory {
        None => "not limited".to_owned(),
        Some(MemoryLimit { bytes, limit_bytes: Some(_), .. }) => show_size(bytes),
        Some(MemoryLimit { bytes, .. }) => format!("{} for caches alone", show_size(bytes)),
    }
}
