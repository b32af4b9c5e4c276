//! What `storemark doctor` found out about a machine.

use model::{
    Disk, DoctorReport, Environment, Filesystem, Flush, Folder, Noise, Program, Reach,
    units::{show_count, show_size, three_digits},
};
use stats::Estimate;

use super::Page;
use crate::{
    number::with_interval,
    table::{Line, Lines},
    words,
};

/// The machine, the folder, what can be measured there and how finely, and what to do.
pub fn doctor(report: &DoctorReport) -> Page {
    let mut parts = vec![machine(report), folder(report)];
    parts.extend(caches(&report.caches));
    parts.extend([programs(report), noise(&report.noise)]);
    let nothing =
        report.advice.is_empty().then(|| entry("nothing", [Some("no finding".to_owned())]));
    let advice = report.advice.iter().map(|advice| {
        let line = Line::finding(advice.severity, &advice.text);
        Line { lead: format!("  {}", line.lead).into(), ..line }
    });
    parts.push(Lines::new("What to do", nothing.flatten().into_iter().chain(advice)));
    Page::prose(parts)
}

/// A line about `name` that lists what is known of it; absent if that is nothing.
fn entry(name: &str, parts: impl IntoIterator<Item = Option<String>>) -> Option<Line> {
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let text = parts.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then(|| Line::new(format!("  {name:<14}  "), text))
}

fn size(bytes: Option<u64>, what: &str) -> Option<String> {
    bytes.map(|bytes| format!("{}{what}", show_size(bytes)))
}

fn machine(report: &DoctorReport) -> Lines {
    let environment = &report.environment;
    let Environment { cpu, memory, .. } = environment;
    let count = Some(words::counted(cpu.count.into(), "CPU"));
    let cache = cpu.last_level_cache_bytes;
    let cache = cache.map(|bytes| format!("last-level cache of {}", show_size(bytes)));
    let governor = cpu.governor.as_ref().map(|governor| format!("governor {governor}"));
    let governor = Some(governor.unwrap_or_else(|| "frequency governor not known".to_owned()));
    let swap = memory.swap_bytes.filter(|bytes| *bytes > 0);
    let swap = size(swap, " of swap").or(memory.swap_bytes.and(Some("no swap".to_owned())));
    let kernel = environment.kernel.as_deref().unwrap_or_default();
    let system = format!("{} {kernel}", environment.os);
    let virtualised = environment.virtualised.clone();
    let virtualised = Some(virtualised.unwrap_or_else(|| "not seen to be virtualised".to_owned()));
    let user = report.user_id.map(|id| match id {
        0 => "root".to_owned(),
        id => format!("user {id}, not root"),
    });
    let own = environment.loop_ns;
    let own =
        (own > 0.0).then(|| format!("storemark's own loop {} ns an operation", three_digits(own)));
    let clock = Some(format!("{} ns for two reads", environment.clock_ns));
    let entries = [
        entry("processor", [cpu.model.clone(), count, cache, governor]),
        entry(
            "memory",
            [size(memory.total_bytes, ""), size(memory.available_bytes, " available"), swap],
        ),
        entry("system", [Some(system.trim().to_owned()), virtualised]),
        entry("user", [user]),
        entry("clock", [clock, own]),
    ];
    Lines::new("Machine", entries.into_iter().flatten())
}

fn folder(report: &DoctorReport) -> Lines {
    let Folder { path, unwritable, free_bytes, disk, flush, flushes_like } = &report.folder;
    let unwritable = unwritable.as_ref().map(|why| format!("nothing can be written there: {why}"));
    let filesystems = report.environment.filesystems.iter().map(filesystem);
    let flushes_like = flush.and_then(|_| flushes_like.clone());
    let untried = report.untried.iter().map(|what| entry("not tried", [Some(what.clone())]));
    let elsewhere = report.other_filesystems.iter().map(|other| {
        let place = format!("{} ({} from {})", other.mount, other.kind, other.device);
        entry("elsewhere", [Some(place), size(other.free_bytes, " free")])
    });
    let entries = [entry("not writable", [unwritable])].into_iter().chain(filesystems);
    let entries = entries
        .chain([
            entry("room", [size(*free_bytes, " free")]),
            disk.as_ref().and_then(self::disk),
            entry("flush", [flush.as_ref().map(self::flush)]),
            entry("flushes like", [flushes_like]),
        ])
        .chain(untried)
        .chain(elsewhere);
    Lines::new(format!("Folder {path}"), entries.flatten())
}

/// Mount options that change what is measured.
const RELEVANT: &str = "ro sync dirsync noatime lazytime discard data journal_async_commit commit barrier \
                        nobarrier noauto_da_alloc nodelalloc dax compress compress-force nodatacow \
                        autodefrag ssd size";

fn filesystem(filesystem: &Filesystem) -> Option<Line> {
    let Filesystem { kind, mount, device, options, compression, .. } = filesystem;
    let is_relevant = |option: &&str| {
        let name = option.split_once('=').map_or(*option, |(name, _)| name);
        RELEVANT.split(' ').any(|relevant| relevant == name)
    };
    let options: Vec<_> = options.split(',').filter(is_relevant).collect();
    let direct = filesystem.loop_direct_io.map(|yes| if yes { "with" } else { "without" });
    entry(
        "file system",
        [
            Some(format!("{kind} on {mount} from {device}")),
            (!options.is_empty()).then(|| options.join(",")),
            compression.as_ref().map(|how| format!("compresses ({how})")),
            direct.map(|direct| format!("on a loop device {direct} direct I/O")),
        ],
    )
}

fn disk(disk: &Disk) -> Option<Line> {
    let rotates =
        disk.rotational.map(|yes| if yes { "reports that it rotates" } else { "does not rotate" });
    let discards = disk.discards.map(|yes| if yes { "discards" } else { "no discards" });
    entry(
        "disk",
        [
            Some(disk.name.clone()),
            disk.model.clone(),
            rotates.map(str::to_owned),
            disk.scheduler.as_ref().map(|name| format!("scheduler {name}")),
            disk.write_cache.as_ref().map(|kind| format!("write cache: {kind}")),
            disk.queue_requests.map(|count| format!("queue of {count}")),
            disk.read_ahead_bytes.map(|bytes| format!("read-ahead {}", show_size(bytes))),
            discards.map(str::to_owned),
            disk.loop_file.as_ref().map(|file| format!("a loop device over {file}")),
            (!disk.made_of.is_empty()).then(|| format!("made of {}", disk.made_of.join(" "))),
        ],
    )
}

fn flush(flush: &Flush) -> String {
    let [p50, p90, p99, max] = [flush.p50_ns, flush.p90_ns, flush.p99_ns, flush.max_ns].map(time);
    let count = show_count(flush.count);
    format!(
        "p50 {p50}, p90 {p90}, p99 {p99}, max {max} (4 KiB to the end of a file, then its data \
         flushed; {count} times)"
    )
}

fn time(nanoseconds: u64) -> String {
    match nanoseconds as f64 {
        ns if ns < 999_500.0 => format!("{} µs", three_digits(ns / 1e3)),
        ns => format!("{} ms", three_digits(ns / 1e6)),
    }
}

fn caches(caches: &[Reach]) -> Option<Lines> {
    let line = |Reach { cache, reached, why }: &Reach| {
        let answer = match reached {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not known",
        };
        entry(cache.as_str(), [Some(format!("{answer}: {why}"))])
    };
    let lines = Lines::new("Cache states", caches.iter().filter_map(line));
    Some(lines).filter(|lines| !lines.lines.is_empty())
}

fn programs(report: &DoctorReport) -> Lines {
    let libraries = report.environment.libraries.iter();
    let libraries = libraries
        .map(|one| entry(&one.name, [Some(one.version.clone()), Some("built in".to_owned())]));
    let program = |program: &Program| {
        let missing = || format!("not found (Debian's package: {})", program.package);
        let place = program.path.clone().unwrap_or_else(missing);
        entry(&program.name, [program.version.clone(), Some(place)])
    };
    let programs = report.programs.iter().map(program);
    Lines::new("Installed", libraries.chain(programs).flatten())
}

fn noise(noise: &[Noise]) -> Lines {
    let nothing = noise.is_empty().then_some("it was stopped, or cannot be tried here");
    let nothing = nothing.and_then(|why| entry("not measured", [Some(why.to_owned())]));
    let targets = noise.iter().filter_map(|one| entry(&one.target, [Some(against_itself(one))]));
    Lines::new("Noise: each target against itself", nothing.into_iter().chain(targets))
}

fn against_itself(noise: &Noise) -> String {
    let Noise { ratio: point, ratio_low: low, ratio_high: high, rounds, .. } = *noise;
    format!(
        "{} over {} rounds in {:.0} s: {}; the smallest difference that a minute ({} rounds) \
         shows in nine of ten runs is {} %",
        with_interval(&Estimate { point, low, high, n: rounds as usize }),
        show_count(rounds.into()),
        noise.seconds,
        evenness(noise),
        show_count(noise.rounds_a_minute.into()),
        three_digits(noise.detectable_share * 100.0),
    )
}

/// Share beyond which a difference is more than most upgrades make.
const NOISY: f64 = 0.1;

/// A target that scatters widely comes out even whatever it is compared with.
fn evenness(noise: &Noise) -> &'static str {
    match noise.even {
        false => "not even",
        true if noise.detectable_share > NOISY => "too noisy to say",
        true => "even",
    }
}
