//! What a plugin is written from: the header, and a skeleton in each of some languages.

macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../plugin/", $name)))
    };
}

/// The header that a plugin is written against.
pub const HEADER: &str = HEADER_FILE.1;

const HEADER_FILE: (&str, &str) = file!("storemark_store.h");

/// A whole plugin over a store of its own, to copy.
pub struct PluginSkeleton {
    /// The language, as a user names it.
    pub language: &'static str,
    /// The names of its files with their texts: the source, and what it includes.
    pub files: &'static [(&'static str, &'static str)],
}

/// The skeletons by their languages.
pub static SKELETONS: &[PluginSkeleton] = &[
    PluginSkeleton { language: "c", files: &[file!("skeleton.c"), file!("toy.h"), HEADER_FILE] },
    PluginSkeleton { language: "cpp", files: &[file!("skeleton.cpp"), HEADER_FILE] },
    PluginSkeleton { language: "go", files: &[file!("skeleton.go"), file!("toy.go"), HEADER_FILE] },
    PluginSkeleton { language: "rust", files: &[file!("skeleton.rs"), HEADER_FILE] },
];

/// The shared object that each skeleton is compiled into.
const OBJECT: &str = "libskeleton.so";

impl PluginSkeleton {
    /// Returns the command that compiles it, which a remark at its start has.
    pub fn compiles_with(&self) -> &'static str {
        let (_, source) = self.files[0];
        let line = source.lines().find(|line| line.contains(OBJECT)).unwrap_or_default();
        line.trim_start_matches(['/', '*', '!', ' '])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_skeleton_is_short_and_says_how_it_is_compiled() {
        assert!(HEADER.lines().count() <= 150);
        let starts: Vec<_> = SKELETONS
            .iter()
            .map(|skeleton| {
                assert!(skeleton.files[0].1.lines().count() < 150, "{}", skeleton.language);
                skeleton.compiles_with().split(' ').next().unwrap()
            })
            .collect();
        assert_eq!(starts, ["cc", "c++", "go", "rustc"]);
    }
}
