//! The classes of a JDK that make and serve remote calls, rewritten: for `instrument jdk-patch`, and for jars with a
//! launcher agent. In the modules below, all that `instrument jdk` makes of a JDK.

#[cfg(unix)]
pub mod home;
#[cfg(unix)]
pub mod image;
#[cfg(unix)]
pub mod start;

use anyhow::{Context, Result, anyhow, bail};
use instrument_names::mutf8;
use instrument_rewriter::class_file::{ClassFile, find_attribute};
use instrument_rewriter::rewrite::rmi_internals;
use instrument_rewriter::transform::rmi;
use instrument_verifier::image::Image;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The oldest version whose classes are known to be as the rewriter expects them.
const OLDEST: u32 = 9;

/// What a JDK has for remote calls.
#[derive(Debug)]
pub struct Jdk {
    /// The system property `java.runtime.version` of its virtual machine: `17.0.15+6`.
    pub version: String,
    /// Every class that is needed; none is left out.
    pub classes: Vec<PatchedClass>,
}

/// A class of the JDK that tells of remote calls.
#[derive(Debug)]
pub struct PatchedClass {
    /// Internal name: `sun/rmi/transport/Transport`.
    pub name: &'static str,
    /// SHA-256 of its bytes in the JDK, in hexadecimal digits.
    pub digest: String,
    /// Its new bytes.
    pub bytes: Vec<u8>,
}

impl Jdk {
    /// Reads and rewrites the classes of the JDK, or of the runtime that `jlink` made, in a directory.
    ///
    /// # Errors
    /// There is none, it has no module java.rmi, or a class of it is not as expected.
    pub fn open(home: &Path) -> Result<Jdk> {
        let mut image = open_image(home)?;
        Jdk::read(|module, class| image.resource(module, &format!("{class}.class")))
            .with_context(|| image_of(home).display().to_string())
    }

    fn read(mut class: impl FnMut(&str, &str) -> Result<Option<Vec<u8>>>) -> Result<Jdk> {
        let properties =
            class("java.base", "java/lang/VersionProps")?.context("no class java.lang.VersionProps")?;
        let version = version(&properties).context("java.lang.VersionProps does not have the version")?;
        let mut classes = Vec::new();
        for name in rmi::internals() {
            let Some(original) = class(rmi::MODULE, name)? else {
                bail!(
                    "Java {version} has no class {} in the module {}: remote calls cannot be recorded in it",
                    name.replace('/', "."),
                    rmi::MODULE
                )
            };
            let bytes = rmi_internals::rewrite_internal(&original).map_err(|reason| {
                anyhow!(
                    "Java {version}: {} is not as expected ({}); supported and tested are 11, 17, 21 and 25",
                    name.replace('/', "."),
                    reason.as_str()
                )
            })?;
            classes.push(PatchedClass { name, digest: hex(&original), bytes });
        }
        let feature: Option<u32> =
            version.split(['.', '+', '-']).next().and_then(|feature| feature.parse().ok());
        if feature.is_none_or(|feature| feature < OLDEST) {
            bail!("Java {version} is not supported: Java {OLDEST} or later is needed");
        }
        Ok(Jdk { version, classes })
    }
}

fn image_of(home: &Path) -> PathBuf {
    home.join("lib/modules")
}

/// The module image of a JDK.
///
/// # Errors
/// There is none.
pub fn open_image(home: &Path) -> Result<Image<File>> {
    let path = image_of(home);
    let named = || path.display().to_string();
    let file = File::open(&path).map_err(|error| {
        let hint = if home.join("jre/lib/rt.jar").exists() || home.join("lib/rt.jar").exists() {
            "Java 8 has no modules; Java 9 or later is needed"
        } else {
            "this is not the home directory of a JDK: it is the directory that has bin/java in it"
        };
        anyhow!("{}: {error}; {hint}", named())
    })?;
    Image::open(file).with_context(named)
}

/// `java.runtime.version`, a constant of the class that defines it.
fn version(class: &[u8]) -> Option<String> {
    let class = ClassFile::parse(class).ok()?;
    let mut fields = class.fields();
    while let Some(field) = fields.next().ok()? {
        if field.name(&class.pool) == Ok(b"java_runtime_version") {
            let value = find_attribute(field.attributes(), &class.pool, b"ConstantValue").ok()??;
            let index = u16::from_be_bytes(value.info.try_into().ok()?);
            let text = class.pool.single(index, instrument_rewriter::class_file::Tag::String).ok()?;
            return class.pool.utf8(text).ok().map(mutf8::escape);
        }
    }
    None
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // A string grows.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
