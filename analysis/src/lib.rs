//! From records to answers: the arcflow model, what fills it, what is printed from it.
//!
//! | module | |
//! |---|---|
//! | [`input`] | events, folded stacks and call trees, read into the model |
//! | [`export`] | the model, and timelines, as other tools read them |
//! | [`model`] | AF0, the one model: consumer contexts, how often each was met, what each consumed |
//!
//! It depends on the profile format and on nothing else of the project: names of methods are given by the caller.

pub mod export;
pub mod input;
pub mod model;

pub use model::{Arcflow, Kind, NodeId, Resource};
