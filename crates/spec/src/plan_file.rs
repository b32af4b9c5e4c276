//! Plan files: TOML whose keys are the long names of options.

use std::{collections::BTreeMap, fmt::Write, ops::Range};

use model::{Error, Result};
use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::run_spec::{Options, Rewrite, RunSpec, add, find, fit, text, values};

/// The start of a plan that storemark wrote.
pub const PLAN_HEAD: &str = "# storemark run FILE";

/// The key of the targets in a plan.
const TARGETS: &str = "targets";

/// A plan file after parsing, with the places of its options.
#[derive(Clone, Debug)]
pub struct PlanFile {
    /// The specification that the file contains.
    pub spec: RunSpec,
    /// The file's name for messages.
    name: String,
    text: String,
    /// The places of each option's values, in bytes of the text.
    places: BTreeMap<String, Vec<Range<usize>>>,
}

/// A reason why a value is refused, after its place in the text.
type Refusal = (usize, String);

impl PlanFile {
    /// Reads the plan of a `command` from the file called `name`. `rewrite` knows other names of
    /// options.
    ///
    /// # Errors
    ///
    /// Fails if the text is no TOML, or an option is not accepted; the sentence starts with the
    /// place in the file.
    pub fn parse(command: &str, name: &str, text: &str, rewrite: Rewrite<'_>) -> Result<Self> {
        let wrong = |(at, why): Refusal| Error::usage(why.clone()).at(position(name, text, at));
        let table = DeTable::parse(text).map_err(|error| {
            let why = error.message().lines().collect::<Vec<_>>().join(", ");
            wrong((error.span().map_or(0, |span| span.start), why))
        })?;
        let known = RunSpec::default_options(command)?;
        let mut options = Options::new();
        let mut places = BTreeMap::new();
        for (key, value) in table.get_ref() {
            let option = key.get_ref().as_ref();
            let spans = spans(value);
            let read = json(option, value).map_err(wrong)?;
            let added = add(&mut options, (option, read), rewrite)
                .map_err(|error| wrong((value.span().start, error.to_string())))?;
            for added in added {
                let unset = find(command, &known, &added)
                    .map_err(|error| wrong((key.span().start, error.to_string())))?;
                let all = &options[&added];
                let places = places.entry(added.clone()).or_insert_with(Vec::new);
                // A list by several names has those of each, and by another name a value may be several.
                let own = values(all).len() - places.len();
                let is_each = spans.len() == own;
                places.extend(if is_each { spans.clone() } else { vec![value.span(); own] });
                fit(command, &added, unset, all).map_err(|(place, error)| {
                    let span = place.and_then(|place| places.get(place)).cloned();
                    wrong((span.unwrap_or(value.span()).start, error.to_string()))
                })?;
            }
        }
        let spec = RunSpec::from_options(command, &options)?;
        Ok(Self { spec, name: name.to_owned(), text: text.to_owned(), places })
    }

    /// Adds the place in the file in front of an error, as far as its sentence shows it: the
    /// sentence names an option, or starts with a target. Options in `asked` that differ from the
    /// file were typed by the user, and their errors stay as they are.
    pub fn blame(&self, error: Error, asked: &RunSpec) -> Error {
        let (Ok(own), Ok(asked)) = (self.spec.options(), asked.options()) else { return error };
        let said = error.to_string();
        let option = mentioned(&said).find(|name| asked.contains_key(*name)).unwrap_or(TARGETS);
        if asked.get(option).is_some_and(|asked| Some(asked) != own.get(option)) {
            return error;
        }
        let values = own.get(option).map_or(&[][..], values);
        let is_about = |value: &Value| said.starts_with(&text(value));
        let spans = self.places.get(option).map_or(&[][..], Vec::as_slice);
        let about = values.iter().zip(spans).find(|(value, _)| is_about(value));
        let about = about.map(|(_, span)| span);
        error.context(match about.or_else(|| spans.first().filter(|_| option != TARGETS)) {
            Some(span) => position(&self.name, &self.text, span.start),
            None => self.name.clone(),
        })
    }
}

fn json(option: &str, value: &Spanned<DeValue<'_>>) -> Result<Value, Refusal> {
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => number
            .to_string()
            .parse::<i64>()
            .map_or_else(|_| Value::String(number.to_string()), Value::from),
        DeValue::Float(number) => Value::String(number.to_string()),
        DeValue::Boolean(on) => Value::Bool(*on),
        DeValue::Array(values) => {
            Value::Array(values.iter().map(|value| json(option, value)).collect::<Result<_, _>>()?)
        }
        other => {
            let (kind, at) = (other.type_str(), value.span().start);
            return Err((at, format!("{option}: text or a number is accepted, not a {kind}")));
        }
    })
}

fn spans(value: &Spanned<DeValue<'_>>) -> Vec<Range<usize>> {
    match value.get_ref() {
        DeValue::Array(values) => values.iter().map(Spanned::span).collect(),
        _ => vec![value.span()],
    }
}

/// Returns the options that a sentence names.
fn mentioned(said: &str) -> impl Iterator<Item = &str> {
    said.split("--").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// Returns a place such as `plan.toml:3:8`, both numbers counted from 1.
fn position(name: &str, text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{name}:{line}:{column}")
}

impl RunSpec {
    /// Returns the text of a plan file with these options.
    ///
    /// # Errors
    ///
    /// Fails if an option is not UTF-8.
    pub fn to_plan(&self) -> Result<String> {
        let options = self.options()?;
        let mut text = format!("{PLAN_HEAD} measures this again.\n");
        let targets = options.iter().filter(|(name, _)| *name == TARGETS);
        for (name, value) in targets.chain(options.iter().filter(|(name, _)| *name != TARGETS)) {
            let value = match value {
                Value::Array(values) if values.len() == 1 && name != TARGETS => &values[0],
                value => value,
            };
            let value = toml::Value::try_from(value)
                .map_err(|error| Error::failed(format!("{error}")).at(name))?;
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name} = {value}");
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAN: &str = "targets = ['files:', \"sqlite:?api=blob\"]\n# one\nread = true\n\
                        size = [1_000, \"4k\"]\ncache = ['warm']\ntime = 1.5\nupdate = false\n";

    fn parsed(text: &str) -> Result<RunSpec> {
        PlanFile::parse("run", "p.toml", text, &|_, _| None).map(|file| file.spec)
    }

    fn refused(text: &str) -> String {
        parsed(text).unwrap_err().to_string()
    }

    #[test]
    fn keys_are_options() {
        let expected = serde_json::json!({
            "targets": ["files:", "sqlite:?api=blob"],
            "read": true,
            "size": [1000, "4k"],
            "cache": ["warm"],
            "time": "1.5",
        });
        assert_eq!(Value::Object(parsed(PLAN).unwrap().options().unwrap()), expected);
    }

    #[test]
    fn a_mistake_is_reported_with_its_line_and_column() {
        for (text, says) in [
            ("\nsiez = 1", "p.toml:2:1: no option \"siez\": did you mean size?"),
            ("target = []", "did you mean targets?"),
            ("read = 'yes'", "p.toml:1:8: read: true or false"),
            ("size = true", "p.toml:1:8: size: "),
            ("size = [1, {}]", "p.toml:1:12: size: text or a number is accepted, not a table"),
            ("size = []", "p.toml:1:8: size: a list without values"),
            ("data = ['a', 'b']", "p.toml:1:8: data: takes one value"),
            ("size = ['1k', '1z']", "p.toml:1:15: size: \"1z\""),
            ("size = 1\nsize = 2", "p.toml:2:1: duplicate key"),
            ("ä = 1", "p.toml:1:1: "),
            ("read = true\n[size]\nx = 1", "not a table"),
        ] {
            let said = refused(text);
            assert!(said.contains(says), "{text:?}\n{said}");
            assert!(!said.contains('\n'), "{said:?}");
        }
    }

    /// Settings that an older name asks for come first in the list.
    #[test]
    fn a_value_has_its_own_place_among_those_of_several_names() {
        let text = "blob-api = true\nset = ['mmap=0',\n5,\n'sync=full']\n";
        let api = serde_json::json!({ "set": ["api=blob"] });
        let rewrite = |name: &str, _: &Value| {
            (name == "blob-api").then(|| Ok(api.as_object().unwrap().clone()))
        };
        let error = PlanFile::parse("run", "p.toml", text, &rewrite).unwrap_err().to_string();
        assert!(error.starts_with("p.toml:3:1: set: "), "{error}");
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(position("p", "äö = 1", "äö".len()), "p:1:3");
        assert_eq!(position("p", "a\nb", 99), "p:2:2");
        assert_eq!(position("p", "ä", 1), "p:1:2");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,60}") {
            let _ = parsed(&text);
        }

        #[test]
        fn a_mutilated_plan_never_panics(
            bytes in prop::collection::vec(any::<u8>(), 0..12),
            place in 0..PLAN.len(),
        ) {
            let mut plan = PLAN.as_bytes().to_vec();
            let end = (place + bytes.len()).min(plan.len());
            plan.splice(place..end, bytes);
            if let Err(error) = parsed(&String::from_utf8_lossy(&plan)) {
                let said = error.to_string();
                prop_assert!(said.starts_with("p.toml:") && !said.contains('\n'), "{said}");
            }
        }

        #[test]
        fn a_saved_plan_asks_for_the_same(
            targets in prop::collection::vec("[^\u{fffd}\\p{C}]{0,20}", 1..3),
            size in prop::collection::vec("[0-9]{1,3}k?", 1..3),
            baseline in "[^\u{fffd}\\p{C}]{0,9}",
            on: bool,
        ) {
            let asked = serde_json::json!(
                { "targets": targets, "size": size, "baseline": baseline, "read": on }
            );
            let spec = RunSpec::from_options("run", asked.as_object().unwrap()).unwrap();
            prop_assert_eq!(parsed(&spec.to_plan().unwrap()).unwrap(), spec);
        }
    }
}
