//! What to know when reading the page.

use model::record::Record;

use crate::terminal::{
    page::{Page, Paint},
    rows::settings,
};

const TIME: &str = "time: from the common start to the last worker's last task, and what the durability \
                    class owes then (a checkpoint), over all tasks; on disk: what files took before that, \
                    when no task was left";

/// How the published set-up differs from this one.
const PUBLISHED: &str = "published figures are of the machines above, in Go: a pool of connections of which two \
                         stay open while idle, a statement parsed for each step (connection=pool); \
                         no file was flushed, a WAL with NORMAL is when it is merged";

pub(super) fn print(page: &mut Page, record: &Record, published: bool, all: bool) {
    page.gap();
    page.paragraph("  ", TIME, Paint::Dim);
    if published {
        page.paragraph("  ", PUBLISHED, Paint::Dim);
    }
    settings(page, record, all);
}
