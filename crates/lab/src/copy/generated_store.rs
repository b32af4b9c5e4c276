//! A generated dataset in the shape of a store, so that it can be copied like any other.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use model::{
    Blobs, Capabilities, Declaration, Engine, Error, Generated, Item, Key, KeyKind, OpenOptions,
    Put, Result, Scan, Session, Settings, Store, Visitor,
};

use super::Place;
use crate::dataset::Generator;

/// The place of a generated dataset, which can only be read: no path, and the data as settings.
pub fn generated(spec: Generated) -> Result<Place> {
    // Refuses impossible sizes before anything is read.
    Generator::new(spec)?;
    let mut settings = Settings::default();
    let Generated { seed, count, size, variance, random_percent } = spec;
    let pairs = [
        ("seed", seed),
        ("count", count),
        ("size", size),
        ("variance", variance),
        ("random", random_percent.into()),
    ];
    for (name, value) in pairs {
        settings.set(name, value);
    }
    Ok(Place { engine: &GeneratedEngine, path: PathBuf::new(), settings })
}

/// An engine whose stores exist only as a seed.
struct GeneratedEngine;

static DECLARATION: Declaration = Declaration {
    capabilities: Capabilities { meta: false, concurrent_writes: false, ..Capabilities::IN_MEMORY },
    ..Declaration::new("generated", "values generated from a seed, only to be read")
};

impl Engine for GeneratedEngine {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for GeneratedEngine {
    fn create(&self, _: &Path, _: &OpenOptions) -> Result<Box<dyn Store>> {
        Err(only_read())
    }

    fn open(&self, _: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let number = |name| {
            options.settings.parse(name).ok_or_else(|| Error::usage(format!("no {name} was given")))
        };
        let spec = Generated {
            seed: number("seed")?,
            count: number("count")?,
            size: number("size")?,
            variance: number("variance")?,
            random_percent: u8::try_from(number("random")?).unwrap_or(100),
        };
        Ok(Box::new(GeneratedStore(Generator::new(spec)?)))
    }
}

fn only_read() -> Error {
    Error::unsupported("a dataset generated from a seed can only be read")
}

struct GeneratedStore(Generator);

impl Store for GeneratedStore {
    fn keys(&self) -> KeyKind {
        KeyKind::Integers
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(GeneratedSession(&self.0)))
    }
}

struct GeneratedSession<'a>(&'a Generator);

impl GeneratedSession<'_> {
    fn keys(&self) -> RangeInclusive<i64> {
        // The generator bounds count × size by 2^63, so that a count fits wherever sizes do.
        1..=i64::try_from(self.0.count()).unwrap_or(i64::MAX)
    }
}

impl Session for GeneratedSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let Key::Int(key) = key else { return Ok(None) };
        if !self.keys().contains(&key) {
            return Ok(None);
        }
        let mut value = Vec::new();
        self.0.value(key.unsigned_abs(), &mut value);
        if let Some(room) = into.get_mut(..value.len()) {
            room.copy_from_slice(&value);
        }
        Ok(Some(value.len()))
    }

    fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
        Err(only_read())
    }

    fn delete(&mut self, _: Key<'_>) -> Result<bool> {
        Err(only_read())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let least = Key::least(KeyKind::Integers);
        let Key::Int(from) = scan.from.unwrap_or(least) else { return Ok(()) };
        let mut value = Vec::new();
        let keys = from.max(*self.keys().start())..=*self.keys().end();
        for (key, _) in keys.zip(0..scan.limit) {
            if scan.values {
                self.0.value(key.unsigned_abs(), &mut value);
            }
            let length = self.0.length(key.unsigned_abs());
            let item = Item { key: Key::Int(key), value: &value, length, meta: None };
            if visit(item)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
