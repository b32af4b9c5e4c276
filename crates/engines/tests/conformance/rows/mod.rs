//! Every engine of rows through the same checks: what was inserted, in each style, is counted,
//! summed and changed; settings are read back; nothing is left.

mod case;
mod classes;
mod sharing;
mod values;
