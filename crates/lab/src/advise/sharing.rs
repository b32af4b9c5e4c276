//! What the settings do that decide how readers and writers share a store: each is measured next to
//! the same store without it.

use checks::{Costs, Sharing, SharingSetting, SharingWay};
use model::{Action, Blobs, Facet, Mix, Result, Role, record::Record};

use super::{AdviseRequest, candidates::Runner, race::Race};
use crate::{ResolvedTarget, StoreCache, budget::guessed};

/// The operations of a transaction that are tried in place of one.
const BATCH: u64 = 20;

/// A run that is to be made.
struct Trial {
    targets: Vec<ResolvedTarget<dyn Blobs>>,
    roles: Vec<Role>,
}

/// The runs, and the settings with their places in them.
#[derive(Default)]
struct Trials {
    trials: Vec<Trial>,
    settings: Vec<SharingSetting>,
}

impl Trials {
    /// Adds a run, and returns its index.
    fn add(&mut self, targets: Vec<ResolvedTarget<dyn Blobs>>, roles: Vec<Role>) -> usize {
        self.trials.push(Trial { targets, roles });
        self.trials.len() - 1
    }

    /// Adds a setting, with the record and the target of each way.
    fn compare(
        &mut self,
        of: &ResolvedTarget<dyn Blobs>,
        ways: [(&str, usize, usize); 2],
        trades: &str,
    ) {
        let ways = ways.map(|(name, record, target)| {
            let name = name.to_owned();
            SharingWay { name, record, target }
        });
        let (store, trades) = (of.label.clone(), trades.to_owned());
        self.settings.push(SharingSetting { store, ways, trades });
    }
}

/// Measures the settings of the store that `finals` recommends and, if its engine declares none, those
/// of the best store whose engine does; `None` if there are no roles.
pub(super) fn measure(
    race: &Race<'_>,
    chosen: &[Runner],
    finals: &Record,
    lengths: &[u64],
) -> Result<Option<Sharing>> {
    let asked = race.asked;
    if asked.roles.is_empty() {
        return Ok(None);
    }
    let mut trials = Trials::default();
    for taken in examined(asked, chosen, finals) {
        add_settings(asked, &taken.target, &mut trials)?;
    }
    let Trials { trials, settings } = trials;
    race.progress.detail(&format!("comparing {} settings of readers and writers", settings.len()));
    let mut sharing = Sharing { records: Vec::new(), settings };
    let mut left: usize = trials.iter().map(|trial| trial.targets.len()).sum();
    let room = race.room(lengths, left);
    for Trial { targets, roles } in trials {
        let seconds = race.budget.remaining() * targets.len() as f64 / left as f64;
        let least = guessed::ROUNDS_OF_ROLES * targets.len() as f64;
        left -= targets.len();
        let request = race.of_roles(race.roles(targets, roles, (room, lengths)), seconds);
        let has_time = seconds >= least;
        let run = || race.measure_if_possible(&request, &mut StoreCache::default());
        sharing.records.push(if has_time { run()? } else { None });
    }
    Ok(Some(sharing))
}

/// Returns the stores whose settings are measured.
fn examined<'r>(asked: &AdviseRequest, last: &'r [Runner], finals: &Record) -> Vec<&'r Runner> {
    let targets = &finals.header.plan.targets;
    let runner =
        |target: usize| last.iter().find(|runner| runner.about.label == targets[target].label);
    let costs = Costs::new(finals, asked.reads);
    let now = targets.iter().position(|target| target.label == asked.now.label);
    let taken = costs.choice(now, |_| true).and_then(|choice| runner(choice.chosen));
    let declares = |of: &&Runner| !of.target.engine.declaration().sharing.is_empty();
    let ranked = costs.ranking().into_iter().filter_map(|ranked| runner(ranked.target));
    let other =
        ranked.into_iter().find(declares).filter(|_| !taken.is_some_and(|of| declares(&of)));
    taken.into_iter().chain(other).collect()
}

/// Adds each setting of the engine, and what the roles themselves can do in another way.
fn add_settings(
    asked: &AdviseRequest,
    taken: &ResolvedTarget<dyn Blobs>,
    trials: &mut Trials,
) -> Result<()> {
    let base = trials.trials.len();
    let own = taken.settings_for(Facet::Blobs, Some(asked.durability))?;
    let mut targets = vec![taken.clone()];
    for (usual, one) in taken.engine.declaration().sharing {
        let Some((name, value)) = one.settings.split_once('=') else { continue };
        let mut other = taken.clone();
        // It may give less than the class, which its trade-off says.
        (other.settings, other.keeps_class) = (own.clone(), true);
        other.settings.set(name, value);
        other.label = format!("{} {}", taken.label, one.settings);
        let usual =
            own.get(name).map_or_else(|| (*usual).to_owned(), |own| format!("{name}={own}"));
        if usual == one.settings {
            continue;
        }
        let ways = [(&*usual, base, 0), (one.settings, base, targets.len())];
        trials.compare(taken, ways, one.trades);
        targets.push(other);
    }
    trials.add(targets, asked.roles.clone());
    add_roles(asked, taken, base, trials);
    Ok(())
}

/// Adds other ways in which the sessions can write.
fn add_roles(
    asked: &AdviseRequest,
    taken: &ResolvedTarget<dyn Blobs>,
    base: usize,
    trials: &mut Trials,
) {
    let writers = |change: &dyn Fn(&mut Role)| {
        let mut roles = asked.roles.clone();
        roles.iter_mut().filter(|role| role.mix.writes()).for_each(change);
        roles
    };
    let target = || vec![taken.clone()];
    let sessions: u32 =
        asked.roles.iter().filter(|role| role.mix.writes()).map(|r| r.sessions).sum();
    if sessions > 1 {
        let one = trials.add(target(), writers(&|role| role.sessions = 1));
        let several = format!("{sessions} connections write");
        trials.compare(taken, [(&several, base, 0), ("one connection writes", one, 0)], "");
    }
    if asked.roles.iter().all(|role| role.batch == 1) {
        let several = trials.add(target(), writers(&|role| role.batch = BATCH));
        let trades =
            "a failed transaction loses all of its operations, and others wait for it longer";
        let name = format!("{BATCH} updates in a transaction");
        trials.compare(taken, [("each update by itself", base, 0), (&name, several, 0)], trades);
    }
    if taken.engine.declaration().defers {
        let reads_first = |deferred| {
            writers(&move |role: &mut Role| {
                role.mix = Mix::new([(Action::Modify, 100)]);
                (role.batch, role.deferred) = (role.batch.max(2), deferred);
            })
        };
        let immediate = trials.add(target(), reads_first(false));
        let deferred = trials.add(target(), reads_first(true));
        let names =
            ["BEGIN IMMEDIATE", "BEGIN"].map(|name| format!("{name} before reads and updates"));
        let ways = [(names[0].as_str(), immediate, 0), (names[1].as_str(), deferred, 0)];
        trials.compare(taken, ways, "");
    }
}
