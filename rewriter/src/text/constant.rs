//! Constants, resolved: what an index of the constant pool stands for (JVMS 4.4).

use super::printer::{MAX_DEPTH, Printer};
use crate::class_file::{Reader, Tag, member};
use crate::error::ClassError;

/// The names of `reference_kind` 1 to 9 (JVMS table 5.4.3.5-A).
const REFERENCE_KINDS: [&str; 10] = [
    "<kind 0>",
    "REF_getField",
    "REF_getStatic",
    "REF_putField",
    "REF_putStatic",
    "REF_invokeVirtual",
    "REF_invokeStatic",
    "REF_invokeSpecial",
    "REF_newInvokeSpecial",
    "REF_invokeInterface",
];

impl<'a> Printer<'_, 'a> {
    /// A Class entry's name.
    pub(super) fn class_name(&mut self, index: u16) {
        match self.class.pool.class_name(index) {
            Ok(name) => self.name(name),
            Err(_) => self.bad(index, "Class"),
        }
        self.index(index);
    }

    /// A Class entry's name, or `none` for index 0.
    pub(super) fn class_name_or(&mut self, index: u16, none: &str) {
        if index == 0 { self.text(none) } else { self.class_name(index) }
    }

    /// The name inside a Module or Package entry.
    pub(super) fn single_name(&mut self, index: u16, tag: Tag) {
        match self.class.pool.single(index, tag).and_then(|name| self.class.pool.utf8(name)) {
            Ok(name) => self.name(name),
            Err(_) => self.bad(index, tag.name()),
        }
        self.index(index);
    }

    /// `class.name:descriptor`.
    pub(super) fn member_ref(&mut self, index: u16) {
        match self.class.pool.member_ref(index) {
            Ok(member) => {
                self.name(member.class);
                self.text(".");
                self.name(member.name);
                self.text(":");
                self.name(member.descriptor);
            }
            Err(_) => self.bad(index, "Fieldref, Methodref or InterfaceMethodref with sound parts"),
        }
    }

    /// `name:descriptor` of a NameAndType.
    pub(super) fn name_and_type(&mut self, index: u16) {
        match self.class.pool.name_and_type(index) {
            Ok((name, descriptor)) => {
                self.name(name);
                self.text(":");
                self.name(descriptor);
            }
            Err(_) => self.bad(index, "NameAndType"),
        }
    }

    /// Any constant, with its kind in front unless a quoted string shows it.
    pub(super) fn constant(&mut self, index: u16) {
        let class = self.class;
        let pool = &class.pool;
        let Some(tag) = pool.tag(index) else {
            self.bad(index, "constant");
            return;
        };
        let outcome: Result<(), ClassError> = (|| {
            match tag {
                Tag::Utf8 => self.literal(pool.utf8(index)?),
                Tag::String => match pool.utf8(pool.single(index, tag)?) {
                    Ok(text) => self.literal(text),
                    Err(_) => self.bad(pool.single(index, tag)?, "Utf8"),
                },
                Tag::Integer => {
                    let value = pool.four_bytes(index, tag)? as i32;
                    self.put(format_args!("int {value}"));
                }
                Tag::Float => self.float(pool.four_bytes(index, tag)?),
                Tag::Long => {
                    let value = pool.eight_bytes(index, tag)? as i64;
                    self.put(format_args!("long {value}"));
                }
                Tag::Double => self.double(pool.eight_bytes(index, tag)?),
                Tag::Class | Tag::MethodType | Tag::Module | Tag::Package => {
                    self.put(format_args!("{} ", tag.name()));
                    self.utf8(pool.single(index, tag)?);
                }
                Tag::Fieldref | Tag::Methodref | Tag::InterfaceMethodref => {
                    self.put(format_args!("{} ", tag.name()));
                    self.member_ref(index);
                }
                Tag::NameAndType => {
                    self.text("NameAndType ");
                    self.name_and_type(index);
                }
                Tag::MethodHandle => {
                    let (kind, reference) = pool.method_handle(index)?;
                    self.text("MethodHandle ");
                    match REFERENCE_KINDS.get(usize::from(kind)) {
                        Some(name) => self.text(name),
                        None => self.put(format_args!("<kind {kind}>")),
                    }
                    self.text(" ");
                    self.member_ref(reference);
                    if pool.tag(reference) == Some(Tag::InterfaceMethodref) && kind != 9 {
                        self.text(" (InterfaceMethodref)");
                    }
                }
                Tag::Dynamic | Tag::InvokeDynamic => {
                    let (_, name_and_type) = pool.pair(index, tag)?;
                    self.put(format_args!("{} ", tag.name()));
                    self.name_and_type(name_and_type);
                }
            }
            Ok(())
        })();
        if outcome.is_err() {
            self.bad(index, tag.name());
        }
    }

    fn float(&mut self, bits: u32) {
        let value = f32::from_bits(bits);
        match value.is_nan() {
            true => self.put(format_args!("float NaN({bits:#x})")),
            false => self.put(format_args!("float {value:?}")),
        }
    }

    fn double(&mut self, bits: u64) {
        let value = f64::from_bits(bits);
        match value.is_nan() {
            true => self.put(format_args!("double NaN({bits:#x})")),
            false => self.put(format_args!("double {value:?}")),
        }
    }

    /// The lines under an instruction or constant that is dynamically computed: its bootstrap method and
    /// the static arguments, those that are themselves dynamic with theirs (JVMS 4.7.23).
    pub(super) fn bootstrap(&mut self, index: u16, depth: usize) {
        let class = self.class;
        let pool = &class.pool;
        let Some(tag @ (Tag::Dynamic | Tag::InvokeDynamic)) = pool.tag(index) else { return };
        let Ok((bootstrap, _)) = pool.pair(index, tag) else { return };
        if self.is_full() {
            return;
        }
        if depth == MAX_DEPTH {
            self.line("bootstrap <nested too deeply>");
            return;
        }
        match self.bootstrap_method(bootstrap) {
            Some((method, arguments)) => {
                self.start("bootstrap ");
                self.constant(method);
                if self.options.raw {
                    self.put(format_args!("  // BootstrapMethods[{bootstrap}]"));
                }
                self.end();
                for argument in arguments.chunks_exact(2) {
                    if self.is_full() {
                        return;
                    }
                    let argument = u16::from_be_bytes([argument[0], argument[1]]);
                    self.start("argument ");
                    self.constant(argument);
                    self.index(argument);
                    self.end();
                    self.nested(|p| p.bootstrap(argument, depth + 1));
                }
            }
            None => self.line(format_args!("bootstrap <BootstrapMethods has no entry {bootstrap}>")),
        }
    }

    /// Row `wanted` of the BootstrapMethods attribute: the method handle's index, and the arguments'
    /// indices as bytes.
    fn bootstrap_method(&self, wanted: u16) -> Option<(u16, &'a [u8])> {
        let at = *self.bootstrap_methods.get(usize::from(wanted))?;
        let mut r = Reader::new(self.class.bytes, at, "BootstrapMethods");
        let method = r.u2().ok()?;
        let count = r.u2().ok()?;
        Some((method, r.take(usize::from(count) * 2).ok()?))
    }

    /// Finds the rows of the BootstrapMethods attribute, as far as it is sound.
    pub(super) fn find_bootstrap_methods(&self) -> Vec<usize> {
        let mut rows = Vec::new();
        let attributes = self.class.attributes();
        if let Ok(Some(attribute)) = member::find_attribute(attributes, &self.class.pool, b"BootstrapMethods")
        {
            let mut r = self.reader(attribute.info_offset(), attribute.end(), "BootstrapMethods");
            let count = r.u2().unwrap_or(0);
            for _ in 0..count {
                let at = r.position();
                let arguments = r.skip(2).and_then(|()| r.u2());
                if arguments.and_then(|n| r.skip(usize::from(n) * 2)).is_err() {
                    break;
                }
                rows.push(at);
            }
        }
        rows
    }
}
