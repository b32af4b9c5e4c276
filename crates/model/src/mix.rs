//! Mixes of operations: which share of a pass does what.

use std::{collections::BTreeMap, fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Order, order::THETA, words::words};

/// The operation that a trial does with each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Read the value into the caller's buffer.
    Read,
    /// Replace the value by new random bytes, of the same length unless the stores age.
    Update,
    /// Do several of these, each operation drawn by chance.
    Mix(Mix),
    /// Write a value under a key that does not exist yet.
    Insert,
}

impl Operation {
    /// Returns whether the operation changes the store.
    pub fn writes(self) -> bool {
        match self {
            Self::Read => false,
            Self::Mix(mix) => mix.writes(),
            _ => true,
        }
    }

    /// Returns whether the operation changes values that exist.
    pub fn updates(self) -> bool {
        matches!(self, Self::Update | Self::Mix(_)) && self.writes()
    }

    /// Returns all actions of the operation: those of a mix, or its only one.
    pub fn actions(self) -> impl Iterator<Item = Action> {
        let mix = if let Self::Mix(mix) = self { Some(mix) } else { None };
        let alone = mix.is_none().then(|| self.action());
        mix.into_iter().flat_map(Mix::actions).chain(alone)
    }

    /// Returns the action of an operation that is no mix. For a mix it is update if the mix writes,
    /// else read.
    pub fn action(self) -> Action {
        match self {
            Self::Insert => Action::Insert,
            other if other.writes() => Action::Update,
            _ => Action::Read,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Mix(_) => "mix",
            Self::Insert => "insert",
        })
    }
}

words! {
    /// The action of a single operation of a pass.
    #[repr(u8)]
    pub enum Action as "operation" {
        /// Reads a value into the caller's buffer.
        Read = "read",
        /// Replaces a value by new random bytes of the same length.
        Update = "update",
        /// Adds a key that was not there.
        Insert = "insert",
        /// Removes a key.
        Delete = "delete",
        /// Reads a number of values in key order, starting at the key.
        Scan = "scan",
        /// Reads a value, then replaces it.
        Modify = "rmw",
        /// Asks for the length of a value.
        Stat = "stat",
    }
}

impl Action {
    /// Returns whether the action changes the store.
    #[inline]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::Scan | Self::Stat)
    }
}

/// The number of items in the longest scan; lengths are uniform from 1 on, as in YCSB's workload E.
pub const LONGEST_SCAN: u8 = 100;

/// A mix of actions with a share in percent each; the shares add up to 100. Each operation is drawn
/// by these chances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "BTreeMap<Action, u8>", into = "BTreeMap<Action, u8>")]
pub struct Mix([u8; Action::ALL.len()]);

impl From<BTreeMap<Action, u8>> for Mix {
    fn from(shares: BTreeMap<Action, u8>) -> Self {
        Self::new(shares)
    }
}

impl From<Mix> for BTreeMap<Action, u8> {
    fn from(mix: Mix) -> Self {
        mix.actions().map(|action| (action, mix.share(action))).collect()
    }
}

impl Mix {
    /// Creates a mix from actions with their shares in percent.
    pub fn new(shares: impl IntoIterator<Item = (Action, u8)>) -> Self {
        let mut mix = Self::default();
        shares.into_iter().for_each(|(action, share)| mix.0[action as usize] = share);
        mix
    }

    /// Returns the share of an action, in percent.
    pub fn share(&self, action: Action) -> u8 {
        self.0[action as usize]
    }

    /// Returns the actions with a share above 0.
    pub fn actions(self) -> impl Iterator<Item = Action> {
        Action::ALL.into_iter().filter(move |action| self.share(*action) > 0)
    }

    /// Returns whether the mix changes the store.
    pub fn writes(self) -> bool {
        self.actions().any(Action::writes)
    }

    /// Returns whether the mix inserts or deletes keys.
    pub fn changes_keys(self) -> bool {
        self.actions().any(|action| matches!(action, Action::Insert | Action::Delete))
    }
}

/// Shows a mix as `95 % read, 5 % update`.
impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, action) in self.actions().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{} % {action}", self.share(action))?;
        }
        Ok(())
    }
}

/// Reads a mix such as `read=95,update=5`.
impl FromStr for Mix {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut shares = BTreeMap::new();
        for part in text.split(',') {
            let (word, share) = part.split_once('=').ok_or_else(|| malformed(part))?;
            let action: Action = word.trim().parse()?;
            let share = share.trim().parse().ok().filter(|share| *share <= 100);
            let share = share.ok_or_else(|| {
                Error::usage("a share is a whole number of percent, 0 to 100").at(part)
            })?;
            if shares.insert(action, share).is_some() {
                return Err(Error::usage(format!("{word} is in it twice")));
            }
        }
        let sum: u32 = shares.values().map(|share| u32::from(*share)).sum();
        if sum == 100 {
            return Ok(shares.into());
        }
        Err(Error::usage(format!("adds up to {sum}, not to 100")).at(text))
    }
}

fn malformed(part: &str) -> Error {
    Error::usage(format!("{part:?}: accepted is operation=percent, as in read=95,update=5"))
}

/// A core workload of the Yahoo! Cloud Serving Benchmark: Cooper et al., "Benchmarking Cloud
/// Serving Systems with YCSB", 2010, table 2; F was added with YCSB 0.1.4 (`workloads/workloadf`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ycsb(char);

impl Ycsb {
    /// The bytes of a record: 10 fields of 100 bytes, which are one value here.
    pub const RECORD: u64 = 1000;

    const ALL: [Self; 6] = [Self('a'), Self('b'), Self('c'), Self('d'), Self('e'), Self('f')];

    /// Returns the mix of the workload.
    pub fn mix(self) -> Mix {
        match self.0 {
            'a' => Mix::new([(Action::Read, 50), (Action::Update, 50)]),
            'b' => Mix::new([(Action::Read, 95), (Action::Update, 5)]),
            'c' => Mix::new([(Action::Read, 100)]),
            'd' => Mix::new([(Action::Read, 95), (Action::Insert, 5)]),
            'e' => Mix::new([(Action::Scan, 95), (Action::Insert, 5)]),
            _ => Mix::new([(Action::Read, 50), (Action::Modify, 50)]),
        }
    }

    /// Returns the order in which the workload touches keys.
    pub fn order(self) -> Order {
        match self.0 {
            'd' => Order::Latest { theta: THETA },
            _ => Order::Zipfian { theta: THETA },
        }
    }

    /// Returns the core workload with this operation and order; `None` if there is none.
    pub fn find(operation: Operation, order: Order) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| Operation::Mix(one.mix()) == operation && one.order() == order)
    }
}

impl fmt::Display for Ycsb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "YCSB {}", self.0.to_ascii_uppercase())
    }
}

/// Reads the letter of a workload, in either case.
impl FromStr for Ycsb {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let letter = text.trim().to_ascii_lowercase();
        let known = Self::ALL.into_iter().find(|one| letter.chars().eq([one.0]));
        known.ok_or_else(|| Error::usage(format!("{text:?}: accepted is a, b, c, d, e, f")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_are_read_and_add_up() {
        let read = |text: &str| text.parse::<Mix>();
        let mix = read("read=95, update=5").unwrap();
        assert_eq!((mix.share(Action::Read), mix.share(Action::Update)), (95, 5));
        assert!(mix.writes() && !mix.changes_keys());
        assert_eq!(mix.to_string(), "95 % read, 5 % update");
        assert!(!read("read=60,scan=40,insert=0").unwrap().writes());
        assert!(read("rmw=100").unwrap().writes());
        let say = |text: &str| read(text).unwrap_err().to_string();
        assert!(say("read=95").contains("adds up to 95, not to 100"));
        assert!(say("read=95,update=95").contains("adds up to 190"));
        assert!(say("read=50,updte=50").contains("did you mean update?"));
        assert!(say("read=50,read=50").contains("twice"));
        assert!(say("read=0,read=100").contains("twice"));
        for text in ["read=101", "read=-1", "read=x", "read=1.5"] {
            assert!(say(text).contains("0 to 100"), "{text}");
        }
        for text in ["", "read", "read=50,,update=50", "read=100,"] {
            assert!(say(text).contains("operation=percent"), "{text}");
        }
    }

    #[test]
    fn presets_are_known_by_what_they_do() {
        for letter in ["a", "B", " c", "d", "e", "f"] {
            let one: Ycsb = letter.parse().unwrap();
            assert_eq!(Ycsb::find(Operation::Mix(one.mix()), one.order()), Some(one));
            assert_eq!(Action::ALL.iter().map(|a| one.mix().share(*a)).sum::<u8>(), 100);
        }
        let a: Ycsb = "a".parse().unwrap();
        assert_eq!(Ycsb::find(Operation::Mix(a.mix()), Order::Random), None);
        for text in ["", "g", "ab", "ä"] {
            assert!(text.parse::<Ycsb>().is_err(), "{text}");
        }
    }
}
