//! Any bytes as a profile whose traces are replayed.
#![no_main]

#[path = "../../crates/analysis/tests/common/replaying.rs"]
mod replaying;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    replaying::replay(bytes);
});
