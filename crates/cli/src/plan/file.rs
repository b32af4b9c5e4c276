//! Plan files: TOML whose keys are the long names of the options of `run`.

use std::{collections::BTreeMap, ffi::OsString, fmt::Write, ops::Range};

use clap::Command;
use model::{Error, Result, nearest};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    Asked, TARGETS,
    options::{self, Takes},
};

/// How a plan begins that storemark wrote.
pub(crate) const HEAD: &str = "# storemark run FILE";

/// A plan file, understood.
pub(super) struct PlanFile {
    pub(super) asked: Asked,
    pub(super) places: Places,
}

/// Where in a plan file everything stands.
pub(super) struct Places {
    /// The file's name, for people.
    name: String,
    text: String,
    /// The values of each option, in bytes of the text.
    values: BTreeMap<String, Vec<Range<usize>>>,
}

/// Reads the plan file `name`.
pub(super) fn parse(name: String, text: String) -> Result<PlanFile> {
    let mut places = Places { name, text: String::new(), values: BTreeMap::new() };
    let table = DeTable::parse(&text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        places.wrong(&text, at, &error.message().lines().collect::<Vec<_>>().join(", "))
    })?;
    let command = options::strict();
    let mut asked = Asked::default();
    for (key, value) in table.get_ref() {
        let name = key.get_ref().as_ref();
        let values = option(&command, name, value)
            .map_err(|(at, why)| places.wrong(&text, at.unwrap_or(key.span().start), &why))?;
        places.values.insert(name.to_owned(), spans(value));
        if let Some(values) = values {
            asked.set(name, values);
        }
    }
    places.text = text;
    Ok(PlanFile { asked, places })
}

/// Why a value is refused, and where in the text if not at its key.
type Refusal = (Option<usize>, String);

/// The values of an option; `None`: it is a switch that is off.
fn option(
    command: &Command,
    name: &str,
    value: &Spanned<DeValue<'_>>,
) -> Result<Option<Vec<OsString>>, Refusal> {
    let arg = options::find(command, name).ok_or_else(|| (None, unknown(command, name)))?;
    let at = value.span().start;
    let refuse = |what: &str| (Some(at), format!("{name}: {what}"));
    match (options::takes(arg), value.get_ref()) {
        (Takes::Switch, DeValue::Boolean(on)) => Ok(on.then(Vec::new)),
        (Takes::Switch, _) => Err(refuse("true or false is accepted")),
        (Takes::One, DeValue::Array(_)) => Err(refuse("takes one value, not a list")),
        (_, DeValue::Array(values)) if values.is_empty() => {
            Err(refuse("a list without values; leave it out instead"))
        }
        (_, DeValue::Array(values)) => {
            values.iter().map(|value| word(name, value)).collect::<Result<_, _>>().map(Some)
        }
        _ => Ok(Some(vec![word(name, value)?])),
    }
}

/// A value as it would stand on a command line.
fn word(name: &str, value: &Spanned<DeValue<'_>>) -> Result<OsString, Refusal> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.as_ref().into()),
        DeValue::Integer(number) => Ok(number.to_string().into()),
        DeValue::Float(number) => Ok(number.to_string().into()),
        other => Err((
            Some(value.span().start),
            format!(
                "{name}: a {} is no value for it (accepted: text or a number)",
                other.type_str()
            ),
        )),
    }
}

fn unknown(command: &Command, name: &str) -> String {
    let names: Vec<_> = command.get_arguments().map(options::name).collect();
    let hint = nearest(name, names.iter().copied())
        .map_or_else(String::new, |near| format!(": did you mean {near}?"));
    format!(
        "no option {name:?}{hint} (accepted: {TARGETS}, and the long names that storemark run --help lists)"
    )
}

fn spans(value: &Spanned<DeValue<'_>>) -> Vec<Range<usize>> {
    match value.get_ref() {
        DeValue::Array(values) => values.iter().map(Spanned::span).collect(),
        _ => vec![value.span()],
    }
}

impl Places {
    fn wrong(&self, text: &str, at: usize, why: &str) -> Error {
        Error::usage(format!("{}: {why}", position(&self.name, text, at)))
    }

    /// The same error, led by where in the file it is about, as far as its sentence tells: it names
    /// an option, or begins with a target. What is in `asked` and not in `file` was typed beside it.
    pub(super) fn blame(&self, error: Error, asked: &Asked, file: &Asked) -> Error {
        let said = error.to_string();
        let named = mentioned(&said).find(|name| asked.get(name).is_some());
        let named = named.unwrap_or(TARGETS);
        let values = file.get(named).unwrap_or_default();
        if asked.get(named).is_some_and(|asked| asked != values) {
            return error;
        }
        let about = |value: &OsString| {
            let value = value.to_string_lossy();
            said.starts_with(&*value) || said.contains(&format!("'{value}'"))
        };
        let mut placed = values.iter().zip(self.spans(named));
        let at = placed.find_map(|(value, span)| about(value).then_some(span));
        let first = || self.spans(named).first().filter(|_| named != TARGETS);
        error.context(match at.or_else(first) {
            Some(span) => position(&self.name, &self.text, span.start),
            None => self.name.clone(),
        })
    }

    fn spans(&self, name: &str) -> &[Range<usize>] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Options that a sentence names.
fn mentioned(said: &str) -> impl Iterator<Item = &str> {
    said.split("--").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// `plan.toml:3:8`, both counted from 1.
fn position(name: &str, text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{name}:{line}:{column}")
}

/// `options` as a plan file.
pub(crate) fn write(options: &BTreeMap<String, Vec<String>>) -> String {
    let mut text = format!("{HEAD} measures this again.\n");
    let targets = options.iter().filter(|(name, _)| *name == TARGETS);
    for (name, values) in targets.chain(options.iter().filter(|(name, _)| *name != TARGETS)) {
        let value = match values.as_slice() {
            [] => "true".to_owned(),
            [one] if name != TARGETS => literal(one),
            several => {
                let values: Vec<_> = several.iter().map(|value| literal(value)).collect();
                format!("[{}]", values.join(", "))
            }
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

/// Plain numbers as numbers, all else as text.
fn literal(value: &str) -> String {
    match value.parse::<i64>() {
        Ok(number) if number.to_string() == value => value.to_owned(),
        _ => toml::Value::String(value.to_owned()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAN: &str = "targets = ['files:', \"sqlite:?api=blob\"]\n# one\nread = true\n\
                        size = [1_000, \"4k\"]\ncache = ['warm']\ntime = 1.5\nupdate = false\n";

    fn parsed(text: &str) -> Result<Asked> {
        parse("p.toml".to_owned(), text.to_owned()).map(|file| file.asked)
    }

    fn refused(text: &str) -> String {
        parsed(text).unwrap_err().to_string()
    }

    #[test]
    fn keys_are_options_and_values_are_words() {
        let words = parsed(PLAN).unwrap().words();
        let expected =
            "--cache=warm --read --size=1000 --size=4k --time=1.5 -- files: sqlite:?api=blob";
        assert_eq!(words, expected.split(' ').map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_slip_is_told_with_its_line_and_column() {
        for (text, says) in [
            ("\nsiez = 1", "p.toml:2:1: no option \"siez\": did you mean size?"),
            ("target = []", "did you mean targets?"),
            ("read = 'yes'", "p.toml:1:8: read: true or false"),
            ("size = true", "p.toml:1:8: size: a boolean is no value"),
            ("size = [1, {}]", "p.toml:1:12: size: a table"),
            ("size = []", "p.toml:1:8: size: a list without values"),
            ("data = ['a', 'b']", "p.toml:1:8: data: takes one value"),
            ("size = 1\nsize = 2", "p.toml:2:1: duplicate key"),
            ("ä = 1", "p.toml:1:1: "),
            ("read = true\n[size]\nx = 1", "size: a table is no value"),
        ] {
            let said = refused(text);
            assert!(said.contains(says), "{text:?}\n{said}");
            assert!(!said.contains('\n'), "{said:?}");
        }
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
            targets in prop::collection::vec("\\PC{0,20}", 1..3),
            size in prop::collection::vec("[0-9]{1,3}[a-z]{0,2}|\\PC{1,9}", 1..3),
            on: bool,
        ) {
            let mut options = BTreeMap::from([(TARGETS.to_owned(), targets), ("size".to_owned(), size)]);
            if on {
                options.insert("read".to_owned(), vec![]);
            }
            let read = parsed(&write(&options)).unwrap().0;
            let texts = |values: &Vec<OsString>| values.iter().map(|v| v.to_str().unwrap().to_owned()).collect();
            let read: BTreeMap<String, Vec<String>> = read.iter().map(|(k, v)| (k.clone(), texts(v))).collect();
            prop_assert_eq!(read, options);
        }
    }
}
