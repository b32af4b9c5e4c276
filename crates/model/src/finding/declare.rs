//! The form in which findings are declared, so that each is in one place.

/// Declares all findings: for each its weight, its fields and its sentence.
///
/// ```text
/// [Warning, worst ("", *share)]          the weight; of findings that differ in their extent only,
///                                        the one with the largest extent is shown
/// Steal {
///     share: f64 as percent = "Share of all processor time.",     each field with what it is;
///                                        in the sentence {share} is percent(share)
/// } => "…{share}…{more}…", more = …;     {more} is computed from the fields
/// ```
macro_rules! findings {
    ($(#[$about:meta])* $name:ident: $(
        [$severity:expr $(, worst $extent:expr)?]
        $kind:ident $({ $( $field:ident: $type:ty $(as $show:ident)? = $doc:literal ),* $(,)? })?
        => $sentence:literal $(, $more:ident = $value:expr)*;
    )*) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", tag = "finding")]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = $sentence] $kind $({ $( #[doc = $doc] $field: $type ),* })?,)*
        }

        impl $name {
            /// Returns the weight of the finding.
            pub fn severity(&self) -> Severity {
                match self {
                    $(Self::$kind $({ $($field),* })? => { $(let _ = ($($field,)*);)? $severity })*
                }
            }

            /// Returns the subject of the finding, if its kind alone does not name it, and its
            /// extent: the larger, the worse. `None` if findings of this kind do not differ in
            /// their extent only.
            pub fn extent(&self) -> Option<(&str, f64)> {
                match self {
                    $(Self::$kind $({ $($field),* })? => {
                        $(let _ = ($($field,)*);)?
                        findings!(@extent $($extent)?)
                    })*
                }
            }
        }

        /// Formats the statement of what is doubtful, then the advice.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$kind $({ $($field),* })? => {
                        $($($(let $field = $show(*$field);)?)* let _ = ($(&$field,)*);)?
                        write!(f, $sentence $(, $more = $value)*)
                    })*
                }
            }
        }
    };
    (@extent) => { None };
    (@extent $extent:expr) => { Some($extent) };
}

pub(super) use findings;
