//! Calls that users of the library insert: real classes stay classes that the JVM takes, wherever the calls stand.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use anyhow::{Result, ensure};
use instrument_rewriter::class_file::descriptor::field_slots;
use instrument_rewriter::class_file::instruction::Instructions;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, Outcome, Reason, Transforms};
use instrument_rewriter::transform::own_calls::{
    BadCall, Call, Calls, InsertCalls, Method, Operation, Value,
};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::Jdk;
use instrument_tests::places::{Places, classes_of};

/// At the entry, in front of every second instruction, in front of returns: of each kind of argument.
#[derive(Debug)]
struct Everywhere(Call);

impl InsertCalls for Everywhere {
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        if let Ok(named) = self.0.clone().with_name(method.name) {
            calls.at_entry(named).expect("a constant is everywhere");
        }
        for one in Instructions::new(method.code.code).map_while(Result::ok).step_by(2) {
            let number = self.0.clone().with_int(-(one.pc as i32) * 1_000);
            calls.before(one.pc as u32, number).expect("an instruction begins there");
        }
        calls.before_returns(&self.0).expect("nothing is passed");
    }
}

/// Everything that the program has, at every place where it can be had.
#[derive(Debug)]
struct Values {
    call: Call,
    /// Calls that were added, by kind: entry, exception, in front, behind.
    added: [AtomicUsize; 4],
}

impl InsertCalls for Values {
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        const OBJECT: &[u8] = b"Ljava/lang/Object;";
        let with = |value, of: &[u8]| self.call.clone().with_value(value, of).expect("a descriptor");
        let count = |kind: usize, added: Result<(), BadCall>| {
            self.added[kind].fetch_add(usize::from(added.is_ok()), Relaxed);
        };
        let (parameters, returned) = types(method.descriptor);
        let arguments = || parameters.iter().enumerate().map(|(at, of)| (Value::Argument(at as u8), *of));
        let this = with(Value::This, OBJECT);
        let all = arguments().try_fold(self.call.clone(), |call, (value, of)| call.with_value(value, of));
        count(0, calls.at_entry(this.clone()));
        count(0, all.and_then(|all| calls.at_entry(all)));
        count(
            1,
            calls.at_throw(this.clone().with_value(Value::Exception, b"Ljava/lang/Throwable;").expect("two")),
        );
        for (value, of) in arguments() {
            count(1, calls.at_throw(with(value, of)));
        }
        for (at, one) in Instructions::new(method.code.code).map_while(Result::ok).enumerate() {
            let pc = one.pc as u32;
            if at % 5 == 0 {
                count(2, calls.before(pc, this.clone()));
                arguments().for_each(|(value, of)| count(2, calls.before(pc, with(value, of))));
            }
            let Some(operation) = Operation::at(method.pool, method.code.code, one.pc, returned) else {
                continue;
            };
            let mut operands = operation.operands.iter().enumerate();
            let operands = operands
                .try_fold(self.call.clone(), |call, (at, of)| call.with_value(Value::Operand(at as u8), of));
            let mut call = operands.expect("as many as the operation has");
            if operation.receiver.is_some() {
                call = call.with_value(Value::Receiver, OBJECT).unwrap_or(self.call.clone());
            }
            count(2, calls.before(pc, call.clone()));
            if let Some(result) = &operation.result {
                // Of a return.
                count(2, calls.before(pc, with(Value::Result, result)));
                call = call.with_value(Value::Result, result).unwrap_or(self.call.clone());
            }
            count(3, calls.after(pc, call));
            count(3, calls.after(pc, with(Value::Result, OBJECT)));
        }
    }
}

/// The descriptors of the parameters and of the result.
fn types(descriptor: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut rest = &descriptor[1..];
    let mut parameters = Vec::new();
    while let Some((_, tail)) = field_slots(rest) {
        parameters.push(&rest[..rest.len() - tail.len()]);
        rest = tail;
    }
    (parameters, &rest[1..])
}

#[test]
fn real_classes_whose_values_are_passed_pass_the_verifier() -> Result<()> {
    let corpus = Corpus::open()?;
    let jdk = Jdk::default_kit()?;
    // scala-library throws new objects away; xerces-1 has class files without frames.
    let names = ["commons-lang3", "scala-library-2.11", "xerces-1", "ecj"];
    corpus.fetch(&names)?;
    for name in names {
        let jar = corpus.path(name)?;
        let places = Places::new(jdk, std::slice::from_ref(&jar))?;
        let mut verifier = places.verifier();
        let (mut rewritten, mut faults) = (0, Vec::new());
        let inserter =
            Arc::new(Values { call: Call::new("java/lang/Thread", "yield")?, added: Default::default() });
        for (class, bytes) in classes_of(&jar)?.into_iter().step_by(5) {
            let before = verifier.verify(&bytes).faults.len();
            let all =
                Transforms { method_events: true, bytecodes: true, allocation: true, ..Transforms::NONE };
            for transforms in [Transforms::NONE, all] {
                let mut rewriter = ClassRewriter::new(transforms);
                rewriter.insert_calls(Some(inserter.clone()));
                let mut out = Vec::new();
                if rewriter.rewrite(&bytes, |_| Choice::Rewrite(70_000), &mut out)? == Outcome::Rewritten {
                    rewritten += 1;
                    let verdict = verifier.verify(&out);
                    if verdict.faults.len() > before {
                        faults.extend(verdict.faults.iter().map(|fault| format!("{class}: {fault}")));
                    }
                }
            }
        }
        let added: Vec<usize> = inserter.added.iter().map(|count| count.load(Relaxed)).collect();
        println!(
            "{name}: {rewritten} classes rewritten, calls at entries, exceptions, in front, behind: {added:?}"
        );
        ensure!(faults.is_empty(), "{name}: {} faults\n{}", faults.len(), faults.join("\n"));
        ensure!(
            rewritten > 20 && added.iter().all(|added| *added > 100),
            "{name}: {rewritten} rewritten, {added:?}"
        );
    }
    Ok(())
}

#[test]
fn real_classes_with_calls_everywhere_pass_the_verifier() -> Result<()> {
    let corpus = Corpus::open()?;
    let jdk = Jdk::default_kit()?;
    let names = ["commons-lang3", "ecj"];
    corpus.fetch(&names)?;
    for name in names {
        let jar = corpus.path(name)?;
        let places = Places::new(jdk, std::slice::from_ref(&jar))?;
        let mut verifier = places.verifier();
        let call = Call::new("java/lang/Thread", "yield")?;
        let (mut rewritten, mut left, mut faults) = (0, 0, Vec::new());
        // ecj is large: every third class of a jar tells as much.
        for (class, bytes) in classes_of(&jar)?.into_iter().step_by(3) {
            for transforms in [Transforms::NONE, Transforms { method_events: true, ..Transforms::NONE }] {
                let mut rewriter = ClassRewriter::new(transforms);
                rewriter.insert_calls(Some(Arc::new(Everywhere(call.clone()))));
                let mut out = Vec::new();
                if rewriter.rewrite(&bytes, |_| Choice::Rewrite(70_000), &mut out)? != Outcome::Rewritten {
                    continue;
                }
                for report in rewriter.reports() {
                    match report.event {
                        MethodEvent::Skipped(Reason::NoCode) => {}
                        // Twice as many instructions have no room everywhere.
                        MethodEvent::Skipped(Reason::MethodTooLarge | Reason::JumpOverflow) => left += 1,
                        MethodEvent::Skipped(reason) => faults.push(format!("{class}: {reason}")),
                        _ => {}
                    }
                }
                rewritten += 1;
                let verdict = verifier.verify(&out);
                faults.extend(verdict.faults.iter().map(|fault| format!("{class}: {fault}")));
            }
        }
        println!("{name}: {rewritten} classes rewritten, {left} methods without room");
        ensure!(faults.is_empty(), "{name}: {} faults\n{}", faults.len(), faults.join("\n"));
        ensure!(rewritten > 150 && left < 100, "{name}: {rewritten} rewritten, {left} left");
    }
    Ok(())
}
