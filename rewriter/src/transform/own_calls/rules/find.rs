//! The places in a method that a rule means.

use super::fit::java_type;
use super::rule::{Kind, Rule};
use crate::class_file::instruction::{Instructions, u2};
use crate::class_file::{mutf8, opcode};
use crate::transform::own_calls::places::{At, descriptor_of};
use crate::transform::own_calls::{Calls, Method};
use instrument_names::pattern::Pattern;
use instrument_names::signature;
use std::collections::BTreeMap;

impl Rule {
    pub(super) fn fits(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        let any = |patterns: &[Pattern]| patterns.iter().any(|one| one.matches(class, name, descriptor));
        (self.methods.is_empty() || any(&self.methods)) && !any(&self.except)
    }

    /// The places in a method, and what the instruction there names.
    pub(super) fn places(&self, method: &Method<'_>, calls: &mut Calls<'_>) -> Vec<(At, String)> {
        let nothing = String::new;
        match &self.at {
            Kind::Entry => vec![(At::Entry, nothing())],
            Kind::Throw => vec![(At::Throw, nothing())],
            Kind::Return => calls.scan.returns.iter().map(|&pc| (At::Before(pc), nothing())).collect(),
            Kind::Line(line) => lines(method, *line).map(|pc| (At::Before(pc), nothing())).collect(),
            _ => {
                let instructions = Instructions::new(method.code.code).map_while(Result::ok);
                instructions
                    .filter_map(|one| self.instruction(method, calls, one.pc as u32, one.bytes))
                    .collect()
            }
        }
    }

    fn instruction(
        &self,
        method: &Method<'_>,
        calls: &mut Calls<'_>,
        pc: u32,
        bytes: &[u8],
    ) -> Option<(At, String)> {
        let member = |pattern: &Pattern| {
            let member = method.pool.member_ref(u2(bytes, 1)).ok()?;
            let (class, name) = (mutf8::escape(member.class).replace('/', "."), mutf8::escape(member.name));
            let descriptor = if member.descriptor.starts_with(b"(") { member.descriptor } else { b"" };
            let fits = pattern.matches(member.class, member.name, descriptor);
            let text = format!("{}.{name}{}", signature::java_class(&class), mutf8::escape(descriptor));
            fits.then(|| signature::brief(&text).unwrap_or(text))
        };
        let op = bytes[0];
        let is_call = matches!(op, opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE);
        match &self.at {
            Kind::BeforeCall(of) if is_call => Some((At::Before(pc), member(of)?)),
            Kind::AfterCall(of) if is_call => Some((At::After(pc), member(of)?)),
            Kind::Get(of) if matches!(op, opcode::GETSTATIC | opcode::GETFIELD) => {
                Some((At::After(pc), member(of)?))
            }
            Kind::Put(of) if matches!(op, opcode::PUTSTATIC | opcode::PUTFIELD) => {
                Some((At::Before(pc), member(of)?))
            }
            Kind::New(of) => {
                let made = match op {
                    opcode::INVOKESPECIAL => {
                        let called = method.pool.member_ref(u2(bytes, 1)).ok()?;
                        let is_new = called.name == b"<init>" && calls.places.makes_new(pc);
                        is_new.then(|| descriptor_of(called.class))?
                    }
                    opcode::NEWARRAY | opcode::ANEWARRAY | opcode::MULTIANEWARRAY => {
                        calls.places.operation(pc)?.result?
                    }
                    _ => return None,
                };
                let name = java_type(&made);
                of.matches(name.as_bytes()).then_some((At::After(pc), name))
            }
            _ => None,
        }
    }
}

/// Where runs of instructions of a line begin.
fn lines(method: &Method<'_>, line: u16) -> impl Iterator<Item = u32> {
    let mut rows: BTreeMap<u16, u16> = BTreeMap::new();
    let mut attributes = method.code.attributes.clone();
    while let Ok(Some(attribute)) = attributes.next() {
        if method.pool.utf8_or_empty(attribute.name_index) == b"LineNumberTable" {
            let table = attribute.info.get(2..).unwrap_or_default().chunks_exact(4);
            rows.extend(table.map(|row| (u2(row, 0), u2(row, 2))));
        }
    }
    let mut before = None;
    let starts = rows.into_iter().filter(move |(_, of)| before.replace(*of) != Some(*of) && *of == line);
    starts.map(|(pc, _)| u32::from(pc))
}
