//! A key of a context that is the same in every run, file, build and host: links, baselines, differences and fleets join by it.
//!
//! A context is a path of methods and links from the outermost one in. Its key is 16 bytes:
//!
//! - of the empty path: 16 bytes of 0;
//! - of a path whose last part is *name*: the first 16 bytes of SHA-256 over the key of the path without it, a byte of 0 for a method
//!   (1 link, 2 calls past the recorder's limits), and the UTF-8 bytes of *name* as [`stable`](crate::stable_name::stable) gives it.
//!
//! Processes and threads are no part of the path: what a pool does is in the same context whichever of its threads does it. Ids, addresses,
//! clocks and the order of siblings are in no key. In text a key is 32 hexadecimal digits.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::ParseIntError;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::model::{Arcflow, Consumer, Kind};
use crate::stable_name::stable;

/// The key of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ContextKey(pub [u8; 16]);

/// It is a hash already: its beginning tells it apart.
impl Hash for ContextKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from_le_bytes(std::array::from_fn(|i| self.0[i])));
    }
}

impl ContextKey {
    /// Of the empty path.
    pub const ROOT: ContextKey = ContextKey([0; 16]);

    /// Of this path with one part more. Processes, threads and the root add nothing.
    #[must_use]
    pub fn child(self, kind: Kind, name: &str) -> ContextKey {
        self.extended(kind, &stable(name))
    }

    /// The same with the name as it is, numbers of compilers and generators included: such keys are the same within a build only. Both keys
    /// are equal where no name on the path has such a number.
    #[must_use]
    pub fn exact_child(self, kind: Kind, name: &str) -> ContextKey {
        self.extended(kind, name)
    }

    fn extended(self, kind: Kind, name: &str) -> ContextKey {
        let mark = match kind {
            Kind::Root | Kind::Process | Kind::Thread => return self,
            Kind::Method => 0u8,
            Kind::Link => 1,
            Kind::Deeper => 2,
        };
        let hash = Sha256::new().chain_update(self.0).chain_update([mark]).chain_update(name.as_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&hash.finalize()[..16]);
        ContextKey(key)
    }

    /// Of all contexts of a model, by index of the node: the key by exact names, and that by stable ones.
    pub fn exact_of_model(model: &Arcflow) -> Vec<[ContextKey; 2]> {
        let mut keys: Vec<[ContextKey; 2]> = Vec::with_capacity(model.nodes().len());
        let mut names = Names::new(model);
        for (i, node) in model.nodes().iter().enumerate() {
            let [exact, steady] = if i == 0 { [ContextKey::ROOT; 2] } else { keys[node.parent.0 as usize] };
            let key = exact.extended(node.kind, model.name(node.consumer));
            let is_same = exact == steady && names.is_stable(node.consumer);
            let stable = names.stable(node.consumer);
            keys.push([key, if is_same { key } else { steady.extended(node.kind, stable) }]);
        }
        keys
    }

    /// The keys of all contexts of a model, by index of the node. Contexts that differ in their process or thread only have one key.
    pub fn of_model(model: &Arcflow) -> Vec<ContextKey> {
        let mut keys: Vec<ContextKey> = Vec::with_capacity(model.nodes().len());
        let mut names = Names::new(model);
        for (i, node) in model.nodes().iter().enumerate() {
            let above = if i == 0 { ContextKey::ROOT } else { keys[node.parent.0 as usize] };
            keys.push(above.extended(node.kind, names.stable(node.consumer)));
        }
        keys
    }
}

/// The stable names of a model, each made once: there are many contexts for a name.
struct Names<'a> {
    model: &'a Arcflow,
    /// By number of the consumer.
    known: Vec<Option<Cow<'a, str>>>,
}

impl<'a> Names<'a> {
    fn new(model: &'a Arcflow) -> Names<'a> {
        Names { model, known: vec![None; model.names().count()] }
    }

    fn stable(&mut self, consumer: Consumer) -> &str {
        self.of(consumer)
    }

    /// Whether the name is its own stable one.
    fn is_stable(&mut self, consumer: Consumer) -> bool {
        matches!(self.of(consumer), Cow::Borrowed(_))
    }

    fn of(&mut self, consumer: Consumer) -> &Cow<'a, str> {
        self.known[consumer.0 as usize].get_or_insert_with(|| stable(self.model.name(consumer)))
    }
}

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for ContextKey {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<ContextKey, ParseIntError> {
        u128::from_str_radix(text, 16).map(|key| ContextKey(key.to_be_bytes()))
    }
}

impl fmt::Display for ContextKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_path_and_nothing_else() {
        let main = ContextKey::ROOT.child(Kind::Method, "Shop.main()V");
        // The definition, so that others can compute it: SHA-256 of 16 zeros, a zero, and the name.
        assert_eq!(main.to_string(), "426ff10a53643b787cc8573520eb4034");
        let mut keys = Vec::new();
        for thread in ["main", "pool-1-thread-1"] {
            let mut model = Arcflow::new(Vec::new());
            let mut at = Arcflow::ROOT;
            for (kind, name) in [
                (Kind::Process, thread),
                (Kind::Thread, thread),
                (Kind::Method, "Shop.main()V"),
                (Kind::Link, "(task of Shop.main()V)"),
                (Kind::Method, if thread == "main" { "Shop.lambda$0()V" } else { "Shop.lambda$17()V" }),
            ] {
                let consumer = model.consumer(name);
                at = model.child(at, kind, consumer);
            }
            keys.push(ContextKey::of_model(&model));
        }
        assert_eq!(keys[0], keys[1]);
        assert_eq!((keys[0][2], keys[0][3]), (ContextKey::ROOT, main));
        assert_ne!(keys[0][4], keys[0][5]);
        // What a link is called is no method of this name.
        assert_ne!(main.child(Kind::Link, "a"), main.child(Kind::Method, "a"));
        // A name cannot be cut elsewhere.
        let of = |a: &str, b: &str| ContextKey::ROOT.child(Kind::Method, a).child(Kind::Method, b);
        assert_ne!(of("ab", "c"), of("a", "bc"));
    }
}
