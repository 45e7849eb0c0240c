//! Which methods can be called from other processes: those that a remote interface declares, in whatever class they
//! are.
//!
//! A remote interface extends `java.rmi.Remote`. What is known is what the inputs say: of an interface that is not
//! among them nobody knows that it is remote, nor what it declares. `UnicastRemoteObject` and the like make a class
//! remote, but which of its methods are, only interfaces tell.

use crate::class_file::ClassFile;
use crate::error::ClassError;
use crate::filter::{ClassSet, SubclassIndex};
use std::collections::{HashMap, HashSet};

const REMOTE: &str = "java.rmi.Remote";
const ACC_STATIC: u16 = 0x0008;
const ACC_INTERFACE: u16 = 0x0200;

type Name = Box<[u8]>;

/// What the heads of all classes say, and the methods of interfaces.
#[derive(Debug, Default)]
pub struct RemoteIndex {
    below: SubclassIndex,
    above: HashMap<Name, Vec<Name>>,
    /// Of every interface: name and descriptor of what it declares.
    interfaces: HashMap<Name, Vec<(Name, Name)>>,
}

impl RemoteIndex {
    /// Adds a class, in any order. Several versions of one class all count.
    ///
    /// # Errors
    /// Its names or methods cannot be read.
    pub fn add(&mut self, class: &ClassFile<'_>) -> Result<(), ClassError> {
        let (name, super_class) = (class.name()?, class.super_name()?);
        let mut above: Vec<&[u8]> = super_class.into_iter().collect();
        for interface in class.interfaces() {
            above.push(class.pool.class_name(interface)?);
        }
        if class.access_flags & ACC_INTERFACE != 0 {
            let declared = self.interfaces.entry(name.into()).or_default();
            let mut methods = class.methods();
            while let Ok(Some(method)) = methods.next() {
                let (name, descriptor) = (method.name(&class.pool)?, method.descriptor(&class.pool)?);
                if method.access_flags & ACC_STATIC == 0 {
                    declared.push((name.into(), descriptor.into()));
                }
            }
        }
        self.below.add(name, None, above.iter().copied());
        self.above.entry(name.into()).or_default().extend(above.into_iter().map(Name::from));
        Ok(())
    }

    /// Looks for remote interfaces; none: there are none with methods.
    pub fn resolve(self) -> Option<RemoteMethods> {
        let remote = self.below.resolve(&[REMOTE]);
        let is_declared = |class| self.interfaces.get(class).is_some_and(|methods| !methods.is_empty());
        if !self.reach(remote.iter().cloned(), |_| true).iter().any(is_declared) {
            return None;
        }
        let concerned = self.reach(remote.iter().cloned(), |class| self.above.contains_key(class));
        Some(RemoteMethods { index: self, remote, concerned })
    }

    /// Some classes and all that are above them, as far as they are wanted.
    fn reach(&self, classes: impl IntoIterator<Item = Name>, wanted: impl Fn(&Name) -> bool) -> ClassSet {
        let mut open: Vec<Name> = classes.into_iter().collect();
        let mut found = ClassSet::new();
        while let Some(class) = open.pop() {
            if wanted(&class) && !found.contains(&class) {
                open.extend(self.above.get(&class).into_iter().flatten().cloned());
                found.insert(class);
            }
        }
        found
    }
}

/// The methods of all inputs that can be called from other processes.
#[derive(Debug)]
pub struct RemoteMethods {
    index: RemoteIndex,
    /// All classes and interfaces below `java.rmi.Remote`.
    remote: ClassSet,
    /// These, and what is above them: a remote class may inherit what its interface declares.
    concerned: ClassSet,
}

/// Methods by name and descriptor.
pub(crate) type MethodSet = HashSet<(Name, Name)>;

impl RemoteMethods {
    /// What a class may have that is called from other processes.
    ///
    /// Steps:
    /// 1. The class and all below it that are remote: an object of any of them may be called.
    /// 2. All above these: the remote interfaces among them are what they are called by.
    /// 3. All above those interfaces: what they inherit they declare.
    pub(crate) fn of(&self, class: &[u8]) -> Option<MethodSet> {
        if !self.concerned.contains(class) {
            return None;
        }
        let below = self.index.below.below(class);
        let objects = below.into_iter().filter(|class| self.remote.contains(class));
        let called_by = self.index.reach(objects, |_| true);
        let interfaces = called_by
            .into_iter()
            .filter(|class| self.remote.contains(class) && self.index.interfaces.contains_key(class));
        let declaring = self.index.reach(interfaces, |_| true);
        let methods = declaring.iter().filter_map(|class| self.index.interfaces.get(class)).flatten();
        Some(methods.cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class, what is above it, and if it is an interface what it declares.
    type Row<'a> = (&'a str, &'a [&'a str], Option<&'a [&'a str]>);

    fn resolve(rows: &[Row<'_>]) -> Option<RemoteMethods> {
        let mut index = RemoteIndex::default();
        for (class, above, methods) in rows {
            index.below.add(class.as_bytes(), None, above.iter().map(|name| name.as_bytes()));
            index.above.insert(class.as_bytes().into(), above.iter().map(|n| n.as_bytes().into()).collect());
            if let Some(methods) = methods {
                let methods = methods.iter().map(|name| (name.as_bytes().into(), b"()V"[..].into()));
                index.interfaces.insert(class.as_bytes().into(), methods.collect());
            }
        }
        index.resolve()
    }

    fn of(methods: &RemoteMethods, class: &str) -> String {
        let Some(found) = methods.of(class.as_bytes()) else { return "-".into() };
        let mut names: Vec<String> =
            found.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
        names.sort();
        names.join(" ")
    }

    const REMOTE: &[&str] = &["java/rmi/Remote"];

    #[test]
    fn interfaces_say_what_is_remote() {
        let methods = resolve(&[
            ("Closer", &[], Some(&["close"])),
            ("Service", &["java/rmi/Remote", "Closer"], Some(&["serve"])),
            ("More", &["Service"], Some(&["more"])),
            ("Other", REMOTE, Some(&["other"])),
            ("Direct", &["java/rmi/server/UnicastRemoteObject", "Service"], None),
            ("Below", &["Direct", "java/lang/Runnable"], None),
            ("Bottom", &["Base", "Other"], None),
            ("Base", &["java/lang/Object", "Local"], None),
            ("Local", &[], Some(&["local"])),
            ("Aside", &["Base"], None),
            ("Plain", &["java/lang/Object"], None),
            ("Marked", REMOTE, None),
            ("Nobody", &["java/rmi/server/UnicastRemoteObject", "lib/Unknown"], None),
        ])
        .unwrap();
        let expected = [
            ("Direct", "close serve"),
            // What is below may have it by inheritance.
            ("Below", "close serve"),
            // Whatever of these it has, it declares.
            ("Service", "close more serve"),
            ("More", "close more serve"),
            ("Bottom", "other"),
            // What is above may be inherited.
            ("Base", "other"),
            ("Closer", "close more serve"),
            ("Aside", "-"),
            ("Plain", "-"),
            ("Marked", ""),
            ("Nobody", "-"),
        ];
        for (class, names) in expected {
            assert_eq!(of(&methods, class), names, "{class}");
        }
    }

    #[test]
    fn without_remote_interfaces_there_is_nothing() {
        assert!(resolve(&[("A", &[], Some(&["a"])), ("B", &["A"], None)]).is_none());
        assert!(resolve(&[("B", REMOTE, None)]).is_none());
        assert!(resolve(&[("B", REMOTE, Some(&[]))]).is_none());
    }

    #[test]
    fn cycles_end() {
        let methods = resolve(&[("A", &["B", "java/rmi/Remote"], Some(&["a"])), ("B", &["A"], Some(&["b"]))]);
        assert_eq!(of(&methods.unwrap(), "B"), "a b");
    }
}
