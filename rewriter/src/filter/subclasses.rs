//! Which classes are subclasses or implementers of given classes, as far as the inputs tell.

use std::collections::{HashMap, HashSet};

/// Names of classes, as class files spell them (`com/acme/Foo`, Modified UTF-8).
pub type ClassSet = HashSet<Box<[u8]>>;

/// The direct subclasses of every class, over all inputs.
///
/// Only what the inputs say is known: if `A` of the inputs extends a library class `B` that is not among them, and `B`
/// extends `C`, then `A` is not found below `C`.
#[derive(Debug, Default)]
pub struct SubclassIndex {
    direct: HashMap<Box<[u8]>, Vec<Box<[u8]>>>,
}

impl SubclassIndex {
    /// An empty index.
    pub fn new() -> SubclassIndex {
        SubclassIndex::default()
    }

    /// Adds one class file's `this_class`, `super_class` (none for java.lang.Object) and `interfaces` (JVMS 4.1), in
    /// any order. Several versions of one class (multi-release jars) all count.
    pub fn add<'a>(
        &mut self,
        class: &[u8],
        super_class: Option<&'a [u8]>,
        interfaces: impl IntoIterator<Item = &'a [u8]>,
    ) {
        for above in super_class.into_iter().chain(interfaces) {
            match self.direct.get_mut(above) {
                Some(below) => below.push(class.into()),
                None => {
                    self.direct.insert(above.into(), vec![class.into()]);
                }
            }
        }
    }

    /// The `roots` and everything below them, transitively. Roots may be written with `.` or `/` and need not be among
    /// the inputs (`java.rmi.Remote`). A class hierarchy with a cycle, which no JVM would load, is no danger.
    pub fn resolve<S: AsRef<str>>(&self, roots: &[S]) -> ClassSet {
        self.close(roots.iter().map(|root| super::internal_name(root.as_ref()).into_boxed_slice()).collect())
    }

    /// A class, by its internal name, and everything below it.
    pub(crate) fn below(&self, class: &[u8]) -> ClassSet {
        self.close(vec![class.into()])
    }

    fn close(&self, mut open: Vec<Box<[u8]>>) -> ClassSet {
        let mut found = ClassSet::new();
        while let Some(class) = open.pop() {
            if let Some(below) = self.direct.get(&class)
                && !found.contains(&class)
            {
                open.extend(below.iter().cloned());
            }
            found.insert(class);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(classes: &[(&str, &str, &[&str])]) -> SubclassIndex {
        let mut index = SubclassIndex::new();
        for (class, above, interfaces) in classes {
            index.add(class.as_bytes(), Some(above.as_bytes()), interfaces.iter().map(|i| i.as_bytes()));
        }
        index
    }

    fn names(set: ClassSet) -> Vec<String> {
        let mut names: Vec<_> = set.iter().map(|n| String::from_utf8_lossy(n).into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn finds_subclasses_and_implementers_transitively() {
        let index = index(&[
            ("a/Leaf", "a/Middle", &[]),
            ("a/Middle", "java/lang/Object", &["a/Service"]),
            ("a/Service", "java/lang/Object", &["java/rmi/Remote"]),
            ("a/Other", "java/lang/Object", &[]),
        ]);
        assert_eq!(
            names(index.resolve(&["java.rmi.Remote"])),
            ["a/Leaf", "a/Middle", "a/Service", "java/rmi/Remote"]
        );
        assert_eq!(names(index.resolve(&["a/Leaf", "a.Other"])), ["a/Leaf", "a/Other"]);
    }

    #[test]
    fn cycles_end() {
        let index = index(&[("A", "B", &["A"]), ("B", "A", &[]), ("C", "B", &[])]);
        assert_eq!(names(index.resolve(&["A"])), ["A", "B", "C"]);
    }
}
