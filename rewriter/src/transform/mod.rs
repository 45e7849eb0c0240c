//! What is injected: one file per transform.
//!
//! | transform | what it makes a program tell |
//! |---|---|
//! | [`method_events`] | every entry and exit of every method, normal or by exception |
//! | [`bytecodes`] | how many instructions every call executes |
//! | [`lines`] | how often every line and branch is executed |
//! | [`allocation`] | every array and object that a method creates |
//! | [`thread_links`] | which call started a thread |
//! | [`hand_over`] | which call handed a task to another thread |
//! | [`values`] | which statements are sent to databases, which requests are made and served, which files are opened |
//! | [`library_calls`] | every call into a class that is not rewritten; `waits`: calls of methods that [block](crate::library::blocking) |
//! | [`parks`] | which locks of `java.util.concurrent` threads wait for |
//! | [`rmi`] | which remote calls are made and served |
//! | [`regions`] | how long control stays in a code region |
//! | [`own_calls`] | whatever a user of this crate has it tell, by calls of static methods |
//!
//! A transform only says what goes where; relocation, frames and tables are the business of
//! [`rewrite`](crate::rewrite).

pub mod allocation;
pub mod boot_modules;
pub mod boot_probes;
pub mod bytecodes;
pub(crate) mod call_sites;
pub mod hand_over;
pub mod hooks;
pub mod library_calls;
pub mod lines;
pub mod method_events;
pub mod own_calls;
pub mod parks;
pub mod regions;
pub mod rmi;
pub mod thread_links;
pub mod values;

use crate::class_file::CodeAttribute;
use crate::class_file::ConstantPool;
use crate::class_file::opcode;
use crate::rewrite::SkipReason;
use crate::rewrite::code_scan::CodeScan;
use crate::rewrite::constant_pool_appender::ConstantPoolAppender;
use crate::rewrite::edits::{Edits, Snippet};
use crate::rewrite::uninitialized::{Flow, Method};
use call_sites::{Callee, LibraryCall};
use hooks::Hook;

/// One change to a method.
///
/// Contract: a transform
/// - looks at the method as it was before any transform, so that transforms can be combined in any set;
/// - inserts only snippets that leave the operand stack as they found it, and says how much of it they need;
/// - calls nothing but the static methods of [`hooks`];
/// - refuses with a [`SkipReason`] rather than guess: then the whole method stays as it was.
pub(crate) trait Transform {
    /// Adds this transform's insertions to `edits`.
    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), SkipReason>;
}

/// A method that is being rewritten.
pub(crate) struct MethodSite<'a> {
    pub(crate) pool: &'a ConstantPool<'a>,
    pub(crate) appender: &'a mut ConstantPoolAppender,
    pub(crate) scan: &'a CodeScan,
    pub(crate) code: &'a CodeAttribute<'a>,
    /// The `info` of the StackMapTable.
    pub(crate) frames: Option<&'a [u8]>,
    /// The calls that transforms look for, by pc.
    pub(crate) calls: &'a [(u32, Callee)],
    /// The calls into libraries, by pc.
    pub(crate) library_calls: &'a [LibraryCall],
    /// The method id that the probes get.
    pub(crate) id: u32,
    /// What pushes it, once somebody has asked: a constant is appended once.
    pub(crate) pushed_id: Option<Snippet>,
    /// `<init>` of a class other than `java/lang/Object`: its `this` is uninitialised at first.
    pub(crate) is_constructor: bool,
    pub(crate) is_static: bool,
    /// It can be called from other processes.
    pub(crate) is_remote: bool,
    /// Internal name of its class.
    pub(crate) class: &'a [u8],
    pub(crate) name: &'a [u8],
    pub(crate) descriptor: &'a [u8],
    /// Computed when the first transform asks for it.
    pub(crate) flow: Option<Flow>,
}

impl MethodSite<'_> {
    /// `invokestatic` of a hook.
    pub(crate) fn call(&mut self, hook: Hook, snippet: Snippet) -> Result<Snippet, SkipReason> {
        let [a, b] = self.appender.hook(hook)?.to_be_bytes();
        Ok(snippet.with(&[opcode::INVOKESTATIC, a, b]))
    }

    /// The method id, pushed with the shortest instruction.
    pub(crate) fn push_id(&mut self) -> Result<Snippet, SkipReason> {
        if self.pushed_id.is_none() {
            self.pushed_id = Some(self.push(self.id)?);
        }
        Ok(self.pushed_id.unwrap_or_default())
    }

    /// A number, pushed with the shortest instruction.
    pub(crate) fn push(&mut self, number: u32) -> Result<Snippet, SkipReason> {
        let snippet = Snippet::default();
        Ok(match number {
            number @ 0..=5 => snippet.with(&[opcode::ICONST_0 + number as u8]),
            number @ 6..=127 => snippet.with(&[opcode::BIPUSH, number as u8]),
            number @ 128..=32_767 => snippet.with(&[opcode::SIPUSH, (number >> 8) as u8, number as u8]),
            number => {
                let index = self.appender.integer(self.pool, number)?;
                self.push_constant(index)
            }
        })
    }

    /// Name and descriptor as one String, pushed.
    pub(crate) fn push_name(&mut self) -> Result<Snippet, SkipReason> {
        let index = self.appender.string(&[self.name, self.descriptor])?;
        Ok(self.push_constant(index))
    }

    /// A constant of one slot, pushed.
    pub(crate) fn push_constant(&self, index: u16) -> Snippet {
        match index.to_be_bytes() {
            [0, low] => Snippet::default().with(&[opcode::LDC, low]),
            [high, low] => Snippet::default().with(&[opcode::LDC_W, high, low]),
        }
    }

    /// Where uninitialised objects flow.
    pub(crate) fn flow(&mut self) -> Result<&Flow, SkipReason> {
        if self.flow.is_none() {
            let method = Method {
                pool: self.pool,
                code: self.code.code,
                scan: self.scan,
                exception_table: self.code.exception_table,
                frames: self.frames,
                is_constructor: self.is_constructor,
                is_static: self.is_static,
                descriptor: self.descriptor,
            };
            self.flow = Some(Flow::of(&method)?);
        }
        self.flow.as_ref().ok_or(SkipReason::BadCode)
    }

    /// Whether the `invokespecial` at `pc` calls a constructor.
    pub(crate) fn calls_constructor(&self, pc: u32) -> bool {
        let index = crate::class_file::instruction::u2(self.code.code, pc as usize + 1);
        self.pool.referenced_name_and_type(index).is_ok_and(|(name, _)| name == b"<init>")
    }
}
