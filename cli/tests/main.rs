//! The tests of the command line, a module for each subject, as one program: to link one takes a fraction of the time of one for each.
//! `cargo test -p instrument report::` runs those of one.

mod advise;
mod architecture;
mod colour;
mod command_line;
mod common;
mod docs;
mod export;
mod heap;
#[cfg(target_os = "linux")]
mod host;
mod ids;
mod latency;
mod lists;
mod mcp;
mod merge;
mod names;
mod report;
mod reports;
mod rewrite;
mod samples;
mod settings;
mod ship;
mod terminal;
mod top;
mod verify;
mod version;
