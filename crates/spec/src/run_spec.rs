//! Specifications of runs: a [`RunSpec`] is all that a user can ask for. The command line fills
//! one, a plan file is read into one, a record has the options of one, and a step of a study is one.

use std::time::Duration;

use model::{
    Error, Judge, Result, Rounds, StudyPart, did_you_mean, record::GivenOptions, units,
    without_password,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    age::AgeSpec,
    backup::BackupSpec,
    blobs::BlobsSpec,
    common::{Output, Running},
    life::LifeSpec,
    queue::QueueSpec,
    rows::RowsSpec,
    value::{Name, given_value},
};

/// A map of options with their values, by their long names; the targets are under `targets`.
pub type Options = Map<String, Value>;

/// Declares a run of each experiment: its subcommand, and the options that it has.
macro_rules! run_specs {
    ($($command:literal: $name:ident($spec:ty),)*) => {
        /// A run, or a sweep of several, as a user asks for it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "command")]
        pub enum RunSpec {
            $(
                #[doc = concat!("`storemark ", $command, "`")]
                #[serde(rename = $command)]
                $name(Box<$spec>),
            )*
        }

        impl RunSpec {
            /// The subcommands.
            pub const COMMANDS: &[&str] = &[$($command),*];

            /// Returns the subcommand.
            pub fn command(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $command,)*
                }
            }

            /// Returns the targets as the user wrote them.
            pub fn targets(&self) -> &[Name] {
                match self {
                    $(Self::$name(spec) => &spec.targets,)*
                }
            }

            /// Returns the targets for changes.
            pub fn targets_mut(&mut self) -> &mut Vec<Name> {
                match self {
                    $(Self::$name(spec) => &mut spec.targets,)*
                }
            }

            /// Returns the options on how long to measure, and where.
            pub fn running(&self) -> &Running {
                match self {
                    $(Self::$name(spec) => &spec.running,)*
                }
            }

            /// Returns the options on how long to measure, and where, for changes.
            pub fn running_mut(&mut self) -> &mut Running {
                match self {
                    $(Self::$name(spec) => &mut spec.running,)*
                }
            }

            /// Returns the options on what to print and write.
            pub fn output(&self) -> &Output {
                match self {
                    $(Self::$name(spec) => &spec.shown,)*
                }
            }

            /// Returns the options on what to print and write, for changes.
            pub fn output_mut(&mut self) -> &mut Output {
                match self {
                    $(Self::$name(spec) => &mut spec.shown,)*
                }
            }
        }
    };
}

run_specs! {
    "run": Run(BlobsSpec),
    "rows": Rows(RowsSpec),
    "queue": Queue(QueueSpec),
    "age": Age(AgeSpec),
    "backup": Backup(BackupSpec),
    "life": Life(LifeSpec),
}

/// The key under which [`RunSpec`] has the subcommand among its options.
const COMMAND: &str = "command";
/// The option whose values are settings.
const SET: &str = "set";

/// The options that cannot be used together: each with those that it excludes, separated by spaces.
const CONFLICTS: [(&str, &str); 11] = [
    ("keys", "bytes"),
    ("mix", "read update asc desc"),
    ("ycsb", "read update mix asc desc random distribution"),
    ("distribution", "asc desc random"),
    ("asc", "desc random"),
    ("desc", "random"),
    ("batch", "as-published"),
    ("hosts", "memory"),
    ("launch", "memory"),
    ("objects", "volume"),
    (
        "roles",
        "asc batch cache count desc hosts in-place integrity-check launch max-id memory mix \
         on random rate read runs sample start threads update ycsb",
    ),
];
/// The options that must be 1 or more.
const NOT_ZERO: [&str; 8] =
    ["batch", "count", "files", "objects", "rows", "runs", "sample", "tasks"];
/// The options that need another one, which follows them.
const NEEDS: [(&str, &str); 5] = [
    ("in-place", "update"),
    ("image-size", "on"),
    ("pass", "roles"),
    ("meanwhile", "roles"),
    ("inconclusive", "fail-above"),
];

/// The options of several subcommands of which only `run` measures each value, see [`RunSpec::points`].
const ONE_UNLESS_RUN: [&str; 3] = ["image-size", "rounds", "seed"];

/// The rounds in which counts must repeat, if nothing else decides how many there are.
const ROUNDS_OF_COUNTS: u32 = 3;

/// The options on what to do with a plan or where its record goes: they are no part of the plan.
const APART: [&str; 5] = ["dry-run", "html", "json", "save-plan", "yes"];

impl RunSpec {
    /// The options of subcommands without a specification of their own that change what they
    /// measure.
    pub const OF_OTHERS: [(&str, &[&str]); 2] = [
        (StudyPart::COMMAND, &["full", "rounds", "scratch", "seed", "time"]),
        ("doctor", &["time"]),
    ];

    /// Returns the time for the whole run.
    pub fn time(&self) -> Duration {
        let default = Duration::from_secs(if let Self::Run(_) = self { 30 } else { 60 });
        given_value(&self.running().time).unwrap_or(default)
    }

    /// Returns when the run stops.
    pub fn rounds(&self) -> Rounds {
        let runs = if let Self::Run(blobs) = self { given_value(&blobs.ways.runs) } else { None };
        let (runs, rounds) = (runs.unwrap_or(1), self.running().rounds(self.time()));
        let gate = &self.output().gate;
        // Counts need no more rounds than show that they repeat.
        let counts = !gate.fail_on.is_empty() && gate.fail_above.is_none();
        let counts = counts && self.running().time.is_none();
        let max = rounds.max.or(counts.then_some(ROUNDS_OF_COUNTS));
        // A verdict needs so many of all runs together.
        let min = max.unwrap_or(rounds.min.div_ceil(runs.max(1)));
        let fail_above = given_value(&gate.fail_above);
        Rounds { min, max, runs, fail_above, judge: self.judge(), ..rounds }
    }

    /// Returns the figure that is judged. Commands without the option time nothing one by one.
    fn judge(&self) -> Judge {
        let option = match self {
            Self::Run(spec) => &spec.extras.judged,
            Self::Queue(spec) => &spec.judged,
            Self::Age(spec) => &spec.judged,
            Self::Rows(_) | Self::Backup(_) | Self::Life(_) => return Judge::Time,
        };
        given_value(&option.judge).unwrap_or_default()
    }

    /// Reads the options of a subcommand.
    ///
    /// # Errors
    ///
    /// Fails if there is no such subcommand or option, or a value is not accepted; the sentence
    /// names the option.
    pub fn from_options(command: &str, options: &Options) -> Result<Self> {
        let known = Self::default_options(command)?;
        let mut read = tagged(command, []);
        for (name, value) in options {
            let unset = find(command, &known, name)?;
            let fitted = fit(command, name, unset, value).map_err(|(_, error)| error)?;
            read.insert(name.clone(), fitted);
        }
        from_value(read)
    }

    /// Reads the options of a record.
    ///
    /// # Errors
    ///
    /// Fails as [`RunSpec::from_options`] does.
    pub fn from_given(given: &GivenOptions, rewrite: Rewrite<'_>) -> Result<Self> {
        let mut options = Options::new();
        for (name, value) in &given.options {
            add(&mut options, (name, value.clone()), rewrite)?;
        }
        Self::from_options(&given.command, &options)
    }

    /// Returns whether a subcommand that measures has an option.
    pub fn has_option(command: &str, option: &str) -> bool {
        match Self::OF_OTHERS.iter().find(|(name, _)| *name == command) {
            Some((_, options)) => options.contains(&option),
            None => Self::default_options(command).is_ok_and(|known| known.contains_key(option)),
        }
    }

    /// Returns all options of a subcommand with the values that they have when they are not given.
    ///
    /// # Errors
    ///
    /// Fails if there is no such subcommand.
    pub(crate) fn default_options(command: &str) -> Result<Options> {
        let mut all = from_value(tagged(command, []))?.to_options();
        all.remove(COMMAND);
        Ok(all)
    }

    /// Returns the options that are given.
    ///
    /// # Errors
    ///
    /// Fails if a value is not UTF-8, which no plan can hold.
    pub fn options(&self) -> Result<Options> {
        writable(self.given_options())
    }

    /// Returns the options that are given. Bytes of a name that are not UTF-8 are replaced.
    pub fn given_options(&self) -> Options {
        let mut options = self.to_options();
        options.remove(COMMAND);
        options.retain(|_, value| !is_unset(value));
        options
    }

    /// Returns all options, given or not, with the subcommand.
    fn to_options(&self) -> Options {
        match serde_json::to_value(self) {
            Ok(Value::Object(options)) => options,
            // Every field is text, a number, a switch or a list of them.
            _ => unreachable!("options are written as a map"),
        }
    }

    /// Adds the options of `later`, and removes those that cannot be used with them. Settings of
    /// `--set` are kept unless `later` sets them too.
    ///
    /// # Errors
    ///
    /// Fails if an option is not UTF-8 or not accepted.
    pub fn overlaid(&self, later: &Self) -> Result<Self> {
        let (mut options, mut later) = (self.options()?, later.options()?);
        options.retain(|name, _| !later.keys().any(|other| exclude_each_other(name, other)));
        if let (Some(own), Some(Value::Array(others))) = (options.get(SET), later.get_mut(SET)) {
            let name = |value: &Value| text(value).split('=').next().map(str::to_owned);
            let is_kept = |own: &&Value| !others.iter().any(|other| name(other) == name(own));
            let kept: Vec<_> = values(own).iter().filter(is_kept).cloned().collect();
            others.splice(0..0, kept);
        }
        options.extend(later);
        Self::from_options(self.command(), &options)
    }

    /// Checks that options are not 0 if they must not be, have no value that nothing measures, and go
    /// together.
    ///
    /// # Errors
    ///
    /// Fails, with a sentence that names the options, if they do not.
    pub fn check(&self) -> Result<()> {
        let given = self.given_options();
        let is_zero = |value: &Value| units::parse_size(&text(value)).is_ok_and(|size| size == 0);
        let zero =
            |name: &&&str| given.get(**name).is_some_and(|all| values(all).iter().any(is_zero));
        if let Some(name) = NOT_ZERO.iter().find(zero) {
            return Err(Error::usage(format!("--{name} 0: accepted is 1 or more")));
        }
        self.check_lists(&given)?;
        let has = |name: &str| given.contains_key(name);
        for (name, others) in CONFLICTS.iter().filter(|(name, _)| has(name)) {
            if let Some(other) = others.split(' ').find(|other| has(other)) {
                return Err(Error::usage(format!("--{name} cannot be used with --{other}")));
            }
        }
        match NEEDS.iter().find(|(name, other)| has(name) && !has(other)) {
            None => Ok(()),
            Some((name, other)) => Err(Error::usage(format!("--{name} needs --{other}"))),
        }
    }

    /// Fails if an option has several values of which one would count.
    fn check_lists(&self, given: &Options) -> Result<()> {
        if let Self::Run(_) = self {
            return Ok(());
        }
        for name in ONE_UNLESS_RUN {
            let all = given.get(name).map_or(&[][..], values);
            if all.len() > 1 {
                let shown = all.iter().map(text).collect::<Vec<_>>().join(",");
                return Err(Error::usage(format!(
                    "--{name} {shown}: {} takes one value; only run compares several",
                    self.command()
                )));
            }
        }
        Ok(())
    }

    /// Returns the part that is kept in a record or a saved plan: no passwords, and no options on
    /// where the record goes.
    ///
    /// # Errors
    ///
    /// Fails if a value is not UTF-8.
    pub fn to_recorded(&self) -> Result<Self> {
        let mut options = self.given_options();
        options.retain(|name, _| !APART.contains(&name.as_str()));
        options.values_mut().for_each(strip_passwords);
        Self::from_options(self.command(), &writable(options)?)
    }

    /// Returns what a record keeps: the part of [`RunSpec::to_recorded`].
    ///
    /// # Errors
    ///
    /// Fails if a value is not UTF-8.
    pub fn to_given(&self) -> Result<GivenOptions> {
        let options = self.to_recorded()?.given_options();
        Ok(GivenOptions { command: self.command().to_owned(), options })
    }
}

/// Returns `options` if a plan can hold them.
///
/// # Errors
///
/// Fails if a value is not UTF-8.
fn writable(options: Options) -> Result<Options> {
    let lost = |value: &&Value| value.to_string().contains(char::REPLACEMENT_CHARACTER);
    match options.values().find(lost) {
        None => Ok(options),
        Some(value) => Err(Error::usage("is not UTF-8, so that no plan can hold it").at(value)),
    }
}

/// A function that returns what an option by another name means, given its value; `None` if
/// it has no other name.
pub type Rewrite<'a> = &'a dyn Fn(&str, &Value) -> Option<Result<Options>>;

/// Adds an option, or what it means, and returns the names of what was added.
///
/// # Errors
///
/// Fails if a value is not accepted, or an option is given by both names.
pub(crate) fn add(
    options: &mut Options,
    (name, value): (&str, Value),
    rewrite: Rewrite<'_>,
) -> Result<Vec<String>> {
    let added = rewrite(name, &value)
        .unwrap_or_else(|| Ok([(name.to_owned(), value)].into_iter().collect()))?;
    let names = added.keys().cloned().collect();
    for (name, value) in added {
        let value = match options.get(&name) {
            None => value,
            Some(earlier) if name == SET => [values(earlier), values(&value)].concat().into(),
            Some(_) => return Err(Error::usage("is given twice, by two names").at(&name)),
        };
        options.insert(name, value);
    }
    Ok(names)
}

/// Adds the subcommand to options.
fn tagged(command: &str, options: impl IntoIterator<Item = (String, Value)>) -> Options {
    let command = (COMMAND.to_owned(), command.into());
    [command].into_iter().chain(options).collect()
}

fn from_value(options: Options) -> Result<RunSpec> {
    serde_json::from_value(Value::Object(options)).map_err(|e| Error::usage(e.to_string()))
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

fn strip_passwords(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("://") => *text = without_password(text),
        Value::Array(values) => values.iter_mut().for_each(strip_passwords),
        _ => {}
    }
}

fn exclude_each_other(one: &str, other: &str) -> bool {
    let excludes = |one: &str, other: &str| {
        CONFLICTS.iter().any(|(name, all)| *name == one && all.split(' ').any(|one| one == other))
    };
    excludes(one, other) || excludes(other, one)
}

/// Returns the values of an option: the list, or the only value.
pub(crate) fn values(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// Returns a value as people write it.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the value that an option has when it is not given.
///
/// # Errors
///
/// Fails if the subcommand has no such option; the sentence names the nearest one.
pub(crate) fn find<'a>(command: &str, known: &'a Options, name: &str) -> Result<&'a Value> {
    known.get(name).ok_or_else(|| {
        let hint = did_you_mean(name, known.keys().map(String::as_str));
        Error::usage(format!(
            "no option {name:?}{hint} (accepted: targets, and the long names that storemark \
             {command} --help lists)"
        ))
    })
}

/// Converts the value of an option to the form of its field: a list if the option takes several, as its
/// value `unset` does.
///
/// # Errors
///
/// Fails if the value is not accepted. With the error comes the index of the wrong value, 0 if it is in no
/// list, or `None` if the form is wrong.
pub(crate) fn fit(
    command: &str,
    name: &str,
    unset: &Value,
    value: &Value,
) -> Result<Value, (Option<usize>, Error)> {
    let refused = |what: &str| Err((None, Error::usage(what.to_string()).at(name)));
    let several = unset.is_array();
    let values = values(value);
    if unset.is_boolean() && !value.is_boolean() {
        return refused("true or false is accepted");
    }
    if value.is_array() && !several {
        return refused("takes one value, not a list");
    }
    if values.is_empty() {
        return refused("a list without values; leave it out instead");
    }
    let fitted = |values: &[Value]| match values {
        [one] if !several => one.clone(),
        values => Value::Array(values.to_vec()),
    };
    for (place, value) in values.iter().enumerate() {
        let alone = (name.to_owned(), fitted(std::slice::from_ref(value)));
        from_value(tagged(command, [alone])).map_err(|error| (Some(place), error.context(name)))?;
    }
    Ok(fitted(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(options: &Value) -> RunSpec {
        RunSpec::from_options("run", options.as_object().unwrap()).unwrap()
    }

    #[test]
    fn what_is_laid_over_wins_and_removes_what_it_excludes() {
        let plan = spec(&serde_json::json!({ "asc": true, "keys": 5, "size": ["1k", "4k"] }));
        let typed = spec(&serde_json::json!({ "desc": true, "bytes": "1M", "size": 7 }));
        let both = plan.overlaid(&typed).unwrap();
        assert_eq!(both, typed);
        both.check().unwrap();
    }

    #[test]
    fn settings_are_laid_over_each_other_by_name() {
        let plan = spec(&serde_json::json!({ "set": ["mmap=1", "sqlite:sync=off"] }));
        let typed = spec(&serde_json::json!({ "set": ["mmap=0,2", "sync=full"] }));
        let both = plan.overlaid(&typed).unwrap().options().unwrap();
        assert_eq!(both["set"], serde_json::json!(["sqlite:sync=off", "mmap=0,2", "sync=full"]));
    }

    #[test]
    fn options_that_exclude_or_need_each_other_are_refused() {
        for (options, said) in [
            (serde_json::json!({ "asc": true, "desc": true }), "--asc cannot be used with --desc"),
            (serde_json::json!({ "read": true, "mix": "read=100" }), "--mix cannot be used with"),
            (serde_json::json!({ "in-place": true }), "--in-place needs --update"),
            (serde_json::json!({ "image-size": 5 }), "--image-size needs --on"),
        ] {
            assert!(spec(&options).check().unwrap_err().to_string().contains(said), "{said}");
        }
    }

    #[test]
    fn several_values_of_which_one_would_count_are_refused() {
        let options = serde_json::json!({ "rounds": [3, 5], "seed": [1, 2] });
        for command in RunSpec::COMMANDS {
            let spec = RunSpec::from_options(command, options.as_object().unwrap()).unwrap();
            let said = spec.check().err().map(|error| error.to_string());
            let refused =
                format!("--rounds 3,5: {command} takes one value; only run compares several");
            assert_eq!(said, (*command != "run").then_some(refused));
        }
    }

    /// An option of another subcommand that takes several values has a use for each of them.
    #[test]
    fn every_list_of_one_value_is_known() {
        for command in RunSpec::COMMANDS.iter().filter(|command| **command != "run") {
            let options = RunSpec::default_options(command).unwrap();
            let lists = options.iter().filter(|(_, unset)| unset.is_array());
            let lists: Vec<_> = lists.map(|(name, _)| name.as_str()).collect();
            let used = ["ages", "cache", "fail-on", "on", "processes", "style", "targets"];
            let is_known = |name: &&str| used.contains(name) || ONE_UNLESS_RUN.contains(name);
            assert!(lists.iter().all(is_known), "{command}: {lists:?}");
        }
    }

    #[test]
    fn every_option_that_excludes_or_needs_another_exists() {
        let options = |command: &&str| RunSpec::default_options(command).unwrap();
        let known: Vec<_> = RunSpec::COMMANDS.iter().map(options).collect();
        let conflicts =
            CONFLICTS.iter().flat_map(|(name, others)| others.split(' ').chain([*name]));
        let needs = NEEDS.iter().flat_map(|(name, other)| [*name, *other]);
        for name in conflicts.chain(needs).chain(APART) {
            assert!(known.iter().any(|options| options.contains_key(name)), "{name}");
        }
    }

    #[test]
    fn a_record_keeps_what_is_asked_for_without_passwords() {
        let asked = serde_json::json!({
            "targets": ["mysql://me:SECRET@host/db", "files:"], "json": "x", "time": "2m", "read": true,
        });
        let kept = serde_json::json!({
            "targets": ["mysql://me@host/db", "files:"], "time": "2m", "read": true,
        });
        let given = spec(&asked).to_given().unwrap();
        assert_eq!(Value::Object(given.options.clone()), kept);
        let written = serde_json::to_value(&given).unwrap();
        let read: GivenOptions = serde_json::from_value(written).unwrap();
        assert_eq!(read, given);
        RunSpec::from_options(&read.command, &read.options).unwrap();
    }

    #[test]
    fn a_list_is_a_run_for_each_value() {
        let spec = spec(&serde_json::json!({ "size": ["1k", "4k"], "cache": ["warm", "cold"] }));
        let runs = spec.points().unwrap();
        let varied: Vec<_> = runs.iter().map(|run| run.varied["size"].as_str()).collect();
        assert_eq!(varied, ["1k", "4k"]);
        assert_eq!(runs[1].spec.options().unwrap()["size"], serde_json::json!(["4k"]));
    }
}
