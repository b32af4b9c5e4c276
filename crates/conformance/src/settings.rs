//! Settings and durability classes are in effect.

use model::{Accepts, Access, Durability, ErrorKind, Facet, LIBRARY, Setting, Settings, Store};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, holds, same},
};

pub(crate) fn settings_asked_for_are_in_effect_and_all_are_reported(case: &Case) -> Checked {
    let place = case.new_folder()?;
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
        let reported = effect.get(name);
        let is_reported = may_be_absent || reported.is_some();
        holds(is_reported, format_args!("the setting {name} is not reported as in effect"))?;
        let size = reported.filter(|_| matches!(accepts, Accepts::Size(..))).unwrap_or("0");
        let is_size = size.parse::<u64>().is_ok();
        holds(
            is_size,
            format_args!("the setting {name} in effect is {size:?}, no number of bytes"),
        )?;
    }
    Ok(())
}

/// Checks sizes, which have no words to try: twice of what is in effect is a size that the library can have.
pub(crate) fn a_size_of_twice_the_default_is_in_effect(case: &Case) -> Checked {
    // Once for an engine. The sizes of a server are those of all its stores.
    if case.settings != case.base || case.is_server() {
        return Ok(());
    }
    let place = case.new_folder()?;
    let store = case.create(&place.path)?;
    let (effect, _) = store.in_effect()?;
    store.close()?;
    for setting in case.engine.settings(Facet::Blobs) {
        let twice = twice_the_size(setting, &effect);
        let Some(twice) = twice.filter(|_| case.base.get(setting.name).is_none()) else { continue };
        let mut settings = case.settings.clone();
        settings.set(setting.name, twice);
        let doubled = Case { settings, base: case.base.clone(), ..*case };
        stores_values(&doubled)
            .map_err(|fault| fault.within(format_args!("with {}={twice}", setting.name)))?;
    }
    Ok(())
}

/// Returns twice the size that is in effect; `None` if the setting is no size, has none, or accepts no larger one.
fn twice_the_size(setting: &Setting, effect: &Settings) -> Option<u64> {
    let (Accepts::Size(_, most) | Accepts::Multiple(_, _, most) | Accepts::PowerOfTwo(_, most)) =
        setting.accepts
    else {
        return None;
    };
    let twice = effect.parse::<u64>(setting.name)?.checked_mul(2)?;
    (1..=most).contains(&twice).then_some(twice)
}

/// Checks that a store has its settings and its values, also when it is opened again.
fn stores_values(case: &Case) -> Checked {
    const COUNT: i64 = 20;
    let place = case.new_folder()?;
    let store = match case.create(&place.path) {
        // The size does not go together with these keys, or with other settings.
        Err(error) if error.kind() == ErrorKind::Usage => return Ok(()),
        created => created?,
    };
    let holds_all = |store: &dyn Store| -> Checked {
        are_in_effect(case, store)?;
        let mut session = store.session()?;
        (1..=COUNT).try_for_each(|n| {
            same(format_args!("value {n}"), session.value(&case.key(n))?, Some(bytes(n, 100)))
        })
    };
    case.fill(&mut *store.session()?, COUNT)?;
    holds_all(&*store)?;
    store.close()?;
    if case.is_persistent() {
        let store = case.open(&place.path, Access::Write)?;
        holds_all(&*store)?;
        store.close()?;
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
        let place = case.new_folder()?;
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
