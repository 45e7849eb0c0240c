//! JVMS 4.7.25 The Module Attribute, and the JDK's ModuleHashes.

use super::flags::{self, Flags};
use super::printer::Printer;
use crate::class_file::{Reader, Tag};
use crate::error::ClassError;

impl<'a> Printer<'_, 'a> {
    pub(super) fn module(&mut self, r: &mut Reader<'a>) -> Result<(), ClassError> {
        let offset = r.position();
        let (name, access, version) = (r.u2()?, r.u2()?, r.u2()?);
        self.head("Module");
        self.single_name(name, Tag::Module);
        self.module_item(access, &flags::MODULE, version, offset);
        for _ in 0..r.u2()? {
            let offset = r.position();
            let (name, access, version) = (r.u2()?, r.u2()?, r.u2()?);
            self.head("Module requires");
            self.single_name(name, Tag::Module);
            self.module_item(access, &flags::REQUIRES, version, offset);
        }
        for directive in ["Module exports", "Module opens"] {
            for _ in 0..r.u2()? {
                let offset = r.position();
                let (package, access) = (r.u2()?, r.u2()?);
                self.head(directive);
                self.single_name(package, Tag::Package);
                self.put(format_args!(" flags {}", flags::text(access, &flags::PARAMETER)));
                for to in 0..r.u2()? {
                    self.text(if to == 0 { " to " } else { ", " });
                    self.single_name(r.u2()?, Tag::Module);
                }
                self.end_at(offset);
            }
        }
        for _ in 0..r.u2()? {
            let offset = r.position();
            self.head("Module uses");
            self.class_name(r.u2()?);
            self.end_at(offset);
        }
        for _ in 0..r.u2()? {
            let offset = r.position();
            self.head("Module provides");
            self.class_name(r.u2()?);
            for with in 0..r.u2()? {
                self.text(if with == 0 { " with " } else { ", " });
                self.class_name(r.u2()?);
            }
            self.end_at(offset);
        }
        Ok(())
    }

    fn module_item(&mut self, access: u16, names: &Flags, version: u16, offset: usize) {
        if version != 0 {
            self.text(" version ");
            self.quoted_utf8(version);
        }
        self.put(format_args!(" flags {}", flags::text(access, names)));
        self.end_at(offset);
    }

    /// `algorithm; u2 count; { module name, u2 length, hash }` as the JDK's `jlink` and `jmod` write it.
    pub(super) fn module_hashes(&mut self, r: &mut Reader<'a>) -> Result<(), ClassError> {
        let algorithm = r.u2()?;
        for _ in 0..r.u2()? {
            let offset = r.position();
            let (name, length) = (r.u2()?, r.u2()?);
            self.head("ModuleHashes");
            self.single_name(name, Tag::Module);
            self.text(" ");
            self.utf8(algorithm);
            self.text(" ");
            self.hex_words(r.take(usize::from(length))?);
            self.end_at(offset);
        }
        Ok(())
    }
}
