//! The exit codes of gates: a limit on times, for `--fail-above`, and counters, for `--fail-on`.

use checks::Gate;
use model::{Counter, Error, Inconclusive, units};
use spec::{GateOptions, given_value, given_values};

use crate::{exit::Failure, output};

/// The limit of `--fail-above`, and what becomes of a gate that it leaves undecided.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) share: f64,
    inconclusive: Inconclusive,
}

impl Limit {
    /// Returns the limit; `None` if none was asked for.
    pub(crate) fn new(options: &GateOptions) -> Option<Self> {
        let share = given_value(&options.fail_above)?;
        let inconclusive = given_value(&options.inconclusive).unwrap_or(Inconclusive::Fail);
        Some(Self { share, inconclusive })
    }

    /// Prints which rows fail and which are undecided, and fails if the `gate` on all of them does.
    /// `cannot` is why not all can be judged, `more` what shows smaller changes.
    pub(crate) fn judge(
        self,
        rows: &[(Gate, String)],
        gate: Gate,
        cannot: Option<String>,
        more: &str,
    ) -> Result<(), Failure> {
        let limit = units::exact_percent(self.share);
        let say = |word: &str| output::say(&format!("gate at {limit}: {word}"));
        say_rows(rows, say);
        match (gate, cannot, self.inconclusive) {
            (Gate::Fail, ..) => Err(Failure::GATE),
            (_, Some(why), _) => {
                Err(Failure::PartWay(Error::failed(format!("--fail-above: {why}"))))
            }
            (Gate::Undecided, _, Inconclusive::Fail) => {
                output::say(&format!("{more} show smaller changes"));
                Err(Failure::GATE)
            }
            (Gate::Undecided, _, Inconclusive::Pass) => Ok(()),
            (Gate::Pass, ..) => {
                say("pass");
                Ok(())
            }
        }
    }
}

/// Prints the rows that fail, then those that are undecided.
fn say_rows(rows: &[(Gate, String)], say: impl Fn(&str)) {
    for (gate, word) in [(Gate::Fail, "fail"), (Gate::Undecided, "undecided")] {
        for (_, row) in rows.iter().filter(|(of, _)| *of == gate) {
            say(&format!("{word}: {row}"));
        }
    }
}

/// The counters of `--fail-on`.
pub(crate) struct Counters(pub(crate) Vec<Counter>);

impl Counters {
    /// Returns the counters; `None` if none was asked for.
    pub(crate) fn new(options: &GateOptions) -> Option<Self> {
        let counters = given_values(&options.fail_on);
        (!counters.is_empty()).then_some(Self(counters))
    }

    /// Prints which rows have more than before and which cannot be compared, and fails if there are any.
    /// `cannot` is why not all can be judged.
    pub(crate) fn judge(
        &self,
        rows: &[(Gate, String)],
        cannot: Option<String>,
    ) -> Result<(), Failure> {
        let names: Vec<_> = self.0.iter().map(|counter| counter.as_str()).collect();
        let say = |word: &str| output::say(&format!("gate on {}: {word}", names.join(", ")));
        say_rows(rows, say);
        if rows.iter().any(|(gate, _)| *gate == Gate::Fail) {
            return Err(Failure::GATE);
        }
        if let Some(why) = cannot {
            return Err(Failure::PartWay(Error::failed(format!("--fail-on: {why}"))));
        }
        if rows.iter().any(|(gate, _)| *gate == Gate::Undecided) {
            return Err(Failure::GATE);
        }
        say("pass");
        Ok(())
    }
}
