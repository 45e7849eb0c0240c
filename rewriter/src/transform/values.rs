//! `jdbc`, `http` and `files`: which statements a program sends to its databases, which requests it makes and serves,
//! and which files it opens, as calls of their own.
//!
//! Around a call, of operands V, the value, then W, and others that may follow:
//!
//! | call | in front of it | behind it |
//! |---|---|---|
//! | one that is split by V | store what is above it; copy V, or V and W; the hook; store N; load what was above | load N; `valueLeft` |
//! | `Statement.addBatch(String)` | copy both; `statementBatched` | |
//! | `Connection.prepareStatement`, `prepareCall` `(String ..)` | copy the text to T | copy the result; load T; `statementPrepared` |
//!
//! N, a number, tells what was opened; it, T and what is stored are local variables behind the method's own. A branch
//! to the instruction behind the call does not pass through the end. As with [library calls](super::library_calls)
//! there is no handler: what an exception leaves is closed by the next event of the method that made the call. Behind a
//! constructor nothing touches the new object.
//!
//! | file | which calls |
//! |---|---|
//! | `statements` | of `java.sql` |
//! | `requests` | of `HttpClient`, `URLConnection`, `URL`, and `service` of servlets |
//! | `files` | of `Files`, `FileChannel.open`, and constructors of streams, readers and writers |
//!
//! Not reached: calls by a class that implements one of the interfaces, method references, calls by reflection.

mod files;
mod requests;
mod statements;

use super::operands::{Above, parameters};
use super::{MethodSite, Transform, Transforms};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{
    ALOAD, ASTORE, DUP, DUP2, ILOAD, INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC, ISTORE,
};
use crate::code::Reason;
use crate::code::edits::{Edits, Insertion, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values;

/// A call that is split by a value, or tells what one is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ValueCall {
    of: Of,
    what: What,
    /// The instructions that make it.
    by: &'static [u8],
}

/// What the values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Statements,
    Requests,
    Files,
}

/// What a call has to do with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// It is split by one. The hook takes one or two operands; others are above these.
    Enters { hook: Hook, copies: u16, above: Above },
    /// It adds a statement to a batch.
    Batches,
    /// It prepares a statement; operands are above its text.
    Prepares { above: Above },
}

/// What a call of `method` has to do with a value that is requested.
fn call_of(method: &MemberRef<'_>, transforms: &Transforms) -> Option<ValueCall> {
    let statement = || {
        let what = transforms.jdbc.then(|| statements::call_of(method)).flatten()?;
        Some(ValueCall { of: Of::Statements, what, by: &[INVOKEINTERFACE] })
    };
    let request = || {
        let (what, by) = transforms.http.then(|| requests::call_of(method)).flatten()?;
        Some(ValueCall { of: Of::Requests, what, by })
    };
    let file = || {
        let (what, by) = transforms.files.then(|| files::call_of(method)).flatten()?;
        Some(ValueCall { of: Of::Files, what, by })
    };
    statement().or_else(request).or_else(file)
}

/// Instructions.
const STATIC: &[u8] = &[INVOKESTATIC];
const SPECIAL: &[u8] = &[INVOKESPECIAL];

impl Transform for Values {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        self.looks_for_calls(&site.request.transforms, site.pool)
            && !site.calls_of(|method| call_of(method, &site.request.transforms)).is_empty()
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.jdbc || of.http || of.files
    }

    fn finds(&self, method: &MemberRef<'_>, of: &Transforms) -> Option<&'static [u8]> {
        call_of(method, of).map(|call| call.by)
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let mut ends: Vec<Insertion> = Vec::new();
        for (pc, call) in site.calls_of(|method| call_of(method, &site.request.transforms)) {
            let is_interface = site.code.code[pc as usize] == INVOKEINTERFACE;
            let behind = pc + if is_interface { 5 } else { 3 };
            let held = site.code.max_locals.checked_add(edits.counter_slots()).ok_or(Reason::MaxLocals)?;
            let free = held.checked_add(1).ok_or(Reason::MaxLocals)?;
            let hold = |above: &Above, edits: &mut Edits| {
                // One is held across the call, the others behind it are not.
                edits.held_locals = 1;
                edits.need_locals(1 + above.slots(free)?);
                Ok(())
            };
            match call.what {
                What::Enters { hook, copies, above } => {
                    hold(&above, edits)?;
                    above.store(pc, free, edits);
                    let copy = Snippet::default().with(&[if copies == 1 { DUP } else { DUP2 }]);
                    let enter = site.call(hook, copy)?;
                    edits.insert(pc, Place::Before, enter.with_local(ISTORE, held));
                    above.load(pc, free, edits);
                    let snippet = site.call(Hook::ValueLeft, Snippet::default().with_local(ILOAD, held))?;
                    ends.push(Insertion { pc: behind, place: Place::AfterPrevious, snippet });
                    edits.need_stack(copies);
                }
                What::Batches => {
                    let add = site.call(Hook::StatementBatched, Snippet::default().with(&[DUP2]))?;
                    edits.insert(pc, Place::Before, add);
                    edits.need_stack(2);
                }
                What::Prepares { above } => {
                    hold(&above, edits)?;
                    above.store(pc, free, edits);
                    let copy = Snippet::default().with(&[DUP]).with_local(ASTORE, held);
                    edits.insert(pc, Place::Before, copy);
                    above.load(pc, free, edits);
                    let result = Snippet::default().with(&[DUP]).with_local(ALOAD, held);
                    let remember = site.call(Hook::StatementPrepared, result)?;
                    edits.insert(behind, Place::AfterPrevious, remember);
                    edits.need_stack(2);
                }
            }
            match call.of {
                Of::Statements => edits.sites.statements += 1,
                Of::Requests => edits.sites.requests += 1,
                Of::Files => edits.sites.files += 1,
            }
        }
        // Behind the ends of library calls, which come first of all, and in front of what tells that super() has
        // returned.
        let at = site.library_calls.len();
        edits.insertions.splice(at..at, ends);
        Ok(())
    }
}
