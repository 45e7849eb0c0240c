//! Records of the format, HPROF 1.0.2 with ids of 8 bytes (`hprof_b_spec.h` of the JDK's demo agent; HotSpot's heapDumper.cpp).
//!
//! Everything is big endian.

use super::output::Output;
use crate::jvmti::heap::PrimitiveType;
use std::collections::HashMap;

pub(super) const UTF8: u8 = 0x01;
pub(super) const LOAD_CLASS: u8 = 0x02;
pub(super) const STACK_FRAME: u8 = 0x04;
pub(super) const STACK_TRACE: u8 = 0x05;
pub(super) const HEAP_DUMP_SEGMENT: u8 = 0x1C;
pub(super) const HEAP_DUMP_END: u8 = 0x2C;

pub(super) const ROOT_UNKNOWN: u8 = 0xFF;
pub(super) const ROOT_JNI_GLOBAL: u8 = 0x01;
pub(super) const ROOT_JNI_LOCAL: u8 = 0x02;
pub(super) const ROOT_JAVA_FRAME: u8 = 0x03;
pub(super) const ROOT_STICKY_CLASS: u8 = 0x05;
pub(super) const ROOT_MONITOR_USED: u8 = 0x07;
pub(super) const ROOT_THREAD_OBJECT: u8 = 0x08;
pub(super) const CLASS_DUMP: u8 = 0x20;
pub(super) const INSTANCE_DUMP: u8 = 0x21;
pub(super) const OBJECT_ARRAY_DUMP: u8 = 0x22;
pub(super) const PRIMITIVE_ARRAY_DUMP: u8 = 0x23;

/// Type of a field that is a reference.
pub(super) const REFERENCE: u8 = 2;
/// Bytes of a reference.
pub(super) const ID_SIZE: usize = 8;
/// The stack trace without frames: that of everything whose trace is not known.
pub(super) const NO_TRACE: u32 = 1;

/// Type of a field or element.
pub(super) fn type_of(kind: PrimitiveType) -> u8 {
    match kind {
        PrimitiveType::Boolean => 4,
        PrimitiveType::Char => 5,
        PrimitiveType::Float => 6,
        PrimitiveType::Double => 7,
        PrimitiveType::Byte => 8,
        PrimitiveType::Short => 9,
        PrimitiveType::Int => 10,
        PrimitiveType::Long => 11,
    }
}

/// Head of a record: its kind, no time, and the length of its body.
pub(super) fn head(tag: u8, length: u32) -> [u8; 9] {
    let mut head = [0; 9];
    head[0] = tag;
    head[5..].copy_from_slice(&length.to_be_bytes());
    head
}

/// Copies a value from memory's order.
pub(super) fn copy_value(value: &[u8], to: &mut [u8]) {
    to.copy_from_slice(value);
    if cfg!(target_endian = "little") {
        to.reverse();
    }
}

/// Body of a record, put together.
#[derive(Debug, Default)]
pub(super) struct Body(pub(super) Vec<u8>);

impl Body {
    pub(super) fn u1(mut self, value: u8) -> Body {
        self.0.push(value);
        self
    }

    pub(super) fn u2(mut self, value: u16) -> Body {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(super) fn u4(mut self, value: u32) -> Body {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(super) fn u8(mut self, value: u64) -> Body {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }
}

/// Begins the file.
pub(super) fn begin(output: &mut Output) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    output.put(b"JAVA PROFILE 1.0.2\0");
    output.put(&Body::default().u4(ID_SIZE as u32).u8(now.as_millis() as u64).0);
}

/// The texts of the file, each written once.
#[derive(Debug, Default)]
pub(super) struct Texts(HashMap<Vec<u8>, u64>);

impl Texts {
    /// The id of a text; it is written if it is new.
    pub(super) fn id(&mut self, text: &[u8], output: &mut Output) -> u64 {
        if let Some(id) = self.0.get(text) {
            return *id;
        }
        let id = self.0.len() as u64 + 1;
        let mut body = Body::default().u8(id);
        body.0.extend_from_slice(text);
        output.record(UTF8, &body.0);
        self.0.insert(text.to_vec(), id);
        id
    }
}
