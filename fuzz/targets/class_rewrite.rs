//! Any bytes as a class: rewritten with every choice of transforms, and the output examined.
#![no_main]

#[path = "../../rewriter/tests/common/rewriting.rs"]
mod rewriting;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    rewriting::rewrite(bytes);
});
