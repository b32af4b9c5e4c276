//! The words after `cargo bench … --`, and after `cargo test --bench adapters --`, which only tries all rows.

use model::{Error, Result, units::parse_integer};

pub(crate) struct Arguments {
    pub(crate) keys: i64,
    pub(crate) rounds: usize,
    pub(crate) check: bool,
    /// A row is measured if its name holds one of these; all are if there are none.
    pub(crate) only: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self> {
        // cargo says whether it measures.
        let (cargo, words): (Vec<_>, Vec<_>) = words.partition(|word| word == "--bench");
        let (keys, rounds) = if cargo.is_empty() { (100, 2) } else { (20_000, 15) };
        let mut arguments = Self { keys, rounds, check: false, only: Vec::new() };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--check" => arguments.check = true,
                "--keys" => arguments.keys = number(&word, words.next(), 1, MOST_KEYS)?,
                "--rounds" => {
                    let rounds = number(&word, words.next(), 2, 10_000)?;
                    arguments.rounds = usize::try_from(rounds).unwrap_or(usize::MAX);
                }
                flag if flag.starts_with('-') => {
                    return Err(Error::usage(format!(
                        "no flag {flag} (accepted: --keys N, --rounds N, --check)"
                    )));
                }
                _ => arguments.only.push(word),
            }
        }
        Ok(arguments)
    }
}

/// The bare loop over files prints six digits.
const MOST_KEYS: i64 = 999_999;

fn number(flag: &str, word: Option<String>, least: i64, most: i64) -> Result<i64> {
    let word = word.ok_or_else(|| Error::usage(format!("{flag} needs a number")))?;
    match parse_integer(&word)? {
        number if (least..=most).contains(&number) => Ok(number),
        _ => Err(Error::usage(format!("{flag} {word}: accepted: {least} to {most}"))),
    }
}
