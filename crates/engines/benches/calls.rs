//! What it costs to call SQLite through a table of functions, as the engine does, instead of directly:
//! the smallest statement there is, about a million times each way, in turns.
//!
//! ```text
//! cargo bench -p storemark-engines --bench calls              prints the ratio with its interval
//! cargo bench -p storemark-engines --bench calls -- --check   exit 3 if it is above the limit
//! ```

use std::{ffi::c_int, hint::black_box, process::ExitCode, ptr, time::Instant};

use libsqlite3_sys::{self as sys, sqlite3_stmt};
use stats::paired_ratio;

/// The most that a call through the table may cost.
const LIMIT: f64 = 1.01;
const ROUNDS: usize = 30;
/// Of each way in a round; its figure is the median, which bursts of other work do not move.
const BLOCKS: usize = 41;
/// Of a block, which takes about a tenth of a millisecond.
const CALLS: i64 = 1_000;

/// As the engine's own, which is private: pointers in a static that the compiler cannot see through.
struct Functions {
    bind_int64: unsafe extern "C" fn(*mut sqlite3_stmt, c_int, i64) -> c_int,
    step: unsafe extern "C" fn(*mut sqlite3_stmt) -> c_int,
    column_int64: unsafe extern "C" fn(*mut sqlite3_stmt, c_int) -> i64,
    reset: unsafe extern "C" fn(*mut sqlite3_stmt) -> c_int,
}

static TABLE: Functions = Functions {
    bind_int64: sys::sqlite3_bind_int64,
    step: sys::sqlite3_step,
    column_int64: sys::sqlite3_column_int64,
    reset: sys::sqlite3_reset,
};

fn main() -> ExitCode {
    let (statement, table) = (prepared(), black_box(&TABLE));
    let (mut through, mut directly) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (mut by_table, mut by_name) = (Vec::new(), Vec::new());
        for block in 0..BLOCKS {
            for is_direct in [block % 2 == 0, block % 2 == 1] {
                let start = Instant::now();
                let sum = if is_direct { direct(statement) } else { by(table, statement) };
                let taken = start.elapsed().as_secs_f64();
                assert_eq!(sum, CALLS * (CALLS - 1) / 2, "a value is lost");
                if is_direct { &mut by_name } else { &mut by_table }.push(taken);
            }
        }
        // The first one warms everything.
        if round > 0 {
            through.push(median(by_table));
            directly.push(median(by_name));
        }
    }
    let ratio = paired_ratio(&through, &directly).expect("times are positive");
    let (point, low, high) = (ratio.point, ratio.low, ratio.high);
    println!("through the table ÷ directly: {point:.4} ({low:.4} to {high:.4}), limit {LIMIT}");
    let is_checked = std::env::args().any(|word| word == "--check");
    if is_checked && low > LIMIT { ExitCode::from(3) } else { ExitCode::SUCCESS }
}

fn median(mut blocks: Vec<f64>) -> f64 {
    blocks.sort_unstable_by(f64::total_cmp);
    blocks[blocks.len() / 2]
}

/// `SELECT ?1` on a database in memory; the process ends with both open.
fn prepared() -> *mut sqlite3_stmt {
    let (mut db, mut statement) = (ptr::null_mut(), ptr::null_mut());
    let flags = sys::SQLITE_OPEN_READWRITE | sys::SQLITE_OPEN_NOMUTEX;
    let (name, sql, end) = (c":memory:".as_ptr(), c"SELECT ?1".as_ptr(), ptr::null_mut());
    // SAFETY: the texts end in a zero byte, the handles are received.
    unsafe {
        assert_eq!(sys::sqlite3_open_v2(name, &raw mut db, flags, ptr::null()), sys::SQLITE_OK);
        let code = sys::sqlite3_prepare_v2(db, sql, -1, &raw mut statement, end);
        assert_eq!(code, sys::SQLITE_OK);
    }
    statement
}

#[inline(never)]
fn direct(statement: *mut sqlite3_stmt) -> i64 {
    let mut sum = 0;
    for value in 0..CALLS {
        // SAFETY: the statement is alive and has a parameter and a column.
        unsafe {
            sys::sqlite3_bind_int64(statement, 1, value);
            sys::sqlite3_step(statement);
            sum += sys::sqlite3_column_int64(statement, 0);
            sys::sqlite3_reset(statement);
        }
    }
    sum
}

#[inline(never)]
fn by(table: &'static Functions, statement: *mut sqlite3_stmt) -> i64 {
    let mut sum = 0;
    for value in 0..CALLS {
        // SAFETY: as above.
        unsafe {
            (table.bind_int64)(statement, 1, value);
            (table.step)(statement);
            sum += (table.column_int64)(statement, 0);
            (table.reset)(statement);
        }
    }
    sum
}
