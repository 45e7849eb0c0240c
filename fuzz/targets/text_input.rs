//! Any bytes as events, folded stacks or a call tree: read, and written in every format.
#![no_main]

#[path = "../../crates/analysis/tests/common/texts.rs"]
mod texts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    texts::round_trip(bytes);
});
