//! What instructions need of constants: types and members, worked out once for each constant of a class.

use crate::fault::{Check, Problem, Rule};
use crate::hierarchy::Universe;
use crate::types::{Names, Type};
use instrument_rewriter::class_file::{ConstantPool, Tag};

/// A field, method, call site or dynamic constant that an instruction names.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// The class that the reference names; `TOP` for Dynamic and InvokeDynamic.
    pub class: Type,
    pub name: &'a [u8],
    pub descriptor: &'a [u8],
    /// The field's type, or what the method returns; `TOP` for `void`.
    pub result: Type,
    /// The constant's kind.
    pub tag: Tag,
    arguments: (u32, u32),
}

impl Member<'_> {
    /// Slots of the parameters.
    pub fn slots(&self) -> u32 {
        self.arguments.1 - self.arguments.0
    }
}

/// The constants of one class.
#[derive(Debug, Default)]
pub struct Constants<'a> {
    classes: Vec<Type>,
    by_index: Vec<u32>,
    members: Vec<Member<'a>>,
    arguments: Vec<Type>,
}

impl<'a> Constants<'a> {
    /// Nothing is worked out yet.
    pub fn new(pool: &ConstantPool<'_>) -> Self {
        let count = usize::from(pool.count());
        Self { classes: vec![Type::TOP; count], by_index: vec![0; count], ..Self::default() }
    }

    /// The type that a Class constant names.
    pub fn class(&mut self, pool: &ConstantPool<'a>, index: u16, universe: &mut Universe<'_>) -> Check<Type> {
        match self.classes.get(usize::from(index)) {
            Some(&known) if known != Type::TOP => return Ok(known),
            _ => {}
        }
        let Ok(name) = pool.class_name(index) else { return Err(kind(pool, index, "Class")) };
        let of = universe.names.class_type(name);
        self.classes[usize::from(index)] = of;
        Ok(of)
    }

    /// What a constant of one of these kinds names.
    pub fn member(
        &mut self,
        pool: &ConstantPool<'a>,
        index: u16,
        kinds: &[Tag],
        universe: &mut Universe<'_>,
    ) -> Check<Member<'a>> {
        let known = self.by_index.get(usize::from(index)).copied().unwrap_or_default();
        if known != 0 {
            let member = self.members[known as usize - 1];
            if kinds.contains(&member.tag) {
                return Ok(member);
            }
        }
        let needed = || kinds.iter().map(|tag| tag.name()).collect::<Vec<_>>().join(" or ");
        let tag = pool.tag(index).filter(|tag| kinds.contains(tag));
        let (Some(tag), Ok((name, descriptor))) = (tag, pool.referenced_name_and_type(index)) else {
            return Err(kind(pool, index, &needed()));
        };
        let class = match pool.pair(index, tag) {
            Ok((class, _)) if !matches!(tag, Tag::Dynamic | Tag::InvokeDynamic) => {
                self.class(pool, class, universe)?
            }
            _ => Type::TOP,
        };
        let first = self.arguments.len() as u32;
        let result = parameters(descriptor, &mut universe.names, &mut self.arguments);
        let arguments = (first, self.arguments.len() as u32);
        let member = Member { class, name, descriptor, result, tag, arguments };
        self.members.push(member);
        self.by_index[usize::from(index)] = self.members.len() as u32;
        Ok(member)
    }

    /// The types of the parameters in slots, first to last.
    pub fn arguments(&self, member: &Member<'_>) -> &[Type] {
        &self.arguments[member.arguments.0 as usize..member.arguments.1 as usize]
    }
}

/// Appends the parameters of a method descriptor, in slots, and returns the result; `TOP` for `void`. Of a field
/// descriptor: its type.
pub fn parameters(descriptor: &[u8], names: &mut Names, into: &mut Vec<Type>) -> Type {
    let Some(mut rest) = descriptor.strip_prefix(b"(") else { return names.field_type(descriptor) };
    while let Some(&first) = rest.first() {
        let dimensions = rest.iter().take_while(|&&b| b == b'[').count();
        let length = match (first, rest.get(dimensions)) {
            (b')', _) => return names.field_type(&rest[1..]),
            (_, Some(b'L')) => rest.iter().position(|&b| b == b';').map_or(rest.len(), |end| end + 1),
            _ => dimensions + 1,
        };
        let (parameter, tail) = rest.split_at(length.min(rest.len()));
        let of = names.field_type(parameter);
        into.push(of);
        if of.is_category_2() {
            into.push(of.upper());
        }
        rest = tail;
    }
    Type::TOP
}

/// The constant is of another kind than the instruction needs.
#[cold]
pub fn kind(pool: &ConstantPool<'_>, index: u16, needed: &str) -> Box<Problem> {
    let found = match pool.tag(index) {
        Some(tag) => format!("#{index}, {}", tag.name()),
        None => format!("#{index}, which is no constant"),
    };
    Problem::new(Rule::ConstantKind, "").instead(needed, found)
}
