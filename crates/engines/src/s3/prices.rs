//! What requests cost, by a price list of the user's.

use model::{Accepts, Error, Result, Setting, Settings};

pub(super) const PRICES: Setting = Setting::new(
    "prices",
    Accepts::Text,
    "what 1,000 puts, 1,000 gets, a GB stored for a month and a GB read cost, in any currency: \
     prices=0.005,0.0004,0.023,0.09; the costs are counted in millionths of it",
)
.of_use();

/// What is given for no prices.
pub(super) const NONE: &str = "none";

/// A price list, in one currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prices {
    thousand_puts: f64,
    thousand_gets: f64,
    stored_gb: f64,
    read_gb: f64,
}

impl Prices {
    /// The list that `settings` give, if any.
    pub(super) fn asked(settings: &Settings) -> Result<Option<Self>> {
        let Some(text) = settings.get(PRICES.name).filter(|text| *text != NONE) else {
            return Ok(None);
        };
        let numbers = text.split(',').map(|word| word.trim().parse::<f64>().ok());
        let numbers: Option<Vec<f64>> =
            numbers.map(|price| price.filter(|price| (0.0..1e9).contains(price))).collect();
        match numbers.as_deref() {
            Some(&[thousand_puts, thousand_gets, stored_gb, read_gb]) => {
                Ok(Some(Self { thousand_puts, thousand_gets, stored_gb, read_gb }))
            }
            _ => Err(Error::usage(format!(
                "prices={text}: accepted: four prices, of 1,000 puts, 1,000 gets, a GB stored for a \
                 month and a GB read, as in prices=0.005,0.0004,0.023,0.09"
            ))),
        }
    }

    /// What requests cost, and a month of what was sent.
    #[expect(clippy::cast_possible_truncation, reason = "a cost below 2^63 millionths")]
    pub(super) fn costs(
        &self,
        puts: i64,
        gets: i64,
        sent: i64,
        received: i64,
    ) -> [(&'static str, i64); 2] {
        let of = |count: i64, price: f64, per: f64| count as f64 * price / per * 1e6;
        let requests = of(puts, self.thousand_puts, 1e3)
            + of(gets, self.thousand_gets, 1e3)
            + of(received, self.read_gb, 1e9);
        let stored = of(sent, self.stored_gb, 1e9);
        [
            ("cost of requests, millionths", requests.round() as i64),
            ("cost of a month of what was sent, millionths", stored.round() as i64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Result<Option<Prices>> {
        let mut settings = Settings::default();
        settings.set(PRICES.name, text);
        Prices::asked(&settings)
    }

    #[test]
    fn costs_are_sums_of_counts() {
        let prices = asked("5, 0.4,20,90").unwrap().unwrap();
        let costs = prices.costs(2_000, 10_000, 3_000_000_000, 1_000_000_000);
        assert_eq!(costs.map(|(_, cost)| cost), [104_000_000, 60_000_000]);
        assert_eq!(asked("none").unwrap(), None);
        assert_eq!(Prices::asked(&Settings::default()).unwrap(), None);
    }

    #[test]
    fn a_list_has_four_prices() {
        for wrong in ["", "1,2,3", "1,2,3,4,5", "1,2,3,x", "1,2,3,-4", "1,2,3,nan"] {
            let said = asked(wrong).unwrap_err().to_string();
            assert!(said.contains("accepted: four prices"), "{said}");
        }
    }
}
