//! What transforms ask of the method in work.

use super::MethodSite;
use super::call_sites::Call;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode;
use crate::code::Reason;
use crate::code::edits::Snippet;
use crate::code::hooks::Hook;
use crate::code::uninitialized::{Flow, Method};

impl MethodSite<'_> {
    /// The calls on which `found` says what they are, with that.
    pub(crate) fn calls_of<T>(&self, found: impl Fn(&MemberRef<'_>) -> Option<T>) -> Vec<(u32, T)> {
        let of = |call: &Call| Some((call.pc, found(&self.pool.member_ref(call.callee).ok()?)?));
        self.calls.iter().filter_map(of).collect()
    }

    /// `invokestatic` of a hook.
    pub(crate) fn call(&mut self, hook: Hook, snippet: Snippet) -> Result<Snippet, Reason> {
        let [a, b] = self.appender.hook(hook)?.to_be_bytes();
        Ok(snippet.with(&[opcode::INVOKESTATIC, a, b]))
    }

    /// The method id, pushed with the shortest instruction.
    pub(crate) fn push_id(&mut self) -> Result<Snippet, Reason> {
        if self.pushed_id.is_none() {
            self.pushed_id = Some(self.push(self.request.id)?);
        }
        Ok(self.pushed_id.unwrap_or_default())
    }

    /// A number, pushed with the shortest instruction.
    pub(crate) fn push(&mut self, number: u32) -> Result<Snippet, Reason> {
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
    pub(crate) fn push_name(&mut self) -> Result<Snippet, Reason> {
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
    pub(crate) fn flow(&mut self) -> Result<&Flow, Reason> {
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
        self.flow.as_ref().ok_or(Reason::BadCode)
    }

    /// Whether the `invokespecial` at `pc` calls a constructor.
    pub(crate) fn calls_constructor(&self, pc: u32) -> bool {
        let index = crate::class_file::instruction::u2(self.code.code, pc as usize + 1);
        self.pool.referenced_name_and_type(index).is_ok_and(|(name, _)| name == b"<init>")
    }
}
