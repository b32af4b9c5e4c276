//! The page of stores under which the power was cut.

use model::{
    BrokenState, CrashModel, CrashedStore, Durability, ModelResult, shell_quoted,
    units::{show_count, show_percent},
};

use super::Page;
use crate::{
    number::NONE,
    table::{Cell, Column, Line, Lines, Table, Tone},
};

/// Returns the page of the `stores`: a row for each store and class, the first state that broke each
/// promise, and what the figures do not show.
pub fn crashed_stores(stores: &[CrashedStore]) -> Page {
    let (established, new): (Vec<_>, Vec<_>) = stores.iter().partition(|store| store.established);
    let tables = [
        ("Stores that were created and flushed before", established),
        ("New stores, created while the power could be cut", new),
    ];
    let tables = tables.into_iter().filter(|(_, stores)| !stores.is_empty());
    let tables = tables.map(|(title, stores)| table(title, &stores).into());
    let broken = Lines::new(
        "The first state of each that broke its promise or did not open",
        stores.iter().flat_map(broken),
    );
    let repaired =
        Lines::new("What a repair saves, in the first state", stores.iter().filter_map(repaired));
    let servers = stores.iter().any(|store| store.server).then(said_of_servers);
    let failing = stores.iter().any(is_failing).then(|| SAID_OF_FAILURES.to_owned());
    let said = SAID.map(str::to_owned).into_iter().chain(failing).chain(servers).map(Line::dim);
    let said = Lines::new("", said);
    let lines = [broken, repaired].into_iter().filter_map(Lines::unless_empty);
    Page::new(tables.chain(lines.map(Into::into)).chain([said.into()]))
}

const SAID: [&str; 4] = [
    "lost: the most acknowledged commits that one state lacks, and the largest share of those before its \
     cut; torn: states with values that are in parts or of no commit; back: states in which deleted \
     values came back; shut: states that the engine does not open or read",
    "verdict: whether all states of the models of real file systems keep what the class promises",
    "strict: the same for the model that loses every name and write that no flush covers, which no usual \
     file system does; it decides no verdict",
    "Power cuts are simulated: a pass is no proof. Drives that acknowledge flushes that they do not make, \
     damaged sectors and errors are not among them.",
];

const SAID_OF_FAILURES: &str = "reported: runs in which the commit that met the failed flush, or a later \
                                one, returned an error, with which the program ends; hung: runs that do \
                                not end; read back: runs in which the values of the commit that failed can \
                                be read afterwards";

/// Returns whether flushes failed under a store, instead of the power.
fn is_failing(store: &CrashedStore) -> bool {
    store.result.models.iter().any(|row| row.model == CrashModel::Eio)
}

/// How many states of a server are checked unless the user asks for another number.
pub const SERVER_STATES: u64 = 40;

fn said_of_servers() -> String {
    format!(
        "Each state of a server is a start of it, so that {SERVER_STATES} are checked (--states). A server \
         writes in the background: the next recording has other states."
    )
}

fn table(title: &str, stores: &[&CrashedStore]) -> Table {
    let count = |of: fn(&ModelResult) -> u64| {
        move |store: &&CrashedStore| store.models(false).map(of).sum::<u64>()
    };
    let table = Table::for_rows(title, stores)
        .with(Column::text(""), |store| store.target.as_str())
        .with(Column::text("class"), |store| store.durability.to_string())
        .with(Column::number("states", ""), |store| store.kept(false).0)
        .with(Column::text("verdict"), |store| verdict(store, false))
        .with(Column::text("strict"), |store| verdict(store, true))
        .with(Column::number("lost", "commits"), |store| most_lost(store))
        .with(Column::number("torn", "states"), count(|row| row.torn + row.wrong))
        .with(Column::number("back", "states"), count(|row| row.returned))
        .with(Column::number("shut", "states"), count(|row| row.unopened));
    if !stores.iter().any(|store| is_failing(store)) {
        return table.into_table();
    }
    table
        .with(Column::number("reported", "states"), count(|row| row.reported))
        .with(Column::number("hung", "states"), count(|row| row.overdue))
        .with(Column::number("read back", "states"), count(|row| row.read_back))
        .into_table()
}

/// Formats the most commits lost in a state and the largest share: `12 (40 %)`.
fn most_lost(store: &CrashedStore) -> String {
    let most = store.models(false).map(|row| row.most_lost).max().unwrap_or_default();
    let share = store.models(false).map(|row| row.most_lost_share).fold(0.0, f64::max);
    if most == 0 {
        "0".to_owned()
    } else {
        format!("{} ({})", show_count(most), show_percent(share))
    }
}

/// Returns a line about the first repair of states that do not open; `None` if there is none.
fn repaired(store: &CrashedStore) -> Option<Line> {
    let repair = store.models(false).find_map(|row| row.repair.as_ref())?;
    Some(Line::dim(format!("{} {} ({}): {repair}", store.target, store.durability, origin(store))))
}

fn origin(store: &CrashedStore) -> &'static str {
    if store.established { "established" } else { "new" }
}

fn verdict(store: &CrashedStore, strict: bool) -> Cell {
    let (states, kept) = store.kept(strict);
    let (text, tone) = match () {
        () if states == 0 => (NONE.to_owned(), Tone::Plain),
        () if store.durability == Durability::None => ("no promise".to_owned(), Tone::Dim),
        () if states == kept => ("kept".to_owned(), Tone::Good),
        () => (format!("broken in {}", show_count(states - kept)), Tone::Bad),
    };
    Cell::from(text).tone(tone)
}

/// Returns lines about the first state that broke the promise in the models of real file systems, and
/// about the first one in `strict`.
fn broken(store: &CrashedStore) -> Vec<Line> {
    let CrashedStore { result, .. } = store;
    let states = [&result.first, &result.first_strict].into_iter().flatten();
    states.flat_map(|state| broken_state(store, state)).collect()
}

fn broken_state(store: &CrashedStore, state: &BrokenState) -> Vec<Line> {
    let origin = origin(store);
    let BrokenState { cut, model, seed, reason, at, missing, .. } = state;
    let tone = if *model == CrashModel::Strict { Tone::Dim } else { Tone::Bad };
    let class = store.durability;
    let head = format!("{} {class} ({origin}), {model}, cut {at}: {reason}", store.target);
    let target = shell_quoted(&store.target);
    let again = format!(
        "storemark crash {target} --durability {class} --stores {origin} --cut {cut} --models {model} \
         --seed {seed} --keep state"
    );
    let missing = missing.iter().map(|missing| Line::dim(missing.clone()));
    let lines = [Line::new("", head).tone(tone)].into_iter().chain(missing);
    lines.chain((!store.server).then(|| Line::dim(again))).collect()
}
