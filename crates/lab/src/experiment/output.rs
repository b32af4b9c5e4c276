//! Where a trial puts what it measured.

use std::collections::HashSet;

use model::{Result, Sample, StoreFacts, record::Line};

use crate::Recorder;

/// The place of a trial in its run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) round: u32,
    /// Counted from 0 within the round.
    pub(crate) position: u32,
}

/// The record, as one trial sees it.
pub(crate) struct Output<'a> {
    pub(crate) recorder: &'a mut Recorder,
    /// Targets whose facts are in the record.
    pub(crate) known: &'a mut HashSet<usize>,
    pub(crate) target: usize,
    pub(crate) at: At,
}

impl Output<'_> {
    /// What is known of the store, which every round makes again.
    pub(crate) fn facts(&mut self, facts: StoreFacts) -> Result<()> {
        if !self.known.insert(self.target) {
            return Ok(());
        }
        self.recorder.push(Line::Store(StoreFacts { target: self.target, ..facts }))
    }

    /// A sample, whose workload and cache state are set; `written_before` is the share of the first
    /// values to be written that were there already.
    pub(crate) fn sample(&mut self, sample: Sample, written_before: Option<f64>) -> Result<()> {
        let At { round, position } = self.at;
        let sample = Sample { round, position, target: self.target, ..sample };
        let header = self.recorder.record().map(|record| &record.header);
        let findings = header
            .map_or_else(Vec::new, |header| checks::of_sample(header, &sample, written_before));
        self.recorder.push(Line::Sample(Box::new(sample)))?;
        self.recorder.note(findings)
    }
}
