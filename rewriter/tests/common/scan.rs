//! What fuzzing of the class reader and the disassembler runs, and what must hold for any bytes.

use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::class_file::instruction::{Instructions, Switch, length_at, targets};
use instrument_rewriter::text::{self, PrintOptions};

/// Bytes of text that a class may print here, on top of 16 for each of its own.
const LIMIT: usize = 1 << 18;

/// Parses and prints `bytes`. Returns whether they are a class.
///
/// # Panics
/// If the text is longer than its limit, has something in it that could harm a terminal, is not made of
/// sections, or differs from itself.
pub(crate) fn scan(bytes: &[u8]) -> bool {
    let Ok(class) = ClassFile::parse(bytes) else { return false };
    walk_code(&class);
    let raw = PrintOptions { raw: true, limit: LIMIT, ..PrintOptions::listing() };
    let canonical = PrintOptions { limit: LIMIT, ..PrintOptions::canonical() };
    for options in [raw, canonical] {
        let text = text::print_class(&class, &options);
        // What is put in one piece (a number, a row of bytes) may pass the limit by its own length.
        let limit = LIMIT + 16 * bytes.len() + 1024;
        assert!(text.len() <= limit, "{} bytes of text", text.len());
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "control character");
        let sections: String =
            text::sections(&text).map(|section| format!("{}\n{}", section.title, section.body)).collect();
        assert!(sections == text, "the sections are not the text");
        assert!(text::sections(&text).all(|section| !section.title.starts_with(' ')), "no title");
        assert!(text::diff(&text, &text).is_empty());
    }
    true
}

/// Asks for an instruction at every pc of every method, also inside of instructions and behind the code.
fn walk_code(class: &ClassFile<'_>) {
    let mut methods = class.methods();
    while let Ok(Some(method)) = methods.next() {
        let Ok(Some(code)) = method.code(&class.pool) else { continue };
        let code = &code.code[..code.code.len().min(2000)];
        for pc in 0..code.len() + 2 {
            let length = length_at(code, pc);
            assert!(length.is_ok_and(|length| pc + length <= code.len()) || targets(code, pc).count() == 0);
            assert!(Switch::at(code, pc).is_none_or(|switch| switch.end <= code.len()));
        }
        let ends = Instructions::new(code).map_while(Result::ok).map(|one| one.pc + one.bytes.len());
        assert!(ends.max().is_none_or(|end| end <= code.len()));
    }
}
