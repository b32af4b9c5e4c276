//! Writes a record of many trials to standard output, to measure what reading it and making a page
//! of it takes:
//!
//!     cargo run --example long_record -- 100000 > long.json
//!     /usr/bin/time -v storemark report long.json --html long.html

#[expect(dead_code, clippy::unwrap_used, reason = "the tests' own, who use the rest as well")]
#[path = "../tests/it/fixture.rs"]
mod fixture;

use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let trials = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let mut out = BufWriter::new(io::stdout().lock());
    // Of eight targets under three workloads in two states.
    for line in fixture::lines(&fixture::long(trials / 48)) {
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
