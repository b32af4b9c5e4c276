//! What a person sees of a machine.

use checks::suggestions;
use model::{
    Cache, Cpu, Disk, DoctorReport, Environment, Filesystem, FindingKind, Fitness, Flush, Folder,
    Noise, Program, Reach, Volume,
};
use storemark_report::pages;
use unicode_width::UnicodeWidthStr;

fn page(found: &DoctorReport, width: u16) -> String {
    pages::doctor(found).terminal(&crate::fixture::style(width))
}

fn full() -> DoctorReport {
    let path = "/srv/a rather long name of a folder/".repeat(4);
    DoctorReport {
        fitness: Fitness::FitWithFindings,
        environment: Environment {
            os: "linux".to_owned(),
            cpu: Cpu { count: 1, governor: Some("powersave".to_owned()), ..Cpu::default() },
            filesystems: vec![Filesystem {
                mount: path.clone(),
                kind: "xfs".to_owned(),
                options: "rw,relatime,noatime,data=ordered,attr2".to_owned(),
                ..Filesystem::default()
            }],
            clock_ns: 50,
            ..Environment::default()
        },
        user_id: Some(1000),
        folder: Folder {
            path: path.clone(),
            flush: Some(Flush {
                count: 1000,
                p50_ns: 1_200,
                max_ns: 29_200_000,
                ..Flush::default()
            }),
            flushes_like: Some("no device".to_owned()),
            disk: Some(Disk { name: "loop0".to_owned(), loop_file: Some(path), ..Disk::default() }),
            ..Folder::default()
        },
        other_filesystems: vec![Volume {
            mount: "/data".to_owned(),
            kind: "ext4".to_owned(),
            device: "/dev/sdb".to_owned(),
            free_bytes: None,
        }],
        caches: vec![Reach { cache: Cache::Cold, reached: None, why: "who knows".to_owned() }],
        programs: vec![Program {
            name: "PostgreSQL".to_owned(),
            path: None,
            version: None,
            package: "postgresql".to_owned(),
        }],
        noise: vec![Noise {
            target: "files".to_owned(),
            rounds: 40,
            seconds: 30.0,
            ratio: 1.002,
            ratio_low: 0.991,
            ratio_high: 1.013,
            even: true,
            rounds_a_minute: 80,
            detectable_share: 0.0123,
        }],
        untried: vec!["files: no space left".to_owned()],
        advice: suggestions([
            FindingKind::LoadUnknown,
            FindingKind::OtherLoad { cpus: 0.2 },
            FindingKind::OtherLoad { cpus: 0.9 },
        ]),
    }
}

#[test]
fn all_that_is_known_is_shown() {
    let page = page(&full(), 100);
    for said in [
        "1 CPU, governor powersave",
        "user 1000, not root",
        "noatime,data=ordered\n",
        "p50 1.20 µs",
        "max 29.2 ms",
        "no device",
        "files: no space left",
        "/data (ext4 from /dev/sdb)\n",
        "not known: who knows",
        "not found (Debian's package: postgresql)",
        "1.00 (0.99–1.01) over 40 rounds in 30 s: even",
        "in nine of ten runs is 1.2 %",
    ] {
        assert!(page.replace("\n                  ", " ").contains(said), "{said}\n{page}");
    }
}

#[test]
fn findings_of_a_kind_are_one_suggestion_the_worst_first() {
    let page = page(&full(), 100);
    let advice = page.split_once("What to do\n").unwrap().1;
    assert!(
        advice.starts_with("  ! times are longer than on an idle machine, ratios less so: other programs used up to 0.900"),
        "{advice}"
    );
    assert!(
        !advice.contains("0.200") && advice.contains("\n  · times may be too long: what else"),
        "{advice}"
    );
}

#[test]
fn a_machine_of_which_nothing_is_known_has_a_page_too() {
    let page = page(&DoctorReport::default(), 100);
    assert!(page.starts_with("fit: "), "{page}");
    assert!(page.contains("no finding"), "{page}");
    assert!(page.contains("not measured"), "{page}");
}

#[test]
fn lines_keep_to_the_width() {
    for width in [1, 80, 100, 300] {
        let most = usize::from(width).clamp(80, 100);
        for line in page(&full(), width).lines() {
            assert!(line.width() <= most, "{width}: {line}");
        }
    }
}

#[test]
fn the_worst_that_was_found_says_whether_the_machine_is_fit() {
    let judged = |kinds: Vec<FindingKind>, unwritable: Option<&str>| {
        let folder = Folder { unwritable: unwritable.map(str::to_owned), ..Folder::default() };
        let advice = suggestions(kinds);
        let mut report = DoctorReport { folder, advice, ..DoctorReport::default() };
        report.judge();
        (report.fitness, page(&report, 100).lines().next().unwrap().to_owned())
    };
    let (fitness, said) = judged(vec![FindingKind::OtherLoad { cpus: 0.9 }], None);
    assert!(fitness == Fitness::FitWithFindings && said.starts_with("fit with findings"), "{said}");
    assert_eq!(serde_json::to_value(fitness).unwrap(), "fit-with-findings");
    assert_eq!(judged(vec![FindingKind::LoadUnknown], None).0, Fitness::Fit);
    assert_eq!(judged(vec![FindingKind::DebugBuild], None).0, Fitness::Unfit);
    let (fitness, said) = judged(vec![], Some("read-only"));
    assert!(
        fitness == Fitness::Unfit && said.starts_with("unfit: nothing can be written"),
        "{said}"
    );
}
