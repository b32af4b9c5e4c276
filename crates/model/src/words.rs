//! The form in which enums of words are declared: each word is written once.

/// Declares an enum whose values are words: they are printed, stored and, if the enum says what it
/// is, read as those.
///
/// ```text
/// pub enum Durability as "durability class" {     an error names what was read
///     /// An acknowledged commit survives.
///     Durable = "durable",
/// }
/// ```
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $name:ident $(as $what:literal)? {
            $($(#[$doc:meta])* $value:ident = $word:literal,)*
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $value,)*
        }

        impl $name {
            /// All of them, in this order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$value),*];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        $(impl std::str::FromStr for $name {
            type Err = crate::Error;

            fn from_str(text: &str) -> crate::Result<Self> {
                crate::nearest::named($what, text, &Self::ALL)
            }
        })?
    };
}

pub(crate) use words;
