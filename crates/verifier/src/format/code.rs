//! The Code attribute and its tables (JVMS 4.7.3, 4.7.12 to 4.7.14): what is checked without a look at the
//! instructions.

use super::attributes::Seen;
use super::names::{self, Use};
use super::{class_at, illegal, utf8_at};
use crate::fault::{Check, Problem, Rule};
use instrument_rewriter::class_file::instruction::u2;
use instrument_rewriter::class_file::{Attribute, ClassFile, CodeAttribute};

/// JVMS 4.7.3.
const LONGEST_CODE: usize = 65535;

/// A row of a local variable table without its type: start, length, name, slot.
type Variable = u64;

/// `arguments`: the slots of the parameters, `this` among them.
pub fn check(class: &ClassFile<'_>, attribute: &Attribute<'_>, arguments: usize) -> Check {
    let code =
        CodeAttribute::parse(attribute).map_err(|error| Problem::new(Rule::Structure, error.to_string()))?;
    if code.code.is_empty() || code.code.len() > LONGEST_CODE {
        return Err(Problem::new(Rule::CodeLength, format!("{} bytes", code.code.len())));
    }
    let length = code.code.len();
    for row in code.exception_table.iter() {
        let fault = |why: &str| {
            let (start, end, handler) = (row.start_pc, row.end_pc, row.handler_pc);
            Err(Problem::new(Rule::ExceptionTable, format!("{start}..{end} to {handler}: {why}")))
        };
        if row.start_pc >= row.end_pc || usize::from(row.end_pc) > length {
            return fault("the range is empty or ends behind the code");
        }
        if usize::from(row.handler_pc) >= length {
            return fault("the handler lies behind the code");
        }
        if row.catch_type != 0 {
            class_at(&class.pool, row.catch_type, "catch_type")?;
        }
    }
    if arguments > usize::from(code.max_locals) {
        return Err(Problem::new(
            Rule::Arguments,
            format!("{arguments} slots, max_locals is {}", code.max_locals),
        ));
    }
    let mut seen = Seen::default();
    let (mut variables, mut typed): (Vec<Variable>, Vec<Variable>) = (Vec::new(), Vec::new());
    let mut attributes = code.attributes.clone();
    while let Ok(Some(attribute)) = attributes.next() {
        let name = utf8_at(&class.pool, attribute.name_index, "name of an attribute")?;
        match name {
            b"LineNumberTable" => lines(&attribute, length)?,
            b"LocalVariableTable" => local_variables(class, &attribute, &code, true, &mut variables)?,
            b"LocalVariableTypeTable" if class.major_version >= 49 => {
                local_variables(class, &attribute, &code, false, &mut typed)?;
            }
            b"StackMapTable" if class.major_version >= 50 => seen.once(Seen::STACK_MAP_TABLE, name)?,
            _ => {}
        }
    }
    // Rows of older classes are looked at one by one only.
    if variables.is_empty() || class.major_version < 49 {
        return Ok(());
    }
    for rows in [&mut variables, &mut typed] {
        rows.sort_unstable();
        if rows.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Problem::new(Rule::LocalVariableTable, "a row stands twice"));
        }
    }
    match typed.iter().all(|row| variables.binary_search(row).is_ok()) {
        true => Ok(()),
        false => {
            let why = "a row of LocalVariableTypeTable has none in LocalVariableTable";
            Err(Problem::new(Rule::LocalVariableTable, why))
        }
    }
}

/// JVMS 4.7.12.
fn lines(attribute: &Attribute<'_>, code_length: usize) -> Check {
    let rows = rows(attribute, 4, "LineNumberTable")?;
    match rows.chunks_exact(4).map(|row| u2(row, 0)).find(|&pc| usize::from(pc) >= code_length) {
        Some(pc) => Err(Problem::new(
            Rule::LineNumberTable,
            format!("start_pc {pc}, the code has {code_length} bytes"),
        )),
        None => Ok(()),
    }
}

/// The rows behind their number, if they fill the attribute.
fn rows<'a>(attribute: &Attribute<'a>, width: usize, name: &str) -> Check<&'a [u8]> {
    match attribute.info {
        [a, b, rows @ ..] if rows.len() == usize::from(u16::from_be_bytes([*a, *b])) * width => Ok(rows),
        _ => Err(Problem::new(Rule::AttributeLength, name)),
    }
}

/// JVMS 4.7.13, 4.7.14. Appends the rows.
fn local_variables(
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
    code: &CodeAttribute<'_>,
    is_descriptor: bool,
    into: &mut Vec<Variable>,
) -> Check {
    let (pool, major, end) = (&class.pool, class.major_version, code.code.len());
    for row in rows(attribute, 10, "LocalVariableTable")?.chunks_exact(10) {
        let (start, length, name_index, slot) = (u2(row, 0), u2(row, 2), u2(row, 4), u2(row, 8));
        let fault = |why| Err(Problem::new(Rule::LocalVariableTable, why));
        if usize::from(start) >= end || usize::from(start) + usize::from(length) > end {
            return fault(format!("{start} and {length} bytes, the code has {end}"));
        }
        let name = utf8_at(pool, name_index, "name of a local variable")?;
        let descriptor = utf8_at(pool, u2(row, 6), "descriptor of a local variable")?;
        if !names::is_legal_name(name, Use::Field, major) {
            return Err(illegal(Rule::Name, name));
        }
        if is_descriptor && !names::is_field(descriptor, major) {
            return Err(illegal(Rule::Descriptor, descriptor));
        }
        let is_wide = is_descriptor && matches!(descriptor, b"J" | b"D");
        if u32::from(slot) + u32::from(is_wide) >= u32::from(code.max_locals) {
            return fault(format!("slot {slot}, max_locals is {}", code.max_locals));
        }
        into.push([start, length, name_index, slot].iter().fold(0, |all, &part| all << 16 | u64::from(part)));
    }
    Ok(())
}
