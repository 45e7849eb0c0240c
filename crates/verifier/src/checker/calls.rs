//! The instructions that call methods (JVMS 4.10.1.9, 4.10.1.8, 4.9.2).

use super::Checker;
use crate::constants::Member;
use crate::fault::{Check, Problem, Rule};
use crate::types::{NameId, Type};
use instrument_names::mutf8;
use instrument_rewriter::class_file::instruction::u2;
use instrument_rewriter::class_file::{Tag, opcode};

/// From this class file version on, `invokestatic` and `invokespecial` may name methods of interfaces.
const INTERFACE_METHODS: u16 = 52;

/// From Java 25 on, a Methodref does not hide that the class is an interface (JDK-8350029).
const STRICT_SPECIAL: u16 = 69;

impl<'a> Checker<'_, 'a, '_> {
    /// What does not depend on types: the method, the count, and from where it may be called.
    pub(super) fn callee(&mut self, pc: usize) -> Check<Member<'a>> {
        let (op, index) = (self.code[pc], u2(self.code, pc + 1));
        let kinds: &[Tag] = match op {
            opcode::INVOKEINTERFACE => &[Tag::InterfaceMethodref],
            opcode::INVOKEDYNAMIC => &[Tag::InvokeDynamic],
            opcode::INVOKESPECIAL | opcode::INVOKESTATIC if self.class.major_version >= INTERFACE_METHODS => {
                &[Tag::Methodref, Tag::InterfaceMethodref]
            }
            _ => &[Tag::Methodref],
        };
        let method = self.constants.member(&self.class.pool, index, kinds, self.universe)?;
        match op {
            opcode::INVOKEINTERFACE if u32::from(self.code[pc + 3]) != method.slots() + 1 => {
                return Err(Problem::new(Rule::Operand, "count")
                    .instead((method.slots() + 1).to_string(), self.code[pc + 3].to_string()));
            }
            opcode::INVOKEINTERFACE if self.code[pc + 4] != 0 => {
                return Err(Problem::new(Rule::Operand, "the last byte has to be 0"));
            }
            opcode::INVOKEDYNAMIC if self.code[pc + 3] != 0 || self.code[pc + 4] != 0 => {
                return Err(Problem::new(Rule::Operand, "the last two bytes have to be 0"));
            }
            _ => {}
        }
        let is_init = method.name == b"<init>";
        if method.name.first() == Some(&b'<') && !(is_init && op == opcode::INVOKESPECIAL) {
            return Err(Problem::new(Rule::InternalMethod, mutf8::escape(method.name)));
        }
        if op == opcode::INVOKESPECIAL && !is_init {
            self.special_class(&method)?;
        }
        Ok(method)
    }

    /// Returns whether the call initialised `this`.
    pub(super) fn call(&mut self, pc: usize) -> Check<bool> {
        let op = self.code[pc];
        let method = self.callee(pc)?;
        let is_init = method.name == b"<init>";
        let frame = &mut self.buffers.frame;
        for &of in self.constants.arguments(&method).iter().rev() {
            frame.pop(of, self.universe)?;
        }
        let mut initialized_this = false;
        match op {
            opcode::INVOKESPECIAL if is_init => initialized_this = self.init(pc, &method)?,
            opcode::INVOKESPECIAL => drop(frame.pop(self.this.object(), self.universe)?),
            opcode::INVOKEINTERFACE => drop(frame.pop(method.class, self.universe)?),
            opcode::INVOKEVIRTUAL => {
                let object = frame.pop(method.class, self.universe)?;
                self.protected_method(object, &method)?;
            }
            _ => {}
        }
        if method.result != Type::TOP {
            self.buffers.frame.push_whole(method.result)?;
        }
        Ok(initialized_this)
    }

    /// `invokespecial` names the current class, its superclass, a direct superinterface, or a class further up.
    fn special_class(&mut self, method: &Member<'a>) -> Check {
        let this = self.this.object();
        let name = method.class.name().filter(|_| method.class.is_object());
        if name.is_some_and(|name| {
            name == self.this || Some(name) == self.above || self.interfaces.contains(&name)
        }) {
            return Ok(());
        }
        let why = if !self.universe.is_assignable(method.class, this, false) {
            "the class is not assignable to it"
        } else if method.tag == Tag::InterfaceMethodref
            || (self.infers || self.jvm.newest_major >= STRICT_SPECIAL)
                && !name.is_some_and(|name| self.is_above(name))
        {
            "it is an interface, but no direct superinterface"
        } else {
            return Ok(());
        };
        Err(Problem::new(Rule::SpecialClass, format!("{}: {why}", self.universe.names.words(method.class))))
    }

    /// Whether this is a superclass, or may be one that is not known.
    fn is_above(&mut self, name: NameId) -> bool {
        self.universe.is_subclass(self.this, name).unwrap_or_else(|missing| {
            self.universe.assume(missing);
            true
        })
    }

    /// The call of a constructor.
    fn init(&mut self, pc: usize, method: &Member<'a>) -> Check<bool> {
        let object = self.buffers.frame.pop_if(
            Type::is_any_reference,
            "an object that is not initialised",
            &self.universe.names,
        )?;
        let names = &self.universe.names;
        let wrong = |expected: String| {
            Err(Problem::new(Rule::InitReceiver, "").instead(expected, names.words(method.class)))
        };
        if object == Type::UNINITIALIZED_THIS {
            let above = self.above.map(NameId::object);
            if method.class != self.this.object() && Some(method.class) != above {
                return wrong("a constructor of this class or of its superclass".into());
            }
            self.covered(pc, true)?;
            self.buffers.frame.initialize(object, self.this.object());
            return Ok(true);
        }
        let Some(new_at) = object.new_at().map(|new_at| new_at as usize) else {
            let found = names.words(object);
            return Err(
                Problem::new(Rule::InitReceiver, "").instead("an object that is not initialised", found)
            );
        };
        let class = self.constants.class(&self.class.pool, u2(self.code, new_at + 1), self.universe)?;
        if class != method.class {
            let expected = self.universe.names.words(class);
            let found = self.universe.names.words(method.class);
            return Err(
                Problem::new(Rule::InitReceiver, "").instead(format!("a constructor of {expected}"), found)
            );
        }
        if class.name().is_some_and(|id| self.supers.contains(&id)) {
            self.protected_constructor(class, method)?;
        }
        self.covered(pc, false)?;
        self.buffers.frame.initialize(object, class);
        Ok(false)
    }

    fn protected_constructor(&mut self, class: Type, method: &Member<'a>) -> Check {
        let this = self.this.object();
        let Some(id) = class.name() else { return Ok(()) };
        if self.is_protected_elsewhere(id, method.name, method.descriptor, true)
            && !self.universe.is_assignable(this, class, true)
        {
            return Err(self.protected(method.name, class));
        }
        Ok(())
    }

    fn protected_method(&mut self, object: Type, method: &Member<'a>) -> Check {
        let this = self.this.object();
        if object == this {
            return Ok(());
        }
        let Some(id) = method.class.name().filter(|id| self.supers.contains(id)) else { return Ok(()) };
        // Arrays have a public clone.
        if id == NameId::OBJECT && object.is_array() && method.name == b"clone" {
            return Ok(());
        }
        if self.is_protected_elsewhere(id, method.name, method.descriptor, true)
            && !self.universe.is_assignable(this, object, true)
        {
            return Err(self.protected(method.name, object));
        }
        Ok(())
    }
}
