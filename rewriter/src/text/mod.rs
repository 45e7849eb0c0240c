//! The disassembler: a class as stable, readable text, and differences between two such texts.
//!
//! The text never fails on a class that [`ClassFile::parse`](crate::class_file::ClassFile::parse)
//! accepts: a broken part is printed as what it is, with the reason. A line without indentation opens a
//! section: the class itself, the constant pool, each field, each method. Names are internal names and
//! descriptors, escaped so that a terminal takes no harm and so that different bytes never look alike.
//!
//! There are two forms. The listing is for reading one class: offsets in the code array (pc), frames in
//! the form that they were written in. The canonical form is for comparing: labels instead of offsets,
//! attributes sorted by name, nothing that depends on the numbering of the constant pool.

mod annotation;
mod attribute;
mod code;
mod constant;
mod diff;
mod flags;
mod frame;
mod module;
mod pool;
mod printer;

use crate::class_file::ClassFile;
pub use diff::{ChangeKind, SectionChange, changes, diff};
pub use flags::{FlagsOf, flag_names};

use printer::Printer;

/// What is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintOptions {
    /// The canonical form instead of the listing (see the module's documentation).
    pub canonical: bool,
    /// The constant pool, and the BootstrapMethods table in the canonical form.
    pub pool: bool,
    /// Constant-pool indices, offsets in the class file, bytes, and the exact form of everything that
    /// the canonical form would unify.
    pub raw: bool,
    /// LineNumberTable.
    pub lines: bool,
    /// StackMapTable, and the StackMap of CLDC.
    pub frames: bool,
    /// LocalVariableTable and LocalVariableTypeTable.
    pub locals: bool,
    /// SourceFile and SourceDebugExtension.
    pub source: bool,
    /// Printing stops at this many bytes of text and 16 more for each byte of the class: two bytes of a
    /// class may name a constant of 65,535 bytes, so that a hostile class of a megabyte could print as
    /// gigabytes. A last line says that it stopped.
    pub limit: usize,
}

/// The default of [`PrintOptions::limit`]: 16 MiB.
pub const DEFAULT_LIMIT: usize = 16 << 20;

/// The last line of a text that reached [`PrintOptions::limit`].
pub const CUT: &str = "text cut: limit reached";

impl PrintOptions {
    /// The listing of everything but indices and bytes.
    pub fn listing() -> Self {
        Self {
            canonical: false,
            pool: true,
            raw: false,
            lines: true,
            frames: true,
            locals: true,
            source: true,
            limit: DEFAULT_LIMIT,
        }
    }

    /// The canonical form, in which two classes are compared.
    pub fn canonical() -> Self {
        Self { canonical: true, pool: false, ..Self::listing() }
    }
}

/// Prints a class.
pub fn print_class(class: &ClassFile<'_>, options: &PrintOptions) -> String {
    let mut printer = Printer::new(class, options);
    printer.class();
    printer.finish()
}

/// A part of a printed class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'t> {
    /// The first line: `class com/acme/Foo`, `constant pool`, `field x:I`, `method run:()V`.
    pub title: &'t str,
    /// The lines behind the title, with their line breaks.
    pub body: &'t str,
}

impl Section<'_> {
    /// Name and descriptor of the method (`run:()V`) whose section this is.
    pub fn method(&self) -> Option<&str> {
        self.title.strip_prefix("method ")
    }
}

/// The sections of a printed class, in order.
pub fn sections(text: &str) -> impl Iterator<Item = Section<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (title, tail) = rest.split_once('\n').unwrap_or((rest, ""));
        let mut end = 0;
        while let Some(line) = tail[end..].split_inclusive('\n').next() {
            if !line.starts_with([' ', '\n']) {
                break;
            }
            end += line.len();
        }
        rest = &tail[end..];
        Some(Section { title, body: &tail[..end] })
    })
}
