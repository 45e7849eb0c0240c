//! What a walk over a class file found, without its bytes, so that whoever gets them again need not walk again.

use super::ClassFile;

/// A [`ClassFile`] without its bytes.
#[derive(Debug)]
pub(crate) struct Structure {
    class: ClassFile<'static>,
    length: usize,
}

impl Structure {
    /// Of a class file that was walked to its end.
    pub(crate) fn of(class: ClassFile<'_>) -> Self {
        let length = class.bytes.len();
        Self { class: over(class, &[]), length }
    }

    /// The class file with its bytes again; `None` if it was a file of another length.
    pub(crate) fn with(self, bytes: &[u8]) -> Option<ClassFile<'_>> {
        (self.length == bytes.len()).then(|| over(self.class, bytes))
    }
}

fn over<'a>(class: ClassFile<'_>, bytes: &'a [u8]) -> ClassFile<'a> {
    ClassFile {
        bytes,
        pool: class.pool.over(bytes),
        minor_version: class.minor_version,
        major_version: class.major_version,
        access_flags: class.access_flags,
        this_class: class.this_class,
        super_class: class.super_class,
        interfaces: class.interfaces,
        interfaces_count: class.interfaces_count,
        fields: class.fields,
        fields_count: class.fields_count,
        methods: class.methods,
        methods_count: class.methods_count,
        attributes: class.attributes,
        attributes_count: class.attributes_count,
    }
}
