//! The method in short.

use maud::{Markup, html};

pub(super) fn markup() -> Markup {
    html! {
        section {
            h2 { "Method" }
            p {
                "Every round measures every target under every workload once, in a new random order. A \
                 target is compared with the baseline within each round, so that what disturbs a round \
                 disturbs both. Figures are geometric means over the rounds."
            }
            p {
                "An interval is the range that contains the true figure in 95 of 100 runs like this one. It \
                 comes from how much the rounds differ. If the interval of a ratio contains 1, no difference \
                 is shown: there may be none, or one too small for these rounds."
            }
            p {
                "Times come from passes without a clock between operations; latencies from a further pass \
                 that reads the clock before and after each. A trial that was not in its cache state gives \
                 no figure. Findings say what may be wrong with a figure."
            }
        }
    }
}
