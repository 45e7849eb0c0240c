//! Text inputs that nobody would write.

use proptest::prelude::*;

/// A line that is nearly one of events or stacks.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[0-9]{1,3} [<>] [a-c]{1,2}",
        1 => "[0-9]{0,2} ?@ [t-v]",
        2 => "(\\[[a-c]{1,2}\\]|[a-c])(;[a-c]{0,2}){0,4} [0-9]{1,3}",
        1 => "(process|metrics|consumers): [a-c]{1,3}( ns|, [a-c])?",
        1 => "[ -~]{0,20}",
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::common::texts::round_trip(&bytes);
    }

    #[test]
    fn any_lines_are_read_or_refused(lines in prop::collection::vec(line(), 0..20)) {
        crate::common::texts::round_trip(lines.join("\n").as_bytes());
    }
}

#[test]
fn the_examples_are_read() {
    for example in ["AC_test.events", "odd.events", "small.folded", "small.json"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(example);
        assert!(crate::common::texts::round_trip(&std::fs::read(path).unwrap()), "{example}");
    }
}
