//! `storemark age`: what replacing objects over and over does to stores.

use std::time::Instant;

use lab::{AgeRequest, Recorder, Requested, Stop};
use model::{Error, Generated, Result};

use super::{
    labels,
    run::{baseline, caches, fresh_seed, label, rounds},
};
use crate::{
    args::AgeOptions,
    exit::Failure,
    listener::Listener,
    measured::{self, Measured},
    page_file, record_file, targets,
};

/// What is compared when the user names nothing: what was published, of its kind.
const DEFAULT_TARGETS: [&str; 2] = ["files:", "sqlite:"];

pub(crate) fn run(options: &AgeOptions, stop: &Stop) -> Result<(), Failure> {
    let html = page_file::open(
        options.rounds.html.as_deref(),
        &[("--json", options.rounds.json.as_deref())],
    )?;
    measured::show(measured(options, stop)?, &options.rounds, html)
}

/// Measures without showing anything.
pub(super) fn measured(options: &AgeOptions, stop: &Stop) -> Result<Measured, Failure> {
    let began = Instant::now();
    let request = request(options)?;
    let file = record_file::open(options.rounds.json.as_deref(), record_file::AGE)?;
    let mut recorder = Recorder::new(file);
    let listener = Listener::new(options.rounds.talk);
    let outcome = lab::age(&request, &mut recorder, &listener, stop);
    let ended = measured::finish(outcome, &mut recorder, began).map(|outcome| vec![outcome]);
    Ok(Measured { records: recorder.into_records(), ended })
}

fn request(options: &AgeOptions) -> Result<AgeRequest> {
    let targets = requested(options)?;
    Ok(AgeRequest {
        baseline: baseline(options.rounds.baseline.as_deref(), &targets)?,
        targets,
        data: data(options)?,
        ages: ages(&options.ages)?,
        caches: caches(&options.cache),
        durability: options.durability,
        rounds: rounds(options.rounds.rounds, options.rounds.time),
        scratch: options.rounds.scratch.clone(),
    })
}

fn requested(options: &AgeOptions) -> Result<Vec<Requested>> {
    let named = options.targets.iter().map(|text| targets::resolve(text));
    let resolved = if options.targets.is_empty() {
        DEFAULT_TARGETS.iter().map(|text| targets::resolve(text.as_ref())).collect()
    } else {
        named.collect::<Result<Vec<_>>>()
    }?;
    let mut requested: Vec<Requested> = Vec::new();
    for target in &resolved {
        if target.location.is_some() || target.address.is_some() {
            return Err(Error::usage(format!(
                "{}: stores age in scratch stores only, as {}: makes one; leave out the location",
                target.text,
                target.engine.name()
            )));
        }
        target.engine.usable().map_err(|e| e.context(&target.text))?;
        let taken = requested.iter().map(|target| target.label.as_str());
        requested.push(Requested {
            label: labels::unique(label(target), taken),
            engine: target.engine,
            location: None,
            address: None,
            settings: target.settings(&[])?,
            site: None,
        });
    }
    Ok(requested)
}

fn data(options: &AgeOptions) -> Result<Generated> {
    let AgeOptions { objects, volume, size, variance, .. } = *options;
    if size == 0 {
        return Err(Error::usage("--size 0: accepted is 1 or more"));
    }
    let count = objects.unwrap_or(volume / size);
    if count == 0 {
        return Err(Error::usage(match objects {
            Some(_) => "--objects 0: accepted is 1 or more".to_owned(),
            None => format!("--volume {volume}: holds no object of {size} bytes (--size)"),
        }));
    }
    let seed = options.rounds.seed.unwrap_or_else(fresh_seed);
    Ok(Generated { seed, count, size, variance: variance.unwrap_or(size / 2), random_percent: 100 })
}

/// Whole numbers, each greater than the one before.
fn ages(told: &[String]) -> Result<Vec<u32>> {
    let mut ages: Vec<u32> = Vec::new();
    for text in told {
        let age: u32 = text.trim().parse().map_err(|_| {
            Error::usage(format!(
                "--ages {}: {text:?} is no age (accepted: whole numbers from 0 to {}, as in 0,2,4)",
                told.join(","),
                MOST
            ))
        })?;
        if age > MOST {
            return Err(Error::usage(format!("--ages {age}: accepted is up to {MOST}")));
        }
        if let Some(before) = ages.last().filter(|before| **before >= age) {
            return Err(Error::usage(format!(
                "--ages {}: {age} comes after {before}; ages ascend, as in 0,2,4",
                told.join(",")
            )));
        }
        ages.push(age);
    }
    Ok(ages)
}

/// Far beyond what was published; a slip costs no night.
const MOST: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u32>> {
        ages(&text.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn ages_ascend() {
        assert_eq!(read("0,2,4").unwrap(), [0, 2, 4]);
        assert_eq!(read("3").unwrap(), [3]);
        for (wrong, said) in [
            ("0,4,2", "2 comes after 4"),
            ("1,1", "1 comes after 1"),
            ("-1,2", "\"-1\" is no age"),
            ("0,,1", "\"\" is no age"),
            ("1.5", "\"1.5\" is no age"),
            ("5000", "up to 1000"),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains(said), "{wrong}: {error}");
        }
    }
}
