//! A table for many small keys.

/// Seeded per table, and several times as fast as the standard one: there are millions of nodes.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
