//! Reading a class: which methods each of its methods calls, with the lines of the source.
//!
//! `cargo run -p instrument-rewriter --example list_calls -- X.class ..`

use instrument_rewriter::class_file::instruction::{Instructions, u2};
use instrument_rewriter::class_file::{
    ClassFile, CodeAttribute, ConstantPool, find_attribute, mutf8, opcode,
};
use std::error::Error;
use std::process::ExitCode;

/// The line of the source that the instruction at `pc` belongs to, from the LineNumberTable (JVMS 4.7.12).
fn line_of(code: &CodeAttribute<'_>, pool: &ConstantPool<'_>, pc: usize) -> Option<u16> {
    let table = find_attribute(code.attributes.clone(), pool, b"LineNumberTable").ok()??;
    let rows = table.info.get(2..)?.chunks_exact(4).map(|row| (usize::from(u2(row, 0)), u2(row, 2)));
    rows.filter(|(start, _)| *start <= pc).max_by_key(|(start, _)| *start).map(|(_, line)| line)
}

/// One line for each call: `method:descriptor line 12 calls class.method:descriptor`.
fn calls(bytes: &[u8]) -> Result<Vec<String>, Box<dyn Error>> {
    let class = ClassFile::parse(bytes)?;
    let pool = &class.pool;
    let mut lines = Vec::new();
    let mut methods = class.methods();
    while let Some(method) = methods.next()? {
        // Names are bytes that may be anything; `escape` makes them safe to print.
        let caller =
            format!("{}:{}", mutf8::escape(method.name(pool)?), mutf8::escape(method.descriptor(pool)?));
        // Abstract and native methods have no code.
        let Some(code) = method.code(pool)? else { continue };
        for instruction in Instructions::new(code.code) {
            let instruction = instruction?;
            let is_call = matches!(
                instruction.opcode,
                opcode::INVOKEVIRTUAL
                    | opcode::INVOKESPECIAL
                    | opcode::INVOKESTATIC
                    | opcode::INVOKEINTERFACE
            );
            if !is_call {
                continue;
            }
            let callee = pool.member_ref(u2(instruction.bytes, 1))?;
            let line = line_of(&code, pool, instruction.pc);
            let line = line.map_or_else(String::new, |line| format!(" line {line}"));
            lines.push(format!(
                "{caller}{line} calls {}.{}:{}",
                mutf8::escape(callee.class),
                mutf8::escape(callee.name),
                mutf8::escape(callee.descriptor)
            ));
        }
    }
    Ok(lines)
}

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        match std::fs::read(&path).map_err(Into::into).and_then(|bytes| calls(&bytes)) {
            Ok(lines) => lines.iter().for_each(|line| println!("{line}")),
            Err(error) => {
                eprintln!("{path}: {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREETER: &[u8] = include_bytes!("Greeter.class");

    #[test]
    fn calls_are_listed_with_their_lines() {
        let lines = calls(GREETER).unwrap();
        let expected = [
            "<init>:(Ljava/lang/String;)V line 7 calls java/lang/Object.<init>:()V",
            "greet:(Ljava/util/List;)I line 13 calls java/util/List.iterator:()Ljava/util/Iterator;",
            "greet:(Ljava/util/List;)I line 14 calls java/lang/String.isEmpty:()Z",
            "greet:(Ljava/util/List;)I line 15 calls java/lang/IllegalArgumentException.<init>:(Ljava/lang/String;)V",
            "main:([Ljava/lang/String;)V line 24 calls java/util/Arrays.asList:([Ljava/lang/Object;)Ljava/util/List;",
        ];
        for line in expected {
            assert!(lines.iter().any(|listed| listed == line), "no {line} in {lines:#?}");
        }
    }

    #[test]
    fn what_is_no_class_is_an_error_wherever_it_ends() {
        for length in 0..GREETER.len() {
            assert!(calls(&GREETER[..length]).is_err(), "{length}");
        }
    }
}
