//! The structural oracle over real classes: those of the JDK and of the jars on this machine.
//!
//! About 5,000 classes in a normal run; everything with `INSTRUMENT_CORPUS_FULL=1`.

use crate::structural::oracle::Seen;
use crate::structural::{FORMS, check_outcome, corpus, id_of};
use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, Outcome, Reason};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const NORMAL_LIMIT: usize = 2_500;
const BATCH: usize = 1_000;

#[derive(Default)]
struct Account {
    classes: usize,
    rewritten: usize,
    seen: Seen,
    skipped: BTreeMap<Reason, usize>,
    faults: Vec<String>,
}

impl Account {
    fn batch(&mut self, classes: &mut Vec<(String, Vec<u8>)>) {
        let parts: Vec<Account> = classes.par_iter().map(|(name, bytes)| Self::of(name, bytes)).collect();
        for part in parts {
            self.classes += part.classes;
            self.rewritten += part.rewritten;
            self.seen += part.seen;
            for (reason, count) in part.skipped {
                *self.skipped.entry(reason).or_default() += count;
            }
            self.faults.extend(part.faults);
        }
        classes.clear();
    }

    fn of(name: &str, bytes: &[u8]) -> Self {
        let mut this = Self { classes: 1, ..Self::default() };
        for form in FORMS {
            let mut rewriter = ClassRewriter::new(form);
            rewriter.leave_invalid();
            let mut out = Vec::new();
            let choose =
                |m: &instrument_rewriter::rewrite::MethodRef<'_>| Choice::Rewrite(id_of(m.index.into()));
            let outcome = match rewriter.rewrite(bytes, choose, &mut out) {
                Ok(outcome) => outcome,
                Err(error) => {
                    this.faults.push(format!("{name}: {error}"));
                    continue;
                }
            };
            if let Outcome::Skipped(reason) = outcome {
                // What a JDK or a library ships is valid.
                if matches!(reason, Reason::BadConstantIndex | Reason::BadMaxStack | Reason::MissingStackMap)
                {
                    this.faults.push(format!("{name}: left as {reason}"));
                }
                *this.skipped.entry(reason).or_default() += 1;
            }
            for report in rewriter.reports() {
                if let MethodEvent::Skipped(reason) = report.event {
                    *this.skipped.entry(reason).or_default() += 1;
                }
            }
            this.rewritten += usize::from(outcome == Outcome::Rewritten);
            match check_outcome(bytes, form, outcome, &out, rewriter.reports()) {
                Ok(seen) => this.seen += seen,
                Err(fault) => this.faults.push(format!("{name} ({form:?}): {fault}")),
            }
        }
        this
    }

    fn finish(self, what: &str) {
        println!("{what}: {} classes, {} rewritten forms\n{:#?}", self.classes, self.rewritten, self.seen);
        println!("skipped: {:?}", self.skipped);
        let shown: String = self.faults.iter().take(20).map(|fault| format!("\n  {fault:.600}")).collect();
        assert!(self.faults.is_empty(), "{} faults in {what}:{shown}", self.faults.len());
        let Seen {
            methods,
            exits,
            supers,
            landings,
            unwinds,
            arrays,
            objects,
            frames,
            starts,
            hand_overs,
            copies,
            roots,
            ..
        } = self.seen;
        let counts = [methods, exits, supers, landings, unwinds, arrays, objects, frames];
        // Not every jar starts threads.
        let calls = if what == "JDK" { starts.min(hand_overs).min(copies).min(roots) } else { 1 };
        assert!(
            calls > 0,
            "no call that starts a thread, hands over a task or makes a copy: {:?}",
            self.seen
        );
        assert!(counts.iter().all(|count| *count > 0), "something never occurred: {:?}", self.seen);
    }
}

#[test]
fn the_jdk_keeps_its_structure() {
    let scratch = tempfile::tempdir().unwrap();
    let mut account = Account::default();
    let mut batch = Vec::new();
    let found = corpus::visit_jdk(scratch.path(), &mut |name, bytes| {
        batch.push((name.to_owned(), bytes.to_vec()));
        if batch.len() == BATCH {
            account.batch(&mut batch);
        }
        let more = corpus::full() || account.classes < NORMAL_LIMIT;
        if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if !found {
        println!("skipped: no JDK with jimage was found");
        return;
    }
    account.batch(&mut batch);
    account.finish("JDK");
}

#[test]
fn jars_keep_their_structure() {
    let jars = corpus::jars();
    if jars.is_empty() {
        println!("skipped: no jars in /usr/share/java or ~/.m2");
        return;
    }
    let mut account = Account::default();
    let mut batch = Vec::new();
    // Every jar gets its share, so that the first one does not use up the limit.
    let share = if corpus::full() { usize::MAX } else { (NORMAL_LIMIT / jars.len()).max(100) };
    for jar in &jars {
        let mut taken = 0;
        corpus::visit_jar(jar, &mut |name, bytes| {
            batch.push((name.to_owned(), bytes.to_vec()));
            taken += 1;
            if batch.len() == BATCH {
                account.batch(&mut batch);
            }
            if taken < share { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if !corpus::full() && account.classes >= NORMAL_LIMIT {
            break;
        }
    }
    account.batch(&mut batch);
    account.finish("jars");
}
