//! From records to answers: the arcflow model, what fills it, what is printed from it.
//!
//! | module | |
//! |---|---|
//! | [`arcs`] | its consumers irrespective of context, and the arcs between them |
//! | [`invariants`] | what must hold between the figures; checked on every run |
//! | [`model`] | AF0, the one model: consumer contexts, how often each was met, what each consumed |
//! | [`report`] | xprof, xtree, xarc and the others, as text, JSON and CSV |
//! | [`uncertainty`] | how sure a figure is |
//!
//! It depends on the profile format and on nothing else of the project: names of methods are given by the caller.

pub mod arcs;
pub mod invariants;
pub mod model;
pub mod report;
pub mod uncertainty;

pub use model::{Arcflow, Kind, NodeId, Resource};
