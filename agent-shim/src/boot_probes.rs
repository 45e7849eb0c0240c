//! The class that is defined beside `java.lang.Object`: one static method for every hook, which calls the hook.
//!
//! Injected code must find what it calls through the class loader of its class, and there are loaders that ask nobody for names that
//! they do not know: OSGi's, JBoss Modules', those that filter. But no loader can define a class in `java.*`, so all ask the boot
//! loader for those. A method of three instructions is made a part of its caller when that is compiled.
//! In its early form it is there before the runtime is (see [`crate::early`]).

use instrument_rewriter::class_file::{Tag, opcode};
use instrument_rewriter::transform::hooks::{BOOT_PROBES, Hook, OBJECT_EVENT};

const OBJECT: &str = "java/lang/Object";
const MAGIC: u32 = 0xCAFE_BABE;
/// Java 8.
const MAJOR: u16 = 52;
const ACC_PUBLIC: u16 = 0x0001;
const ACC_PRIVATE: u16 = 0x0002;
const ACC_STATIC: u16 = 0x0008;
const ACC_FINAL: u16 = 0x0010;
const ACC_SUPER: u16 = 0x0020;
const ACC_SYNTHETIC: u16 = 0x1000;

/// A constant pool in the making; an entry that is there is used again.
#[derive(Default)]
struct Pool(Vec<Vec<u8>>);

impl Pool {
    fn entry(&mut self, tag: Tag, info: &[u8]) -> u16 {
        let entry = [&[tag as u8], info].concat();
        let known = self.0.iter().position(|known| *known == entry);
        (known.unwrap_or_else(|| {
            self.0.push(entry);
            self.0.len() - 1
        }) + 1) as u16
    }

    fn utf8(&mut self, text: &str) -> u16 {
        self.entry(Tag::Utf8, &[&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat())
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.entry(Tag::Class, &name.to_be_bytes())
    }

    fn pair(&mut self, tag: Tag, first: u16, second: u16) -> u16 {
        self.entry(tag, &[first.to_be_bytes(), second.to_be_bytes()].concat())
    }

    fn member(&mut self, tag: Tag, class: &str, name: &str, descriptor: &str) -> u16 {
        let class = self.class(class);
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.pair(Tag::NameAndType, name, descriptor);
        self.pair(tag, class, name_and_type)
    }

    fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(Tag::Methodref, class, name, descriptor)
    }

    fn hook(&mut self, hook: Hook) -> u16 {
        self.method(hook.owner(), hook.name(), hook.descriptor())
    }

    /// A field of the class itself.
    fn field(&mut self, (name, descriptor): (&str, &str)) -> u16 {
        self.member(Tag::Fieldref, BOOT_PROBES, name, descriptor)
    }
}

/// The class file.
pub(crate) fn class() -> Vec<u8> {
    file(Form::Plain)
}

/// The class for the time before the runtime is there. It calls nobody until its method [`PASS`] is called. `keep`: until [`TAKE`] is
/// called, it keeps the first objects that it is told of.
pub(crate) fn early_class(keep: bool) -> Vec<u8> {
    file(Form::Early { keep })
}

/// The operand of `newarray` for `long` (JVMS 6.5).
const T_LONG: u8 = 11;

/// `static void pass(byte[])`: calls reach the runtime from here on.
pub(crate) const PASS: &str = "pass";
/// `static Object take()`: the array of the objects that were kept.
pub(crate) const TAKE: &str = "take";
const ARRAY: &str = "[Ljava/lang/Object;";
const PASSES: (&str, &str) = ("passes", "Z");
const KEPT: (&str, &str) = ("kept", ARRAY);
const COUNT: (&str, &str) = ("count", "I");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Early { keep: bool },
}

fn file(form: Form) -> Vec<u8> {
    let mut pool = Pool::default();
    let (this, object) = (pool.class(BOOT_PROBES), pool.class(OBJECT));
    let mut methods = Vec::new();
    for hook in Hook::ALL {
        let (code, frame) = probe(hook, form, &mut pool);
        methods.push(method(hook.name(), hook.descriptor(), &code, frame, &mut pool));
    }
    let mut fields: Vec<(&str, &str)> = Vec::new();
    if let Form::Early { keep } = form {
        fields.push(PASSES);
        methods.push(pass(&mut pool));
        if keep {
            fields.extend([KEPT, COUNT]);
            methods.extend([prepare(&mut pool), keep_one(&mut pool), take(&mut pool)]);
        }
    }
    let fields: Vec<[u16; 4]> = fields
        .into_iter()
        .map(|(name, descriptor)| {
            [ACC_PRIVATE | ACC_STATIC | ACC_SYNTHETIC, pool.utf8(name), pool.utf8(descriptor), 0]
        })
        .collect();
    let mut class = MAGIC.to_be_bytes().to_vec();
    words(&mut class, &[0, MAJOR, pool.0.len() as u16 + 1]);
    class.extend(pool.0.concat());
    // No interfaces.
    words(&mut class, &[ACC_PUBLIC | ACC_FINAL | ACC_SUPER | ACC_SYNTHETIC, this, object, 0]);
    words(&mut class, &[fields.len() as u16]);
    fields.iter().for_each(|field| words(&mut class, field));
    words(&mut class, &[methods.len() as u16]);
    class.extend(methods.concat());
    words(&mut class, &[0]);
    class
}

fn words(out: &mut Vec<u8>, words: &[u16]) {
    out.extend(words.iter().flat_map(|word| word.to_be_bytes()));
}

/// `load the arguments; invokestatic hook; return` of what the hook returns. Early: `if (passes) { that }`, else what it was given.
fn probe(hook: Hook, form: Form, pool: &mut Pool) -> (Vec<u8>, Option<Vec<u8>>) {
    let leave = match hook.descriptor().as_bytes() {
        [.., b')', b'V'] => opcode::RETURN,
        [.., b')', b'I'] => opcode::IRETURN,
        _ => opcode::ARETURN,
    };
    let [high, low] = pool.hook(hook).to_be_bytes();
    let mut call = loads(hook.descriptor()).0;
    call.extend([opcode::INVOKESTATIC, high, low, leave]);
    let Form::Early { keep } = form else { return (call, None) };
    let [high, low] = pool.field(PASSES).to_be_bytes();
    let mut code = vec![opcode::GETSTATIC, high, low, opcode::IFEQ];
    let otherwise = code.len() + 2 + call.len();
    words(&mut code, &[(3 + call.len()) as u16]);
    code.extend(call);
    if hook == Hook::LineCounters {
        // Nobody reads what is counted so early.
        code.extend([opcode::ILOAD_1, opcode::NEWARRAY, T_LONG]);
    } else if leave == opcode::IRETURN {
        // Nothing was opened.
        code.push(opcode::ICONST_M1);
    } else if leave == opcode::ARETURN {
        // A task is the last argument.
        code.extend([opcode::ALOAD, loads(hook.descriptor()).1 - 1]);
    }
    if keep && matches!(hook, Hook::EarlyObjectAlloc | Hook::ObjectAlloc | Hook::ArrayAlloc) {
        let [high, low] = pool.method(BOOT_PROBES, KEEP, OBJECT_EVENT).to_be_bytes();
        code.extend([opcode::ALOAD_0, opcode::INVOKESTATIC, high, low]);
    }
    code.push(leave);
    // same_frame_extended: the locals are the arguments, the stack is empty.
    let mut frame = vec![251];
    words(&mut frame, &[otherwise as u16]);
    (code, Some(frame))
}

/// The instructions that load all arguments, and how many words those are.
fn loads(descriptor: &str) -> (Vec<u8>, u8) {
    let (mut code, mut at) = (Vec::new(), 0);
    let mut rest = descriptor.trim_start_matches('(').bytes();
    while let Some(kind) = rest.next() {
        let load = match kind {
            b')' => break,
            b'J' => opcode::LLOAD,
            b'L' | b'[' => opcode::ALOAD,
            _ => opcode::ILOAD,
        };
        code.extend([load, at]);
        at += if kind == b'J' { 2 } else { 1 };
        let mut element = kind;
        while element == b'[' {
            element = rest.next().unwrap_or(b';');
        }
        if element == b'L' {
            rest.by_ref().find(|&byte| byte == b';');
        }
    }
    (code, at)
}

/// `static void pass(byte[]) { passes = true; }`
fn pass(pool: &mut Pool) -> Vec<u8> {
    let [high, low] = pool.field(PASSES).to_be_bytes();
    method(PASS, "([B)V", &[opcode::ICONST_1, opcode::PUTSTATIC, high, low, opcode::RETURN], None, pool)
}

/// `static { kept = new Object[256 * 256]; }`: start-up makes about 6,000.
fn prepare(pool: &mut Pool) -> Vec<u8> {
    let [high, low] = pool.class(OBJECT).to_be_bytes();
    let mut code = vec![opcode::SIPUSH, 1, 0, opcode::DUP, opcode::IMUL, opcode::ANEWARRAY, high, low];
    let [high, low] = pool.field(KEPT).to_be_bytes();
    code.extend([opcode::PUTSTATIC, high, low, opcode::RETURN]);
    method("<clinit>", "()V", &code, None, pool)
}

/// `static Object take() { Object array = kept; kept = null; return array; }`
fn take(pool: &mut Pool) -> Vec<u8> {
    let [high, low] = pool.field(KEPT).to_be_bytes();
    let code =
        [opcode::GETSTATIC, high, low, opcode::ACONST_NULL, opcode::PUTSTATIC, high, low, opcode::ARETURN];
    method(TAKE, "()Ljava/lang/Object;", &code, None, pool)
}

const KEEP: &str = "keep";

/// ```java
/// static void keep(Object made) {
///     Object[] array = kept;
///     int i = count;
///     if (array != null && i < array.length) { array[i] = made; count = i + 1; }
/// }
/// ```
/// It makes nothing and throws nothing. Threads that come at once may overwrite each other: there is one that does anything so early.
fn keep_one(pool: &mut Pool) -> Vec<u8> {
    use opcode::*;
    let ([k, kept], [c, count]) = (pool.field(KEPT).to_be_bytes(), pool.field(COUNT).to_be_bytes());
    #[rustfmt::skip]
    let code = [
        GETSTATIC, k, kept, ASTORE_1,
        GETSTATIC, c, count, ISTORE_2,
        ALOAD_1, IFNULL, 0, 19,
        ILOAD_2, ALOAD_1, ARRAYLENGTH, IF_ICMPGE, 0, 13,
        ALOAD_1, ILOAD_2, ALOAD_0, AASTORE,
        ILOAD_2, ICONST_1, IADD, PUTSTATIC, c, count,
        RETURN,
    ];
    // append_frame: two more locals at the last instruction, the array (7: an object) and a number (1).
    let mut frame = vec![253];
    words(&mut frame, &[code.len() as u16 - 1]);
    frame.push(7);
    words(&mut frame, &[pool.class(ARRAY)]);
    frame.push(1);
    method(KEEP, OBJECT_EVENT, &code, Some(frame), pool)
}

/// A static method. `frame`: the one entry of its StackMapTable.
fn method(name: &str, descriptor: &str, code: &[u8], frame: Option<Vec<u8>>, pool: &mut Pool) -> Vec<u8> {
    let locals = loads(descriptor).1.max(if name == KEEP { 3 } else { 0 });
    let stack = u16::from(locals).max(3);
    let mut attributes = Vec::new();
    if let Some(frame) = frame {
        words(&mut attributes, &[pool.utf8("StackMapTable"), 0, frame.len() as u16 + 2, 1]);
        attributes.extend(frame);
    }
    let mut out = Vec::new();
    words(&mut out, &[ACC_PUBLIC | ACC_STATIC | ACC_SYNTHETIC, pool.utf8(name), pool.utf8(descriptor)]);
    // One attribute, without exception table.
    let length = 12 + code.len() + attributes.len();
    words(
        &mut out,
        &[1, pool.utf8("Code"), 0, length as u16, stack, u16::from(locals), 0, code.len() as u16],
    );
    out.extend(code);
    words(&mut out, &[0, u16::from(!attributes.is_empty())]);
    out.extend(attributes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_rewriter::class_file::ClassFile;

    /// The methods behind those of the hooks.
    fn check(bytes: &[u8], early: bool) -> usize {
        let class = ClassFile::parse(bytes).unwrap();
        assert_eq!(class.name().unwrap(), BOOT_PROBES.as_bytes());
        let mut methods = class.methods();
        for hook in Hook::ALL {
            let method = methods.next().unwrap().unwrap();
            assert_eq!(method.name(&class.pool).unwrap(), hook.name().as_bytes());
            assert_eq!(method.descriptor(&class.pool).unwrap(), hook.descriptor().as_bytes());
            let code = method.code(&class.pool).unwrap().unwrap().code;
            let mut first = loads(hook.descriptor()).0;
            first.push(opcode::INVOKESTATIC);
            let call = if early { &code[6..] } else { code };
            assert_eq!(code[0] == opcode::GETSTATIC, early);
            assert!(call.starts_with(&first), "{hook:?}: {code:?}");
        }
        let mut more = 0;
        while methods.next().unwrap().is_some() {
            more += 1;
        }
        more
    }

    #[test]
    fn there_is_a_method_for_every_hook() {
        assert_eq!(check(&class(), false), 0);
        assert_eq!(check(&early_class(false), true), 1);
        assert_eq!(check(&early_class(true), true), 4);
    }

    #[test]
    fn every_argument_is_passed_on() {
        use opcode::{ALOAD, ILOAD, LLOAD};
        for (descriptor, code, size) in [
            ("()V", &[][..], 0),
            ("(I)V", &[ILOAD, 0], 1),
            ("(J)V", &[LLOAD, 0], 2),
            ("([Ljava/lang/Object;IJ)V", &[ALOAD, 0, ILOAD, 1, LLOAD, 2], 4),
            ("(Ljava/lang/Object;[[JZ)V", &[ALOAD, 0, ALOAD, 1, ILOAD, 2], 3),
        ] {
            assert_eq!(loads(descriptor), (code.to_vec(), size), "{descriptor}");
        }
    }
}
