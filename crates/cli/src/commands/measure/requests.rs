//! From what is asked for to what the lab measures.

use host::Placements;
use lab::{Needs, Request};
use model::{Error, Result, record::Point, spec::RunSpec};

use super::{ageing, blobs, rows, tasks};

/// The file systems that scratch stores are placed on.
pub(super) fn placements(spec: &RunSpec) -> Result<Placements> {
    let (on, bytes) = match spec {
        RunSpec::Run(spec) => (spec.placing.on.as_slice(), spec.placing.image_size()),
        RunSpec::Queue(spec) => (spec.placing.on.as_slice(), spec.placing.image_size()),
        _ => (&[][..], 0),
    };
    let choices = on.iter().map(|on| on.value().parse().map_err(|e: Error| e.context("--on")));
    let choices = choices.collect::<Result<Vec<_>>>()?;
    Placements::open(&choices, bytes, spec.running().scratch())
}

/// A request for each run, in the order in which they are run: those that need the same data and
/// stores one after the other, else as they were asked for.
pub(super) fn requests(spec: &RunSpec, placements: &Placements) -> Result<Vec<Request>> {
    let runs = spec.points()?;
    let of = runs.len();
    let kept = match spec.kept() {
        Err(error) if of > 1 => return Err(error),
        // One run can be measured even if it cannot be asked for again.
        kept => kept.ok(),
    };
    let built = runs.into_iter().map(|run| {
        let request = request(&run.spec, placements)?;
        Ok((run.varied, request))
    });
    let mut built = built.collect::<Result<Vec<_>>>()?;
    group(&mut built);
    let with_spec = |(number, (varied, request))| Request {
        spec: kept.clone(),
        point: (of > 1).then_some(Point { number, of, varied }),
        ..request
    };
    Ok(built.into_iter().enumerate().map(with_spec).collect())
}

/// Moves each next to the first that has the same needs.
fn group<T>(runs: &mut Vec<(T, Request)>) {
    let needs: Vec<_> = runs.iter().map(|(_, request)| Needs::of(request)).collect();
    let first = |place: usize| {
        let same = |other: &Option<Needs>| other.is_some() && *other == needs[place];
        needs.iter().position(same).unwrap_or(place)
    };
    let mut numbered: Vec<_> = runs.drain(..).enumerate().collect();
    numbered.sort_by_cached_key(|(place, _)| first(*place));
    runs.extend(numbered.into_iter().map(|(_, run)| run));
}

fn request(spec: &RunSpec, placements: &Placements) -> Result<Request> {
    match spec {
        RunSpec::Run(spec) => blobs::request(spec, placements),
        RunSpec::Rows(spec) => rows::request(spec),
        RunSpec::Queue(spec) => tasks::request(spec, placements),
        RunSpec::Age(spec) => ageing::request(spec),
    }
}
