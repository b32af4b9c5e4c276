//! A dataset sent to another process: its entries in their order, 16 bytes each, then the names.

use std::io::{self, ErrorKind, Read, Write};

use model::KeyKind;
use serde::{Deserialize, Serialize};

use super::{Dataset, Entry};

/// What precedes the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Luggage {
    keys: KeyKind,
    entries: u64,
    name_bytes: u64,
}

impl Dataset {
    /// What [`Self::send`] will write.
    pub(crate) fn luggage(&self) -> Luggage {
        let (entries, name_bytes) = (self.entries.len() as u64, self.names.len() as u64);
        Luggage { keys: self.keys, entries, name_bytes }
    }

    /// Writes all that a pass needs of it.
    pub(crate) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        for Entry { id, size, check } in &self.entries {
            to.write_all(&id.to_le_bytes())?;
            to.write_all(&size.to_le_bytes())?;
            to.write_all(&check.to_le_bytes())?;
        }
        to.write_all(&self.names)
    }

    /// Reads what [`Self::send`] wrote.
    pub(crate) fn receive(luggage: Luggage, from: &mut impl Read) -> io::Result<Self> {
        let mut dataset = Self::new(luggage.keys);
        for _ in 0..luggage.entries {
            dataset.entries.push(Entry {
                id: i64::from_le_bytes(next(from)?),
                size: u32::from_le_bytes(next(from)?),
                check: u32::from_le_bytes(next(from)?),
            });
        }
        let read = from.take(luggage.name_bytes).read_to_end(&mut dataset.names)?;
        let whole = read as u64 == luggage.name_bytes && dataset.has_all_names();
        if whole { Ok(dataset) } else { Err(ErrorKind::InvalidData.into()) }
    }

    /// Whether every entry of a dataset of names has one.
    fn has_all_names(&self) -> bool {
        let name = |entry: &Entry| {
            let rest = self.names.get(usize::try_from(entry.id).ok()?..)?;
            let (length, name) = rest.split_first_chunk()?;
            name.get(..usize::from(u16::from_le_bytes(*length)))
        };
        self.keys == KeyKind::Integers || self.entries.iter().all(|entry| name(entry).is_some())
    }
}

fn next<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use model::{Key, Order};

    use super::*;

    fn sent(dataset: &Dataset) -> Vec<u8> {
        let mut bytes = Vec::new();
        dataset.send(&mut bytes).unwrap();
        bytes
    }

    fn named() -> Dataset {
        let mut dataset = Dataset::new(KeyKind::Names);
        for name in ["a", "b/c", ""] {
            dataset.push(Key::Name(name.as_bytes()), name.as_bytes()).unwrap();
        }
        dataset
    }

    #[test]
    fn it_arrives_in_its_order() {
        let mut integers = Dataset::new(KeyKind::Integers);
        for key in -50..50_i64 {
            integers.push(Key::Int(key), &key.to_le_bytes()).unwrap();
        }
        for mut dataset in [named(), integers] {
            dataset.arrange(Order::Permutation, None, 7);
            let arrived = Dataset::receive(dataset.luggage(), &mut &*sent(&dataset)).unwrap();
            assert_eq!(arrived.entries(), dataset.entries());
            let keys = |d: &Dataset| -> Vec<_> {
                d.entries().iter().map(|entry| d.key(entry).to_string()).collect()
            };
            assert_eq!(keys(&arrived), keys(&dataset));
        }
    }

    #[test]
    fn damage_is_refused_or_harmless() {
        let dataset = named();
        for bytes in host::mutilations(&sent(&dataset)) {
            if let Ok(arrived) = Dataset::receive(dataset.luggage(), &mut &*bytes) {
                arrived.entries().iter().for_each(|entry| drop(arrived.key(entry).to_string()));
            }
        }
        let endless = Luggage { entries: u64::MAX, ..dataset.luggage() };
        assert!(Dataset::receive(endless, &mut &*sent(&dataset)).is_err());
    }
}
