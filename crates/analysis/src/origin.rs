//! Where methods come from: the source file and first line that their id map knows, and whether the compiler made them.

use std::collections::HashMap;
use std::sync::Arc;

/// Where a method comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// SourceFile of its class (JVMS 4.7.10), without directories; empty: not known.
    pub file: String,
    /// The lowest line of its LineNumberTable (JVMS 4.7.12); 0: not known.
    pub line: u32,
    /// Made by the compiler, to call an override of other types (`ACC_BRIDGE`, JVMS 4.6).
    pub is_bridge: bool,
    /// Made by the compiler (`ACC_SYNTHETIC`).
    pub is_synthetic: bool,
}

impl Origin {
    /// The path of a method's source file as a build has it, such as `com/acme/Shop.java`, and the first line or 0. None if the file is
    /// not known. `name`: that of the method.
    pub fn path(&self, name: &str) -> Option<(String, u32)> {
        if self.file.is_empty() {
            return None;
        }
        let class = name.split('(').next().and_then(|name| name.rsplit_once('.')).map_or("", |split| split.0);
        let path = match class.rsplit_once('.') {
            Some((package, _)) => format!("{}/{}", package.replace('.', "/"), self.file),
            None => self.file.clone(),
        };
        Some((path, self.line))
    }
}

/// The origins of a model's methods, by name. A copy shares them.
#[derive(Debug, Clone, Default)]
pub struct Origins(Arc<HashMap<String, Origin>>);

impl Origins {
    /// Origins by name.
    pub fn new(all: impl IntoIterator<Item = (String, Origin)>) -> Origins {
        Origins(Arc::new(all.into_iter().collect()))
    }

    /// The origin of a method.
    pub fn get(&self, name: &str) -> Option<&Origin> {
        self.0.get(name)
    }

    /// As [`Origin::path`].
    pub fn path(&self, name: &str) -> Option<(String, u32)> {
        self.get(name)?.path(name)
    }

    /// Adds those of another model; what is known already stays.
    pub(crate) fn merge(&mut self, other: &Origins) {
        if self.0.is_empty() {
            *self = other.clone();
        } else if !Arc::ptr_eq(&self.0, &other.0) && !other.0.is_empty() {
            let all = Arc::make_mut(&mut self.0);
            for (name, origin) in other.0.iter() {
                all.entry(name.clone()).or_insert_with(|| origin.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Arcflow;

    #[test]
    fn a_path_has_the_package() {
        let mut model = Arcflow::new(Vec::new());
        let names = ["p.q.Shop$Item.<init>(I)V", "Top.f()V", "p.X.g()V"];
        for name in names {
            model.consumer(name);
        }
        let origin = |line| Origin { file: "Shop.java".into(), line, ..Origin::default() };
        let all = [
            (names[0], origin(7)),
            (names[1], origin(0)),
            (names[2], Origin::default()),
            ("gone()V", origin(1)),
        ];
        let origins = model.origins_of(all.map(|(name, origin)| (name.to_owned(), origin)));
        assert_eq!(origins.path(names[0]), Some(("p/q/Shop.java".into(), 7)));
        assert_eq!(origins.path(names[1]), Some(("Shop.java".into(), 0)));
        assert_eq!(origins.path(names[2]), None);
        assert_eq!(origins.get("gone()V"), None);
    }
}
