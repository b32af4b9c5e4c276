//! Looks at every key of the source before anything is written: how much there is, and whether the
//! destination can hold it.

use std::ops::ControlFlow;

use model::{Error, Item, Key, Result, Scan, Store, ValueType};

use super::{Amount, value_room::ValueRoom};
use crate::Stop;

/// Counts what `source` has, which is called `from`; `in_parts` if long values are copied in parts. Fails with
/// the first key that `to` cannot hold.
pub(super) fn survey(
    (source, from): (&dyn Store, &str),
    to: &dyn Store,
    (can, in_parts): (model::Capabilities, bool),
    stop: &Stop,
) -> Result<Amount> {
    let (mut amount, mut paths) = (Amount::default(), Paths::default());
    let memory = ValueRoom::measure();
    source.session()?.scan(Scan::LENGTHS, &mut |item| {
        stop.check()?;
        if !can.types {
            check_type(&item).map_err(|error| error.at(from))?;
        }
        to.check_item(item.key, item.length)?;
        if !in_parts {
            memory.check(&item).map_err(|error| error.at(from))?;
        }
        if can.paths {
            paths.add(item.key)?;
        }
        amount.add(&item);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(amount)
}

fn check_type(item: &Item<'_>) -> Result<()> {
    if item.value_type == ValueType::Bytes {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the value of {} is {}; only sqlite: keeps types, other engines keep bytes",
        item.key, item.value_type
    )))
}

/// A sequence of names in order, none of which may be a folder of another: `a` and `a/b`.
#[derive(Default)]
struct Paths {
    /// The names with which the last name starts, and the last name itself.
    starts: Vec<Vec<u8>>,
}

impl Paths {
    fn add(&mut self, key: Key<'_>) -> Result<()> {
        let Key::Name(name) = key else { return Ok(()) };
        self.starts.retain(|start| name.starts_with(start));
        let file = self.starts.iter().find(|start| name.get(start.len()) == Some(&b'/'));
        if let Some(file) = file {
            return Err(Error::unsupported(format!(
                "{} would be a file, and a folder for {key}",
                Key::Name(file)
            )));
        }
        self.starts.push(name.to_vec());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fits(names: &[&[u8]]) -> bool {
        let mut paths = Paths::default();
        names.iter().all(|name| paths.add(Key::Name(name)).is_ok())
    }

    #[test]
    fn a_name_is_no_folder() {
        assert!(fits(&[b"a", b"a-b", b"ab/c", b"b"]));
        assert!(!fits(&[b"a", b"a-b", b"a/b"]));
        assert!(!fits(&[b"a", b"a/b/c"]));
        assert!(!fits(&[b"a/b", b"a/b/c"]));
    }

    proptest! {
        #[test]
        fn it_is_found_among_any_names(names in proptest::collection::btree_set("[a-c/!]{1,6}", 0..12)) {
            let names: Vec<_> = names.iter().map(String::as_bytes).collect();
            let is_folder = |name: &&[u8]| {
                let folder = [name, &b"/"[..]].concat();
                names.iter().any(|other| other.starts_with(&folder))
            };
            prop_assert_eq!(fits(&names), !names.iter().any(is_folder));
        }
    }
}
