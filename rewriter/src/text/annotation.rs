//! JVMS 4.7.16 to 4.7.22: annotations, parameter annotations, type annotations, defaults.

use super::printer::{MAX_DEPTH, Printer};
use crate::class_file::Reader;
use crate::error::{ClassError, ClassErrorKind};

impl<'a> Printer<'_, 'a> {
    /// Prints one of the annotation attributes; `false` for any other attribute.
    pub(super) fn annotations(&mut self, title: &str, r: &mut Reader<'a>) -> Result<bool, ClassError> {
        match title {
            "RuntimeVisibleAnnotations" | "RuntimeInvisibleAnnotations" => {
                for _ in 0..r.u2()? {
                    let offset = r.position();
                    self.head(title);
                    self.annotation(r, 0)?;
                    self.end_at(offset);
                }
            }
            "RuntimeVisibleParameterAnnotations" | "RuntimeInvisibleParameterAnnotations" => {
                let parameters = r.u1()?;
                // Parameters without annotations count: javac leaves synthetic ones out.
                self.line(format_args!("{title} of {parameters} parameters"));
                for parameter in 0..parameters {
                    for _ in 0..r.u2()? {
                        let offset = r.position();
                        self.start("  ");
                        self.put(format_args!("{parameter} "));
                        self.annotation(r, 0)?;
                        self.end_at(offset);
                    }
                }
            }
            "RuntimeVisibleTypeAnnotations" | "RuntimeInvisibleTypeAnnotations" => {
                for _ in 0..r.u2()? {
                    let offset = r.position();
                    self.head(title);
                    self.type_target(r)?;
                    self.type_path(r)?;
                    self.text(" ");
                    self.annotation(r, 0)?;
                    self.end_at(offset);
                }
            }
            "AnnotationDefault" => {
                let offset = r.position();
                self.head(title);
                self.element_value(r, 0)?;
                self.end_at(offset);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `@Lcom/acme/Name;(element = value, ..)`.
    fn annotation(&mut self, r: &mut Reader<'a>, depth: usize) -> Result<(), ClassError> {
        let (kind, pairs) = (r.u2()?, r.u2()?);
        self.text("@");
        self.utf8(kind);
        for pair in 0..pairs {
            self.text(if pair == 0 { "(" } else { ", " });
            self.utf8(r.u2()?);
            self.text(" = ");
            self.element_value(r, depth + 1)?;
        }
        self.text(if pairs == 0 { "" } else { ")" });
        Ok(())
    }

    /// JVMS 4.7.16.1 The element_value structure.
    fn element_value(&mut self, r: &mut Reader<'a>, depth: usize) -> Result<(), ClassError> {
        if depth > MAX_DEPTH {
            return Err(r.error(ClassErrorKind::Malformed));
        }
        let tag = r.u1()?;
        match tag {
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => {
                let value = r.u2()?;
                self.put(format_args!("{} ", tag as char));
                self.constant(value);
            }
            b's' => self.quoted_utf8(r.u2()?),
            b'e' => {
                let (kind, name) = (r.u2()?, r.u2()?);
                self.text("enum ");
                self.utf8(kind);
                self.text(".");
                self.utf8(name);
            }
            b'c' => {
                let class = r.u2()?;
                self.text("class ");
                self.utf8(class);
            }
            b'@' => self.annotation(r, depth)?,
            b'[' => {
                self.text("[");
                for item in 0..r.u2()? {
                    self.text(if item == 0 { "" } else { ", " });
                    self.element_value(r, depth + 1)?;
                }
                self.text("]");
            }
            _ => return Err(r.error(ClassErrorKind::Malformed)),
        }
        Ok(())
    }

    /// JVMS 4.7.20.1 The target_info union.
    fn type_target(&mut self, r: &mut Reader<'a>) -> Result<(), ClassError> {
        let kind = r.u1()?;
        match kind {
            0x00 | 0x01 => {
                let owner = if kind == 0 { "class" } else { "method" };
                let number = r.u1()?;
                self.put(format_args!("{owner}_type_parameter {number}"));
            }
            0x10 => match r.u2()? {
                0xffff => self.text("extends"),
                number => self.put(format_args!("implements {number}")),
            },
            0x11 | 0x12 => {
                let owner = if kind == 0x11 { "class" } else { "method" };
                let (parameter, bound) = (r.u1()?, r.u1()?);
                self.put(format_args!("{owner}_type_parameter_bound {parameter} {bound}"));
            }
            0x13 => self.text("field"),
            0x14 => self.text("return"),
            0x15 => self.text("receiver"),
            0x16 => {
                let number = r.u1()?;
                self.put(format_args!("parameter {number}"));
            }
            0x17 => {
                let number = r.u2()?;
                self.put(format_args!("throws {number}"));
            }
            0x40 | 0x41 => {
                self.text(if kind == 0x40 { "local_variable" } else { "resource_variable" });
                for _ in 0..r.u2()? {
                    let (start, length) = (usize::from(r.u2()?), usize::from(r.u2()?));
                    let slot = r.u2()?;
                    self.put(format_args!(" {slot} in "));
                    self.range(start, start + length);
                }
            }
            0x42 => {
                let row = r.u2()?;
                self.put(format_args!("exception_parameter {row}"));
            }
            0x43..=0x46 => {
                self.text(
                    ["instanceof ", "new ", "constructor_reference ", "method_reference "]
                        [usize::from(kind - 0x43)],
                );
                self.position(usize::from(r.u2()?));
            }
            0x47..=0x4b => {
                self.text(
                    [
                        "cast ",
                        "constructor_invocation_type_argument ",
                        "method_invocation_type_argument ",
                        "constructor_reference_type_argument ",
                        "method_reference_type_argument ",
                    ][usize::from(kind - 0x47)],
                );
                let pc = r.u2()?;
                self.position(usize::from(pc));
                let number = r.u1()?;
                self.put(format_args!(" {number}"));
            }
            _ => return Err(r.error(ClassErrorKind::Malformed)),
        }
        Ok(())
    }

    /// JVMS 4.7.20.2 The type_path structure.
    fn type_path(&mut self, r: &mut Reader<'a>) -> Result<(), ClassError> {
        let length = r.u1()?;
        for step in 0..length {
            self.text(if step == 0 { " path " } else { "/" });
            let (kind, argument) = (r.u1()?, r.u1()?);
            match (kind, argument) {
                (0, 0) => self.text("array"),
                (1, 0) => self.text("nested"),
                (2, 0) => self.text("wildcard"),
                (3, _) => self.put(format_args!("argument({argument})")),
                _ => return Err(r.error(ClassErrorKind::Malformed)),
            }
        }
        Ok(())
    }
}
