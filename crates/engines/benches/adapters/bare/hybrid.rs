//! A row that names a file by number and length, then that file.

use std::path::Path;

use model::Result;

use super::{
    Bare, Work,
    files::{Layout, Reader},
    sqlite::Select,
};

pub(crate) const SELECT: &str = "SELECT value FROM integers WHERE number=?1";

pub(crate) struct Get {
    rows: Select,
    files: Reader,
}

impl Get {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let rows = Select::by(&path.join("hybrid.db"), "", SELECT)?;
        Ok(Self { rows, files: Reader::open(&path.join("hybrid.files"), Layout::Tree)? })
    }

    #[inline]
    fn get(&self, key: i64, into: &mut [u8]) -> usize {
        let mut text = [0; 40];
        let length = self.rows.get(key, &mut text);
        let number = text[..length].split(|byte| *byte == b' ').next().expect("a first part");
        let number = number.iter().fold(0, |n, digit| n * 10 + i64::from(digit - b'0'));
        self.files.get(number, into)
    }
}

impl Bare for Get {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        self.rows.within(|| work.keys.iter().map(|key| self.get(*key, buffer)).sum())
    }
}
