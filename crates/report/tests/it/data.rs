//! Estimates and verdicts as JSON, and the schemas of it.

use std::{fs, path::PathBuf};

use schemars::Schema;
use serde::Serialize;
use serde_json::Value;
use storemark_report::{
    ComparisonData, HistoryData, NamedRecords, ReportData, comparison, history,
    pages::{self, Detail},
};

use crate::fixture::{doubtful, record, sample, typical};

/// Set, the schemas are written anew instead of compared.
const BLESS: &str = "STOREMARK_BLESS";

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

fn assert_committed(name: &str, id: &str, mut schema: Schema) -> Value {
    let title = format!("storemark {id} --json");
    let urn = id.replace(" --", ":");
    schema.insert("$id".to_owned(), format!("urn:storemark:{urn}:1").into());
    schema.insert("title".to_owned(), title.into());
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os(BLESS).is_some() {
        fs::write(path(name), &text).unwrap();
    }
    let committed = fs::read_to_string(path(name)).unwrap_or_default();
    assert!(committed == text, "{BLESS}=1 cargo test -p storemark-report rewrites {name}");
    serde_json::from_str(&text).unwrap()
}

/// `data` as it is printed, after it was found to meet the schema.
fn met(schema: &Value, data: &impl Serialize) -> Value {
    let value = serde_json::from_str(&serde_json::to_string(data).unwrap()).unwrap();
    let validator = jsonschema::validator_for(schema).unwrap();
    let unmet: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert_eq!(unmet, [""; 0]);
    value
}

#[test]
fn a_report_meets_its_schema() {
    let schema = schemars::schema_for!(ReportData);
    let schema = assert_committed("report.schema.json", "report", schema);
    let mut once = record(&["files", "pack"]);
    once.samples = vec![sample(0, 0, 4000), sample(0, 1, 5000)];
    let told = met(&schema, &ReportData::new(&[doubtful(), once]));
    let row = &told["runs"][0]["rows"][1];
    assert_eq!(
        (row["target"].as_str(), row["verdict"].as_str()),
        (Some("sqlite api=blob"), Some("faster"))
    );
    assert!((row["ratio"]["point"].as_f64().unwrap() - 0.78).abs() < 1e-3);
    assert_eq!(row["ratio"]["rounds"], 10);
    assert_eq!(told["runs"][0]["findings"][0]["weight"], "wrong");
    let single = &told["runs"][1]["rows"][1];
    assert_eq!((&single["ratio"]["low"], &single["ratio"]["high"]), (&Value::Null, &Value::Null));
    assert!(told["runs"][1]["ended"].is_null());
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(!validator.is_valid(&serde_json::json!({ "form": 1 })), "the schema says something");
}

#[test]
fn a_comparison_meets_its_schema() {
    let schema = schemars::schema_for!(ComparisonData<'_>);
    let schema = assert_committed("compare.schema.json", "compare", schema);
    let mut new = doubtful();
    new.header.environment.kernel = None;
    let told = comparison(&[typical()], &[new], None).unwrap();
    let told = met(&schema, &ComparisonData::new(&told));
    assert_eq!(told["rows"].as_array().unwrap().len(), 3);
    assert_eq!(told["rows"][2]["verdict"], "inconclusive");
    assert_eq!(told["rows"][2]["single_record"], true);
    assert_eq!(told["environments"][0]["what"], "kernel");
    assert_eq!(told["findings"][0]["record"], "new");
}

#[test]
fn a_history_meets_its_schema() {
    let schema = schemars::schema_for!(HistoryData<'_>);
    let schema = assert_committed("history.schema.json", "compare --history", schema);
    let file = |week: u64| {
        let mut record = typical();
        record.header.started += week * 604_800;
        let slower = if week < 6 { 1000 } else { 1100 };
        for sample in record.samples.iter_mut().filter(|sample| sample.target == 1) {
            // Weeks differ by up to 1 %.
            sample.wall_ns = sample.wall_ns * (slower + week % 3 * 5) / 1000;
        }
        NamedRecords { name: format!("{week}.json"), records: vec![record] }
    };
    let history = history((0..12).rev().map(file).collect(), None).unwrap();
    let data = met(&schema, &HistoryData::new(&history));
    let [files, sqlite, pack] = [0, 1, 2].map(|line| &data["groups"][0]["lines"][line]);
    assert_eq!((&files["verdict"], &pack["verdict"]), (&"control".into(), &"steady".into()));
    assert_eq!((&sqlite["verdict"], &sqlite["steps"][0]["record"]), (&"steps".into(), &6.into()));
    assert_eq!(data["groups"][0]["records"][6]["file"], "6.json");
}

#[test]
fn markdown_has_the_figures_and_the_doubts() {
    let mut record = doubtful();
    record.header.plan.targets[2].label = "p|<script>".to_owned();
    let all = Detail { all: true, ..Detail::default() };
    let text = pages::records(&[record], all).markdown();
    assert!(
        text.starts_with(
            "Take SQLite, opened with api=blob. Against plain files: read 1.28× faster."
        ),
        "{text}"
    );
    assert!(
        text.contains("### 1,000 keys of 8,000 to 12,000 bytes (10.0 MB) from seed 42"),
        "{text}"
    );
    assert!(text.contains("| sqlite api=blob | 3.15 (3.14–3.17) | 6.31 (6.28–6.34) | 3.15 | 3.19 | 3.19 | 2.00 | 3170 (3153–3187) | 0.780 (0.780–0.780) | 1.28× faster |"), "{text}");
    assert!(text.contains("| p\\|&lt;script&gt; |") && !text.contains("<script>"), "{text}");
    assert!(
        text.contains("- wrong: no figure counts: storemark was built without optimisation"),
        "{text}"
    );
    assert!(text.ends_with(
        "10 rounds in 48.2 s; every ratio has a verdict or is known within ±1.5 %; seed 42\n"
    ));
}
