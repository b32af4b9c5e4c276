//! Settings whose words mean something to the engine.

use model::Settings;

/// The words and their meanings; the first is the default.
pub(crate) struct Choice<T: 'static>(pub(crate) &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Choice<T> {
    /// What was asked for by the setting `name`, or the default.
    pub(crate) fn of(&self, settings: &Settings, name: &str) -> T {
        self.asked(settings, name).unwrap_or(self.0[0].1)
    }

    /// What was asked for, if anything was.
    pub(crate) fn asked(&self, settings: &Settings, name: &str) -> Option<T> {
        let asked = settings.get(name)?;
        self.0.iter().find(|(word, _)| *word == asked).map(|(_, meaning)| *meaning)
    }

    /// The word for `meaning`.
    pub(crate) fn word(&self, meaning: T) -> &'static str {
        self.0.iter().find(|(_, one)| *one == meaning).map_or("", |(word, _)| word)
    }
}
