//! The tests of profiles, a module for each subject, as one program: to link one takes a fraction of the time of one for each.
//! `cargo test -p instrument-trace heap::` runs those of one.

mod bytecodes;
mod damage;
mod figures;
mod fuzz_replay;
mod heap;
mod parts;
mod reader;
mod regions;
mod remote;
mod samples;
mod selection;
mod tree;
mod waits;
mod worst;

mod common {
    pub(crate) mod profiles;
}

#[path = "../../../rewriter/tests/fuzz_replay/replay.rs"]
mod replay;
