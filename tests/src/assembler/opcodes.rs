//! The opcodes by name (JVMS 6.5) and what follows each.

/// What stands after an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    None,
    Byte,
    Short,
    Local,
    Branch,
    WideBranch,
    Constant,
    WideConstant,
    Class,
    Field,
    Method,
    InterfaceMethod,
    Dynamic,
    Iinc,
    TableSwitch,
    LookupSwitch,
    ArrayType,
    MultiArray,
    Wide,
}

const NAMES: &str = "nop aconst_null iconst_m1 iconst_0 iconst_1 iconst_2 iconst_3 iconst_4 iconst_5 lconst_0 lconst_1 \
fconst_0 fconst_1 fconst_2 dconst_0 dconst_1 bipush sipush ldc ldc_w ldc2_w iload lload fload dload aload \
iload_0 iload_1 iload_2 iload_3 lload_0 lload_1 lload_2 lload_3 fload_0 fload_1 fload_2 fload_3 \
dload_0 dload_1 dload_2 dload_3 aload_0 aload_1 aload_2 aload_3 iaload laload faload daload aaload baload caload saload \
istore lstore fstore dstore astore istore_0 istore_1 istore_2 istore_3 lstore_0 lstore_1 lstore_2 lstore_3 \
fstore_0 fstore_1 fstore_2 fstore_3 dstore_0 dstore_1 dstore_2 dstore_3 astore_0 astore_1 astore_2 astore_3 \
iastore lastore fastore dastore aastore bastore castore sastore pop pop2 dup dup_x1 dup_x2 dup2 dup2_x1 dup2_x2 swap \
iadd ladd fadd dadd isub lsub fsub dsub imul lmul fmul dmul idiv ldiv fdiv ddiv irem lrem frem drem ineg lneg fneg dneg \
ishl lshl ishr lshr iushr lushr iand land ior lor ixor lxor iinc i2l i2f i2d l2i l2f l2d f2i f2l f2d d2i d2l d2f \
i2b i2c i2s lcmp fcmpl fcmpg dcmpl dcmpg ifeq ifne iflt ifge ifgt ifle if_icmpeq if_icmpne if_icmplt if_icmpge if_icmpgt \
if_icmple if_acmpeq if_acmpne goto jsr ret tableswitch lookupswitch ireturn lreturn freturn dreturn areturn return \
getstatic putstatic getfield putfield invokevirtual invokespecial invokestatic invokeinterface invokedynamic new newarray \
anewarray arraylength athrow checkcast instanceof monitorenter monitorexit wide multianewarray ifnull ifnonnull goto_w jsr_w";

/// The opcode of a mnemonic and the kind of its operands.
pub(super) fn lookup(name: &str) -> Option<(u8, Operand)> {
    let opcode = NAMES.split_ascii_whitespace().position(|known| known == name)? as u8;
    let operand = match opcode {
        16 => Operand::Byte,
        17 => Operand::Short,
        18 => Operand::Constant,
        19 | 20 => Operand::WideConstant,
        21..=25 | 54..=58 | 169 => Operand::Local,
        132 => Operand::Iinc,
        153..=168 | 198 | 199 => Operand::Branch,
        170 => Operand::TableSwitch,
        171 => Operand::LookupSwitch,
        178..=181 => Operand::Field,
        182..=184 => Operand::Method,
        185 => Operand::InterfaceMethod,
        186 => Operand::Dynamic,
        187 | 189 | 192 | 193 => Operand::Class,
        188 => Operand::ArrayType,
        196 => Operand::Wide,
        197 => Operand::MultiArray,
        200 | 201 => Operand::WideBranch,
        _ => Operand::None,
    };
    Some((opcode, operand))
}

/// The operand of `newarray` (JVMS table 6.5.newarray-A).
pub(super) fn array_type(name: &str) -> Option<u8> {
    ["boolean", "char", "float", "double", "byte", "short", "int", "long"]
        .iter()
        .position(|known| *known == name)
        .map(|at| at as u8 + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_stand_where_the_specification_has_them() {
        for (name, opcode) in
            [("nop", 0), ("iload_0", 26), ("pop", 87), ("iinc", 132), ("goto", 167), ("jsr_w", 201)]
        {
            assert_eq!(lookup(name).map(|(found, _)| found), Some(opcode), "{name}");
        }
        assert_eq!(lookup("impdep1"), None);
    }
}
