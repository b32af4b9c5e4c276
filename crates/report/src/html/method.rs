//! How it was measured, in short.

use maud::{Markup, html};

pub(super) fn markup() -> Markup {
    html! {
        section {
            h2 { "Method" }
            p {
                "Every round measures every target under every workload once, in an order that is drawn \
                 anew. A target is compared with the baseline within each round, so that what disturbs a \
                 round disturbs both. Figures are geometric means over the rounds."
            }
            p {
                "An interval is the range in which the true figure lies in 95 of 100 runs that are made \
                 like this one. It comes from how much the rounds differ. Where the interval of a ratio \
                 contains 1, no difference is shown: there may be none, or one too small for these rounds."
            }
            p {
                "Times come from passes without a clock between operations; latencies from a further pass \
                 that reads the clock before and after each. A trial that was not in its cache state gives \
                 no figure. Findings are doubts that storemark has itself."
            }
        }
    }
}
