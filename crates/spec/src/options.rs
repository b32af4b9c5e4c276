//! The form in which options are declared, so that each is in one place.

/// Declares options of a command as fields: clap fills them, plans and records hold them, all by
/// their long names.
///
/// ```text
/// pub struct Running under "Run" {        the heading in --help
///     targets = "What to measure";        the command's arguments without a name
///     /// Run exactly N rounds            the text in --help
///     rounds: Vec<Written<Size>> = "N" [allow_hyphen_values = true],
///                                         what its value is called there, and further arguments of clap's
///     ..shown: Output,                    options that are declared elsewhere
/// }
/// ```
macro_rules! options {
    ($(
        $(#[$about:meta])*
        pub struct $name:ident $(under $heading:literal)? {
            $(targets = $targets:literal;)?
            $(
                $(#[doc = $doc:literal])+
                $option:ident: $type:ty $(= $value:literal)? $([$($arg:tt)*])?,
            )*
            $(..$part:ident: $of:ty,)*
        }
    )+) => {$(
        $(#[$about])*
        #[derive(
            Clone, Debug, Default, PartialEq,
            serde::Serialize, serde::Deserialize,
        )]
        #[serde(default, rename_all = "kebab-case")]
        #[cfg_attr(feature = "clap", derive(clap::Args))]
        $(#[cfg_attr(feature = "clap", command(next_help_heading = $heading))])?
        pub struct $name {
            $(
                #[doc = $targets]
                #[cfg_attr(feature = "clap", arg(help_heading = None))]
                pub targets: Vec<$crate::Name>,
            )?
            $(
                $(#[doc = $doc])+
                #[cfg_attr(feature = "clap", arg(long $(, value_name = $value)? $(, $($arg)*)?))]
                pub $option: $type,
            )*
            $(
                /// Further options.
                #[serde(flatten)]
                #[cfg_attr(feature = "clap", command(flatten))]
                pub $part: $of,
            )*
        }
    )+};
}

pub(crate) use options;
