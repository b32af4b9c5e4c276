//! The end of a scan with a limit.

use std::ops::ControlFlow;

use model::{Item, Visit, Visitor};

/// Returns a visitor that passes items to `visit` and stops after `limit` items.
pub fn stop_after(limit: u64, visit: &mut Visitor<'_>) -> impl FnMut(Item<'_>) -> Visit {
    let mut left = limit;
    move |item| {
        if left == 0 {
            return Ok(ControlFlow::Break(()));
        }
        left -= 1;
        let going = visit(item)?;
        Ok(if left == 0 { ControlFlow::Break(()) } else { going })
    }
}
