//! The code of a method, and what is to be inserted into it: what transforms and the rewriter share.
//!
//! | module | |
//! |---|---|
//! | `code_scan` | where the instructions are that transforms look for |
//! | `uninitialized` | which values are objects without a finished constructor (JVMS 4.10.1.4) |
//! | `edits` | what is inserted, and where |
//! | `constant_pool_appender` | new constants, behind those of the class |
//! | `hooks` | the static methods that inserted code calls |
//! | [`module_info`] | module descriptors, which have no code |
//! | `refusal` | classes and methods that are left as they are, whatever is wanted |

pub(crate) mod code_scan;
pub(crate) mod constant_pool_appender;
pub(crate) mod edits;
pub mod hooks;
pub(crate) mod method_code;
pub mod module_info;
mod refusal;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod uninitialized;

pub use crate::reason::Reason;
pub(crate) use refusal::{may_have_code, refusal};
