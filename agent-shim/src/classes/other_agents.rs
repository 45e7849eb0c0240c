//! What other agents of `java.lang.instrument` have brought: the jars that the class path was given beside those that the user has named.
//! Their classes are not the program's, whichever loader has them.

use crate::jvmti::{Global, Jni, Jvmti, Method, Object};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Which jars are whose.
pub(crate) struct OtherAgents {
    code_source: Method,
    location: Method,
    path: Method,
    /// What the class path has by now, of the virtual machine's own system loader.
    class_path: Global,
    urls: Method,
    /// What the user has put on the class path; the virtual machine adds agents to none but its own list of it.
    program: HashSet<PathBuf>,
    /// Where classes came from so far (paths as URLs have them), and whether that is an agent's.
    known: Mutex<HashMap<Vec<u8>, bool>>,
}

impl OtherAgents {
    /// None: the virtual machine has none of what this needs.
    pub(crate) fn new(jvmti: Jvmti<'_>, jni: Jni<'_>) -> Option<OtherAgents> {
        let method = |class: &str, name: &str, descriptor: &'static str| {
            let class = jni.find_class(class)?;
            let method = jni.method(&class, name, descriptor);
            jni.forget(class);
            method
        };
        let loader = jni.static_method(
            "java/lang/ClassLoader",
            "getBuiltinAppClassLoader",
            "()Ljava/lang/ClassLoader;",
        )?;
        let loader = jni.call_for_object(&loader)?;
        let class = jni.find_class("jdk/internal/loader/BuiltinClassLoader")?;
        let ucp = jvmti.declared_fields(&class).ok()?.into_iter().find(|field| field.name == b"ucp")?;
        jni.forget(class);
        let class_path = jni.promote(jni.object_field(&jni.object(&loader), ucp.id))?;
        jni.forget_global(loader);
        let property = jvmti.system_property("java.class.path").unwrap_or_default();
        Some(OtherAgents {
            code_source: method(
                "java/security/ProtectionDomain",
                "getCodeSource",
                "()Ljava/security/CodeSource;",
            )?,
            location: method("java/security/CodeSource", "getLocation", "()Ljava/net/URL;")?,
            path: method("java/net/URL", "getPath", "()Ljava/lang/String;")?,
            urls: method("jdk/internal/loader/URLClassPath", "getURLs", "()[Ljava/net/URL;")?,
            class_path,
            program: std::env::split_paths(&property).filter_map(real).collect(),
            known: Mutex::default(),
        })
    }

    /// Whether a class with this protection domain is an agent's.
    pub(crate) fn have(&self, jni: Jni<'_>, domain: &Object<'_>) -> bool {
        let Some(source) = jni.call_object(domain, &self.code_source) else { return false };
        let location = jni.call_object(&source, &self.location);
        jni.forget(source);
        let Some(path) = location.and_then(|location| self.path(jni, location)) else { return false };
        if let Some(&known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&path) {
            return known;
        }
        let is_agent = real(decoded(&path)).is_some_and(|file| {
            !self.program.contains(&file) && self.brought(jni).any(|other| real(&other) == Some(file.clone()))
        });
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(path, is_agent);
        is_agent
    }

    fn path(&self, jni: Jni<'_>, url: Object<'_>) -> Option<Vec<u8>> {
        let path = jni.call_object(&url, &self.path);
        jni.forget(url);
        let path = path?;
        let text = jni.text(&path);
        jni.forget(path);
        Some(text)
    }

    /// What is on the class path by now.
    fn brought(&self, jni: Jni<'_>) -> impl Iterator<Item = PathBuf> {
        let urls = jni.call_object(&jni.object(&self.class_path), &self.urls);
        let elements = urls.iter().flat_map(|urls| jni.elements(urls)).collect::<Vec<_>>();
        elements.into_iter().filter_map(move |url| Some(decoded(&self.path(jni, url)?)))
    }
}

/// A file by its one path; none: there is none.
fn real(path: impl AsRef<Path>) -> Option<PathBuf> {
    path.as_ref().canonicalize().ok()
}

/// The path of a URL as files have it.
fn decoded(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let [first, after @ ..] = rest {
        let hex =
            after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hex.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_urls_are_decoded() {
        assert_eq!(decoded(b"/a%20b/%C3%A4+%2fc"), PathBuf::from("/a b/\u{e4}+/c"));
        assert_eq!(decoded(b"/%zz%4"), PathBuf::from("/%zz%4"));
    }
}
