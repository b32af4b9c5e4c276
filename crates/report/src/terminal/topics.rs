//! Prints what holds for all engines: how targets are written, and what the durability classes
//! promise.

use model::{Blobs, Durability, Facet, Setting};

use super::{
    Style,
    engines::{head, line, page, target, title, unusable},
    page::{Page, Paint},
};

const FORMS: [(&str, &str); 6] = [
    ("PATH", "a store that is there: a folder of files, an SQLite database, a pack file, …"),
    ("ENGINE:PATH", "its engine named; needed for what is to be made"),
    ("ENGINE:", "a scratch store, filled by storemark and removed again"),
    (
        "…?NAME=VALUE&…",
        "settings, as in sqlite:thumbs.db?api=blob&mmap=1GiB; a list of values makes a run for each",
    ),
    ("mysql://…", "mysql://user@host:port/database: a server that is there; postgres://… likewise"),
    ("'…'", "shells take ? and & for themselves: a target with settings goes into quotes"),
];

/// How targets are written: their forms, then each engine with its settings.
pub fn targets<'e>(engines: impl IntoIterator<Item = &'e dyn Blobs>, style: &Style) -> String {
    let mut page = page(*style);
    page.paragraph("", "A target is a path, or an engine with a place and settings", Paint::Bold);
    for (form, what) in FORMS {
        page.paragraph(&format!("  {form:<14}  "), what, Paint::Plain);
    }
    for engine in engines {
        page.gap();
        title(&mut page, engine);
        unusable(&mut page, engine);
        line(&mut page, "target", &target(engine));
        for Setting { name, accepts, .. } in engine.settings(Facet::Blobs) {
            line(&mut page, name, &accepts.to_string());
        }
    }
    page.gap();
    page.paragraph("", "`storemark engines NAME` tells what each setting does.", Paint::Plain);
    page.into_text()
}

/// What each class promises, and the settings by which each engine keeps it.
pub fn durability<'e>(
    engines: impl IntoIterator<Item = &'e dyn Blobs> + Clone,
    style: &Style,
) -> String {
    let mut page = page(*style);
    page.paragraph("", "--durability sets every engine up for the same promise", Paint::Bold);
    for class in Durability::ALL {
        head(&mut page, &format!("{class}: {}", promised(class)));
        for engine in engines.clone() {
            kept(&mut page, engine, class);
        }
    }
    page.gap();
    page.paragraph(
        "",
        "`storemark engines NAME` tells which calls they make. No test cuts the power: whether the \
         drive keeps what it acknowledged is its maker's promise.",
        Paint::Plain,
    );
    page.into_text()
}

fn promised(class: Durability) -> &'static str {
    match class {
        Durability::None => "after a power cut values may be torn or gone",
        Durability::Consistent => {
            "after a power cut every value is whole; recent commits may be gone"
        }
        Durability::Durable => "an acknowledged commit survives a power cut",
    }
}

fn kept(page: &mut Page, engine: &dyn Blobs, class: Durability) {
    let by = match engine.durability_settings(class) {
        None => "cannot".to_owned(),
        Some(promise) if promise.settings.is_empty() => "as it is set".to_owned(),
        Some(promise) => {
            let settings = promise.settings.iter().map(|(name, value)| format!("{name}={value}"));
            settings.collect::<Vec<_>>().join(" ")
        }
    };
    line(page, engine.name(), &by);
}
