//! The request of `storemark rows`: a target for each style.

use engines::registry;
use lab::{ExperimentRequest, Group, Request, RowTarget, RowsRequest, Target};
use model::{
    Engine, Error, Facet, Result, Rows,
    rows::Style,
    spec::{RowsSpec, one},
};

use super::{
    common::{common, worker},
    labels,
    scratch::Kind,
};

const ROWS: Kind<dyn Rows> = Kind {
    facet: Facet::Rows,
    find: registry::rows,
    names: || registry::all_rows().map(Engine::name).collect(),
    what: "rows are made",
};

pub(super) fn request(spec: &RowsSpec) -> Result<Request> {
    let (rows, batch) = spec.rows_and_batch()?;
    let Chosen { targets, missing } = chosen(spec)?;
    let names = targets.iter().map(|target| target.target.label.as_str());
    let default = spec.targets.is_empty().then(RowsSpec::default_baseline);
    let baseline = labels::baseline(one(&spec.running.baseline), default, names)?;
    let groups = groups(spec);
    let experiment = RowsRequest { targets, rows, batch, groups, worker: worker()?, missing };
    Ok(Request {
        durability: one(&spec.durability),
        ..common(ExperimentRequest::Rows(experiment), &spec.running, spec.rounds(), baseline)
    })
}

/// Each number of processes once, with a database each, then on one.
fn groups(spec: &RowsSpec) -> Vec<Group> {
    let mut groups = Vec::new();
    for processes in spec.processes() {
        let shared = spec.shared && processes > 1;
        for own_databases in [true, false].into_iter().take(1 + usize::from(shared)) {
            let group = Group { processes, own_databases };
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    groups
}

/// What will be measured, and what cannot be: its name, and why.
struct Chosen {
    targets: Vec<RowTarget>,
    missing: Vec<(String, String)>,
}

/// Targets that the user names must be usable; of the default ones, those that are not are listed.
fn chosen(spec: &RowsSpec) -> Result<Chosen> {
    let mut chosen = Chosen { targets: Vec::new(), missing: Vec::new() };
    for text in &spec.targets {
        let target = resolve(text.as_ref())?;
        target.engine.usable().map_err(|e| e.context(&target.label))?;
        chosen.add(spec, &target, true)?;
    }
    if spec.targets.is_empty() {
        for (text, every_style) in spec.default_targets() {
            chosen.add_default(spec, text, *every_style)?;
        }
    }
    if chosen.targets.is_empty() {
        return Err(Error::usage("none of the targets has such a style"));
    }
    Ok(chosen)
}

fn resolve(text: &std::ffi::OsStr) -> Result<Target<dyn Rows>> {
    let target = ROWS.resolve(text)?;
    target.engine.check(&target.settings).map_err(|e| e.context(text.display()))?;
    Ok(target)
}

impl Chosen {
    fn add_default(&mut self, spec: &RowsSpec, text: &str, every_style: bool) -> Result<()> {
        let (name, _) = text.split_once(':').unwrap_or((text, ""));
        if self.missing.iter().any(|(missing, _)| missing == name) {
            return Ok(());
        }
        if let Err(error) = registry::rows(name).and_then(Engine::usable) {
            self.missing.push((name.to_owned(), error.to_string()));
            return Ok(());
        }
        let target = resolve(text.as_ref())?;
        let class = one(&spec.durability);
        match class.and_then(|class| target.engine.unsupported_reason(class, &target.settings)) {
            None => self.add(spec, &target, every_style),
            Some(why) => {
                self.missing.push((target.label, why));
                Ok(())
            }
        }
    }

    /// Adds a target for each style.
    fn add(&mut self, spec: &RowsSpec, target: &Target<dyn Rows>, every_style: bool) -> Result<()> {
        for style in styles(spec, target, every_style)? {
            let taken = self.targets.iter().map(|other| other.target.label.as_str());
            let label = labels::unique(format!("{} {style}", target.label), taken);
            let batch = spec.batch_of(target.engine.name());
            let target = Target {
                location: target.location.clone(),
                settings: target.settings.clone(),
                ..Target::scratch(&label, target.engine)
            };
            self.targets.push(RowTarget { target, style, batch });
        }
        Ok(())
    }
}

/// The styles asked for that the target has. A target that has one way only is measured in that.
fn styles(spec: &RowsSpec, target: &Target<dyn Rows>, every: bool) -> Result<Vec<Style>> {
    let has = target.engine.styles(&target.settings);
    if let [only] = has {
        return Ok(vec![*only]);
    }
    let wanted = spec.styles(every);
    let mut styles: Vec<Style> = has.iter().copied().filter(|s| wanted.contains(s)).collect();
    styles.sort_unstable();
    if styles.is_empty() && !spec.targets.is_empty() {
        let words: Vec<_> = has.iter().map(ToString::to_string).collect();
        return Err(Error::usage(format!(
            "{} has no such style (accepted: {})",
            target.label,
            words.join(", ")
        )));
    }
    Ok(styles)
}
