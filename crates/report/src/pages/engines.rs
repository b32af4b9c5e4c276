//! The pages on engines, on how targets are written, and on durability classes.

use itertools::Itertools;
use model::{Blobs, Durability, Facet, Library, Settings};

use super::Page;
use crate::table::{Line, Lines, Tone};

/// Returns the page of all engines, a few lines each.
pub fn engines<'e>(engines: impl IntoIterator<Item = &'e dyn Blobs>) -> Page {
    let about = |engine: &'e dyn Blobs| {
        let settings = engine.settings(Facet::Blobs).iter().map(|setting| setting.name).join(" ");
        let version = entry("version", version(engine.library(&Settings::default()).as_ref()));
        let classes = Durability::ALL.into_iter().map(|class| kept(engine, class));
        let entries = [version, entry("settings", settings)].into_iter().chain(classes);
        titled(engine, entries.chain([entry("lacks", lacks(engine))]))
    };
    Page::prose(engines.into_iter().map(about))
}

/// Returns the maintenance that the engine can do while sessions work, each with how it is done.
fn meanwhile(engine: &dyn Blobs) -> String {
    let all = engine.declaration().maintenance.iter().map(|(what, how)| format!("{what} ({how})"));
    all.collect::<Vec<_>>().join(", ")
}

/// Returns the page of one engine, with everything known about it.
pub fn engine(engine: &dyn Blobs) -> Page {
    let library = engine.library(&Settings::default());
    let options = library.as_ref().map_or_else(String::new, |library| library.options.join(" "));
    let about = titled(
        engine,
        [
            entry("target", target(engine)),
            entry("version", version(library.as_ref())),
            entry("built with", options),
            entry("lacks", lacks(engine)),
            entry("reclaim", engine.declaration().reclaim.unwrap_or_default()),
            entry("meanwhile", meanwhile(engine)),
        ],
    );
    let declared = engine.settings(Facet::Blobs).into_iter();
    let lines = declared.map(|s| entry(s.name, format!("{}; accepted: {}", s.help, s.accepts)));
    let mut settings: Vec<Line> = lines.flatten().collect();
    if settings.is_empty() {
        settings.push(Line::new(lead("none"), ""));
    }
    let durability = Durability::ALL.into_iter().flat_map(|class| {
        let by = settings_of(engine, class).filter(|settings| !settings.is_empty());
        let by = by.and_then(|settings| entry("", format!("by {settings}")));
        [kept(engine, class), by].into_iter().flatten()
    });
    let durability = Lines::new("Durability", durability).unless_empty();
    Page::prose([about, Lines::new("Settings", settings)].into_iter().chain(durability))
}

const FORMS: [(&str, &str); 7] = [
    ("PATH", "an existing store: a folder of files, an SQLite database, a pack file, …"),
    ("ENGINE:PATH", "its engine named; needed for a store that does not exist yet"),
    ("ENGINE:", "a scratch store, filled by storemark and removed again"),
    (
        "…?NAME=VALUE&…",
        "settings, as in sqlite:thumbs.db?api=blob&mmap=1GiB; a list of values makes a run for each",
    ),
    (
        "mysql://…",
        "mysql://user@host:port/database: an existing server; postgres://…, redis://… likewise",
    ),
    (
        "s3://…",
        "s3://bucket/prefix?endpoint=http://host:port: an existing bucket of an object store",
    ),
    ("'…'", "shells take ? and & for themselves: a target with settings goes into quotes"),
];

/// Returns the page on how targets are written: their forms, then each engine with its settings.
pub fn targets<'e>(engines: impl IntoIterator<Item = &'e dyn Blobs>) -> Page {
    let forms = FORMS.map(|(form, what)| Line::new(format!("  {form:<14}  "), what));
    let head = Lines::new("A target is a path, or an engine with a location and settings", forms);
    let engines = engines.into_iter().map(|engine| {
        let settings = engine.settings(Facet::Blobs).into_iter();
        let settings = settings.map(|setting| entry(setting.name, setting.accepts.to_string()));
        titled(engine, [entry("target", target(engine))].into_iter().chain(settings))
    });
    let more = sentence("`storemark engines NAME` explains each setting.");
    Page::prose([head].into_iter().chain(engines).chain([more]))
}

const CALLS: &str = "`storemark engines NAME` names the calls they make, and `storemark crash` cuts the power by \
                     simulation. Whether the drive keeps what it acknowledged is its maker's promise.";

/// Returns the page on what each durability class means, and the settings with which each engine
/// provides it.
pub fn durability<'e>(engines: impl IntoIterator<Item = &'e dyn Blobs>) -> Page {
    let engines: Vec<_> = engines.into_iter().collect();
    let class = |class| {
        let meaning = match class {
            Durability::None => "after a power cut values may be torn or gone",
            Durability::Consistent => {
                "after a power cut every value is whole; recent commits may be gone"
            }
            Durability::Durable => "an acknowledged commit survives a power cut",
        };
        let engines = engines.iter().filter_map(|engine| {
            let settings = settings_of(*engine, class).unwrap_or_else(|| "cannot".to_owned());
            entry(engine.name(), if settings.is_empty() { "as it is set" } else { &settings })
        });
        Lines::new(format!("{class}: {meaning}"), engines)
    };
    let head = Lines::new("--durability gives every engine the same durability", []);
    let classes = Durability::ALL.into_iter().map(class);
    Page::prose([head].into_iter().chain(classes).chain([sentence(CALLS)]))
}

fn sentence(text: &str) -> Lines {
    Lines::new("", [Line::new("", text)])
}

fn titled(engine: &dyn Blobs, entries: impl IntoIterator<Item = Option<Line>>) -> Lines {
    let unusable = engine.usable().err();
    let unusable = unusable.map(|why| Line::new(lead("not here"), why.to_string()).tone(Tone::Bad));
    let lines = [unusable].into_iter().chain(entries).flatten();
    Lines::new(format!("{}: {}", engine.name(), engine.declaration().about), lines)
}

/// Returns a line about `name`; `None` if `text` is empty.
fn entry(name: &str, text: impl Into<String>) -> Option<Line> {
    let text = text.into();
    (!text.is_empty()).then(|| Line::new(lead(name), text))
}

fn lead(name: &str) -> String {
    format!("  {name:<12}  ")
}

fn version(library: Option<&Library>) -> String {
    library.map_or_else(String::new, |library| format!("{} {}", library.name, library.version))
}

/// Describes how a target of this engine is written.
fn target(engine: &dyn Blobs) -> String {
    let (name, can) = (engine.name(), engine.capabilities());
    match (can.remote, can.persistent) {
        (true, _) => engine.declaration().address_form(),
        (false, true) => format!("{name}:PATH, or {name}: for a scratch store"),
        (false, false) => format!("{name}:"),
    }
}

/// Describes how the engine provides a class; `None` if it cannot.
fn kept(engine: &dyn Blobs, class: Durability) -> Option<Line> {
    entry(&class.to_string(), engine.durability_settings(class)?.how)
}

/// Lists the settings that provide a class; `None` if the engine cannot.
fn settings_of(engine: &dyn Blobs, class: Durability) -> Option<String> {
    let settings = engine.durability_settings(class)?.settings;
    Some(settings.iter().map(|(name, value)| format!("{name}={value}")).join(" "))
}

/// Lists what the engine cannot do, from its declaration and its capabilities.
fn lacks(engine: &dyn Blobs) -> String {
    let can = engine.capabilities();
    let classes = Durability::ALL.into_iter();
    let classes = classes.filter(|class| engine.durability_settings(*class).is_none());
    let missing = [
        (can.persistent || can.remote, "a store that outlives the run"),
        (can.meta || !can.retains, "modes and times of files"),
        (can.concurrent_writes, "several writers at once"),
        (can.processes, "several processes at once"),
        (can.atomic_batches, "batches that are stored as a whole or not at all"),
        (can.snapshots || can.written_once, "scans that show one moment"),
    ];
    let missing = missing.into_iter().filter(|(has, _)| !has).map(|(_, what)| what);
    let words = missing.chain(engine.declaration().limitations.iter().copied()).map(str::to_owned);
    classes.map(|class| format!("durability {class}")).chain(words).join("; ")
}
