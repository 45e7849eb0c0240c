//! One file per subcommand: its options (`Opts`) and what it does (`run`). What has parts has a folder of its name.

pub(crate) mod advise;
#[cfg(processes)]
pub(crate) mod agent;
#[cfg(processes)]
pub(crate) mod attach;
pub(crate) mod completions;
pub(crate) mod config;
#[cfg(processes)]
pub(crate) mod ctl;
pub(crate) mod diff;
pub(crate) mod dump;
pub(crate) mod export;
pub(crate) mod fleet;
pub(crate) mod gate;
pub(crate) mod golden;
pub(crate) mod heap;
pub(crate) mod ids;
#[cfg(unix)]
pub(crate) mod jdk;
pub(crate) mod jdk_patch;
pub(crate) mod latency;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod merge;
pub(crate) mod monitors;
pub(crate) mod report;
pub(crate) mod rewrite;
#[cfg(processes)]
pub(crate) mod run;
pub(crate) mod ship;
pub(crate) mod stats;
pub(crate) mod threads;
pub(crate) mod timeline;
#[cfg(unix)]
pub(crate) mod top;
pub(crate) mod verify;
pub(crate) mod view;
pub(crate) mod xarc;
pub(crate) mod xprof;
pub(crate) mod xtree;
