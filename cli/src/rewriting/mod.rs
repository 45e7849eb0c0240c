//! What `rewrite`, `jdk` and `jdk-patch` do with archives, class files and JDKs.

pub(crate) mod engine;
pub(crate) mod id_file;
pub(crate) mod input;
pub(crate) mod jdk;
pub(crate) mod launcher;
pub(crate) mod probes;
pub(crate) mod properties;
mod remarks;
pub(crate) mod runtime;
pub(crate) mod tree;
pub(crate) mod unit;
