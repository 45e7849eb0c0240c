//! The class that tells a JDK of one more package of java.base, for a module image that has the runtime.
//!
//! A JDK that `jlink` has made does not read module descriptors when it starts: `SystemModules` classes, one for each
//! set of modules, make them, all by way of `jdk.internal.module.Builder`. The last step of that gets a call of
//! [`COMPLETE`]. (Without those classes descriptors are read, but then no archive of shared class data has them.)
//!
//! ```java
//! package jdk.internal.module;
//! final class InstrumentModules {
//!     static void complete(Builder builder) {
//!         if (!builder.name.equals("java.base")) return;
//!         builder.packages = add(builder.packages, "instrument.runtime");
//!         builder.exports = add(builder.exports, Builder.newExports(Set.of(), "instrument.runtime"));
//!     }
//!     private static Set add(Set set, Object one) {
//!         Object[] all = Arrays.copyOf(set.toArray(), set.size() + 1);
//!         all[set.size()] = one;
//!         return Set.of(all);
//!     }
//! }
//! ```

use crate::assemble::{self, Method, Pool};
use crate::class_file::{Tag, opcode};
use crate::code::module_info::RUNTIME_MODULE;

/// Internal name of the class that makes descriptors.
pub const BUILDER: &str = "jdk/internal/module/Builder";
/// Its method that does so.
pub const BUILD: (&str, &str) = ("build", "(I)Ljava/lang/module/ModuleDescriptor;");
/// Internal name of the class.
pub const BOOT_MODULES: &str = "jdk/internal/module/InstrumentModules";
/// Its method, which gets the builder.
pub const COMPLETE: &str = "complete";

const SET: &str = "java/util/Set";
const SET_TYPE: &str = "Ljava/util/Set;";
const ADD: (&str, &str) = ("add", "(Ljava/util/Set;Ljava/lang/Object;)Ljava/util/Set;");

/// The class file.
pub fn class() -> Vec<u8> {
    let mut pool = Pool::default();
    let methods = [complete(&mut pool), add(&mut pool)];
    assemble::class(0, BOOT_MODULES, &[], &methods, pool)
}

/// An instruction with an index of two bytes.
fn with(opcode: u8, index: u16) -> [u8; 3] {
    let [high, low] = index.to_be_bytes();
    [opcode, high, low]
}

fn complete(pool: &mut Pool) -> Vec<u8> {
    use opcode::{ALOAD_0, GETFIELD, IFNE, INVOKESTATIC, INVOKEVIRTUAL, LDC_W, PUTFIELD, RETURN};
    let name = pool.member(Tag::Fieldref, BUILDER, "name", "Ljava/lang/String;");
    let packages = pool.member(Tag::Fieldref, BUILDER, "packages", SET_TYPE);
    let exports = pool.member(Tag::Fieldref, BUILDER, "exports", SET_TYPE);
    let equals = pool.method("java/lang/String", "equals", "(Ljava/lang/Object;)Z");
    let no_modifiers = pool.member(Tag::InterfaceMethodref, SET, "of", "()Ljava/util/Set;");
    let descriptor = "(Ljava/util/Set;Ljava/lang/String;)Ljava/lang/module/ModuleDescriptor$Exports;";
    let new_exports = pool.method(BUILDER, "newExports", descriptor);
    let add = pool.method(BOOT_MODULES, ADD.0, ADD.1);
    let (base, package) = (pool.string("java.base"), pool.string(RUNTIME_MODULE));
    let mut code = vec![ALOAD_0];
    code.extend(with(GETFIELD, name));
    code.extend(with(LDC_W, base));
    code.extend(with(INVOKEVIRTUAL, equals));
    // Over the return behind it.
    code.extend(with(IFNE, 4));
    code.push(RETURN);
    // same_frame at the next instruction.
    let frame = vec![code.len() as u8];
    code.extend([ALOAD_0, ALOAD_0]);
    code.extend(with(GETFIELD, packages));
    code.extend(with(LDC_W, package));
    code.extend(with(INVOKESTATIC, add));
    code.extend(with(PUTFIELD, packages));
    code.extend([ALOAD_0, ALOAD_0]);
    code.extend(with(GETFIELD, exports));
    code.extend(with(INVOKESTATIC, no_modifiers));
    code.extend(with(LDC_W, package));
    code.extend(with(INVOKESTATIC, new_exports));
    code.extend(with(INVOKESTATIC, add));
    code.extend(with(PUTFIELD, exports));
    code.push(RETURN);
    let descriptor = format!("(L{BUILDER};)V");
    let frame = Some(frame);
    Method { access: 0, name: COMPLETE, descriptor: &descriptor, code: &code, stack: 4, locals: 1, frame }
        .bytes(pool)
}

fn add(pool: &mut Pool) -> Vec<u8> {
    use opcode::{AASTORE, ALOAD_0, ALOAD_1, ARETURN, DUP, IADD, ICONST_1, INVOKEINTERFACE, INVOKESTATIC};
    let to_array = pool.member(Tag::InterfaceMethodref, SET, "toArray", "()[Ljava/lang/Object;");
    let size = pool.member(Tag::InterfaceMethodref, SET, "size", "()I");
    let of = pool.member(Tag::InterfaceMethodref, SET, "of", "([Ljava/lang/Object;)Ljava/util/Set;");
    let copy = pool.method("java/util/Arrays", "copyOf", "([Ljava/lang/Object;I)[Ljava/lang/Object;");
    let mut code = Vec::new();
    let of_set = |code: &mut Vec<u8>, method: u16| {
        code.push(ALOAD_0);
        code.extend(with(INVOKEINTERFACE, method));
        // Its arguments in words, and 0.
        code.extend([1, 0]);
    };
    of_set(&mut code, to_array);
    of_set(&mut code, size);
    code.extend([ICONST_1, IADD]);
    code.extend(with(INVOKESTATIC, copy));
    code.push(DUP);
    of_set(&mut code, size);
    code.extend([ALOAD_1, AASTORE]);
    code.extend(with(INVOKESTATIC, of));
    code.push(ARETURN);
    Method { access: 0, name: ADD.0, descriptor: ADD.1, code: &code, stack: 4, locals: 2, frame: None }
        .bytes(pool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::ClassFile;
    use crate::class_file::instruction::Instructions;

    /// That it does what it says is seen when a JDK starts with it, with its classes verified.
    #[test]
    fn its_methods_are_whole() {
        let bytes = class();
        let class = ClassFile::parse(&bytes).unwrap();
        assert_eq!(class.name().unwrap(), BOOT_MODULES.as_bytes());
        let mut methods = class.methods();
        for (name, count) in [(COMPLETE, 21), (ADD.0, 14)] {
            let method = methods.next().unwrap().unwrap();
            assert_eq!(method.name(&class.pool).unwrap(), name.as_bytes());
            let code = method.code(&class.pool).unwrap().unwrap().code;
            assert_eq!(Instructions::new(code).filter(Result::is_ok).count(), count);
        }
        assert!(methods.next().unwrap().is_none());
    }
}
