//! Which calls lead into a library: into classes that are not rewritten, or methods that cannot be.
//!
//! Nobody sees such a method from inside, so calls of it are recorded where they are made (see
//! [`library_calls`](crate::transform::library_calls)), by the name that the instruction gives them. A call is one into
//! a library if the method that it resolves to (JVMS 5.4.3.3, 5.4.3.4) is
//!
//! 1. of a class that is not rewritten: it is not among the [`Own`] classes, or a filter leaves it or the method out;
//!    or
//! 2. `native`.
//!
//! What a virtual call selects in the end may be another method, also one that is rewritten: it then runs beneath the
//! call. Left out are `java.lang.Object.<init>`, which every object has, our own runtime, and what is called by no such
//! instruction: `invokedynamic`, and whatever a library calls itself.

pub mod blocking;
mod inputs;
pub mod jdk;

pub use inputs::Inputs;

use crate::class_file::constant_pool::MemberRef;
use crate::class_file::instruction::{Instructions, u2};
use crate::class_file::{ClassFile, ConstantPool, opcode};
use crate::code::may_have_code;
use crate::error::ClassError;
use crate::filter::Filter;
use crate::rewrite::natives;
use crate::runtime;

const OBJECT: &[u8] = b"java/lang/Object";
const ACC_NATIVE: u16 = 0x0100;

/// What is known of a method that is called by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// This class declares it.
    Declared {
        /// Internal name of the class.
        class: Box<[u8]>,
        /// It has no code that could be rewritten.
        native: bool,
    },
    /// A class declares it that is not rewritten.
    Elsewhere,
    /// The class is rewritten; who declares the method is not known.
    Unknown,
}

/// The classes that are rewritten, as far as filters let them.
pub trait Own: Send + Sync {
    /// What a reference to a method leads to.
    fn resolve(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Resolved;
}

/// A method of a library that a class calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callee<'a> {
    /// Index of its Methodref or InterfaceMethodref.
    pub index: u16,
    /// Internal name of the class that the instruction names; for the methods of arrays `java/lang/Object`.
    pub class: &'a [u8],
    /// Its name.
    pub name: &'a [u8],
    /// Its descriptor.
    pub descriptor: &'a [u8],
    /// It may block its caller; only [`recorded_callees`] says so.
    pub blocks: bool,
}

impl<'a> Callee<'a> {
    /// What a Methodref or InterfaceMethodref names.
    ///
    /// # Errors
    /// There is none at this index.
    pub fn at(pool: &ConstantPool<'a>, index: u16) -> Result<Callee<'a>, ClassError> {
        let MemberRef { class, name, descriptor, .. } = pool.member_ref(index)?;
        let class = if class.starts_with(b"[") { OBJECT } else { class };
        Ok(Callee { index, class, name, descriptor, blocks: false })
    }

    fn is_noise(&self) -> bool {
        (self.class == OBJECT && self.name == b"<init>")
            || runtime::is_owner(self.class)
            || runtime::is_own(self.class)
            || natives::is_wrapped(self.name)
    }
}

/// The methods that instructions of a class call, by ascending pool index. Methods that `wanted` (name and descriptor)
/// refuses are not looked at.
fn called<'a>(
    class: &ClassFile<'a>,
    wanted: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<impl Iterator<Item = Callee<'a>>, ClassError> {
    let mut called = vec![false; usize::from(class.pool.count())];
    let mut methods = class.methods();
    while let Some(method) = methods.next()? {
        if !may_have_code(method.access_flags)
            || !wanted(method.name(&class.pool)?, method.descriptor(&class.pool)?)
        {
            continue;
        }
        let Ok(Some(code)) = method.code(&class.pool) else { continue };
        for instruction in Instructions::new(code.code).map_while(Result::ok) {
            if matches!(instruction.opcode, opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE)
                && let Some(called) = called.get_mut(usize::from(u2(instruction.bytes, 1)))
            {
                *called = true;
            }
        }
    }
    let indices = (0..=u16::MAX).zip(called).filter(|(_, called)| *called).map(|(index, _)| index);
    Ok(indices.filter_map(|index| Callee::at(&class.pool, index).ok()))
}

/// The methods whose calls a class records where it makes them, by ascending pool index: those of libraries, if
/// `boundary` tells them, and if `waits` is set those that [block](blocking). Methods that `wanted` (name and
/// descriptor) refuses are not looked at.
///
/// # Errors
/// The bytes are no complete class file.
pub fn recorded_callees<'a>(
    class: &ClassFile<'a>,
    boundary: Option<&Boundary<'_>>,
    waits: bool,
    wanted: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<Vec<Callee<'a>>, ClassError> {
    let mut callees = boundary.map_or(Ok(Vec::new()), |boundary| boundary.callees(class, &wanted))?;
    if waits {
        callees.extend(blocking::callees(class, &wanted)?);
        callees.sort_unstable_by_key(|callee| callee.index);
        callees.dedup_by_key(|callee| callee.index);
    }
    for callee in &mut callees {
        callee.blocks = blocking::is_wait(class, callee);
    }
    Ok(callees)
}

/// Tells the two kinds of calls apart.
pub struct Boundary<'a> {
    /// What is rewritten.
    pub own: &'a dyn Own,
    /// Which of that is left out.
    pub filter: &'a Filter,
}

impl Boundary<'_> {
    /// The methods of libraries that the methods of a class call, by ascending pool index. Methods that `wanted` (name
    /// and descriptor) refuses are not looked at.
    ///
    /// # Errors
    /// The bytes are no complete class file. Code that cannot be read is passed over: it is not rewritten either.
    pub fn callees<'a>(
        &self,
        class: &ClassFile<'a>,
        wanted: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Result<Vec<Callee<'a>>, ClassError> {
        Ok(called(class, wanted)?
            .filter(|callee| !callee.is_noise() && self.is_library(class, callee))
            .collect())
    }

    /// The native methods of classes that are rewritten which the methods of a class call, as far as the filter lets
    /// them through, by ascending pool index. Methods that `wanted` (name and descriptor) refuses are not looked at.
    ///
    /// # Errors
    /// As [`callees`](Self::callees).
    pub fn native_callees<'a>(
        &self,
        class: &ClassFile<'a>,
        wanted: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Result<Vec<Callee<'a>>, ClassError> {
        Ok(called(class, wanted)?.filter(|callee| self.declares_native(callee).is_some()).collect())
    }

    /// The class that declares the method, if that is native and the filter lets it through.
    pub fn declares_native(&self, callee: &Callee<'_>) -> Option<Box<[u8]>> {
        match self.own.resolve(callee.class, callee.name, callee.descriptor) {
            Resolved::Declared { class, native: true }
                if self.filter.method(&class, callee.name, callee.descriptor).is_ok() =>
            {
                Some(class)
            }
            _ => None,
        }
    }

    fn is_library(&self, caller: &ClassFile<'_>, callee: &Callee<'_>) -> bool {
        let &Callee { class, name, descriptor, .. } = callee;
        let is_own_name = || caller.name().is_ok_and(|this| this == class);
        self.is_elsewhere(class, name, descriptor)
            .unwrap_or_else(|| is_own_name() && self.leaves(caller, name, descriptor).unwrap_or(false))
    }

    /// Whether a reference leads into a library; `None`: its class is rewritten, and more is not known.
    fn is_elsewhere(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<bool> {
        let is_left = |class: &[u8]| self.filter.method(class, name, descriptor).is_err();
        match self.own.resolve(class, name, descriptor) {
            Resolved::Elsewhere => Some(true),
            Resolved::Declared { class, native } => Some(native || is_left(&class)),
            Resolved::Unknown if is_left(class) => Some(true),
            Resolved::Unknown => None,
        }
    }

    /// For a method that a class calls by its own name: whether it is native, or one that only a library can declare.
    fn leaves(&self, class: &ClassFile<'_>, name: &[u8], descriptor: &[u8]) -> Result<bool, ClassError> {
        let mut methods = class.methods();
        while let Some(method) = methods.next()? {
            if method.name(&class.pool)? == name && method.descriptor(&class.pool)? == descriptor {
                return Ok(method.access_flags & ACC_NATIVE != 0);
            }
        }
        let mut above = class.super_name()?.into_iter().collect::<Vec<_>>();
        for interface in class.interfaces() {
            above.push(class.pool.class_name(interface)?);
        }
        Ok(above.into_iter().all(|class| self.is_elsewhere(class, name, descriptor) == Some(true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reference as `class.name`, without a descriptor.
    struct ByName(Vec<(&'static str, Resolved)>);

    impl Own for ByName {
        fn resolve(&self, class: &[u8], _: &[u8], _: &[u8]) -> Resolved {
            let known = self.0.iter().find(|(name, _)| name.as_bytes() == class);
            known.map_or(Resolved::Elsewhere, |(_, resolved)| resolved.clone())
        }
    }

    fn is_elsewhere(own: &ByName, filter: &Filter, class: &str) -> Option<bool> {
        Boundary { own, filter }.is_elsewhere(class.as_bytes(), b"run", b"()V")
    }

    #[test]
    fn what_counts_is_the_class_that_declares_the_method() {
        let declared = |class: &str, native| Resolved::Declared { class: class.as_bytes().into(), native };
        let own = ByName(vec![
            ("a/Own", declared("a/Own", false)),
            ("a/Below", declared("b/Base", false)),
            ("a/Native", declared("a/Native", true)),
            ("a/Loaded", Resolved::Unknown),
            ("b/Loaded", Resolved::Unknown),
        ]);
        let everything = Filter::default();
        let some = Filter::new(&["a.**"], &["a.Own#run"]).unwrap();
        for (class, of_all, of_some) in [
            ("java/lang/String", Some(true), Some(true)),
            ("a/Own", Some(false), Some(true)),
            ("a/Below", Some(false), Some(true)),
            ("a/Native", Some(true), Some(true)),
            ("a/Loaded", None, None),
            ("b/Loaded", None, Some(true)),
        ] {
            assert_eq!(is_elsewhere(&own, &everything, class), of_all, "{class}");
            assert_eq!(is_elsewhere(&own, &some, class), of_some, "{class}");
        }
    }
}
