//! Module descriptors (JVMS 4.7.25 Module, 4.7.26 ModulePackages): the two changes that let a modular jar reach
//! the runtime. Pool entries are appended, everything else but the one attribute stays.

use crate::class_file::member::find_attribute;
use crate::class_file::{Attribute, ClassFile, ConstantPool, Tag};

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

/// Adds `requires instrument.runtime` to Module. As [`add_package`] otherwise.
pub fn add_requires(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    const REQUIRES_COUNT: usize = 6;
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
    if names(pool, tag, name) {
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

fn names(pool: &ConstantPool<'_>, tag: Tag, name: &str) -> bool {
    pool.indices().any(|index| {
        pool.tag(index) == Some(tag)
            && pool.single(index, tag).and_then(|utf8| pool.utf8(utf8)) == Ok(name.as_bytes())
    })
}
