//! What the command line and the agent agree on. Both ends take it from here, so that neither can drift.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`answer`] | answers to those requests, typed |
//! | [`attach`] | what `instrument attach` and the agent that it loads hand to each other |
//! | [`word`] | options whose value is one of a few words: transforms, what is recorded, .. |
//! | [`keys`] | the keys of the agent's option string, what each takes, and how the string is written and split |
//! | [`latency`] | the methods whose durations are kept |
//! | [`ctl`] | requests to a running program: the protocol, and where the socket is |
//! | [`peer`] | who is at the other end of a Unix socket |
//! | [`perf_events`] | why the kernel gives no perf event |
//! | [`place`] | where in a file of options something stands |
//! | [`probes`] | the file of rules that say which calls of one's own are inserted where |
//! | [`rules`] | which options need which others |
//! | [`selection`] | what is recorded, as both ends write it into profiles |
//! | [`subclasses`] | the classes that `run --subclasses-of` has found |
//! | [`run`] | what `instrument run` and the agents of its programs hand to each other |

/// A file below the home directory of a JDK that `instrument jdk` made. Such a JDK records its programs by itself: an agent beside would bind
/// the recorder's clock once more, in the middle of its times.
pub const RECORDING_JDK: &str = "lib/instrument-jdk";

pub mod answer;
pub mod attach;
pub mod ctl;
pub mod keys;
pub mod latency;
#[cfg(target_os = "linux")]
pub mod peer;
#[cfg(target_os = "linux")]
pub mod perf_events;
pub mod place;
pub mod probes;
pub mod rules;
pub mod run;
pub mod selection;
pub mod subclasses;
pub mod word;
