//! Small classes, put together by hand, and how a class prints.

use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::text::{self, PrintOptions};

pub(crate) fn listing(bytes: &[u8]) -> String {
    text::print_class(&ClassFile::parse(bytes).unwrap(), &PrintOptions::listing())
}

/// `class A` with these methods: flags, name, descriptor, Code attribute's `info`; 1 `Code`, 2 `LineNumberTable`, 4
/// `A`, 6 `java/lang/Object`.
pub(crate) fn class(
    major: u8,
    flags: u16,
    texts: &[&str],
    methods: &[(u16, &str, &str, Vec<u8>)],
) -> Vec<u8> {
    let mut pool = Vec::new();
    let mut count = 1u16;
    let mut utf8 = |text: &str, pool: &mut Vec<u8>| {
        pool.extend([&[1][..], &(text.len() as u16).to_be_bytes(), text.as_bytes()].concat());
        count += 1;
        count - 1
    };
    utf8("Code", &mut pool);
    utf8("LineNumberTable", &mut pool);
    for name in ["A", "java/lang/Object"] {
        let index = utf8(name, &mut pool);
        pool.push(7);
        pool.extend(index.to_be_bytes());
        // The Class entry behind its name.
        utf8("", &mut Vec::new());
    }
    let mut table = Vec::new();
    for (flags, name, descriptor, info) in methods {
        let items = [*flags, utf8(name, &mut pool), utf8(descriptor, &mut pool), 1, 1];
        items.iter().for_each(|item| table.extend(item.to_be_bytes()));
        table.extend((info.len() as u32).to_be_bytes());
        table.extend(info);
    }
    for text in texts {
        utf8(text, &mut pool);
    }
    [
        &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, major][..],
        &count.to_be_bytes(),
        &pool,
        &flags.to_be_bytes(),
        &[0, 4, 0, 6, 0, 0, 0, 0],
        &(methods.len() as u16).to_be_bytes(),
        &table,
        &[0, 0],
    ]
    .concat()
}

/// A Code attribute's `info`, with a LineNumberTable if there are lines: pc and line.
pub(crate) fn code(max_stack: u16, max_locals: u16, code: &[u8], lines: &[(u16, u16)]) -> Vec<u8> {
    let mut info = [&max_stack.to_be_bytes()[..], &max_locals.to_be_bytes()].concat();
    info.extend((code.len() as u32).to_be_bytes());
    info.extend(code);
    info.extend([0, 0, 0, u8::from(!lines.is_empty())]);
    if !lines.is_empty() {
        info.extend([0, 2]);
        info.extend((2 + 4 * lines.len() as u32).to_be_bytes());
        info.extend((lines.len() as u16).to_be_bytes());
        lines.iter().for_each(|(pc, line)| info.extend([pc.to_be_bytes(), line.to_be_bytes()].concat()));
    }
    info
}

/// A Code attribute's `info` with rows of an exception table and attributes: name index and `info`.
pub(crate) fn code_with(
    max_locals: u16,
    body: &[u8],
    rows: &[[u16; 4]],
    attributes: &[(u16, &[u8])],
) -> Vec<u8> {
    let mut info = code(4, max_locals, body, &[]);
    info.truncate(info.len() - 4);
    let words = |words: &[u16]| -> Vec<u8> { words.iter().flat_map(|word| word.to_be_bytes()).collect() };
    info.extend(words(&[rows.len() as u16]));
    rows.iter().for_each(|row| info.extend(words(row)));
    info.extend(words(&[attributes.len() as u16]));
    for (name, attribute) in attributes {
        info.extend([&words(&[*name, 0, attribute.len() as u16]), *attribute].concat());
    }
    info
}

/// So many `nop`, and `end`.
pub(crate) fn nops(count: usize, end: &[u8]) -> Vec<u8> {
    [&vec![0; count][..], end].concat()
}

/// The class with more entries at the end of its constant pool.
pub(crate) fn with_entries(bytes: &[u8], entries: &[&[u8]]) -> Vec<u8> {
    let pool = ClassFile::parse(bytes).unwrap().pool;
    let (start, end, count) = (pool.start(), pool.end(), pool.count() + entries.len() as u16);
    [&bytes[..start], &count.to_be_bytes(), &bytes[start + 2..end], &entries.concat(), &bytes[end..]].concat()
}

/// The instructions of a method: everything in front of the exception table and frames.
pub(crate) fn instructions(bytes: &[u8], method: &str) -> Vec<String> {
    let text = listing(bytes);
    let (_, of) = text.split_once(&format!("\nmethod {method}\n")).expect("the method");
    let lines = of.lines().take_while(|line| !line.is_empty());
    let is_instruction =
        |line: &&str| line.trim().split_once(": ").is_some_and(|(pc, _)| pc.parse::<u32>().is_ok());
    lines.filter(is_instruction).map(|line| line.trim().split_once(": ").unwrap().1.to_owned()).collect()
}

/// The class under this name, with this interface.
pub(crate) fn implementing(bytes: &[u8], name: &str, interface: &str) -> Vec<u8> {
    let pool = ClassFile::parse(bytes).unwrap().pool;
    let first = pool.count();
    let entry = |text: &str| [&[1], &(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat();
    let of = |index: u16| [&[7], &index.to_be_bytes()[..]].concat();
    let entries = [entry(name), of(first), entry(interface), of(first + 2)];
    let bytes = with_entries(bytes, &entries.each_ref().map(Vec::as_slice));
    let end = ClassFile::parse(&bytes).unwrap().pool.end();
    // Behind access_flags: this_class, super_class, interfaces.
    let interfaces = [&[0, 1], &(first + 3).to_be_bytes()[..]].concat();
    [&bytes[..end + 2], &(first + 1).to_be_bytes(), &bytes[end + 4..end + 6], &interfaces, &bytes[end + 8..]]
        .concat()
}

/// The hooks of the runtime that a method calls, in the order of its code.
pub(crate) fn hooks(bytes: &[u8], method: &str) -> Vec<String> {
    let name = |instruction: &String| {
        let callee = instruction.strip_prefix("invokestatic ")?;
        let of_runtime = callee
            .strip_prefix("instrument/runtime/")
            .or(callee.strip_prefix("java/lang/InstrumentProbes"))?;
        Some(of_runtime.split_once('.')?.1.split_once(':')?.0.to_owned())
    };
    instructions(bytes, method).iter().filter_map(name).collect()
}
