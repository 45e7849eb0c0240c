//! Any bytes as a class: parsed and printed. What must hold is what the replay in the tests asks for, too.
#![no_main]

#[path = "../../rewriter/tests/common/scan.rs"]
mod scan;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    scan::scan(bytes);
});
