//! Native methods get a wrapper of their own name, which can be rewritten like any other method. For virtual machines
//! that are told the [prefix](PREFIX) (JVMTI, SetNativeMethodPrefix): they look a method whose name begins with it up
//! by the name behind the prefix, as exported function (`Java_pkg_Class_method`) and in RegisterNatives, if the class
//! has a method of that name and descriptor which is not native. Without that, the native code is not found.
//!
//! | | wrapper | native method |
//! |---|---|---|
//! | name, descriptor | those of the method | the name with the prefix before it; the same descriptor |
//! | flags | those of the method but `native`; `synchronized` too | `private synthetic native`, and `static` as the method has it |
//! | attributes | all of the method, and the code | none |
//!
//! Wrappers add members, so this is for classes that are about to be loaded, and what is done can not be taken back.
//!
//! Left as they are, with a reason: classes whose native code is found by reflection (JNA's direct mapping, BridJ),
//! because that looks for native methods by the names that they have; classes that have methods with such names; and
//! classes that the virtual machine refuses.

use super::wrapper::wrapper_code;
use super::{ACC_ABSTRACT, ACC_NATIVE, ACC_STATIC, MethodRef, Reason};
use crate::class_file::{ClassFile, Member, Tag};
use crate::code::constant_pool_appender::ConstantPoolAppender;
use crate::code::hooks::Reach;
use crate::code::refusal;
use crate::validity::Validity;

/// What the names of native methods with a wrapper begin with; the virtual machine has to be told.
pub const PREFIX: &str = "instrument$native$";

/// What becomes of the calls of native methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Natives {
    /// They are not recorded.
    #[default]
    Leave,
    /// They are recorded where they are made.
    AtCalls,
    /// Classes come with [wrappers](wrap), which are rewritten.
    Wrapped,
}

const ACC_PRIVATE: u16 = 0x0002;
const ACC_INTERFACE: u16 = 0x0200;
const ACC_SYNTHETIC: u16 = 0x1000;
/// Classes that look for native methods by reflection, to find functions with their names.
const FIND_BY_REFLECTION: [&[u8]; 2] = [b"com/sun/jna/Native", b"org/bridj/BridJ"];

/// Whether a method of this name (modified UTF-8) is a native one behind a wrapper.
pub fn is_wrapped(name: &[u8]) -> bool {
    name.starts_with(PREFIX.as_bytes())
}

/// Gives wrappers to the native methods of a class that `wanted` (name and descriptor) lets through. Appends the new
/// class to `out`, if there are any; how many there are.
///
/// # Errors
/// Why the class can have none, although `wanted` has let native methods through. `out` is as it was.
pub fn wrap(
    bytes: &[u8],
    mut wanted: impl FnMut(&[u8], &[u8]) -> bool,
    out: &mut Vec<u8>,
) -> Result<u16, Reason> {
    let unreadable = |_| Reason::NotAClass;
    let class = ClassFile::parse(bytes).map_err(unreadable)?;
    let mut natives = Vec::new();
    let mut has_taken_name = false;
    let mut methods = class.methods();
    while let Some(method) = methods.next().map_err(unreadable)? {
        let (name, descriptor) = names(&class, &method)?;
        has_taken_name |= is_wrapped(name);
        if is_native(&method) && !name.starts_with(b"<") && wanted(name, descriptor) {
            natives.push(method);
        }
    }
    if natives.is_empty() {
        return Ok(0);
    }
    if let Some(reason) = refused(&class, has_taken_name)? {
        return Err(reason);
    }
    let length = out.len();
    let result = write(&class, &natives, methods.position(), out);
    if result.is_err() {
        out.truncate(length);
    }
    result
}

/// Why none of the class's native methods can have a wrapper.
fn refused(class: &ClassFile<'_>, has_taken_name: bool) -> Result<Option<Reason>, Reason> {
    let is_text = |index: u16, text: &[u8]| class.pool.utf8_or_empty(index) == text;
    let finds = |index: u16| FIND_BY_REFLECTION.iter().any(|finder| is_text(index, finder));
    Ok(if let Some(reason) = refusal(class) {
        Some(reason)
    } else if has_taken_name {
        Some(Reason::AlreadyInstrumented)
    } else if class.access_flags & ACC_INTERFACE != 0 {
        // The virtual machine refuses such an interface (JVMS 4.6).
        Some(Reason::BadCode)
    } else if class.pool.indices().any(finds) {
        Some(Reason::NativeByReflection)
    } else {
        Validity::refusal(class).map_err(|_| Reason::NotAClass)?
    })
}

fn write(
    class: &ClassFile<'_>,
    natives: &[Member<'_>],
    methods_end: usize,
    out: &mut Vec<u8>,
) -> Result<u16, Reason> {
    let (bytes, pool) = (class.bytes, &class.pool);
    let added = u16::try_from(natives.len()).map_err(|_| Reason::ConstantPoolFull)?;
    let count = class.methods_count().checked_add(added).ok_or(Reason::ConstantPoolFull)?;
    let mut appender = ConstantPoolAppender::default();
    appender.reset(pool, Reach::Direct);
    let code_index = appender.text_named(pool, b"Code")?;
    let (mut methods, mut behind) = (Vec::new(), Vec::new());
    let mut copied = class.methods_start();
    for native in natives {
        let (name, descriptor) = names(class, native)?;
        if native.code(pool).map_err(|_| Reason::BadCode)?.is_some() {
            return Err(Reason::BadCode);
        }
        let new_name = [PREFIX.as_bytes(), name].concat();
        let (name_index, reference) =
            appender.own_method(Tag::Methodref, class.this_class, &new_name, native.descriptor_index)?;
        let access_flags = native.access_flags & !ACC_NATIVE;
        // No method of the class has this index.
        let method = MethodRef { index: u16::MAX, access_flags, name, descriptor };
        let info = wrapper_code(&method, None, reference)?;
        let (start, end) = (native.span.start, native.span.end);
        let attributes = u16::from_be_bytes([bytes[start + 6], bytes[start + 7]]);
        let attributes = attributes.checked_add(1).ok_or(Reason::BadCode)?;
        methods.extend_from_slice(&bytes[copied..start]);
        put(&mut methods, &[access_flags, native.name_index, native.descriptor_index, attributes]);
        put(&mut methods, &[code_index]);
        methods.extend_from_slice(&(info.len() as u32).to_be_bytes());
        methods.extend_from_slice(&info);
        methods.extend_from_slice(&bytes[start + 8..end]);
        copied = end;

        let flags = ACC_PRIVATE | ACC_SYNTHETIC | ACC_NATIVE | native.access_flags & ACC_STATIC;
        put(&mut behind, &[flags, name_index, native.descriptor_index, 0]);
    }
    let appended = appender.bytes();
    out.extend_from_slice(&bytes[..pool.start()]);
    put(out, &[appender.count()]);
    out.extend_from_slice(&bytes[pool.start() + 2..pool.end()]);
    out.extend_from_slice(appended);
    out.extend_from_slice(&bytes[pool.end()..class.methods_start() - 2]);
    put(out, &[count]);
    out.extend_from_slice(&methods);
    out.extend_from_slice(&bytes[copied..methods_end]);
    out.extend_from_slice(&behind);
    out.extend_from_slice(&bytes[methods_end..]);
    Ok(added)
}

fn is_native(method: &Member<'_>) -> bool {
    method.access_flags & (ACC_NATIVE | ACC_ABSTRACT) == ACC_NATIVE
}

fn names<'a>(class: &ClassFile<'a>, method: &Member<'a>) -> Result<(&'a [u8], &'a [u8]), Reason> {
    let names = (method.name(&class.pool), method.descriptor(&class.pool));
    match names {
        (Ok(name), Ok(descriptor)) => Ok((name, descriptor)),
        _ => Err(Reason::NotAClass),
    }
}

fn put(out: &mut Vec<u8>, items: &[u16]) {
    items.iter().for_each(|item| out.extend_from_slice(&item.to_be_bytes()));
}
