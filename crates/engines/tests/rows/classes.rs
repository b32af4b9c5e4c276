//! Each durability class that an engine promises is the one in effect.

use model::{Durability, Facet, Settings};

use crate::case::{Case, cases};

#[test]
fn a_class_promised_is_kept() {
    for case in cases() {
        let in_memory = case.settings.get("store") == Some("memory");
        let flushes = case.settings.get("engine").is_none_or(|kind| kind == "innodb");
        for class in Durability::ALL {
            let Some(promise) = case.engine.durability_settings(class) else {
                continue;
            };
            let pairs = promise.settings.iter().copied();
            let settings = Settings::check(case.engine.settings(Facet::Rows), pairs).unwrap();
            let case = Case { settings: case.settings.clone().overlaid(&settings), ..case };
            // What is in memory only, or never flushed, promises nothing, and says so.
            let expected = if in_memory || !flushes { Durability::None } else { class };
            case.with_own(1, |_, tables| {
                assert_eq!(tables.durability()?, expected, "{}", case.name());
                Ok(())
            });
        }
    }
}
