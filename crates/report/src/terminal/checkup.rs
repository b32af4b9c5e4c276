//! Prints a checkup for a person at a terminal.

use model::{
    Disk, DoctorReport, Environment, Filesystem, Flush, Folder, Noise, Program, Reach, Suggestion,
    units::{show_count, show_size, three_digits},
};
use stats::Estimate;

use super::{
    NARROWEST, Style, doubts,
    number::with_interval,
    page::{Page, Paint},
};

/// No line is wider, however wide the terminal is: these are sentences.
const WIDEST: usize = 100;

/// Share beyond which a difference is more than most upgrades make.
const NOISY: f64 = 0.1;

/// Columns for what a line is about.
const NAMES: usize = 14;

/// Mount options that change what is measured.
const WEIGHTY: [&str; 20] = [
    "ro",
    "sync",
    "dirsync",
    "noatime",
    "lazytime",
    "discard",
    "data",
    "journal_async_commit",
    "commit",
    "barrier",
    "nobarrier",
    "noauto_da_alloc",
    "nodelalloc",
    "dax",
    "compress",
    "compress-force",
    "nodatacow",
    "autodefrag",
    "ssd",
    "size",
];

/// A checkup as a person reads it: the machine, the folder, what can be measured there and how
/// finely, and what to do.
pub fn checkup(checkup: &DoctorReport, style: &Style) -> String {
    let mut page = Page::new(usize::from(style.width).clamp(NARROWEST, WIDEST), style.color);
    machine(&mut page, checkup);
    folder(&mut page, checkup);
    caches(&mut page, &checkup.caches);
    programs(&mut page, checkup);
    noise(&mut page, &checkup.noise);
    advice(&mut page, &checkup.advice);
    page.into_text()
}

fn head(page: &mut Page, text: &str) {
    page.gap();
    page.paragraph("", text, Paint::Bold);
}

/// A line about `name`, if there is anything to say.
fn line(page: &mut Page, name: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    page.paragraph(&format!("  {name:<NAMES$}  "), text, Paint::Plain);
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn machine(page: &mut Page, checkup: &DoctorReport) {
    let environment = &checkup.environment;
    head(page, "Machine");
    line(page, "processor", &processor(environment));
    line(page, "memory", &memory(environment));
    line(page, "system", &system(environment));
    let user = checkup.user_id.map(|id| match id {
        0 => "root".to_owned(),
        id => format!("user {id}, not root"),
    });
    line(page, "user", &user.unwrap_or_default());
    line(page, "clock", &clock(environment));
}

fn processor(environment: &Environment) -> String {
    let cpu = &environment.cpu;
    let count = if cpu.count == 1 { "1 CPU".to_owned() } else { format!("{} CPUs", cpu.count) };
    let cache = cpu.last_level_cache_bytes;
    let governor = cpu.governor.as_ref();
    joined([
        cpu.model.clone(),
        Some(count),
        cache.map(|bytes| format!("last-level cache of {}", show_size(bytes))),
        Some(governor.map_or("no frequency governor told".to_owned(), |g| format!("governor {g}"))),
    ])
}

fn memory(environment: &Environment) -> String {
    let memory = &environment.memory;
    joined([
        memory.total_bytes.map(show_size),
        memory.available_bytes.map(|bytes| format!("{} available", show_size(bytes))),
        memory.swap_bytes.map(|bytes| match bytes {
            0 => "no swap".to_owned(),
            bytes => format!("{} of swap", show_size(bytes)),
        }),
    ])
}

fn system(environment: &Environment) -> String {
    let virtualised = environment.virtualised.as_ref();
    let kernel = environment.kernel.as_deref().unwrap_or_default();
    joined([
        Some(format!("{} {kernel}", environment.os).trim().to_owned()),
        Some(virtualised.map_or("not seen to be virtualised".to_owned(), Clone::clone)),
    ])
}

fn clock(environment: &Environment) -> String {
    let own = environment.loop_ns;
    joined([
        Some(format!("{} ns for two reads", environment.clock_ns)),
        (own > 0.0).then(|| format!("storemark's own loop {} ns an operation", three_digits(own))),
    ])
}

fn folder(page: &mut Page, checkup: &DoctorReport) {
    let Folder { path, unwritable, free_bytes, disk, flush, flushes_like } = &checkup.folder;
    head(page, &format!("Folder {path}"));
    let unwritable = unwritable.as_ref().map(|why| format!("nothing can be written there: {why}"));
    line(page, "not writable", &unwritable.unwrap_or_default());
    for filesystem in &checkup.environment.filesystems {
        line(page, "file system", &self::filesystem(filesystem));
    }
    let free = free_bytes.map(|bytes| format!("{} free", show_size(bytes)));
    line(page, "room", &free.unwrap_or_default());
    line(page, "disk", &disk.as_ref().map(self::disk).unwrap_or_default());
    if let Some(flush) = flush {
        line(page, "flush", &self::flush(flush));
        line(page, "flushes like", flushes_like.as_deref().unwrap_or_default());
    }
    for what in &checkup.untried {
        line(page, "not tried", what);
    }
    for other in &checkup.other_filesystems {
        let free = other.free_bytes.map(|bytes| format!("{} free", show_size(bytes)));
        let place = format!("{} ({} from {})", other.mount, other.kind, other.device);
        line(page, "elsewhere", &joined([Some(place), free]));
    }
}

fn filesystem(told: &Filesystem) -> String {
    let is_weighty = |option: &&str| {
        let name = option.split_once('=').map_or(*option, |(name, _)| name);
        WEIGHTY.contains(&name)
    };
    let options: Vec<_> = told.options.split(',').filter(is_weighty).collect();
    joined([
        Some(format!("{} on {} from {}", told.kind, told.mount, told.device)),
        (!options.is_empty()).then(|| options.join(",")),
        told.compression.as_ref().map(|how| format!("compresses ({how})")),
        told.loop_direct_io.map(|yes| {
            let how = if yes { "with" } else { "without" };
            format!("on a loop device {how} direct I/O")
        }),
    ])
}

fn disk(disk: &Disk) -> String {
    joined([
        Some(disk.name.clone()),
        disk.model.clone(),
        disk.rotational
            .map(|yes| if yes { "says it rotates" } else { "does not rotate" }.to_owned()),
        disk.scheduler.as_ref().map(|name| format!("scheduler {name}")),
        disk.write_cache.as_ref().map(|kind| format!("write cache: {kind}")),
        disk.queue_requests.map(|count| format!("queue of {count}")),
        disk.read_ahead_bytes.map(|bytes| format!("read-ahead {}", show_size(bytes))),
        disk.discards.map(|yes| if yes { "discards" } else { "no discards" }.to_owned()),
        disk.loop_file.as_ref().map(|file| format!("a loop device over {file}")),
        (!disk.made_of.is_empty()).then(|| format!("made of {}", disk.made_of.join(" "))),
    ])
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

fn caches(page: &mut Page, caches: &[Reach]) {
    if caches.is_empty() {
        return;
    }
    head(page, "Cache states");
    for Reach { cache, reached, why } in caches {
        let answer = match reached {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not known",
        };
        line(page, cache.as_str(), &format!("{answer}: {why}"));
    }
}

fn programs(page: &mut Page, checkup: &DoctorReport) {
    head(page, "Installed");
    for library in &checkup.environment.libraries {
        line(page, &library.name, &format!("{}, built in", library.version));
    }
    for program in &checkup.programs {
        line(page, &program.name, &self::program(program));
    }
}

fn program(program: &Program) -> String {
    match &program.path {
        None => format!("not found (Debian's package: {})", program.package),
        Some(path) => joined([program.version.clone(), Some(path.clone())]),
    }
}

fn noise(page: &mut Page, noise: &[Noise]) {
    head(page, "Noise: each target against itself");
    if noise.is_empty() {
        line(page, "not measured", "it was stopped, or cannot be tried here");
    }
    for target in noise {
        line(page, &target.target, &self::against_itself(target));
    }
}

fn against_itself(noise: &Noise) -> String {
    let ratio = Estimate {
        point: noise.ratio,
        low: noise.ratio_low,
        high: noise.ratio_high,
        n: noise.rounds as usize,
    };
    format!(
        "{} over {} rounds in {:.0} s: {}; the smallest difference that a minute ({} rounds) \
         shows in nine of ten runs is {} %",
        with_interval(&ratio),
        show_count(noise.rounds.into()),
        noise.seconds,
        evenness(noise),
        show_count(noise.rounds_a_minute.into()),
        three_digits(noise.detectable_share * 100.0),
    )
}

/// A target that scatters widely comes out even whatever it is compared with.
fn evenness(noise: &Noise) -> &'static str {
    match noise.even {
        false => "not even",
        true if noise.detectable_share > NOISY => "too noisy to tell",
        true => "even",
    }
}

fn advice(page: &mut Page, advice: &[Suggestion]) {
    head(page, "What to do");
    if advice.is_empty() {
        line(page, "nothing", "no doubt came up");
    }
    for Suggestion { severity, text, .. } in advice {
        let (lead, paint) = doubts::lead(*severity);
        page.paragraph(&format!("  {lead}"), text, paint);
    }
}
