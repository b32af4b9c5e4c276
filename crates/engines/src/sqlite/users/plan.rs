//! How SQLite would carry out a statement.

use std::ops::ControlFlow;

use model::Result;

use crate::sqlite::ffi::{Connection, Parameter};

/// Returns whether a step of the plan of a statement has one of these words.
pub(super) fn has_step(
    db: &Connection,
    sql: &str,
    parameters: usize,
    words: &[&str],
) -> Result<bool> {
    const DETAIL: i32 = 3;
    let mut found = false;
    let mut steps = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    steps.rows(vec![Parameter::Null; parameters], |row| {
        let step = String::from_utf8_lossy(row.text(DETAIL));
        found |= words.iter().any(|word| step.contains(word)) && !step.contains("CONSTANT ROW");
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
