//! The cost of requests, by a price list of the user.

use model::{Accepts, COST, Error, Requests, Result, Setting, Settings};

pub(super) const PRICES: Setting = Setting::new(
    "prices",
    Accepts::Text,
    "what 1,000 puts, 1,000 gets, a GB stored for a month and a GB read cost, in any currency: \
     prices=0.005,0.0004,0.023,0.09; the costs are counted in millionths of it",
)
.of_use();

/// The word for no price list.
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
    /// Returns the list in `settings`, if any.
    ///
    /// # Errors
    ///
    /// Fails if it has another form.
    pub(super) fn from_settings(settings: &Settings) -> Result<Option<Self>> {
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

    /// Returns the cost of requests, and of what they received.
    pub(super) fn cost(&self, sent: &Requests) -> f64 {
        let of = |count: u64, price: f64, per: f64| count as f64 * price / per;
        of(sent.puts, self.thousand_puts, 1e3)
            + of(sent.gets, self.thousand_gets, 1e3)
            + of(sent.received_bytes, self.read_gb, 1e9)
    }

    /// Returns the cost of requests, and that of storing what was sent for a month, as counters.
    #[expect(clippy::cast_possible_truncation, reason = "a cost below 2^63 millionths")]
    pub(super) fn counters(&self, sent: &Requests) -> [(&'static str, i64); 2] {
        let stored = sent.sent_bytes as f64 * self.stored_gb / 1e9;
        let millionths = |amount: f64| (amount * 1e6).round() as i64;
        [
            (COST, millionths(self.cost(sent))),
            ("cost of a month of what was sent, millionths", millionths(stored)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Result<Option<Prices>> {
        let mut settings = Settings::default();
        settings.set(PRICES.name, text);
        Prices::from_settings(&settings)
    }

    #[test]
    fn costs_are_sums_of_counts() {
        let prices = asked("5, 0.4,20,90").unwrap().unwrap();
        let sent = Requests {
            puts: 2_000,
            gets: 10_000,
            sent_bytes: 3_000_000_000,
            received_bytes: 1_000_000_000,
            ..Requests::default()
        };
        let costs = prices.counters(&sent);
        assert_eq!(costs.map(|(_, cost)| cost), [104_000_000, 60_000_000]);
        assert_eq!(asked("none").unwrap(), None);
        assert_eq!(Prices::from_settings(&Settings::default()).unwrap(), None);
    }

    #[test]
    fn a_list_has_four_prices() {
        for wrong in ["", "1,2,3", "1,2,3,4,5", "1,2,3,x", "1,2,3,-4", "1,2,3,nan"] {
            let said = asked(wrong).unwrap_err().to_string();
            assert!(said.contains("accepted: four prices"), "{said}");
        }
    }
}
