//! From target strings to engines of rows, a target for each style.

use std::{ffi::OsStr, path::PathBuf};

use engines::registry;
use lab::RowTarget;
use model::{Error, Facet, Result, Rows, Settings, Target, rows::Style};

use crate::{args::RowsOptions, commands::labels};

/// What is compared when the user names nothing. In every style, or only as published?
const PUBLISHED: [(&str, bool); 14] = [
    ("jsonl:", true),
    ("csv:", true),
    ("sqlite:?store=memory", false),
    ("sqlite:?store=memory&null=no", false),
    ("sqlite:?sync=normal", false),
    ("sqlite:", true),
    ("sqlite:?null=no", false),
    ("mariadb:?engine=memory", false),
    ("mariadb:?engine=memory&null=no", false),
    ("mariadb:?engine=csv&null=no", false),
    ("mariadb:?engine=myisam", false),
    ("mariadb:?engine=myisam&null=no", false),
    ("mariadb:?engine=innodb", true),
    ("mariadb:?engine=innodb&null=no", false),
];
/// What is of interest beside it.
const FURTHER: [(&str, bool); 4] = [
    ("mariadb:?engine=aria", false),
    ("mariadb:?engine=aria&null=no", false),
    ("postgres:", true),
    ("postgres:?null=no", false),
];

/// Rows of a transaction that were best when it was published, in MySQL.
const PUBLISHED_BATCH: (&str, u64) = ("mariadb", 30_000);

/// What will be measured, and what cannot be: its name, and why.
pub(super) struct Chosen {
    pub(super) targets: Vec<RowTarget>,
    pub(super) missing: Vec<(String, String)>,
}

/// A target string, understood.
struct Resolved {
    label: String,
    engine: &'static dyn Rows,
    location: Option<PathBuf>,
    settings: Settings,
}

/// What the user named must be there; of the rest, what is not is told.
pub(super) fn chosen(options: &RowsOptions) -> Result<Chosen> {
    let mut chosen = Chosen { targets: Vec::new(), missing: Vec::new() };
    for text in &options.targets {
        let resolved = resolve(text)?;
        resolved.engine.usable().map_err(|e| e.context(&resolved.label))?;
        chosen.add(options, &resolved, true)?;
    }
    if options.targets.is_empty() {
        let further = FURTHER.into_iter().filter(|_| !options.as_published);
        for (text, every_style) in PUBLISHED.into_iter().chain(further) {
            chosen.add_default(options, text, every_style)?;
        }
    }
    if chosen.targets.is_empty() {
        return Err(Error::usage("none of the targets has such a style"));
    }
    Ok(chosen)
}

impl Chosen {
    fn add_default(&mut self, options: &RowsOptions, text: &str, every_style: bool) -> Result<()> {
        let (name, _) = text.split_once(':').unwrap_or((text, ""));
        if self.missing.iter().any(|(missing, _)| missing == name) {
            return Ok(());
        }
        match registry::rows(name).and_then(|engine| engine.usable()) {
            Ok(()) => {
                let resolved = resolve(text.as_ref())?;
                let withheld =
                    |class| resolved.engine.unsupported_reason(class, &resolved.settings);
                if let Some(why) = options.durability.and_then(withheld) {
                    self.missing.push((resolved.label, why));
                    return Ok(());
                }
                self.add(options, &resolved, every_style)
            }
            Err(error) => {
                self.missing.push((name.to_owned(), error.to_string()));
                Ok(())
            }
        }
    }

    /// A target for each style.
    fn add(&mut self, options: &RowsOptions, resolved: &Resolved, every_style: bool) -> Result<()> {
        for style in styles(options, resolved, every_style)? {
            let label = format!("{} {style}", resolved.label);
            let label = labels::unique(label, self.targets.iter().map(|t| t.label.as_str()));
            let (engine, batch) = PUBLISHED_BATCH;
            let published = options.as_published && resolved.engine.name() == engine;
            self.targets.push(RowTarget {
                label,
                engine: resolved.engine,
                location: resolved.location.clone(),
                settings: resolved.settings.clone(),
                style,
                batch: published.then_some(batch),
            });
        }
        Ok(())
    }
}

/// Those asked for that the target has. A target that has one way only is measured in that.
fn styles(options: &RowsOptions, resolved: &Resolved, every: bool) -> Result<Vec<Style>> {
    let has = resolved.engine.styles(&resolved.settings);
    if let [only] = has {
        return Ok(vec![*only]);
    }
    let wanted: &[Style] = match options.style.as_slice() {
        [] if options.as_published => &[Style::Text, Style::Delayed],
        [] if every => &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk],
        [] => &[Style::Text],
        asked => asked,
    };
    let mut styles: Vec<Style> = has.iter().copied().filter(|s| wanted.contains(s)).collect();
    styles.sort_unstable();
    if styles.is_empty() && !options.targets.is_empty() {
        let words: Vec<_> = has.iter().map(ToString::to_string).collect();
        return Err(Error::usage(format!(
            "{} has no such style (accepted: {})",
            resolved.label,
            words.join(", ")
        )));
    }
    Ok(styles)
}

fn resolve(text: &OsStr) -> Result<Resolved> {
    let words = text.to_string_lossy().into_owned();
    let target = Target::parse(&words);
    target.check().map_err(|e| e.context(&words))?;
    let Some(name) = &target.engine else {
        let names: Vec<_> =
            registry::all_rows().map(|engine| format!("{}:", engine.name())).collect();
        return Err(Error::usage(format!(
            "{words}: names no engine; rows are made in a store of their own (accepted: {})",
            names.join(", ")
        )));
    };
    let engine = registry::rows(name).map_err(|e| e.context(&words))?;
    let pairs = target.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings =
        Settings::check(engine.settings(Facet::Rows), pairs).map_err(|e| e.context(&words))?;
    engine.check(&settings).map_err(|e| e.context(&words))?;
    let location = (!target.location.is_empty()).then(|| PathBuf::from(&target.location));
    if location.is_some() {
        return Err(Error::usage(format!(
            "{words}: rows are made in a store of their own, removed afterwards; leave out {:?}",
            target.location
        )));
    }
    let label = match &location {
        Some(_) => words,
        None => settings_after(name, &target.settings),
    };
    Ok(Resolved { label, engine, location, settings })
}

/// `sqlite sync=normal`, in the order written.
fn settings_after(name: &str, settings: &[(String, String)]) -> String {
    settings.iter().fold(name.to_owned(), |label, (name, value)| format!("{label} {name}={value}"))
}
