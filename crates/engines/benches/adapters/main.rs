//! What an adapter costs over a bare loop: the same work through `&mut dyn Session` and as one
//! would write it by hand on the same library, in shuffled rounds, over the same files.
//!
//! ```text
//! cargo bench -p storemark-engines                        all rows, 20,000 values, 15 rounds
//! cargo bench -p storemark-engines -- --keys 100k blob    rows whose name holds "blob"
//! cargo bench -p storemark-engines -- --check             exit 3 if a row is over its limit
//! ```
//!
//! The files (about 60 kB a value) go to `TMPDIR`, or the build's own folder, and are removed at
//! the end, also after Ctrl-C.

mod arguments;
mod bare;
mod data;
mod rounds;
mod scratch;
mod subjects;
mod table;

use std::process::ExitCode;

use arguments::Arguments;
use data::Data;
use model::Result;

fn main() -> ExitCode {
    match run() {
        Ok(over) if over => ExitCode::from(3),
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("adapters: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether `--check` was given and a row is over its limit.
fn run() -> Result<bool> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let scratch = scratch::make()?;
    let stop = scratch::stop_on_interrupt()?;
    let data = Data::new(arguments.keys);
    let subjects = subjects::make(scratch.path(), &data, &arguments.only, &stop)?;
    let rows = rounds::measure(subjects, &data, arguments.rounds, &stop)?;
    print!("{}", table::show(&rows, &arguments));
    Ok(arguments.check && rows.iter().any(rounds::Row::over))
}
