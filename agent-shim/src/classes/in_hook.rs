//! Which threads are inside the load hook.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// While there is one, a thread is inside the hook.
pub(crate) struct InHook;

impl InHook {
    pub(crate) fn enter() -> InHook {
        COUNT.fetch_add(1, SeqCst);
        InHook
    }

    /// Waits until no thread is inside, but no longer than that.
    pub(crate) fn wait_for_none(limit: Duration) {
        let end = Instant::now() + limit;
        while COUNT.load(SeqCst) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for InHook {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, SeqCst);
    }
}

thread_local! {
    /// Set while this thread is inside the hook: what it loads there is none of the program's business.
    pub(crate) static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside the load hook.
pub(crate) fn is_loading() -> bool {
    INSIDE.get()
}
