//! `storemark conformance --skeleton`: writes a plugin to copy.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Write,
    path::Path,
};

use engines::{PluginSkeleton, SKELETONS};
use model::{Error, Result, no_such, shell_quoted};

/// Writes the skeleton in `language` with the header to `folder`, and returns what to do with it.
///
/// # Errors
///
/// Fails if there is none in this language, or a file would be overwritten.
pub(super) fn write(language: &OsStr, folder: &Path) -> Result<String> {
    let language = language.to_string_lossy().to_lowercase();
    let skeleton = SKELETONS.iter().find(|skeleton| skeleton.language == language);
    let skeleton = skeleton.ok_or_else(|| {
        let all = SKELETONS.iter().map(|skeleton| skeleton.language);
        Error::usage(no_such("language", &language, all)).at("--skeleton")
    })?;
    fs::create_dir_all(folder).map_err(|error| Error::io(folder.display(), error))?;
    let paths = skeleton.files.iter().map(|(name, text)| (folder.join(name), text));
    if let Some((path, _)) = paths.clone().find(|(path, _)| path.symlink_metadata().is_ok()) {
        let why = "exists already; name another folder, or remove it";
        return Err(Error::usage(why).at(path.display()));
    }
    for (path, text) in paths {
        let file = File::create_new(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| Error::io(path.display(), error))?;
    }
    Ok(next_steps(skeleton, folder))
}

/// Returns the files, and the commands that compile, check and measure them.
fn next_steps(skeleton: &PluginSkeleton, folder: &Path) -> String {
    let names: Vec<_> = skeleton.files.iter().map(|(name, _)| *name).collect();
    let shown = folder.to_string_lossy();
    format!(
        "wrote {} to {shown}; compile, check and measure:\n\n    cd {}\n    {}\n    storemark \
         conformance plugin:./libskeleton.so\n    storemark run plugin:./libskeleton.so files:\n",
        names.join(", "),
        shell_quoted(&shown),
        skeleton.compiles_with()
    )
}
