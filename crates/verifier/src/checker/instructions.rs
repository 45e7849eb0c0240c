//! The pass over the code: what each instruction takes and puts (JVMS 4.10.1.9).

use super::Checker;
use super::tables::{EFFECTS, array_element, local_form, new_array};
use crate::constants::kind;
use crate::fault::{Check, Problem, Rule};
use crate::types::{NameId, Type};
use instrument_rewriter::class_file::instruction::{Switch, i2, i4, length_at, u2};
use instrument_rewriter::class_file::{Tag, opcode as op};

/// Before this class file version, the padding of switches has to be 0.
const FREE_PADDING: u16 = 51;

impl<'a> Checker<'_, 'a, '_> {
    /// Goes through the code once.
    pub(super) fn pass(&mut self) -> Check {
        let mut next_frame = 0;
        let mut flows = true;
        let mut pc = 0;
        while pc < self.code.len() {
            let length = match usize::from(op::LENGTHS[usize::from(self.code[pc])]) {
                0 => length_at(self.code, pc)
                    .map_err(|error| Problem::new(Rule::BadInstruction, error.reason).at(pc as u32))?,
                length => length,
            };
            let step = self.step(pc, &mut next_frame, flows);
            flows = step.map_err(|problem| problem.at(pc as u32))?;
            pc += length;
        }
        if flows { Err(Problem::new(Rule::FallsOffCode, "").at(pc as u32)) } else { Ok(()) }
    }

    /// One instruction. Returns whether it leads to the next one.
    #[inline]
    fn step(&mut self, pc: usize, next_frame: &mut usize, flows: bool) -> Check<bool> {
        if self.buffers.marks[pc].frame() == Some(*next_frame) {
            if flows {
                let flag = self.buffers.frame.this_uninitialized;
                self.fits(pc, None, flag)?;
            }
            let view = self.buffers.maps.view(*next_frame);
            self.buffers.frame.become_view(view);
            *next_frame += 1;
        } else if !flows {
            return Err(Problem::new(Rule::ExpectedFrame, ""));
        }
        self.execute(pc)
    }

    /// What the instruction does with the type state. Returns whether it leads to the next one.
    #[inline]
    pub(super) fn execute(&mut self, pc: usize) -> Check<bool> {
        let opcode = self.code[pc];
        let was_uninitialized = self.buffers.frame.this_uninitialized;
        let mut initialized_this = false;
        let mut flows = true;
        if let Some(effect) = &EFFECTS[usize::from(opcode)] {
            let frame = &mut self.buffers.frame;
            for of in effect.pops {
                if of == Type::TOP {
                    break;
                }
                frame.pop_whole(of, self.universe)?;
            }
            if effect.push != Type::TOP {
                frame.push_whole(effect.push)?;
            }
        } else if let Some((form, index)) = local_form(opcode) {
            let index = index.unwrap_or_else(|| usize::from(self.code[pc + 1]));
            return self.local(pc, form, index).map(|()| true);
        } else {
            match opcode {
                op::GETSTATIC..=op::PUTFIELD => self.field(pc)?,
                op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => initialized_this = self.call(pc)?,
                op::IALOAD..=op::SALOAD => self.array_load(opcode)?,
                op::IASTORE..=op::SASTORE => self.array_store(opcode)?,
                op::POP..=op::SWAP => self.stack(opcode)?,
                op::IFEQ..=op::JSR | op::IFNULL..=op::JSR_W | op::TABLESWITCH..=op::RETURN | op::ATHROW => {
                    flows = self.control(pc)?;
                }
                op::WIDE => return self.wide(pc).map(|()| true),
                op::IINC => drop(self.int_local(usize::from(self.code[pc + 1]))?),
                op::LDC => self.load_constant(u16::from(self.code[pc + 1]), false)?,
                op::LDC_W => self.load_constant(u2(self.code, pc + 1), false)?,
                op::LDC2_W => self.load_constant(u2(self.code, pc + 1), true)?,
                op::RET => {
                    return Err(Problem::new(
                        Rule::BadInstruction,
                        "ret is for class files before version 51",
                    ));
                }
                _ => self.objects(pc)?,
            }
        }
        self.covered(pc, initialized_this && was_uninitialized)?;
        Ok(flows)
    }

    /// A load or store. Handlers see the type state in front of a store.
    fn local(&mut self, pc: usize, form: u8, index: usize) -> Check {
        let is_store = form >= op::ISTORE;
        if is_store {
            self.covered(pc, false)?;
        }
        let frame = &mut self.buffers.frame;
        let names = &self.universe.names;
        let whole = [Type::INT, Type::LONG, Type::FLOAT, Type::DOUBLE];
        let what = usize::from(if is_store { form - op::ISTORE } else { form - op::ILOAD });
        match (is_store, whole.get(what)) {
            (true, Some(&of)) => {
                frame.pop_whole(of, self.universe)?;
                frame.set_local(index, of)?;
            }
            (true, None) => {
                let fits = |of: Type| of.is_any_reference() || of.subroutine().is_some();
                let of = frame.pop_if(fits, "a reference", names)?;
                frame.set_local(index, of)?;
            }
            (false, Some(&of)) => {
                frame.local(index, |found| found == of, &names.words(of), names)?;
                if of.is_category_2() {
                    frame.local(index + 1, |found| found == of.upper(), &names.words(of.upper()), names)?;
                }
                frame.push_whole(of)?;
            }
            (false, None) => {
                let of = frame.local(index, Type::is_any_reference, "a reference", names)?;
                frame.push(of)?;
            }
        }
        if is_store { Ok(()) } else { self.covered(pc, false) }
    }

    fn int_local(&mut self, index: usize) -> Check<Type> {
        self.buffers.frame.local(index, |found| found == Type::INT, "int", &self.universe.names)
    }

    fn wide(&mut self, pc: usize) -> Check {
        let (opcode, index) = (self.code[pc + 1], usize::from(u2(self.code, pc + 2)));
        match local_form(opcode) {
            Some((form, None)) => self.local(pc, form, index),
            _ if opcode == op::IINC => {
                self.int_local(index)?;
                self.covered(pc, false)
            }
            _ => Err(Problem::new(Rule::BadInstruction, "wide")),
        }
    }

    fn pop(&mut self, of: Type) -> Check<Type> {
        self.buffers.frame.pop_whole(of, self.universe)
    }

    fn pop_reference(&mut self) -> Check<Type> {
        self.buffers.frame.pop_if(Type::is_any_reference, "a reference", &self.universe.names)
    }

    /// An array of one of these elements, or null.
    fn pop_array(&mut self, elements: &[u8], what: &str) -> Check<Type> {
        let names = &self.universe.names;
        let fits = |of: Type| of == Type::NULL || of.is_array() && elements.contains(&names.element(of));
        self.buffers.frame.pop_if(fits, what, names)
    }

    fn array_load(&mut self, opcode: u8) -> Check {
        let Some((elements, of)) = array_element(opcode) else { return Ok(()) };
        self.pop(Type::INT)?;
        let array = self.pop_array(elements, op::NAMES[usize::from(opcode)])?;
        let of = match opcode {
            op::AALOAD if array == Type::NULL => Type::NULL,
            op::AALOAD => self.universe.names.component(array),
            _ => of,
        };
        self.buffers.frame.push_whole(of)
    }

    fn array_store(&mut self, opcode: u8) -> Check {
        let Some((elements, of)) = array_element(opcode) else { return Ok(()) };
        self.pop(of)?;
        self.pop(Type::INT)?;
        self.pop_array(elements, op::NAMES[usize::from(opcode)]).map(drop)
    }

    /// `pop` to `swap`: values move as a whole, so that no half of a `long` stays alone.
    fn stack(&mut self, opcode: u8) -> Check {
        let names = &self.universe.names;
        let frame = &mut self.buffers.frame;
        let mut one = || frame.pop_if(Type::is_category_1, "a type of one slot", names);
        match opcode {
            op::POP => drop(one()?),
            op::DUP => {
                let a = one()?;
                frame.push(a)?;
                frame.push(a)?;
            }
            op::SWAP => {
                let (a, b) = (one()?, one()?);
                frame.push(a)?;
                frame.push(b)?;
            }
            op::DUP_X1 => {
                let (a, b) = (one()?, one()?);
                for of in [a, b, a] {
                    frame.push(of)?;
                }
            }
            op::DUP_X2 => {
                let a = one()?;
                let (c, b) = self.two()?;
                self.push_all(&[a, c, b, a])?;
            }
            op::POP2 => drop(self.two()?),
            op::DUP2 => {
                let (b, a) = self.two()?;
                self.push_all(&[b, a, b, a])?;
            }
            op::DUP2_X1 => {
                let (b, a) = self.two()?;
                let names = &self.universe.names;
                let c = self.buffers.frame.pop_if(Type::is_category_1, "a type of one slot", names)?;
                self.push_all(&[b, a, c, b, a])?;
            }
            _ => {
                let (b, a) = self.two()?;
                let (d, c) = self.two()?;
                self.push_all(&[b, a, d, c, b, a])?;
            }
        }
        Ok(())
    }

    /// Two types of one slot, or one of two: the lower slot first.
    fn two(&mut self) -> Check<(Type, Type)> {
        let names = &self.universe.names;
        let frame = &mut self.buffers.frame;
        let upper = frame.pop_any()?;
        let lower = if upper.is_category_1() {
            frame.pop_if(Type::is_category_1, "a type of one slot", names)?
        } else if upper.is_category_2_upper() {
            frame.pop_if(Type::is_category_2, "a type of two slots", names)?
        } else {
            let found = names.words(upper);
            return Err(Problem::new(Rule::StackType, "").instead("two slots that belong together", found));
        };
        Ok((lower, upper))
    }

    fn push_all(&mut self, types: &[Type]) -> Check {
        types.iter().try_for_each(|&of| self.buffers.frame.push(of))
    }

    /// Branches, switches, returns, `athrow`. Returns whether the next instruction may follow.
    fn control(&mut self, pc: usize) -> Check<bool> {
        let opcode = self.code[pc];
        match opcode {
            op::IFEQ..=op::IFLE => drop(self.pop(Type::INT)?),
            op::IF_ICMPEQ..=op::IF_ICMPLE => {
                self.pop(Type::INT)?;
                self.pop(Type::INT)?;
            }
            op::IF_ACMPEQ | op::IF_ACMPNE => {
                self.pop_reference()?;
                self.pop_reference()?;
            }
            op::IFNULL | op::IFNONNULL => drop(self.pop_reference()?),
            op::GOTO => {}
            op::GOTO_W => {
                self.branch(pc, i4(self.code, pc + 1))?;
                return Ok(false);
            }
            op::TABLESWITCH | op::LOOKUPSWITCH => {
                self.switch(pc)?;
                return Ok(false);
            }
            op::IRETURN..=op::RETURN => {
                self.method_return(opcode)?;
                return Ok(false);
            }
            op::ATHROW => {
                self.pop(NameId::THROWABLE.object())?;
                return Ok(false);
            }
            _ => return Err(Problem::new(Rule::BadInstruction, "jsr is for class files before version 51")),
        }
        self.branch(pc, i2(self.code, pc + 1))?;
        Ok(opcode != op::GOTO)
    }

    fn switch(&mut self, pc: usize) -> Check {
        let Some(switch) = Switch::at(self.code, pc) else {
            return Err(Problem::new(Rule::BadInstruction, ""));
        };
        check_switch(self.code, pc, switch, self.class.major_version)?;
        self.pop(Type::INT)?;
        switch.offset_words().try_for_each(|word| self.branch(pc, i4(self.code, word)))
    }

    fn method_return(&mut self, opcode: u8) -> Check {
        let of = match opcode {
            op::IRETURN => self.pop(Type::INT)?,
            op::LRETURN => self.pop(Type::LONG)?,
            op::FRETURN => self.pop(Type::FLOAT)?,
            op::DRETURN => self.pop(Type::DOUBLE)?,
            op::ARETURN => self.pop_reference()?,
            _ => {
                if self.result != Type::TOP {
                    return Err(self.wrong_return("nothing".into()));
                }
                if self.is_constructor && self.buffers.frame.this_uninitialized {
                    return Err(Problem::new(Rule::ThisUninitialized, ""));
                }
                return Ok(());
            }
        };
        if self.result == Type::TOP || !self.universe.is_assignable(self.result, of, false) {
            return Err(self.wrong_return(self.universe.names.words(of)));
        }
        Ok(())
    }

    #[cold]
    fn wrong_return(&self, found: String) -> Box<Problem> {
        let names = &self.universe.names;
        let expected = if self.result == Type::TOP { "nothing".into() } else { names.words(self.result) };
        Problem::new(Rule::ReturnType, "").instead(expected, found)
    }

    /// `ldc`, `ldc_w`, `ldc2_w`.
    fn load_constant(&mut self, index: u16, is_wide: bool) -> Check {
        let pool = &self.class.pool;
        let of = match pool.tag(index) {
            Some(Tag::Integer) => Type::INT,
            Some(Tag::Float) => Type::FLOAT,
            Some(Tag::Long) => Type::LONG,
            Some(Tag::Double) => Type::DOUBLE,
            Some(Tag::String) => NameId::STRING.object(),
            Some(Tag::Class) => NameId::CLASS.object(),
            Some(Tag::MethodHandle) => NameId::METHOD_HANDLE.object(),
            Some(Tag::MethodType) => NameId::METHOD_TYPE.object(),
            Some(Tag::Dynamic) => self.constants.member(pool, index, &[Tag::Dynamic], self.universe)?.result,
            _ => Type::TOP,
        };
        if of == Type::TOP || of.is_category_2() != is_wide {
            return Err(kind(
                pool,
                index,
                if is_wide { "Long, Double" } else { "a loadable constant of one slot" },
            ));
        }
        self.buffers.frame.push_whole(of)
    }

    /// `new` to `monitorexit`, `multianewarray`, and what is no instruction.
    fn objects(&mut self, pc: usize) -> Check {
        let opcode = self.code[pc];
        let of = match opcode {
            op::NEW | op::ANEWARRAY | op::CHECKCAST | op::INSTANCEOF | op::MULTIANEWARRAY => {
                self.constants.class(&self.class.pool, u2(self.code, pc + 1), self.universe)?
            }
            _ => Type::TOP,
        };
        let push = match opcode {
            op::NEW if of.is_array() => return Err(Problem::new(Rule::Operand, "new of an array")),
            op::NEW => Type::uninitialized(pc as u32),
            op::NEWARRAY => {
                self.pop(Type::INT)?;
                let Some(name) = new_array(self.code[pc + 1]) else {
                    return Err(Problem::new(Rule::Operand, format!("element type {}", self.code[pc + 1])));
                };
                self.universe.names.class_type(name)
            }
            op::ANEWARRAY => {
                self.pop(Type::INT)?;
                if self.universe.names.dimensions(of) >= 255 {
                    return Err(Problem::new(Rule::Operand, "an array of more than 255 dimensions"));
                }
                self.universe.names.array_of(of)
            }
            op::ARRAYLENGTH => {
                let fits = |of: Type| of.is_array() || of == Type::NULL;
                self.buffers.frame.pop_if(fits, "an array", &self.universe.names)?;
                Type::INT
            }
            op::CHECKCAST => {
                self.pop(NameId::OBJECT.object())?;
                of
            }
            op::INSTANCEOF => {
                self.pop(NameId::OBJECT.object())?;
                Type::INT
            }
            op::MONITORENTER | op::MONITOREXIT => return self.pop_reference().map(drop),
            op::MULTIANEWARRAY => {
                let dimensions = usize::from(self.code[pc + 3]);
                if !of.is_array() || dimensions == 0 || self.universe.names.dimensions(of) < dimensions {
                    return Err(Problem::new(Rule::Operand, format!("{dimensions} dimensions"))
                        .instead("an array of at least as many", self.universe.names.words(of)));
                }
                for _ in 0..dimensions {
                    self.pop(Type::INT)?;
                }
                of
            }
            _ => return Err(Problem::new(Rule::BadInstruction, format!("{opcode:#04x}"))),
        };
        self.buffers.frame.push(push)
    }
}

/// The keys of a `lookupswitch` ascend; padding is 0 in old class files.
pub(crate) fn check_switch(code: &[u8], pc: usize, switch: Switch, major: u16) -> Check {
    if major < FREE_PADDING && code[pc + 1..switch.words].iter().any(|&b| b != 0) {
        return Err(Problem::new(Rule::Operand, "the padding of the switch is not 0"));
    }
    if code[pc] == op::LOOKUPSWITCH {
        let key = |case: usize| i4(code, switch.cases + 8 * case);
        if let Some(case) = (1..switch.count).find(|&case| key(case - 1) >= key(case)) {
            return Err(Problem::new(Rule::SwitchOrder, format!("{} and then {}", key(case - 1), key(case))));
        }
    }
    Ok(())
}
