//! Prints what engines are, for a person at a terminal.

use model::{Blobs, Durability, Facet, Library, Setting};

use super::{
    NARROWEST, Style,
    page::{Page, Paint},
};

/// No line is wider, however wide the terminal is: these are sentences.
const WIDEST: usize = 100;

/// Columns for what a line is about.
const NAMES: usize = 12;

/// All engines, a few lines each.
pub fn engines<'e>(engines: impl IntoIterator<Item = &'e dyn Blobs>, style: &Style) -> String {
    let mut page = page(*style);
    for engine in engines {
        page.gap();
        title(&mut page, engine);
        unusable(&mut page, engine);
        line(&mut page, "version", &version(engine.library().as_ref()));
        line(&mut page, "settings", &names(&engine.settings(Facet::Blobs)));
        for (class, how) in promises(engine) {
            line(&mut page, &class.to_string(), &how);
        }
        line(&mut page, "lacks", &lacks(engine));
    }
    page.into_text()
}

/// One engine, with all that is known of it.
pub fn engine(engine: &dyn Blobs, style: &Style) -> String {
    let mut page = page(*style);
    title(&mut page, engine);
    unusable(&mut page, engine);
    line(&mut page, "target", &target(engine));
    let library = engine.library();
    line(&mut page, "version", &version(library.as_ref()));
    let options = library.map_or_else(Vec::new, |library| library.options);
    line(&mut page, "built with", &options.join(" "));
    line(&mut page, "lacks", &lacks(engine));
    head(&mut page, "Settings");
    for Setting { name, accepts, help, .. } in engine.settings(Facet::Blobs) {
        line(&mut page, name, &format!("{help}; accepted: {accepts}"));
    }
    if engine.settings(Facet::Blobs).is_empty() {
        line(&mut page, "none", " ");
    }
    head(&mut page, "Durability");
    for (class, how) in promises(engine) {
        line(&mut page, &class.to_string(), &how);
        let settings =
            engine.durability_settings(class).map_or(&[][..], |promise| promise.settings);
        let settings: Vec<_> =
            settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !settings.is_empty() {
            line(&mut page, "", &format!("by {}", settings.join(" ")));
        }
    }
    page.into_text()
}

pub(super) fn page(style: Style) -> Page {
    Page::new(usize::from(style.width).clamp(NARROWEST, WIDEST), style.color)
}

pub(super) fn head(page: &mut Page, text: &str) {
    page.gap();
    page.paragraph("", text, Paint::Bold);
}

pub(super) fn title(page: &mut Page, engine: &dyn Blobs) {
    page.paragraph("", &format!("{}: {}", engine.name(), engine.about()), Paint::Bold);
}

pub(super) fn unusable(page: &mut Page, engine: &dyn Blobs) {
    if let Err(why) = engine.usable() {
        page.paragraph(&lead("not here"), &why.to_string(), Paint::Red);
    }
}

pub(super) fn line(page: &mut Page, name: &str, text: &str) {
    if !text.is_empty() {
        page.paragraph(&lead(name), text, Paint::Plain);
    }
}

fn lead(name: &str) -> String {
    format!("  {name:<NAMES$}  ")
}

fn version(library: Option<&Library>) -> String {
    library.map_or_else(String::new, |library| format!("{} {}", library.name, library.version))
}

fn names(settings: &[&Setting]) -> String {
    settings.iter().map(|setting| setting.name).collect::<Vec<_>>().join(" ")
}

/// How a target of this engine is written.
pub(super) fn target(engine: &dyn Blobs) -> String {
    let (name, can) = (engine.name(), engine.capabilities());
    match (can.remote, can.persistent) {
        (true, _) => format!("{name}://user@host:port/database"),
        (false, true) => format!("{name}:PATH, or {name}: for a scratch store"),
        (false, false) => format!("{name}:"),
    }
}

fn promises(engine: &dyn Blobs) -> Vec<(Durability, String)> {
    let promise = |class| Some((class, engine.durability_settings(class)?.how.to_owned()));
    Durability::ALL.into_iter().filter_map(promise).collect()
}

/// What it cannot do, in its own words and by its capabilities.
fn lacks(engine: &dyn Blobs) -> String {
    let can = engine.capabilities();
    let classes =
        Durability::ALL.into_iter().filter(|class| engine.durability_settings(*class).is_none());
    let mut lacks: Vec<_> = classes.map(|class| format!("durability {class}")).collect();
    let missing = [
        (can.persistent || can.remote, "a store that outlives the run"),
        (can.meta || !can.retains, "modes and times of files"),
        (can.concurrent_writes, "several writers at once"),
        (can.processes, "several processes at once"),
    ];
    lacks.extend(missing.iter().filter(|(has, _)| !has).map(|(_, what)| (*what).to_owned()));
    lacks.extend(engine.limitations().iter().map(|what| (*what).to_owned()));
    lacks.join("; ")
}
