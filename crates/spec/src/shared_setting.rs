//! A setting that an option gives to all targets.

use std::str::FromStr;

use model::{Error, Result};

/// A setting for every target whose engine has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSetting {
    /// The only engine that it is meant for; `None` if every engine that has it takes it.
    pub engine: Option<String>,
    /// The name of the setting.
    pub name: String,
    /// The value, or several with commas between, each of which makes a target of its own.
    pub value: String,
}

impl SharedSetting {
    /// Returns whether the setting is meant for an engine.
    pub fn is_for(&self, engine: &str) -> bool {
        self.engine.as_ref().is_none_or(|own| own == engine)
    }
}

/// Reads `mmap=1GiB`, or `sqlite:sync=off` for one engine.
impl FromStr for SharedSetting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (head, value) = text.split_once('=').unwrap_or((text, ""));
        let (engine, name) = match head.split_once(':') {
            Some((engine, name)) => (Some(engine.to_owned()), name),
            None => (None, head),
        };
        if name.is_empty() || value.is_empty() {
            return Err(Error::usage(format!(
                "{text:?} is not a setting (accepted: NAME=VALUE, or ENGINE:NAME=VALUE)"
            )));
        }
        Ok(Self { engine, name: name.to_owned(), value: value.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_for_all_engines_or_for_one() {
        let all: SharedSetting = "lib=copy:/a=b".parse().unwrap();
        assert_eq!((&*all.name, &*all.value), ("lib", "copy:/a=b"));
        assert!(all.is_for("sqlite") && all.is_for("files"));
        let one: SharedSetting = "sqlite:sync=off,full".parse().unwrap();
        assert_eq!((&*one.name, &*one.value), ("sync", "off,full"));
        assert!(one.is_for("sqlite") && !one.is_for("files"));
        for wrong in ["", "mmap", "mmap=", "=1", "sqlite:=1", "sqlite:mmap"] {
            let said = wrong.parse::<SharedSetting>().unwrap_err().to_string();
            assert!(said.contains("accepted: NAME=VALUE"), "{said}");
        }
    }
}
