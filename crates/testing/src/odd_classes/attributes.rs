//! Every attribute of JVMS 4.7 at every place of a class, right and wrong.

use super::class::{CODE, Class, Place};
use super::pool::{BEHIND, Pool};
use super::{Odd, VERSIONS};

/// One item of an attribute's content.
#[derive(Clone, Copy)]
enum Item {
    One(u8),
    Two(u16),
    Four(u32),
    /// The index of a constant.
    Index(u16),
}
use Item::{Four, Index, One, Two};

#[derive(Clone, Copy, Debug)]
enum Wrong {
    Nothing,
    /// The index of this number names nothing, is 0, or names an Integer.
    Behind(usize),
    Zero(usize),
    Kind(usize),
    Longer,
    Shorter,
    Empty,
    Twice,
}

const NAMES: [&str; 32] = [
    "ConstantValue",
    "Code",
    "StackMapTable",
    "Exceptions",
    "InnerClasses",
    "EnclosingMethod",
    "Synthetic",
    "Signature",
    "SourceFile",
    "SourceDebugExtension",
    "LineNumberTable",
    "LocalVariableTable",
    "LocalVariableTypeTable",
    "Deprecated",
    "RuntimeVisibleAnnotations",
    "RuntimeInvisibleAnnotations",
    "RuntimeVisibleParameterAnnotations",
    "RuntimeInvisibleParameterAnnotations",
    "RuntimeVisibleTypeAnnotations",
    "RuntimeInvisibleTypeAnnotations",
    "AnnotationDefault",
    "BootstrapMethods",
    "MethodParameters",
    "Module",
    "ModulePackages",
    "ModuleMainClass",
    "NestHost",
    "NestMembers",
    "Record",
    "PermittedSubclasses",
    "ModuleHashes",
    "Odd",
];

/// The content of an attribute, right for the class of [`Class`].
fn content(name: &str, version: u16, pool: &mut Pool) -> Vec<Item> {
    let type_name = |pool: &mut Pool| Index(pool.utf8("Ljava/lang/Deprecated;"));
    let length = CODE.len() as u16;
    match name {
        "ConstantValue" => vec![Index(pool.raw(vec![3, 0, 0, 0, 9]))],
        "Code" => vec![Two(1), Two(1), Four(2), One(4), One(0xac), Two(0), Two(0)],
        "StackMapTable" => {
            vec![Two(1), One(255), Two(6), Two(1), One(7), Index(pool.class("java/lang/Object")), Two(0)]
        }
        "Exceptions" | "PermittedSubclasses" | "NestMembers" => {
            vec![Two(1), Index(pool.class("java/lang/Exception"))]
        }
        "InnerClasses" => {
            vec![Two(1), Index(pool.class("Odd$I")), Index(pool.class("Odd")), Index(pool.utf8("I")), Two(1)]
        }
        "EnclosingMethod" => vec![Index(pool.class("Outer")), Index(pool.name_and_type("m", "()V"))],
        "Signature" => vec![Index(pool.utf8("Ljava/lang/Object;"))],
        "SourceFile" => vec![Index(pool.utf8("Odd.java"))],
        "SourceDebugExtension" => vec![One(b'S'), One(b'M')],
        "LineNumberTable" => vec![Two(1), Two(0), Two(7)],
        "LocalVariableTable" | "LocalVariableTypeTable" => {
            let (name, of) = (pool.utf8("o"), pool.utf8("Ljava/lang/Object;"));
            vec![Two(1), Two(0), Two(length), Index(name), Index(of), Two(0)]
        }
        "RuntimeVisibleAnnotations" | "RuntimeInvisibleAnnotations" => {
            vec![Two(1), type_name(pool), Two(0)]
        }
        "RuntimeVisibleParameterAnnotations" | "RuntimeInvisibleParameterAnnotations" => {
            vec![One(1), Two(1), type_name(pool), Two(0)]
        }
        "RuntimeVisibleTypeAnnotations" | "RuntimeInvisibleTypeAnnotations" => {
            vec![Two(1), One(0x13), One(0), type_name(pool), Two(0)]
        }
        "AnnotationDefault" => vec![One(b'I'), Index(pool.raw(vec![3, 0, 0, 0, 9]))],
        "BootstrapMethods" => {
            let text = pool.utf8("Odd.java");
            let argument = pool.of(8, &[text]);
            // A handle of an earlier version would be refused for itself.
            let method = match version < 51 {
                true => argument,
                false => {
                    let of = pool.member(10, "Odd", "m", "(Ljava/lang/Object;)I");
                    pool.handle(6, of)
                }
            };
            vec![Two(1), Index(method), Two(1), Index(argument)]
        }
        "MethodParameters" => vec![One(1), Index(pool.utf8("o")), Two(0)],
        "Module" => vec![Index(pool.utf8("odd")), Two(0), Two(0), Two(0), Two(0), Two(0), Two(0), Two(0)],
        "ModulePackages" | "ModuleHashes" => vec![Two(1), Index(pool.utf8("odd"))],
        "ModuleMainClass" | "NestHost" => vec![Index(pool.class("Odd$I"))],
        "Record" => {
            let (name, of, signature) = (pool.utf8("c"), pool.utf8("I"), pool.utf8("Signature"));
            let text = pool.utf8("Ljava/lang/Object;");
            vec![Two(1), Index(name), Index(of), Two(1), Index(signature), Four(2), Index(text)]
        }
        "Odd" => vec![One(1), Index(pool.utf8("odd"))],
        _ => Vec::new(),
    }
}

fn bytes(items: &[Item], wrong: Wrong, pool: &mut Pool) -> Vec<u8> {
    let (mut out, mut number) = (Vec::new(), 0);
    for item in items {
        match *item {
            One(value) => out.push(value),
            Two(value) => out.extend(value.to_be_bytes()),
            Four(value) => out.extend(value.to_be_bytes()),
            Index(right) => {
                let index = match wrong {
                    Wrong::Behind(at) if at == number => BEHIND,
                    Wrong::Zero(at) if at == number => 0,
                    Wrong::Kind(at) if at == number => pool.integer(),
                    _ => right,
                };
                out.extend(index.to_be_bytes());
                number += 1;
            }
        }
    }
    match wrong {
        Wrong::Longer => out.push(0),
        Wrong::Shorter => drop(out.pop()),
        Wrong::Empty => out.clear(),
        _ => {}
    }
    out
}

pub(super) fn add(into: &mut Vec<Odd>) {
    for name in NAMES {
        let indices = content(name, 69, &mut Pool::default());
        let indices = indices.iter().filter(|item| matches!(item, Index(_))).count();
        let mut wrongs = vec![Wrong::Nothing, Wrong::Longer, Wrong::Shorter, Wrong::Empty, Wrong::Twice];
        wrongs.extend(
            (0..indices).flat_map(|index| [Wrong::Behind(index), Wrong::Zero(index), Wrong::Kind(index)]),
        );
        for place in Place::ALL {
            for version in VERSIONS {
                for wrong in &wrongs {
                    let mut class = Class::new(version);
                    let items = content(name, version, &mut class.pool);
                    let bytes = bytes(&items, *wrong, &mut class.pool);
                    let name_index = class.pool.utf8(name);
                    for _ in 0..if matches!(wrong, Wrong::Twice) { 2 } else { 1 } {
                        class.attributes.push((place, name_index, bytes.clone()));
                    }
                    let what = format!("{name} at {place:?} in {version}, wrong: {wrong:?}");
                    into.push(Odd { what, bytes: class.finish() });
                }
            }
        }
    }
}
