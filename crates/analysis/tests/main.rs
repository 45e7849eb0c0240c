//! The tests of the analysis, a module for each subject, as one program: to link one takes a fraction of the time of one for each.
//! `cargo test -p instrument-analysis merge_tree::` runs those of one.

mod ac_test;
mod advice;
mod correction;
mod damage;
mod export_processes;
mod export_sizes;
mod fleet;
mod fuzz_replay;
mod heap;
mod heap_query;
mod invariants;
mod leak_limits;
mod leaks;
mod load;
mod load_columns;
mod load_figures;
mod merge_clocks;
mod merge_connections;
mod merge_exports;
mod merge_files;
mod merge_grpc;
mod merge_http;
mod merge_matching;
mod merge_messages;
mod merge_places;
mod merge_reasons;
mod merge_routes;
mod merge_services;
mod merge_split;
mod merge_times;
mod merge_tree;
mod merge_views;
mod paper;
mod parquet;
mod questions;
mod recordings;
mod replay;
mod samples;
mod texts;
mod trace_cache;
mod twice;
mod waits;
mod window;
mod xml;

mod common {
    pub(crate) mod leaking;
    pub(crate) mod machines;
    pub(crate) mod models;
    pub(crate) mod notes;
    pub(crate) mod remote;
    pub(crate) mod replaying;
    pub(crate) mod texts;
    pub(crate) mod trees;
}

#[path = "../../../rewriter/tests/fuzz_replay/replay.rs"]
mod mutants;
