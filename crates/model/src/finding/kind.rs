//! All kinds of findings.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Severity::{self, Note, Warning, Wrong},
    declare::findings,
};
use crate::{
    Cache, Durability,
    units::{
        duration_of, option_duration, show_count, show_duration, show_percent as percent,
        show_rate, show_size, three_digits,
    },
};

/// A ratio of times to the baseline with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioInterval {
    /// The time divided by the baseline's.
    pub ratio: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl fmt::Display for RatioInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ratio, low, high } = *self;
        let (word, times) = if ratio < 1.0 {
            ("faster", [ratio, high, low].map(f64::recip))
        } else {
            ("slower", [ratio, low, high])
        };
        let [times, low, high] = times.map(factor);
        write!(f, "{times} times {word} ({low} to {high})")
    }
}

/// Shows a factor with three digits. An interval from two or three rounds may end anywhere, so a
/// large factor is only named as such.
fn factor(times: f64) -> String {
    if times < 1000.0 { three_digits(times) } else { "more than 1,000".to_owned() }
}

/// Shows the half width of an interval.
fn around(share: f64) -> String {
    if share < 10.0 { format!("±{}", percent(share)) } else { percent(share) }
}

/// Returns the end of a sentence on a sample: how long all values take, and the option that
/// measures them.
fn all_take(seconds: f64) -> String {
    let time = duration_of(seconds);
    format!(
        ": all take about {}; --time {} measures them",
        show_duration(time),
        option_duration(time)
    )
}

findings! {
    /// A kind of finding: what may be wrong with a result, with the figures that show it.
    FindingKind:

    // The tool itself.

    [Wrong] DebugBuild =>
        "no figure counts: storemark was built without optimisation; `cargo build --release` builds \
        one that counts";

    [Wrong] Emulated { by: String = "The emulator, with its version if it reports one." } =>
        "no figure counts: {by} emulates this machine, and times are the emulator's; run storemark on the \
        machine itself";

    [Warning, worst ("", *share)] ToolShare { share: f64 as percent = "Share of the wall time." } =>
        "the engine is faster than its figure: storemark's own loop takes up to {share} of the \
        measured time";

    [Note, worst ("", *clock_ns as f64 / *p50_ns as f64)] ClockCoarse {
        p50_ns: u64 = "Median latency.",
        clock_ns: u64 = "Two reads of the clock, back to back.",
    } => "percentiles are rough: the median is {p50_ns} ns, and reading the clock takes \
        {clock_ns} ns; compare the times";

    [Wrong]
    LatencySaturated { longest_ns: u64 = "The longest latency that the histogram can hold." } =>
        "the largest latency was longer than shown: one exceeded {seconds} s and is counted as \
        that",
        seconds = longest_ns / 1_000_000_000;

    [Wrong] Arithmetic { what: String = "Which figures, and how." } =>
        "the figures contradict each other: {what}; do not use them, and report this";

    // The machine.

    [Warning] FitsCpuCache {
        bytes: u64 as show_size = "Bytes of the values that are read.",
        cache: u64 as show_size = "Size of the last-level cache.",
        all: Option<u64> = "Bytes of all of the data, if only a part of it is read.",
    } => "times are shorter than from memory: {what} the processor's cache ({cache}){but}",
        what = match all {
            None => format!("the data ({bytes}) fits into"),
            Some(_) => format!("the values that are read ({bytes}) are smaller than four times"),
        },
        but = all.map_or_else(
            || "; measure more data".to_owned(),
            |all| format!(", all of the data ({}) is larger; use more --time, or --count", show_size(all)),
        );

    [Warning] MemorySmall {
        bytes: u64 as show_size = "Bytes of all stores.",
        available: u64 as show_size = "Bytes available at the start.",
    } => "some reads come from the device: the stores ({bytes}) are larger than the free memory \
        ({available}); use more --time, or a smaller --sample";

    [Warning, worst ("", *cpus)]
    OtherLoad { cpus: f64 as three_digits = "Processors' worth of time." } =>
        "times are longer than on an idle machine, ratios less so: other programs used up to {cpus} \
        processors; stop them and run again";

    [Note] LoadUnknown =>
        "times may be too long: what else ran during the trials is not known; make sure that \
        nothing does";

    [Note] WaitingUnknown =>
        "times include waiting for a processor, and verdicts use wall time: this system does not \
        report how long a thread waits for one; stop other processes";

    [Warning, worst ("", *share)]
    Steal { share: f64 as percent = "Share of all processor time." } =>
        "times are too long: the hypervisor took up to {share} of the processors' time; run again \
        at a quieter time";

    [Warning, worst (resource.as_str(), *share)] Pressure {
        resource: String = "`cpu`, `io` or `memory`.",
        share: f64 as percent = "Share of the trial in which some task waited.",
    } => "times are too long: other tasks waited for {resource} up to {share} of a trial, so \
        something else used it too; stop it and run again";

    [Warning, worst ("", *bytes as f64)]
    Swapped { bytes: u64 as show_size = "Bytes in both directions." } =>
        "times include swapping: up to {bytes} went to or came from swap during a trial; use less \
        data, or free memory";

    [Note] PagesOut { seconds: u64 = "How long it is out of use." } =>
        "stores may leave the memory during a run: the kernel moves out what was not used for {seconds} s, \
        however much is free (DAMON; see /sys/kernel/mm/damon/admin and /sys/module/damon_reclaim)";

    [Warning] Governor { governor: String = "Its name." } =>
        "times vary with the load: the processor's frequency governor is {governor}; `cpupower \
        frequency-set -g performance` holds the frequency steady";

    [Warning, worst ("", *times as f64)] Throttled { times: u64 = "How often it did." } =>
        "times are too long: the processor throttled itself up to {times} times in a trial, being \
        too hot or short of power; cool it and run again";

    [Note] FrequencyVaries {
        low_mhz: f64 as three_digits = "Least, in MHz.",
        high_mhz: f64 as three_digits = "Greatest, in MHz.",
    } => "intervals are wide: the processor ran at {low_mhz} to {high_mhz} MHz; fix its \
        frequency";

    [Warning] Defender {
        is_seen: bool = "Whether it was seen that a folder with stores is not excluded.",
    } => "files may take longer than other stores, and cold reads most: Windows Defender scans what is opened, \
        {excluded}; --scratch DIR names a folder that your program's own data would be in",
        excluded = if *is_seen {
            "and its exclusions do not have the folders of all stores"
        } else {
            "unless the folder is excluded, which only an administrator sees (Get-MpPreference)"
        };

    [Note] DefenderExcludes =>
        "files may take longer in other folders: Windows Defender runs, and its exclusions have the folders of \
        these stores; --scratch DIR names a folder that your program's own data would be in";

    [Note] DefenderUnknown =>
        "files may take longer than other stores: whether Windows Defender scans what is opened is not \
        known; `sc query WinDefend` shows it";

    // Other hosts.

    [Warning] HostLost {
        host: String = "Its name.",
        why: String = "What its worker said last.",
        left: u32 = "Hosts that the run goes on with; 0: it ends.",
    } => "{effect}: host {host} was lost ({why}); {action}",
        effect = if *left == 0 {
            "the run ended early".to_owned()
        } else {
            format!("later rounds have other clients: they are those of {left} hosts")
        },
        action = if *left == 0 {
            "run again when it is back, or use --lost-host go-on"
        } else {
            "run again when it is back"
        };

    [Warning, worst (host.as_str(), *uncertainty_ns as f64)] ClockUncertain {
        host: String = "Its name.",
        uncertainty_ns: u64 = "How much its clock may be off by.",
    } => "clients may not have started together: the clock of host {host} is known to ±{ms:.3} ms, which \
        is more than 1 ms or 1 % of a pass; use a faster connection, or longer passes (--count)",
        ms = *uncertainty_ns as f64 / 1e6;

    [Note, worst (host.as_str(), time_of_day_ns.unsigned_abs() as f64)] ClockOff {
        host: String = "Its name.",
        time_of_day_ns: i64 = "By how much its time of day is ahead.",
        uncertainty_ns: u64 = "How much that may be off by.",
    } => "no figure is affected, as starts are corrected: the time of day on host {host} is {ms:.1} ms \
        {way} this machine's (known to ±{around:.3} ms); set its clock (NTP) before you compare logs",
        ms = time_of_day_ns.unsigned_abs() as f64 / 1e6,
        around = *uncertainty_ns as f64 / 1e6,
        way = if *time_of_day_ns < 0 { "behind" } else { "ahead of" };

    [Warning, worst ("", *share)]
    ClientLimit { share: f64 as percent = "Its rate over that of a target that does nothing." } =>
        "the clients may set the limit, not the store: it does {share} of what as many clients do on a \
        target that does nothing; use more hosts (--hosts)";

    [Wrong] NoCommonTime =>
        "the figure is not one of clients that work at once: there was hardly any time in which all of them \
        worked, as some ended before or soon after others started; use longer passes (--count)";

    // File systems and devices.

    [Warning] UnusualFilesystem {
        kind: String = "Its type: `tmpfs`, `overlay`, …",
        mount: String = "Where it is mounted.",
    } => "the figures are not those of a disk: the stores are on {kind} ({mount}), not on a disk's \
        own file system; --scratch DIR places them elsewhere";

    [Warning] CachedTwice { device: String = "The device: a loop device without direct I/O." } =>
        "cold reads may not reach a device: what {device} reads is cached a second time, under it; \
        `losetup --direct-io=on {device}` turns that off";

    [Warning] SecondCache {
        kind: String = "The type of the file system.",
        mount: String = "Where it is mounted.",
        holder: String = "Whose cache it is.",
    } => "cold figures may be too small: {kind} ({mount}) has its data in a second cache too, that of \
        {holder}, which storemark neither sees nor empties; --scratch DIR on a disk's own file system \
        shows a cold start";

    [Warning] FlushUnproven {
        kind: String = "The type of the file system.",
        mount: String = "Where it is mounted.",
        how: String = "Which flush may reach no disk, and what shows it.",
    } => "durable figures on {kind} ({mount}) may prove nothing: {how}";

    [Note] AttributesCached {
        kind: String = "The type of the file system.",
        mount: String = "Where it is mounted.",
        seconds: u64 = "How long attributes are kept.",
    } => "looking up files may not ask the server, and changes by other clients may show up to \
        {seconds} s late: {kind} ({mount}) keeps attributes that long; the mount option actimeo=0 asks \
        each time";

    [Note] Discards {
        kind: String = "The type of the file system.",
        mount: String = "Where it is mounted.",
    } => "deleting and replacing files may take longer than elsewhere: {kind} ({mount}) is mounted with \
        discard, which reports each freed block to the device at once; `mount -o remount,nodiscard \
        {mount}` turns that off, and `fstrim {mount}` does the same at a time of its own";

    [Note] NoJournal {
        mount: String = "Where the file system is mounted.",
    } => "creating files may take much longer than elsewhere: the ext4 on {mount} has no journal, so \
        that it looks at each file that was deleted in the last minutes before it finds a place for a \
        new one; wait six minutes after deleting many files, or measure on an ext4 with a journal";

    [Warning] LoopDevice {
        kind: String = "The type of the file system.",
        device: String = "The loop device.",
        direct: bool = "Whether it bypasses the page cache.",
    } => "every write goes through a second file system: {kind} is on {device}, a loop device \
        {with} direct I/O; compare it with others on loop devices, not with one on a disk",
        with = if *direct { "with" } else { "without" };

    [Note] HostMayCache { machine: String = "Kind of virtual machine." } =>
        "cold figures may be too small: this is a virtual machine{named}, and its host may hold in \
        memory what is cold here; compare cold figures within this run only",
        named = if machine == "virtual machine" { String::new() } else { format!(" ({machine})") };

    [Warning] FlushTooFast {
        p50_ns: u64 = "Median.",
        mount: String = "Where the file system is mounted.",
    } => "durable figures here prove nothing: flushing 4 KiB to {mount} takes {p50_us:.1} µs, \
        faster than a device can be; measure on a real disk",
        p50_us = *p50_ns as f64 / 1e3;

    [Note] FlushesWithFsync =>
        "durable commits of sqlite cost more than they need: this build flushes with fsync(2), which \
        also writes the file's times; built with LIBSQLITE3_FLAGS=-DHAVE_FDATASYNC=1 in the \
        environment it flushes with fdatasync(2), as distributions' builds do";

    [Warning] Compressible {
        kind: String = "The file system.",
        ratio: f64 as percent = "Size of a deflated sample over its size.",
    } => "fewer bytes reach the device than are counted: {kind} compresses, and a sample of the \
        data deflates to {ratio}; generated data does not compress";

    [Warning] ExtentsUnknown { kind: String = "Its type." } =>
        "the number of pieces of files is unknown: {kind} here does not answer FIEMAP; --scratch \
        DIR on ext4, xfs or btrfs shows it";

    // The cache state.

    [Wrong, worst (cache.as_str(), if *cache == Cache::Warm { -resident } else { *resident })]
    StateNotReached {
        cache: Cache = "What was to be reached.",
        resident: f64 as percent = "Share of the store's pages that were in the page cache.",
        names: Option<f64> = "Share of its names that were in the dentry cache, if that matters.",
    } => "not shown as {cache}: {resident} of the pages{and_names} were in memory when a trial \
        started; {because}",
        and_names = names.map_or_else(String::new, |n| format!(" and {} of the names", percent(n))),
        because = if *cache == Cache::Warm {
            "another process dropped them, or memory is short"
        } else {
            "another process uses the store, or its file system is in memory"
        };

    [Warning, worst ("", *fetched)] StateFetched {
        fetched: f64 as three_digits = "Bytes from the device for each byte of the values.",
    } => "left out, as it was not warm: up to {fetched} bytes came from the device for each byte \
        read; another process dropped the pages, or memory is short";

    [Wrong, worst (cache.as_str(), -fetched)] StateNotFetched {
        cache: Cache = "What was to be reached.",
        fetched: f64 as three_digits = "Bytes from the device for each byte of the values.",
    } => "not shown as {cache}: only {fetched} bytes came from the device for each byte read; \
        another process had read the store, or opening it did, or the file system compresses; use \
        more data, and stop what else reads it";

    [Warning, worst ("", -resident)] StateLost {
        resident: f64 as percent = "Share of the store's pages still in the page cache afterwards.",
    } => "warm times may include the device: pages left the memory during a trial, and {resident} \
        remained at its end; another process dropped them, or memory is short";

    [Warning] StateUnproven { why: String = "Why not." } => "the cache state is not proven: {why}";

    [Warning] StateUnreachable {
        cache: Cache = "Which.",
        why: String = "Why not, and what is missing.",
    } => "nothing was measured {cache}: {why}";

    [Note] AlwaysWarm =>
        "measured as it is, never cold: it has no files of its own that can be reached";

    [Note] OnlyWarm =>
        "measured warm only; --cache warm,data-cold shows reading from the device as well";

    // Targets that are compared.

    [Wrong] SettingNotInEffect {
        name: String = "Its name.",
        asked: String = "What was asked for.",
        effect: String = "What the engine reports.",
    } => "the figures are for another setting: {name}={asked} was asked for, {name}={effect} is in \
        effect";

    [Note] ScratchElsewhere {
        asked: String = "The folder that was asked for.",
        used: String = "The folder that has the stores.",
    } => "stores are in {used}: the user that its server runs as cannot enter {asked}; --scratch DIR \
        names another folder";

    [Warning] NotBackedUp {
        count: u64 = "Paths that are missing from the copy that is backed up.",
        first: String = "One of them, and why.",
    } => "the backup is smaller than the folder: {count} paths could not be copied, the first: \
        {first}; make them readable or leave them out";

    [Note] DaysLeftOut {
        days: u32 = "Days of changes that are measured.",
        asked: u32 = "Those that were asked for.",
    } => "growth is that of {days} days, not of {asked}: there is no room for the changes of more; \
        --scratch DIR names a place with more room";

    [Note] ClassOfServer {
        class: Durability = "The durability class of all targets.",
        server: String = "The server, without a password.",
    } => "all targets have the durability class of {server}, {class}, because storemark does not \
        change that server; --durability sets another class where it can be set";

    [Wrong] DurabilityDiffers {
        class: Durability = "Class of this target.",
        baseline: Durability = "Class of the baseline.",
    } => "not the same work: durability is {class}, the baseline's {baseline}; --durability \
        {better} sets both the same, or refuses a target that cannot do it",
        better = class.max(baseline);

    [Warning] FilesystemDiffers {
        filesystem: String = "Type, device and mount point of the one that the store is on.",
        baseline: String = "The same of the baseline.",
    } => "part of the difference may come from the file system or its device: the store is on \
        {filesystem}, the baseline on {baseline}; `storemark copy` puts a copy on the same one";

    [Note] BytesDiffer { key: String = "The first key whose bytes differ." } =>
        "not the same data: the bytes are not the baseline's (first at key {key}), keys and \
        lengths are; `storemark verify` names all";

    [Warning] MemoryDiffers {
        bytes: u64 as show_size = "Bytes this target may use.",
        baseline: u64 as show_size = "Bytes the baseline may use.",
    } => "not the same memory: it may use {bytes} for a cache of its own, the baseline {baseline}; \
        set both the same (cache=)";

    [Warning] MemoryNotLimited { why: String = "Why not." } =>
        "memory is not limited: {why}; only the engines' own caches are equal, and each target has \
        the page cache of the whole machine";

    [Warning] MemoryLimitSmaller {
        asked: u64 as show_size = "What was asked for.",
        limit: u64 as show_size = "The limit in force.",
    } => "figures are for {limit} of memory, not for the {asked} that were asked for: a control group \
        above storemark's own allows no more; raise its limit (memory.max or memory.high; \
        memory.limit_in_bytes), or use a smaller --memory";

    [Warning] AddressSpaceLimited {
        bytes: u64 as show_size = "Addresses that the process may use.",
    } => "times and the order of targets may be others than without a limit: the address space is \
        limited to {bytes} (ulimit -v or -d), so that engines that map their files, or keep large \
        buffers, get less memory and give it back at once; run `ulimit -v unlimited` first";

    [Warning] ReadaheadLarge {
        readahead: u64 as show_size = "What the device reads ahead at once.",
        memory: u64 as show_size = "Memory of the run.",
    } => "reads through a mapping may be mostly reading ahead: a device reads up to {readahead} at \
        once, and {memory} hold few of that; give more --memory, make it less (`blockdev \
        --setra`), or turn it off (readahead=off, where an engine has that)";

    [Warning, worst ("", *fetched)] ReadaheadEvicts {
        fetched: f64 as three_digits = "Bytes from the device for each byte of the values.",
        readahead: u64 as show_size = "What the device reads ahead at once.",
        memory: u64 as show_size = "Memory of the run.",
    } => "times are those of reading ahead: up to {fetched} bytes came from the device for each \
        byte read, because the device reads up to {readahead} at once and {memory} cannot keep \
        them; give more --memory, make it less (`blockdev --setra`), or turn it off \
        (readahead=off, where an engine has that)";

    [if *updated { Note } else { Warning }] ScratchCopy {
        why: String = "Why not the store itself.",
        updated: bool = "Whether it is copied only because it is written to.",
    } => "figures are those of a scratch copy, not of the store itself: {why}";

    [Note] TextsAmongBytes {
        texts: u64 as show_count = "Values that are texts.",
        values: u64 as show_count = "Values whose type was looked at.",
    } => "the values are not all of one type: {texts} of {values} that were looked at are texts, and a text \
        counts as its bytes; where=typeof(COLUMN)='blob' leaves texts out";

    [Warning] NotInCopy {
        parts: String = "The triggers and foreign keys, by their names.",
    } => "writes may cost less than in your program: they are made to a copy of the table, which lacks \
        {parts}; add what these cost";

    [Warning] OpenToWrite {
        writers: String = "The programs.",
    } => "reads may have waited for others, or have seen what they wrote: {writers} has it open to write; \
        end it, or measure a copy";

    [Warning] CacheKept =>
        "not the same memory: its target string sets the cache, and not --memory as for the \
        others; leave the setting out";

    [Note] OverSocket =>
        "part of the time is the round trip: each operation is a message to a server over a socket \
        and back, where a library is called; `storemark rows` shows how much that is";

    [Note] ServerUnseen =>
        "processor time, memory and bytes of the server are not in the figures: it ran already; \
        mariadb:, postgres: and valkey: start one of their own";

    [Warning] NotUsable { why: String = "Why, and what would help." } => "not measured: {why}";

    [Wrong] TrialFailed { why: String = "How." } =>
        "a trial failed, and there were no further ones: {why}";

    // The work.

    [Warning, worst ("", 1.0 - *filled)] CacheNotFilled {
        filled: f64 as percent = "Share of the cache that was filled.",
    } => "times are longer than in a program that runs for long: {filled} of the store's own cache \
        could be filled before the reads that count; give it a smaller cache";

    [Warning, worst ("", 1.0 - *resident)] PartlyInMemory {
        resident: f64 as percent = "Share of the store's pages that were in the page cache.",
    } => "memory holds {resident} of the store, and reads of the rest wait for the device: it is \
        measured as it was found, as it is too large to be brought into memory first";

    [Warning] NotReadWhole =>
        "times depend on how it came into memory: it was not read from start to end before, for lack of \
        time; use more --time";

    [Warning] WrittenMeanwhile { file: String = "The file." } =>
        "some times may be those of other values, or of a store in between: {file} was written to while it \
        was measured; stop what writes to it, or measure a copy";

    [Note] FilesNotExamined {
        examined: u64 as show_count = "Files that were examined.",
        files: u64 as show_count = "Files of the store.",
    } => "{examined} of {files} files were examined for being in memory, those of values that are \
        measured: examining all takes too long; more --time examines more, and what the others lack \
        shows in bytes from the device";

    [Note] SpaceEstimated {
        files: u64 as show_count = "Files whose space is known.",
        all: u64 as show_count = "Files of the store.",
    } => "the space that it takes is estimated from {files} of {all} files: looking at all takes too \
        long; more --time looks at more";

    [Note, worst ("", *seconds)] ReadAgain {
        seconds: f64 = "Seconds that it took before a round.",
    } => "pages left the memory during the run: the values of a round were read into memory again before \
        it, which took up to {took}",
        took = show_duration(duration_of(*seconds));

    [Note] Sampled {
        count: u64 as show_count = "Values that are measured.",
        all: u64 as show_count = "Values in the data.",
        seconds: Option<f64> = "Seconds that all take, as tried out; absent: a sample was asked for.",
    } => "figures are for {count} of {all} values, a sample stratified by size{because}",
        because = seconds.map_or_else(String::new, all_take);

    [Note] KeysNotListed {
        keys: u64 as show_count = "Keys that were listed.",
    } => "figures are for a sample of {keys} objects from many parts of the bucket, which has more: a \
        list takes a request for each 1,000 of them; a longer prefix measures a part";

    [Note] LengthsDrawn {
        listed: u64 as show_count = "Values whose lengths are known.",
        keys: u64 as show_count = "Values in the data.",
    } => "the sample is one of {listed} of {keys} values, drawn at random: listing the lengths of all \
        takes too long; more --time lists more";

    [Note] KeysDrawn {
        drawn: u64 as show_count = "Keys that were drawn.",
        keys: u64 as show_count = "Keys in each store.",
    } => "figures are for all {keys} keys as far as {drawn} of them show it, which were drawn at \
        random and checked in the time that there was; the intervals contain what that adds; more \
        --time draws more";

    [Warning] LargeValueNotRead {
        bytes: u64 as show_size = "The largest value.",
        share: f64 as percent = "Its share of the bytes of all values.",
    } => "figures are for the other values: one of {bytes}, {share} of all bytes, was not among those \
        that were drawn and checked; more --time may read it, `run --asc` reads all";

    [Warning, worst ("", share.abs())] SampleMoves {
        share: f64 = "By how much the ratio is larger on the whole sample than on half of it.",
        expected: RatioInterval = "The ratio, whose interval contains what is expected on all of the \
            data.",
    } => "the ratio is for a sample: with twice as many values it moves by {moved}; on all of the data \
        expect {expected}, which the interval contains",
        moved = percent(share.abs());

    [if *touched * 2 < *keys { Warning } else { Note }] KeysNotCovered {
        touched: u64 as show_count = "Distinct keys a pass touches, or can touch.",
        keys: u64 as show_count = "Keys in the dataset.",
    } => "caches hold more of the data than they would: a pass touches {touched} of {keys} keys; \
        leave out --count and --max-id to touch all";

    [Warning] FewValuesHoldMost {
        values: u64 as show_count = "The fewest values that hold half of the bytes.",
        keys: u64 as show_count = "Values in the dataset.",
        largest: u64 as show_size = "The largest value.",
    } => "times are mostly those of few values: half of the bytes are in {values} of {keys} (the \
        largest: {largest}); medians show what most operations take, and sets of similar sizes \
        (--data) show each by itself";

    [Warning] RatioDependsOnSize {
        by_operations: RatioInterval = "Ratio of the medians of the latencies.",
        by_bytes: RatioInterval = "Ratio of the times of whole passes.",
    } => "the answer depends on what counts: by operations (medians) it is {by_operations}, by bytes \
        (whole passes, as in the table) {by_bytes}; few values hold most of the bytes";
    [Warning] RatioDependsOnSlices {
        short: u64 = "Operations of the shortest slices.",
        in_short: RatioInterval = "Ratio in rounds with these.",
        long: u64 = "Operations of the longest slices.",
        in_long: RatioInterval = "Ratio in rounds with these.",
    } => "how long the stores take turns decides: in slices of {short} operations it is {in_short}, \
        in slices of {long} {in_long}; where one store works alone for long, the second is nearer";

    [Note] OrderOfInsertion =>
        "faster than most uses: keys are touched in a fixed order, possibly that of their \
        insertion; leave out --asc and --desc for a random one";

    [Warning] WorkersOutnumberCpus {
        workers: u32 = "Workers of a workload, of all processes together.",
        cpus: u32 = "Processors that storemark may use.",
    } => "times include waiting for a processor, and verdicts use wall time: {workers} workers \
        share {processors}, all that affinity and control groups leave; use fewer --threads or \
        --processes",
        processors = if *cpus == 1 { "one processor".to_owned() } else { format!("{cpus} processors") };

    [Note] ReadsAlone =>
        "slower than in a larger batch: each read is a batch of its own and pays for its own \
        locks; a larger --batch shares them";

    [if *class > Durability::None { Warning } else { Note }] OneCommit {
        operations: u64 as show_count = "Updates of a pass.",
        class: Durability = "The best durability class of a target.",
    } => "the cost of a commit hardly shows: all {operations} updates of a pass share one commit; \
        --batch 1 commits each";

    [Warning] SameBytes { share: f64 as percent = "Share of the values looked at." } =>
        "updates may be too fast: {share} of the values looked at already held what was to be \
        written, and some engines skip such writes; use another --seed";

    [Note, worst ("", *share)] LeftToBackground {
        share: f64 as percent = "Time it took afterwards, as a share of the measured time.",
    } => "not all of the work is counted: flushing what was left to the background took up to \
        another {share} of the measured time; --durability durable counts it";

    [Warning] FlushedOnClose { kind: String = "Its type." } =>
        "the time includes writes that other stores leave to the background: {kind} writes a file \
        out when it is closed after it was truncated, or when it is renamed over another \
        (auto_da_alloc); write=overwrite does not truncate";

    [Warning] NoCheckpoint =>
        "not all of the work is counted: the log is never written back into the database \
        (checkpoint=none); leave the setting out to have it counted";

    [Warning] LinkedDifferently {
        options: String = "Compile options that only one of both has; empty: none.",
    } => "a difference in time may come from how SQLite was built, not from its version: one of both is \
        part of the program and one a shared library{only}; `storemark sqlite build --name plain` makes a \
        library of the program's SQLite, and lib=plain in place of no lib= compares two libraries",
        only = if options.is_empty() {
            String::new()
        } else {
            format!(", with other compile options ({options})")
        };

    [Warning] NotDelayed {
        delayed: u64 as show_count = "Rows that the server delayed.",
        rows: u64 as show_count = "Rows that it was given.",
    } => "the figure is not one of delayed inserts: of {rows} rows the server delayed {delayed}";

    [Warning] Saturated {
        asked: f64 as show_rate = "Operations a second that were to start.",
        reached: f64 as show_rate = "Operations a second that were done.",
    } => "latencies grow as long as the pass lasts (saturated): of {asked} operations a second it \
        did {reached}; ask for fewer";

    // The figures over all rounds.

    [Warning] TooFewRounds {
        rounds: u32 = "Rounds that count.",
        ran: u32 = "Rounds that were run.",
        min: u32 = "Rounds that a verdict needs.",
    } => "no verdict is given: it needs {min} rounds, and {rounds} {counted}",
        counted = if rounds < ran {
            format!("of {ran} count: in the others a trial missed its cache state; stop what \
                     disturbs it")
        } else {
            "ran; use more --rounds, or more --time without that".to_owned()
        };

    [Warning, worst ("", 1.0 - f64::from(*rounds) / f64::from(*ran))] RoundsLeftOut {
        rounds: u32 = "Rounds that count.",
        ran: u32 = "Rounds that were run.",
    } => "the figure is one of selected rounds: {rounds} of {ran} count, because in the others a \
        trial missed its cache state; stop what disturbs it and run again";

    [Note, worst ("", *half_width)] TooNoisy {
        half_width: f64 as around = "Half width of the interval as a share of the figure.",
        precision: f64 as around = "What was asked for.",
    } => "the half width of an interval is up to {half_width}, not the {precision} aimed for; use more \
        --time (with --rounds, more of them) or a quieter machine";

    [Note, worst (if *change < 0.0 { "faster" } else { "slower" }, change.abs())]
    Drift { change: f64 = "From the first round to the last: 0.1 is a tenth slower." } =>
        "times depend on the round: they changed by up to {percent:+.0} % from the first to the \
        last; compare ratios, which are paired by round, not single times",
        percent = change * 100.0;

    [Warning, worst ("", *ratio)]
    TwoModes { ratio: f64 as three_digits = "Time of the slower group over that of the faster." } =>
        "the mean is the time of neither of two groups: one is up to {ratio} times the other; look \
        at the samples (--json) for what differs";

    [Note, worst (cause.as_deref().unwrap_or_default(), *share)] Stalled {
        share: f64 as percent = "Share of the passes.",
        cause: Option<String> = "What happened meanwhile for the most part; absent: unknown.",
    } => "stalls took up to {share} of the passes, most of it {because}; --over-time shows \
        when and how long",
        because = cause.as_deref().unwrap_or("from an unknown cause");

    [Note, worst ("", *bytes as f64)] LogGrew {
        bytes: u64 as show_size = "The largest size of the log.",
        seconds: f64 = "When it was reached, since the start of the pass.",
        holder: Option<String> = "The role that held its snapshots open; absent: none did.",
    } => "the log reached {bytes} in {time}{because}",
        time = show_duration(duration_of(*seconds)),
        because = match holder {
            Some(holder) => format!(
                " because {holder} held a snapshot, which keeps a checkpoint from starting the log \
                again: end read transactions early"
            ),
            None => ": nothing shortened it meanwhile; commit larger batches, or have a checkpoint or a \
                compaction shorten it, whose cost --meanwhile shows".to_owned(),
        };

    [Note, worst ("", *bytes as f64)] StoreGrew {
        from: u64 as show_size = "The size without the log at the start of the pass.",
        bytes: u64 as show_size = "The largest size without the log.",
        seconds: f64 = "When it was reached, since the start of the pass.",
        holder: Option<String> = "The role that held its snapshots open; absent: it was not the cause.",
    } => "the store grew from {from} to {bytes} in {time}{because}",
        time = show_duration(duration_of(*seconds)),
        because = match holder {
            Some(holder) => format!(
                " because {holder} held a snapshot, for which old versions of values stay: end read \
                transactions early"
            ),
            None => ": old versions of values keep their room until a vacuum or a compaction, whose cost \
                --meanwhile shows".to_owned(),
        };

    [Note, worst (cause.as_deref().unwrap_or_default(), *length_ms)] StallsEvery {
        seconds: f64 = "The time from one stall to the next.",
        length_ms: f64 = "The median length of a stall in milliseconds.",
        cause: Option<String> = "What ran meanwhile; absent: unknown.",
    } => "an operation stalls for {length} every {period}, {because}; --over-time shows when",
        length = show_duration(duration_of(*length_ms / 1e3)),
        period = show_duration(duration_of(*seconds)),
        because = cause.as_deref().map_or_else(
            || "from an unknown cause".to_owned(),
            |cause| format!("during {cause}"),
        );

    [Warning] MaintenanceMissed { what: String = "The maintenance." } =>
        "the figures hold no whole {what}: none finished within a pass, while all roles worked; use a \
        longer --pass, or none does under this load";

    [Warning] NotEven { ratio: f64 = "Ratio of the times of a target measured against itself." } =>
        "a target differs from itself by {difference}, which chance alone does once in twenty \
        times; run again, and if it stays find out what disturbs",
        difference = percent((ratio - 1.0).abs());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_shows_what_was_found() {
        let touched = |touched| FindingKind::KeysNotCovered { touched, keys: 10_000 };
        assert!(touched(2_000).to_string().contains("touches 2,000 of 10,000 keys"));
        assert_eq!([2_000, 5_000].map(|n| touched(n).severity()), [Warning, Note]);
        let cold =
            FindingKind::StateNotReached { cache: Cache::Cold, resident: 0.25, names: Some(0.5) };
        let said = cold.to_string();
        assert!(
            said.contains("as cold: 25.0 % of the pages and 50.0 % of the names were"),
            "{said}"
        );
    }

    #[test]
    fn a_ratio_is_shown_as_a_factor_above_one() {
        let shown = |ratio, low, high| RatioInterval { ratio, low, high }.to_string();
        assert_eq!(shown(0.2, 0.1, 0.4), "5.00 times faster (2.50 to 10.0)");
        assert_eq!(shown(1.25, 0.9, 1.5), "1.25 times slower (0.900 to 1.50)");
    }

    #[test]
    fn no_figure_is_printed_that_is_beyond_all_sense() {
        let noisy = |half_width| FindingKind::TooNoisy { half_width, precision: 0.03 }.to_string();
        assert!(noisy(0.12).contains("up to ±12.0 %, not the ±3.0 % aimed for"), "{}", noisy(0.12));
        for beyond in [11_491_725_308.015, 1e300, f64::INFINITY, f64::NAN] {
            assert!(noisy(beyond).contains("is up to more than 1,000 %,"), "{}", noisy(beyond));
            let ratio = RatioInterval { ratio: 2.0, low: 1.0 / beyond, high: beyond }.to_string();
            assert!(ratio.ends_with("to more than 1,000)"), "{ratio}");
        }
    }

    #[test]
    fn of_findings_that_differ_in_their_extent_the_largest_is_the_worst() {
        let lost = |resident| FindingKind::StateLost { resident };
        assert!(lost(0.1).extent() > lost(0.9).extent());
        let drift = |change| FindingKind::Drift { change };
        assert_eq!(drift(-0.2).extent(), Some(("faster", 0.2)));
        assert_eq!(FindingKind::OnlyWarm.extent(), None);
    }

    #[test]
    fn the_name_of_a_kind_is_that_in_records() {
        let kind = FindingKind::TooFewRounds { rounds: 3, ran: 4, min: 5 };
        let json = serde_json::to_string(&kind).unwrap();
        assert_eq!(json, r#"{"finding":"too-few-rounds","rounds":3,"ran":4,"min":5}"#);
    }
}
