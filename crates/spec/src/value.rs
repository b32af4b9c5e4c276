//! Values of options, each kept with the text that it was written as.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::Path,
    str::FromStr,
    time::Duration,
};

use model::{Error, Result, units};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A kind of option value, with the function that reads it.
pub trait Kind {
    /// The type of the values.
    type Value: Clone + fmt::Debug + PartialEq;

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// Fails if the text is not accepted; the sentence says what is.
    fn read(text: &str) -> Result<Self::Value>;
}

/// Reads words that have a type of their own.
impl<T: FromStr<Err = Error> + Clone + fmt::Debug + PartialEq> Kind for T {
    type Value = Self;

    fn read(text: &str) -> Result<Self> {
        text.parse()
    }
}

/// Declares kinds by their value and what reads it.
macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident $(<const $most:ident: u32>)?: $value:ty = $read:expr;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name $(<const $most: u32>)?;

        impl $(<const $most: u32>)? Kind for $name $(<$most>)? {
            type Value = $value;

            fn read(text: &str) -> Result<$value> {
                $read(text)
            }
        }
    )*};
}

kinds! {
    /// A number of bytes or of anything else: `4096`, `10k`, `10KiB`.
    Size: u64 = units::parse_size;
    /// A whole number that may be negative.
    Integer: i64 = units::parse_integer;
    /// A whole number from 1 to `MOST`.
    UpTo<const MOST: u32>: u32 = |text: &str| units::parse_up_to(text, MOST);
    /// A time above 0: `30s`.
    Time: Duration = units::parse_time;
    /// Operations a second: `10k`.
    Rate: f64 = units::parse_rate;
    /// An amount of money: `0.05`.
    Amount: f64 = units::parse_amount;
    /// A share from 0.01 to 1, as a percentage.
    Share: u8 = units::parse_share;
    /// A percentage, as a share: `5%` is 0.05.
    Percentage: f64 = units::parse_percentage;
    /// Any text.
    Text: String = |text: &str| Ok(text.to_owned());
}

/// A value of an option with the text that it was written as: tables, plans and records show the
/// text.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenValue<K: Kind> {
    text: String,
    value: K::Value,
}

impl<K: Kind> GivenValue<K> {
    /// Returns the value.
    pub fn value(&self) -> K::Value {
        self.value.clone()
    }
}

/// Returns the value of an option that has at most one in a run, or `None` if it is not given.
pub fn given_value<'a, K: Kind + 'a>(
    values: impl IntoIterator<Item = &'a GivenValue<K>>,
) -> Option<K::Value> {
    values.into_iter().next().map(GivenValue::value)
}

/// Returns the values of a list.
pub fn given_values<K: Kind>(values: &[GivenValue<K>]) -> Vec<K::Value> {
    values.iter().map(GivenValue::value).collect()
}

impl<K: Kind> FromStr for GivenValue<K> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        K::read(text).map(|value| Self { text: text.to_owned(), value })
    }
}

impl<K: Kind> fmt::Display for GivenValue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Writes plain numbers as numbers, and everything else as text.
impl<K: Kind> Serialize for GivenValue<K> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.text.parse::<i64>() {
            Ok(number) if number.to_string() == self.text => out.serialize_i64(number),
            _ => out.serialize_str(&self.text),
        }
    }
}

impl<'de, K: Kind> Deserialize<'de> for GivenValue<K> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        text(value)?.parse().map_err(de::Error::custom)
    }
}

/// Reads a value in the form that it has on a command line.
fn text<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    match serde_json::Value::deserialize(value)? {
        serde_json::Value::String(text) => Ok(text),
        serde_json::Value::Number(number) => Ok(number.to_string()),
        other => Err(de::Error::custom(format!("{other} is neither text nor a number"))),
    }
}

/// A path or a target as the user wrote it.
// A name that is not UTF-8 is serialised with replacement characters; `RunSpec::options` refuses it
// then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Name(OsString);

impl Name {
    /// Returns the name as a path.
    pub fn path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl<T: Into<OsString>> From<T> for Name {
    fn from(name: T) -> Self {
        Self(name.into())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.to_string_lossy().into_owned()
    }
}

impl AsRef<OsStr> for Name {
    fn as_ref(&self) -> &OsStr {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        text(value).map(Self::from)
    }
}
