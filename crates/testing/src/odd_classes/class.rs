//! The class around what is odd.

use super::pool::Pool;

/// From this version on the method has a frame.
const FIRST_WITH_FRAMES: u16 = 50;

/// Where an attribute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Class,
    StaticField,
    Field,
    Method,
    AbstractMethod,
    Code,
    Component,
}

impl Place {
    pub(super) const ALL: [Self; 7] = [
        Self::Class,
        Self::StaticField,
        Self::Field,
        Self::Method,
        Self::AbstractMethod,
        Self::Code,
        Self::Component,
    ];
}

/// `abstract class Odd { static final int s; int f; static int m(Object o) { return o == null ? 2 : 1; } abstract void
/// a(); }`, and attributes.
pub(super) struct Class {
    pub(super) version: u16,
    pub(super) pool: Pool,
    /// Name and content of more attributes.
    pub(super) attributes: Vec<(Place, u16, Vec<u8>)>,
    /// The code of `m`, instead of its own.
    pub(super) code: Option<Code>,
}

/// The code of a method that takes an object and returns an int.
#[derive(Clone)]
pub(super) struct Code {
    pub(super) max_stack: u16,
    pub(super) bytes: Vec<u8>,
    /// Rows of the exception table.
    pub(super) handlers: Vec<[u16; 4]>,
    /// The content of the StackMapTable.
    pub(super) frames: Option<Vec<u8>>,
}

/// `aload_0; ifnull 6; iconst_1; ireturn; 6: iconst_2; ireturn`
pub(super) const CODE: [u8; 8] = [0x2a, 0xc6, 0, 5, 4, 0xac, 5, 0xac];
/// `same_frame` at 6.
const FRAMES: [u8; 3] = [0, 1, 6];

impl Class {
    pub(super) fn new(version: u16) -> Self {
        Self::with_pool(version, &Pool::default())
    }

    pub(super) fn with_pool(version: u16, pool: &Pool) -> Self {
        Self { version, pool: pool.clone(), attributes: Vec::new(), code: None }
    }

    fn has(&mut self, name: &str) -> bool {
        let name = self.pool.utf8(name);
        self.attributes.iter().any(|(place, of, _)| *place == Place::Code && *of == name)
    }

    /// The attributes of a place, behind `more`.
    fn attributes(&mut self, place: Place, mut more: Vec<(u16, Vec<u8>)>) -> Vec<u8> {
        more.extend(self.attributes.iter().filter(|of| of.0 == place).map(|of| (of.1, of.2.clone())));
        let mut out = (more.len() as u16).to_be_bytes().to_vec();
        for (name, content) in more {
            out.extend(name.to_be_bytes());
            out.extend((content.len() as u32).to_be_bytes());
            out.extend(content);
        }
        out
    }

    fn member(&mut self, flags: u16, name: &str, descriptor: &str) -> Vec<u8> {
        [flags, self.pool.utf8(name), self.pool.utf8(descriptor)].map(u16::to_be_bytes).concat()
    }

    fn code(&mut self) -> Vec<u8> {
        let has_frames = self.version >= FIRST_WITH_FRAMES && !self.has("StackMapTable");
        let own = Code { max_stack: 2, bytes: CODE.to_vec(), handlers: Vec::new(), frames: None };
        let code = self.code.take().unwrap_or(Code { frames: has_frames.then(|| FRAMES.to_vec()), ..own });
        let mut out = [code.max_stack, 2].map(u16::to_be_bytes).concat();
        out.extend((code.bytes.len() as u32).to_be_bytes());
        out.extend(code.bytes);
        out.extend((code.handlers.len() as u16).to_be_bytes());
        out.extend(code.handlers.iter().flatten().flat_map(|item| item.to_be_bytes()));
        let frames = code.frames.map(|frames| (self.pool.utf8("StackMapTable"), frames));
        out.extend(self.attributes(Place::Code, frames.into_iter().collect()));
        out
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        // Public, super, abstract.
        let mut body = [0x421, self.pool.class("Odd"), self.pool.class("java/lang/Object"), 0, 2]
            .map(u16::to_be_bytes)
            .concat();
        body.extend(self.member(0x18, "s", "I"));
        body.extend(self.attributes(Place::StaticField, Vec::new()));
        body.extend(self.member(0, "f", "I"));
        body.extend(self.attributes(Place::Field, Vec::new()));
        body.extend(2u16.to_be_bytes());
        body.extend(self.member(0x9, "m", "(Ljava/lang/Object;)I"));
        let code = (self.pool.utf8("Code"), self.code());
        body.extend(self.attributes(Place::Method, vec![code]));
        body.extend(self.member(0x401, "a", "()V"));
        body.extend(self.attributes(Place::AbstractMethod, Vec::new()));
        let mut record = Vec::new();
        if self.attributes.iter().any(|of| of.0 == Place::Component) {
            let mut content = [1, self.pool.utf8("c"), self.pool.utf8("I")].map(u16::to_be_bytes).concat();
            content.extend(self.attributes(Place::Component, Vec::new()));
            record.push((self.pool.utf8("Record"), content));
        }
        body.extend(self.attributes(Place::Class, record));
        let minor = if self.version == 45 { 3 } else { 0 };
        let mut all = vec![0xca, 0xfe, 0xba, 0xbe];
        all.extend([minor, self.version].map(u16::to_be_bytes).concat());
        all.extend(self.pool.finish());
        all.extend(body);
        all
    }
}
