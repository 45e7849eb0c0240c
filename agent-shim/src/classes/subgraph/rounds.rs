//! The rounds of the [waves](super::waves), and what waits for the end of one.

use super::lock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// All may wait so many times as long as one at the beginning.
const AT_FIRST: u32 = 5;
/// And one of so many parts of the time since then.
const PART: u32 = 20;

/// How many rounds there were, and the calls by reflection that waited for one, or did not.
#[derive(Default)]
pub(super) struct Rounds {
    rounds: Mutex<Counted>,
    finished: Condvar,
    /// Somebody has waited in vain, perhaps with what the round itself waits for: nobody waits any more.
    gave_up: AtomicBool,
    /// Calls that were made before what they call was rewritten.
    pub(super) missed: AtomicU64,
    /// Method handles that are made of others, of which nobody knows what they call.
    pub(super) handles: AtomicU64,
}

#[derive(Default)]
struct Counted {
    begun: u64,
    finished: u64,
    has_ended: bool,
    waited: Duration,
}

impl Rounds {
    /// What is selected from now on is for the next round.
    pub(super) fn begin(&self) {
        lock(&self.rounds).begun += 1;
    }

    pub(super) fn end(&self) {
        let mut rounds = lock(&self.rounds);
        rounds.finished = rounds.begun;
        self.finished.notify_all();
    }

    pub(super) fn close(&self) {
        lock(&self.rounds).has_ended = true;
        self.finished.notify_all();
    }

    /// Waits for the end of a round that begins from now on; false: there was none in time.
    pub(super) fn wait(&self, hurry: impl FnOnce() -> bool, since: Instant, longest: Duration) -> bool {
        let rounds = lock(&self.rounds);
        if self.gave_up.load(Relaxed)
            || rounds.has_ended
            || !is_affordable(rounds.waited, since.elapsed(), longest)
        {
            return false;
        }
        let next = rounds.begun + 1;
        drop(rounds);
        if !hurry() {
            return false;
        }
        let start = Instant::now();
        let open = |rounds: &mut Counted| rounds.finished < next && !rounds.has_ended;
        let (mut rounds, _) = (self.finished)
            .wait_timeout_while(lock(&self.rounds), longest, open)
            .unwrap_or_else(PoisonError::into_inner);
        rounds.waited += start.elapsed();
        let is_rewritten = rounds.finished >= next;
        if !is_rewritten {
            self.gave_up.store(true, Relaxed);
        }
        is_rewritten
    }
}

/// Whether another call may wait, when all have waited so long in so much time.
fn is_affordable(waited: Duration, time: Duration, longest: Duration) -> bool {
    waited < longest.saturating_mul(AT_FIRST) + time / PART
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_call_waits_for_a_round_that_begins_behind_it() {
        let (rounds, since) = (Rounds::default(), Instant::now());
        let longest = Duration::from_secs(3600);
        rounds.begin();
        let hurried = AtomicBool::new(false);
        let rewritten = thread::scope(|scope| {
            let caller = scope.spawn(|| rounds.wait(|| !hurried.swap(true, Relaxed), since, longest));
            while !hurried.load(Relaxed) {
                thread::yield_now();
            }
            // It had begun before.
            rounds.end();
            assert!(!caller.is_finished());
            rounds.begin();
            rounds.end();
            caller.join().unwrap()
        });
        assert!(rewritten && !rounds.gave_up.load(Relaxed));
    }

    #[test]
    fn who_waited_in_vain_is_the_last_to_wait() {
        let (rounds, since) = (Rounds::default(), Instant::now());
        let longest = Duration::from_millis(10);
        assert!(!rounds.wait(|| true, since, longest));
        let asked = AtomicBool::new(false);
        assert!(!rounds.wait(|| !asked.swap(true, Relaxed), since, longest));
        assert!(!asked.load(Relaxed));
    }

    #[test]
    fn a_twentieth_of_the_time_may_be_waited() {
        let ms = Duration::from_millis;
        let after = |waited, time| is_affordable(ms(waited), ms(time), ms(100));
        assert!(after(499, 0) && !after(500, 0));
        assert!(after(999, 10_000) && !after(1_000, 10_000));
    }
}
