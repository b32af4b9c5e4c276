//! What a person sees.

use hdrhistogram::Histogram;
use model::{
    Batch, BlobWork, Cache, Cost, Finding, FindingKind, Io, Operation, Order, Residency, Work,
    record::{End, Ended, Record},
};
use proptest::prelude::*;
use storemark_report::{
    Style,
    pages::{self, Detail},
};
use unicode_width::UnicodeWidthStr;

use crate::fixture::{
    self, OPERATIONS, asked, available, doubtful, page, passes, record, sample, style, typical,
    workload,
};

fn plain(record: &Record, width: u16) -> String {
    page(record, width, Detail { all: true, ..Detail::default() })
}

/// The same with what explains it.
fn explained(record: &Record, width: u16) -> String {
    page(record, width, Detail { all: true, explain: true, ..Detail::default() })
}

fn cells(page: &str, label: &str) -> String {
    fixture::cells(page, label, 0)
}

fn assert_fits(record: &Record) {
    for width in [60, 80, 100, 120, 140] {
        for line in explained(record, width).lines() {
            assert!(line.width() <= usize::from(width), "{width}: {} {line}", line.width());
        }
    }
}

#[test]
fn a_row_holds_the_figures() {
    let page = plain(&typical(), 110);
    assert_eq!(cells(&page, "files"), "files 4.04 8.09 4.04 4.09 4.09 2.00 2472 1 baseline");
    assert_eq!(
        cells(&page, "sqlite"),
        "sqlite api=blob 3.15 6.31 3.15 3.19 3.19 2.00 3170 0.780 (0.780–0.780) 1.28× faster"
    );
    assert!(cells(&page, "pack").ends_with("same within ±3 %"));
}

#[test]
fn the_head_says_what_and_where() {
    let page = plain(&typical(), 140);
    let mut lines = page.lines().skip_while(|line| !line.is_empty()).skip(1);
    let mut next = || lines.next().unwrap_or_default();
    assert_eq!(next(), "1,000 keys of 8,000 to 12,000 bytes (10.0 MB) from seed 42");
    assert_eq!(
        next(),
        "AMD EPYC 9B14, 2 CPUs, 8.20 GB of memory, linux 6.18.5, ext4, virtualised (kvm), sqlite 3.51.1"
    );
    assert_eq!(next(), "");
    assert_eq!(next(), "read, warm: 1,000 operations, random permutation, all in one transaction");
}

#[test]
fn space_settings_and_the_end_follow() {
    let page = plain(&typical(), 100);
    let space = &page[page.find("space").unwrap()..];
    assert_eq!(cells(space, "sqlite"), "sqlite api=blob 1.02 1.10 1.50 0.250 durable");
    assert!(page.contains("\n  sqlite api=blob: journal=delete sync=full\n"), "{page}");
    assert!(!page.contains("pack: "));
    assert_eq!(
        page.lines().last(),
        Some("10 rounds in 48.2 s; every ratio has a verdict or is known within ±1.5 %; seed 42")
    );
    let mut several = typical();
    several.header.plan.rounds.runs = 4;
    assert!(plain(&several, 100).contains("10 rounds of 1 of 4 runs in 48.2 s; "));
    for sample in &mut several.samples {
        sample.run = sample.round % 4;
    }
    assert!(plain(&several, 100).contains("10 rounds of 4 runs in 48.2 s; "));
    let mut gated = typical();
    gated.header.plan.rounds.fail_above = Some(0.05);
    let page = plain(&gated, 100);
    let why = "; every ratio is known to be within the gate's 5 % or above it; seed 42\n";
    assert!(page.ends_with(why), "{page}");
}

#[test]
fn stores_known_in_part_are_told_in_megabytes() {
    let mut record = typical();
    *available(&mut record) = 5_000;
    let page = plain(&record, 100);
    assert!(page.contains("\n1,000 of 5,000 keys of 8,000 to 12,000 bytes"));
    let space = &page[page.find("space: the store's files").unwrap()..];
    assert_eq!(cells(space, "pack"), "pack 10.2 11.0 1.50 0.250 none");
}

#[test]
fn a_target_alone_has_an_interval_and_no_verdict() {
    let mut record = record(&["files"]);
    record.samples = (0..6).map(|r| sample(r, 0, [4_000, 4_200][r as usize % 2])).collect();
    let page = plain(&record, 100);
    let row = cells(&page, "files");
    assert!(
        row.starts_with("files 4.10 (3.9") && row.ends_with(") 8.20 4.00 4.20 4.20 2.00"),
        "{row}"
    );
    assert!(!page.contains("verdict") && !page.contains("baseline"));
    assert!(page.ends_with("6 rounds; cut off: what was measured is shown; seed 42\n"));
}

#[test]
fn a_time_above_p99_has_its_reason_next_to_it() {
    let plain = |record: &Record| {
        let page = plain(record, 120);
        page.lines()
            .filter(|line| line.contains("above p99"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut record = typical();
    assert_eq!(plain(&record), [""; 0]);
    // Five of 1,000 operations take 300 ms.
    let mut slow = Histogram::<u64>::new(3).unwrap();
    slow.record_n(3_150, OPERATIONS - 5).unwrap();
    slow.record_n(300_000_000, 5).unwrap();
    let text = checks::histogram::encode(&slow).unwrap();
    for sample in record.samples.iter_mut().filter(|sample| sample.target == 1) {
        sample.wall_ns += 5 * 300_000_000;
        let latency = &mut passes(sample).latency;
        (latency.histogram, latency.max_ns) = (text.clone(), 300_000_000);
    }
    let reason = "100 % of it in the slowest 1 % of the operations, up to 300 ms";
    assert_eq!(plain(&record), [format!("  time above p99: sqlite api=blob {reason}")]);
    let mut record = typical();
    for sample in record.samples.iter_mut().filter(|sample| sample.target == 1) {
        sample.settle_ns = sample.wall_ns * 3;
        sample.wall_ns *= 4;
    }
    let reason = "75 % of it flushes after the last operation";
    assert_eq!(plain(&record), [format!("  time above p99: sqlite api=blob {reason}")]);
}

#[test]
fn writes_of_other_durability_get_no_verdict() {
    let mut record = typical();
    record.header.plan.workloads = vec![workload(Operation::Update)];
    let row = cells(&plain(&record, 140), "sqlite");
    assert!(row.ends_with("*0.780 (0.780–0.780) durability differs"), "{row}");
}

#[test]
fn a_narrow_terminal_goes_without_the_rate() {
    let page = plain(&typical(), 100);
    assert_eq!(cells(&page, "files"), "files 4.04 8.09 4.04 4.09 4.09 2.00 1 baseline");
}

/// The same on a terminal that shows block characters.
fn with_bars(record: &Record, width: u16) -> String {
    let page =
        pages::records(std::slice::from_ref(record), Detail { all: true, ..Detail::default() });
    page.terminal(&Style { bars: true, ..style(width) })
}

#[test]
fn bars_stand_beside_ratios_where_there_is_room() {
    let page = with_bars(&typical(), 130);
    let row = cells(&page, "sqlite");
    assert!(row.ends_with("0.780 (0.780–0.780) █│ 1.28× faster"), "{row}");
    assert!(page.contains("¼     1     4"), "{page}");
    let row = page.lines().find(|line| line.starts_with("pack")).unwrap();
    assert!(row.contains("(0.98–1.02)        █        same within ±3 %"), "{row}");
    for width in [60, 80, 100] {
        assert!(!plain(&typical(), width).contains('█'), "a pipe has none");
    }
    for width in [60, 80, 120] {
        for line in with_bars(&doubtful(), width).lines() {
            assert!(line.width() <= usize::from(width), "{width}: {line}");
        }
    }
}

#[test]
fn a_very_narrow_terminal_keeps_what_is_asked_for() {
    for bars in [false, true] {
        let page = if bars { with_bars(&typical(), 60) } else { plain(&typical(), 60) };
        let head = page.lines().find(|line| line.starts_with("target")).unwrap();
        let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(head, "target time p99 ratio verdict", "{page}");
        assert!(page.contains("0.780") && page.contains("1.28× faster"), "{page}");
    }
}

/// The typical record with every trial begun in `cache`, `resident` of 100 pages in memory.
fn cold(resident: u64) -> Record {
    let mut record = typical();
    record.header.plan.caches = vec![Cache::DataCold];
    for sample in &mut record.samples {
        sample.cache = Cache::DataCold;
        passes(sample).first = None;
        sample.before = Some(Residency { pages: 100, resident, ..Residency::default() });
        sample.io = Some(Io { device_read_bytes: Some(sample.bytes * 3 / 2), ..Io::default() });
    }
    record
}

#[test]
fn cold_passes_show_what_came_from_the_device() {
    let page = plain(&cold(1), 110);
    assert!(page.contains("read, data-cold: 1,000 operations"), "{page}");
    assert_eq!(cells(&page, "files"), "files 4.04 1.50 4.04 4.09 4.09 2.00 2472 1 baseline");
}

#[test]
fn what_a_cold_state_costs_stands_under_its_table() {
    let mut record = cold(1);
    record.header.plan.caches = vec![Cache::Warm, Cache::DataCold];
    record.samples.iter_mut().for_each(|sample| sample.wall_ns *= 3);
    let warm = typical().samples;
    record.samples.extend(warm);
    let page = plain(&record, 110);
    assert!(page.contains("\n  time data-cold ÷ warm: files 3.0"), "{page}");
    assert!(page.contains("\n  a median far below the time"), "{page}");
    assert!(!plain(&cold(1), 110).contains("÷ warm"), "nothing to compare with");
}

#[test]
fn a_state_that_was_not_reached_gives_no_figure_its_name() {
    let page = plain(&cold(2), 100);
    assert_eq!(cells(&page, "pack"), "pack not in state – – – – – – state not reached");
    // Where some rounds began in it, they count.
    let mut record = cold(1);
    for sample in record.samples.iter_mut().filter(|sample| sample.round < 4) {
        sample.before.as_mut().unwrap().resident = 50;
    }
    let row = cells(&plain(&record, 100), "sqlite");
    assert!(row.ends_with("1.28× faster"), "{row}");
}

#[test]
fn what_was_not_measured_is_dashes() {
    let mut record = typical();
    record.samples.retain(|s| s.target != 1);
    record.stores.remove(1);
    let page = plain(&record, 100);
    assert_eq!(cells(&page, "sqlite"), "sqlite api=blob – – – – – – – –");
    assert!(!page.contains("× faster") && !page.contains("slower"));
}

#[test]
fn each_workload_has_its_table() {
    let mut record = typical();
    let fixed = model::Workload {
        work: Work::Blobs(BlobWork { operation: Operation::Read, order: Order::Asc, rate: None }),
        batch: Batch::Of(100),
        threads: 2,
        ..workload(Operation::Read)
    };
    record.header.plan.workloads.push(fixed);
    record.findings.push(Finding::run(FindingKind::OrderOfInsertion).in_workload(1));
    let page = plain(&record, 100);
    assert!(page.contains("\nread 1, warm: 1,000 operations, random permutation"));
    assert!(page.contains(
        "\nread 2, warm: 1,000 operations, ascending, 100 operations a transaction, 2 threads\n"
    ));
    assert!(page.contains("\n· read 2: faster than most uses: keys are touched in a fixed order"));
}

#[test]
fn doubts_stand_by_weight_and_notes_are_counted() {
    let page = plain(&doubtful(), 140);
    let wrong =
        page.find("\n! wrong: no figure counts: storemark was built without optimisation").unwrap();
    let warning = page.find("\n! times are too long: the hypervisor took up to 5.0 %").unwrap();
    let note = page.find("\n· times may be too long: what else ran during the").unwrap();
    assert!(wrong < warning && warning < note);
    assert!(page.contains(
        "\n· pack (in 2 rounds): not all of the work is counted: flushing what was left to the background took up to"
    ));
    assert!(!page.contains("more (-v"), "{page}");
    let brief = fixture::page(&doubtful(), 140, Detail::default());
    assert_eq!(brief.lines().filter(|line| line.starts_with("! ")).count(), 3, "{brief}");
    assert!(brief.contains("\n  and 6 findings more (-v shows all)\n"), "{brief}");
}

#[test]
fn the_end_says_why() {
    let mut record = typical();
    let mut last = |reason| {
        record.end = Some(End { reason, seconds: -1.0, requests: None });
        plain(&record, 100).lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(last(Ended::Time), "10 rounds; the time was spent; seed 42");
    assert!(last(Ended::Interrupted).contains("interrupted: what was measured is shown"));
    assert!(last(Ended::Failed("disk full".to_owned())).contains("failed: disk full; what"));
}

#[test]
fn colour_adds_nothing_but_colour() {
    let style = Style { color: true, ..style(100) };
    let all = Detail { all: true, ..Detail::default() };
    let mut coloured = pages::records(&[doubtful()], all).terminal(&style);
    assert!(coloured.contains("\u{1b}[32m1.28× faster\u{1b}[0m"));
    for code in [0, 1, 2, 31, 32] {
        coloured = coloured.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(coloured, plain(&doubtful(), 100));
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    assert_fits(&typical());
    assert_fits(&doubtful());
    let mut long = doubtful();
    long.header.plan.targets[1].label = "sqlite api=blob mmap=1073741824 ".repeat(4);
    long.header.plan.targets[2].label = "数据库/🗄️/e\u{301}クラス\u{1b}[31m/".repeat(7);
    long.header.plan.workloads = vec![workload(Operation::Update)];
    long.samples.iter_mut().for_each(|s| s.wall_ns *= 1_000_000);
    long.findings.push(Finding::target(FindingKind::LoadUnknown, &"x".repeat(300)));
    assert_fits(&long);
    assert!(!plain(&long, 80).contains('\u{1b}'));
}

#[test]
fn labels_that_differ_at_the_end_still_do() {
    let mut record = typical();
    let common = "sqlite page_size=4096 cache=10000000 journal=delete";
    record.header.plan.targets[1].label = format!("{common} mmap=1");
    record.header.plan.targets[2].label = format!("{common} mmap=2");
    let page = plain(&record, 100);
    assert!(page.contains("mmap=1") && page.contains("mmap=2"), "{page}");
}

#[test]
fn waiting_for_a_processor_is_said_below_the_times() {
    const ALL: &str = "  times contain waiting for a processor\n";
    let mut record = typical();
    assert!(plain(&record, 100).contains(ALL));
    let of_files = record.samples.iter_mut().filter(|sample| sample.target == 0);
    of_files.for_each(|sample| {
        (sample.waited_ns, sample.wall_ns) = (Some(sample.wall_ns / 3), sample.wall_ns / 3 * 4);
    });
    let note = "  waited for a processor, left out of the time: files 25 %; the time contains waiting for a\n  \
                processor: sqlite api=blob, pack\n";
    let page = plain(&record, 100);
    assert!(page.contains(note) && !page.contains(" wall"), "{page}");
    assert!(plain(&record, 140).contains(" wall"));
    record.samples.iter_mut().for_each(|sample| sample.waited_ns = Some(0));
    assert!(!plain(&record, 100).contains("processor:") && !plain(&record, 100).contains(ALL));
}

#[test]
fn what_explains_a_case_stands_after_its_tables_if_asked_for() {
    let mut record = typical();
    record.header.plan.caches = vec![Cache::DataCold];
    record.samples.iter_mut().for_each(|sample| asked(sample, 500));
    for sample in record.samples.iter_mut().filter(|s| s.target == 1) {
        asked(sample, 100);
        sample.io.as_mut().unwrap().device_read_bytes = Some(sample.bytes / 2);
    }
    let page = explained(&record, 100);
    let time = &page[page.find("\nread, data-cold: where the time goes, per blob\n").unwrap()..];
    assert!(page.find("verdict") < page.find("where the time") && time.contains("space:"));
    assert_eq!(
        cells(time, "sqlite"),
        "sqlite api=blob 0.500 1.50 1.15 – 3.15 0.100 0.200 0.700 0.250 2.00"
    );
    let moved = &time[time.find("\nread, data-cold: what was moved").unwrap()..];
    assert_eq!(
        cells(moved, "sqlite"),
        "sqlite api=blob 0.500 0.600 1.10 0.700 0.800 0.500 1.00 0.00 –"
    );
    let sentence = "\n· sqlite api=blob, 1.28× faster: this coincides with time off the processor per blob 2.04 → 1.15 µs\n  \
                    (-0.890), flushes per blob 5.50 → 1.10 (-4.40)\n";
    assert!(moved.contains(sentence), "{moved}");
    assert!(!moved.contains("· pack"), "no difference was shown");
    assert!(!plain(&record, 100).contains("where the time goes"));
}

#[test]
fn what_no_system_told_is_dashes() {
    let mut record = typical();
    record.samples.iter_mut().for_each(|s| s.cost = Cost::default());
    let page = explained(&record, 100);
    let time = &page[page.find("where the time goes").unwrap()..];
    assert_eq!(cells(time, "files"), "files – – – – 4.04 – – – 0.250 2.00");
    let moved = &time[time.find("what was moved").unwrap()..];
    assert_eq!(cells(moved, "files"), "files – – – – – – – – –");
    assert!(!page.contains("goes along"));
}

proptest! {
    #[test]
    fn any_samples_can_be_printed(
        mask: u32,
        numbers in prop::collection::vec(any::<u64>(), 12),
        baseline in 0_usize..5,
        available: u64,
    ) {
        let mut record = doubtful();
        record.header.plan.baseline = baseline;
        *self::available(&mut record) = available;
        let mut i = 0;
        record.samples.retain(|_| { i += 1; mask & (1 << i) != 0 });
        for (sample, n) in record.samples.iter_mut().zip(&numbers) {
            sample.target = (n % 4) as usize;
            sample.operations = n >> (n % 64);
            sample.wall_ns = n.rotate_left(7) >> (n % 61);
            sample.bytes = n.rotate_left(17);
            asked(sample, n.rotate_left(19));
            sample.cost.user_ns = n.rotate_left(27);
            passes(sample).latency.sum_ns = n.rotate_left(37);
        }
        assert_fits(&record);
        prop_assert!(!explained(&record, 100).contains("NaN"));
    }
}

#[test]
fn a_round_that_was_cut_off_is_not_counted() {
    let mut record = typical();
    record.samples.retain(|sample| sample.round < 5);
    record.samples.pop();
    record.end = Some(End { reason: Ended::Time, seconds: 30.2, requests: None });
    let page = page(&record, 200, Detail::default());
    assert!(page.contains("\n4 rounds and a part of one in 30.2 s; "), "{page}");
    // What the finding counts is what the last line counts.
    record.samples.retain(|s| s.round < 4 || (s.round == 4 && s.target == 0));
    let page = self::page(&record, 200, Detail::default());
    assert!(page.contains("it needs 5 rounds, and 4 ran"), "{page}");
    assert!(page.contains("\n4 rounds and a part of one in 30.2 s; "), "{page}");
}
