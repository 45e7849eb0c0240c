//! A bounded replay of fuzzing: mutants of small classes, archives and id maps, always the same ones.
//! `fuzz/run` looks longer.
//!
//! `FUZZ_REPLAY_RUNS` sets the number of mutants of each kind.

mod archives;
#[allow(dead_code, reason = "the archive tests use the rest")]
#[path = "../archive/build.rs"]
mod build;
mod classes;
#[path = "../common/mod.rs"]
mod common;
mod id_maps;
mod replay;
