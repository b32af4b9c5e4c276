//! What `--json` names: a line about the calibration, then one for each comparison.

use std::{
    io::Write,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use model::{DatasetSummary, Environment, Error, Result, Rounds, Settings, record::Ended};
use report::Judgement;
use serde::Serialize;

use super::{
    Calibration,
    comparison::{Comparison, Kind},
};
use crate::files::{self, Form};

/// Raised when a reader of the old form would go wrong.
const FORMAT: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "lowercase", tag = "line")]
enum Line<'a> {
    /// What is compared, where and how.
    Calibration {
        format: u32,
        started: u64,
        seed: u64,
        target: &'a str,
        settings: &'a Settings,
        data: Option<DatasetSummary>,
        same: Part,
        slowed: Part,
        min_rounds: u32,
        precision: f64,
        slow_down: f64,
        operation_ns: f64,
        wait_ns: f64,
        measured_wait_ns: f64,
        environment: &'a Environment,
    },
    /// What `run` would have shown.
    Comparison {
        kind: &'static str,
        seed: u64,
        ratio: f64,
        low: f64,
        high: f64,
        rounds: usize,
        verdict: &'static str,
        ended: &'a Ended,
        /// By round, time of the second target over that of the first.
        ratios: Vec<f64>,
        /// By round, which of the two ran first, 0 or 1.
        first: Vec<usize>,
    },
}

/// The comparisons of a kind.
#[derive(Serialize)]
struct Part {
    count: usize,
    seconds: f64,
}

const FORM: Form<'_> = Form {
    option: "--json",
    what: "a record of storemark calibrate",
    head: r#"{"line":"calibration""#,
};

/// The file, if there is one.
pub(super) struct Lines(Option<Box<dyn Write>>);

impl Lines {
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        files::open(path, FORM).map(Self)
    }

    pub(super) fn begin(&mut self, calibration: &Calibration) -> Result<()> {
        let Calibration { series, subject, pace, slowing } = calibration;
        let plan = &pace.header.plan;
        let Rounds { min: min_rounds, precision, .. } = plan.rounds;
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        let part =
            |kind| Part { count: series.count(kind), seconds: series.time(kind).as_secs_f64() };
        self.write(&Line::Calibration {
            format: FORMAT,
            started: started.map_or(0, |since| since.as_secs()),
            seed: series.seed,
            target: &subject.label,
            settings: &subject.settings,
            data: plan.experiment.summary().copied(),
            same: part(Kind::Same),
            slowed: part(Kind::Slowed),
            min_rounds,
            precision,
            slow_down: slowing.share,
            operation_ns: slowing.operation_ns,
            wait_ns: slowing.asked_ns,
            measured_wait_ns: slowing.measured_ns,
            environment: &pace.header.environment,
        })
    }

    pub(super) fn comparison(&mut self, done: &Comparison) -> Result<()> {
        let Comparison { kind, seed, ratio, judgement, ended, rounds } = done;
        self.write(&Line::Comparison {
            kind: kind.name(),
            seed: *seed,
            ratio: ratio.point,
            low: ratio.low,
            high: ratio.high,
            rounds: rounds.len(),
            verdict: verdict(*judgement),
            ended,
            ratios: rounds.iter().map(|round| round.ratio).collect(),
            first: rounds.iter().map(|round| round.first).collect(),
        })
    }

    fn write(&mut self, line: &Line<'_>) -> Result<()> {
        let Some(out) = &mut self.0 else { return Ok(()) };
        let wrong = |e: std::io::Error| Error::io("--json: cannot be written", e);
        serde_json::to_writer(&mut *out, line).map_err(|e| wrong(e.into()))?;
        out.write_all(b"\n").and_then(|()| out.flush()).map_err(wrong)
    }
}

fn verdict(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Faster => "faster",
        Judgement::Slower => "slower",
        _ => "no difference",
    }
}
