//! Any bytes as an id map: read, written again, extended.
#![no_main]

#[path = "../../rewriter/tests/common/id_maps.rs"]
mod id_maps;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    id_maps::round_trip(bytes);
});
