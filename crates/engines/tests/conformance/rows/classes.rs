//! Each durability class that an engine offers is the one in effect.

use model::{Durability, Facet};

use super::case::{Case, cases};

#[test]
fn a_class_offered_is_kept() {
    for case in cases() {
        let in_memory = case.settings.get("store") == Some("memory");
        let flushes = case.settings.get("engine").is_none_or(|kind| kind == "innodb");
        for class in Durability::ALL {
            let Ok(settings) = case.engine.class_settings(Facet::Rows, class) else { continue };
            let case = Case { settings: case.settings.clone().overlaid(&settings), ..case };
            // What is in memory only, or never flushed, keeps no class, and says so.
            let expected = if in_memory || !flushes { Durability::None } else { class };
            case.with_own(1, |_, tables| {
                assert_eq!(tables.in_effect()?.1, expected, "{}", case.name());
                Ok(())
            });
        }
    }
}
