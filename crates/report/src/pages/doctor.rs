//! The page of `storemark doctor`: what it found out about a machine.

use model::{
    Disk, DoctorReport, Environment, Filesystem, Fitness, Flush, Folder, Noise, Reach,
    units::{show_count, show_percent, show_size, three_digits},
};
use stats::Estimate;

use super::Page;
use crate::{
    number::with_interval,
    table::{Line, Lines},
    words,
};

/// A name and its values, `None` for those that are not known.
type Entry<'a> = (&'a str, Vec<Option<String>>);

/// Returns the page of a machine: its fitness, its folder, what can be measured there and how
/// finely, and what to do.
pub fn doctor(report: &DoctorReport) -> Page {
    let advice = report.advice.iter().map(|advice| {
        let line = Line::finding(advice.severity, &possible(&advice.text));
        Line { lead: format!("  {}", line.lead).into(), ..line }
    });
    let nothing =
        report.advice.is_empty().then(|| ("nothing", vec![Some("no finding".to_owned())]));
    let mut to_do = lines("What to do", nothing);
    to_do.lines.extend(advice);
    let caches = lines("Cache states", report.caches.iter().map(cache)).unless_empty();
    let noise = lines("Noise: each target against itself", noise(&report.noise));
    let folder = lines(format!("Folder {}", report.folder.path), folder(report));
    let parts =
        [fitness(report), lines("Machine", machine(report)), folder].into_iter().chain(caches);
    Page::prose(parts.chain([lines("Installed", programs(report)), noise, to_do]))
}

/// Removes advice that this command cannot take.
fn possible(sentence: &str) -> String {
    words::advice_of("doctor", sentence)
}

/// Returns the line that says whether the machine is fit.
fn fitness(report: &DoctorReport) -> Lines {
    let what = match (&report.fitness, &report.folder.unwritable) {
        (Fitness::Fit, _) => "fit: figures taken here can be relied on",
        (Fitness::FitWithFindings, _) => {
            "fit with findings: figures taken here may mislead, as said below"
        }
        (Fitness::Unfit, Some(_)) => "unfit: nothing can be written in this folder",
        (Fitness::Unfit, None) => "unfit: figures taken here are wrong, as said below",
    };
    Lines::new(what, [])
}

/// Returns a line for each entry with a known value.
fn lines<'a>(title: impl Into<String>, entries: impl IntoIterator<Item = Entry<'a>>) -> Lines {
    let line = |(name, parts): Entry<'_>| {
        let parts: Vec<_> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then(|| Line::new(format!("  {name:<14}  "), parts.join(", ")))
    };
    Lines::new(title, entries.into_iter().filter_map(line))
}

fn size(bytes: Option<u64>, what: &str) -> Option<String> {
    bytes.map(|bytes| format!("{}{what}", show_size(bytes)))
}

fn machine(report: &DoctorReport) -> Vec<Entry<'_>> {
    let Environment { cpu, memory, os, kernel, virtualised, loop_ns, clock_ns, .. } =
        &report.environment;
    let cache = cpu.last_level_cache_bytes;
    let cache = cache.map(|bytes| format!("last-level cache of {}", show_size(bytes)));
    let governor = cpu.governor.as_ref().map(|governor| format!("governor {governor}"));
    let governor = governor.unwrap_or_else(|| "frequency governor not known".to_owned());
    let swap = memory.swap_bytes.map(|bytes| match bytes {
        0 => "no swap".to_owned(),
        bytes => format!("{} of swap", show_size(bytes)),
    });
    let system = format!("{os} {}", kernel.as_deref().unwrap_or_default());
    let virtualised = virtualised.as_deref().unwrap_or("not seen to be virtualised");
    let user = report.user_id.map(|id| match id {
        0 => "root".to_owned(),
        id => format!("user {id}, not root"),
    });
    let own = || format!("storemark's own loop {} ns an operation", three_digits(*loop_ns));
    let clock = format!("{clock_ns} ns for two reads");
    let count = words::counted(cpu.count.into(), "CPU");
    let available = size(memory.available_bytes, " available");
    vec![
        ("processor", vec![cpu.model.clone(), Some(count), cache, Some(governor)]),
        ("memory", vec![size(memory.total_bytes, ""), available, swap]),
        ("system", vec![Some(system.trim().to_owned()), Some(virtualised.to_owned())]),
        ("user", vec![user]),
        ("clock", vec![Some(clock), (*loop_ns > 0.0).then(own)]),
    ]
}

fn folder(report: &DoctorReport) -> impl Iterator<Item = Entry<'_>> {
    let Folder { unwritable, free_bytes, disk, flush, flushes_like, .. } = &report.folder;
    let unwritable = unwritable.as_ref().map(|why| format!("nothing can be written there: {why}"));
    let elsewhere = report.other_filesystems.iter().map(|other| {
        let place = format!("{} ({} from {})", other.mount, other.kind, other.device);
        ("elsewhere", vec![Some(place), size(other.free_bytes, " free")])
    });
    let filesystems = report.environment.filesystems.iter();
    [("not writable", vec![unwritable])]
        .into_iter()
        .chain(filesystems.map(|one| ("file system", filesystem(one))))
        .chain([
            ("room", vec![size(*free_bytes, " free")]),
            ("disk", disk.as_ref().map(self::disk).unwrap_or_default()),
            ("flush", vec![flush.as_ref().map(self::flush)]),
            ("flushes like", vec![flush.and_then(|_| flushes_like.clone())]),
        ])
        .chain(report.untried.iter().map(|what| ("not tried", vec![Some(possible(what))])))
        .chain(elsewhere)
}

/// The mount options that change what is measured.
const RELEVANT: &str = "ro sync dirsync noatime lazytime discard data journal_async_commit commit barrier \
                        nobarrier noauto_da_alloc nodelalloc dax compress compress-force nodatacow \
                        autodefrag ssd size";

fn filesystem(filesystem: &Filesystem) -> Vec<Option<String>> {
    let Filesystem { kind, mount, device, options, compression, .. } = filesystem;
    let is_relevant = |option: &&str| {
        let name = option.split_once('=').map_or(*option, |(name, _)| name);
        RELEVANT.split(' ').any(|relevant| relevant == name)
    };
    let options: Vec<_> = options.split(',').filter(is_relevant).collect();
    let direct = filesystem.loop_direct_io.map(|yes| if yes { "with" } else { "without" });
    let from = if device.is_empty() { String::new() } else { format!(" from {device}") };
    vec![
        Some(format!("{kind} on {mount}{from}")),
        Some(options.join(",")),
        compression.as_ref().map(|how| format!("compresses ({how})")),
        direct.map(|direct| format!("on a loop device {direct} direct I/O")),
    ]
}

fn disk(disk: &Disk) -> Vec<Option<String>> {
    let rotates = disk.rotational;
    let rotates =
        rotates.map(|yes| if yes { "reports that it rotates" } else { "does not rotate" });
    let discards = disk.discards.map(|yes| if yes { "discards" } else { "no discards" });
    vec![
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
    ]
}

fn flush(flush: &Flush) -> String {
    let time = |ns: u64| match ns as f64 {
        ns if ns < 999_500.0 => format!("{} µs", three_digits(ns / 1e3)),
        ns => format!("{} ms", three_digits(ns / 1e6)),
    };
    let [p50, p90, p99, max] = [flush.p50_ns, flush.p90_ns, flush.p99_ns, flush.max_ns].map(time);
    let count = show_count(flush.count);
    format!(
        "p50 {p50}, p90 {p90}, p99 {p99}, max {max} (4 KiB to the end of a file, then its data \
         flushed; {count} times)"
    )
}

fn cache(Reach { cache, reached, why }: &Reach) -> Entry<'_> {
    let answer = match reached {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    };
    (cache.as_str(), vec![Some(format!("{answer}: {why}"))])
}

fn programs(report: &DoctorReport) -> impl Iterator<Item = Entry<'_>> {
    let libraries = report
        .environment
        .libraries
        .iter()
        .map(|one| (&*one.name, vec![Some(one.version.clone()), Some("built in".to_owned())]));
    libraries.chain(report.programs.iter().map(|program| {
        let missing = || format!("not found (Debian's package: {})", program.package);
        let place = program.path.clone().unwrap_or_else(missing);
        (&*program.name, vec![program.version.clone(), Some(place)])
    }))
}

fn noise(noise: &[Noise]) -> impl Iterator<Item = Entry<'_>> {
    let why = || vec![Some("it was stopped, or cannot be tried here".to_owned())];
    let nothing = noise.is_empty().then(|| ("not measured", why()));
    let targets = noise.iter().map(|one| (&*one.target, vec![Some(against_itself(one))]));
    nothing.into_iter().chain(targets)
}

/// The share above which a difference is larger than that of most upgrades.
const NOISY: f64 = 0.1;

fn against_itself(noise: &Noise) -> String {
    let Noise { ratio: point, ratio_low: low, ratio_high: high, rounds, .. } = *noise;
    // A target that scatters widely comes out even whatever it is compared with.
    let evenness = match noise.even {
        false => "not even",
        true if noise.detectable_share > NOISY => "too noisy to say",
        true => "even",
    };
    format!(
        "{} over {} rounds in {:.0} s: {evenness}; the smallest difference that a minute ({} rounds) \
         shows in nine of ten runs is {}",
        with_interval(&Estimate { point, low, high, n: rounds as usize }),
        show_count(rounds.into()),
        noise.seconds,
        show_count(noise.rounds_a_minute.into()),
        show_percent(noise.detectable_share),
    )
}
