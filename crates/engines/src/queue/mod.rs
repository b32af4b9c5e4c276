//! Engines of `storemark queue`, and their only list.

#[cfg(feature = "sqlite")]
mod sqlite;
mod values;

use model::{Error, Result, nearest, tasks::Tasks};

static ENGINES: &[&dyn Tasks] = &[
    &values::FILES,
    #[cfg(feature = "sqlite")]
    &sqlite::SqliteQueue,
];

/// All queue engines of this build.
pub fn all() -> &'static [&'static dyn Tasks] {
    ENGINES
}

/// The queue engine called `name`.
pub fn find(name: &str) -> Result<&'static dyn Tasks> {
    all().iter().find(|engine| engine.name() == name).copied().ok_or_else(|| {
        let names: Vec<_> = all().iter().map(|engine| engine.name()).collect();
        let hint = nearest(name, names.iter().copied())
            .map_or_else(String::new, |near| format!(": did you mean {near}?"));
        Error::usage(format!("no engine of queues {name:?}{hint} (accepted: {})", names.join(", ")))
    })
}
