//! Second opinions on the class reader: cafebabe on what things are called and where code lies,
//! classfile-parser on the constant pool and the bytes of attributes.
//!
//! Both refuse (or panic on) some valid classes; these are listed by their reason, with a bound on how many
//! there may be, so that the comparison cannot become empty unnoticed.

use crate::common::Sample;
use classfile_parser::constant_info::ConstantInfo;
use instrument_rewriter::class_file::instruction::Instructions;
use instrument_rewriter::class_file::{ClassFile, Member, Tag, member, mutf8};
use std::panic::catch_unwind;

const CLASSES: usize = 2500;

fn ours(sample: &Sample) -> ClassFile<'_> {
    ClassFile::parse(&sample.bytes).unwrap_or_else(|error| panic!("{}: {error}", sample.name))
}

fn string(bytes: &[u8]) -> Option<String> {
    String::from_utf16(&mutf8::code_units(bytes).collect::<Vec<_>>()).ok()
}

#[test]
fn agrees_with_cafebabe() {
    let corpus = crate::common::corpus(CLASSES);
    let (mut compared, mut instructions, mut refused) = (0, 0, Vec::new());
    std::panic::set_hook(Box::new(|info| {
        // A panic of cafebabe is caught and counted; only our own are worth reading.
        if !info.location().is_some_and(|place| place.file().contains("cafebabe")) {
            eprintln!("{info}");
        }
    }));
    for sample in &corpus {
        let parsed = catch_unwind(|| cafebabe::parse_class(&sample.bytes));
        match parsed {
            Ok(Ok(theirs)) => {
                instructions += compare_with_cafebabe(sample, &ours(sample), &theirs);
                compared += 1;
            }
            Ok(Err(error)) => refused.push(format!("{}: {error}", sample.name)),
            Err(_) => refused.push(format!("{}: panic", sample.name)),
        }
    }
    let _ = std::panic::take_hook();
    println!("cafebabe: {compared} classes, {instructions} instructions agree; refused: {refused:#?}");
    assert!(instructions > compared, "hardly any code was compared");
    // A dynamic constant as a bootstrap argument, and names that are no UTF-16 strings.
    assert!(refused.len() * 1000 <= corpus.len(), "cafebabe refuses too much: {refused:#?}");
}

/// Returns the number of instructions compared.
fn compare_with_cafebabe(sample: &Sample, class: &ClassFile<'_>, theirs: &cafebabe::ClassFile<'_>) -> usize {
    let name = &sample.name;
    assert_eq!(
        (class.major_version, class.minor_version),
        (theirs.major_version, theirs.minor_version),
        "{name}"
    );
    assert_eq!(string(class.name().unwrap()).as_deref(), Some(&*theirs.this_class), "{name}");
    let super_name = class.super_name().unwrap().map(|name| string(name).unwrap());
    assert_eq!(super_name.as_deref(), theirs.super_class.as_deref(), "{name}");
    let interfaces: Vec<_> =
        class.interfaces().map(|index| string(class.pool.class_name(index).unwrap()).unwrap()).collect();
    assert!(interfaces.iter().map(String::as_str).eq(theirs.interfaces.iter().map(|i| &**i)), "{name}");

    let mut fields = class.fields();
    for field in &theirs.fields {
        let ours = fields.next().unwrap().expect("as many fields");
        same_member(name, class, &ours, &field.name, &field.descriptor.to_string());
        assert_eq!(ours.attributes().len(), field.attributes.len(), "{name}");
    }
    assert!(fields.next().unwrap().is_none(), "{name}: more fields");

    let mut instructions = 0;
    let mut methods = class.methods();
    for method in &theirs.methods {
        let ours = methods.next().unwrap().expect("as many methods");
        same_member(name, class, &ours, &method.name, &method.descriptor.to_string());
        assert_eq!(ours.attributes().len(), method.attributes.len(), "{name}");
        let code = ours.code(&class.pool).unwrap_or_else(|error| panic!("{name}: {error}"));
        let their_code = method.attributes.iter().find_map(|attribute| match &attribute.data {
            cafebabe::attributes::AttributeData::Code(code) => Some(code),
            _ => None,
        });
        let (Some(code), Some(their_code)) = (&code, their_code) else {
            assert!(code.is_none() && their_code.is_none(), "{name}: {} has code for one only", method.name);
            continue;
        };
        // Both borrow from the same bytes, so that an address tells the offset.
        let offset = their_code.code.as_ptr() as usize - sample.bytes.as_ptr() as usize;
        assert_eq!((code.code_offset, code.code.len()), (offset, their_code.code.len()), "{name}");
        assert_eq!(
            (code.max_stack, code.max_locals),
            (their_code.max_stack, their_code.max_locals),
            "{name}"
        );
        assert_eq!(code.attributes.len(), their_code.attributes.len(), "{name}");
        let rows =
            |row: &cafebabe::attributes::ExceptionTableEntry<'_>| (row.start_pc, row.end_pc, row.handler_pc);
        assert!(
            (code.exception_table.iter().map(|row| (row.start_pc, row.end_pc, row.handler_pc)))
                .eq(their_code.exception_table.iter().map(rows)),
            "{name}: exception table"
        );
        let bytecode = their_code.bytecode.as_ref().expect("decoded code");
        let pcs = Instructions::new(code.code).map(|instruction| instruction.expect("an instruction").pc);
        assert!(pcs.eq(bytecode.opcodes.iter().map(|(pc, _)| *pc)), "{name}: {}", method.name);
        instructions += bytecode.opcodes.len();
    }
    assert!(methods.next().unwrap().is_none(), "{name}: more methods");
    assert_eq!(class.attributes().len(), theirs.attributes.len(), "{name}");
    instructions
}

fn same_member(name: &str, class: &ClassFile<'_>, ours: &Member<'_>, their_name: &str, descriptor: &str) {
    assert_eq!(string(ours.name(&class.pool).unwrap()).as_deref(), Some(their_name), "{name}");
    assert_eq!(string(ours.descriptor(&class.pool).unwrap()).as_deref(), Some(descriptor), "{name}");
}

#[test]
fn agrees_with_classfile_parser() {
    let corpus = crate::common::corpus(CLASSES);
    let (mut compared, mut entries, mut attributes, mut refused) = (0, 0, 0, Vec::new());
    for sample in &corpus {
        let class = ours(sample);
        let unknown = (1..class.pool.count())
            .any(|index| matches!(class.pool.tag(index), Some(Tag::Dynamic | Tag::Module | Tag::Package)));
        match catch_unwind(|| classfile_parser::class_parser(&sample.bytes).map(|(_, class)| class).ok()) {
            Ok(Some(theirs)) => {
                assert!(!unknown, "{}: read although it knows no such tag", sample.name);
                entries += compare_pools(sample, &class, &theirs);
                attributes += compare_attributes(sample, &class, &theirs);
                compared += 1;
            }
            // It knows no tags 17, 19 and 20.
            _ if unknown => {}
            _ => refused.push(&sample.name),
        }
    }
    println!("classfile-parser: {compared} classes, {entries} constants and {attributes} attributes agree");
    assert!(entries > compared && attributes > compared, "hardly anything was compared");
    assert!(refused.is_empty(), "classfile-parser refuses {refused:#?}");
}

fn compare_pools(sample: &Sample, class: &ClassFile<'_>, theirs: &classfile_parser::ClassFile) -> usize {
    let pool = &class.pool;
    assert_eq!(pool.count(), theirs.const_pool_size, "{}", sample.name);
    for (index, theirs) in (1..).zip(&theirs.const_pool) {
        let same = match theirs {
            ConstantInfo::Utf8(c) => pool.utf8(index).is_ok_and(|bytes| bytes == c.bytes),
            ConstantInfo::Integer(c) => pool.four_bytes(index, Tag::Integer) == Ok(c.value as u32),
            ConstantInfo::Float(c) => pool.four_bytes(index, Tag::Float) == Ok(c.value.to_bits()),
            ConstantInfo::Long(c) => pool.eight_bytes(index, Tag::Long) == Ok(c.value as u64),
            ConstantInfo::Double(c) => pool.eight_bytes(index, Tag::Double) == Ok(c.value.to_bits()),
            ConstantInfo::Class(c) => pool.single(index, Tag::Class) == Ok(c.name_index),
            ConstantInfo::String(c) => pool.single(index, Tag::String) == Ok(c.string_index),
            ConstantInfo::MethodType(c) => pool.single(index, Tag::MethodType) == Ok(c.descriptor_index),
            ConstantInfo::FieldRef(c) => {
                pool.pair(index, Tag::Fieldref) == Ok((c.class_index, c.name_and_type_index))
            }
            ConstantInfo::MethodRef(c) => {
                pool.pair(index, Tag::Methodref) == Ok((c.class_index, c.name_and_type_index))
            }
            ConstantInfo::InterfaceMethodRef(c) => {
                pool.pair(index, Tag::InterfaceMethodref) == Ok((c.class_index, c.name_and_type_index))
            }
            ConstantInfo::NameAndType(c) => {
                pool.pair(index, Tag::NameAndType) == Ok((c.name_index, c.descriptor_index))
            }
            ConstantInfo::MethodHandle(c) => {
                pool.method_handle(index) == Ok((c.reference_kind, c.reference_index))
            }
            ConstantInfo::InvokeDynamic(c) => {
                let pair = (c.bootstrap_method_attr_index, c.name_and_type_index);
                pool.pair(index, Tag::InvokeDynamic) == Ok(pair)
            }
            ConstantInfo::Unusable => pool.tag(index).is_none(),
        };
        assert!(same, "{}: #{index} is {theirs:?} and {:?}", sample.name, pool.tag(index));
    }
    theirs.const_pool.len()
}

fn compare_attributes(sample: &Sample, class: &ClassFile<'_>, theirs: &classfile_parser::ClassFile) -> usize {
    let mut compared = same_attributes(sample, class.attributes(), &theirs.attributes);
    let mut fields = class.fields();
    for field in &theirs.fields {
        let ours = fields.next().unwrap().expect("as many fields");
        compared += same_attributes(sample, ours.attributes(), &field.attributes);
    }
    let mut methods = class.methods();
    for method in &theirs.methods {
        let ours = methods.next().unwrap().expect("as many methods");
        compared += same_attributes(sample, ours.attributes(), &method.attributes);
        let code = ours.code(&class.pool).unwrap();
        let attribute = member::find_attribute(ours.attributes(), &class.pool, b"Code").unwrap();
        if let (Some(code), Some(attribute)) = (code, attribute) {
            let (_, theirs) =
                classfile_parser::attribute_info::code_attribute_parser(attribute.info).expect("code");
            assert_eq!(code.code, theirs.code, "{}", sample.name);
            compared += same_attributes(sample, code.attributes, &theirs.attributes);
        }
    }
    compared
}

fn same_attributes(
    sample: &Sample,
    mut ours: instrument_rewriter::class_file::Attributes<'_>,
    theirs: &[classfile_parser::attribute_info::AttributeInfo],
) -> usize {
    for attribute in theirs {
        let ours = ours.next().unwrap().expect("as many attributes");
        assert_eq!(ours.name_index, attribute.attribute_name_index, "{}", sample.name);
        assert_eq!(ours.info, attribute.info, "{}", sample.name);
    }
    assert!(ours.next().unwrap().is_none(), "{}: more attributes", sample.name);
    theirs.len()
}
