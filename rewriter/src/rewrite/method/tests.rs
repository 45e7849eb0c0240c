use super::super::testing::Assembly;
use super::*;
use crate::class_file::ConstantPool;
use crate::code::hooks::Reach;

/// The types at the entry of a method, in letters: `t` of the new object, `C#name;` for a class.
fn types_at_entry(access_flags: u16, name: &str, descriptor: &str, has_super: bool) -> String {
    let mut assembly = Assembly::of("return");
    // Behind its name.
    assert_eq!((assembly.class_entry("A"), assembly.class_entry("[[J")), (2, 4));
    let bytes = [&assembly.class()[..], &[0; 6]].concat();
    let mut class = ClassFile::parse(&bytes).unwrap();
    (class.this_class, class.super_class) = (2, u16::from(has_super) * 4);
    let mut appender = ConstantPoolAppender::default();
    appender.reset(&class.pool, Reach::default());
    let (name, descriptor) = (name.as_bytes(), descriptor.as_bytes());
    let method = MethodRef { index: 0, access_flags, name, descriptor };
    let locals = match initial_locals(&class, &method, &mut appender) {
        Ok(locals) => locals,
        Err(reason) => return reason.to_string(),
    };
    // The pool with what was appended, and the rest of a class, says what the types are.
    let entries = [&bytes[10..class.pool.end()], appender.bytes()].concat();
    let pool = [&bytes[..8], &appender.count().to_be_bytes(), &entries, &[0; 14]].concat();
    let pool = ConstantPool::parse(&pool, 8, Vec::new()).unwrap();
    let (mut rest, mut text) = (&locals[..], String::new());
    while let Some((&tag, behind)) = rest.split_first() {
        rest = behind;
        text.push(char::from(b"-IFDJ-tC-"[usize::from(tag)]));
        if tag == 7 {
            let class = pool.class_name(u16::from_be_bytes([rest[0], rest[1]])).unwrap();
            text += &format!("#{};", String::from_utf8_lossy(class));
            rest = &rest[2..];
        }
    }
    text
}

#[test]
fn a_frame_in_full_begins_with_the_parameters() {
    const PUBLIC: u16 = 1;
    const PUBLIC_STATIC: u16 = 9;
    let expected = [
        (PUBLIC_STATIC, "m", "()V", "", true),
        (PUBLIC_STATIC, "m", "(ZBCSIJFD)J", "IIIIIJFD", true),
        (PUBLIC_STATIC, "m", "(LA;[[J[LA;LB;)V", "C#A;C#[[J;C#[LA;;C#B;", true),
        (PUBLIC_STATIC, "m", "(D[IF)V", "DC#[I;F", true),
        (PUBLIC, "m", "(J)V", "C#A;J", true),
        (0, "m", "(F)V", "C#A;F", true),
        // The new object, until it has called another constructor; Object calls none.
        (PUBLIC, "<init>", "(D)V", "tD", true),
        (PUBLIC, "<init>", "()V", "C#A;", false),
        (PUBLIC, "m", "()V", "C#A;", false),
        (PUBLIC_STATIC, "<init>", "(I)V", "I", true),
        (PUBLIC_STATIC, "m", "I)V", "bad-code", true),
        (PUBLIC_STATIC, "m", "(X)V", "bad-code", true),
    ];
    for (flags, name, descriptor, types, has_super) in expected {
        assert_eq!(types_at_entry(flags, name, descriptor, has_super), types, "{flags} {name}{descriptor}");
    }
}
