//! A line of the list of engines.

use model::Engine;

/// An engine of this build or of others.
pub(crate) struct Listed {
    /// Its name in a target string.
    pub(crate) name: &'static str,
    /// The cargo feature that adds it; `None` if every build has it.
    pub(crate) feature: Option<&'static str>,
    /// The names in a folder by which the folder is the engine's, also if it is damaged or the
    /// engine is not in this build: names that others hardly use, at least one of which exists. A
    /// `*` is any text.
    pub(crate) own_marks: &'static [&'static str],
    /// The names that others use too. Of all names two exist, unless there is nothing else.
    pub(crate) common_marks: &'static [&'static str],
    /// Another program whose stores have these names, and which the engine reads.
    pub(crate) also_reads: Option<&'static str>,
    /// The engine; `None` if it is not in this build.
    pub(crate) engine: Option<&'static dyn Engine>,
}

/// Each line is `NAME: ENGINE, feature FEATURE, marks [OWN, …] [COMMON, …], also PROGRAM;`
/// without what the engine does not have. `unix` after a feature leaves the engine out of other systems.
macro_rules! engines {
    ($(
        $name:literal: $engine:expr
        $(, feature $feature:literal $($unix:ident)?)?
        $(, marks $own_marks:tt $common_marks:tt $(, also $also_reads:literal)?)?;
    )*) => {
        &[$($crate::list::Listed {
            name: $name,
            feature: [$(Some($feature),)? None][0],
            own_marks: [$(&$own_marks as &[_],)? &[]][0],
            common_marks: [$(&$common_marks as &[_],)? &[]][0],
            also_reads: [$($(Some($also_reads),)?)? None][0],
            engine: {
                #[cfg(all($(feature = $feature $(, $unix)?)?))]
                {
                    Some(&$engine)
                }
                #[cfg(not(all($(feature = $feature $(, $unix)?)?)))]
                {
                    None
                }
            },
        }),*]
    };
}

pub(crate) use engines;
