//! The class beside `java.lang.Object`: one static method for every hook, which calls the hook.
//!
//! Injected code must find what it calls through the class loader of its class, and there are loaders that ask nobody
//! for names that they do not know: OSGi's, JBoss Modules', those that filter. But no loader can define a class in
//! `java.*`, so all ask the boot loader for those. A method of three instructions is made a part of its caller when
//! that is compiled.
//!
//! | form | its methods call the runtime |
//! |---|---|
//! | [`class`] | always; the agent defines it when the runtime is there |
//! | [`early_class`] | once its method [`PASS`] was called; the agent defines it before any code runs |
//! | [`image_class`] | once its method [`BOOTED`] was called and the recorder began; it lies in the module image of a JDK |

use crate::assemble::{self, ACC_PUBLIC, ACC_SYNTHETIC, Method, OBJECT, Pool, words};
use crate::class_file::{Tag, opcode};
use crate::code::hooks::{
    BOOT_PROBES, GRPC_MARKERS, HTTP_MARKERS, Hook, JDK_IMAGE, JMS_MARKERS, OBJECT_EVENT,
};

/// The class file.
pub fn class() -> Vec<u8> {
    file(Form::Plain)
}

/// The class for the time before the runtime is there. It calls nobody until its method [`PASS`] is called. `keep`:
/// until [`TAKE`] is called, it keeps the first objects that it is told of.
pub fn early_class(keep: bool) -> Vec<u8> {
    file(Form::Early { keep })
}

/// The class for a module image that has the runtime, too. It calls nobody until its method [`BOOTED`] is called.
pub fn image_class() -> Vec<u8> {
    file(Form::Image)
}

/// The operand of `newarray` for `long` (JVMS 6.5).
const T_LONG: u8 = 11;

/// `static void pass(byte[])`: calls reach the runtime from here on.
pub const PASS: &str = "pass";
/// `static Object take()`: the array of the objects that were kept.
pub const TAKE: &str = "take";
/// `static void booted()`: the virtual machine has been initialised. Calls reach the runtime from here on if the
/// recorder begins.
pub const BOOTED: &str = "booted";
/// `static void read()`: classes of the modules [`READ`] can be called from java.base from here on. `JdkImage.java`
/// calls it.
const READ_MODULES: &str = "read";
/// Modules of which not every program has need, or has them.
const READ: [&str; 2] = ["java.management", "java.rmi"];
const ARRAY: &str = "[Ljava/lang/Object;";
const PASSES: (&str, &str) = ("passes", "Z");
const KEPT: (&str, &str) = ("kept", ARRAY);
const COUNT: (&str, &str) = ("count", "I");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Early { keep: bool },
    Image,
}

fn file(form: Form) -> Vec<u8> {
    let mut pool = Pool::default();
    let mut methods = Vec::new();
    for hook in Hook::ALL {
        let (code, frame) = probe(hook, form, &mut pool);
        methods.push(method(hook.name(), hook.descriptor(), &code, frame, &mut pool));
    }
    let mut fields: Vec<(&str, &str)> = Vec::new();
    match form {
        Form::Plain => {}
        Form::Early { keep } => {
            fields.push(PASSES);
            methods.push(pass(&mut pool));
            if keep {
                fields.extend([KEPT, COUNT]);
                methods.extend([prepare(&mut pool), keep_one(&mut pool), take(&mut pool)]);
            }
        }
        Form::Image => {
            fields.push(PASSES);
            methods.extend([booted(&mut pool), read(&mut pool)]);
        }
    }
    assemble::class(ACC_PUBLIC | ACC_SYNTHETIC, BOOT_PROBES, &fields, &methods, pool)
}

fn hook_in(pool: &mut Pool, hook: Hook) -> u16 {
    pool.method(hook.owner(), hook.name(), hook.descriptor())
}

/// A field of the class itself.
fn field_in(pool: &mut Pool, (name, descriptor): (&str, &str)) -> u16 {
    pool.member(Tag::Fieldref, BOOT_PROBES, name, descriptor)
}

/// `load the arguments; invokestatic hook; return` of what the hook returns. Early: `if (passes) { that }`, else what
/// it was given.
fn probe(hook: Hook, form: Form, pool: &mut Pool) -> (Vec<u8>, Option<Vec<u8>>) {
    let leave = match hook.descriptor().as_bytes() {
        [.., b')', b'V'] => opcode::RETURN,
        [.., b')', b'I'] => opcode::IRETURN,
        _ => opcode::ARETURN,
    };
    let [high, low] = hook_in(pool, hook).to_be_bytes();
    let mut call = loads(hook.descriptor()).0;
    call.extend([opcode::INVOKESTATIC, high, low, leave]);
    let keep = match form {
        Form::Plain => return (call, None),
        Form::Early { keep } => keep,
        Form::Image => false,
    };
    let [high, low] = field_in(pool, PASSES).to_be_bytes();
    let mut code = vec![opcode::GETSTATIC, high, low, opcode::IFEQ];
    let otherwise = code.len() + 2 + call.len();
    words(&mut code, &[(3 + call.len()) as u16]);
    code.extend(call);
    if hook == Hook::LineCounters {
        // Nobody reads what is counted so early.
        code.extend([opcode::ILOAD_1, opcode::NEWARRAY, T_LONG]);
    } else if leave == opcode::IRETURN {
        // Nothing was opened, and no request has a number.
        code.push(if [HTTP_MARKERS, GRPC_MARKERS, JMS_MARKERS].contains(&hook.owner()) {
            opcode::ICONST_0
        } else {
            opcode::ICONST_M1
        });
    } else if leave == opcode::ARETURN {
        // A task, or a request, is the last argument that is an object.
        let loads = loads(hook.descriptor()).0;
        let object = loads.chunks_exact(2).rfind(|load| load[0] == opcode::ALOAD);
        code.extend(object.unwrap_or(&[opcode::ACONST_NULL]));
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
    let [high, low] = field_in(pool, PASSES).to_be_bytes();
    method(PASS, "([B)V", &[opcode::ICONST_1, opcode::PUTSTATIC, high, low, opcode::RETURN], None, pool)
}

/// `static void booted() { passes = JdkImage.begin(); }`
fn booted(pool: &mut Pool) -> Vec<u8> {
    let [high, low] = pool.method(JDK_IMAGE, "begin", "()Z").to_be_bytes();
    let mut code = vec![opcode::INVOKESTATIC, high, low];
    let [high, low] = field_in(pool, PASSES).to_be_bytes();
    code.extend([opcode::PUTSTATIC, high, low, opcode::RETURN]);
    method(BOOTED, "()V", &code, None, pool)
}

/// Lets java.base read modules whose classes the recorder names: it lies in java.base, which reads no module by itself.
///
/// ```java
/// static void read() {
///     Module base = Object.class.getModule();
///     base.addReads(ModuleLayer.boot().findModule(name).orElse(base)); // for each name in READ
/// }
/// ```
fn read(pool: &mut Pool) -> Vec<u8> {
    use opcode::{CHECKCAST, INVOKESTATIC, INVOKEVIRTUAL, LDC_W, POP, RETURN};
    const MODULE: &str = "java/lang/Module";
    let (object, module) = (pool.class(OBJECT), pool.class(MODULE));
    let get_module = pool.method("java/lang/Class", "getModule", "()Ljava/lang/Module;");
    let boot = pool.method("java/lang/ModuleLayer", "boot", "()Ljava/lang/ModuleLayer;");
    let find = pool.method("java/lang/ModuleLayer", "findModule", "(Ljava/lang/String;)Ljava/util/Optional;");
    let or_else = pool.method("java/util/Optional", "orElse", "(Ljava/lang/Object;)Ljava/lang/Object;");
    let add_reads = pool.method(MODULE, "addReads", "(Ljava/lang/Module;)Ljava/lang/Module;");
    let mut code = Vec::new();
    for name in READ {
        let name = pool.string(name);
        for (opcode, index) in [
            (LDC_W, object),
            (INVOKEVIRTUAL, get_module),
            (INVOKESTATIC, boot),
            (LDC_W, name),
            (INVOKEVIRTUAL, find),
            (LDC_W, object),
            (INVOKEVIRTUAL, get_module),
            (INVOKEVIRTUAL, or_else),
            (CHECKCAST, module),
            (INVOKEVIRTUAL, add_reads),
        ] {
            let [high, low] = index.to_be_bytes();
            code.extend([opcode, high, low]);
        }
        code.push(POP);
    }
    code.push(RETURN);
    method(READ_MODULES, "()V", &code, None, pool)
}

/// `static { kept = new Object[256 * 256]; }`: start-up makes about 6,000.
fn prepare(pool: &mut Pool) -> Vec<u8> {
    let [high, low] = pool.class(OBJECT).to_be_bytes();
    let mut code = vec![opcode::SIPUSH, 1, 0, opcode::DUP, opcode::IMUL, opcode::ANEWARRAY, high, low];
    let [high, low] = field_in(pool, KEPT).to_be_bytes();
    code.extend([opcode::PUTSTATIC, high, low, opcode::RETURN]);
    method("<clinit>", "()V", &code, None, pool)
}

/// `static Object take() { Object array = kept; kept = null; return array; }`
fn take(pool: &mut Pool) -> Vec<u8> {
    let [high, low] = field_in(pool, KEPT).to_be_bytes();
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
/// It makes nothing and throws nothing. Threads that come at once may overwrite each other: there is one that does
/// anything so early.
fn keep_one(pool: &mut Pool) -> Vec<u8> {
    use opcode::*;
    let ([k, kept], [c, count]) = (field_in(pool, KEPT).to_be_bytes(), field_in(pool, COUNT).to_be_bytes());
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
    let locals = u16::from(loads(descriptor).1.max(if name == KEEP { 3 } else { 0 }));
    let access = ACC_PUBLIC | ACC_SYNTHETIC;
    Method { access, name, descriptor, code, stack: locals.max(3), locals, frame }.bytes(pool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::ClassFile;

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
        assert_eq!(check(&image_class(), true), 2);
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
