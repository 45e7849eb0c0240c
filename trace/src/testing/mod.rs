//! Writes profiles from simple descriptions, for tests. What a recorder would write for a [`Script`] is found out here by a
//! second, plain implementation of the reading rules.

mod script;
mod writer;

pub use script::{Recorded, Script};
pub use writer::{Life, ThreadFacts, Writer};
