//! Calls of one's own: static methods that a user of this crate names, at the places that it names.
//!
//! | where | code |
//! |---|---|
//! | entry: in front of everything, also of what other transforms insert | push the constant; `invokestatic` |
//! | in front of an instruction, behind what other transforms insert there | push the constant; `invokestatic` |
//!
//! Branches to an instruction pass through the calls in front of it, branches to the first instruction do not pass through the entry. The
//! call of an entry is made before `super()` in a constructor. What the called method throws leaves the method, unless the code has
//! a handler there. With `method_events` the calls at entry and in front of returns lie outside of the events of the method.
//!
//! ```
//! use instrument_rewriter::rewrite::{Choice, ClassRewriter, Outcome, Transforms};
//! use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method};
//! use std::sync::Arc;
//!
//! /// `com.acme.Hooks.entered("name of the method")` at every entry.
//! #[derive(Debug)]
//! struct Entries(Call);
//!
//! impl InsertCalls for Entries {
//!     fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
//!         if let Ok(call) = self.0.clone().with_name(method.name) {
//!             calls.at_entry(call);
//!         }
//!     }
//! }
//!
//! let class = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/Greeter.class"));
//! let mut rewriter = ClassRewriter::new(Transforms::NONE);
//! rewriter.insert_calls(Some(Arc::new(Entries(Call::new("com/acme/Hooks", "entered")?))));
//! let mut rewritten = Vec::new();
//! let outcome = rewriter.rewrite(class, |_| Choice::Rewrite(1), &mut rewritten)?;
//! assert_eq!(outcome, Outcome::Rewritten);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::MethodSite;
use crate::class_file::{CodeAttribute, ConstantPool, mutf8, opcode};
use crate::rewrite::SkipReason;
use crate::rewrite::code_scan::CodeScan;
use crate::rewrite::edits::{Edits, Place, Snippet};
use instrument_names::glob::push_modified_utf8_str;
use instrument_names::printable::printable;
use std::fmt;

/// Says which calls methods get. One object serves all threads.
pub trait InsertCalls: fmt::Debug + Send + Sync {
    /// Called for each method with code that is rewritten, in the order of the class; adds to `calls` what this method gets.
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>);
}

/// A method as it was before anything was inserted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Method<'a> {
    /// Internal name of its class, modified UTF-8.
    pub class: &'a [u8],
    /// Unqualified name, modified UTF-8.
    pub name: &'a [u8],
    /// Descriptor (JVMS 4.3.3), modified UTF-8.
    pub descriptor: &'a [u8],
    /// `access_flags` (JVMS table 4.6-A).
    pub access_flags: u16,
    /// The constant pool that the code names.
    pub pool: &'a ConstantPool<'a>,
    /// Its code: the instructions are those of `Instructions::new(method.code.code)`.
    pub code: &'a CodeAttribute<'a>,
}

/// A call of a static method that returns nothing, with at most one constant as its argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    owner: Vec<u8>,
    name: Vec<u8>,
    argument: Argument,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Argument {
    None,
    Int(i32),
    Text(Vec<u8>),
}

/// A call that no class file can hold, or a place where none can stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCall {
    /// The name of the class.
    #[error("`{}` is no class name as class files have it, such as com/acme/Hooks", printable(.0))]
    Owner(String),
    /// The name of the method.
    #[error("`{}` is no name of a static method", printable(.0))]
    Name(String),
    /// The length of a text in bytes of modified UTF-8.
    #[error("a text of {0} bytes; a constant holds 65,535")]
    Text(usize),
    /// The place.
    #[error("no instruction begins at pc {0}")]
    Pc(u32),
}

/// Most bytes of a `CONSTANT_Utf8` (JVMS 4.4.7).
const MAX_UTF8: usize = 65_535;

impl Call {
    /// A call of `owner.name()`: a static method without result of a class (not of an interface). `owner` is an internal name:
    /// `com/acme/Hooks`.
    ///
    /// # Errors
    /// Names that JVMS 4.2 does not allow.
    pub fn new(owner: &str, name: &str) -> Result<Self, BadCall> {
        let is_name = |text: &str, never: &[char]| {
            !text.is_empty() && text.len() <= MAX_UTF8 / 2 && !text.contains(never)
        };
        if !owner.split('/').all(|part| is_name(part, &['.', ';', '['])) || owner.len() > MAX_UTF8 / 2 {
            return Err(BadCall::Owner(owner.to_owned()));
        }
        if !is_name(name, &['.', ';', '[', '/', '<', '>']) {
            return Err(BadCall::Name(name.to_owned()));
        }
        Ok(Self { owner: modified_utf8(owner), name: modified_utf8(name), argument: Argument::None })
    }

    /// The same method with an `int`: `(I)V`.
    #[must_use]
    pub fn with_int(self, argument: i32) -> Self {
        Self { argument: Argument::Int(argument), ..self }
    }

    /// The same method with a String: `(Ljava/lang/String;)V`.
    ///
    /// # Errors
    /// The text is longer than a constant can be.
    pub fn with_text(self, argument: &str) -> Result<Self, BadCall> {
        self.with_encoded(modified_utf8(argument))
    }

    /// As [`with_text`](Self::with_text), of a name as the class file has it, in modified UTF-8.
    ///
    /// # Errors
    /// The text is longer than a constant can be.
    pub fn with_name(self, argument: &[u8]) -> Result<Self, BadCall> {
        let mut text = Vec::with_capacity(argument.len());
        // Bytes that are no modified UTF-8 would make a class that the JVM refuses.
        mutf8::code_units(argument).for_each(|unit| mutf8::push_unit(unit, &mut text));
        self.with_encoded(text)
    }

    fn with_encoded(self, text: Vec<u8>) -> Result<Self, BadCall> {
        match text.len() {
            0..=MAX_UTF8 => Ok(Self { argument: Argument::Text(text), ..self }),
            length => Err(BadCall::Text(length)),
        }
    }

    /// The descriptor of the method that is called.
    pub fn descriptor(&self) -> &'static str {
        match self.argument {
            Argument::None => "()V",
            Argument::Int(_) => "(I)V",
            Argument::Text(_) => "(Ljava/lang/String;)V",
        }
    }

    fn snippet(&self, site: &mut MethodSite<'_>) -> Result<Snippet, SkipReason> {
        let push = match &self.argument {
            Argument::None => Snippet::default(),
            Argument::Int(value) => site.push(*value as u32)?,
            Argument::Text(text) => {
                let index = site.appender.own_string(text)?;
                site.push_constant(index)
            }
        };
        let [a, b] = site.appender.named_method(&self.owner, &self.name, self.descriptor())?.to_be_bytes();
        Ok(push.with(&[opcode::INVOKESTATIC, a, b]))
    }
}

fn modified_utf8(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    push_modified_utf8_str(text, &mut bytes);
    bytes
}

/// The calls that a method gets. Several at one place are made in the order in which they were added.
#[derive(Debug)]
pub struct Calls<'a> {
    scan: &'a CodeScan,
    /// In front of the instruction at this pc; none: at the entry.
    placed: Vec<(Option<u32>, Call)>,
}

impl Calls<'_> {
    /// When the method is entered, once for each time.
    pub fn at_entry(&mut self, call: Call) {
        self.placed.push((None, call));
    }

    /// In front of the instruction at `pc`, whichever way leads there.
    ///
    /// # Errors
    /// No instruction begins there; nothing is added.
    pub fn before(&mut self, pc: u32, call: Call) -> Result<(), BadCall> {
        if !self.scan.is_instruction(pc as usize) {
            return Err(BadCall::Pc(pc));
        }
        self.placed.push((Some(pc), call));
        Ok(())
    }

    /// In front of every return of the method; not where it ends by an exception.
    pub fn before_returns(&mut self, call: &Call) {
        self.placed.extend(self.scan.returns.iter().map(|&pc| (Some(pc), call.clone())));
    }
}

/// Comes behind all other transforms: what is in front of a return is then behind the event of the exit, where no handler of ours leads
/// an exception of the called method to a second one.
pub(crate) fn plan(
    inserter: &dyn InsertCalls,
    access_flags: u16,
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
) -> Result<(), SkipReason> {
    let method = Method {
        class: site.class,
        name: site.name,
        descriptor: site.descriptor,
        access_flags,
        pool: site.pool,
        code: site.code,
    };
    let mut calls = Calls { scan: site.scan, placed: Vec::new() };
    inserter.insert(&method, &mut calls);
    for (pc, call) in calls.placed {
        let snippet = call.snippet(site)?;
        edits.need_stack(u16::from(call.argument != Argument::None));
        match pc {
            None => edits.first.push(snippet),
            Some(pc) => edits.insert(pc, Place::Before, snippet),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_class_file_has_are_refused() {
        for owner in ["", "/", "a/", "a//b", "a.B", "La/B;", "[I"] {
            assert_eq!(Call::new(owner, "f"), Err(BadCall::Owner(owner.to_owned())));
        }
        for name in ["", "<init>", "a.b", "a/b", "a;"] {
            assert_eq!(Call::new("a/B", name), Err(BadCall::Name(name.to_owned())));
        }
        let call = Call::new("a/B", "f").unwrap();
        assert_eq!(call.descriptor(), "()V");
        assert_eq!(call.clone().with_int(-1).descriptor(), "(I)V");
        assert_eq!(call.clone().with_text("x").unwrap().descriptor(), "(Ljava/lang/String;)V");
        assert_eq!(call.clone().with_text(&"x".repeat(65_536)), Err(BadCall::Text(65_536)));
        assert_eq!(call.clone().with_name(b"\0\xff").unwrap(), call.clone().with_text("\0\u{ff}").unwrap());
        // NUL takes two bytes in modified UTF-8.
        assert_eq!(call.with_text(&"\0".repeat(32_768)), Err(BadCall::Text(65_536)));
        let message = Call::new("a\u{1b}.B", "f").unwrap_err().to_string();
        assert_eq!(message, "`a\\u001b.B` is no class name as class files have it, such as com/acme/Hooks");
    }
}
