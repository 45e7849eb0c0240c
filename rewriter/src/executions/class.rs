//! The methods of a class file with their lines and counts: what the counters of a recording are made into figures
//! with.

use super::Plan;
use crate::class_file::ClassFile;
use crate::class_file::CodeAttribute;
use crate::class_file::ConstantPool;
use crate::class_file::member::find_attribute;
use crate::code::code_scan::CodeScan;
use crate::error::ClassError;

const ACC_SYNTHETIC: u16 = 0x1000;

/// A class whose executions can be counted.
#[derive(Debug, Clone)]
pub struct Class {
    /// Internal name, modified UTF-8.
    pub name: Vec<u8>,
    /// `SourceFile`, modified UTF-8.
    pub source: Option<Vec<u8>>,
    /// Internal name of its superclass, modified UTF-8.
    pub super_name: Option<Vec<u8>>,
    /// Internal names of its interfaces, modified UTF-8.
    pub interfaces: Vec<Vec<u8>>,
    /// Its methods that have code.
    pub methods: Vec<Method>,
}

/// A method with code.
#[derive(Debug, Clone)]
pub struct Method {
    /// Modified UTF-8.
    pub name: Vec<u8>,
    /// Modified UTF-8.
    pub descriptor: Vec<u8>,
    /// A compiler has made it, and it is no body of a lambda: a bridge, an accessor.
    pub is_made_up: bool,
    /// Where lines start, by pc.
    pub lines: Vec<Line>,
    /// Its counters.
    pub plan: Plan,
    /// [`Plan::check`].
    pub check: u32,
}

/// A run of instructions of one line; it ends where the next one starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// pc of its first instruction.
    pub start: u32,
    /// Number of the line.
    pub line: u16,
}

impl Class {
    /// Reads a class file. Methods whose code cannot be decoded are left out.
    ///
    /// # Errors
    /// The bytes are no class file.
    pub fn read(bytes: &[u8]) -> Result<Class, ClassError> {
        let class = ClassFile::parse(bytes)?;
        let pool = &class.pool;
        let mut scan = CodeScan::default();
        let mut found = Vec::new();
        let mut methods = class.methods();
        while let Some(method) = methods.next()? {
            let Some(code) = method.code(pool)? else { continue };
            if scan.decode(code.code).is_err() {
                continue;
            }
            let lines = lines(&code, pool, &scan);
            let starts: Vec<u32> = lines.iter().map(|line| line.start).collect();
            let Ok(plan) = Plan::of(&code, pool, &scan, &starts) else { continue };
            let name = method.name(pool)?.to_vec();
            found.push(Method {
                is_made_up: method.access_flags & ACC_SYNTHETIC != 0 && !name.starts_with(b"lambda$"),
                name,
                descriptor: method.descriptor(pool)?.to_vec(),
                check: plan.check(code.code),
                lines,
                plan,
            });
        }
        let source = find_attribute(class.attributes(), pool, b"SourceFile")?;
        let source = source.and_then(|attribute| attribute.info.try_into().ok().map(u16::from_be_bytes));
        let name_of = |index: u16| pool.class_name(index).map(<[u8]>::to_vec);
        Ok(Class {
            name: class.name()?.to_vec(),
            source: source.and_then(|index| pool.utf8(index).ok()).map(<[u8]>::to_vec),
            super_name: class.super_name()?.map(<[u8]>::to_vec),
            interfaces: class.interfaces().map(name_of).collect::<Result<_, _>>()?,
            methods: found,
        })
    }
}

/// The runs of lines, ascending; rows that go on with the same line are no new run.
pub(crate) fn lines(code: &CodeAttribute<'_>, pool: &ConstantPool<'_>, scan: &CodeScan) -> Vec<Line> {
    let mut rows = Vec::new();
    let mut attributes = code.attributes.clone();
    while let Ok(Some(attribute)) = attributes.next() {
        if pool.utf8_or_empty(attribute.name_index) == b"LineNumberTable" {
            let body = attribute.info.get(2..).unwrap_or_default();
            let row = |row: &[u8]| Line {
                start: u32::from(u16::from_be_bytes([row[0], row[1]])),
                line: u16::from_be_bytes([row[2], row[3]]),
            };
            rows.extend(body.chunks_exact(4).map(row));
        }
    }
    rows.retain(|row| scan.is_instruction(row.start as usize));
    // Of several rows for one pc the last one counts.
    rows.sort_by_key(|row| row.start);
    let mut runs: Vec<Line> = Vec::new();
    for row in rows {
        if runs.last().is_some_and(|last| last.start == row.start) {
            runs.pop();
        }
        if runs.last().is_none_or(|last| last.line != row.line) {
            runs.push(row);
        }
    }
    runs
}
