//! Class bytes to class bytes, jar bytes to jar bytes.

pub mod filter;
pub mod id_map;
