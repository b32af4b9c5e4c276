//! Compares what was published about power cuts with what they left of stores here.

use model::{CrashedStore, ModelResult, TypedTarget, scratch_label};
use spec::study::{Claim, Figure, StudyCommand};

use super::study::{Here, StudyFigure};

/// Returns every published figure of a step that cuts the power, with what was found here in the models
/// of real file systems.
pub fn power_cut_figures(step: &StudyCommand, stores: &[CrashedStore]) -> Vec<StudyFigure> {
    let figure = |(index, claim): (usize, &Claim)| {
        // A process that was killed shows nothing about power.
        let mut recorded = stores.iter().filter(|store| store.result.unrecorded.is_none());
        let store = recorded.find(|store| label(store) == claim.target);
        let place = store.map_or_else(String::new, |store| {
            format!("{} states, {}", store.kept(false).0, store.durability)
        });
        let here = store.and_then(|store| count(store, claim.figure));
        StudyFigure::of_claim((index, claim), place, here.map(|count| Here::Exact(count as f64)))
    };
    step.claims.iter().enumerate().map(figure).collect()
}

fn label(store: &CrashedStore) -> String {
    let TypedTarget { engine, settings, .. } = TypedTarget::parse(&store.target);
    scratch_label(&engine.unwrap_or_default(), &settings)
}

/// Returns what was counted; `None` of another kind of figure.
fn count(store: &CrashedStore, figure: Figure) -> Option<u64> {
    let (states, kept) = store.kept(false);
    let damaged = |row: &ModelResult| row.unopened + row.torn + row.wrong;
    match figure {
        Figure::LostCommits => store.models(false).map(|row| row.most_lost).max(),
        Figure::BrokenStates => Some(states - kept),
        Figure::DamagedStates => Some(store.models(false).map(damaged).sum()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{CrashModel, CrashResult, Durability};
    use spec::Options;

    use super::*;
    use crate::Against;

    const TARGET: &str = "sqlite journal=delete sync=full";

    fn claim((target, figure, low, high): (&str, Figure, f64, Option<f64>)) -> Claim {
        Claim {
            says: None,
            target: target.to_owned(),
            figure,
            over: None,
            work: None,
            processes: None,
            cache: None,
            at: BTreeMap::new(),
            low,
            high,
            rounded: None,
        }
    }

    fn step() -> StudyCommand {
        let claims = [
            (TARGET, Figure::LostCommits, 1.0, None),
            (TARGET, Figure::BrokenStates, 0.0, None),
            (TARGET, Figure::DamagedStates, 1.0, Some(f64::INFINITY)),
            ("sqlite", Figure::LostCommits, 1.0, None),
        ];
        StudyCommand {
            title: "Cuts".to_owned(),
            command: "crash".to_owned(),
            options: Options::new(),
            quick: Options::new(),
            full: Options::new(),
            claims: claims.map(claim).into(),
        }
    }

    fn store() -> CrashedStore {
        let row = |model| ModelResult { states: 10, kept: 8, ..ModelResult::new(model) };
        let ordered =
            ModelResult { most_lost: 1, unopened: 2, torn: 3, ..row(CrashModel::Ordered) };
        let strict = ModelResult { most_lost: 9, wrong: 7, ..row(CrashModel::Strict) };
        CrashedStore {
            target: "sqlite:?journal=delete&sync=full".to_owned(),
            durability: Durability::Consistent,
            established: true,
            server: false,
            result: CrashResult { models: vec![ordered, strict], ..CrashResult::default() },
        }
    }

    #[test]
    fn published_figures_are_compared_with_the_models_of_real_file_systems() {
        let found = power_cut_figures(&step(), &[store()]);
        let here: Vec<_> = found.iter().map(|row| row.here.clone()).collect();
        let exact = |count| Some(Here::Exact(count));
        assert_eq!(here, [exact(1.0), exact(2.0), exact(5.0), None]);
        let verdicts: Vec<_> = found.iter().map(StudyFigure::against).collect();
        let [agrees, higher] = [Against::Agrees, Against::Higher].map(Some);
        assert_eq!(verdicts, [agrees, higher, agrees, None]);
        assert_eq!(found[0].place, "10 states, consistent");
    }

    #[test]
    fn a_killed_process_is_no_power_cut() {
        let mut store = store();
        store.result.unrecorded = Some("no FUSE".to_owned());
        let found = power_cut_figures(&step(), &[store]);
        assert!(found.iter().all(|row| row.here.is_none()), "{found:?}");
    }
}
