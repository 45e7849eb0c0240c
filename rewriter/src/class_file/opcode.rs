//! The one opcode table (JVMS 6.5 Instructions and 7 Opcode Mnemonics by Opcode).
//!
//! Everything that depends on an opcode (length, kind of operand, stack effect, name) derives from it.

/// The operands behind an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// No operand.
    None,
    /// One signed byte (`bipush`), or the element type of `newarray`.
    Byte,
    /// A signed two-byte value.
    Short,
    /// A one-byte constant-pool index.
    Constant1,
    /// A two-byte constant-pool index.
    Constant2,
    /// The index of a local variable, one byte; two behind `wide`.
    Local,
    /// `iinc`: local variable and increment, one byte each; two each behind `wide`.
    Increment,
    /// A signed two-byte branch offset.
    Branch2,
    /// A signed four-byte branch offset.
    Branch4,
    /// Padding, default, low, high, offsets.
    TableSwitch,
    /// Padding, default, pairs.
    LookupSwitch,
    /// Constant-pool index, count, zero.
    InvokeInterface,
    /// Constant-pool index, two zeros.
    InvokeDynamic,
    /// Constant-pool index, dimensions.
    MultiArray,
    /// The opcode it widens.
    Wide,
    /// No such instruction in a class file.
    Illegal,
}

/// Stack effect that depends on a descriptor or on dimensions.
pub const OPEN: u8 = u8::MAX;

macro_rules! opcodes {
    ($($value:literal $constant:ident $name:literal $operands:ident $pop:tt $push:tt;)*) => {
        $(#[doc = $name] pub const $constant: u8 = $value;)*

        /// The mnemonic; empty for bytes that are no opcode.
        pub const NAMES: [&str; 256] = { let mut t = [""; 256]; $(t[$value] = $name;)* t };
        /// The operands.
        pub const OPERANDS: [Operands; 256] = {
            let mut t = [Operands::Illegal; 256]; $(t[$value] = Operands::$operands;)* t
        };
        /// Slots taken from the operand stack; [`OPEN`] if it depends on the operands.
        pub const POPS: [u8; 256] = { let mut t = [OPEN; 256]; $(t[$value] = $pop;)* t };
        /// Slots put onto the operand stack; [`OPEN`] if it depends on the operands.
        pub const PUSHES: [u8; 256] = { let mut t = [OPEN; 256]; $(t[$value] = $push;)* t };
    };
}

opcodes! {
    0x00 NOP "nop" None 0 0;
    0x01 ACONST_NULL "aconst_null" None 0 1;
    0x02 ICONST_M1 "iconst_m1" None 0 1;
    0x03 ICONST_0 "iconst_0" None 0 1;
    0x04 ICONST_1 "iconst_1" None 0 1;
    0x05 ICONST_2 "iconst_2" None 0 1;
    0x06 ICONST_3 "iconst_3" None 0 1;
    0x07 ICONST_4 "iconst_4" None 0 1;
    0x08 ICONST_5 "iconst_5" None 0 1;
    0x09 LCONST_0 "lconst_0" None 0 2;
    0x0a LCONST_1 "lconst_1" None 0 2;
    0x0b FCONST_0 "fconst_0" None 0 1;
    0x0c FCONST_1 "fconst_1" None 0 1;
    0x0d FCONST_2 "fconst_2" None 0 1;
    0x0e DCONST_0 "dconst_0" None 0 2;
    0x0f DCONST_1 "dconst_1" None 0 2;
    0x10 BIPUSH "bipush" Byte 0 1;
    0x11 SIPUSH "sipush" Short 0 1;
    0x12 LDC "ldc" Constant1 0 1;
    0x13 LDC_W "ldc_w" Constant2 0 1;
    0x14 LDC2_W "ldc2_w" Constant2 0 2;
    0x15 ILOAD "iload" Local 0 1;
    0x16 LLOAD "lload" Local 0 2;
    0x17 FLOAD "fload" Local 0 1;
    0x18 DLOAD "dload" Local 0 2;
    0x19 ALOAD "aload" Local 0 1;
    0x1a ILOAD_0 "iload_0" None 0 1;
    0x1b ILOAD_1 "iload_1" None 0 1;
    0x1c ILOAD_2 "iload_2" None 0 1;
    0x1d ILOAD_3 "iload_3" None 0 1;
    0x1e LLOAD_0 "lload_0" None 0 2;
    0x1f LLOAD_1 "lload_1" None 0 2;
    0x20 LLOAD_2 "lload_2" None 0 2;
    0x21 LLOAD_3 "lload_3" None 0 2;
    0x22 FLOAD_0 "fload_0" None 0 1;
    0x23 FLOAD_1 "fload_1" None 0 1;
    0x24 FLOAD_2 "fload_2" None 0 1;
    0x25 FLOAD_3 "fload_3" None 0 1;
    0x26 DLOAD_0 "dload_0" None 0 2;
    0x27 DLOAD_1 "dload_1" None 0 2;
    0x28 DLOAD_2 "dload_2" None 0 2;
    0x29 DLOAD_3 "dload_3" None 0 2;
    0x2a ALOAD_0 "aload_0" None 0 1;
    0x2b ALOAD_1 "aload_1" None 0 1;
    0x2c ALOAD_2 "aload_2" None 0 1;
    0x2d ALOAD_3 "aload_3" None 0 1;
    0x2e IALOAD "iaload" None 2 1;
    0x2f LALOAD "laload" None 2 2;
    0x30 FALOAD "faload" None 2 1;
    0x31 DALOAD "daload" None 2 2;
    0x32 AALOAD "aaload" None 2 1;
    0x33 BALOAD "baload" None 2 1;
    0x34 CALOAD "caload" None 2 1;
    0x35 SALOAD "saload" None 2 1;
    0x36 ISTORE "istore" Local 1 0;
    0x37 LSTORE "lstore" Local 2 0;
    0x38 FSTORE "fstore" Local 1 0;
    0x39 DSTORE "dstore" Local 2 0;
    0x3a ASTORE "astore" Local 1 0;
    0x3b ISTORE_0 "istore_0" None 1 0;
    0x3c ISTORE_1 "istore_1" None 1 0;
    0x3d ISTORE_2 "istore_2" None 1 0;
    0x3e ISTORE_3 "istore_3" None 1 0;
    0x3f LSTORE_0 "lstore_0" None 2 0;
    0x40 LSTORE_1 "lstore_1" None 2 0;
    0x41 LSTORE_2 "lstore_2" None 2 0;
    0x42 LSTORE_3 "lstore_3" None 2 0;
    0x43 FSTORE_0 "fstore_0" None 1 0;
    0x44 FSTORE_1 "fstore_1" None 1 0;
    0x45 FSTORE_2 "fstore_2" None 1 0;
    0x46 FSTORE_3 "fstore_3" None 1 0;
    0x47 DSTORE_0 "dstore_0" None 2 0;
    0x48 DSTORE_1 "dstore_1" None 2 0;
    0x49 DSTORE_2 "dstore_2" None 2 0;
    0x4a DSTORE_3 "dstore_3" None 2 0;
    0x4b ASTORE_0 "astore_0" None 1 0;
    0x4c ASTORE_1 "astore_1" None 1 0;
    0x4d ASTORE_2 "astore_2" None 1 0;
    0x4e ASTORE_3 "astore_3" None 1 0;
    0x4f IASTORE "iastore" None 3 0;
    0x50 LASTORE "lastore" None 4 0;
    0x51 FASTORE "fastore" None 3 0;
    0x52 DASTORE "dastore" None 4 0;
    0x53 AASTORE "aastore" None 3 0;
    0x54 BASTORE "bastore" None 3 0;
    0x55 CASTORE "castore" None 3 0;
    0x56 SASTORE "sastore" None 3 0;
    0x57 POP "pop" None 1 0;
    0x58 POP2 "pop2" None 2 0;
    0x59 DUP "dup" None 1 2;
    0x5a DUP_X1 "dup_x1" None 2 3;
    0x5b DUP_X2 "dup_x2" None 3 4;
    0x5c DUP2 "dup2" None 2 4;
    0x5d DUP2_X1 "dup2_x1" None 3 5;
    0x5e DUP2_X2 "dup2_x2" None 4 6;
    0x5f SWAP "swap" None 2 2;
    0x60 IADD "iadd" None 2 1;
    0x61 LADD "ladd" None 4 2;
    0x62 FADD "fadd" None 2 1;
    0x63 DADD "dadd" None 4 2;
    0x64 ISUB "isub" None 2 1;
    0x65 LSUB "lsub" None 4 2;
    0x66 FSUB "fsub" None 2 1;
    0x67 DSUB "dsub" None 4 2;
    0x68 IMUL "imul" None 2 1;
    0x69 LMUL "lmul" None 4 2;
    0x6a FMUL "fmul" None 2 1;
    0x6b DMUL "dmul" None 4 2;
    0x6c IDIV "idiv" None 2 1;
    0x6d LDIV "ldiv" None 4 2;
    0x6e FDIV "fdiv" None 2 1;
    0x6f DDIV "ddiv" None 4 2;
    0x70 IREM "irem" None 2 1;
    0x71 LREM "lrem" None 4 2;
    0x72 FREM "frem" None 2 1;
    0x73 DREM "drem" None 4 2;
    0x74 INEG "ineg" None 1 1;
    0x75 LNEG "lneg" None 2 2;
    0x76 FNEG "fneg" None 1 1;
    0x77 DNEG "dneg" None 2 2;
    0x78 ISHL "ishl" None 2 1;
    0x79 LSHL "lshl" None 3 2;
    0x7a ISHR "ishr" None 2 1;
    0x7b LSHR "lshr" None 3 2;
    0x7c IUSHR "iushr" None 2 1;
    0x7d LUSHR "lushr" None 3 2;
    0x7e IAND "iand" None 2 1;
    0x7f LAND "land" None 4 2;
    0x80 IOR "ior" None 2 1;
    0x81 LOR "lor" None 4 2;
    0x82 IXOR "ixor" None 2 1;
    0x83 LXOR "lxor" None 4 2;
    0x84 IINC "iinc" Increment 0 0;
    0x85 I2L "i2l" None 1 2;
    0x86 I2F "i2f" None 1 1;
    0x87 I2D "i2d" None 1 2;
    0x88 L2I "l2i" None 2 1;
    0x89 L2F "l2f" None 2 1;
    0x8a L2D "l2d" None 2 2;
    0x8b F2I "f2i" None 1 1;
    0x8c F2L "f2l" None 1 2;
    0x8d F2D "f2d" None 1 2;
    0x8e D2I "d2i" None 2 1;
    0x8f D2L "d2l" None 2 2;
    0x90 D2F "d2f" None 2 1;
    0x91 I2B "i2b" None 1 1;
    0x92 I2C "i2c" None 1 1;
    0x93 I2S "i2s" None 1 1;
    0x94 LCMP "lcmp" None 4 1;
    0x95 FCMPL "fcmpl" None 2 1;
    0x96 FCMPG "fcmpg" None 2 1;
    0x97 DCMPL "dcmpl" None 4 1;
    0x98 DCMPG "dcmpg" None 4 1;
    0x99 IFEQ "ifeq" Branch2 1 0;
    0x9a IFNE "ifne" Branch2 1 0;
    0x9b IFLT "iflt" Branch2 1 0;
    0x9c IFGE "ifge" Branch2 1 0;
    0x9d IFGT "ifgt" Branch2 1 0;
    0x9e IFLE "ifle" Branch2 1 0;
    0x9f IF_ICMPEQ "if_icmpeq" Branch2 2 0;
    0xa0 IF_ICMPNE "if_icmpne" Branch2 2 0;
    0xa1 IF_ICMPLT "if_icmplt" Branch2 2 0;
    0xa2 IF_ICMPGE "if_icmpge" Branch2 2 0;
    0xa3 IF_ICMPGT "if_icmpgt" Branch2 2 0;
    0xa4 IF_ICMPLE "if_icmple" Branch2 2 0;
    0xa5 IF_ACMPEQ "if_acmpeq" Branch2 2 0;
    0xa6 IF_ACMPNE "if_acmpne" Branch2 2 0;
    0xa7 GOTO "goto" Branch2 0 0;
    0xa8 JSR "jsr" Branch2 0 1;
    0xa9 RET "ret" Local 0 0;
    0xaa TABLESWITCH "tableswitch" TableSwitch 1 0;
    0xab LOOKUPSWITCH "lookupswitch" LookupSwitch 1 0;
    0xac IRETURN "ireturn" None 1 0;
    0xad LRETURN "lreturn" None 2 0;
    0xae FRETURN "freturn" None 1 0;
    0xaf DRETURN "dreturn" None 2 0;
    0xb0 ARETURN "areturn" None 1 0;
    0xb1 RETURN "return" None 0 0;
    0xb2 GETSTATIC "getstatic" Constant2 OPEN OPEN;
    0xb3 PUTSTATIC "putstatic" Constant2 OPEN OPEN;
    0xb4 GETFIELD "getfield" Constant2 OPEN OPEN;
    0xb5 PUTFIELD "putfield" Constant2 OPEN OPEN;
    0xb6 INVOKEVIRTUAL "invokevirtual" Constant2 OPEN OPEN;
    0xb7 INVOKESPECIAL "invokespecial" Constant2 OPEN OPEN;
    0xb8 INVOKESTATIC "invokestatic" Constant2 OPEN OPEN;
    0xb9 INVOKEINTERFACE "invokeinterface" InvokeInterface OPEN OPEN;
    0xba INVOKEDYNAMIC "invokedynamic" InvokeDynamic OPEN OPEN;
    0xbb NEW "new" Constant2 0 1;
    0xbc NEWARRAY "newarray" Byte 1 1;
    0xbd ANEWARRAY "anewarray" Constant2 1 1;
    0xbe ARRAYLENGTH "arraylength" None 1 1;
    0xbf ATHROW "athrow" None 1 0;
    0xc0 CHECKCAST "checkcast" Constant2 1 1;
    0xc1 INSTANCEOF "instanceof" Constant2 1 1;
    0xc2 MONITORENTER "monitorenter" None 1 0;
    0xc3 MONITOREXIT "monitorexit" None 1 0;
    0xc4 WIDE "wide" Wide 0 0;
    0xc5 MULTIANEWARRAY "multianewarray" MultiArray OPEN OPEN;
    0xc6 IFNULL "ifnull" Branch2 1 0;
    0xc7 IFNONNULL "ifnonnull" Branch2 1 0;
    0xc8 GOTO_W "goto_w" Branch4 0 0;
    0xc9 JSR_W "jsr_w" Branch4 0 1;
}

/// Whether control never reaches the next instruction. `jsr` counts as reaching it: its subroutine returns there.
pub const fn is_end_of_flow(opcode: u8) -> bool {
    matches!(opcode, GOTO | GOTO_W | RET | TABLESWITCH | LOOKUPSWITCH | IRETURN..=RETURN | ATHROW)
}

/// Whether the opcode is one of the six xRETURN instructions.
pub const fn is_return(opcode: u8) -> bool {
    matches!(opcode, IRETURN..=RETURN)
}

/// Whether the opcode is a conditional branch.
pub const fn is_conditional_branch(opcode: u8) -> bool {
    matches!(opcode, IFEQ..=IF_ACMPNE | IFNULL | IFNONNULL)
}

/// What the decoding loop looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Nothing: a step to the next instruction, as [`Info`] says.
    Plain,
    InvokeSpecial,
    New,
    NewArray,
    ANewArray,
    MultiANewArray,
    Branch,
    Return,
    Throw,
    Switch,
    Ret,
    Wide,
    Illegal,
}

/// What the decoding loop needs of an opcode, side by side; masks, so that nothing has to be asked for each
/// instruction. Sixteen bytes: a processor finds one by its opcode without a multiplication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Info {
    /// In bytes; 0 if it varies.
    pub(crate) length: u8,
    pub(crate) class: Class,
    /// As in [`POPS`] and [`PUSHES`]; where a field or a method is named, what is taken and put besides what that says.
    pub(crate) pops: u8,
    pub(crate) pushes: u8,
    /// How many bits behind the opcode are the index of a constant.
    index_bits: u8,
    /// If the constant is a field or a method: which of what that [takes and puts](moves) count.
    pub(crate) member_mask: u64,
}

/// Slots that a member takes from the stack and puts onto it, in one number.
pub(crate) const fn moves(pops: u16, pushes: u16) -> u64 {
    pops as u64 | (pushes as u64) << 32
}

impl Info {
    /// The index of the constant that an instruction names with these bytes behind its opcode; 0: it names none.
    #[inline(always)]
    pub(crate) fn index(&self, behind: [u8; 2]) -> u16 {
        (u32::from(u16::from_be_bytes(behind)) << self.index_bits >> u16::BITS) as u16
    }
}

/// Of each opcode.
pub(crate) static INFO: [Info; 256] = {
    let illegal =
        Info { length: 0, class: Class::Illegal, pops: 0, pushes: 0, index_bits: 0, member_mask: 0 };
    let mut table = [illegal; 256];
    let mut op = 0;
    while op < 256 {
        table[op] = info(op as u8);
        op += 1;
    }
    table
};

const fn info(op: u8) -> Info {
    let operands = OPERANDS[op as usize];
    let length = match operands {
        Operands::None => 1,
        Operands::Byte | Operands::Constant1 | Operands::Local => 2,
        Operands::Short | Operands::Constant2 | Operands::Branch2 | Operands::Increment => 3,
        Operands::MultiArray => 4,
        Operands::Branch4 | Operands::InvokeInterface | Operands::InvokeDynamic => 5,
        Operands::TableSwitch | Operands::LookupSwitch | Operands::Wide | Operands::Illegal => 0,
    };
    let class = match op {
        RET => Class::Ret,
        ATHROW => Class::Throw,
        NEW => Class::New,
        NEWARRAY => Class::NewArray,
        ANEWARRAY => Class::ANewArray,
        INVOKESPECIAL => Class::InvokeSpecial,
        _ => match operands {
            Operands::Branch2 | Operands::Branch4 => Class::Branch,
            Operands::TableSwitch | Operands::LookupSwitch => Class::Switch,
            Operands::Wide => Class::Wide,
            Operands::MultiArray => Class::MultiANewArray,
            Operands::Illegal => Class::Illegal,
            _ if is_return(op) => Class::Return,
            _ => Class::Plain,
        },
    };
    let index_bits = match operands {
        Operands::Constant1 => 8,
        Operands::Constant2 | Operands::InvokeInterface | Operands::InvokeDynamic | Operands::MultiArray => {
            16
        }
        _ => 0,
    };
    let is_member = matches!(op, GETSTATIC..=INVOKEDYNAMIC);
    // The object whose field or method it is.
    let receiver = !matches!(op, GETSTATIC | PUTSTATIC | INVOKESTATIC | INVOKEDYNAMIC) as u8;
    let (pops, pushes) = match POPS[op as usize] {
        OPEN if is_member => (receiver, 0),
        // Besides its dimensions.
        OPEN if matches!(operands, Operands::MultiArray) => (0, 1),
        pops => (pops, PUSHES[op as usize]),
    };
    const POPS_ALONE: u64 = u32::MAX as u64;
    let member_mask = match op {
        GETSTATIC | GETFIELD => !POPS_ALONE,
        PUTSTATIC | PUTFIELD => POPS_ALONE,
        INVOKEVIRTUAL..=INVOKEDYNAMIC => u64::MAX,
        _ => 0,
    };
    Info { length, class, pops, pushes, index_bits, member_mask }
}

/// Length in bytes of the instruction that begins with each opcode; 0 if it varies or there is no such opcode.
pub const LENGTHS: [u8; 256] = {
    let mut table = [0; 256];
    let mut op = 0;
    while op < 256 {
        table[op] = info(op as u8).length;
        op += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete() {
        assert_eq!(NAMES.iter().filter(|name| !name.is_empty()).count(), 202);
        assert!(NAMES[usize::from(JSR_W) + 1..].iter().all(|name| name.is_empty()));
        let of = |op: u8| (INFO[usize::from(op)].length, INFO[usize::from(op)].class);
        assert_eq!((of(INVOKEINTERFACE), of(SIPUSH)), ((5, Class::Plain), (3, Class::Plain)));
        assert_eq!((of(RETURN), of(0xca)), ((1, Class::Return), (0, Class::Illegal)));
        let index = |op: u8| INFO[usize::from(op)].index([1, 2]);
        assert_eq!([LDC, LDC2_W, NEW, PUTFIELD, MULTIANEWARRAY].map(index), [1, 258, 258, 258, 258]);
        assert_eq!([SIPUSH, GOTO, IINC, NOP, 0xca].map(index), [0; 5]);
        let moves = |op: u8| (INFO[usize::from(op)].pops, INFO[usize::from(op)].pushes);
        assert_eq!([LDC2_W, LCMP, CHECKCAST, MULTIANEWARRAY].map(moves), [(0, 2), (4, 1), (1, 1), (0, 1)]);
        let of_member = |op: u8| {
            let info = &INFO[usize::from(op)];
            (info.pops, info.pushes, info.member_mask & super::moves(3, 5))
        };
        assert_eq!([GETSTATIC, GETFIELD].map(of_member), [(0, 0, 5 << 32), (1, 0, 5 << 32)]);
        assert_eq!([PUTSTATIC, PUTFIELD].map(of_member), [(0, 0, 3), (1, 0, 3)]);
        for op in [INVOKEVIRTUAL, INVOKESPECIAL, INVOKEINTERFACE] {
            assert_eq!(of_member(op), (1, 0, 3 | 5 << 32));
        }
        assert_eq!([INVOKESTATIC, INVOKEDYNAMIC].map(of_member), [(0, 0, 3 | 5 << 32); 2]);
        assert_eq!(of_member(NEW), (0, 1, 0));
    }
}
