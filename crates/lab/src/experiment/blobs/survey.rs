//! The facts about the data before anything is measured.

use model::{Error, Result, Settings};

use super::{Job, Source};
use crate::{Progress, Stop, experiment::request::Request};

/// The data as they are now.
pub(crate) struct Survey {
    /// The lengths of all values, ascending.
    pub(crate) lengths: Vec<u64>,
    /// Settings of the store that holds them, as read back, where a new one would not have them by
    /// itself; none: the values are generated.
    pub(crate) settings: Settings,
}

/// Looks at the data of `request`.
pub(crate) fn survey(request: &Request, progress: &dyn Progress, stop: &Stop) -> Result<Survey> {
    let part = request.blobs().ok_or_else(|| Error::usage("only values have lengths"))?;
    let source = Source::open(Job::new(request, part, progress, stop))?;
    let mut lengths = source.lengths(stop)?;
    lengths.sort_unstable();
    Ok(Survey { lengths, settings: source.settings()? })
}
