//! What instructions have in common, by opcode (JVMS 6.5).

use crate::types::{NameId, Type};
use instrument_rewriter::class_file::opcode as op;

/// What an instruction without operands takes (from bottom to top) and puts, `TOP`: nothing.
#[derive(Clone, Copy)]
pub(crate) struct Effect {
    /// The first is on top of the stack.
    pub pops: [Type; 3],
    pub push: Type,
}

/// By opcode; none: it is not as simple.
pub(crate) const EFFECTS: [Option<Effect>; 256] = {
    const I: Type = Type::INT;
    const F: Type = Type::FLOAT;
    const L: Type = Type::LONG;
    const D: Type = Type::DOUBLE;
    const N: Type = Type::TOP;
    let mut table = [None; 256];
    let mut at = 0;
    while at < 256 {
        let (pops, push) = match at as u8 {
            op::NOP => ([N, N, N], N),
            op::ACONST_NULL => ([N, N, N], Type::NULL),
            op::ICONST_M1..=op::ICONST_5 | op::BIPUSH | op::SIPUSH => ([N, N, N], I),
            op::LCONST_0 | op::LCONST_1 => ([N, N, N], L),
            op::FCONST_0..=op::FCONST_2 => ([N, N, N], F),
            op::DCONST_0 | op::DCONST_1 => ([N, N, N], D),
            op::INEG | op::I2B | op::I2C | op::I2S => ([I, N, N], I),
            op::IADD
            | op::ISUB
            | op::IMUL
            | op::IDIV
            | op::IREM
            | op::ISHL
            | op::ISHR
            | op::IUSHR
            | op::IAND
            | op::IOR
            | op::IXOR => ([I, I, N], I),
            op::LNEG => ([L, N, N], L),
            op::LADD | op::LSUB | op::LMUL | op::LDIV | op::LREM | op::LAND | op::LOR | op::LXOR => {
                ([L, L, N], L)
            }
            op::LSHL | op::LSHR | op::LUSHR => ([I, L, N], L),
            op::FNEG => ([F, N, N], F),
            op::FADD | op::FSUB | op::FMUL | op::FDIV | op::FREM => ([F, F, N], F),
            op::DNEG => ([D, N, N], D),
            op::DADD | op::DSUB | op::DMUL | op::DDIV | op::DREM => ([D, D, N], D),
            op::I2L => ([I, N, N], L),
            op::I2F => ([I, N, N], F),
            op::I2D => ([I, N, N], D),
            op::L2I => ([L, N, N], I),
            op::L2F => ([L, N, N], F),
            op::L2D => ([L, N, N], D),
            op::F2I => ([F, N, N], I),
            op::F2L => ([F, N, N], L),
            op::F2D => ([F, N, N], D),
            op::D2I => ([D, N, N], I),
            op::D2L => ([D, N, N], L),
            op::D2F => ([D, N, N], F),
            op::LCMP => ([L, L, N], I),
            op::FCMPL | op::FCMPG => ([F, F, N], I),
            op::DCMPL | op::DCMPG => ([D, D, N], I),
            _ => {
                at += 1;
                continue;
            }
        };
        table[at] = Some(Effect { pops, push });
        at += 1;
    }
    table
};

/// Type and form of a load or store of a local variable: the opcode of the form with an operand, and the index if it
/// has none.
pub(crate) fn local_form(opcode: u8) -> Option<(u8, Option<usize>)> {
    Some(match opcode {
        op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE => (opcode, None),
        op::ILOAD_0..=op::ALOAD_3 => {
            (op::ILOAD + (opcode - op::ILOAD_0) / 4, Some(usize::from((opcode - op::ILOAD_0) % 4)))
        }
        op::ISTORE_0..=op::ASTORE_3 => {
            (op::ISTORE + (opcode - op::ISTORE_0) / 4, Some(usize::from((opcode - op::ISTORE_0) % 4)))
        }
        _ => return None,
    })
}

/// What an array instruction moves: the second bytes of the array's name, and the type on the stack.
pub(crate) fn array_element(opcode: u8) -> Option<(&'static [u8], Type)> {
    Some(match opcode {
        op::IALOAD | op::IASTORE => (b"I", Type::INT),
        op::LALOAD | op::LASTORE => (b"J", Type::LONG),
        op::FALOAD | op::FASTORE => (b"F", Type::FLOAT),
        op::DALOAD | op::DASTORE => (b"D", Type::DOUBLE),
        op::AALOAD | op::AASTORE => (b"L[", NameId::OBJECT.object()),
        op::BALOAD | op::BASTORE => (b"ZB", Type::INT),
        op::CALOAD | op::CASTORE => (b"C", Type::INT),
        op::SALOAD | op::SASTORE => (b"S", Type::INT),
        _ => return None,
    })
}

/// The name of the array that `newarray` makes.
pub(crate) fn new_array(element: u8) -> Option<&'static [u8]> {
    Some(match element {
        4 => b"[Z",
        5 => b"[C",
        6 => b"[F",
        7 => b"[D",
        8 => b"[B",
        9 => b"[S",
        10 => b"[I",
        11 => b"[J",
        _ => return None,
    })
}
