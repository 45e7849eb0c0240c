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
//! | [`class_path`], [`rules`] | the class path that a command tells, and the rules of `--probes` tried on it |

#[cfg(unix)]
pub mod agent_library;
#[cfg(target_os = "linux")]
pub mod attach;
#[cfg(unix)]
pub mod budget;
#[cfg(unix)]
pub mod class_path;
#[cfg(unix)]
pub mod ctl;
#[cfg(target_os = "linux")]
pub mod hand_over;
#[cfg(target_os = "linux")]
pub mod jvm;
#[cfg(unix)]
pub mod kept_input;
#[cfg(unix)]
pub mod launch;
#[cfg(target_os = "linux")]
mod local_socket;
#[cfg(unix)]
pub mod process_stat;
#[cfg(unix)]
pub mod profiles;
pub mod recorded;
#[cfg(target_os = "linux")]
pub mod rights;
#[cfg(unix)]
pub mod rules;
#[cfg(target_os = "linux")]
pub mod scratch;
#[cfg(target_os = "linux")]
pub mod until;
