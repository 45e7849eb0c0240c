//! Calls that users of the library insert: real classes stay classes that the JVM takes, wherever the calls stand.

use std::sync::Arc;

use anyhow::{Result, ensure};
use instrument_rewriter::class_file::instruction::Instructions;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, Outcome, SkipReason, Transforms};
use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method};
use instrument_tests::changed_classes::{Places, classes_of};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::Jdk;

/// At the entry, in front of every second instruction, in front of returns: of each kind of argument.
#[derive(Debug)]
struct Everywhere(Call);

impl InsertCalls for Everywhere {
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        if let Ok(named) = self.0.clone().with_name(method.name) {
            calls.at_entry(named);
        }
        for one in Instructions::new(method.code.code).map_while(Result::ok).step_by(2) {
            let number = self.0.clone().with_int(-(one.pc as i32) * 1_000);
            calls.before(one.pc as u32, number).expect("an instruction begins there");
        }
        calls.before_returns(&self.0);
    }
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
                        MethodEvent::Skipped(SkipReason::NoCode) => {}
                        // Twice as many instructions have no room everywhere.
                        MethodEvent::Skipped(SkipReason::MethodTooLarge | SkipReason::JumpOverflow) => {
                            left += 1
                        }
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
