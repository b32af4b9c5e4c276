//! Progress for people: a bar on standard error where that is a terminal, nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::Progress;

use crate::output;

/// Shows what the lab is doing.
pub(crate) struct Listener {
    bar: ProgressBar,
    quiet: bool,
}

impl Listener {
    /// Draws on standard error, unless `quiet` or that is no terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        });
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, quiet }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Listener {
    fn stage(&self, what: &str, steps: Option<u64>) {
        let form = match steps {
            Some(_) => "{msg:30} [{bar:30}] {eta_precise} left",
            None => "{msg:30} {human_pos} done, {elapsed}",
        };
        // Both forms are fixed above and known to parse.
        if let Ok(style) = ProgressStyle::with_template(form) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        match steps {
            Some(steps) => self.bar.set_length(steps),
            None => self.bar.reset(),
        }
        self.bar.set_message(what.to_owned());
    }

    fn done(&self, steps: u64) {
        self.bar.set_position(steps);
    }

    fn say(&self, what: &str) {
        if !self.quiet {
            self.bar.suspend(|| output::say(what));
        }
    }
}
