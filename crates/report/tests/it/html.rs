//! The page: the figures of its charts, and what it loads and runs.

use base64::{Engine, prelude::BASE64_STANDARD};
use checks::{break_evens, figures, latencies, page_matrices, stores, task_figures};
use model::{Cache, Case, Finding, FindingKind, record::Record};
use serde_json::Value;
use sha2::{Digest, Sha256};
use spec::study::{Figure, Study};
use storemark_report::{HTML_HEAD, Machine, StudyStep, html, html_study, read};

use crate::{
    fixture::{doubtful, file, long, record, typical, workload},
    study::{claim, step},
    sweep::swept,
    tasks::queue,
};

const WARM: Case = Case { workload: 0, cache: Cache::Warm };

fn page(records: &[Record]) -> String {
    html(&[Machine { file: None, records }]).unwrap()
}

/// The text between `from` and the next `to`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("no {from}")).1;
    rest.split_once(to).unwrap().0
}

fn data(page: &str) -> Value {
    serde_json::from_str(between(page, "id=\"storemark-data\">", "</script>")).unwrap()
}

fn chart(page: &str, id: &str) -> Value {
    let data = data(page);
    let charts = data["charts"].as_array().unwrap();
    let found = charts.iter().find(|chart| chart["id"] == id);
    found.unwrap_or_else(|| panic!("no chart {id}")).clone()
}

/// Everything but the script and the style.
fn outside(page: &str) -> String {
    let style = between(page, "<style>", "</style>");
    let (before, _) = page.rsplit_once("<script>").unwrap();
    before.replace(style, "")
}

/// The points of a chart's series.
fn points(series: &Value) -> &Vec<Value> {
    series["points"].as_array().unwrap()
}

/// The points of all series in a group, in the order of the series.
fn in_group<'a>(chart: &'a Value, group: &str) -> Vec<&'a Value> {
    let names = chart["along"]["names"].as_array().unwrap();
    let at = names.iter().position(|name| name == group).unwrap() as f64;
    let all = chart["series"].as_array().unwrap().iter().flat_map(points);
    all.filter(|point| point["at"] == at).collect()
}

fn same(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() <= expected.abs() * 1e-12, "{value} {expected}");
}

#[test]
fn ratios_and_times_are_those_of_the_figures() {
    let record = typical();
    let page = page(std::slice::from_ref(&record));
    let rows = figures(&record);
    let ratios = chart(&page, "ratio-1");
    assert_eq!((&ratios["kind"], &ratios["reference"]), (&"dots".into(), &1.0.into()));
    assert_eq!(ratios["along"]["names"], serde_json::json!(["read, warm"]));
    let series = ratios["series"].as_array().unwrap();
    assert_eq!(series.len(), 2, "the baseline has no ratio");
    for (series, row) in series.iter().zip(&rows[1..]) {
        let (ratio, point) = (row.ratio.unwrap(), &series["points"][0]);
        assert_eq!(series["target"], record.header.plan.targets[row.target].label);
        same(&point["value"], ratio.point);
        same(&point["low"], ratio.low);
        same(&point["high"], ratio.high);
    }
    assert_eq!(series[0]["points"][0]["note"], "1.28× faster");
    let rounds = series[0]["points"][0]["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 10);
    assert!(rounds.iter().all(|round| (round.as_f64().unwrap() - 0.78).abs() < 0.001));
    for (point, row) in in_group(&chart(&page, "parts-1"), "").into_iter().zip(&rows) {
        let time = row.us_per_op.unwrap().point * 1e3;
        same(&point["value"], time);
        let parts: f64 = point["parts"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
        assert!((parts - time).abs() < time * 1e-9, "user, kernel and the rest: {parts} {time}");
    }
}

#[test]
fn latencies_are_those_of_the_histograms() {
    let record = long(2);
    let page = page(std::slice::from_ref(&record));
    let drawn = chart(&page, "latency-1");
    for (target, series) in drawn["series"].as_array().unwrap().iter().enumerate() {
        let all = latencies(&record, WARM, target).remove(0).histogram;
        for point in points(series) {
            let percent = point["at"].as_f64().unwrap();
            same(&point["value"], all.value_at_percentile(percent) as f64);
        }
        let last = points(series).last().unwrap();
        assert_eq!((&last["at"], &last["value"]), (&100.0.into(), &(all.max() as f64).into()));
    }
}

#[test]
fn one_round_has_no_whiskers() {
    let mut record = typical();
    record.samples.truncate(3);
    let ratios = chart(&page(&[record]), "ratio-1");
    let point = &ratios["series"][0]["points"][0];
    assert!(point["value"].is_number() && point["low"].is_null() && point["high"].is_null());
}

#[test]
fn space_is_that_of_the_stores() {
    let record = typical();
    let space = chart(&page(std::slice::from_ref(&record)), "space-1");
    assert_eq!(space["along"]["names"], serde_json::json!(["length", "on disk"]));
    for (series, store) in space["series"].as_array().unwrap().iter().zip(stores(&record)) {
        same(&series["points"][0]["value"], store.length_per_byte.unwrap());
        same(&series["points"][1]["value"], store.on_disk_per_byte.unwrap());
    }
}

#[test]
fn a_sweep_over_sizes_has_its_crossing_and_its_matrix() {
    let runs = swept();
    let page = page(&runs);
    let lines = chart(&page, "break-even-1");
    for (number, run) in runs.iter().enumerate() {
        for row in &figures(run)[1..] {
            let point = &lines["series"][row.target - 1]["points"][number];
            same(&point["value"], row.ratio.unwrap().point);
            same(&point["high"], row.ratio.unwrap().high);
        }
    }
    let crossing = break_evens(&runs)[0].found.crossings[0];
    let marks = lines["marks"].as_array().unwrap();
    assert_eq!(marks.len(), 1);
    same(&marks[0]["at"], crossing.size);
    same(&marks[0]["low"], crossing.low.unwrap());
    let matrix = chart(&page, "pages-1");
    let found = page_matrices(&runs).remove(0);
    let mut best = Vec::new();
    for (series, (_, ratios)) in matrix["series"].as_array().unwrap().iter().zip(&found.rows) {
        for (column, (point, ratio)) in points(series).iter().zip(ratios).enumerate() {
            same(&point["value"], ratio.unwrap().point);
            best.extend(point["note"].as_str().map(|note| (column, &series["name"], note)));
        }
    }
    let sizes = ["512", "4096"].map(Value::from);
    assert_eq!(best, [(0, &sizes[0], "the best"), (1, &sizes[1], "the best")]);
    assert!(page.contains("read, warm, by size: SQLite (page_size=512) up to 4.0"), "answer");
}

#[test]
fn tasks_are_next_to_what_was_published() {
    let record = queue();
    let page = page(std::slice::from_ref(&record));
    let times = chart(&page, "queue-1");
    let rows = task_figures(&record);
    let ratios = rows.iter().filter_map(|row| row.figures.ratio);
    for (point, ratio) in in_group(&times, "a task").into_iter().zip(ratios) {
        same(&point["value"], ratio.point);
    }
    let published: Vec<f64> = rows.iter().filter_map(|row| row.published_ratio).collect();
    assert!(!published.is_empty());
    for (point, ratio) in in_group(&times, "a task (published)").into_iter().zip(published) {
        same(&point["value"], ratio);
        assert!(point["low"].is_null());
    }
}

#[test]
fn a_study_shows_published_figures_and_what_is_missing() {
    let one = step(vec![claim("sqlite api=blob", Figure::TimeRatio, 0.5, Some(0.72))]);
    let other = step(vec![]);
    let mut run = typical();
    run.findings = vec![Finding::run(FindingKind::Steal { share: 0.05 })];
    let steps = [
        StudyStep { step: &one, records: vec![run], crashed: vec![], gaps: vec![] },
        StudyStep {
            step: &other,
            records: vec![],
            crashed: vec![],
            gaps: vec!["not measured: no root".to_owned()],
        },
    ];
    let study = Study {
        title: "Faster".to_owned(),
        source: "a page".to_owned(),
        published_on: "2017".to_owned(),
        differs: vec!["the machine".to_owned()],
        steps: vec![],
        unmeasured: vec![],
        rows: None,
        tasks: None,
    };
    let page = html_study(&study, &steps);
    let drawn = chart(&page, "1-study-1");
    let names = ["read, warm", "read, warm (published)"];
    assert_eq!(drawn["along"]["names"], serde_json::json!(names));
    let [here, published] = [0, 1].map(|point| &drawn["series"][0]["points"][point]);
    same(&here["value"], figures(&typical())[1].ratio.unwrap().point);
    assert_eq!(here["note"], "confirmed");
    assert!(published["value"].is_null(), "only the ends of a range are known");
    assert_eq!((&published["low"], &published["high"]), (&0.5.into(), &0.72.into()));
    for said in ["“Faster”", "not measured: no root", "the machine"] {
        assert!(page.contains(said), "{said}");
    }
    let text = outside(&page);
    let (top, rest) = text.split_once("<main").unwrap();
    assert!(top.contains("Of 1 published figure here: 1 confirmed."), "{top}");
    assert!(top.contains("0.500–0.720") && top.contains("step 1: read, warm"), "{top}");
    let (last_chart, findings) = (rest.rfind("<figure"), rest.find("What weakens this?"));
    assert!(last_chart < findings, "findings are below the charts");
}

#[test]
fn charts_without_data_are_left_out() {
    let nothing = page(&[record(&["files", "sqlite"])]);
    assert_eq!(data(&nothing)["charts"], serde_json::json!([]));
    assert!(!outside(&nothing).contains("<figure"));
    let alone = page(&[{
        let mut record = typical();
        record.samples.retain(|sample| sample.target == 0);
        record
    }]);
    let data = data(&alone);
    let ids: Vec<_> = data["charts"].as_array().unwrap().iter().map(|c| &c["id"]).collect();
    assert_eq!(ids, ["parts-1", "latency-1", "space-1"], "of one target there is no ratio");
}

#[test]
fn every_chart_has_a_place_and_a_table_and_headings_have_an_order() {
    for page in [page(&[typical()]), page(&swept()), page(&[queue()]), page(&[long(1)])] {
        let text = outside(&page);
        for chart in data(&page)["charts"].as_array().unwrap() {
            let place = format!("data-chart=\"{}\"", chart["id"].as_str().unwrap());
            let figure = text.split("<figure").find(|figure| figure.contains(&place)).unwrap();
            assert!(figure.contains("<caption>") && figure.contains("scope=\"row\""), "{place}");
        }
        let ranks = text
            .match_indices("<h")
            .filter_map(|(at, _)| text[at + 2..].chars().next().and_then(|rank| rank.to_digit(10)));
        let ranks: Vec<u32> = ranks.collect();
        assert_eq!((ranks[0], ranks.iter().filter(|rank| **rank == 1).count()), (1, 1));
        assert!(ranks.windows(2).all(|two| two[1] <= two[0] + 1), "{ranks:?}");
        for said in ["lang=\"en\"", "<main", "<header", "class=\"skip\"", "<title>"] {
            assert!(text.contains(said), "{said}");
        }
        assert!(page.starts_with(&format!("{HTML_HEAD}\n")));
    }
}

#[test]
fn text_that_looks_like_a_page_is_shown_and_never_run() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\u{202e}";
    let mut record = typical();
    record.header.plan.targets[1].label = evil.to_owned();
    record.header.plan.targets[1].location = evil.to_owned();
    record.header.environment.cpu.model = Some(evil.to_owned());
    record.header.environment.filesystems[0].mount = evil.to_owned();
    record.findings =
        vec![Finding::target(FindingKind::BytesDiffer { key: evil.to_owned() }, evil)];
    let machine =
        || Machine { file: Some(evil.to_owned()), records: std::slice::from_ref(&record) };
    let page = html(&[machine(), machine()]).unwrap();
    let text = outside(&page);
    assert!(!text.contains("<script>") && !text.contains("<img") && !text.contains('\u{202e}'));
    assert_eq!(text.matches("<script").count(), 1, "the data");
    assert!(text.contains("&lt;img src=x onerror=alert(2)&gt;"));
    let shown = data(&page)["targets"][1].as_str().unwrap().to_owned();
    assert_eq!(shown, evil.trim_end_matches('\u{202e}'));
}

#[test]
fn only_the_pages_own_script_and_style_are_allowed() {
    let page = page(&[typical()]);
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let (_, script) = page.rsplit_once("<script>").unwrap();
    let script = script.split_once("</script>").unwrap().0;
    for (of, text) in [("script", script), ("style", between(&page, "<style>", "</style>"))] {
        // A browser reads them without any.
        assert!(!text.contains('\r'));
        let sum = BASE64_STANDARD.encode(Sha256::digest(text));
        assert!(policy.contains(&format!("{of}-src 'sha256-{sum}'")), "{of}: {policy}");
    }
    let text = outside(&page);
    assert!(!text.contains("http:") && !text.contains("https:") && !text.contains(" style="));
}

#[test]
fn the_answer_is_on_top_with_the_findings_that_weaken_it() {
    let page = page(&[doubtful()]);
    let top = between(&page, "<header>", "</header>");
    assert!(
        top.contains("Take SQLite, opened with api=blob. Against plain files: read 1.28× faster."),
        "{top}"
    );
    assert!(top.contains("<h1>Which store is fastest for these blobs (read)?</h1>"), "{top}");
    assert!(top.contains("Do not rely on it: no figure counts"), "{top}");
    let main = between(&page, "<main", "</main>");
    let (chart, findings) = main.split_once("<section class=\"findings\">").unwrap();
    assert_eq!(chart.matches("<figure").count(), 1, "the chart of the answer is before them");
    let shown = between(findings, "<ul>", "</ul>");
    assert_eq!((shown.matches("<li>").count(), shown.contains("Note")), (3, false), "{shown}");
    assert!(shown.find("Wrong") < shown.find("Warning") && findings.contains("Note"), "{findings}");
}

#[test]
fn machines_are_side_by_side_and_what_differs_is_named() {
    let (mut one, mut other) = (typical(), typical());
    other.header.environment.kernel = Some("6.1.0".to_owned());
    other.header.environment.machine = Some("cellar".to_owned());
    let both = Finding::run(FindingKind::LoadUnknown);
    one.findings = vec![both.clone(), Finding::run(FindingKind::DebugBuild)];
    other.findings = vec![both.clone()];
    let machine = |name: &str, record| Machine {
        file: Some(name.to_owned()),
        records: std::slice::from_ref(record),
    };
    let page = html(&[machine("a.json", &one), machine("b.json", &other)]).unwrap();
    let groups = chart(&page, "ratio-1")["along"]["names"].clone();
    assert_eq!(groups, serde_json::json!(["read, warm · attic", "read, warm · cellar"]));
    let findings = between(&page, "<section class=\"findings\">", "</section>");
    let count = |text: &str| findings.matches(text).count();
    assert_eq!(count(&FindingKind::LoadUnknown.to_string()), 1, "once: {findings}");
    assert_eq!((count("attic: "), count("cellar: ")), (1, 0), "{findings}");
    for said in ["The environments differ in: kernel.", "kernel: 6.18.5 against 6.1.0", "b.json"] {
        assert!(outside(&page).contains(said), "{said}");
    }
    assert_eq!(data(&page)["targets"].as_array().unwrap().len(), 3, "a colour each");
}

#[test]
fn records_of_other_plans_are_refused_with_the_difference() {
    let (one, mut other) = (typical(), typical());
    other.header.plan.workloads = vec![workload(model::Operation::Update)];
    let refused = |one: &[Record], other: &[Record]| {
        let machine = |file: &str, records| Machine { file: Some(file.to_owned()), records };
        html(&[machine("a", one), machine("b", other)]).unwrap_err().to_string()
    };
    let said = refused(std::slice::from_ref(&one), &[other]);
    assert!(
        said.starts_with("a and b are of different plans") && said.contains("workloads: read"),
        "{said}"
    );
    let said = refused(&swept(), &[one]);
    assert!(said.contains("runs: 2 against 1"), "{said}");
}

#[test]
fn a_large_run_makes_a_page_of_at_most_1_2_mb() {
    let page = page(&[long(20)]);
    assert!(page.len() <= 1_200_000, "{}", page.len());
    assert!(page.matches("<tr><th scope=\"row\">").count() > 960, "every trial is there");
}

#[test]
fn a_very_long_record_keeps_its_figures_and_no_trials_in_the_page() {
    // More trials than are kept one by one.
    let record = long(210);
    let (read, _) = read(file(&record).as_bytes()).unwrap();
    assert!(read[0].merged && !record.merged);
    assert!(read[0].findings.is_empty(), "{:?}", read[0].findings);
    let case = Case { workload: 1, cache: Cache::DataCold };
    let of = |record: &Record| latencies(record, case, 5).remove(0).histogram;
    assert_eq!(of(&read[0]), of(&record));
    let page = page(&read);
    assert!(outside(&page).contains("trials are too many for a page"));
    assert!(page.len() <= 1_200_000, "{}", page.len());
}

#[test]
fn machines_of_the_same_name_are_numbered() {
    let record = typical();
    let machine = || Machine { file: None, records: std::slice::from_ref(&record) };
    let page = html(&[machine(), machine()]).unwrap();
    let groups = chart(&page, "ratio-1")["along"]["names"].clone();
    assert_eq!(groups, serde_json::json!(["read, warm · attic (1)", "read, warm · attic (2)"]));
}

#[test]
fn no_chart_shows_what_another_one_does() {
    for page in [page(&[typical()]), page(&swept()), page(&[queue()])] {
        let data = data(&page);
        let shown = |chart: &Value| {
            (chart["along"].clone(), chart["value"].clone(), chart["series"].clone())
        };
        let all: Vec<_> = data["charts"].as_array().unwrap().iter().map(shown).collect();
        for (place, one) in all.iter().enumerate() {
            assert!(!all[..place].contains(one), "{one:?}");
        }
        let titles = page.matches("<h2>").count() + page.matches("<h1>").count();
        assert!(titles > 2 && page.contains("?</h1>"), "a page asks a question");
    }
}

#[test]
fn a_limit_of_the_machine_is_named_as_one() {
    let mut record = typical();
    record.header.plan.targets[2].reference = true;
    assert_eq!(data(&page(&[record]))["limits"], serde_json::json!(["pack"]));
}
