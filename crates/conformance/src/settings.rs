//! Settings and durability classes are in effect.

use model::{Accepts, Access, Durability, Facet, LIBRARY, Setting, Settings, Store};

use crate::{
    case::Case,
    fault::{Checked, holds, same},
};

pub(crate) fn settings_asked_for_are_in_effect_and_all_are_reported(case: &Case) -> Checked {
    let place = case.place()?;
    let store = case.filled(&place.path, 3)?;
    are_in_effect(case, &*store)?;
    store.close()?;
    if case.is_persistent() {
        are_in_effect(case, &*case.open(&place.path, Access::Write)?)?;
    }
    Ok(())
}

/// Checks the settings that an open store reports.
fn are_in_effect(case: &Case, store: &dyn Store) -> Checked {
    let (effect, _) = store.in_effect()?;
    for (name, value) in &case.settings.0 {
        let found = effect.get(name).unwrap_or("not reported").to_owned();
        same(format_args!("the setting {name} in effect"), found, value.clone())?;
    }
    for Setting { name, accepts, facets, .. } in case.engine.settings(Facet::Blobs) {
        // A text for values alone names those of another program, which values where storemark has them
        // do not need. One that ends in a star has no name of its own; without `lib` no library is loaded.
        let names_values = matches!(accepts, Accepts::Text) && *facets == [Facet::Blobs];
        let may_be_absent = name.ends_with('*') || *name == LIBRARY || names_values;
        let is_reported = may_be_absent || effect.get(name).is_some();
        holds(is_reported, format_args!("the setting {name} is not reported as in effect"))?;
    }
    Ok(())
}

pub(crate) fn each_durability_class_that_is_offered_is_in_effect(case: &Case) -> Checked {
    // Once for an engine, whose other settings may give less. A server that is there gives the class that it
    // gives.
    if case.settings != case.base || case.engine.capabilities().remote {
        return Ok(());
    }
    for class in Durability::ALL {
        let Ok(settings) = case.engine.class_settings(Facet::Blobs, class) else { continue };
        let settings = case.base.clone().overlaid(&settings);
        let of_class = Case { settings, base: case.base.clone(), ..*case };
        let place = case.place()?;
        let store = of_class.create(&place.path)?;
        is_in_effect(&*store, class)?;
        of_class.fill(&mut *store.session()?, 2)?;
        store.close()?;
        if of_class.is_persistent() {
            is_in_effect(&*of_class.open(&place.path, Access::Write)?, class)?;
        }
    }
    Ok(())
}

fn is_in_effect(store: &dyn Store, class: Durability) -> Checked {
    let (settings, found): (Settings, _) = store.in_effect()?;
    let what = format_args!("the durability of a store of class {class} ({settings} in effect)");
    same(what, found.to_string(), class.to_string())
}
