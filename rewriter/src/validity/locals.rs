//! Whether a method keeps to its `max_locals`. Where injected code needs a local variable of its own, `max_locals`
//! grows, and a method that the JVM refuses for using one too many would become valid.

use crate::class_file::CodeAttribute;
use crate::class_file::descriptor::method_slots;
use crate::class_file::instruction::{Instructions, u2};
use crate::class_file::opcode::{OPERANDS, Operands, WIDE};

/// `lload`, `dload`, `lstore`, `dstore`.
const TWO_SLOTS: [u8; 4] = [0x16, 0x18, 0x37, 0x39];
/// `iload_0` and `istore_0`: from each on come four opcodes for each of the five types.
const SHORT_FORMS: [u8; 2] = [0x1a, 0x3b];

/// Whether parameters and instructions lie within `max_locals` (JVMS 4.7.3, 4.9.1). Code that cannot be decoded does
/// not count: others refuse it.
pub(crate) fn fit(code: &CodeAttribute<'_>, descriptor: &[u8], is_static: bool) -> bool {
    let max = usize::from(code.max_locals);
    let parameters =
        method_slots(descriptor).map_or(0, |(slots, _)| usize::from(slots) + usize::from(!is_static));
    let decoded = Instructions::new(code.code).map_while(Result::ok);
    parameters <= max && decoded.into_iter().all(|instruction| end(instruction.bytes) <= max)
}

/// The local variable behind those that an instruction uses; 0: it uses none.
fn end(bytes: &[u8]) -> usize {
    let (opcode, index) = match bytes {
        [WIDE, opcode, ..] => (*opcode, usize::from(u2(bytes, 2))),
        [opcode, index, ..]
            if matches!(OPERANDS[usize::from(*opcode)], Operands::Local | Operands::Increment) =>
        {
            (*opcode, usize::from(*index))
        }
        [opcode, ..] => {
            return SHORT_FORMS.iter().find_map(|first| short_form(*opcode, *first)).unwrap_or(0);
        }
        [] => return 0,
    };
    index + 1 + usize::from(TWO_SLOTS.contains(&opcode))
}

fn short_form(opcode: u8, first: u8) -> Option<usize> {
    let number = usize::from(opcode.checked_sub(first)?);
    // int, long, float, double, reference
    (number < 20).then(|| number % 4 + 1 + usize::from(matches!(number / 4, 1 | 3)))
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn instructions_use_the_locals_that_the_specification_says() {
        for (bytes, locals) in [
            (&[0x15, 4][..], 5),
            (&[0x16, 4], 6),
            (&[0x39, 255], 257),
            (&[0xc4, 0x18, 1, 0], 258),
            (&[0xc4, 0x84, 1, 0, 0, 1], 257),
            (&[0x84, 3, 1], 4),
            (&[0xa9, 2], 3),
            (&[0x1a], 1),
            (&[0x1d], 4),
            (&[0x1e], 2),
            (&[0x29], 5),
            (&[0x2a], 1),
            (&[0x2d], 4),
            (&[0x3b], 1),
            (&[0x42], 5),
            (&[0x4e], 4),
            (&[0x4f], 0),
            (&[0x2e], 0),
            (&[0x12, 9], 0),
            (&[0xb1], 0),
        ] {
            assert_eq!(end(bytes), locals, "{bytes:x?}");
        }
    }
}
