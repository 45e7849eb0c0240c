//! The constant pool as a table: each entry as it stands, and what it stands for.

use super::printer::Printer;
use crate::class_file::Tag;

impl Printer<'_, '_> {
    pub(super) fn constant_pool(&mut self) {
        let class = self.class;
        let pool = &class.pool;
        self.line("constant pool");
        for index in pool.indices() {
            if self.is_full() {
                return;
            }
            let (Some(tag), Some(offset)) = (pool.tag(index), pool.offset(index)) else { continue };
            self.start("  ");
            self.put(format_args!("#{index} = "));
            if self.options.raw {
                let indices = match tag {
                    Tag::Class | Tag::String | Tag::MethodType | Tag::Module | Tag::Package => {
                        pool.single(index, tag).map(|a| format!("#{a} ")).unwrap_or_default()
                    }
                    Tag::MethodHandle => {
                        pool.method_handle(index).map(|(_, a)| format!("#{a} ")).unwrap_or_default()
                    }
                    Tag::Dynamic | Tag::InvokeDynamic => pool
                        .pair(index, tag)
                        .map(|(a, b)| format!("BootstrapMethods[{a}] #{b} "))
                        .unwrap_or_default(),
                    Tag::Fieldref | Tag::Methodref | Tag::InterfaceMethodref | Tag::NameAndType => {
                        pool.pair(index, tag).map(|(a, b)| format!("#{a} #{b} ")).unwrap_or_default()
                    }
                    _ => String::new(),
                };
                self.put(indices);
            }
            match tag {
                Tag::Utf8 => self.text("Utf8 "),
                Tag::String => self.text("String "),
                _ => {}
            }
            self.constant(index);
            self.end_at(offset);
        }
    }
}
