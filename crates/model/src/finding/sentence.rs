//! Each doubt as a sentence: what is doubtful, then what to do.

use std::fmt;

use super::FindingKind;
use crate::{
    Cache,
    units::{show_count, show_rate, show_size, three_digits},
};

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// What is doubtful, then what to do.
impl fmt::Display for FindingKind {
    #[expect(clippy::too_many_lines, reason = "one arm a sentence")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DebugBuild => f.write_str(
                "storemark was built without optimisation: no figure counts; build with --release",
            ),
            Self::KeysNotCovered { touched, keys } => write!(
                f,
                "a pass touches {} of {} keys, so caches hold more of the data than they would; leave out --count and --max-id to touch all",
                show_count(*touched),
                show_count(*keys)
            ),
            Self::SettingNotInEffect { name, asked, effect } => write!(
                f,
                "{name}={asked} was asked for, {name}={effect} is in effect; the figures are for the latter"
            ),
            Self::DurabilityDiffers { class, baseline } => write!(
                f,
                "durability is {class}, the baseline's {baseline}: not the same work; --durability {} sets both alike, or refuses what cannot be",
                class.max(baseline)
            ),
            Self::FitsCpuCache { bytes, cache } => write!(
                f,
                "the data ({}) fits into the processor's cache ({}); measure with more of it",
                show_size(*bytes),
                show_size(*cache)
            ),
            Self::UnusualFilesystem { kind, mount } => write!(
                f,
                "the stores are on {kind} ({mount}), not on a disk's own file system; --scratch DIR puts them elsewhere"
            ),
            Self::OtherLoad { cpus } => write!(
                f,
                "other processes used up to {} processors; stop them and run again",
                three_digits(*cpus)
            ),
            Self::Steal { share } => write!(
                f,
                "the hypervisor took up to {} of the processors' time; run again at a quieter time",
                percent(*share)
            ),
            Self::TooNoisy { half_width, precision } => write!(
                f,
                "the interval is up to ±{}, wider than the ±{} aimed for; give it more --time (with --rounds, more of them) or a quieter machine",
                percent(*half_width),
                percent(*precision)
            ),
            Self::TooFewRounds { rounds, min } => write!(
                f,
                "{rounds} round{} run; fewer than {min} cannot carry a verdict; give it more --rounds, or more --time without that",
                if *rounds == 1 { "" } else { "s" }
            ),
            Self::ToolShare { share } => write!(
                f,
                "storemark's own loop is up to {} of the measured time; the engine is faster than this shows",
                percent(*share)
            ),
            Self::Arithmetic { what } => {
                write!(f, "the figures contradict each other: {what}; do not use them, and report this")
            }
            Self::BytesDiffer { key } => write!(
                f,
                "the bytes are not the baseline's (first at key {key}), keys and lengths are; `storemark verify` names all"
            ),
            Self::OrderOfInsertion => f.write_str(
                "keys are touched in a fixed order, maybe that of their insertion, which is kinder than most uses; leave out --asc and --desc for a random one",
            ),
            Self::LeftToBackground { share } => write!(
                f,
                "flushing what was left to the background took up to another {} of the measured time, which is not counted; --durability durable counts it",
                percent(*share)
            ),
            Self::FlushedOnClose { kind } => write!(
                f,
                "{kind} writes a file out when it is closed after it was truncated, or when it is renamed over another (auto_da_alloc): the time holds what other stores leave to the background; write=overwrite does not truncate"
            ),
            Self::MemorySmall { bytes, available } => write!(
                f,
                "the stores ({}) are larger than the free memory ({}): reads come from the device in part; use a smaller --count",
                show_size(*bytes),
                show_size(*available)
            ),
            Self::LoadUnknown => f.write_str(
                "this system does not tell what else ran during the trials; see that nothing does",
            ),
            Self::StateNotReached { cache: Cache::Warm, resident, .. } => write!(
                f,
                "only {} of the pages were in memory when a trial began: it is not shown as warm; another process dropped them, or memory is short",
                percent(*resident)
            ),
            Self::StateNotReached { cache, resident, names } => write!(
                f,
                "{} of the pages{} were still in memory when a trial began: it is not shown as {cache}; another process uses the store, or its file system is memory",
                percent(*resident),
                names.map_or_else(String::new, |names| format!(" and {} of the names", percent(names)))
            ),
            Self::StateFetched { fetched } => write!(
                f,
                "up to {} bytes came from the device for each byte read in a warm trial: it is not shown as warm; another process dropped its pages, or memory is short",
                three_digits(*fetched)
            ),
            Self::StateNotFetched { cache, fetched } => write!(
                f,
                "only {} bytes came from the device for each byte read: it is not shown as {cache}; another process had read the store, or opening it did, or the file system compresses; use more data, and stop what else reads it",
                three_digits(*fetched)
            ),
            Self::StateLost { resident } => write!(
                f,
                "pages left the memory during a warm trial: {} were still there at its end; another process dropped them, or memory is short",
                percent(*resident)
            ),
            Self::StateUnproven { why } => {
                write!(f, "what was in memory is not proven: {why}")
            }
            Self::StateUnreachable { cache, why } => {
                write!(f, "nothing was measured {cache}: {why}")
            }
            Self::AlwaysWarm => f.write_str("no files of its own are at hand, so that it is measured as it is, never cold"),
            Self::OnlyWarm => f.write_str(
                "measured warm only; --cache warm,data-cold shows reading from the device as well",
            ),
            Self::CachedTwice { device } => write!(
                f,
                "what {device} reads is cached a second time, under it: cold reads may not reach a device; `losetup --direct-io=on {device}` turns that off"
            ),
            Self::LoopDevice { kind, device, direct } => write!(
                f,
                "{kind} stands on {device}, a loop device {} direct I/O: every write goes through the file system under it as well; compare it with others on loop devices, not with one on a disk",
                if *direct { "with" } else { "without" }
            ),
            Self::HostMayCache { machine } => write!(
                f,
                "this is a virtual machine{}: its host may hold in memory what is cold here, which no one here can see; compare cold figures within this run only",
                if machine == "virtual machine" { String::new() } else { format!(" ({machine})") }
            ),
            Self::SameBytes { share } => write!(
                f,
                "{} of the values looked at held already what was to be written, and some engines skip such writes; use another --seed",
                percent(*share)
            ),
            Self::Compressible { kind, ratio } => write!(
                f,
                "{kind} compresses, and a sample of the data deflates to {}: fewer bytes reach the device than are counted; made-up data does not compress",
                percent(*ratio)
            ),
            Self::Swapped { bytes } => write!(
                f,
                "up to {} went to or came from swap during a trial; use less data, or free memory",
                show_size(*bytes)
            ),
            Self::Governor { governor } => write!(
                f,
                "the processor's frequency governor is {governor}; `cpupower frequency-set -g performance` holds it steady"
            ),
            Self::Throttled { times } => write!(
                f,
                "the processor throttled itself up to {times} times in a trial: it is too hot or short of power; cool it and run again"
            ),
            Self::FrequencyVaries { low_mhz, high_mhz } => write!(
                f,
                "the processor ran at {} to {} MHz; a fixed frequency makes narrower intervals",
                three_digits(*low_mhz),
                three_digits(*high_mhz)
            ),
            Self::Pressure { resource, share } => write!(
                f,
                "other tasks waited for {resource} up to {} of a trial, so something else wanted it too; stop it and run again",
                percent(*share)
            ),
            Self::Drift { change } => write!(
                f,
                "times changed by up to {:+.0} % from the first round to the last; ratios are paired by round and bear it, single times do not",
                change * 100.0
            ),
            Self::TwoModes { ratio } => write!(
                f,
                "times fall into two groups, one up to {} times the other: a mean stands for neither; look at the samples (--json) for what differs",
                three_digits(*ratio)
            ),
            Self::Stalled { share, cause } => write!(
                f,
                "stalls took up to {} of the passes with a clock, most of it {}; --over-time shows when and how long",
                percent(*share),
                cause.as_deref().unwrap_or("from a cause that is not told")
            ),
            Self::ClockCoarse { p50_ns, clock_ns } => write!(
                f,
                "percentiles hold the clock itself: the median is {p50_ns} ns, reading the clock takes {clock_ns} ns; go by the time, which has no clock in it"
            ),
            Self::LatencySaturated { longest_ns } => write!(
                f,
                "a latency was beyond {} s and is counted as that",
                longest_ns / 1_000_000_000
            ),
            Self::MemoryDiffers { bytes, baseline } => write!(
                f,
                "it may use {} for a cache of its own, the baseline {}: not the same memory; set both alike (cache=)",
                show_size(*bytes),
                show_size(*baseline)
            ),
            Self::MemoryNotLimited { why } => write!(
                f,
                "memory is not limited: {why}; only the engines' own caches are equal, and each target has the page cache of the whole machine"
            ),
            Self::CacheKept => f.write_str(
                "its cache is as its target says, and not what --memory gives the others: not the same memory; leave the setting out",
            ),
            Self::FlushTooFast { p50_ns, mount } => write!(
                f,
                "flushing 4 KiB to {mount} takes {:.1} µs, faster than a device can be: durable figures here promise nothing; measure on a real disk",
                *p50_ns as f64 / 1e3
            ),
            Self::Saturated { asked, reached } => write!(
                f,
                "saturated: of {} operations a second it did {}, so that latencies grow as long as the pass lasts; ask for fewer",
                show_rate(*asked),
                show_rate(*reached)
            ),
            Self::NotUsable { why } => write!(f, "not measured: {why}"),
            Self::TrialFailed { why } => {
                write!(f, "a trial failed, and there were no further ones: {why}")
            }
            Self::NotDelayed { delayed, rows } => write!(
                f,
                "of {} rows the server put {} off: the figure is not one of delayed inserts",
                show_count(*rows),
                show_count(*delayed)
            ),
            Self::ExtentsUnknown { kind } => write!(
                f,
                "in how many pieces files lie is not told: {kind} here does not answer FIEMAP; --scratch DIR on ext4, xfs or btrfs shows it"
            ),
            Self::NotEven { ratio } => write!(
                f,
                "a target against itself came out {} apart, which chance alone does once in twenty times; run again, and if it stays find out what disturbs",
                percent((ratio - 1.0).abs())
            ),
            Self::ReadsAlone => f.write_str(
                "each read is a batch of its own and pays for locks that a larger --batch shares",
            ),
            Self::OverSocket => f.write_str(
                "a server: each operation is a message over a socket and back, where a library is called; storemark rows tells how much of a difference that is",
            ),
            Self::ServerUnseen => f.write_str(
                "a server that was there already: its processor time, memory and bytes are not in the figures; mariadb: and postgres: start one whose are",
            ),
            Self::OneCommit { operations, .. } => write!(
                f,
                "all {} updates of a pass share one commit, so that its cost hardly shows; --batch 1 commits each",
                show_count(*operations)
            ),
            Self::NoCheckpoint => f.write_str(
                "the log is never written back into the database (checkpoint=none), which the time leaves out; leave the setting out to have it counted",
            ),
        }
    }
}
