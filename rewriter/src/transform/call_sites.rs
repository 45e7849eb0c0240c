//! The calls that transforms look for: found by what the constant pool names, so that classes that name none of them
//! cost nothing.
//!
//! Steps:
//! 1. Per class: the pool's Methodrefs and InterfaceMethodrefs that a transform wants.
//! 2. Per method, if there are any: the pcs of the instructions that call them.

use super::{Transforms, finds, looks_for_calls};
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::instruction::{Instructions, u2};
use crate::class_file::{ConstantPool, Tag, opcode};
use crate::code::Reason;

/// The instructions that call a method: all of them, and those that have a receiver.
pub(super) const ALL: &[u8] =
    &[opcode::INVOKEVIRTUAL, opcode::INVOKESPECIAL, opcode::INVOKESTATIC, opcode::INVOKEINTERFACE];
pub(super) const MEMBER: &[u8] = &[opcode::INVOKEVIRTUAL, opcode::INVOKESPECIAL, opcode::INVOKEINTERFACE];

/// A call that some transform looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) pc: u32,
    /// What it calls, in the constant pool.
    pub(crate) callee: u16,
}

/// A call into a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LibraryCall {
    pub(crate) pc: u32,
    /// The pc behind it.
    pub(crate) behind: u32,
    /// What stands for calls of the method.
    pub(crate) id: u32,
}

/// What an `invokedynamic` makes that makes a [reference](super::references).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MakesReference {
    /// How the task is given.
    pub(crate) given: u8,
    /// Internal name of the interface.
    pub(crate) interface: &'static [u8],
    /// The receiver is captured.
    pub(crate) captures: bool,
}

/// Such an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) pc: u32,
    pub(crate) made: MakesReference,
}

/// The methods that a constant pool names, by pool index, ascending.
pub(super) fn callees<'a>(pool: &'a ConstantPool<'a>) -> impl Iterator<Item = (u16, MemberRef<'a>)> {
    let is_method = |index: &u16| matches!(pool.tag(*index), Some(Tag::Methodref | Tag::InterfaceMethodref));
    pool.indices().filter(is_method).filter_map(|index| Some((index, pool.member_ref(index).ok()?)))
}

/// The calls of one class, then of one method; a buffer that is used for one after the other.
#[derive(Debug, Default)]
pub(crate) struct CallSites {
    /// Of the class in work, by pool index, ascending: with which instructions they are made.
    callees: Vec<(u16, &'static [u8])>,
    /// Of the method in work, by pc, ascending.
    pub(crate) calls: Vec<Call>,
    /// References that the class in work makes, by pool index, ascending.
    makes: Vec<(u16, MakesReference)>,
    /// Those of the method in work, by pc, ascending.
    pub(crate) references: Vec<Made>,
    /// Ids of the calls into libraries that the class in work makes, by pool index, ascending.
    pub(crate) library: Vec<(u16, u32)>,
    /// Those of the method in work, by pc, ascending.
    pub(crate) library_calls: Vec<LibraryCall>,
}

impl CallSites {
    /// Looks through the pool of a class; `makes`: the references that it makes, by pool index, ascending.
    pub(crate) fn begin_class(
        &mut self,
        pool: &ConstantPool<'_>,
        transforms: &Transforms,
        makes: Vec<(u16, MakesReference)>,
    ) {
        self.callees.clear();
        self.calls.clear();
        self.library_calls.clear();
        self.references.clear();
        self.makes = makes;
        if !looks_for_calls(transforms, pool) {
            return;
        }
        let found = |(index, method)| finds(&method, transforms, pool).map(|by| (index, by));
        self.callees.extend(callees(pool).filter_map(found));
    }

    /// Looks through the code of a method.
    ///
    /// # Errors
    /// [`Reason::BadCode`].
    pub(crate) fn begin_method(&mut self, code: &[u8]) -> Result<(), Reason> {
        self.calls.clear();
        self.library_calls.clear();
        self.references.clear();
        if self.callees.is_empty() && self.library.is_empty() && self.makes.is_empty() {
            return Ok(());
        }
        for instruction in Instructions::new(code) {
            let instruction = instruction.map_err(|_| Reason::BadCode)?;
            if !ALL.contains(&instruction.opcode) && instruction.opcode != opcode::INVOKEDYNAMIC {
                continue;
            }
            let (pc, callee) = (instruction.pc as u32, u2(instruction.bytes, 1));
            if let Ok(at) = self.makes.binary_search_by_key(&callee, |callee| callee.0) {
                self.references.push(Made { pc, made: self.makes[at].1 });
            }
            if let Ok(at) = self.library.binary_search_by_key(&callee, |callee| callee.0) {
                let (behind, id) = (pc + instruction.bytes.len() as u32, self.library[at].1);
                self.library_calls.push(LibraryCall { pc, behind, id });
            }
            let Ok(at) = self.callees.binary_search_by_key(&callee, |callee| callee.0) else { continue };
            if self.callees[at].1.contains(&instruction.opcode) {
                self.calls.push(Call { pc, callee });
            }
        }
        Ok(())
    }
}
