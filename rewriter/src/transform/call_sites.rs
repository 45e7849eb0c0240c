//! The calls that transforms look for: found by what the constant pool names, so that classes that name none of them
//! cost nothing.
//!
//! Steps:
//! 1. Per class: the pool's Methodrefs and InterfaceMethodrefs that a transform wants.
//! 2. Per method, if there are any: the pcs of the instructions that call them.

use super::allocation::{self, Maker};
use super::hand_over::{self, HandOver};
use super::rmi;
use super::values::{self, ValueCall};
use crate::class_file::constant_pool::WellKnown;
use crate::class_file::instruction::{Instructions, u2};
use crate::class_file::{ConstantPool, Tag, opcode};
use crate::rewrite::{SkipReason, Transforms};

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A method `start()V`.
    Start,
    /// A method that gets a task.
    HandOver(HandOver),
    /// A method of `RemoteRef` that makes a call.
    RemoteCall,
    /// A method that makes an array or a copy.
    Maker(Maker),
    /// A method whose calls are split by a value, or tell one.
    Value(ValueCall),
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

/// The calls of one class, then of one method; a buffer that is used for one after the other.
#[derive(Debug, Default)]
pub(crate) struct CallSites {
    /// Of the class in work, by pool index, ascending.
    callees: Vec<(u16, Callee)>,
    /// Of the method in work, by pc, ascending.
    pub(crate) calls: Vec<(u32, Callee)>,
    /// Ids of the calls into libraries that the class in work makes, by pool index, ascending.
    pub(crate) library: Vec<(u16, u32)>,
    /// Those of the method in work, by pc, ascending.
    pub(crate) library_calls: Vec<LibraryCall>,
}

impl CallSites {
    /// Looks through the pool of a class.
    pub(crate) fn begin_class(&mut self, pool: &ConstantPool<'_>, transforms: &Transforms) {
        self.callees.clear();
        self.calls.clear();
        self.library_calls.clear();
        let starts = transforms.thread_links && pool.well_known(WellKnown::Start) != 0;
        let (hand_overs, makers) = (transforms.hand_over, transforms.makes_arrays_tell());
        let (rmi, values) = (transforms.rmi, transforms.splits_by_values());
        if !starts && !hand_overs && !makers && !rmi && !values {
            return;
        }
        let is_method =
            |index: &u16| matches!(pool.tag(*index), Some(Tag::Methodref | Tag::InterfaceMethodref));
        for index in pool.indices().filter(is_method) {
            let Ok(method) = pool.member_ref(index) else { continue };
            if starts && method.name == b"start" && method.descriptor == b"()V" {
                self.callees.push((index, Callee::Start));
            } else if hand_overs && let Some(task) = hand_over::task_of(&method) {
                self.callees.push((index, Callee::HandOver(task)));
            } else if rmi && rmi::makes_call(&method) {
                self.callees.push((index, Callee::RemoteCall));
            } else if makers && let Some(maker) = allocation::maker_of(&method) {
                self.callees.push((index, Callee::Maker(maker)));
            } else if values && let Some(call) = values::call_of(&method, transforms) {
                self.callees.push((index, Callee::Value(call)));
            }
        }
    }

    /// Looks through the code of a method.
    ///
    /// # Errors
    /// [`SkipReason::BadCode`].
    pub(crate) fn begin_method(&mut self, code: &[u8]) -> Result<(), SkipReason> {
        self.calls.clear();
        self.library_calls.clear();
        if self.callees.is_empty() && self.library.is_empty() {
            return Ok(());
        }
        for instruction in Instructions::new(code) {
            let instruction = instruction.map_err(|_| SkipReason::BadCode)?;
            if !matches!(instruction.opcode, opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE) {
                continue;
            }
            let index = u2(instruction.bytes, 1);
            if let Ok(at) = self.library.binary_search_by_key(&index, |callee| callee.0) {
                let (pc, id) = (instruction.pc as u32, self.library[at].1);
                self.library_calls.push(LibraryCall { pc, behind: pc + instruction.bytes.len() as u32, id });
            }
            let Ok(at) = self.callees.binary_search_by_key(&index, |callee| callee.0) else { continue };
            let callee = self.callees[at].1;
            // A static method has no receiver, so it starts nothing.
            let fits = match callee {
                Callee::Start => instruction.opcode != opcode::INVOKESTATIC,
                Callee::HandOver(hand_over) => hand_over.fits(instruction.opcode),
                Callee::RemoteCall | Callee::Maker(_) => true,
                Callee::Value(call) => call.fits(instruction.opcode),
            };
            if fits {
                self.calls.push((instruction.pc as u32, callee));
            }
        }
        Ok(())
    }
}
