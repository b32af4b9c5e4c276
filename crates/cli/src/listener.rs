//! Progress for people: a bar on standard error where that is a terminal, nothing elsewhere.

use std::{
    fmt::Write,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use indicatif::{FormattedDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::Progress;
use model::units::show_count;
use spec::Talk;

use crate::output;

/// The form of progress without a known end.
const OPEN: &str = "{count}{elapsed_precise}  {prefix}{wide_msg}";
const STEPS: &str = "[{bar:30}] {about}  {prefix}{wide_msg}";
/// The form of a bar over time, in milliseconds since the listener started.
const ROUNDS: &str = "[{bar:30}] at most {at_most} left  {prefix}{wide_msg}";

/// A listener that shows the progress of the lab.
pub(crate) struct Listener {
    bar: ProgressBar,
    talk: Talk,
    began: Instant,
    in_rounds: AtomicBool,
}

impl Listener {
    /// Creates a listener that draws on standard error, unless nothing is to be printed or that is
    /// not a terminal.
    pub(crate) fn new(talk: Talk) -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(if talk.quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        });
        let in_rounds = AtomicBool::new(false);
        let listener = Self { bar, talk, began: Instant::now(), in_rounds };
        listener.set_form(OPEN);
        listener.bar.enable_steady_tick(Duration::from_millis(200));
        listener
    }

    /// Shows the progress of the lab during `work`.
    pub(crate) fn during<T>(talk: Talk, work: impl FnOnce(&Self) -> T) -> T {
        work(&Self::new(talk))
    }

    /// Sets the name of the part of something larger that is in progress.
    pub(crate) fn part(&self, name: &str) {
        self.bar.set_prefix(format!("{name}: "));
    }

    fn set_form(&self, form: &str) {
        let began = self.began;
        let at_most = move |state: &ProgressState, out: &mut dyn Write| {
            let left = state.len().unwrap_or(0).saturating_sub(milliseconds(began.elapsed()));
            // What cannot be drawn is not worth an error.
            let _ = write!(out, "{}", FormattedDuration(Duration::from_millis(left)));
        };
        // The forms are fixed above and known to parse.
        if let Ok(style) = ProgressStyle::with_template(form) {
            let style = style.with_key("at_most", at_most).with_key("about", about);
            self.bar.set_style(style.with_key("count", count).progress_chars("=> "));
        }
    }
}

/// Writes how long the rest takes if it goes on as it did.
fn about(state: &ProgressState, out: &mut dyn Write) {
    let (done, all) = (state.pos(), state.len().unwrap_or(0));
    let _ = if done == 0 {
        write!(out, "{}", FormattedDuration(state.elapsed()))
    } else {
        let rest = all.saturating_sub(done) as f64 / done as f64;
        let rest = Duration::try_from_secs_f64(state.elapsed().as_secs_f64() * rest);
        write!(out, "about {} left", FormattedDuration(rest.unwrap_or(Duration::MAX)))
    };
}

fn count(state: &ProgressState, out: &mut dyn Write) {
    if state.pos() > 0 {
        let _ = write!(out, "{} done, ", show_count(state.pos()));
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Listener {
    fn stage(&self, what: &str, steps: Option<u64>) {
        self.detail(what);
        self.in_rounds.store(false, Relaxed);
        self.bar.reset();
        self.bar.set_message(what.to_owned());
        if let Some(steps) = steps {
            self.bar.set_length(steps);
        }
        self.set_form(if steps.is_some() { STEPS } else { OPEN });
    }

    fn advance_to(&self, steps: u64) {
        if !self.in_rounds.load(Relaxed) {
            self.bar.set_position(steps);
        }
    }

    fn rounds(&self, what: &str, left: Option<Duration>) {
        self.bar.set_message(what.to_owned());
        let Some(left) = left else {
            self.bar.set_position(0);
            return self.set_form(OPEN);
        };
        self.in_rounds.store(true, Relaxed);
        let spent = milliseconds(self.began.elapsed());
        self.bar.set_length(spent.saturating_add(milliseconds(left)));
        self.bar.set_position(spent);
        self.set_form(ROUNDS);
    }

    fn say(&self, what: &str) {
        if !self.talk.quiet {
            self.bar.suspend(|| output::say(what));
        }
    }

    fn detail(&self, what: &str) {
        if self.talk.verbose {
            self.say(what);
        }
    }
}
