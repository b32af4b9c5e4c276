//! The words of kvtest, the program of SQLite's article: options with one dash, and options that are
//! settings here. Nothing else knows them.

use std::ffi::OsString;

use clap::{Args, Command, FromArgMatches};
use model::{Error, Result};
use serde_json::Value;
use spec::{
    BlobsSpec, GivenValue, Integer, Options, RunSpec, SharedSetting, Size, Text, given_values,
};

use crate::clap_error::one_line;

/// The options that kvtest takes with a single dash.
const OPTIONS: &str = "\
    asc blob-api cache-size count desc fsync integrity-check jmode max-id mmap multitrans \
    nocheckpoint nosync pagesize random size start stats tree update vacuum variance help version";

/// Returns an argument with two dashes if it is an option of kvtest with one.
pub(crate) fn with_two_dashes(argument: OsString) -> OsString {
    match argument.to_str().and_then(|text| text.strip_prefix('-')) {
        Some(name) if OPTIONS.split(' ').any(|known| known == name) => format!("--{name}").into(),
        _ => argument,
    }
}

/// The options of `storemark run`: its own, and those of kvtest.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    spec: BlobsSpec,
    #[command(flatten)]
    kvtest: KvtestOptions,
}

impl RunOptions {
    /// Returns what is asked for in storemark's own words.
    pub(crate) fn into_spec(self) -> Result<RunSpec> {
        let Self { mut spec, kvtest } = self;
        kvtest.add_to(&mut spec)?;
        Ok(RunSpec::Run(Box::new(spec)))
    }
}

/// The options of kvtest that have other names here.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of kvtest, for all targets that have the setting")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[expect(clippy::doc_markdown, reason = "the comments are printed by --help")]
struct KvtestOptions {
    /// Each operation in a transaction of its own (--batch 1)
    #[arg(long)]
    multitrans: bool,
    /// Use blob handles instead of SQL statements (--set api=blob)
    #[arg(long)]
    blob_api: bool,
    /// Page cache in pages (--set cache_pages=N), or in KiB if negative (--set cache=NKiB)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    cache_size: Vec<GivenValue<Integer>>,
    /// Page size, a power of two from 512 to 65536 (--set page_size=BYTES)
    #[arg(long, value_name = "BYTES")]
    page_size: Vec<GivenValue<Size>>,
    /// Map as much as N bytes of the database (--set mmap=N)
    #[arg(long, value_name = "N")]
    mmap: Vec<GivenValue<Size>>,
    /// Journal mode (--set journal=MODE)
    #[arg(long, value_name = "MODE")]
    jmode: Vec<GivenValue<Text>>,
    /// Leave out the checkpoint of a WAL (--set checkpoint=none)
    #[arg(long)]
    nocheckpoint: bool,
    /// SQLite: synchronous off (--set sqlite:sync=off)
    #[arg(long)]
    nosync: bool,
    /// Files: fsync each file after it was written in place (--set files:sync=file)
    #[arg(long)]
    fsync: bool,
}

impl KvtestOptions {
    /// Adds to `spec` what the options mean.
    fn add_to(&self, spec: &mut BlobsSpec) -> Result<()> {
        if self.multitrans && !spec.work.batch.is_empty() {
            return Err(Error::usage("--batch cannot be used with --multitrans"));
        }
        if self.multitrans {
            spec.work.batch.push("1".parse()?);
        }
        spec.settings.set.extend(self.settings()?);
        Ok(())
    }

    /// Returns the settings that the options mean.
    fn settings(&self) -> Result<Vec<GivenValue<SharedSetting>>> {
        let word = |is_given: bool, setting: &str| is_given.then(|| setting.to_owned());
        let sizes = |given: &[GivenValue<Size>]| -> Vec<_> {
            given_values(given).iter().map(u64::to_string).collect()
        };
        let settings = [
            word(self.blob_api, "api=blob"),
            self.cache()?,
            listed("page_size", &sizes(&self.page_size)),
            listed("mmap", &sizes(&self.mmap)),
            listed("journal", &given_values(&self.jmode)),
            word(self.nocheckpoint, "checkpoint=none"),
            // Both engines call it sync, and each option is for one of them.
            word(self.nosync, "sqlite:sync=off"),
            word(self.fsync, "files:sync=file"),
        ];
        settings.into_iter().flatten().map(|setting| setting.parse()).collect()
    }

    /// Returns the setting of the cache: pages, or KiB if they are negative, as in SQLite.
    fn cache(&self) -> Result<Option<String>> {
        let sizes = given_values(&self.cache_size);
        let (kibibytes, pages): (Vec<i64>, Vec<i64>) = sizes.iter().partition(|size| **size < 0);
        if !kibibytes.is_empty() && !pages.is_empty() {
            return Err(Error::usage(
                "--cache-size: pages and KiB (negative) cannot be in one list",
            ));
        }
        let kibibytes = kibibytes.iter().map(|size| format!("{}KiB", size.unsigned_abs()));
        let pages: Vec<_> = pages.iter().map(i64::to_string).collect();
        Ok(listed("cache", &kibibytes.collect::<Vec<_>>()).or(listed("cache_pages", &pages)))
    }
}

/// Returns a setting with all of its values; `None` if there are none.
fn listed(name: &str, values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| format!("{name}={}", values.join(",")))
}

/// Returns what an option of a plan or record means; `None` if it is not one of kvtest's.
pub(crate) fn rewrite(option: &str, value: &Value) -> Option<Result<Options>> {
    let command = KvtestOptions::augment_args(Command::new("kvtest").no_binary_name(true));
    command.get_arguments().find(|known| known.get_long() == Some(option))?;
    let word = |value: &Value| match value {
        Value::String(text) => format!("--{option}={text}"),
        value => format!("--{option}={value}"),
    };
    let words = match value {
        Value::Bool(false) => Vec::new(),
        Value::Bool(true) => vec![format!("--{option}")],
        Value::Array(values) => values.iter().map(word).collect(),
        value => vec![word(value)],
    };
    let read = command.try_get_matches_from(words);
    let read = read.and_then(|read| KvtestOptions::from_arg_matches(&read));
    Some(read.map_err(|error| Error::usage(one_line(&error))).and_then(|options| {
        let mut spec = BlobsSpec::default();
        options.add_to(&mut spec)?;
        RunSpec::Run(Box::new(spec)).options()
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_of_older_plans_and_records_are_settings() {
        for (option, value, is) in [
            ("blob-api", json!(true), json!({ "set": ["api=blob"] })),
            ("blob-api", json!(false), json!({})),
            ("mmap", json!(["0", "1MiB"]), json!({ "set": ["mmap=0,1048576"] })),
            ("cache-size", json!(-5), json!({ "set": ["cache=5KiB"] })),
            ("cache-size", json!([5]), json!({ "set": ["cache_pages=5"] })),
            ("jmode", json!("wal"), json!({ "set": ["journal=wal"] })),
            ("nosync", json!(true), json!({ "set": ["sqlite:sync=off"] })),
            ("multitrans", json!(true), json!({ "batch": [1] })),
        ] {
            let read = rewrite(option, &value).unwrap().unwrap();
            assert_eq!(Value::Object(read), is, "{option} {value}");
        }
        assert!(rewrite("batch", &json!(1)).is_none());
        for (option, value) in [("mmap", json!("1z")), ("blob-api", json!("yes"))] {
            let said = rewrite(option, &value).unwrap().unwrap_err().to_string();
            assert!(said.contains(option) && !said.contains('\n'), "{said}");
        }
    }
}
