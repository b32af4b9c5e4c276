//! The targets of a page: each has one place, and so one colour, in all of its charts.

use super::{chart::Target, machine::Part};

pub(super) struct Targets<'a>(Vec<&'a str>);

impl<'a> Targets<'a> {
    /// Those of all parts, in the order in which they come.
    pub(super) fn of(parts: impl Iterator<Item = &'a Part<'a>>) -> Self {
        let mut all: Vec<&str> = Vec::new();
        for run in parts.flat_map(Part::runs) {
            for target in &run.record.header.plan.targets {
                if !all.contains(&target.label.as_str()) {
                    all.push(&target.label);
                }
            }
        }
        Self(all)
    }

    /// The place of the target called `label`.
    pub(super) fn place(&self, label: &str) -> Option<usize> {
        self.0.iter().position(|own| *own == label)
    }

    pub(super) fn as_data(&self) -> Vec<Target<'_>> {
        self.0.iter().enumerate().map(|(colour, name)| Target { name, colour }).collect()
    }
}
