//! `allocation`, `array-allocation` and `object-init`: what a method creates.
//!
//! | after | code |
//! |---|---|
//! | `newarray`, `anewarray` | `dup`; `HeapProxy.ArrayAlloc` |
//! | `multianewarray` | `dup`; `HeapProxy.MultiArrayAlloc`, which tells the arrays apart that are in it |
//! | a call of `clone()` of an array class; of `Array.newInstance(Class, int)` | `dup`; `HeapProxy.ArrayAlloc` |
//! | a call of `Array.newInstance(Class, int[])` | `dup`; `HeapProxy.MultiArrayAlloc` |
//! | `invokespecial` of `Object.clone()` | `dup`; `HeapProxy.ObjectAlloc` |
//! | `invokevirtual` of `Object.clone()` | `dup`; `HeapProxy.CloneAlloc`: what it reaches may be a method that tells itself |
//! | the constructor call of a `new` (`allocation` only) | `dup`; `HeapProxy.ObjectAlloc` |
//!
//! `object-init` is for `java.lang.Object` alone: its constructor, which every other one calls, begins with `aload_0`;
//! `HeapProxy.EarlyObjectAlloc`. That and `array-allocation` in every class see what `allocation` sees and more: objects that
//! others make.
//!
//! The second `dup` is right only if the slot beneath the receiver held the same object, which is what
//! [`Flow`](crate::code::uninitialized::Flow) says. Where the program throws the object away, as 8 % of
//! the sites in Scala 2.11's library do, there is no such slot; then the `dup` stands right behind the `new`
//! instead, provided that the code runs straight on from there to the constructor call. What remains is
//! counted as untracked and reported.

use super::call_sites::ALL;
use super::{MethodSite, Transform, Transforms};
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::{ConstantPool, opcode};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;
use crate::code::uninitialized::{ConstructorCall, Origin};

/// Arrays and copies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrays;

/// Objects, by their `new`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Objects;

/// Objects, by the constructor of `java.lang.Object`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectInit;

/// A call that makes what no constructor sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    /// `clone()` of an array, `Array.newInstance(Class, int)`.
    Array,
    /// `Array.newInstance(Class, int[])`.
    MultiArray,
    /// `Object.clone()`.
    Clone,
}

/// What a call of `method` makes, if it is on the list.
pub(crate) fn maker_of(method: &MemberRef<'_>) -> Option<Maker> {
    match (method.class, method.name, method.descriptor) {
        ([b'[', ..], b"clone", b"()Ljava/lang/Object;") => Some(Maker::Array),
        (b"java/lang/Object", b"clone", b"()Ljava/lang/Object;") => Some(Maker::Clone),
        (b"java/lang/reflect/Array", b"newInstance", b"(Ljava/lang/Class;I)Ljava/lang/Object;") => {
            Some(Maker::Array)
        }
        (b"java/lang/reflect/Array", b"newInstance", b"(Ljava/lang/Class;[I)Ljava/lang/Object;") => {
            Some(Maker::MultiArray)
        }
        _ => None,
    }
}

/// Whether arrays and copies are told of.
fn tells_of_arrays(of: &Transforms) -> bool {
    of.allocation || of.array_allocation
}

impl Transform for Arrays {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        tells_of_arrays(&site.request.transforms)
            && (!site.scan.array_creations.is_empty() || !site.calls_of(maker_of).is_empty())
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        tells_of_arrays(of)
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        maker_of(method).map(|_| ALL)
    }

    // Instructions that make arrays of numbers name nothing.
    fn may_be_beside(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.array_allocation
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let mut insert = |site: &mut MethodSite<'_>, pc: u32, hook: Hook| {
            let op = site.code.code[pc as usize];
            let behind = pc + u32::from(opcode::INFO[usize::from(op)].length);
            let call = site.call(hook, Snippet::default().with(&[opcode::DUP]))?;
            edits.need_stack(1);
            edits.insert(behind, Place::AfterPrevious, call);
            Ok(())
        };
        for &pc in &site.scan.array_creations {
            let multi = site.code.code[pc as usize] == opcode::MULTIANEWARRAY;
            insert(site, pc, if multi { Hook::MultiArrayAlloc } else { Hook::ArrayAlloc })?;
        }
        for (pc, maker) in site.calls_of(maker_of) {
            let hook = match (maker, site.code.code[pc as usize]) {
                (Maker::Array, _) => Hook::ArrayAlloc,
                (Maker::MultiArray, _) => Hook::MultiArrayAlloc,
                (Maker::Clone, opcode::INVOKESPECIAL) => Hook::ObjectAlloc,
                (Maker::Clone, _) => Hook::CloneAlloc,
            };
            insert(site, pc, hook)?;
        }
        Ok(())
    }
}

impl Transform for Objects {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.allocation && !site.scan.news.is_empty()
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let dup = Snippet::default().with(&[opcode::DUP]);
        let calls: Vec<ConstructorCall> = site.flow()?.constructor_calls.clone();
        let mut thrown_away: Vec<(u32, u32)> = Vec::new();
        for call in calls {
            let Origin::New(new) = call.receiver else { continue };
            let behind = call.pc + 3;
            if call.copy_beneath {
                let hook = site.call(Hook::ObjectAlloc, dup)?;
                edits.insert(behind, Place::AfterPrevious, hook);
                edits.need_stack(1);
            } else if call.straight {
                let hook = site.call(Hook::ObjectAlloc, Snippet::default())?;
                edits.insert(new + 3, Place::AfterPrevious, dup);
                edits.insert(behind, Place::AfterPrevious, hook);
                thrown_away.push((new, call.pc));
            } else {
                edits.sites.untracked += 1;
            }
        }
        if !thrown_away.is_empty() {
            // A copy lies under the arguments of each, and one probe's argument may come on top.
            edits.need_stack(deepest_nesting(&mut thrown_away) + 1);
        }
        Ok(())
    }
}

impl Transform for ObjectInit {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        // The one constructor that calls no other.
        site.request.transforms.object_init && site.file.super_class == 0 && site.name == b"<init>"
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let before = edits.entry.unwrap_or_default();
        edits.entry = Some(site.call(Hook::EarlyObjectAlloc, before.with(&[opcode::ALOAD_0]))?);
        edits.need_stack(1);
        Ok(())
    }
}

/// How many of the ranges (start, end) lie in each other at most.
fn deepest_nesting(ranges: &mut [(u32, u32)]) -> u16 {
    ranges.sort_unstable();
    let mut open: Vec<u32> = Vec::new();
    let mut deepest = 0;
    for &(start, end) in ranges.iter() {
        open.retain(|&other| other > start);
        open.push(end);
        deepest = deepest.max(open.len());
    }
    deepest as u16
}
