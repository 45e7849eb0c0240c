//! Java programs that run: found, started with the agent, attached to and asked.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`jvm`], [`process_stat`] | the virtual machines of `/proc`; they know nothing of the agent |
//! | [`attach`] | HotSpot's attach protocol; it knows nothing of the agent, either |
//! | [`agent_library`], [`hand_over`] | the agent's library, and what a process gets that is to load it |
//! | [`rights`], [`scratch`] | the files of a process, touched with no more rights than its user has; a folder for a moment |
//! | [`launch`] | a command with the agent in it: started, waited for, signals passed on |
//! | [`profiles`], [`recorded`] | which profiles a run has left, and which one a process writes |
//! | [`ctl`] | requests to the agent, and its answers as text |
//! | [`until`], [`budget`] | when a recording ends, and what it may take meanwhile |
//! | [`perf_events`] | what this machine can sample |
//! | [`class_path`], [`rules`] | the class path that a command tells, and the rules of `--probes` tried on it |
//!
//! All of it needs Linux; elsewhere the crate is empty.

#![cfg(target_os = "linux")]

pub mod agent_library;
pub mod attach;
pub mod budget;
pub mod class_path;
pub mod ctl;
pub mod hand_over;
pub mod jvm;
pub mod kept_input;
pub mod launch;
mod local_socket;
#[cfg(target_os = "linux")]
pub mod perf_events;
pub mod process_stat;
pub mod profiles;
pub mod recorded;
pub mod rights;
pub mod rules;
pub mod scratch;
pub mod subclasses;
pub mod until;
