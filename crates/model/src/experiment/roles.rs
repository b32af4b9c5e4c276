//! `storemark run --roles`: sessions with different work use a store at the same time.

use std::{fmt, str::FromStr, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Action, DatasetSpec, DatasetSummary, Error, Maintenance, Meanwhile, Mix, Order, Passes, Result,
    no_such,
    units::{
        duration_of, parse_duration, parse_rate, parse_size, parse_up_to, show_count,
        show_duration, show_rate,
    },
};

/// The values of a run with roles, and the roles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RolesData {
    /// The source of the values.
    pub dataset: DatasetSpec,
    /// The values in figures.
    pub summary: DatasetSummary,
    /// The roles.
    pub roles: Vec<Role>,
    /// The law by which sessions draw keys; absent: each key is as likely as any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Order>,
    /// The length of a pass.
    pub pass_ns: u64,
    /// The maintenance during further passes of all roles, each in one of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meanwhile: Vec<Meanwhile>,
    /// Whether each session is in a process of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub processes: bool,
}

impl RolesData {
    /// Returns the work of each pass of a round: each role alone; then, if there are several, each
    /// next to all others; then each next to all others and to each maintenance.
    pub fn work(&self) -> impl Iterator<Item = RoleWork> {
        let work = |together, meanwhile| {
            let all = self.roles.iter().enumerate();
            let writes = |of: &Role| of.mix.writes();
            all.map(move |(role, of)| RoleWork { role, together, meanwhile, writes: writes(of) })
        };
        let several = self.roles.len() > 1;
        let maintained = self.meanwhile.iter();
        let maintained = maintained.flat_map(move |of| work(several, Some(of.what)));
        work(false, None).chain(work(true, None).filter(move |_| several)).chain(maintained)
    }

    /// Returns the index of the workload that is this work.
    pub fn workload(&self, work: RoleWork) -> Option<usize> {
        self.work().position(|other| other == work)
    }

    /// Returns the name of the work: `readers`, `readers together`.
    pub fn work_name(&self, work: RoleWork) -> String {
        let name = self.roles.get(work.role).map_or("unknown role", |role| &role.name);
        match (work.together, work.meanwhile) {
            (false, None) => name.to_owned(),
            (true, None) => format!("{name} together"),
            (_, Some(what)) => format!("{name} during {what}"),
        }
    }
}

/// The work of the sessions of a role in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RoleWork {
    /// The index of the role.
    pub role: usize,
    /// Whether the other roles work at the same time.
    pub together: bool,
    /// The maintenance that runs at the same time; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanwhile: Option<Maintenance>,
    /// Whether the role changes the store.
    pub writes: bool,
}

/// A role: sessions that do the same work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// The name.
    pub name: String,
    /// The number of sessions.
    pub sessions: u32,
    /// The operations with their shares.
    pub mix: Mix,
    /// Operations a second that all sessions of the role together start on schedule; `None` if each
    /// operation starts when the one before it has finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Operations of a transaction.
    pub batch: u64,
    /// How long a transaction stays open, whatever the number of its operations; `None` if the
    /// number decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_ns: Option<u64>,
    /// Whether a transaction that writes takes the lock of a writer only at its first write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
}

impl Role {
    /// Returns whether its sessions need a transaction around an operation.
    pub fn has_transactions(&self) -> bool {
        self.batch > 1 || self.held_ns.is_some() || self.deferred
    }
}

/// The figures of a role in a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RoleMeasured {
    /// The latencies, the course of the pass and how the schedule was kept.
    #[serde(flatten)]
    pub passes: Passes,
    /// The time of all sessions without operations that were refused or undone, and without waiting for a processor as
    /// far as that is known; on a schedule the sum of the latencies.
    pub worked_ns: u64,
    /// The time of all sessions in operations that were refused or undone, which `worked_ns` leaves out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused_ns: u64,
    /// The sizes of the store's files during the pass; empty if they were not measured, or another
    /// role of the pass has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub growth: Vec<Growth>,
    /// The maintenance during the pass; `None` if there was none, or another role of the pass has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<MaintenanceMeasured>,
}

/// The maintenance of a store during a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaintenanceMeasured {
    /// How long it took before the pass, while no session worked; `None` if it did not finish.
    pub alone_ns: Option<u64>,
    /// How long each one took that finished, the last of them perhaps after the pass.
    pub runs_ns: Vec<u64>,
    /// The number of those that finished within the pass.
    pub within: u64,
    /// The number of those that gave up at the end of the pass.
    pub unfinished: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// The sizes of a store's files at a moment of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// The time since the start of the pass.
    pub at_ns: u64,
    /// The bytes of all files on disk, the log included.
    pub bytes: u64,
    /// The bytes of the log; 0 if the engine has none.
    pub log_bytes: u64,
}

/// A list of roles, as in `readers=4,writers=1@1k/s`.
#[derive(Clone, Debug, PartialEq)]
pub struct Roles(pub Vec<Role>);

/// The largest number of roles, and of sessions of a role.
const MOST: u32 = 1024;
/// The longest time that a transaction is held open.
const LONGEST_HELD: Duration = Duration::from_secs(3600);
/// The form of a role, for messages.
const FORM: &str = "NAME=SESSIONS[:WORD…][@RATE], as in readers=4,writers=1:update:batch=10@1k/s";
/// The words of a role in addition to operations.
const WORDS: [&str; 4] = ["batch=N", "held=TIME", "immediate", "deferred"];

impl FromStr for Roles {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut roles: Vec<Role> = Vec::new();
        for part in text.split(',') {
            let role: Role = part.trim().parse()?;
            if roles.iter().any(|other| other.name == role.name) {
                return Err(Error::usage(format!("{} is given twice", role.name)));
            }
            if role.sessions > 0 {
                roles.push(role);
            }
        }
        if roles.is_empty() {
            return Err(Error::usage("no role has a session; accepted is 1 or more").at(text));
        }
        Ok(Self(roles))
    }
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let malformed = || Error::usage(format!("{text:?}: accepted is {FORM}"));
        let (text_without_rate, rate) = match text.split_once('@') {
            Some((before, rate)) => (before, Some(parse_rate(rate)?)),
            None => (text, None),
        };
        let (name, rest) = text_without_rate.split_once('=').ok_or_else(malformed)?;
        let mut words = rest.split(':');
        let sessions = words.next().unwrap_or_default().trim();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(malformed());
        }
        let sessions = if sessions == "0" {
            0
        } else {
            parse_up_to(sessions, MOST).map_err(|e| e.at(name))?
        };
        let mix = Mix::default();
        let mut role = Self {
            name: name.to_owned(),
            sessions,
            mix,
            rate,
            batch: 1,
            held_ns: None,
            deferred: false,
        };
        let mut shares = Vec::new();
        for word in words {
            role.read_word(word, &mut shares).map_err(|e| e.at(name))?;
        }
        role.mix = mix_of(name, &shares)?;
        Ok(role)
    }
}

impl Role {
    /// Reads a word behind the number of sessions; operations are added to `shares`.
    fn read_word(&mut self, word: &str, shares: &mut Vec<(Action, Option<u8>)>) -> Result<()> {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (word, None),
        };
        match (key, value) {
            ("batch", Some(value)) => {
                self.batch = parse_size(value)?;
                if self.batch == 0 {
                    return Err(Error::usage("batch=0: accepted is 1 or more"));
                }
            }
            ("held", Some(value)) => {
                let held = parse_duration(value)?;
                if held.is_zero() || held > LONGEST_HELD {
                    return Err(Error::usage(format!("held={value}: accepted is up to 1h")));
                }
                self.held_ns = u64::try_from(held.as_nanos()).ok();
            }
            ("immediate", None) => self.deferred = false,
            ("deferred", None) => self.deferred = true,
            _ => {
                let known = Action::ALL.into_iter().find(|action| action.as_str() == key);
                let action = known.ok_or_else(|| {
                    let all = Action::ALL.into_iter().map(Action::as_str).chain(WORDS);
                    Error::usage(no_such("word of a role", word, all))
                })?;
                let percent = |value: &str| {
                    let share = value.parse().ok().filter(|share| (1..=100).contains(share));
                    share.ok_or_else(|| {
                        Error::usage("a share is a whole number of percent, 1 to 100").at(word)
                    })
                };
                shares.push((action, value.map(percent).transpose()?));
            }
        }
        Ok(())
    }
}

/// Returns the mix of a role: what was asked for, or what its name says.
fn mix_of(name: &str, shares: &[(Action, Option<u8>)]) -> Result<Mix> {
    match shares {
        [] => {
            let by_name = match name {
                "reader" | "readers" => Action::Read,
                "writer" | "writers" => Action::Update,
                _ => {
                    return Err(Error::usage(format!(
                        "{name}: only readers and writers have an operation by default; name one, \
                         as in {name}=1:scan"
                    )));
                }
            };
            Ok(Mix::new([(by_name, 100)]))
        }
        [(action, None)] => Ok(Mix::new([(*action, 100)])),
        _ => {
            let share = |(action, share): &(Action, Option<u8>)| match share {
                Some(share) => Ok(format!("{action}={share}")),
                None => Err(Error::usage(format!(
                    "{name}: {action} has no share; several operations have one each, as in \
                     {name}=1:read=95:update=5"
                ))),
            };
            let text = shares.iter().map(share).collect::<Result<Vec<_>>>()?.join(",");
            text.parse::<Mix>().map_err(|e| e.at(name))
        }
    }
}

/// Shows a role: `4 readers (read)`, `1 writers (update, 10 a transaction, 1k/s)`.
impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut mix = self.mix.actions();
        let operations = match (mix.next(), mix.next()) {
            (Some(only), None) => only.to_string(),
            _ => self.mix.to_string(),
        };
        write!(f, "{} {} ({operations}", self.sessions, self.name)?;
        if self.batch > 1 && self.held_ns.is_none() {
            write!(f, ", {} a transaction", show_count(self.batch))?;
        }
        if let Some(held_ns) = self.held_ns {
            let held = show_duration(duration_of(held_ns as f64 / 1e9));
            write!(f, ", each transaction held for {held}")?;
        }
        if self.deferred {
            f.write_str(", deferred")?;
        }
        if let Some(rate) = self.rate {
            write!(f, ", {}/s", show_rate(rate))?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Role>> {
        text.parse::<Roles>().map(|roles| roles.0)
    }

    #[test]
    fn roles_are_read_with_their_words() {
        let roles =
            read("readers=4,writers=1:batch=10@1k/s,idle=0:stat,all=2:read=95:update=5:held=5s")
                .unwrap();
        let shown: Vec<_> = roles.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "4 readers (read)",
                "1 writers (update, 10 a transaction, 1,000/s)",
                "2 all (95 % read, 5 % update, each transaction held for 5.0 s)"
            ]
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("readers", "accepted is NAME=SESSIONS"),
            ("readers=4,readers=1", "readers is given twice"),
            ("readers=0", "no role has a session"),
            ("scanners=1", "as in scanners=1:scan"),
            ("a=1:raed", "did you mean read?"),
            ("a=1:read:update", "read has no share"),
            ("a=1:read=90:update=5", "adds up to 95"),
            ("writers=1:batch=0", "accepted is 1 or more"),
            ("readers=1:held=2h", "accepted is up to 1h"),
            ("readers=2000", "1024"),
            ("readers=1@0", "is not a rate"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
