//! A progress bar for work that takes long, on a terminal only.

use crate::io::talk::Talk;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Counts bytes of input that are done.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
}

impl Progress {
    /// A bar for `total` bytes, not drawn yet.
    pub(crate) fn new(total: u64, talk: &Talk) -> Progress {
        let bar = talk.shows_progress().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
            let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta} {wide_msg}");
            bar.set_style(style.expect("the template is constant"));
            bar
        });
        Progress { bar, started: Instant::now() }
    }

    /// `bytes` more are done, of the input that is called `name`.
    pub(crate) fn advance(&self, bytes: u64, name: &str) {
        let Some(bar) = &self.bar else { return };
        bar.inc(bytes);
        if self.started.elapsed() >= PATIENCE {
            if bar.is_hidden() {
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            }
            bar.set_message(name.to_owned());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
