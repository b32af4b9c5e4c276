//! What is done to one open file.

use std::{fmt::Write, fs::File, io, path::Path};

use model::{Result, units::show_size};
use pagecache::{Evictor, Locked, Pages};
use serde_json::{Value, json};

use super::{
    look::{Look, Seen},
    map,
    tally::Tally,
};
use crate::{args::CacheOptions, output};

/// Looks, and does what was asked for.
pub(super) struct Act<'a> {
    options: &'a CacheOptions,
    buffer: Vec<u8>,
    evictor: Evictor,
    locked: Vec<Locked>,
    /// Bytes that may still be locked; absent: nothing is locked, or the system does not tell.
    room: Option<u64>,
    width: u64,
    /// Lines for -v, printed together.
    lines: String,
    /// The same for JSON.
    listed: Vec<Value>,
}

impl<'a> Act<'a> {
    pub(super) fn new(options: &'a CacheOptions) -> Self {
        Self {
            options,
            buffer: if options.touch { vec![0; pagecache::BUFFER] } else { Vec::new() },
            evictor: Evictor::default(),
            locked: Vec::new(),
            room: if options.lock || options.lock_all { available() } else { None },
            width: map::width(),
            lines: String::new(),
            listed: Vec::new(),
        }
    }

    /// Does it to the regular file at `path`.
    pub(super) fn on(&mut self, path: &Path, look: &Look, tally: &mut Tally) -> io::Result<()> {
        if self.options.max_size.is_some_and(|most| look.size > most) {
            tally.skipped.large += 1;
            return Ok(());
        }
        if look.size > 0 && self.options.range.of(look.size).is_none() {
            tally.skipped.short += 1;
            return Ok(());
        }
        let file = match &look.seen {
            Seen::Pages(pages) => {
                tally.pages += *pages;
                return Ok(());
            }
            Seen::File(file) => file,
        };
        self.take_room(look.size)?;
        self.change(file, tally)?;
        let pages = Pages::of_sized(file, look.size, self.options.range)?;
        tally.pages += pages;
        if self.options.verbose { self.show(path, file, pages) } else { Ok(()) }
    }

    /// Root may lock more than there is, and the machine would stand still.
    fn take_room(&mut self, size: u64) -> io::Result<()> {
        let Some(room) = &mut self.room else { return Ok(()) };
        let wanted = self.options.range.of(size).map_or(0, |(_, length)| length);
        *room = room.checked_sub(wanted).ok_or_else(|| {
            let (wanted, room) = (show_size(wanted), show_size(*room));
            let why = format!("to lock it takes {wanted} of memory, {room} are left");
            io::Error::new(io::ErrorKind::OutOfMemory, why)
        })?;
        Ok(())
    }

    fn change(&mut self, file: &File, tally: &mut Tally) -> io::Result<()> {
        let span = self.options.range;
        if self.options.lock {
            self.locked.push(Locked::new(file, span)?);
        } else if self.options.lock_all {
            self.locked.push(Locked::mapped(file, span)?);
        } else if self.options.touch {
            let read = pagecache::warm(file, span, &mut self.buffer)?;
            tally.touched += read.div_ceil(pagecache::page_size());
        } else if self.options.evict {
            self.evictor.evict(file, span)?;
        }
        Ok(())
    }
}

fn available() -> Option<u64> {
    lab::host::environment(&[]).memory.available_bytes
}

impl Act<'_> {
    /// Path and map, for -v.
    fn show(&mut self, path: &Path, file: &File, pages: Pages) -> io::Result<()> {
        if self.options.json {
            self.listed.push(json!({
                "path": path.to_string_lossy(),
                "pages": pages.total,
                "resident": pages.resident,
                "unknown": pages.unknown,
                "dirty": pages.dirty,
            }));
            return Ok(());
        }
        let per_cell = map::per_cell(pages.total, self.width);
        let cells = pagecache::residency_map(file, self.options.range, per_cell)?;
        let drawn = map::draw(cells.as_deref(), per_cell, pages);
        // Writing to a string does not fail.
        let _ = writeln!(self.lines, "{}\n{drawn}", output::harmless(&path.to_string_lossy()));
        Ok(())
    }

    /// Prints the lines that were held back once they are `most` bytes.
    pub(super) fn flush(&mut self, most: usize) -> Result<()> {
        if self.lines.len() < most {
            return Ok(());
        }
        output::print(&std::mem::take(&mut self.lines))
    }

    /// What is locked, once all was visited.
    pub(super) fn finish(mut self) -> Result<(Vec<Locked>, Vec<Value>)> {
        self.flush(1)?;
        Ok((self.locked, self.listed))
    }
}
