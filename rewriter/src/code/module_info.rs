//! Module descriptors (JVMS 4.7.25 Module, 4.7.26 ModulePackages): the changes that let a modular jar, or all modules
//! of a JDK, reach the runtime. Pool entries are appended, everything else but the one attribute stays.

use crate::class_file::member::find_attribute;
use crate::class_file::{Attribute, ClassFile, ConstantPool, Reader, Tag, mutf8};

/// The runtime's package, as the descriptor names packages.
pub const RUNTIME_PACKAGE: &str = "instrument/runtime";
/// The runtime's module, when it is one of its own.
pub const RUNTIME_MODULE: &str = "instrument.runtime";

/// Adds the runtime's package to ModulePackages. Appends nothing and returns false if the descriptor has no
/// such attribute (the module system then looks into the archive itself) or cannot be changed.
pub fn add_package(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(class) = ClassFile::parse(bytes) else { return false };
    let Ok(Some(attribute)) = find_attribute(class.attributes(), &class.pool, b"ModulePackages") else {
        return false;
    };
    // u2 package_count; u2 package_index[]
    append_to_table(&class, &attribute, 0, attribute.info.len(), Tag::Package, RUNTIME_PACKAGE, &[], out)
}

/// As [`add_package`], and exports the package to all modules.
pub fn add_exported_package(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let mut with_package = Vec::new();
    if !add_package(bytes, &mut with_package) {
        return false;
    }
    let exported = add_exports(&with_package);
    exported.map(|exported| out.extend(exported)).is_some()
}

/// Exports the runtime's package, which the module has.
fn add_exports(bytes: &[u8]) -> Option<Vec<u8>> {
    let class = ClassFile::parse(bytes).ok()?;
    let package = named(&class.pool, Tag::Package, RUNTIME_PACKAGE)?;
    let attribute = find_attribute(class.attributes(), &class.pool, b"Module").ok()??;
    let info = attribute.info;
    let mut reader = Reader::new(info, 0, "Module");
    reader.skip(REQUIRES_COUNT).ok()?;
    let requires = reader.u2().ok()?;
    reader.skip(6 * usize::from(requires)).ok()?;
    let count_at = reader.position();
    let count = reader.u2().ok()?;
    // Each row: u2 exports_index, u2 exports_flags, u2 exports_to_count, u2 exports_to_index[].
    for _ in 0..count {
        reader.skip(4).ok()?;
        let to = reader.u2().ok()?;
        reader.skip(2 * usize::from(to)).ok()?;
    }
    let end = reader.position();
    let mut out = bytes[..attribute.offset + 2].to_vec();
    out.extend((info.len() as u32 + 6).to_be_bytes());
    out.extend(&info[..count_at]);
    out.extend(count.checked_add(1)?.to_be_bytes());
    out.extend(&info[count_at + 2..end]);
    out.extend(package.to_be_bytes());
    out.extend([0; 4]);
    out.extend(&info[end..]);
    out.extend(&bytes[attribute.end()..]);
    Some(out)
}

/// Where `requires_count` stands in Module: behind name, flags and version.
const REQUIRES_COUNT: usize = 6;

/// Adds `requires instrument.runtime` to Module. As [`add_package`] otherwise.
pub fn add_requires(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(class) = ClassFile::parse(bytes) else { return false };
    let Ok(Some(attribute)) = find_attribute(class.attributes(), &class.pool, b"Module") else {
        return false;
    };
    let Some([a, b]) = attribute.info.get(REQUIRES_COUNT..REQUIRES_COUNT + 2) else { return false };
    // Each row: u2 requires_index, u2 requires_flags, u2 requires_version_index.
    let end = REQUIRES_COUNT + 2 + 6 * usize::from(u16::from_be_bytes([*a, *b]));
    let flags_and_version = [0; 4];
    append_to_table(
        &class,
        &attribute,
        REQUIRES_COUNT,
        end,
        Tag::Module,
        RUNTIME_MODULE,
        &flags_and_version,
        out,
    )
}

/// The hashes of the contents of other modules that a module records (`jar --hash-modules`): the JVM starts with none
/// of these that has another content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashes {
    /// Name of the module that records them.
    pub by: String,
    /// Names of the modules that have one.
    pub of: Vec<String>,
}

/// The name of a module; `None` if the class is no descriptor of one.
pub fn name(class: &ClassFile<'_>) -> Option<String> {
    let attribute = find_attribute(class.attributes(), &class.pool, b"Module").ok()??;
    let index = Reader::new(attribute.info, 0, "Module").u2().ok()?;
    module_name(&class.pool, index)
}

/// The hashes that a module records in ModuleHashes, if it does.
pub fn hashes(class: &ClassFile<'_>) -> Option<Hashes> {
    let attribute = find_attribute(class.attributes(), &class.pool, HASHES).ok()??;
    // u2 algorithm_index; u2 count; each row: u2 module_name_index, u2 length, u1 hash[].
    let mut reader = Reader::new(attribute.info, 0, "ModuleHashes");
    reader.skip(2).ok()?;
    let mut of = Vec::new();
    for _ in 0..reader.u2().ok()? {
        let (index, length) = (reader.u2().ok()?, reader.u2().ok()?);
        reader.skip(usize::from(length)).ok()?;
        of.extend(module_name(&class.pool, index));
    }
    Some(Hashes { by: name(class)?, of })
}

/// Takes ModuleHashes away. Appends nothing and returns false if there is none.
pub fn without_hashes(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(class) = ClassFile::parse(bytes) else { return false };
    let Ok(Some(attribute)) = find_attribute(class.attributes(), &class.pool, HASHES) else { return false };
    let all = class.attributes();
    let (count, first) = (all.len() as u16, all.position());
    out.extend_from_slice(&bytes[..first - 2]);
    out.extend_from_slice(&(count - 1).to_be_bytes());
    out.extend_from_slice(&bytes[first..attribute.offset]);
    out.extend_from_slice(&bytes[attribute.end()..]);
    true
}

const HASHES: &[u8] = b"ModuleHashes";

fn module_name(pool: &ConstantPool<'_>, index: u16) -> Option<String> {
    let name = pool.single(index, Tag::Module).and_then(|utf8| pool.utf8(utf8)).ok()?;
    Some(mutf8::escape(name))
}

/// Adds a row `index of a new entry (tag, name), rest` to the table whose count stands at `count_at` of the
/// attribute and whose last row ends at `end`.
#[allow(clippy::too_many_arguments, reason = "one edit, spelled out")]
fn append_to_table(
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
    count_at: usize,
    end: usize,
    tag: Tag,
    name: &str,
    rest: &[u8],
    out: &mut Vec<u8>,
) -> bool {
    let info = attribute.info;
    let (Some(&[a, b]), Some(tail)) = (info.get(count_at..count_at + 2), info.get(end..)) else {
        return false;
    };
    let Some(count) = u16::from_be_bytes([a, b]).checked_add(1) else { return false };
    let pool = &class.pool;
    if named(pool, tag, name).is_some() {
        return false;
    }
    let first = pool.count();
    let Some(new_count) = first.checked_add(2) else { return false };

    out.extend_from_slice(&class.bytes[..pool.start()]);
    out.extend_from_slice(&new_count.to_be_bytes());
    out.extend_from_slice(&class.bytes[pool.start() + 2..pool.end()]);
    out.push(Tag::Utf8 as u8);
    out.extend_from_slice(&(name.len() as u16).to_be_bytes());
    out.extend_from_slice(name.as_bytes());
    out.push(tag as u8);
    out.extend_from_slice(&first.to_be_bytes());
    out.extend_from_slice(&class.bytes[pool.end()..attribute.offset + 2]);
    let length = (info.len() + 2 + rest.len()) as u32;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&info[..count_at]);
    out.extend_from_slice(&count.to_be_bytes());
    out.extend_from_slice(&info[count_at + 2..end]);
    out.extend_from_slice(&(first + 1).to_be_bytes());
    out.extend_from_slice(rest);
    out.extend_from_slice(tail);
    out.extend_from_slice(&class.bytes[attribute.end()..]);
    true
}

/// The entry with this tag and name.
fn named(pool: &ConstantPool<'_>, tag: Tag, name: &str) -> Option<u16> {
    pool.indices().find(|&index| {
        pool.tag(index) == Some(tag)
            && pool.single(index, tag).and_then(|utf8| pool.utf8(utf8)) == Ok(name.as_bytes())
    })
}
