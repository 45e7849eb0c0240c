//! The golden cases: one folder each under `golden/`, described by its `case.toml` (see `golden/README.md`).

mod case;
mod events;
mod harness;
mod methods;
mod printed;
mod seam;

pub use case::{Case, ClassFile, Counts, Passages, Wrapper, cases};
pub use events::{Reading, read_events};
pub use harness::{Block, Linked, Ran, Report, run_blocks};
pub use methods::{constant_pool, methods};
pub use printed::printed_diff;
pub use seam::{CALL, COMBINATIONS, Ids, Known, Outcome, Skip, Transforms, dump, rewrite};
