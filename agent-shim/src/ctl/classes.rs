//! Classes: which are loaded, by whom, how many objects they have, and what they are made of.

use super::answer::{Asked, java_name, reason};
use crate::jvmti::Object;
use instrument_names::nearest::did_you_mean;
use instrument_names::types::ObjectPatterns;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Bits of `JVMTI_CLASS_STATUS_*`.
const STATUS: [(u32, &str); 6] =
    [(1, "verified"), (2, "prepared"), (4, "initialized"), (8, "failed"), (16, "array"), (32, "primitive")];

const STATIC: u32 = 0x8;
/// Those that mean the same wherever they stand.
const FLAGS: [(u32, &str); 6] = [
    (0x1, "public"),
    (0x2, "private"),
    (0x4, "protected"),
    (STATIC, "static"),
    (0x10, "final"),
    (0x1000, "synthetic"),
];

#[derive(Clone, Copy)]
enum Of {
    Class,
    Field,
    Method,
}

/// The words of access flags. Some bits mean different things (JVMS 4.1, 4.5, 4.6), and the virtual machine uses others for itself.
fn words(flags: u32, of: Of) -> String {
    let more: &[(u32, &str)] = match of {
        Of::Class => &[(0x200, "interface"), (0x400, "abstract"), (0x2000, "annotation"), (0x4000, "enum")],
        Of::Field => &[(0x40, "volatile"), (0x80, "transient"), (0x4000, "enum")],
        Of::Method => &[
            (0x20, "synchronized"),
            (0x40, "bridge"),
            (0x80, "varargs"),
            (0x100, "native"),
            (0x400, "abstract"),
            (0x800, "strictfp"),
        ],
    };
    let words: Vec<&str> =
        FLAGS.iter().chain(more).filter(|(bit, _)| flags & bit != 0).map(|(_, word)| *word).collect();
    words.join(" ")
}

impl<'a> Asked<'a> {
    pub(super) fn classes(self, pattern: Option<&str>, instances: bool) -> Result<Value, String> {
        let wanted = pattern.map(|pattern| ObjectPatterns::new(&[pattern])).transpose();
        let wanted = wanted.map_err(|error| error.to_string())?;
        let classes = self.jvmti.loaded_classes(self.jni).map_err(reason)?;
        let counts = if instances { Some(self.count(&classes)?) } else { None };
        let mut loaders: HashMap<i64, Value> = HashMap::new();
        let (mut all, mut others) = (Vec::new(), Vec::new());
        for (place, class) in classes.into_iter().enumerate() {
            let name = self.name(&class);
            if wanted.as_ref().is_none_or(|wanted| wanted.matches(name.as_bytes())) {
                let mut one = json!({ "name": name, "loader": self.loader(&class, &mut loaders) });
                if let Some((objects, bytes)) = counts.as_ref().and_then(|counts| counts.get(place + 1)) {
                    one["instances"] = (*objects).into();
                    one["bytes"] = (*bytes).into();
                }
                all.push(one);
            } else {
                others.push(name);
            }
            self.jni.forget(class);
        }
        if let (Some(pattern), true) = (pattern, all.is_empty()) {
            return Err(format!("no class that is loaded fits '{pattern}'{}", did_you_mean(pattern, others)));
        }
        all.sort_by(|a, b| {
            let bytes = |one: &Value| std::cmp::Reverse(one["bytes"].as_u64());
            bytes(a).cmp(&bytes(b)).then_with(|| a["name"].as_str().cmp(&b["name"].as_str()))
        });
        Ok(json!({ "classes": all }))
    }

    /// Objects and bytes of each class, whose place is one less. Tags of an environment of its own, that others have theirs.
    fn count(self, classes: &[Object<'a>]) -> Result<Vec<(u64, u64)>, String> {
        let own = self.jni.new_environment().map_err(reason)?;
        let count = || {
            own.add_capabilities(&[crate::jvmti::Capability::TagObjects])?;
            for (class, tag) in classes.iter().zip(1..) {
                own.set_tag(class, tag)?;
            }
            let mut counts = vec![(0, 0); classes.len() + 1];
            own.count_heap(&mut counts)?;
            Ok(counts)
        };
        let counts = count();
        own.dispose();
        counts.map_err(reason)
    }

    fn loader(self, class: &Object<'a>, known: &mut HashMap<i64, Value>) -> Value {
        let Ok(loader) = self.jvmti.loader(class, self.jni) else { return Value::Null };
        if loader.is_null() {
            return json!({ "name": "boot" });
        }
        let id = self.id(&loader).unwrap_or(0);
        let named =
            known.entry(id).or_insert_with(|| json!({ "id": id, "class": self.class_name_of(&loader) }));
        let named = named.clone();
        self.jni.forget(loader);
        named
    }

    pub(super) fn class_by_name(self, name: &str) -> Result<Value, String> {
        let plain = name.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(name);
        let (mut found, mut others) = (Vec::new(), Vec::new());
        let wanted = ObjectPatterns::new(&[plain]).map_err(|error| error.to_string())?;
        for class in self.jvmti.loaded_classes(self.jni).map_err(reason)? {
            let its = self.name(&class);
            // Hidden classes have a slash in theirs.
            if its == plain || wanted.matches(its.as_bytes()) {
                found.push(self.one_class(&class));
            } else {
                others.push(its);
            }
            self.jni.forget(class);
        }
        if found.is_empty() {
            return Err(format!("no class {plain} is loaded{}", did_you_mean(plain, others)));
        }
        Ok(json!({ "classes": found }))
    }

    pub(super) fn class_by_id(self, id: i64) -> Result<Value, String> {
        let class = self.find(id)?;
        if self.class_name_of(&class) != "java.lang.Class" {
            return Err(format!("the object {id} is not a class"));
        }
        Ok(json!({ "classes": [self.one_class(&class)] }))
    }

    fn one_class(self, class: &Object<'a>) -> Value {
        let signature = self.jvmti.signature(class).unwrap_or_default();
        let mut all = Map::new();
        all.insert("id".into(), self.id(class).into());
        all.insert("name".into(), java_name(&signature).into());
        all.insert("loader".into(), self.loader(class, &mut HashMap::new()));
        if let Some(source) = self.jvmti.class_source(class) {
            all.insert("source".into(), source.into());
        }
        if let Ok(status) = self.jvmti.class_status(class) {
            let words =
                STATUS.iter().filter(|(bit, _)| status & bit != 0).map(|(_, word)| Value::from(*word));
            all.insert("status".into(), words.collect());
        }
        if let Ok(flags) = self.jvmti.class_modifiers(class) {
            all.insert("modifiers".into(), words(flags, Of::Class).into());
        }
        let superclass = self.jni.superclass_of(class);
        if !superclass.is_null() {
            all.insert("superclass".into(), self.name(&superclass).into());
            self.jni.forget(superclass);
        }
        let interfaces = self.jvmti.class_interfaces(class, self.jni).into_iter().map(|interface| {
            let name = self.name(&interface);
            self.jni.forget(interface);
            Value::from(name)
        });
        all.insert("interfaces".into(), interfaces.collect());
        self.members(class, &signature, &mut all);
        all.into()
    }

    fn members(self, class: &Object<'a>, signature: &str, all: &mut Map<String, Value>) {
        if let Ok(fields) = self.jvmti.class_fields(class) {
            let fields = fields.into_iter().filter_map(|field| self.jvmti.field(class, field).ok());
            let fields = fields.map(|(name, descriptor, flags)| {
                json!({ "name": name, "type": java_name(&descriptor), "modifiers": words(flags, Of::Field) })
            });
            all.insert("fields".into(), fields.collect());
        }
        if let Ok(methods) = self.jvmti.class_methods(class) {
            let internal = signature.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or("");
            let methods = methods.into_iter().filter_map(|method| self.jvmti.method(method).ok());
            let methods = methods.map(|(name, descriptor, flags)| {
                let id = self.agent.hook.method_id(internal, &name, &descriptor);
                let mut one =
                    json!({ "name": name, "descriptor": descriptor, "modifiers": words(flags, Of::Method) });
                if let Some(id) = id {
                    one["id"] = id.into();
                }
                one
            });
            all.insert("methods".into(), methods.collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_methods_are_strictfp() {
        assert_eq!(words(0x0819, Of::Field), "public static final");
        assert_eq!(words(0x0819, Of::Method), "public static final strictfp");
        assert_eq!(words(0x0621, Of::Class), "public interface abstract");
        assert_eq!(words(0x00c2, Of::Field), "private volatile transient");
    }
}
