//! `instrument gate` with `--values jdbc`: a statement in a loop is found in programs whose methods are called as often as before, and nothing in
//! programs that changed without harm.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject;
use instrument_tests::values::Program;

/// Programs of `Seeds`, and the statement that comes once for each row with the change `n+1`.
const PROGRAMS: [(&str, &str); 10] = [
    (
        "customers",
        "`Seeds$Customers#name` now calls `SQL select name from customer where id = ?` 20 times, was 0",
    ),
    ("lines", "`Seeds$Lines#product` now calls `SQL select price from product where id = ?` 20 times, was 0"),
    ("inserts", "now calls `SQL insert into log values (?)` 20 times, was 1"),
    (
        "updates",
        "`Seeds$Updates#touch` now calls `SQL update item set stock = ? where id = ?` 20 times, was 0",
    ),
    (
        "exists",
        "`Seeds$Exists#isThere` now calls `SQL select count(*) from item where id = ?` 20 times, was 0",
    ),
    ("tree", "now calls `SQL select parent from node where id = ?` 89 times, was 0"),
    ("streams", "`Seeds$Streams#label` now calls `SQL select label from tag where id = ?` 20 times, was 0"),
    ("cache", "`Seeds$Cache#price` now calls `SQL select price from price where code = ?` 20 times, was 4"),
    (
        "rights",
        "`Seeds$Rights#isAllowed` now calls `SQL select role from member where id = ?` 20 times, was 1",
    ),
    ("sorted", "`Seeds$Sorted#rank` now calls `SQL select rank from item where id = ?`"),
];

/// Other literals, a column more, two layers around the driver, a prepared statement, rows in another order.
const HARMLESS: [&str; 5] = ["literals", "column", "layers", "prepared", "order"];

struct Runs<'a> {
    program: &'a Program,
    jdk: &'static Jdk,
    classes: PathBuf,
}

impl<'a> Runs<'a> {
    fn new(program: &'a Program, name: &str, options: &[&str]) -> Result<Runs<'a>> {
        let classes = program.work.path().join(name);
        let include =
            ["--include", "Seeds:Seeds$**", "--exclude", "Seeds$Fake**", "--transform", "method-events"];
        subject::rewrite(&program.classes, &classes, &[&include, options].concat())?;
        Ok(Runs { program, jdk: Jdk::default_kit()?, classes })
    }

    fn run(&self, seed: &str, change: &str, number: usize) -> Result<PathBuf> {
        let profile = self.classes.join(format!("{seed}-{change}-{number}.iprof"));
        let mut java = self.jdk.brief_java();
        java.args(["-XX:TieredStopAtLevel=1", "-Dinstrument.calibrate=off"]);
        java.arg(format!("-Dinstrument.out={}", profile.display()));
        java.arg("-cp").arg(&self.classes).args([self.program.name, seed, change]).run_quietly()?;
        Ok(profile)
    }

    /// A gate that has learned from three runs; in a usual run from one, for these programs do the same in each.
    fn gate(&self, seed: &str) -> Result<PathBuf> {
        let gate = self.classes.join(format!("{seed}.gate"));
        let count = if Corpus::full() { 3 } else { 1 };
        let runs = (0..count).map(|number| self.run(seed, "", number)).collect::<Result<Vec<_>>>()?;
        subject::call()?.args(["gate", "learn"]).args(runs).arg("-o").arg(&gate).run_quietly()?;
        Ok(gate)
    }

    /// What the gate says of a change, and with which exit code.
    fn check(&self, gate: &Path, seed: &str, change: &str) -> Result<(Option<i32>, String)> {
        let output =
            subject::call()?.args(["gate", "check"]).arg(gate).arg(self.run(seed, change, 3)?).output()?;
        Ok((output.status.code(), String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?))
    }
}

#[test]
fn each_statement_in_a_loop_is_found_and_nothing_else() -> Result<()> {
    let program = Program::with_layers("Seeds", &[])?;
    let with_values = Runs::new(&program, "with-values", &["--values", "jdbc"])?;
    let without = Runs::new(&program, "without", &[])?;
    let (mut found, mut harmless, mut clean, mut wrong) = (0, 0, 0, Vec::new());
    for (number, (seed, expected)) in PROGRAMS.into_iter().enumerate() {
        // Only the statements show it.
        let (code, said) = without.check(&without.gate(seed)?, seed, "n+1")?;
        ensure!(code == Some(0), "{seed}: {said}");

        let gate = with_values.gate(seed)?;
        let (code, said) = with_values.check(&gate, seed, "n+1")?;
        let mut lines = said.lines();
        let is_named = lines.next().is_some_and(|line| line.contains(expected));
        let is_n_plus_one = lines.next().is_some_and(|line| line.trim_start().starts_with("N+1: "));
        if code == Some(1) && is_named && is_n_plus_one {
            found += 1;
        } else {
            wrong.push(format!("{seed}: {code:?}, expected {expected}\n{said}"));
        }
        // Each of them to two programs in a usual run.
        let changes = if Corpus::full() { &HARMLESS[..] } else { &HARMLESS[number % HARMLESS.len()..][..1] };
        harmless += changes.len();
        for change in changes {
            let (code, said) = with_values.check(&gate, seed, change)?;
            if code == Some(0) && !said.contains("N+1") {
                clean += 1;
            } else {
                wrong.push(format!("{seed} {change}: {code:?}\n{said}"));
            }
        }
    }
    ensure!(
        (found, clean) == (10, harmless),
        "found {found} of 10, {clean} of {harmless} clean\n{}",
        wrong.join("\n")
    );
    Ok(())
}
