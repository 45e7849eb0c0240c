//! What the agent says to people: lines on standard error, which begin as the recorder's do.

use instrument_names::printable::printable_lines;
use std::fmt;
use std::io::Write;
use std::sync::Once;

/// Says one line; names in it may come from the program. Nobody may be listening; that is no reason to fail.
pub(crate) fn say(message: fmt::Arguments<'_>) {
    let message = message.to_string();
    let line = format!("instrument: {}\n", printable_lines(&message));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Says one line for all of its kind.
pub(crate) fn say_once(message: fmt::Arguments<'_>) {
    static SAID: Once = Once::new();
    SAID.call_once(|| say(message));
}

/// Runs a callback's body. A panic is said, once per process, and gives `None`.
pub(crate) fn contained<T>(what: &str, body: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    static SAID: Once = Once::new();
    // The hook of this library's own copy of the standard library: nobody else's panics come here.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        Ok(value) => Some(value),
        Err(panic) => {
            let text = (panic.downcast_ref::<String>().map(String::as_str))
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown");
            SAID.call_once(|| say(format_args!("internal error in {what}: {text}; it stays as it was")));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_panic_goes_no_further() {
        assert_eq!(super::contained("a test", || 1), Some(1));
        assert_eq!(super::contained("a test", || -> u32 { panic!("{}", 7) }), None);
    }
}
