//! `--export-hdr`: files of latencies.

use std::{fs, path::Path};

use model::{Error, Result, record::Record};

/// Writes a file for each case, target and kind of operation into `folder`, which is created if
/// needed; of a sweep, each run's into a folder in it by the run's number.
pub(super) fn write(records: &[Record], folder: &Path) -> Result<()> {
    match records {
        [record] => write_one(record, folder),
        runs => (1..).zip(runs).try_for_each(|(number, record): (u32, _)| {
            write_one(record, &folder.join(number.to_string()))
        }),
    }
}

fn write_one(record: &Record, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), e))?;
    report::hdr(record).try_for_each(|(name, listing)| {
        let path = folder.join(name);
        fs::write(&path, listing).map_err(|e| Error::io(path.display(), e))
    })
}
