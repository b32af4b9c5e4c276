//! Converts storemark's settings to the library's options, and back.

use std::{fs, path::Path};

use model::{Error, Result, Settings};
use rocksdb::{BlockBasedOptions, Cache, DBCompressionType, Options, WriteOptions};

/// The least bytes of a value in a file of its own, as fjall's default; smaller values stay in the
/// tables.
const SMALLEST_BLOB: u64 = 1024;

/// The words of the setting `compression`, the library's own names for them, and their types.
const COMPRESSIONS: [(&str, &str, DBCompressionType); 4] = [
    ("none", "kNoCompression", DBCompressionType::None),
    ("snappy", "kSnappyCompression", DBCompressionType::Snappy),
    ("lz4", "kLZ4Compression", DBCompressionType::Lz4),
    ("zstd", "kZSTD", DBCompressionType::Zstd),
];

pub(super) fn check(settings: &Settings) -> Result<()> {
    if settings.is("wal", "off") && settings.is("sync", "on") {
        return Err(Error::usage("wal=off&sync=on: there is no log to flush"));
    }
    Ok(())
}

/// Returns the options to open a store with, or to create one.
pub(super) fn build(settings: &Settings, create: bool) -> Result<Options> {
    let mut options = Options::default();
    options.create_if_missing(create);
    options.create_missing_column_families(create);
    options.set_error_if_exists(create);
    let asked = settings.get("compression").unwrap_or("none");
    let (_, _, compression) =
        *COMPRESSIONS.iter().find(|known| known.0 == asked).expect("settings are checked");
    options.set_compression_type(compression);
    options.set_enable_blob_files(!settings.is("blobs", "off"));
    options.set_min_blob_size(SMALLEST_BLOB);
    options.set_blob_compression_type(compression);
    options.set_enable_blob_gc(true);
    if let Some(bytes) = settings.parse("cache") {
        let cache = Cache::new_lru_cache(bytes).map_err(|e| Error::failed(e.to_string()))?;
        let mut table = BlockBasedOptions::default();
        table.set_block_cache(&cache);
        options.set_block_based_table_factory(&table);
    }
    Ok(options)
}

/// Returns the options to write a batch with, and whether the log is then flushed.
pub(super) fn write_options(settings: &Settings) -> (WriteOptions, bool) {
    let mut options = WriteOptions::default();
    options.disable_wal(settings.is("wal", "off"));
    (options, settings.is("sync", "on"))
}

/// Returns the settings that the library itself recorded for the store at `path` when it was last
/// opened to write.
pub(super) fn recorded_settings(path: &Path, column: &str) -> Result<Settings> {
    let failed = |e| Error::io(path.display(), e);
    let mut newest = None;
    for entry in fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("OPTIONS-")?.parse().ok());
        newest = newest.max(number.map(|number: u64| (number, name)));
    }
    let mut settings = Settings::default();
    if let Some((_, name)) = newest {
        let text = fs::read_to_string(path.join(name)).map_err(failed)?;
        for (name, value) in column_options(&text, column) {
            note(&mut settings, name, value);
        }
    }
    Ok(settings)
}

fn column_options<'t>(text: &'t str, column: &str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let own = format!("[CFOptions \"{column}\"]");
    let mut lines = text.lines().map(str::trim);
    let _ = lines.find(|line| *line == own);
    lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='))
}

fn note(settings: &mut Settings, name: &str, value: &str) {
    match name {
        "enable_blob_files" => settings.set("blobs", if value == "true" { "on" } else { "off" }),
        "compression" => {
            let word = COMPRESSIONS.iter().find(|known| known.1 == value);
            settings.set("compression", word.map_or(value, |known| known.0));
        }
        _ => {}
    }
}
