//! The steps in the life of a store, which `storemark life` measures.

use crate::words::words;

words! {
    /// A step of the life experiment: what happens to a store besides reading and writing values,
    /// in this order.
    pub enum LifeStep {
        /// The length of each value, in random order.
        Stat = "stat",
        /// All keys with the lengths of their values, in key order.
        List = "list",
        /// The store is opened and one value is read.
        Open = "open",
        /// The changes of a day: 1 % of the values are replaced.
        Day = "1% changed",
        /// The changes of the other days.
        Month = "more days",
        /// Half of the values are deleted.
        Half = "delete half",
        /// The engine gives their space back to the file system.
        Reclaim = "reclaim",
        /// The other values are deleted.
        Rest = "delete rest",
    }
}

impl LifeStep {
    /// Returns whether the step changes the store.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Stat | Self::List | Self::Open)
    }
}
