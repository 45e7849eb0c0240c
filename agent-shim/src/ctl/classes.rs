//! Classes: which are loaded, by whom, how many objects they have, and what they are made of.

use super::answer::{java_name, reason};
use super::server::Asked;
use crate::jvmti::{Jvmti, Object};
use instrument_control::answer::{Class, ClassDetails, Classes, Field, Loader, Method, OneClass};
use instrument_names::nearest::did_you_mean;
use instrument_names::types::ObjectPatterns;
use std::cmp::Reverse;
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
    pub(super) fn classes(self, pattern: Option<&str>, instances: bool) -> Result<Classes, String> {
        let wanted = pattern.map(|pattern| ObjectPatterns::new(&[pattern])).transpose();
        let wanted = wanted.map_err(|error| error.to_string())?;
        let classes = self.jvmti.loaded_classes(self.jni).map_err(reason)?;
        let counts = if instances { Some(self.count(&classes)?) } else { None };
        let mut loaders: HashMap<i64, Loader> = HashMap::new();
        let (mut all, mut others) = (Vec::new(), Vec::new());
        for (place, class) in classes.into_iter().enumerate() {
            let name = self.name(&class);
            if wanted.as_ref().is_none_or(|wanted| wanted.matches(name.as_bytes())) {
                let (instances, bytes) =
                    counts.as_ref().and_then(|counts| counts.get(place + 1).copied()).unzip();
                all.push(Class { name, loader: self.loader(&class, &mut loaders), instances, bytes });
            } else {
                others.push(name);
            }
            self.jni.forget(class);
        }
        if let (Some(pattern), true) = (pattern, all.is_empty()) {
            return Err(format!("no class that is loaded fits '{pattern}'{}", did_you_mean(pattern, others)));
        }
        all.sort_by(|a, b| (Reverse(a.bytes), &a.name).cmp(&(Reverse(b.bytes), &b.name)));
        Ok(Classes { classes: all })
    }

    /// Objects and bytes of each class, whose place is one less. Tags of an environment of its own, that others have theirs.
    fn count(self, classes: &[Object<'a>]) -> Result<Vec<(u64, u64)>, String> {
        let count = |own: Jvmti<'_>| {
            own.add_capabilities(&[crate::jvmti::Capability::TagObjects])?;
            for (class, tag) in classes.iter().zip(1..) {
                own.set_tag(class, tag)?;
            }
            let mut counts = vec![(0, 0); classes.len() + 1];
            own.count_heap(&mut counts)?;
            Ok(counts)
        };
        self.jni.in_environment(|own, _| count(own)).and_then(|counts| counts).map_err(reason)
    }

    fn loader(self, class: &Object<'a>, known: &mut HashMap<i64, Loader>) -> Option<Loader> {
        let loader = self.jvmti.loader(class, self.jni).ok()?;
        if loader.is_null() {
            return Some(Loader { name: Some("boot".to_owned()), ..Loader::default() });
        }
        let id = self.id(&loader).unwrap_or(0);
        let named = known.entry(id).or_insert_with(|| {
            let class = self.class_name_of(&loader);
            Loader { name: None, id: Some(id), class: Some(class) }
        });
        let named = named.clone();
        self.jni.forget(loader);
        Some(named)
    }

    pub(super) fn class_by_name(self, name: &str) -> Result<ClassDetails, String> {
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
        Ok(ClassDetails { classes: found })
    }

    pub(super) fn class_by_id(self, id: i64) -> Result<ClassDetails, String> {
        let class = self.find(id)?;
        if self.class_name_of(&class) != "java.lang.Class" {
            return Err(format!("the object {id} is not a class"));
        }
        Ok(ClassDetails { classes: vec![self.one_class(&class)] })
    }

    fn one_class(self, class: &Object<'a>) -> OneClass {
        let signature = self.jvmti.signature(class).unwrap_or_default();
        let name = |class: Object<'a>| {
            let name = self.name(&class);
            self.jni.forget(class);
            name
        };
        let status_words = |status: u32| {
            STATUS.iter().filter(|(bit, _)| status & bit != 0).map(|(_, word)| (*word).to_owned()).collect()
        };
        let superclass = self.jni.superclass_of(class);
        OneClass {
            id: self.id(class),
            name: java_name(&signature),
            loader: self.loader(class, &mut HashMap::new()),
            source: self.jvmti.class_source(class),
            status: self.jvmti.class_status(class).ok().map(status_words),
            modifiers: self.jvmti.class_modifiers(class).ok().map(|flags| words(flags, Of::Class)),
            superclass: (!superclass.is_null()).then(|| name(superclass)),
            interfaces: self.jvmti.class_interfaces(class, self.jni).into_iter().map(name).collect(),
            fields: self.fields(class),
            methods: self.methods_of(class, &signature),
        }
    }

    fn fields(self, class: &Object<'a>) -> Option<Vec<Field>> {
        let fields = self.jvmti.class_fields(class).ok()?;
        let fields = fields.into_iter().filter_map(|field| self.jvmti.field(class, field).ok());
        let one = |(name, descriptor, flags): (String, String, u32)| Field {
            name,
            r#type: java_name(&descriptor),
            modifiers: words(flags, Of::Field),
        };
        Some(fields.map(one).collect())
    }

    fn methods_of(self, class: &Object<'a>, signature: &str) -> Option<Vec<Method>> {
        let methods = self.jvmti.class_methods(class).ok()?;
        let internal = signature.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or("");
        let one = |method| {
            let (name, descriptor, flags) = self.jvmti.method(method).ok()?;
            let code = self.jvmti.code(method).ok();
            let id = self.agent.and_then(|agent| agent.hook.method_id(internal, &name, &descriptor));
            Some(Method {
                name,
                descriptor,
                modifiers: words(flags, Of::Method),
                id,
                code_bytes: code.as_ref().map(Vec::len),
                code_crc32: code.as_deref().map(crc32fast::hash),
            })
        };
        Some(methods.into_iter().filter_map(one).collect())
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
