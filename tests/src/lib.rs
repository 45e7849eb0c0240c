//! What the end-to-end tests share: finding JVMs, jars and the binary.

pub mod corpus;
pub mod machine;
pub mod subject;
