//! The tests of the rewriter from outside, a module for each subject, as one program: to link one takes a fraction of
//! the time of one for each. `cargo test -p instrument-rewriter --test main archive::` runs those of one. `fuzz_replay`
//! is a program of its own: it measures the memory of its process.

mod archive;
mod choices;
mod common;
mod entry_points;
mod executions;
mod goldens;
mod insertions;
mod oracle;
mod structural;
mod structure;
mod structure_faults;
mod structure_generated;
mod structure_malformed;
mod text;
mod wrappers;
