//! The class that is defined beside `java.lang.Object`: one static method for every hook, which calls the hook.
//!
//! Injected code must find what it calls through the class loader of its class, and there are loaders that ask nobody for names that
//! they do not know: OSGi's, JBoss Modules', those that filter. But no loader can define a class in `java.*`, so all ask the boot
//! loader for those. A method of three instructions is made a part of its caller when that is compiled.

use instrument_rewriter::class_file::{Tag, opcode};
use instrument_rewriter::transform::hooks::{BOOT_PROBES, Hook};

const MAGIC: u32 = 0xCAFE_BABE;
/// Java 8. Code that does not branch needs no StackMapTable.
const MAJOR: u16 = 52;
const ACC_PUBLIC: u16 = 0x0001;
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

    fn hook(&mut self, hook: Hook) -> u16 {
        let class = self.class(hook.owner());
        let (name, descriptor) = (self.utf8(hook.name()), self.utf8(hook.descriptor()));
        let name_and_type = self.pair(Tag::NameAndType, name, descriptor);
        self.pair(Tag::Methodref, class, name_and_type)
    }
}

/// The class file.
pub(crate) fn class() -> Vec<u8> {
    let mut pool = Pool::default();
    let (this, object) = (pool.class(BOOT_PROBES), pool.class("java/lang/Object"));
    let mut methods = Vec::new();
    for hook in Hook::ALL {
        method(hook, &mut pool, &mut methods);
    }
    let mut class = MAGIC.to_be_bytes().to_vec();
    let mut put = |words: &[u16]| class.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    put(&[0, MAJOR, pool.0.len() as u16 + 1]);
    class.extend(pool.0.concat());
    let mut put = |words: &[u16]| class.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    let flags = ACC_PUBLIC | ACC_FINAL | ACC_SUPER | ACC_SYNTHETIC;
    // No interfaces, no fields.
    put(&[flags, this, object, 0, 0, Hook::ALL.len() as u16]);
    class.extend(methods);
    class.extend([0, 0]);
    class
}

/// `load 0; invokestatic hook; return` of what the hook returns.
fn method(hook: Hook, pool: &mut Pool, out: &mut Vec<u8>) {
    let load = if hook.descriptor().starts_with("(I)") { opcode::ILOAD_0 } else { opcode::ALOAD_0 };
    let leave = if hook.descriptor().ends_with(")V") { opcode::RETURN } else { opcode::ARETURN };
    let [high, low] = pool.hook(hook).to_be_bytes();
    let code = [load, opcode::INVOKESTATIC, high, low, leave];
    let (max_stack, max_locals) = (1u16, 1u16);
    let mut put = |words: &[u16]| out.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    put(&[ACC_PUBLIC | ACC_STATIC | ACC_SYNTHETIC, pool.utf8(hook.name()), pool.utf8(hook.descriptor())]);
    // One attribute, without exception table and attributes of its own.
    put(&[1, pool.utf8("Code"), 0, 12 + code.len() as u16, max_stack, max_locals, 0, code.len() as u16]);
    out.extend(code);
    out.extend([0; 4]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_rewriter::class_file::ClassFile;

    #[test]
    fn there_is_a_method_for_every_hook() {
        let bytes = class();
        let class = ClassFile::parse(&bytes).unwrap();
        assert_eq!(class.name().unwrap(), BOOT_PROBES.as_bytes());
        let mut methods = class.methods();
        for hook in Hook::ALL {
            let method = methods.next().unwrap().unwrap();
            assert_eq!(method.name(&class.pool).unwrap(), hook.name().as_bytes());
            assert_eq!(method.descriptor(&class.pool).unwrap(), hook.descriptor().as_bytes());
            let code = method.code(&class.pool).unwrap().unwrap().code;
            assert_eq!((code.len(), code[1]), (5, opcode::INVOKESTATIC));
        }
        assert!(methods.next().unwrap().is_none());
    }
}
