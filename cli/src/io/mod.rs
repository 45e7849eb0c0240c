//! Talking to people, exit codes, and folders of the user.

#[cfg(processes)]
pub(crate) mod agent_library;
pub(crate) mod cache_folder;
pub(crate) mod exit;
#[cfg(processes)]
pub(crate) mod host;
pub(crate) mod progress;
pub(crate) mod recorded;
pub(crate) mod talk;
pub(crate) mod version;
