//! The request of `storemark rows`: a target for each style.

use std::ffi::OsStr;

use engines::registry;
use lab::{Group, ResolvedTarget, RowTarget, RowsRequest};
use model::{EngineFacts, Error, Facet, Result, Rows, rows::Style, units};
use spec::{RowsSpec, given_value};

use crate::targets;

/// The setting of any target that says how many rows a transaction has.
const BATCH: &str = "batch";

pub(super) fn request(spec: &RowsSpec) -> Result<RowsRequest> {
    let (rows, batch) = spec.rows_and_batch()?;
    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    for text in &spec.targets {
        let (target, own) = named(text.as_ref())?;
        target.engine.usable().map_err(|e| e.context(&target.label))?;
        let all = in_styles(spec, &target, true)?.into_iter();
        targets.extend(all.map(|one| RowTarget { batch: own.or(one.batch), ..one }));
    }
    for (text, every_style) in spec.default_targets().iter().filter(|_| spec.targets.is_empty()) {
        if let Some(target) = usable(spec, text, &mut missing)? {
            targets.extend(in_styles(spec, &target, *every_style)?);
        }
    }
    if targets.is_empty() {
        return Err(Error::usage("none of the targets has such a style"));
    }
    Ok(RowsRequest { targets, rows, batch, groups: groups(spec), missing })
}

/// Returns each number of processes once, with a database each, then on one.
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

fn resolve(text: &OsStr) -> Result<ResolvedTarget<dyn Rows>> {
    targets::scratch(text, Facet::Rows, registry::rows)
}

/// Resolves a named target, and the rows of a transaction that it has of its own:
/// `sqlite:?batch=30k`.
fn named(text: &OsStr) -> Result<(ResolvedTarget<dyn Rows>, Option<u64>)> {
    let mut words = model::TypedTarget::parse(text);
    let Some(place) = words.settings.iter().position(|(name, _)| name == BATCH) else {
        return Ok((resolve(text)?, None));
    };
    words.check().map_err(|e| e.context(&words))?;
    let (_, value) = words.settings.remove(place);
    let batch = units::parse_size(&value).ok().filter(|batch| *batch > 0).ok_or_else(|| {
        let text = text.to_string_lossy();
        Error::usage(format!("batch={value}: accepted is a number of rows, 1 or more")).at(&text)
    })?;
    let target = resolve(words.to_string().as_ref())?;
    Ok((
        ResolvedTarget { label: format!("{} {BATCH}={value}", target.label), ..target },
        Some(batch),
    ))
}

/// Resolves a default target; `None` if it cannot be measured here: it is then added to `missing`,
/// with its name and the reason.
fn usable(
    spec: &RowsSpec,
    text: &str,
    missing: &mut Vec<(String, String)>,
) -> Result<Option<ResolvedTarget<dyn Rows>>> {
    let name = targets::engine_word(text);
    if missing.iter().any(|(missing, _)| missing == name) {
        return Ok(None);
    }
    if let Err(error) = registry::rows(name).and_then(EngineFacts::usable) {
        missing.push((name.to_owned(), error.to_string()));
        return Ok(None);
    }
    let target = resolve(text.as_ref())?;
    let reason = |class| target.engine.unreached(class, &target.settings);
    let Some(why) = spec.class().and_then(reason) else { return Ok(Some(target)) };
    // A class that was not asked for needs no message.
    if given_value(&spec.durability).is_some() {
        missing.push((target.label, why));
    }
    Ok(None)
}

/// Returns a target for each requested style that it has. A target with a single style is measured
/// in that.
fn in_styles(
    spec: &RowsSpec,
    target: &ResolvedTarget<dyn Rows>,
    every: bool,
) -> Result<Vec<RowTarget>> {
    let has = target.engine.styles(&target.settings);
    let wanted = spec.styles(every);
    let is_wanted = |style: &Style| has.len() == 1 || wanted.contains(style);
    let mut styles: Vec<Style> = has.iter().copied().filter(is_wanted).collect();
    styles.sort_unstable();
    if styles.is_empty() && !spec.targets.is_empty() {
        let words: Vec<_> = has.iter().map(ToString::to_string).collect();
        return Err(Error::usage(format!(
            "{} has no such style (accepted: {})",
            target.label,
            words.join(", ")
        )));
    }
    let row_target = |style| {
        let label = format!("{} {style}", target.label);
        let settings = target.settings.clone();
        let target = ResolvedTarget { settings, ..ResolvedTarget::scratch(&label, target.engine) };
        RowTarget { batch: spec.batch_of(target.engine.name()), target, style }
    };
    Ok(styles.into_iter().map(row_target).collect())
}
