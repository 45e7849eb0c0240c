//! Constants of every kind, right and wrong, and instructions that name them.

use super::class::{Class, Code, Place};
use super::pool::{BEHIND, Pool};
use super::{Odd, VERSIONS};

const NAMES: [&str; 12] =
    ["a", "", "<init>", "<clinit>", "<x>", "a<b", "a.b", "a;b", "a/b", "[a", "1", "java/lang/Object"];
const DESCRIPTORS: [&str; 13] =
    ["I", "V", "[I", "[V", "Lx;", "L;", "Lx", "()V", "()", "(V)V", "(I)I", "(IJ)[[J", ""];
const TEXTS: [&[u8]; 6] = [b"\0", b"\xc1\x81", b"\x80", b"\xf0\x90\x80\x80", b"\xe2\x82", b"\xe0\x80\x80"];

/// One constant of each kind, and indices that name none.
fn of_each_kind(pool: &mut Pool, version: u16) -> Vec<(String, u16)> {
    let text = pool.utf8("text");
    let mut all = vec![
        ("nothing".to_string(), BEHIND),
        ("0".into(), 0),
        ("Utf8".into(), text),
        ("Integer".into(), pool.integer()),
        ("Float".into(), pool.raw(vec![4, 0, 0, 0, 0])),
        ("Class".into(), pool.class("java/lang/Object")),
        ("Class of an array".into(), pool.class("[[I")),
        ("String".into(), pool.of(8, &[text])),
        ("Fieldref".into(), pool.member(9, "Odd", "s", "I")),
        ("Methodref".into(), pool.member(10, "Odd", "m", "(Ljava/lang/Object;)I")),
        ("Methodref of <init>".into(), pool.member(10, "java/lang/Object", "<init>", "()V")),
        ("InterfaceMethodref".into(), pool.member(11, "java/lang/Runnable", "run", "()V")),
        ("NameAndType".into(), pool.name_and_type("m", "()V")),
    ];
    let long = pool.raw(vec![5, 0, 0, 0, 0, 0, 0, 0, 1]);
    all.extend([("Long".into(), long), ("upper half of Long".into(), long + 1)]);
    if version >= 51 {
        let method = pool.member(10, "Odd", "m", "(Ljava/lang/Object;)I");
        all.push(("MethodHandle".into(), pool.handle(6, method)));
        let descriptor = pool.utf8("()V");
        all.push(("MethodType".into(), pool.of(16, &[descriptor])));
    }
    all
}

/// Constants that nothing uses.
fn unused(pool: &mut Pool, version: u16) -> Vec<(String, Vec<u8>)> {
    let index = |tag: u8, items: &[u16]| {
        let mut constant = vec![tag];
        constant.extend(items.iter().flat_map(|item| item.to_be_bytes()));
        constant
    };
    let kinds = of_each_kind(pool, version);
    let mut all = Vec::new();
    let name_and_type = pool.name_and_type("m", "()V");
    let field = pool.name_and_type("s", "I");
    let class = pool.class("Odd");
    for (of, at) in &kinds {
        for tag in [7, 8, 16, 19, 20] {
            all.push((format!("tag {tag} of {of}"), index(tag, &[*at])));
        }
        for tag in [9, 10, 11, 17, 18] {
            let other = if tag == 9 || tag == 17 { field } else { name_and_type };
            all.push((format!("tag {tag}, first of {of}"), index(tag, &[*at, other])));
            all.push((format!("tag {tag}, second of {of}"), index(tag, &[class, *at])));
        }
        let text = pool.utf8("()V");
        all.push((format!("NameAndType, first of {of}"), index(12, &[*at, text])));
        all.push((format!("NameAndType, second of {of}"), index(12, &[text, *at])));
        for kind in 0..=10 {
            let [high, low] = at.to_be_bytes();
            all.push((format!("MethodHandle {kind} of {of}"), vec![15, kind, high, low]));
        }
    }
    for name in NAMES {
        let at = pool.utf8(name);
        all.push((format!("Class {name:?}"), index(7, &[at])));
        for descriptor in DESCRIPTORS {
            let pair = pool.name_and_type(name, descriptor);
            let what = format!("{name:?} {descriptor:?}");
            for tag in [9, 10, 11, 17, 18] {
                all.push((format!("tag {tag} of {what}"), index(tag, &[class, pair])));
            }
        }
    }
    for descriptor in DESCRIPTORS {
        let at = pool.utf8(descriptor);
        all.push((format!("Class {descriptor:?}"), index(7, &[at])));
        all.push((format!("MethodType {descriptor:?}"), index(16, &[at])));
    }
    for text in TEXTS {
        all.push((format!("Utf8 {text:x?}"), [&index(1, &[text.len() as u16])[..], text].concat()));
    }
    // Tags that there are not, and one that is cut off by what follows.
    all.extend([0, 2, 13, 14, 21, 255].map(|tag| (format!("tag {tag}"), vec![tag, 0, 0])));
    all
}

pub(super) fn add(into: &mut Vec<Odd>) {
    for version in VERSIONS {
        let mut pool = Pool::default();
        for (what, constant) in unused(&mut pool, version) {
            let is_dynamic = matches!(constant[0], 17 | 18);
            for &has_bootstrap in if is_dynamic { &[true, false][..] } else { &[false] } {
                let mut class = Class::with_pool(version, &pool);
                if has_bootstrap {
                    let method = class.pool.member(10, "Odd", "m", "(Ljava/lang/Object;)I");
                    let handle = if version >= 51 { class.pool.handle(6, method) } else { method };
                    let name = class.pool.utf8("BootstrapMethods");
                    // More than the index of any constant that is named in place of one.
                    let rows = 200u16;
                    let row = [handle, 0].map(u16::to_be_bytes).concat();
                    let content = [&rows.to_be_bytes()[..], &row.repeat(rows.into())].concat();
                    class.attributes.push((Place::Class, name, content));
                }
                class.pool.raw(constant.clone());
                let what = format!("{what} in {version}, bootstrap methods: {has_bootstrap}");
                into.push(Odd { what, bytes: class.finish() });
            }
        }
        let mut pool = Pool::default();
        for (what, index) in of_each_kind(&mut pool, version) {
            for (name, before, opcode, behind) in INSTRUCTIONS {
                let mut class = Class::with_pool(version, &pool);
                let [high, low] = index.to_be_bytes();
                let named = if opcode == 0x12 { vec![low] } else { vec![high, low] };
                let bytes = [before, &[opcode], &named, behind, &[0x04, 0xac]].concat();
                class.code = Some(Code { max_stack: 4, bytes, handlers: Vec::new(), frames: None });
                into.push(Odd { what: format!("{name} {what} in {version}"), bytes: class.finish() });
            }
            let mut class = Class::with_pool(version, &pool);
            let frames = vec![0, 1, 66, 7, 0, 0];
            let bytes = vec![0x04, 0xac, 0x4b, 0x04, 0xac];
            let mut frames = (version >= 50).then_some(frames);
            let caught = index.to_be_bytes();
            if let Some(frames) = &mut frames {
                frames[4..].copy_from_slice(&caught);
            }
            class.code = Some(Code { max_stack: 1, bytes, handlers: vec![[0, 2, 2, index]], frames });
            into.push(Odd { what: format!("catch {what} in {version}"), bytes: class.finish() });
        }
    }
}

/// Name, what stands before the opcode, the opcode, and what stands behind its constant.
const INSTRUCTIONS: [(&str, &[u8], u8, &[u8]); 15] = [
    ("ldc", &[], 0x12, &[0x57]),
    ("ldc_w", &[], 0x13, &[0x57]),
    ("ldc2_w", &[], 0x14, &[0x58]),
    ("getstatic", &[], 0xb2, &[0x57]),
    ("putstatic", &[0x04], 0xb3, &[]),
    ("getfield", &[0x2a], 0xb4, &[0x57]),
    ("invokevirtual", &[0x2a], 0xb6, &[]),
    ("invokespecial", &[0x2a], 0xb7, &[]),
    ("invokestatic", &[0x2a], 0xb8, &[0x57]),
    ("invokeinterface", &[0x2a], 0xb9, &[1, 0]),
    ("invokedynamic", &[0x2a], 0xba, &[0, 0, 0x57]),
    ("new", &[], 0xbb, &[0x57]),
    ("anewarray", &[0x04], 0xbd, &[0x57]),
    ("checkcast", &[0x2a], 0xc0, &[0x57]),
    ("multianewarray", &[0x04, 0x04], 0xc5, &[2, 0x57]),
];
