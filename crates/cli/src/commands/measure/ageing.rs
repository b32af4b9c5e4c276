//! The request of `storemark age`.

use std::ffi::OsStr;

use lab::{AgeingRequest, ExperimentRequest, Request, Target};
use model::{
    Blobs, Error, Result,
    spec::{AgeingSpec, one},
};

use super::{common::common, labels};
use crate::{plan::fresh_seed, targets};

pub(super) fn request(spec: &AgeingSpec) -> Result<Request> {
    let targets = chosen(spec)?;
    let names = targets.iter().map(|target| target.label.as_str());
    let baseline = labels::baseline(one(&spec.running.baseline), None, names)?;
    let seed = one(&spec.running.seed).unwrap_or_else(fresh_seed);
    let ageing = AgeingRequest {
        targets,
        data: spec.data(seed)?,
        ages: spec.ages()?,
        caches: spec.caches(),
    };
    let experiment = ExperimentRequest::Ageing(ageing);
    Ok(Request {
        durability: Some(spec.durability()),
        ..common(experiment, &spec.running, spec.rounds(), baseline)
    })
}

fn chosen(spec: &AgeingSpec) -> Result<Vec<Target<dyn Blobs>>> {
    let mut targets: Vec<Target<dyn Blobs>> = Vec::new();
    for text in targets::or_default(&spec.targets, AgeingSpec::default_targets()) {
        let taken = targets.iter().map(|target| target.label.as_str());
        let target = one_target(text, taken)?;
        targets.push(target);
    }
    Ok(targets)
}

fn one_target<'a>(text: &OsStr, taken: impl Iterator<Item = &'a str>) -> Result<Target<dyn Blobs>> {
    let target = targets::resolve(text)?;
    if !target.is_scratch() {
        return Err(Error::usage(format!(
            "{}: stores age in scratch stores only, as {}: makes one; leave out the location",
            target.text,
            target.engine.name()
        )));
    }
    target.engine.usable().map_err(|e| e.context(&target.text))?;
    Ok(Target {
        label: labels::unique(target.label(), taken),
        settings: target.settings(&[])?,
        ..Target::scratch("", target.engine)
    })
}
