//! The work of passes on values.

use model::{Error, Operation, Order, Result, Work};

/// The work of a pass: reads or writes of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlobWork {
    /// The operation.
    pub operation: Operation,
    /// In which order keys are touched.
    pub order: Order,
    /// Operations a second that start on schedule; `None` if each starts as soon as it can.
    pub rate: Option<f64>,
}

impl BlobWork {
    /// Returns what passes do for a planned `work` on values. The objects of an ageing store are
    /// touched in the order in which the dataset has them. Fails for other work.
    pub(super) fn from_planned(work: Work) -> Result<Self> {
        match work {
            Work::Blobs { operation, order, rate } => Ok(Self { operation, order, rate }),
            Work::Ageing { operation, .. } => {
                Ok(Self { operation, order: Order::Permutation, rate: None })
            }
            other => Err(Error::usage(format!("{other} is no operation on values"))),
        }
    }

    /// Returns the work as a plan has it.
    pub(crate) fn planned(self) -> Work {
        let Self { operation, order, rate } = self;
        Work::Blobs { operation, order, rate }
    }
}
