//! Durability classes: what a store promises after a power cut.

use crate::words::words;

words! {
    /// A durability class, weakest first.
    pub enum Durability as "durability class" {
        /// Nothing is promised: values may be torn or gone.
        None = "none",
        /// Every value is whole; recent commits may be gone.
        Consistent = "consistent",
        /// An acknowledged commit survives.
        Durable = "durable",
    }
}
