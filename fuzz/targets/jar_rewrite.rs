//! Any bytes as an archive: instrumented as they are, and with the checksums put right.
#![no_main]

#[path = "../../rewriter/tests/common/jars.rs"]
mod jars;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    jars::rewrite_jar(bytes);
    let mut repaired = bytes.to_vec();
    jars::repair(&mut repaired);
    if repaired != bytes {
        jars::rewrite_jar(&repaired);
    }
});
