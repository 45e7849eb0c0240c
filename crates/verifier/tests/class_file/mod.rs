//! Class files as tests need them: constants are appended as they are needed, nothing is checked.

#![allow(dead_code, reason = "each test uses its part")]

use instrument_verifier::hierarchy::{ClassPath, Summary};
use std::collections::HashMap;
use std::sync::Arc;

/// A member in `fields` or `methods`: its flags, name and descriptor; a method's code.
pub(crate) type Member<'m> = (u16, &'m str, &'m str, Option<Code>);

/// The code of a method.
#[derive(Clone, Default)]
pub(crate) struct Code {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) bytes: Vec<u8>,
    /// Rows of the exception table.
    pub(crate) handlers: Vec<[u16; 4]>,
    /// The content of the StackMapTable.
    pub(crate) frames: Option<Vec<u8>>,
}

/// A class file that grows.
pub(crate) struct ClassFile {
    pub(crate) major: u16,
    pub(crate) flags: u16,
    pub(crate) interfaces: Vec<[u8; 2]>,
    /// Attributes of the class.
    pub(crate) attributes: Vec<([u8; 2], Vec<u8>)>,
    constants: Vec<u8>,
    count: u16,
}

impl ClassFile {
    /// Public, super.
    pub(crate) fn new(major: u16) -> Self {
        let (interfaces, attributes) = (Vec::new(), Vec::new());
        Self { major, flags: 0x21, interfaces, attributes, constants: Vec::new(), count: 1 }
    }

    pub(crate) fn add(&mut self, constant: &[u8]) -> [u8; 2] {
        self.constants.extend(constant);
        let index = self.count.to_be_bytes();
        self.count += if matches!(constant[0], 5 | 6) { 2 } else { 1 };
        index
    }

    pub(crate) fn utf8(&mut self, text: &str) -> [u8; 2] {
        self.add(&[&[1][..], &(text.len() as u16).to_be_bytes(), text.as_bytes()].concat())
    }

    pub(crate) fn class(&mut self, name: &str) -> [u8; 2] {
        let name = self.utf8(name);
        self.add(&[&[7][..], &name].concat())
    }

    /// A Fieldref (9), Methodref (10) or InterfaceMethodref (11).
    pub(crate) fn member(&mut self, tag: u8, [class, name, descriptor]: [&str; 3]) -> [u8; 2] {
        let class = self.class(class);
        let pair = [self.utf8(name), self.utf8(descriptor)].concat();
        let pair = self.add(&[&[12][..], &pair].concat());
        self.add(&[&[tag][..], &class, &pair].concat())
    }

    fn attribute(&mut self, name: &str, content: &[u8]) -> Vec<u8> {
        [&self.utf8(name)[..], &(content.len() as u32).to_be_bytes(), content].concat()
    }

    fn members(&mut self, members: &[Member<'_>]) -> Vec<u8> {
        let mut out = (members.len() as u16).to_be_bytes().to_vec();
        for (flags, name, descriptor, code) in members {
            out.extend([flags.to_be_bytes(), self.utf8(name), self.utf8(descriptor)].concat());
            out.extend([0, u8::from(code.is_some())]);
            let Some(code) = code else { continue };
            let mut content = [code.max_stack, code.max_locals].map(u16::to_be_bytes).concat();
            content.extend((code.bytes.len() as u32).to_be_bytes());
            content.extend(&code.bytes);
            content.extend((code.handlers.len() as u16).to_be_bytes());
            content.extend(code.handlers.iter().flatten().flat_map(|item| item.to_be_bytes()));
            content.extend([0, u8::from(code.frames.is_some())]);
            if let Some(frames) = &code.frames {
                content.extend(self.attribute("StackMapTable", frames));
            }
            out.extend(self.attribute("Code", &content));
        }
        out
    }

    /// The bytes. `above`: the superclass, if it has one.
    pub(crate) fn finish(
        mut self,
        name: &str,
        above: Option<&str>,
        fields: &[Member<'_>],
        methods: &[Member<'_>],
    ) -> Vec<u8> {
        let (this, above) = (self.class(name), above.map_or([0; 2], |above| self.class(above)));
        let (fields, methods) = (self.members(fields), self.members(methods));
        let mut attributes = (self.attributes.len() as u16).to_be_bytes().to_vec();
        for (name, content) in &self.attributes {
            attributes.extend([&name[..], &(content.len() as u32).to_be_bytes(), content].concat());
        }
        [
            &[0xca, 0xfe, 0xba, 0xbe, 0, 0][..],
            &self.major.to_be_bytes(),
            &self.count.to_be_bytes(),
            &self.constants,
            &self.flags.to_be_bytes(),
            &this,
            &above,
            &(self.interfaces.len() as u16).to_be_bytes(),
            &self.interfaces.concat(),
            &fields,
            &methods,
            &attributes,
        ]
        .concat()
    }
}

const PUBLIC: u16 = 1;
const FINAL: u16 = 0x10;
const INTERFACE: u16 = 0x600;

/// Classes of the JDK that many classes name, and those that a test adds.
#[derive(Default)]
pub(crate) struct Few(HashMap<Vec<u8>, Arc<Summary>>);

impl Few {
    pub(crate) fn new() -> Self {
        let mut few = Self::default();
        let object = Some("java/lang/Object");
        for (name, above, flags) in [
            ("java/lang/Object", None, PUBLIC),
            ("java/lang/String", object, PUBLIC | FINAL),
            ("java/lang/Class", object, PUBLIC | FINAL),
            ("java/lang/Enum", object, PUBLIC),
            ("java/lang/Record", object, PUBLIC),
            ("java/lang/Number", object, PUBLIC),
            ("java/lang/Integer", Some("java/lang/Number"), PUBLIC | FINAL),
            ("java/lang/StringBuilder", object, PUBLIC | FINAL),
            ("java/lang/Thread", object, PUBLIC),
            ("java/lang/Throwable", object, PUBLIC),
            ("java/lang/Error", Some("java/lang/Throwable"), PUBLIC),
            ("java/lang/Exception", Some("java/lang/Throwable"), PUBLIC),
            ("java/lang/RuntimeException", Some("java/lang/Exception"), PUBLIC),
            ("java/lang/IllegalStateException", Some("java/lang/RuntimeException"), PUBLIC),
            ("java/io/PrintStream", object, PUBLIC),
            ("java/lang/Runnable", object, PUBLIC | INTERFACE),
            ("java/lang/Comparable", object, PUBLIC | INTERFACE),
            ("java/lang/Cloneable", object, PUBLIC | INTERFACE),
            ("java/io/Serializable", object, PUBLIC | INTERFACE),
        ] {
            let mut file = ClassFile::new(52);
            file.flags = flags;
            let clone = [(4, "clone", "()Ljava/lang/Object;", None), (4, "finalize", "()V", None)];
            let methods = if above.is_none() { &clone[..] } else { &[] };
            few.add(&file.finish(name, above, &[], methods));
        }
        few
    }

    /// Adds a class, unless there is one of its name.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if let Some(class) = Summary::parse(bytes) {
            self.0.entry(class.name.to_vec()).or_insert(Arc::new(class));
        }
    }
}

impl ClassPath for Few {
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
        self.0.get(name).cloned()
    }
}
