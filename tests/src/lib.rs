//! What the end-to-end tests share: the golden cases, an assembler for classes no compiler writes, and the JVMs.

pub mod assembler;
pub mod golden;
pub mod jvm;
