//! Looks at a class before it is rewritten: its names, and for every method what the id map keeps.

use crate::class_file::instruction::{Switch, u2};
use crate::class_file::opcode::{self, INFO, Operands};
use crate::class_file::{ClassFile, CodeAttribute, ConstantPool, Tag, member};
use crate::code::{Reason, may_have_code, refusal};
use crate::error::ClassError;
use instrument_names::id_map::MethodInfo;

/// A stretch of the class file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    length: u16,
}

/// A method.
#[derive(Debug, Clone, Copy)]
pub struct MethodSurvey {
    /// Position in the class's method table.
    pub index: u16,
    /// `access_flags`.
    pub access_flags: u16,
    /// The lowest line of its LineNumberTable; 0 without one.
    pub line: u16,
    /// See [`fingerprint`](Survey).
    pub fingerprint: u64,
    /// Whether it has code: it is neither abstract nor native.
    pub has_code: bool,
    name: Span,
    descriptor: Span,
}

/// What is known about a class.
///
/// The fingerprint of a method is a 64-bit hash of its instructions with their constants resolved, so that
/// it changes with the code but not with the numbering of the constant pool.
#[derive(Debug, Clone)]
pub struct Survey {
    name: Span,
    source: Option<Span>,
    /// All methods, in the order of the class.
    pub methods: Vec<MethodSurvey>,
    /// Why the class as a whole will be left as it is.
    pub refusal: Option<Reason>,
}

/// Memory that is used for one class after the other.
#[derive(Debug, Default)]
pub struct SurveyBuffers {
    offsets: Vec<u32>,
    constants: Vec<u64>,
}

impl Survey {
    /// Walks the whole class once.
    ///
    /// # Errors
    /// The bytes are no complete class file.
    pub fn of(bytes: &[u8], buffers: &mut SurveyBuffers) -> Result<Self, ClassError> {
        let offsets = std::mem::take(&mut buffers.offsets);
        let (survey, class) = Self::parse(bytes, offsets, &mut buffers.constants)?;
        buffers.offsets = class.pool.into_buffer();
        Ok(survey)
    }

    /// The same, with the class file that the walk made.
    pub(crate) fn parse<'a>(
        bytes: &'a [u8],
        offsets: Vec<u32>,
        constants: &mut Vec<u64>,
    ) -> Result<(Self, ClassFile<'a>), ClassError> {
        let class = ClassFile::parse_head(bytes, offsets)?;
        let span = |text: &[u8]| Span {
            start: (text.as_ptr() as usize - bytes.as_ptr() as usize) as u32,
            length: text.len() as u16,
        };
        let mut methods = Vec::new();
        let mut walk = class.methods();
        let mut constants = Constants::new(&class.pool, constants);
        let mut index = 0u16;
        while let Some(mut method) = walk.open()? {
            let mut code = None;
            while let Some(attribute) = method.attributes.next()? {
                if code.is_none() && class.pool.utf8_or_empty(attribute.name_index) == b"Code" {
                    code = Some(CodeAttribute::parse(&attribute).ok());
                }
            }
            walk.close(method.attributes.position());
            let has_code = code.is_some() && may_have_code(method.access_flags);
            let code = code.flatten().filter(|_| has_code);
            methods.push(MethodSurvey {
                index,
                access_flags: method.access_flags,
                line: code.as_ref().map_or(0, |code| first_line(code, &class.pool)),
                fingerprint: code.map_or(0, |code| constants.fingerprint(code.code)),
                has_code,
                name: span(class.pool.utf8(method.name_index)?),
                descriptor: span(class.pool.utf8(method.descriptor_index)?),
            });
            index = index.wrapping_add(1);
        }
        let class = class.finish(walk.position())?;
        let source = member::find_attribute(class.attributes(), &class.pool, b"SourceFile")?
            .filter(|attribute| attribute.info.len() == 2)
            .and_then(|attribute| class.pool.utf8(u2(attribute.info, 0)).ok())
            .map(span);
        let refusal = refusal(&class);
        let survey = Self { name: span(class.name()?), source, methods, refusal };
        Ok((survey, class))
    }

    /// Internal name of the class; `class` is the file that was surveyed.
    pub fn name<'a>(&self, class: &'a [u8]) -> &'a [u8] {
        self.name.of(class)
    }

    /// SourceFile (JVMS 4.7.10).
    pub fn source<'a>(&self, class: &'a [u8]) -> Option<&'a [u8]> {
        self.source.map(|source| source.of(class))
    }
}

impl MethodSurvey {
    /// Unqualified name; `class` is the file that was surveyed.
    pub fn name<'a>(&self, class: &'a [u8]) -> &'a [u8] {
        self.name.of(class)
    }

    /// Whether it is native.
    pub fn is_native(&self) -> bool {
        const ACC_NATIVE: u16 = 0x0100;
        self.access_flags & ACC_NATIVE != 0
    }

    /// Descriptor.
    pub fn descriptor<'a>(&self, class: &'a [u8]) -> &'a [u8] {
        self.descriptor.of(class)
    }

    /// What the id map keeps.
    pub fn info<'a>(&self, class: &'a [u8]) -> MethodInfo<'a> {
        MethodInfo {
            name: self.name(class),
            descriptor: self.descriptor(class),
            line: u32::from(self.line),
            flags: u32::from(self.access_flags),
            fingerprint: self.fingerprint,
        }
    }
}

impl Span {
    fn of(self, bytes: &[u8]) -> &[u8] {
        let start = self.start as usize;
        // Empty, if the caller gives another class than the one that was surveyed.
        bytes.get(start..start + usize::from(self.length)).unwrap_or_default()
    }
}

fn first_line(code: &CodeAttribute<'_>, pool: &ConstantPool<'_>) -> u16 {
    let mut attributes = code.attributes.clone();
    let mut first = None;
    while let Ok(Some(attribute)) = attributes.next() {
        if pool.utf8_or_empty(attribute.name_index) == b"LineNumberTable" && attribute.info.len() >= 2 {
            let lines = attribute.info[2..].chunks_exact(4).map(|row| u2(row, 2));
            first = lines.chain(first).min();
        }
    }
    first.unwrap_or(0)
}

/// Hashes of constants by content; 0 = not yet computed.
struct Constants<'a> {
    pool: &'a ConstantPool<'a>,
    known: &'a mut Vec<u64>,
}

/// Multiplies and folds: the fingerprint's mixing step. Part of the id map's format.
fn mix(hash: u64, value: u64) -> u64 {
    let product = u128::from(hash ^ value ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (product as u64) ^ ((product >> 64) as u64)
}

fn mix_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    hash = mix(hash, bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    hash
}

impl<'a> Constants<'a> {
    fn new(pool: &'a ConstantPool<'a>, known: &'a mut Vec<u64>) -> Self {
        known.clear();
        known.resize(usize::from(pool.count()), 0);
        Self { pool, known }
    }

    fn hash(&mut self, index: u16) -> u64 {
        match self.known.get(usize::from(index)) {
            Some(0) => {
                let hash = self.compute(index).unwrap_or(1).max(1);
                self.known[usize::from(index)] = hash;
                hash
            }
            Some(hash) => *hash,
            None => 1,
        }
    }

    fn compute(&mut self, index: u16) -> Option<u64> {
        let pool = self.pool;
        let tag = pool.tag(index)?;
        let seed = tag as u64;
        Some(match tag {
            Tag::Utf8 => mix_bytes(seed, pool.utf8(index).ok()?),
            Tag::Integer | Tag::Float => mix(seed, u64::from(pool.four_bytes(index, tag).ok()?)),
            Tag::Long | Tag::Double => mix(seed, pool.eight_bytes(index, tag).ok()?),
            Tag::Class | Tag::String | Tag::MethodType | Tag::Module | Tag::Package => {
                mix_bytes(seed, pool.utf8(pool.single(index, tag).ok()?).ok()?)
            }
            Tag::Fieldref | Tag::Methodref | Tag::InterfaceMethodref => {
                let member = pool.member_ref(index).ok()?;
                [member.class, member.name, member.descriptor].iter().fold(seed, |h, part| mix_bytes(h, part))
            }
            Tag::NameAndType | Tag::Dynamic | Tag::InvokeDynamic => {
                let (name, descriptor) = match tag {
                    Tag::NameAndType => pool.name_and_type(index).ok()?,
                    _ => pool.referenced_name_and_type(index).ok()?,
                };
                mix_bytes(mix_bytes(seed, name), descriptor)
            }
            Tag::MethodHandle => {
                let (kind, reference) = pool.method_handle(index).ok()?;
                let member = pool.member_ref(reference).ok()?;
                let parts = [member.class, member.name, member.descriptor];
                parts.iter().fold(mix(seed, u64::from(kind)), |h, part| mix_bytes(h, part))
            }
        })
    }

    /// `ldc` and `ldc_w` count as one, and the padding of switches does not count: both depend on numbering
    /// and position. Code that cannot be decoded is hashed up to there.
    fn fingerprint(&mut self, code: &[u8]) -> u64 {
        let mut hash = code.len() as u64;
        let mut pc = 0;
        while pc < code.len() {
            let op = code[pc];
            let length = match INFO[usize::from(op)].length {
                0 => match crate::class_file::instruction::length_at(code, pc) {
                    Ok(length) => length,
                    Err(_) => break,
                },
                length => usize::from(length),
            };
            let Some(bytes) = code.get(pc..pc + length) else { break };
            hash = match opcode::OPERANDS[usize::from(op)] {
                Operands::None => mix(hash, u64::from(op)),
                Operands::Constant1 => mix(mix(hash, u64::from(op)), self.hash(u16::from(bytes[1]))),
                Operands::Constant2
                | Operands::InvokeInterface
                | Operands::InvokeDynamic
                | Operands::MultiArray => {
                    let op = if op == opcode::LDC_W { opcode::LDC } else { op };
                    let rest =
                        bytes[3..].iter().fold(u64::from(op), |word, byte| word << 8 | u64::from(*byte));
                    mix(mix(hash, rest), self.hash(u2(bytes, 1)))
                }
                Operands::TableSwitch | Operands::LookupSwitch => match Switch::at(code, pc) {
                    Some(switch) => mix_bytes(mix(hash, u64::from(op)), &code[switch.words..switch.end]),
                    None => break,
                },
                _ => mix(hash, bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))),
            };
            pc += length;
        }
        hash
    }
}
