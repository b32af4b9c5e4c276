//! The machine as `doctor` reports it. What it finds depends on the machine; that it reports it, and
//! that it does not contradict what the test sees itself, does not.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{Ran, World};

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}

const MEMORY: &str = "/dev/shm";

/// A folder in memory where there is one, to spare the disk.
fn fast() -> TempDir {
    tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir()).unwrap()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().count() == 0
}

/// It takes all of its time, so that all that it shows is looked at here.
#[test]
fn a_folder_in_memory_is_examined() {
    let (world, folder) = (World::new(), fast());
    let line = format!("doctor {} --time 30s --strict", folder.path().display());
    let ran = world.run(&format!("{line} --json report.json"));
    assert!(is_empty(folder.path()));
    let report = serde_json::from_slice(&fs::read(world.path("report.json")).unwrap()).unwrap();
    people_read_sections_in_a_hundred_columns(&ran);
    programs_read_one_object(&report, ran.code);
    if folder.path().starts_with(MEMORY) {
        memory_is_not_taken_for_a_disk(&report);
    } else {
        host::unchecked("shm", MEMORY);
    }
}

fn people_read_sections_in_a_hundred_columns(ran: &Ran) {
    assert_eq!(ran.err, "");
    let heads = ran.out.lines().filter(|line| !line.starts_with(' ') && !line.is_empty());
    let heads: Vec<_> = heads.map(|line| line.split([' ', ':']).next().unwrap()).collect();
    assert_eq!(
        heads[1..],
        ["Machine", "Folder", "Cache", "Installed", "Noise", "What"],
        "{}",
        ran.out
    );
    assert!(["fit", "unfit"].contains(&heads[0]), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
    for said in ["CPU", "for two reads", "warm            yes", "p99", "against itself"] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
}

fn programs_read_one_object(report: &Value, code: Option<i32>) {
    let advice = report["advice"].as_array().unwrap();
    let misleading = advice.iter().any(|advice| advice["severity"] != "note");
    assert_eq!(code, Some(if misleading { 3 } else { 0 }), "{report}");
    assert!(
        advice.iter().all(|advice| advice["text"].is_string() && advice["finding"].is_string())
    );
    let noise = report["noise"].as_array().unwrap();
    let targets: Vec<_> = noise.iter().map(|noise| noise["target"].as_str().unwrap()).collect();
    assert_eq!(targets, ["memory", "files"]);
    for noise in noise {
        let figure = |name: &str| noise[name].as_f64().unwrap();
        assert!(figure("rounds") >= 5.0 && figure("rounds_a_minute") >= 2.0, "{noise}");
        assert!(figure("ratio_low") <= figure("ratio") && figure("ratio") <= figure("ratio_high"));
        let even = figure("ratio_low") <= 1.0 && figure("ratio_high") >= 1.0;
        assert_eq!(noise["even"], even, "{noise}");
        assert!(figure("detectable_share") > 0.0, "{noise}");
    }
    let flush = &report["folder"]["flush"];
    let flush = ["p50_ns", "p90_ns", "p99_ns", "max_ns"].map(|name| flush[name].as_u64().unwrap());
    assert!(flush[0] > 0 && flush.is_sorted(), "{flush:?}");
}

/// A file system that lives in memory has no device to flush to and no pages to evict.
fn memory_is_not_taken_for_a_disk(report: &Value) {
    let kind = report["environment"]["filesystems"][0]["kind"].as_str().unwrap();
    let data_cold = &report["caches"][1];
    assert_eq!(data_cold["cache"], "data-cold");
    let found =
        |name: &str| report["advice"].as_array().unwrap().iter().any(|a| a["finding"] == name);
    assert_eq!(found("unusual-filesystem"), kind == "tmpfs", "{report}");
    if kind == "tmpfs" {
        assert_ne!(data_cold["reached"], true, "{data_cold}");
        assert_ne!(report["caches"][2]["reached"], true, "{report}");
    }
    let p50 = report["folder"]["flush"]["p50_ns"].as_u64().unwrap();
    assert_eq!(found("flush-too-fast"), p50 < 10_000, "{report}");
    let like = report["folder"]["flushes_like"].as_str().unwrap();
    assert_eq!(like.starts_with("no device"), p50 < 10_000, "{like}");
}

/// Not even root may write to /proc.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_to_is_reported_with_the_rest() {
    let report = json(&World::new().ok("doctor /proc --time 5s --json -"));
    assert!(report["folder"]["unwritable"].is_string(), "{report}");
    assert!(report["folder"]["flush"].is_null(), "{report}");
    let noise: Vec<_> = report["noise"].as_array().unwrap().iter().map(|n| &n["target"]).collect();
    // None on a machine that is too busy for a round.
    assert!(noise.iter().all(|target| *target == "memory"), "{report}");
    assert!(report["caches"][1]["reached"].is_null(), "{report}");
    assert!(report["environment"]["cpu"]["count"].as_u64().unwrap() > 0);
}

#[test]
fn what_is_no_folder_is_refused() {
    let world = World::new();
    world.write("file", "x");
    world.refuses([
        ("doctor absent", "absent: "),
        ("doctor file", "file: is no folder"),
        ("doctor file/below", "file/below: "),
        ("doctor --time soon", "is not a duration"),
        ("doctor --quick --time 5s", "cannot be used with"),
        ("doctor --strikt", "did you mean --strict?"),
        // Before it measures for a day.
        ("doctor --time 24h --json file", "file: exists and is not JSON of this command"),
    ]);
}

#[test]
fn an_interrupted_one_prints_what_it_knows() {
    let folder = fast();
    let line = format!("doctor {} --time 1h --json -", folder.path().display());
    let mut command = World::new().command(&line);
    command.current_dir("/").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Under way, whatever it is at by then: its folder is there for moments only.
    for _ in 0..40 {
        if !is_empty(folder.path()) {
            break;
        }
        thread::sleep(Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{}{}", ran.out, ran.err);
    assert_eq!(ran.err, "storemark: interrupted\n");
    assert!(json(&ran)["environment"]["os"].is_string());
    assert!(is_empty(folder.path()));
}
