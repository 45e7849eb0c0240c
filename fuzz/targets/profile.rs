//! Any bytes as a profile.
#![no_main]

#[path = "../../crates/trace/tests/common/profiles.rs"]
mod profiles;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    profiles::read(bytes);
});
