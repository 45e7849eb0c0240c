//! The class as a whole, its members, and every attribute but those with a file of their own (JVMS 4.7).

use super::flags;
use super::printer::Printer;
use crate::class_file::{Attribute, Attributes, Member, Reader, Tag};
use crate::error::{ClassError, ClassErrorKind};

/// Whose attributes are printed.
#[derive(Clone, Copy)]
pub(super) enum Owner<'m, 'a> {
    Class,
    Field,
    Method(&'m Member<'a>),
    Code,
    RecordComponent,
}

impl<'a> Printer<'_, 'a> {
    /// The whole class.
    pub(super) fn class(&mut self) {
        let class = self.class;
        self.start("class ");
        self.class_name(class.this_class);
        self.end();
        self.nested(|p| {
            let (major, minor) = (class.major_version, class.minor_version);
            p.start("");
            p.put(format_args!("version {major}.{minor}"));
            match major {
                45..=48 => p.put(format_args!(" (Java 1.{})", major - 44)),
                49.. => p.put(format_args!(" (Java {})", major - 44)),
                _ => {}
            }
            p.end();
            p.line(format_args!("flags {}", flags::text(class.access_flags, &flags::CLASS)));
            if class.super_class != 0 {
                p.start("extends ");
                p.class_name(class.super_class);
                p.end();
            }
            for interface in class.interfaces() {
                p.start("implements ");
                p.class_name(interface);
                p.end();
            }
            p.attributes(class.attributes(), Owner::Class);
        });
        self.gap();
        if self.options.pool {
            self.constant_pool();
            self.gap();
        }
        let mut fields = class.fields();
        while let Ok(Some(field)) = fields.next() {
            self.member("field ", &field, &flags::FIELD, Owner::Field);
        }
        let mut methods = class.methods();
        while let Ok(Some(method)) = methods.next() {
            self.member("method ", &method, &flags::METHOD, Owner::Method(&method));
        }
    }

    fn member(&mut self, kind: &str, member: &Member<'a>, names: &flags::Flags, owner: Owner<'_, 'a>) {
        if self.is_full() {
            return;
        }
        self.start(kind);
        self.utf8(member.name_index);
        self.text(":");
        self.utf8(member.descriptor_index);
        self.end();
        self.nested(|p| {
            p.start("flags ");
            p.put(flags::text(member.access_flags, names));
            p.end_at(member.span.start);
            p.attributes(member.attributes(), owner);
        });
        self.gap();
    }

    /// A table of attributes: in their order, in the canonical form sorted by name.
    pub(super) fn attributes(&mut self, mut attributes: Attributes<'a>, owner: Owner<'_, 'a>) {
        let mut all = Vec::new();
        while let Ok(Some(attribute)) = attributes.next() {
            all.push(attribute);
        }
        if self.options.canonical && !self.options.raw {
            all.sort_by_key(|attribute| self.class.pool.utf8_or_empty(attribute.name_index));
        }
        for attribute in all {
            if self.is_full() {
                return;
            }
            self.attribute(&attribute, owner);
        }
    }

    fn attribute(&mut self, attribute: &Attribute<'a>, owner: Owner<'_, 'a>) {
        let name = self.class.pool.utf8_or_empty(attribute.name_index);
        if !self.is_wanted(name, owner) {
            return;
        }
        let mark = self.mark();
        let mut r = self.reader(attribute.info_offset(), attribute.end(), "attribute_info");
        let known = match (name, owner) {
            (b"Code", Owner::Method(method)) => self.code(attribute, method).map(|()| true),
            _ => self.known_attribute(name, attribute, &mut r).and_then(|known| match known {
                true if r.position() != attribute.end() => {
                    Err(ClassError::new(ClassErrorKind::Malformed, r.position(), "attribute_info"))
                }
                known => Ok(known),
            }),
        };
        match known {
            Ok(true) if self.mark() == mark => {
                self.head("attribute");
                self.quoted_utf8(attribute.name_index);
                self.text(" without entries");
                self.end_at(attribute.offset);
            }
            Ok(true) => {}
            Ok(false) => self.opaque(attribute, None),
            Err(error) => {
                self.take_back(mark);
                self.opaque(attribute, Some(error));
            }
        }
    }

    fn is_wanted(&self, name: &[u8], owner: Owner<'_, 'a>) -> bool {
        match (name, owner) {
            (b"BootstrapMethods", Owner::Class) => {
                !self.options.canonical || self.options.pool || self.options.raw
            }
            (b"SourceFile" | b"SourceDebugExtension", Owner::Class) => self.options.source,
            (b"LineNumberTable", Owner::Code) => self.options.lines && self.options.raw,
            (b"StackMapTable" | b"StackMap", Owner::Code) => false,
            (b"LocalVariableTable" | b"LocalVariableTypeTable", Owner::Code) => self.options.locals,
            _ => true,
        }
    }

    /// An attribute as bytes: one that is unknown, or that is malformed for the given reason.
    pub(super) fn opaque(&mut self, attribute: &Attribute<'a>, reason: Option<ClassError>) {
        self.start("attribute ");
        self.quoted_utf8(attribute.name_index);
        self.put(format_args!(" length {}", attribute.info.len()));
        if let Some(error) = reason {
            // The absolute offset moves with everything in front of it: not for comparing.
            match self.options.canonical {
                true => self.put(format_args!(" <{} in {}>", error.kind, error.structure)),
                false => self.put(format_args!(" <{error}>")),
            }
        }
        self.end_at(attribute.offset);
        self.nested(|p| p.hex(attribute.info));
    }

    /// Opens the first line of an attribute.
    pub(super) fn head(&mut self, name: &str) {
        self.start(name);
        self.text(" ");
    }

    /// Prints an attribute that this module knows; `false` if it does not know it.
    fn known_attribute(
        &mut self,
        name: &[u8],
        attribute: &Attribute<'a>,
        r: &mut Reader<'a>,
    ) -> Result<bool, ClassError> {
        let at = attribute.offset;
        let Ok(title) = std::str::from_utf8(name) else { return Ok(false) };
        match title {
            "SourceFile" | "Signature" | "SourceID" | "CompilationID" | "ModuleTarget" => {
                let value = r.u2()?;
                self.head(title);
                self.quoted_utf8(value);
                self.index(value);
                self.end_at(at);
            }
            "Deprecated" | "Synthetic" => {
                self.start(title);
                self.end_at(at);
            }
            "ConstantValue" => {
                let value = r.u2()?;
                self.head(title);
                self.constant(value);
                self.index(value);
                self.end_at(at);
            }
            "NestHost" | "ModuleMainClass" => {
                let class = r.u2()?;
                self.head(title);
                self.class_name(class);
                self.end_at(at);
            }
            "NestMembers" | "PermittedSubclasses" | "Exceptions" => {
                self.indices(title, r, |p, class| p.class_name(class))?;
            }
            "ModulePackages" => self.indices(title, r, |p, package| p.single_name(package, Tag::Package))?,
            "EnclosingMethod" => {
                let (class, method) = (r.u2()?, r.u2()?);
                self.head(title);
                self.class_name(class);
                if method != 0 {
                    self.text(" ");
                    self.name_and_type(method);
                }
                self.end_at(at);
            }
            "InnerClasses" => self.inner_classes(r)?,
            "BootstrapMethods" => self.bootstrap_methods(r)?,
            "MethodParameters" => self.method_parameters(r)?,
            "Record" => self.record(r, attribute.end())?,
            "SourceDebugExtension" => {
                self.start(title);
                self.end_at(at);
                let text = r.take(attribute.info.len())?;
                self.nested(|p| {
                    for line in text.split_inclusive(|&b| b == b'\n') {
                        p.start("");
                        p.literal(line);
                        p.end();
                    }
                });
            }
            "LineNumberTable" => self.line_number_table(r)?,
            "LocalVariableTable" | "LocalVariableTypeTable" => self.local_variables(title, r)?,
            "Module" => self.module(r)?,
            "ModuleHashes" => self.module_hashes(r)?,
            "ModuleResolution" => {
                let flags = r.u2()?;
                self.line(format_args!("{title} {flags:#06x}"));
            }
            _ => return self.annotations(title, r),
        }
        Ok(true)
    }

    /// A line for each index of a table of them.
    fn indices(
        &mut self,
        title: &str,
        r: &mut Reader<'a>,
        print: impl Fn(&mut Self, u16),
    ) -> Result<(), ClassError> {
        for _ in 0..r.u2()? {
            let index = r.u2()?;
            self.head(title);
            print(self, index);
            self.end_at(r.position() - 2);
        }
        Ok(())
    }

    fn method_parameters(&mut self, r: &mut Reader<'a>) -> Result<(), ClassError> {
        for number in 0..r.u1()? {
            let (name, access) = (r.u2()?, r.u2()?);
            self.head("MethodParameters");
            self.put(format_args!("{number} "));
            if name == 0 {
                self.text("<unnamed>")
            } else {
                self.utf8(name)
            }
            self.put(format_args!(" flags {}", flags::text(access, &flags::PARAMETER)));
            self.end_at(r.position() - 4);
        }
        Ok(())
    }

    fn line_number_table(&mut self, r: &mut Reader<'a>) -> Result<(), ClassError> {
        for _ in 0..r.u2()? {
            let (pc, line) = (r.u2()?, r.u2()?);
            self.head("LineNumberTable");
            self.put(format_args!("line {line} at "));
            self.position(usize::from(pc));
            self.end_at(r.position() - 4);
        }
        Ok(())
    }

    /// The canonical form sorts the rows by class: their order means nothing, and compilers make it that of
    /// the constant pool.
    fn inner_classes(&mut self, r: &mut Reader<'a>) -> Result<(), ClassError> {
        let mut rows = Vec::new();
        for _ in 0..r.u2()? {
            rows.push((r.position(), [r.u2()?, r.u2()?, r.u2()?, r.u2()?]));
        }
        if self.options.canonical && !self.options.raw {
            rows.sort_by_key(|(_, row)| self.class.pool.class_name(row[0]).unwrap_or_default());
        }
        for (offset, [inner, outer, name, access]) in rows {
            if self.is_full() {
                break;
            }
            self.head("InnerClasses");
            self.class_name(inner);
            self.text(" outer ");
            self.class_name_or(outer, "<none>");
            self.text(" name ");
            if name == 0 {
                self.text("<anonymous>")
            } else {
                self.utf8(name)
            }
            self.put(format_args!(" flags {}", flags::text(access, &flags::INNER_CLASS)));
            self.end_at(offset);
        }
        Ok(())
    }

    fn bootstrap_methods(&mut self, r: &mut Reader<'a>) -> Result<(), ClassError> {
        for row in 0..r.u2()? {
            let offset = r.position();
            let (method, count) = (r.u2()?, r.u2()?);
            self.head("BootstrapMethods");
            self.put(format_args!("{row} "));
            self.constant(method);
            self.index(method);
            self.end_at(offset);
            for _ in 0..count {
                let argument = r.u2()?;
                self.start("  argument ");
                self.constant(argument);
                self.index(argument);
                self.end();
            }
        }
        Ok(())
    }

    fn record(&mut self, r: &mut Reader<'a>, end: usize) -> Result<(), ClassError> {
        for _ in 0..r.u2()? {
            let offset = r.position();
            let (name, descriptor, count) = (r.u2()?, r.u2()?, r.u2()?);
            self.head("Record");
            self.utf8(name);
            self.text(":");
            self.utf8(descriptor);
            self.end_at(offset);
            let attributes = Attributes::new(&self.class.bytes[..end], r.position(), count);
            let mut walk = attributes.clone();
            while walk.next()?.is_some() {}
            r.skip(walk.position() - r.position())?;
            self.nested(|p| p.attributes(attributes, Owner::RecordComponent));
        }
        Ok(())
    }

    fn local_variables(&mut self, title: &str, r: &mut Reader<'a>) -> Result<(), ClassError> {
        for _ in 0..r.u2()? {
            let offset = r.position();
            let (start, length) = (usize::from(r.u2()?), usize::from(r.u2()?));
            let (name, descriptor, slot) = (r.u2()?, r.u2()?, r.u2()?);
            self.head(title);
            self.put(format_args!("{slot} "));
            self.utf8(name);
            self.text(":");
            self.utf8(descriptor);
            self.text(" ");
            self.range(start, start + length);
            self.end_at(offset);
        }
        Ok(())
    }
}
