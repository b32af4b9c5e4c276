//! What parses input that others wrote: none may panic, whatever the bytes. Also the target of
//! libFuzzer (`fuzz/`).

use std::{fs, ops::ControlFlow, path::Path};

use engines::registry;
use model::{
    Access, Engine, Facet, KeyKind, OpenOptions, Scan, Settings, TypedTarget, without_password,
};
use spec::PlanFile;

/// A name, and what parses bytes; the path is that of a file that it may write.
pub(crate) type Parser = (&'static str, fn(&[u8], &Path));

pub(crate) const ALL: [Parser; 4] =
    [("target", target), ("plan", plan), ("record", record), ("archive", archive)];

fn target(bytes: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let target = TypedTarget::parse(text);
    let again = TypedTarget::parse(target.to_string());
    assert_eq!(target, again, "{text:?} is another target once it is printed");
    without_password(text);
    let Some(name) = target.engine.as_deref().filter(|_| target.check().is_ok()) else { return };
    let engines = [
        (Facet::Blobs, registry::blobs(name).map(|engine| engine as &dyn Engine)),
        (Facet::Blobs, registry::remote(name).map(|engine| engine as &dyn Engine)),
        (Facet::Rows, registry::rows(name).map(|engine| engine as &dyn Engine)),
        (Facet::Tasks, registry::tasks(name).map(|engine| engine as &dyn Engine)),
    ];
    for (facet, engine) in engines {
        let Ok(engine) = engine else { continue };
        let asked = target.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let _ = Settings::check(engine.settings(facet), asked);
    }
}

fn plan(bytes: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for command in ["run", "rows", "queue", "age", "life"] {
        let Ok(plan) = PlanFile::parse(command, "plan.toml", text, &|_, _| None) else { continue };
        if let Err(error) = plan.spec.check() {
            plan.blame(error, &plan.spec);
            continue;
        }
        let text = plan.spec.to_plan().expect("a plan that was read can be written");
        let again =
            PlanFile::parse(command, "plan.toml", &text, &|_, _| None).expect("and be read again");
        assert_eq!(again.spec.to_plan().ok(), Some(text));
    }
}

fn record(bytes: &[u8], _: &Path) {
    let Ok((records, _)) = report::read(bytes) else { return };
    // Their figures must not fail either.
    let _ = report::html(&[report::Machine { file: None, records: &records }]);
}

/// Packs, archives of tar and zip, and SQLite's archives and databases of integers.
fn archive(bytes: &[u8], file: &Path) {
    fs::write(file, bytes).expect("the folder of the test is writable");
    let Some(engine) = registry::recognise(file) else { return };
    let settings = Settings::default();
    let options = OpenOptions { settings, access: Access::Read, keys: KeyKind::Integers };
    let Ok(store) = engine.open(file, &options) else { return };
    if let Ok(mut session) = store.session() {
        let all = Scan { limit: 10_000, ..Scan::ALL };
        let _ = session.scan(all, &mut |item| {
            assert_eq!(item.value.len() as u64, item.length);
            Ok(ControlFlow::Continue(()))
        });
    }
    let _ = store.integrity();
    let _ = store.close();
}
