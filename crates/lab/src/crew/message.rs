//! What is said between storemark and its worker processes: one JSON object a line.

use std::{io::Write, path::PathBuf};

use model::{Access, Error, ErrorKind, KeyKind, OpenOptions, Order, Result, Settings, Workload};
use serde::{Deserialize, Serialize};

use crate::{
    dataset::Luggage,
    pass::{Leg, Round, Worked},
    ready::Ready,
};

/// What a worker process is asked for.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ask {
    /// The first line; the dataset's bytes follow it.
    Begin(Begin),
    /// Puts the keys into the order of a round.
    Arrange { order: Order, start: Option<i64>, seed: u64 },
    /// Opens a store and a session for each worker.
    Open(Box<Job>),
    /// Makes the next pass.
    Go { start_ns: u64 },
    /// Closes the sessions and the store.
    End,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Begin {
    /// Index of the process.
    pub(super) process: u32,
    pub(super) luggage: Luggage,
    /// The pool of payloads, and the largest of them.
    pub(super) pool_seed: u64,
    pub(super) largest: u64,
    pub(super) random_percent: u8,
}

/// The passes of a trial.
#[derive(Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) engine: String,
    pub(super) path: PathBuf,
    settings: Settings,
    write: bool,
    keys: KeyKind,
    pub(super) workload: Workload,
    pub(super) seed: u64,
    pub(super) legs: Vec<Leg>,
}

impl Job {
    pub(super) fn new(round: &Round<'_>, ready: &Ready, legs: &[Leg]) -> Self {
        Self {
            engine: ready.engine.name().to_owned(),
            path: ready.path.clone(),
            settings: ready.options.settings.clone(),
            write: ready.options.access == Access::Write,
            keys: ready.options.keys,
            workload: *round.workload,
            seed: round.seed,
            legs: legs.to_vec(),
        }
    }

    pub(super) fn options(&self) -> OpenOptions {
        OpenOptions {
            settings: self.settings.clone(),
            access: if self.write { Access::Write } else { Access::Read },
            keys: self.keys,
        }
    }
}

/// What it answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    /// To [`Ask::Begin`]: the dataset has arrived; to [`Ask::Open`]: all sessions are open.
    Ready,
    /// To [`Ask::Go`].
    Worked(Vec<Worked>),
    /// To [`Ask::End`].
    Closed,
    /// To anything.
    Failed { message: String, interrupted: bool },
}

impl Answer {
    pub(super) fn failed(error: &Error) -> Self {
        let interrupted = error.kind() == ErrorKind::Interrupted;
        Self::Failed { message: error.to_string(), interrupted }
    }
}

/// Says `message` in a line.
pub(super) fn say(to: &mut impl Write, message: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(message)
        .map_err(|e| Error::usage(format!("cannot be told to a worker process: {e}")))?;
    line.push(b'\n');
    to.write_all(&line).and_then(|()| to.flush()).map_err(|e| Error::io("a worker process", e))
}

/// What a line says.
pub(super) fn heard<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T> {
    serde_json::from_str(line).map_err(|cause| {
        let said: String = line.chars().take(60).collect();
        Error::failed(format!("said what cannot be understood, {said:?}: {cause}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_and_damage_is_told() {
        let mut line = Vec::new();
        say(&mut line, &Ask::Arrange { order: Order::Desc, start: Some(-5), seed: u64::MAX })
            .unwrap();
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(matches!(
            heard::<Ask>(&text).unwrap(),
            Ask::Arrange { order: Order::Desc, start: Some(-5), seed: u64::MAX }
        ));
        for text in host::mutilations(&line) {
            let _ = heard::<Ask>(&String::from_utf8_lossy(&text));
        }
        let answer = r#"{"worked":[{"process":1,"operations":5,"start_ns":1,"end_ns":9,"tally":
            {"bytes":1,"missing":0,"wrong":0,"present":0,"short":0,"first":null},"clock":null,"counters":[["a",3]],"chores":[]}]}"#;
        assert!(
            matches!(heard::<Answer>(answer).unwrap(), Answer::Worked(worked) if worked.len() == 1)
        );
        for text in host::mutilations(answer.as_bytes()) {
            let _ = heard::<Answer>(&String::from_utf8_lossy(&text));
        }
        let error = heard::<Answer>("thread panicked").err().unwrap().to_string();
        assert!(error.contains("\"thread panicked\"") && !error.contains('\n'), "{error}");
    }
}
