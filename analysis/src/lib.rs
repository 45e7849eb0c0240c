//! From records to answers: the arcflow model, what fills it, what is printed from it.
//!
//! | module | |
//! |---|---|
//! | [`model`] | AF0, the one model: consumer contexts, how often each was met, what each consumed |
//! | [`replay`] | the events of traces, call by call or as the calling context trees that they make |
//!
//! It depends on the profile format and on nothing else of the project: names of methods are given by the caller.

pub mod model;
pub mod replay;

pub use model::{Arcflow, Kind, NodeId, Resource};
