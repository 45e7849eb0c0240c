//! The disassembler's text: of the committed seeds as it should be (`BLESS=1` writes it anew), and of
//! classes that no compiler writes.

use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::text::{self, CUT, PrintOptions};
use std::path::Path;

#[test]
fn seeds_print_as_committed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text");
    let bless = std::env::var_os("BLESS").is_some();
    for seed in crate::common::seeds() {
        let class = ClassFile::parse(&seed.bytes).unwrap();
        let stem = Path::new(&seed.name).file_stem().unwrap().to_str().unwrap();
        let forms = [("listing", PrintOptions::listing()), ("canonical", PrintOptions::canonical())];
        for (form, options) in forms {
            let text = text::print_class(&class, &options);
            let file = directory.join(format!("{stem}.{form}.txt"));
            if bless {
                std::fs::create_dir_all(&directory).unwrap();
                std::fs::write(&file, &text).unwrap();
            }
            let expected = std::fs::read_to_string(&file).expect("BLESS=1 writes the expected text");
            assert!(text == expected, "{}:\n{}", file.display(), text::diff(&expected, &text));
        }
    }
}

/// Writes a class with one method, constants first asked for being first in the pool.
#[derive(Default)]
struct Builder {
    pool: Vec<u8>,
    count: u16,
}

impl Builder {
    fn entry(&mut self, tag: u8, parts: &[&[u8]]) -> u16 {
        self.pool.push(tag);
        parts.iter().for_each(|part| self.pool.extend(*part));
        self.count += 1;
        self.count
    }

    fn utf8(&mut self, text: &[u8]) -> u16 {
        self.entry(1, &[&(text.len() as u16).to_be_bytes(), text])
    }

    fn class(&mut self, name: &[u8]) -> u16 {
        let name = self.utf8(name);
        self.entry(7, &[&name.to_be_bytes()])
    }

    fn string(&mut self, text: &[u8]) -> u16 {
        let text = self.utf8(text);
        self.entry(8, &[&text.to_be_bytes()])
    }

    fn attribute(&mut self, name: &[u8], info: &[u8]) -> Vec<u8> {
        let name = self.utf8(name);
        [&name.to_be_bytes()[..], &(info.len() as u32).to_be_bytes(), info].concat()
    }

    /// A Code attribute with the given tables inside.
    fn code(&mut self, code: &[u8], attributes: &[Vec<u8>]) -> Vec<u8> {
        let info = [
            &[0, 4, 0, 4][..],
            &(code.len() as u32).to_be_bytes(),
            code,
            &[0, 0],
            &(attributes.len() as u16).to_be_bytes(),
            &attributes.concat(),
        ]
        .concat();
        self.attribute(b"Code", &info)
    }

    /// `class A { static void m(); }` with these attributes of the method and of the class.
    fn build(mut self, method: &[Vec<u8>], class: &[Vec<u8>]) -> Vec<u8> {
        let (this, object) = (self.class(b"A"), self.class(b"java/lang/Object"));
        let (name, descriptor) = (self.utf8(b"m"), self.utf8(b"()V"));
        [
            &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61][..],
            &(self.count + 1).to_be_bytes(),
            &self.pool,
            &[0, 0x21],
            &this.to_be_bytes(),
            &object.to_be_bytes(),
            &[0, 0, 0, 0, 0, 1, 0, 8],
            &name.to_be_bytes(),
            &descriptor.to_be_bytes(),
            &(method.len() as u16).to_be_bytes(),
            &method.concat(),
            &(class.len() as u16).to_be_bytes(),
            &class.concat(),
        ]
        .concat()
    }
}

fn print(bytes: &[u8], options: &PrintOptions) -> String {
    text::print_class(&ClassFile::parse(bytes).unwrap(), options)
}

fn has(text: &str, line: &str) {
    assert!(text.lines().any(|l| l.trim() == line), "no line {line:?} in\n{text}");
}

#[test]
fn numbering_and_padding_make_no_difference() {
    // The same code with the constants in two orders, once behind 300 others so that ldc becomes ldc_w.
    let build = |fillers: usize| {
        let mut b = Builder::default();
        for filler in 0..fillers {
            b.utf8(format!("filler {filler}").as_bytes());
        }
        let text = b.string(b"text");
        let load = if text < 256 { vec![18, text as u8] } else { [&[19], &text.to_be_bytes()[..]].concat() };
        let code = b.code(&[&load[..], &[87, 177]].concat(), &[]);
        (b.build(&[code], &[]), text)
    };
    let ((narrow, _), (wide, index)) = (build(0), build(300));
    let canonical = PrintOptions::canonical();
    assert_eq!(print(&narrow, &canonical), print(&wide, &canonical));
    has(&print(&wide, &canonical), "ldc \"text\"");
    has(&print(&wide, &PrintOptions::listing()), "0: ldc_w \"text\"");
    let raw = PrintOptions { raw: true, ..canonical };
    assert_ne!(print(&narrow, &raw), print(&wide, &raw));
    has(&print(&wide, &raw), &format!("ldc_w \"text\" #{index}  // 13{index:04x}"));
}

#[test]
fn broken_parts_print_as_what_they_are() {
    let mut b = Builder::default();
    let frames = b.attribute(b"StackMapTable", &[0, 2, 1, 200]);
    let lines = b.attribute(b"LineNumberTable", &[0, 1, 0, 2, 0, 7]);
    let locals = b.attribute(b"LocalVariableTable", &[0, 9]);
    // sipush 1; goto into the middle of it; ldc of index 0; a byte that is no opcode
    let code = b.code(&[17, 0, 1, 167, 255, 254, 18, 0, 0xfe, 1, 2], &[frames, lines, locals]);
    let unknown = b.attribute(b"Vendor", b"\x01\x02");
    let source = b.attribute(b"SourceFile", &[0]);
    let bytes = b.build(&[code], &[unknown, source]);
    let text = print(&bytes, &PrintOptions::listing());
    has(&text, "3: goto 1(no-instruction)");
    has(&text, "6: ldc <#0 is no constant, constant expected>");
    has(&text, "<no such opcode: 3 bytes follow>");
    has(&text, "fe0102");
    has(&text, "line 7 at 2(no-instruction)");
    has(&text, "attribute \"StackMapTable\" length 4 <malformed StackMapTable: frame 1>");
    has(&text, "attribute \"Vendor\" length 2");
    has(&text, "0102");
    assert!(text.contains("attribute \"LocalVariableTable\" length 2 <class file is truncated"), "{text}");
    assert!(text.contains("attribute \"SourceFile\" length 1 <class file is truncated"), "{text}");
}

#[test]
fn frames_print_with_all_their_locals() {
    let mut b = Builder::default();
    // append int, long at 1; chop 1 at 2; then one more chop than there are locals at 3
    let frames = b.attribute(b"StackMapTable", &[0, 3, 253, 0, 1, 1, 4, 250, 0, 0, 249, 0, 0]);
    let code = b.code(&[0, 0, 0, 177], &[frames]);
    let bytes = b.build(&[code], &[]);
    let text = print(&bytes, &PrintOptions::listing());
    has(&text, "frame append 2 locals=[int, long] stack=[]");
    has(&text, "frame chop 1 locals=[int] stack=[]");
    has(&text, "frame chop 2 <chops more locals than there are> locals=[] stack=[]");
    let text = print(&bytes, &PrintOptions::canonical());
    has(&text, "frame locals=[int, long] stack=[]");

    let mut b = Builder::default();
    // CLDC: one entry at 1, locals: int; stack: uninitialized(0)
    let frames = b.attribute(b"StackMap", &[0, 1, 0, 1, 0, 1, 1, 0, 1, 8, 0, 0]);
    let code = b.code(&[0, 177], &[frames]);
    let bytes = b.build(&[code], &[]);
    has(&print(&bytes, &PrintOptions::canonical()), "frame locals=[int] stack=[uninitialized(L0)]");
}

#[test]
fn a_small_class_cannot_print_without_end() {
    let mut b = Builder::default();
    let long = b.string(&[b'x'; 65_535]);
    let code = b.code(&[[19].as_slice(), &long.to_be_bytes()].concat().repeat(20_000), &[]);
    let bytes = b.build(&[code], &[]);
    let options = PrintOptions { limit: 1 << 20, ..PrintOptions::listing() };
    let text = print(&bytes, &options);
    assert!(text.len() <= (1 << 20) + 16 * bytes.len() + 100, "{}", text.len());
    let (_, last) = text.split_at(text.len() - CUT.len() - 1);
    assert_eq!(last, format!("{CUT}\n"));
    let mut b = Builder::default();
    let code = b.code(&[177], &[]);
    assert!(!print(&b.build(&[code], &[]), &options).contains(CUT));
}

#[test]
fn annotations_may_nest_without_end() {
    let mut b = Builder::default();
    // @Name(name = [[[[...
    let name = b.utf8(b"LName;").to_be_bytes();
    let nested = [&[0, 1], &name[..], &[0, 1], &name, &b"[\0\x01".repeat(100_000), b"s", &name].concat();
    let annotations = b.attribute(b"RuntimeVisibleAnnotations", &nested);
    let bytes = b.build(&[], &[annotations]);
    let text = print(&bytes, &PrintOptions::listing());
    assert!(text.contains("attribute \"RuntimeVisibleAnnotations\" length"), "{}", &text[..400]);
    assert!(text.contains("<malformed structure"), "{}", &text[..400]);
}

#[test]
fn a_dynamic_constant_may_name_itself() {
    let mut b = Builder::default();
    let (name, descriptor) = (b.utf8(b"x").to_be_bytes(), b.utf8(b"I").to_be_bytes());
    let name_and_type = b.entry(12, &[&name, &descriptor]).to_be_bytes();
    let condy = b.entry(17, &[&[0, 0], &name_and_type]).to_be_bytes();
    // Row 0: some method handle, and two arguments which are the constant itself: 2^16 lines.
    let table = b.attribute(b"BootstrapMethods", &[&[0, 1], &name[..], &[0, 2], &condy, &condy].concat());
    let code = b.code(&[18, condy[1], 87, 177], &[]);
    let bytes = b.build(&[code], &[table]);
    let text = print(&bytes, &PrintOptions { limit: 1 << 16, ..PrintOptions::listing() });
    has(&text, "0: ldc Dynamic x:I");
    has(&text, "bootstrap <nested too deeply>");
}
