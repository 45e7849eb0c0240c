//! Instances of `java.lang.Class`, of which a heap walk reports no instance fields: they are read through JNI.

use super::said;
use super::tags::{self, Tags};
use super::walk::Walk;
use crate::jvmti::{Jni, Jvmti, Object};

/// The classes that have those of the primitive types.
const WRAPPERS: [&str; 9] =
    ["Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double", "Void"];

/// Tags `int.class` and the like. They are no classes for the virtual machine, and written as instances.
pub(super) fn tag_primitives<'a>(
    jvmti: Jvmti<'a>,
    jni: Jni<'a>,
    tags: &mut Tags,
) -> Result<Vec<Object<'a>>, String> {
    let mut mirrors = Vec::new();
    for wrapper in WRAPPERS {
        let Some(class) = jni.find_class(&format!("java/lang/{wrapper}")) else { continue };
        let mirror = jni.static_object(&class, "TYPE", "Ljava/lang/Class;");
        jni.forget(class);
        if let Some(mirror) = mirror {
            let tag = tags.visit(jvmti.tag(&mirror).unwrap_or(0), None).ok_or("there are no ids left")?;
            jvmti.set_tag(&mirror, tag).map_err(said)?;
            mirrors.push(mirror);
        }
    }
    Ok(mirrors)
}

/// Writes the instances of the primitive types, and sets what all others refer to, their loaders included.
pub(super) fn write<'a>(
    jvmti: Jvmti<'a>,
    jni: Jni<'a>,
    walk: &mut Walk<'_>,
    primitives: Vec<Object<'a>>,
) -> Result<(), String> {
    let class = walk.classes.class_class();
    let (class_id, size) = (class.id, class.instance_size as usize);
    let places: Vec<_> = class.own_places().map(|(field, place)| (field.clone(), place)).collect();
    for mirror in primitives {
        let mut values = vec![0; size];
        for (field, place) in &places {
            match field.primitive {
                Some(kind) => {
                    let value = jni.primitive_field(&mirror, field.id, kind);
                    super::record::copy_value(&value, &mut values[*place..*place + value.len()]);
                }
                None => {
                    let id = written(jvmti, jni, jni.object_field(&mirror, field.id));
                    walk.refer(id);
                    values[*place..*place + 8].copy_from_slice(&id.to_be_bytes());
                }
            }
        }
        walk.objects += 1;
        walk.write_instance(tags::id(jvmti.tag(&mirror).unwrap_or(0)), class_id, &values);
        jni.forget(mirror);
    }
    for id in walk.classes.not_loaded() {
        walk.objects += 1;
        walk.write_instance(id, class_id, &vec![0; size]);
    }
    let fields = walk.classes.mirror_fields();
    for mirror in jvmti.loaded_classes(jni).map_err(said)? {
        let tag = jvmti.tag(&mirror).unwrap_or(0);
        if let Some(index) = tags::class_index(tag) {
            let loader = written(jvmti, jni, jvmti.loader(&mirror, jni).map_err(said)?);
            walk.refer(loader);
            walk.classes.set_loader(tag, loader);
            for (at, field) in fields.iter().enumerate() {
                let id = written(jvmti, jni, jni.object_field(&mirror, field.id));
                if id != 0 {
                    walk.refer(id);
                    walk.classes.set_mirror_field(index, at, id);
                }
            }
        }
        jni.forget(mirror);
    }
    Ok(())
}

/// The id of an object that has a record, or 0.
fn written<'a>(jvmti: Jvmti<'a>, jni: Jni<'a>, object: Object<'a>) -> u64 {
    if object.is_null() {
        return 0;
    }
    let tag = jvmti.tag(&object).unwrap_or(0);
    jni.forget(object);
    if tags::is_met(tag) { tags::id(tag) } else { 0 }
}
