//! Talking to people, exit codes, and files that are read and written.

#[cfg(unix)]
pub(crate) mod agent_library;
#[cfg(target_os = "linux")]
pub(crate) mod attach;
pub(crate) mod cache_folder;
pub(crate) mod exit;
#[cfg(target_os = "linux")]
pub(crate) mod jvm;
#[cfg(target_os = "linux")]
pub(crate) mod local_socket;
#[cfg(unix)]
pub(crate) mod process_stat;
pub(crate) mod progress;
pub(crate) mod recorded;
pub(crate) mod talk;
