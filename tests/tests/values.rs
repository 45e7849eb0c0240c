//! `--values`: statements as calls of their own, through two layers around a real database; the agent and rewritten classes, on real
//! virtual machines.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use instrument_names::id_map::{IdMap, gz};
use instrument_rewriter::class_file::mutf8;
use instrument_tests::agent::{self, Outcome};
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, root};
use instrument_tests::subject;
use instrument_trace::{Profile, TreeConsumer};

/// Statements of `Shop` by the method that runs them: entries, exits, unwinds.
const STATEMENTS: &str = "
again > SQL update item set price = price + ? where id = ?                              10 10 0
batches > SQL (batch of different statements)                                           1 1 0
batches > SQL delete from log where id = ?                                              2 2 0
batches > SQL delete from log where text = ?                                            3 3 0
calls > SQL call abs(?)                                                                 1 1 0
caught > SQL select ?                                                                   3 3 0
caught > SQL select nothing from item where id = ?                                      3 0 3
<init> > SQL select name from item                                                      1 1 0
fails > SQL select nothing from item where id = ?                                       1 0 1
fill > SQL create table if not exists item (id int primary key, name varchar(?), price int default ?) 1 1 0
fill > SQL create table if not exists log (id int auto_increment primary key, text varchar(?)) 1 1 0
fill > SQL insert into item values (?, ?, ?)                                            10 10 0
keys > SQL insert into log (text) values (?)                                            9 9 0
lists > SQL select count(*) from item where id in (?)                                   3 3 0
name > SQL select name from item where id = ?                                           1008 1008 0
names > SQL select id from item where id < ?                                            1 1 0
unknown > SQL (text not known)                                                          2 2 0
";

type Figures = [u64; 3];

fn expected() -> BTreeMap<String, Figures> {
    let line = |line: &str| {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let figures = words.split_off(words.len() - 3);
        let figures: Vec<u64> = figures.iter().map(|word| word.parse().unwrap()).collect();
        (words.join(" "), figures.try_into().unwrap())
    };
    STATEMENTS.lines().filter(|text| !text.is_empty()).map(line).collect()
}

/// What the tests run.
struct Program {
    classes: PathBuf,
    driver: PathBuf,
    /// Has the classes.
    work: tempfile::TempDir,
}

impl Program {
    fn compile() -> Program {
        let corpus = Corpus::open().unwrap();
        corpus.fetch(&["h2"]).unwrap();
        let driver = corpus.path("h2").unwrap();
        let work = tempfile::tempdir().unwrap();
        let (layers, classes) = (work.path().join("layers"), work.path().join("classes"));
        let source = |name: &str| root().join(format!("tests/java/values/{name}.java"));
        let kit = Jdk::default_kit().unwrap();
        let javac = |into: &Path| {
            let mut javac = kit.tool("javac");
            javac.args(["-nowarn", "-Xlint:none", "--release", "11", "-cp"]).arg(&driver).arg("-d").arg(into);
            javac
        };
        javac(&layers).arg(source("Layers")).run_quietly().unwrap();
        kit.tool("java").arg("-cp").arg(&layers).arg("Layers").arg(&layers).run_quietly().unwrap();
        let passing = ["Connection", "Statement", "PreparedStatement"];
        let passing = passing.map(|name| layers.join(format!("Passing{name}.java")));
        javac(&classes).arg(source("Shop")).args(passing).run_quietly().unwrap();
        Program { classes, driver, work }
    }

    fn java(&self, jre: &Jre, classes: &Path, flags: &[&str], arguments: &[&str]) -> Command {
        let mut java = jre.java();
        java.arg("-Xverify:all").args(flags).arg("-cp");
        java.arg(format!("{}:{}", classes.display(), self.driver.display())).arg("Shop").args(arguments);
        java
    }

    fn run_agent(&self, jre: &Jre, options: &str, arguments: &[&str]) -> Outcome {
        let option = agent::option(options).unwrap();
        finish(self.java(jre, &self.classes, &[&option], arguments))
    }
}

fn finish(java: Command) -> Outcome {
    let outcome = agent::finish(java).unwrap();
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
    assert!(!outcome.stderr.contains("instrument:"), "{}", outcome.stderr);
    outcome
}

fn profile(outcome: &Outcome) -> Profile {
    let path = outcome.profile().next().expect("a profile");
    let profile = Profile::parse(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!((&profile.damage[..], &profile.imbalances()[..]), (&[][..], &[][..]));
    profile
}

/// Names of all ids, without classes.
fn names(profile: &Profile) -> HashMap<u32, String> {
    let maps = profile.copies.values().flat_map(|copy| &copy.id_maps);
    let mut names = HashMap::new();
    for map in maps {
        let map = IdMap::parse(&gz::decompress(map, 1 << 24).unwrap()).unwrap();
        names.extend(map.iter().map(|entry| (entry.id, mutf8::escape(entry.method.name))));
    }
    names
}

/// Statements by the method that runs them, of all threads.
fn statements(profile: &Profile) -> BTreeMap<String, Figures> {
    let names = names(profile);
    let mut found: BTreeMap<String, Figures> = BTreeMap::new();
    for tree in profile.threads.iter().filter_map(|thread| thread.tree.as_ref()) {
        let name = |node: u32| match tree.nodes[node as usize - 1].consumer {
            TreeConsumer::Method(id) => names[&id].as_str(),
            _ => "",
        };
        for (number, node) in (1..).zip(&tree.nodes).filter(|(number, _)| name(*number).starts_with("SQL ")) {
            let counts = node.counts();
            let closes = &counts.closes;
            assert_eq!((closes.aborted, closes.unclosed, counts.unmatched), (0, 0, 0), "{}", name(number));
            // Driver and layers run within it, and none of their statements is told of.
            let mut above = node.parent;
            while above != 0 && !name(above).starts_with("SQL ") {
                above = tree.nodes[above as usize - 1].parent;
            }
            assert_eq!(above, 0, "{} within another", name(number));
            let path = format!("{} > {}", name(node.parent), name(number));
            let figures = [counts.entries, closes.exits, closes.unwinds];
            found.entry(path).or_default().iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
    }
    found
}

/// The same without the methods, in whatever way the run recorded.
fn by_text(outcome: &Outcome) -> BTreeMap<String, Figures> {
    let methods = subject::profile(outcome.folder.path()).unwrap().into_iter();
    let statements = methods.filter(|method| method.name.starts_with("SQL "));
    sums(statements.map(|method| (method.name, [method.entries, method.exits, method.unwinds])))
}

/// By what stands in front of the first parenthesis.
fn sums(statements: impl Iterator<Item = (String, Figures)>) -> BTreeMap<String, Figures> {
    let mut sums: BTreeMap<String, Figures> = BTreeMap::new();
    for (name, figures) in statements {
        let name = name.split('(').next().unwrap().to_owned();
        sums.entry(name).or_default().iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
    }
    sums
}

fn expected_by_text() -> BTreeMap<String, Figures> {
    let text = |path: &str| path.split_once(" > ").unwrap().1.to_owned();
    sums(expected().into_iter().map(|(path, figures)| (text(&path), figures)))
}

const OPTIONS: &str = "transform=method-events:thread-links:waits:jdbc,include=Shop:Shop$**:Passing**";

#[test]
fn each_statement_is_a_call_of_the_method_that_runs_it() {
    let program = Program::compile();
    for jre in jre::all().unwrap() {
        if jre.version < 11 {
            continue;
        }
        let outcome = program.run_agent(&jre, OPTIONS, &[]);
        assert_eq!(outcome.stdout, "5\n42122\ndone\n");
        let (found, expected) = (statements(&profile(&outcome)), expected());
        assert_eq!(found, expected, "Java {}", jre.version);
        for mode in ["record=counts", "record=trace", "timing=sampled:4", "cpu=true"] {
            let outcome = program.run_agent(&jre, &format!("{OPTIONS},{mode}"), &[]);
            assert_eq!(by_text(&outcome), expected_by_text(), "Java {} {mode}", jre.version);
        }
    }
}

/// With the driver rewritten, too: what it runs by itself is part of the program's statement.
#[test]
fn rewritten_classes_tell_the_same_and_so_does_a_rewritten_driver() {
    let program = Program::compile();
    let rewritten = program.work.path().join("rewritten");
    let report = subject::rewrite(&program.classes, &rewritten, &["--values", "jdbc"]).unwrap();
    assert!(report.iter().all(|line| line.outcome != "skipped" || line.method.is_empty()), "{report:?}");
    for jre in jre::all().unwrap().iter().filter(|jre| jre.version >= 11) {
        let of_classes = finish(program.java(jre, &rewritten, &[], &[]));
        let of_driver = program.run_agent(jre, "transform=method-events:jdbc", &[]);
        for outcome in [of_classes, of_driver] {
            assert_eq!(statements(&profile(&outcome)), expected(), "Java {}", jre.version);
        }
    }
}

#[test]
fn values_beyond_the_bound_are_one() {
    let program = Program::compile();
    let jre = jre::all().unwrap().pop().unwrap();
    let outcome = program.run_agent(&jre, &format!("{OPTIONS},most-values=5"), &["10"]);
    let found = by_text(&outcome);
    let of_columns = |name: &str| found.get(&format!("SQL {name}")).copied();
    assert_eq!(of_columns("select id as c0 from item"), Some([2, 2, 0]));
    assert_eq!(of_columns("select id as c1 from item"), Some([2, 2, 0]));
    assert_eq!(of_columns("select id as c2 from item"), None);
    assert_eq!(of_columns(""), Some([16, 16, 0]), "(others): {found:?}");
    assert_eq!(statements(&profile(&outcome))["columns > SQL (others)"], [16, 16, 0]);
    // The usual bound.
    let outcome = program.run_agent(&jre, OPTIONS, &["1100"]);
    let found = statements(&profile(&outcome));
    assert_eq!(found["columns > SQL (others)"], [2 * 103, 2 * 103, 0]);
    assert_eq!(found.len(), 1001);
}

#[test]
fn reports_show_statements_as_they_show_methods() {
    let program = Program::compile();
    let class_path = format!("{}:{}", program.classes.display(), program.driver.display());
    let instrument = |arguments: &[&str]| {
        let output =
            subject::call().unwrap().current_dir(program.work.path()).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let java = Jdk::default_kit().unwrap().tool("java").get_program().to_str().unwrap().to_owned();
    let command = [
        &["run", "--values", "jdbc", "--include", "Shop*", "--out", "shop.iprof", "--", &java][..],
        &["-cp", &class_path, "Shop"],
    ]
    .concat();
    let (code, _, errors) = instrument(&command);
    assert_eq!(code, Some(0), "{errors}");
    let text = "SQL select name from item where id = ?";
    let has_line = |report: &str, calls: &str| {
        report.lines().any(|line| line.contains(text) && line.split_whitespace().next() == Some(calls))
    };
    let (_, tree, _) = instrument(&["xtree", "--prune", "0", "shop.iprof"]);
    assert!(has_line(&tree, "7") && has_line(&tree, "1000"), "{tree}");
    let (_, methods, _) = instrument(&["xprof", "shop.iprof"]);
    assert!(has_line(&methods, "1008"), "{methods}");
    let (_, statistics, _) = instrument(&["stats", "shop.iprof"]);
    assert!(statistics.contains(text), "{statistics}");
    let (_, callers, _) = instrument(&["xarc", "--method", text, "shop.iprof"]);
    assert!(callers.contains(text) && callers.contains("Shop.name"), "{callers}");
    let (_, folded, _) = instrument(&["export", "--format", "folded", "shop.iprof"]);
    assert!(folded.contains("Shop.name") && folded.contains(text), "{folded}");
    // Texts have other ids in every run, and the same names.
    let (code, gate, errors) = instrument(&["gate", "learn", "shop.iprof", "-o", "shop.gate"]);
    assert_eq!(code, Some(0), "{gate}{errors}");
    let (code, gate, errors) = instrument(&["gate", "check", "shop.gate", "shop.iprof"]);
    assert_eq!(code, Some(0), "{gate}{errors}");
    let written = std::fs::read_to_string(program.work.path().join("shop.gate")).unwrap();
    assert!(written.contains(text), "{written}");

    let refused = ["run", "--values", "jdbc", "--transform", "thread-links", "--", &java, "-version"];
    let (code, _, errors) = instrument(&refused);
    assert_eq!(code, Some(2));
    assert!(errors.contains("--values jdbc is about calls"), "{errors}");
}
