//! The request of `storemark queue`.

use engines::registry;
use host::Placements;
use lab::{ExperimentRequest, Request, Target, TasksRequest};
use model::{
    Engine, Facet, Result, Tasks,
    spec::{TaskLoad, TasksSpec, one},
};

use super::{common::common, labels, scratch::Kind};

const TASKS: Kind<dyn Tasks> = Kind {
    facet: Facet::Tasks,
    find: registry::tasks,
    names: || registry::all_tasks().map(Engine::name).collect(),
    what: "tasks are kept",
};

pub(super) fn request(spec: &TasksSpec, placements: &Placements) -> Result<Request> {
    let TaskLoad { workers, tasks, rewrites, output } = spec.load()?;
    let chosen = chosen(spec)?;
    let durability = one(&spec.durability);
    if let Some(class) = durability {
        for target in &chosen {
            target.engine.class_settings(Facet::Tasks, class)?;
        }
    }
    let targets = on_each(&chosen, placements);
    let names = targets.iter().map(|target| target.label.as_str());
    let baseline = labels::baseline(one(&spec.running.baseline), None, names)?;
    let experiment =
        ExperimentRequest::Tasks(TasksRequest { targets, workers, tasks, rewrites, output });
    Ok(Request { durability, ..common(experiment, &spec.running, spec.rounds(), baseline) })
}

fn chosen(spec: &TasksSpec) -> Result<Vec<Target<dyn Tasks>>> {
    if !spec.targets.is_empty() {
        return spec.targets.iter().map(|text| TASKS.resolve(text.as_ref())).collect();
    }
    // This build may lack an engine.
    let name = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
    let defaults = spec.default_targets().iter();
    let defaults = defaults.filter(|text| registry::tasks(&name(text)).is_ok());
    defaults.map(|text| TASKS.resolve(text.as_ref())).collect()
}

/// Each target on each file system, those of a target together; as they are if no file system was
/// asked for.
fn on_each(chosen: &[Target<dyn Tasks>], placements: &Placements) -> Vec<Target<dyn Tasks>> {
    let mut targets: Vec<Target<dyn Tasks>> = Vec::new();
    for target in chosen {
        for placement in placements.or_none() {
            let on = placement.map_or_else(String::new, |on| format!(" on {}", on.name));
            let taken = targets.iter().map(|target| target.label.as_str());
            let label = labels::unique(format!("{}{on}", target.label), taken);
            targets.push(Target {
                settings: target.settings.clone(),
                placement: placement.cloned(),
                ..Target::scratch(&label, target.engine)
            });
        }
    }
    targets
}
