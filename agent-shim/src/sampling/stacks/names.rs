//! Methods of stacks, by the ids that they get in the profile.

use crate::classes::method_ids::FIRST;
use crate::jvmti::{Jni, Jvmti, MethodId};
use instrument_names::id_map::{IdMap, MethodInfo, gz};
use instrument_rewriter::filter::Filter;
use std::collections::HashMap;

/// The class of rows that are no methods.
const NO_CLASS: &[u8] = b"(stacks)";
/// What names of hidden classes end in: an address or a number that is another one in every run.
const LAMBDA: &[u8] = b"$$Lambda";

/// Ids so far.
pub(super) struct Names {
    map: IdMap,
    /// By method; none: it is not in the selection.
    known: HashMap<usize, Option<u32>>,
    /// Ids that the profile does not have yet.
    new: Vec<u32>,
    filter: Filter,
}

impl Names {
    pub(super) fn new(filter: Filter) -> Names {
        Names { map: IdMap::starting_at(FIRST), known: HashMap::new(), new: Vec::new(), filter }
    }

    /// The id of a method; none: it is not recorded. No id is given twice, and a method that is gone has that of all such.
    pub(super) fn of(&mut self, jvmti: Jvmti<'_>, jni: Jni<'_>, method: usize) -> Option<u32> {
        if let Some(id) = self.known.get(&method) {
            return *id;
        }
        let named = MethodId::from_number(method).and_then(|id| named(jvmti, jni, id));
        let Some((class, name, descriptor, flags)) = named else {
            // Not kept: of this method it may be known again.
            return self.row("(method of a class that was unloaded)");
        };
        let id = if self.filter.method(&class, &name, &descriptor).is_ok() {
            self.id(
                &class,
                &MethodInfo { name: &name, descriptor: &descriptor, line: 0, flags, fingerprint: 0 },
            )
        } else {
            None
        };
        self.known.insert(method, id);
        id
    }

    /// The id of a row that is no method.
    pub(super) fn row(&mut self, name: &str) -> Option<u32> {
        let method =
            MethodInfo { name: name.as_bytes(), descriptor: b"()V", line: 0, flags: 0, fingerprint: 0 };
        self.id(NO_CLASS, &method)
    }

    fn id(&mut self, class: &[u8], method: &MethodInfo<'_>) -> Option<u32> {
        let before = self.map.len();
        let class = self.map.begin_class(class, None).ok()?;
        let id = self.map.assign(class, method).ok()?;
        if self.map.len() > before {
            self.new.push(id);
        }
        Some(id)
    }

    /// What is new, as a gzip file.
    pub(super) fn take_new(&mut self) -> Option<Vec<u8>> {
        if self.new.is_empty() {
            return None;
        }
        let mut text = Vec::new();
        self.map.write_part(std::mem::take(&mut self.new), &mut text);
        Some(gz::store(&text))
    }
}

type Named = (Vec<u8>, Vec<u8>, Vec<u8>, u32);

/// Class, name, descriptor and flags of a method. The class cannot be unloaded while it is asked for the others.
fn named(jvmti: Jvmti<'_>, jni: Jni<'_>, method: MethodId) -> Option<Named> {
    let class = jvmti.declaring_class(method, jni).ok()?;
    let signature = jvmti.raw_signature(&class);
    let named = jvmti.method(method);
    jni.forget(class);
    let (name, descriptor, flags) = named.ok()?;
    let signature = signature?;
    let class = signature.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";"))?;
    Some((plain(class), name.into_bytes(), descriptor.into_bytes(), flags))
}

/// The name of a class without what differs from run to run: `Shop$$Lambda` for `Shop$$Lambda$14+0x0000000800c03000`.
fn plain(class: &[u8]) -> Vec<u8> {
    let find = |part: &[u8]| class.windows(part.len()).position(|window| window == part);
    if let Some(at) = find(LAMBDA) {
        return class[..at + LAMBDA.len()].to_vec();
    }
    let hidden = [&b".0x"[..], b"+0x", b"/0x"].into_iter().find_map(find);
    class[..hidden.unwrap_or(class.len())].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hidden_classes_are_the_same_in_every_run() {
        for (class, name) in [
            ("com/acme/Shop$$Lambda$14+0x0000000800c03000", "com/acme/Shop$$Lambda"),
            ("com/acme/Shop$$Lambda.0x0000000800c03000", "com/acme/Shop$$Lambda"),
            ("java/lang/invoke/LambdaForm$MH.0x00007f", "java/lang/invoke/LambdaForm$MH"),
            ("com/acme/Shop$1", "com/acme/Shop$1"),
        ] {
            assert_eq!(plain(class.as_bytes()), name.as_bytes(), "{class}");
        }
    }

    #[test]
    fn rows_have_one_id_each_and_are_handed_over_once() {
        let mut names = Names::new(Filter::default());
        let (one, other) = (names.row("(a)").unwrap(), names.row("(b)").unwrap());
        assert_eq!((names.row("(a)"), other), (Some(one), one + 1));
        let text = gz::decompress(&names.take_new().unwrap(), 1 << 16).unwrap();
        let map = IdMap::parse(&text).unwrap();
        assert_eq!(map.find(NO_CLASS, b"(b)", b"()V"), Some(other));
        assert_eq!(names.take_new(), None);
    }
}
