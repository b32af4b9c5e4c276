//! The order in which a pass touches the keys.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, no_such};

/// The order in which a pass touches keys: all of them in some order, or drawn with replacement,
/// some often and some never.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Every key once, shuffled again each round.
    Permutation,
    /// Keys are drawn, each as likely as any other.
    Random,
    /// Drawn by Zipf's law: the r-th most popular key with a chance in proportion to r^-θ. Which
    /// keys are popular is drawn again each round.
    Zipfian {
        /// The exponent θ.
        theta: f64,
    },
    /// Drawn by Zipf's law, the youngest key the most popular: those inserted during the pass
    /// first, then the greatest.
    Latest {
        /// The exponent θ.
        theta: f64,
    },
    /// Some keys get most of the operations; among them, and among the others, each is as likely
    /// as any other. Which they are is drawn again each round.
    Hotspot {
        /// How many keys they are, in percent.
        keys: u8,
        /// How many operations they get, in percent.
        operations: u8,
    },
    /// From the least key to the greatest.
    Asc,
    /// From the greatest key to the least.
    Desc,
}

/// YCSB's exponent.
pub(crate) const THETA: f64 = 0.99;

/// The exponents that are accepted: below, a distribution is as good as uniform; above, it is as
/// good as one key.
const THETAS: std::ops::RangeInclusive<f64> = 0.01..=5.0;

/// The words that [`Order::from_str`] accepts.
const DISTRIBUTIONS: [&str; 6] =
    ["uniform", "zipfian", "latest", "hotspot", "zipfian=0.8", "hotspot=20/80"];

impl Order {
    /// Returns whether keys are drawn with replacement.
    pub fn is_drawn(self) -> bool {
        !matches!(self, Self::Permutation | Self::Asc | Self::Desc)
    }

    /// Returns whether some keys are touched far more often than others.
    pub fn is_skewed(self) -> bool {
        self.is_drawn() && self != Self::Random
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Permutation => f.pad("random permutation"),
            Self::Random => f.pad("random with replacement"),
            Self::Zipfian { theta } => write!(f, "zipfian {theta}"),
            Self::Latest { theta } => write!(f, "latest {theta}"),
            Self::Hotspot { keys, operations } => {
                write!(f, "hotspot ({operations} % on {keys} % of the keys)")
            }
            Self::Asc => f.pad("ascending"),
            Self::Desc => f.pad("descending"),
        }
    }
}

/// Reads a distribution: `uniform`, `zipfian`, `zipfian=0.8`, `latest`, `hotspot=20/80`.
impl FromStr for Order {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (word, value) = text.split_once('=').map_or((text, None), |(w, v)| (w, Some(v)));
        match word {
            "uniform" if value.is_none() => Ok(Self::Random),
            "zipfian" => exponent(text, value).map(|theta| Self::Zipfian { theta }),
            "latest" => exponent(text, value).map(|theta| Self::Latest { theta }),
            "hotspot" => hotspot(text, value.unwrap_or("20/80")),
            _ => Err(Error::usage(no_such("distribution", text, DISTRIBUTIONS))),
        }
    }
}

fn exponent(text: &str, value: Option<&str>) -> Result<f64, Error> {
    let Some(value) = value else { return Ok(THETA) };
    let theta = value.parse().ok().filter(|theta| THETAS.contains(theta));
    theta.ok_or_else(|| {
        let (least, most) = (THETAS.start(), THETAS.end());
        Error::usage(format!("the exponent is a number from {least} to {most}")).at(text)
    })
}

fn hotspot(text: &str, value: &str) -> Result<Order, Error> {
    let parts = value.split_once('/').and_then(|(keys, operations)| {
        Some((keys.parse::<u8>().ok()?, operations.parse::<u8>().ok()?))
    });
    match parts {
        Some((keys @ 1..=99, operations @ 1..=99)) => Ok(Order::Hotspot { keys, operations }),
        _ => Err(Error::usage(
            "hotspot=20/80 means 20 % of the keys and 80 % of the operations, each from 1 to 99",
        )
        .at(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read() {
        let read = |text: &str| text.parse::<Order>().unwrap();
        assert_eq!(read("uniform"), Order::Random);
        assert_eq!(read("zipfian"), Order::Zipfian { theta: 0.99 });
        assert_eq!(read("zipfian=0.8"), Order::Zipfian { theta: 0.8 });
        assert_eq!(read("latest=1"), Order::Latest { theta: 1.0 });
        assert_eq!(read("hotspot"), Order::Hotspot { keys: 20, operations: 80 });
        assert_eq!(read("hotspot=5/95"), Order::Hotspot { keys: 5, operations: 95 });
    }

    #[test]
    fn slips_are_told() {
        let say = |text: &str| text.parse::<Order>().unwrap_err().to_string();
        assert!(say("zipfan").contains("did you mean zipfian?"));
        for text in ["zipfian=0", "zipfian=nan", "zipfian=inf", "latest=-1", "zipfian=", "latest=6"]
        {
            assert!(say(text).contains("a number from 0.01 to 5"), "{text}: {}", say(text));
        }
        for text in ["hotspot=20", "hotspot=0/80", "hotspot=20/100", "hotspot=/", "hotspot=300/1"] {
            assert!(say(text).contains("20 % of the keys"), "{text}: {}", say(text));
        }
        for text in ["", "=", "uniform=1", "zipf 3"] {
            assert!(say(text).contains("accepted: uniform"), "{text}: {}", say(text));
        }
    }
}
