//! Writing: a class goes in, the same class with the transforms' insertions comes out.
//!
//! | module | what it moves |
//! |---|---|
//! | `relocation` | instructions, branches, switches |
//! | `exception_table` | ranges and handlers |
//! | `stack_map_table` | frames |
//! | `debug_tables`, `type_annotations` | line numbers, local variables, type annotations |
//! | `wrapper` | the code of methods without room for probes, into a method of its own |
//! | [`natives`] | native methods, behind a wrapper; before a class is rewritten |
//!
//! The output is assembled from slices of the input and what changed: see [`ClassRewriter::rewrite`].

mod class;
mod debug_tables;
mod exception_table;
mod method;
pub mod natives;
mod relocation;
mod report;
pub mod rmi_internals;
mod stack_map_table;
#[cfg(test)]
mod testing;
mod type_annotations;
mod wrapper;

pub use crate::code::{Reason, module_info};
pub use crate::transform::Transforms;
pub use class::ClassRewriter;
pub use report::{Choice, MethodEvent, MethodRef, MethodReport, Note, Outcome, RegionReport};
pub use wrapper::LargeMethods;

const ACC_PUBLIC: u16 = 0x0001;
const ACC_STATIC: u16 = 0x0008;
const ACC_NATIVE: u16 = 0x0100;
const ACC_ABSTRACT: u16 = 0x0400;
