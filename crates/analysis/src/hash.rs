//! The map and the set of this crate.

/// Seeded per table, and several times as fast as the standard one: inputs are long.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// The same as a set.
pub(crate) type HashSet<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;
