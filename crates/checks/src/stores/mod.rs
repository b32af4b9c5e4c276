//! The findings about the plan, the machine and the stores.

mod machine;
mod mounts;
mod work;

use std::collections::{BTreeSet, HashSet};

use model::{
    Cache, Filesystem, Finding, FindingKind, LIBRARY, Plan, PlannedTarget, Server, Settings,
    StoreFacts, TableFacts, Work,
    record::{Header, Record},
};

use crate::{series::facts, sizes::few_hold_most};
pub use machine::of_machine;

/// Returns the findings about the header and the stores of a record, for any experiment.
pub fn of_stores(record: &Record) -> Vec<Finding> {
    let mut findings = machine::findings(record);
    findings.extend(work::outnumbering(record));
    findings.extend(work::findings(record));
    if record.header.plan.experiment.blobs().is_some() {
        let kinds = [fits_cpu_cache(record), memory_small(record), few_hold_most(record)];
        findings.extend(kinds.into_iter().flatten().map(Finding::run));
    }
    findings.extend(record.stores.iter().flat_map(|facts| of_store(record, facts)));
    findings
}

fn of_store(record: &Record, facts: &StoreFacts) -> Vec<Finding> {
    let plan = &record.header.plan;
    let mut kinds = setting_not_in_effect(plan, facts);
    kinds.extend(durability_differs(record, facts));
    kinds.extend(linked_differently(record, facts));
    kinds.extend(own_table(plan, facts));
    if plan.experiment.blobs().is_some() {
        kinds.extend(filesystem_differs(record, facts));
        kinds.extend(memory_differs(record, facts));
    }
    // Without values, servers and libraries are compared by intent.
    if plan.experiment.summary().is_some() {
        kinds.extend(server(record, facts));
    }
    let label = &plan.targets[facts.target].label;
    let findings = kinds.into_iter().map(|kind| Finding::target(kind, label));
    findings.chain(work::of_store(record, facts)).collect()
}

fn setting_not_in_effect(plan: &Plan, facts: &StoreFacts) -> Vec<FindingKind> {
    let Settings(asked) = &plan.targets[facts.target].settings;
    let differs = |(name, asked): (&String, &String)| {
        let effect = facts.in_effect.get(name).unwrap_or("nothing");
        (effect != asked && !is_rounded(asked, effect)).then(|| FindingKind::SettingNotInEffect {
            name: name.clone(),
            asked: asked.clone(),
            effect: effect.to_owned(),
        })
    };
    asked.iter().filter_map(differs).collect()
}

/// Reports whether a size is in effect except for rounding: SQLite maps a few pages less than 2 GiB
/// at most.
fn is_rounded(asked: &str, effect: &str) -> bool {
    const ROUNDED: f64 = 1e-3;
    let [asked, effect] = [asked, effect].map(|size| size.parse::<u64>().map(|size| size as f64));
    asked.is_ok_and(|asked| effect.is_ok_and(|effect| (effect - asked).abs() < ROUNDED * asked))
}

/// Returns a finding if durability differs from the baseline's and the run writes: only what is
/// written can be lost.
fn durability_differs(record: &Record, facts: &StoreFacts) -> Option<FindingKind> {
    let plan = &record.header.plan;
    plan.first_workload(Work::writes).filter(|_| !plan.is_reference(facts.target))?;
    let (class, baseline) = (facts.durability, baseline(record)?.durability);
    (class != baseline).then_some(FindingKind::DurabilityDiffers { class, baseline })
}

/// Returns what a reader has to know of a table of the user's own: only what is written to is a copy.
fn own_table(plan: &Plan, facts: &StoreFacts) -> Vec<FindingKind> {
    let Some(TableFacts { values, texts, not_in_copy, .. }) = &facts.table else {
        return Vec::new();
    };
    let (values, texts) = (*values, *texts);
    let parts = not_in_copy.join(", ");
    let is_written = plan.first_workload(Work::writes).is_some();
    let lacks = (is_written && !parts.is_empty()).then_some(FindingKind::NotInCopy { parts });
    let mixed = (texts > 0).then_some(FindingKind::TextsAmongBytes { texts, values });
    lacks.into_iter().chain(mixed).collect()
}

/// The largest number of compile options that are named.
const NAMED: usize = 4;

/// Returns a finding if of two builds of a library one is loaded and the other part of the program.
fn linked_differently(record: &Record, facts: &StoreFacts) -> Option<FindingKind> {
    let Header { plan, environment, .. } = &record.header;
    let both = [facts.target, plan.baseline].map(|target| &plan.targets[target]);
    let lib = |target: &PlannedTarget| target.settings.get(LIBRARY).map(str::to_owned);
    let [own, baseline] = both.map(lib);
    let same = both[0].engine == both[1].engine && !plan.is_reference(facts.target);
    if !same || own.is_some() == baseline.is_some() {
        return None;
    }
    let options = |loaded: Option<String>| {
        let mut all = environment.libraries.iter();
        let is_own = |name: &str| name.eq_ignore_ascii_case(&both[0].engine);
        let found = all.find(|of| is_own(&of.name) && of.loaded == loaded);
        let options = found.into_iter().flat_map(|library| &library.options);
        // Which compiler it was is another matter.
        options.filter(|option| !option.starts_with("COMPILER=")).cloned().collect::<BTreeSet<_>>()
    };
    let [own, baseline] = [own, baseline].map(options);
    let differ: Vec<_> = own.symmetric_difference(&baseline).map(String::as_str).collect();
    let more = if differ.len() > NAMED { " and more" } else { "" };
    let named = differ.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    Some(FindingKind::LinkedDifferently { options: named + more })
}

fn baseline(record: &Record) -> Option<&StoreFacts> {
    facts(record, record.header.plan.baseline)
}

/// Returns a finding if the store is on another file system than the baseline's, unless that was
/// chosen for the comparison.
fn filesystem_differs(record: &Record, facts: &StoreFacts) -> Option<FindingKind> {
    let chosen = record.header.plan.targets[facts.target].on.is_some();
    let of = |facts: &StoreFacts| {
        let mounted = |filesystem: &&Filesystem| facts.mount.as_ref() == Some(&filesystem.mount);
        record.header.environment.filesystems.iter().find(mounted)
    };
    let (own, baseline) = (of(facts)?, of(baseline(record)?)?);
    // One that is mounted twice is one.
    let differs = (&own.kind, &own.device) != (&baseline.kind, &baseline.device);
    let word = |Filesystem { kind, device, mount, .. }: &Filesystem| {
        format!("{kind} ({device}, mounted on {mount})")
    };
    (differs && !chosen)
        .then(|| FindingKind::FilesystemDiffers { filesystem: word(own), baseline: word(baseline) })
}

/// Returns the findings about a server: it is asked over a socket, and one that storemark did not
/// start cannot be examined.
fn server(record: &Record, facts: &StoreFacts) -> Vec<FindingKind> {
    let library = record.stores.iter().any(|facts| facts.server.is_none());
    let socket = facts.server.filter(|_| library).map(|_| FindingKind::OverSocket);
    let unseen = (facts.server == Some(Server::Existing)).then_some(FindingKind::ServerUnseen);
    socket.into_iter().chain(unseen).collect()
}

/// The smallest factor between the data and the processor's cache: with less, a part of the data is
/// read from the cache more often than all of it would be.
const CACHES: u64 = 4;

/// Returns a finding if the data fits into the processor's cache, where it is measured in memory. Data that does
/// not fit is not blamed for a part that does.
fn fits_cpu_cache(record: &Record) -> Option<FindingKind> {
    let plan = &record.header.plan;
    let is_in_memory = |cache: &Cache| matches!(cache, Cache::Warm | Cache::Limited);
    let blobs = plan.experiment.blobs().filter(|_| plan.caches.iter().any(is_in_memory))?;
    let summary = &blobs.summary;
    let cache = record.header.environment.cpu.last_level_cache_bytes?;
    let (measured, all) = match (blobs.sampled_from, blobs.drawn) {
        (Some(all), _) => (summary.bytes, all.bytes),
        (None, Some(drawn)) => {
            let bytes = u128::from(summary.bytes) * u128::from(drawn);
            let bytes = bytes / u128::from(summary.count.max(1));
            (u64::try_from(bytes).unwrap_or(u64::MAX), summary.bytes)
        }
        (None, None) => (summary.bytes, summary.bytes),
    };
    if all < cache {
        return Some(FindingKind::FitsCpuCache { bytes: all, cache, all: None });
    }
    let is_small = measured < all && measured < cache.saturating_mul(CACHES);
    is_small.then_some(FindingKind::FitsCpuCache { bytes: measured, cache, all: Some(all) })
}

fn memory_small(record: &Record) -> Option<FindingKind> {
    let plan = &record.header.plan;
    // A limit is there to be smaller than the data, and each trial says what memory holds of a store that is
    // measured as it was found.
    if plan.is_limited() || plan.caches.contains(&Cache::AsFound) {
        return None;
    }
    let mut locations = HashSet::new();
    let mut is_new = |facts: &&StoreFacts| {
        let location = plan.targets.get(facts.target).map_or("", |target| &*target.location);
        location.is_empty() || locations.insert(location)
    };
    let bytes = record.stores.iter().filter(|facts| is_new(facts));
    let bytes = bytes.map(|facts| facts.allocated_bytes).sum();
    let available = record.header.environment.memory.available_bytes?;
    (bytes > available).then_some(FindingKind::MemorySmall { bytes, available })
}

/// The largest difference of two targets' own memory that is not reported, in bytes. SQLite's cache
/// has 2 MB unless it is set otherwise.
const OWN_MEMORY: u64 = 16 << 20;
/// The largest such difference as a part of the data: one in this many bytes.
const OWN_MEMORY_PART: u64 = 10;

/// Returns a finding if memory differs from the baseline's. More memory is an advantage as far as
/// there is data to put into it, and shows if the difference is a good part of the data: more than
/// a tenth, and more than engines differ by themselves.
fn memory_differs(record: &Record, facts: &StoreFacts) -> Option<FindingKind> {
    let plan = &record.header.plan;
    // Memory for an own cache is taken from the page cache.
    if plan.is_limited() {
        return None;
    }
    let (bytes, baseline) = (facts.memory_bytes?, baseline(record)?.memory_bytes?);
    let data = plan.experiment.summary()?.bytes;
    let difference = bytes.min(data).abs_diff(baseline.min(data));
    let differs = difference > OWN_MEMORY.max(data / OWN_MEMORY_PART);
    differs.then_some(FindingKind::MemoryDiffers { bytes, baseline })
}
