//! The candidates: the present store, and what the engines declare to be worth trying.

use checks::{Candidate, LeftOut, Threshold};
use model::{
    Blobs, Durability, Engine, Error, Facet, Result, Settings, Try, shell_quoted, units::show_size,
};

use super::AdviseRequest;
use crate::ResolvedTarget;

/// A candidate that can be measured.
#[derive(Clone)]
pub(super) struct Runner {
    pub(super) about: Candidate,
    /// Its rank among the candidates of its engine, after the one that `run` measures: the first
    /// ones are tried if there is little time.
    pub(super) rank: usize,
    pub(super) target: ResolvedTarget<dyn Blobs>,
}

/// The candidates, the present store first, then the others, the simplest first.
pub(super) struct Field {
    pub(super) runners: Vec<Runner>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Field {
    /// Collects the candidates. `now` are the settings of the present store, as read back; at most
    /// `most` candidates are kept.
    pub(super) fn new(
        asked: &AdviseRequest,
        now: &Settings,
        thresholds: &[Threshold],
        left_out: Vec<LeftOut>,
        most: usize,
    ) -> Self {
        let mut field = Self { runners: Vec::new(), left_out };
        field.add(asked, &asked.now.label, Ok(present(asked, now)));
        for engine in asked.engines.iter().copied() {
            match why_not(asked, engine, thresholds) {
                Some(why) if !field.left_out.iter().any(|other| other.name == engine.name()) => {
                    field.leave_out(engine.name(), why);
                }
                Some(_) => {}
                None => {
                    for (rank, one) in engine.declaration().worth_trying.iter().enumerate() {
                        let name = format!("{}:?{}", engine.name(), one.settings);
                        field.add(asked, &name, tried(asked, engine, (rank, one), thresholds));
                    }
                }
            }
        }
        field.keep(most);
        field
    }

    /// Leaves out the candidates that are least likely to matter, until at most `most` remain, but
    /// at least two.
    pub(super) fn keep(&mut self, most: usize) {
        while self.runners.len() > most.max(2) {
            let rank = |place: &usize| self.runners[*place].rank;
            let Some(place) = (0..self.runners.len()).max_by_key(rank) else { return };
            let runner = self.runners.remove(place);
            self.leave_out(&runner.about.target, "more --time tries it".to_owned());
        }
    }

    /// Adds a candidate that can give the durability class, unless it is the same as one before.
    fn add(&mut self, asked: &AdviseRequest, name: &str, runner: Result<Runner>) {
        if let Ok(runner) = &runner
            && runner.target.engine.capabilities().written_once
        {
            return self.add_archive(asked, name, runner);
        }
        let class = Some(asked.durability);
        let settings = |of: &Runner| of.target.settings_for(Facet::Blobs, class);
        let checked = runner.and_then(|runner| {
            let own = settings(&runner)?;
            let gives = runner.target.engine.declaration().class_of(&own);
            let lacks = Error::usage(format!("gives durability {gives} only"));
            let lacks_class = gives < asked.durability && !runner.target.keeps_class;
            if lacks_class {
                return Err(lacks);
            }
            asked.check_roles(&runner.target)?;
            Ok((own, runner))
        });
        let (own, runner) = match checked {
            Ok(checked) => checked,
            Err(error) => return self.leave_out(name, error.to_string()),
        };
        let is_same = |other: &Runner| {
            let of = |runner: &Runner| runner.target.engine.name();
            of(other) == of(&runner) && settings(other).is_ok_and(|other| other == own)
        };
        if !self.runners.iter().any(is_same) {
            self.runners.push(runner);
        }
    }

    /// Adds an archive, which keeps no class because it is only read.
    fn add_archive(&mut self, asked: &AdviseRequest, name: &str, runner: &Runner) {
        if asked.reads < 1.0 {
            let why = "an archive is written once; --reads 100 compares reads alone";
            return self.leave_out(name, why.to_owned());
        }
        let mut archive = runner.clone();
        archive.target.keeps_class = true;
        self.runners.push(archive);
    }

    pub(super) fn leave_out(&mut self, name: &str, why: String) {
        self.left_out.push(LeftOut { name: name.to_owned(), why });
    }
}

/// Returns why an engine is not tried; `None` if it is.
fn why_not(
    asked: &AdviseRequest,
    engine: &'static dyn Blobs,
    thresholds: &[Threshold],
) -> Option<String> {
    let declared = engine.declaration();
    if declared.servers.is_some() && !asked.servers {
        return Some("a server, which --servers tries".to_owned());
    }
    if let Err(error) = engine.usable() {
        return Some(error.to_string());
    }
    if let Err(error) = engine.class_settings(Facet::Blobs, asked.durability) {
        return Some(error.to_string());
    }
    declared.threshold?;
    let Some(found) = thresholds.iter().find(|of| of.engine == engine.name()) else {
        return Some(
            "all values are of about one size, or --time is too short to find its threshold"
                .to_owned(),
        );
    };
    let [least, most] = found.sizes.map(show_size);
    let way = if found.found.begins_below { "small" } else { "large" };
    found.crossing().is_none().then(|| {
        format!("reads are faster in the way of {way} values at all sizes from {least} to {most}")
    })
}

/// Returns a scratch store like the present one.
fn present(asked: &AdviseRequest, now: &Settings) -> Runner {
    let mut target = asked.now.clone();
    let engine = target.engine;
    let table = engine.settings(Facet::Blobs);
    let of_class = |name: &str| {
        let classes = engine.declaration().durability.iter();
        classes.flat_map(|kept| kept.settings).any(|(of, _)| *of == name)
    };
    let stored = now.stored(table.iter().copied()).0.into_iter();
    // An existing server has its own settings, whoever connects to it.
    let is_own = target.address.is_none();
    for (name, value) in stored.filter(|(name, _)| is_own && !of_class(name)) {
        let pair = [(name.as_str(), value.as_str())];
        let accepted = Settings::check(table.iter().copied(), pair).is_ok();
        if accepted && target.settings.get(&name).is_none() {
            target.settings.set(&name, value);
        }
    }
    let text = asked.source.clone().unwrap_or_else(|| format!("{}:", engine.name()));
    let about = Candidate {
        label: target.label.clone(),
        target: text,
        trades: "what is there now".to_owned(),
        durability: durability(asked, engine),
        // Settings of a store of the user's may name what is in it.
        power_cut: target
            .settings
            .0
            .is_empty()
            .then(|| power_cut(asked, engine, &format!("{}:", engine.name())))
            .flatten(),
        extension: extension(engine),
    };
    Runner { about, rank: 0, target }
}

fn tried(
    asked: &AdviseRequest,
    engine: &'static dyn Blobs,
    (rank, one): (usize, &Try),
    thresholds: &[Threshold],
) -> Result<Runner> {
    let own = thresholds.iter().filter(|threshold| threshold.engine == engine.name());
    let size = own.filter_map(|threshold| {
        let size = threshold.crossing()?.size.round();
        Some(format!("{}={size:.0}", threshold.setting))
    });
    let written = size.chain(one.settings.split('&').map(str::to_owned));
    let pairs: Vec<_> = written.filter(|pair| !pair.is_empty()).collect();
    let target = target(engine, &pairs)?;
    let name = engine.name();
    let settings = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
    let text = format!("{name}:{settings}");
    let rank = if asked.usual.contains(&text.as_str()) { 0 } else { rank + 1 };
    let about = Candidate {
        label: target.label.clone(),
        power_cut: power_cut(asked, engine, &text),
        target: text,
        trades: one.trades.to_owned(),
        durability: durability(asked, engine),
        extension: extension(engine),
    };
    Ok(Runner { about, rank, target })
}

/// Returns a scratch store with settings written as `name=value`, and named as targets are.
pub(super) fn target(
    engine: &'static dyn Blobs,
    written: &[String],
) -> Result<ResolvedTarget<dyn Blobs>> {
    let pairs = written.iter().filter_map(|pair| pair.split_once('='));
    let settings = Settings::check(engine.settings(Facet::Blobs), pairs)?;
    engine.check(Facet::Blobs, &settings)?;
    let label = [engine.name()].into_iter().chain(written.iter().map(String::as_str));
    let label = label.collect::<Vec<_>>().join(" ");
    Ok(ResolvedTarget { settings, ..ResolvedTarget::scratch(&label, engine) })
}

/// Describes how an engine provides the class that is asked for; empty if it cannot.
fn durability(asked: &AdviseRequest, engine: &dyn Engine) -> String {
    let kept = engine.durability_settings(asked.durability);
    kept.map_or_else(String::new, |kept| kept.how.to_owned())
}

/// Returns the command that cuts the power under a new store; `None` if it promises nothing, or the power
/// cannot be cut here.
fn power_cut(asked: &AdviseRequest, engine: &dyn Engine, target: &str) -> Option<String> {
    let class = asked.durability;
    let can = cfg!(target_os = "linux") && engine.power_cut_refusal().is_none();
    (can && class > Durability::None)
        .then(|| format!("storemark crash {} --durability {class}", shell_quoted(target)))
}

/// Returns the extension of a new store's name; a folder of files has none of its own.
fn extension(engine: &dyn Engine) -> Option<String> {
    let folder = engine.capabilities().paths.then_some("dir");
    engine.declaration().extension.or(folder).map(str::to_owned)
}
