//! What runs later, or in another thread, stands beneath what caused it: a program that counts its work for itself, cause by cause, recorded in
//! both ways, with one thread and with eight.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use instrument_tests::agent;
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::subject;
use instrument_trace::Profile;

const TRANSFORMS: &str = "--transform=method-events,hand-over,thread-links";

/// How often each cause had its work done, by what the program printed.
fn told(stdout: &str) -> BTreeMap<String, u64> {
    let lines = stdout.strip_suffix("done\n").unwrap_or_else(|| panic!("{stdout}")).lines();
    let words = lines.map(|line| line.split_once(' ').unwrap());
    words.map(|(cause, count)| (cause.to_owned(), count.parse().unwrap())).collect()
}

/// The calls of each context, tasks beneath their causes.
fn tree(profile: &Path) -> BTreeMap<String, u64> {
    let parsed = Profile::parse(&fs::read(profile).unwrap()).unwrap();
    assert_eq!((parsed.damage.len(), parsed.imbalances().len()), (0, 0));
    let mut export = subject::call().unwrap();
    export.args(["export", "--format=folded", "--links", "--resource=calls", "--collapse=threads,processes"]);
    let done = export.arg(profile).run_quietly().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let lines = text.lines().map(|line| line.rsplit_once(' ').unwrap());
    lines.map(|(path, calls)| (path.to_owned(), calls.parse().unwrap())).collect()
}

/// The calls of `work` by the innermost of the causes that they stand beneath.
fn found(tree: &BTreeMap<String, u64>, causes: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for (path, calls) in tree.iter().filter(|(path, _)| path.ends_with(";Caused.work(java.lang.String)")) {
        let is_of = |frame: &str, cause: &str| frame.starts_with(&format!("Caused.{cause}("));
        let cause = path.split(';').rev().find_map(|frame| causes.keys().find(|cause| is_of(frame, cause)));
        let cause = cause.unwrap_or_else(|| panic!("without a cause: {path}"));
        assert!(path.starts_with("Caused.main(java.lang.String[]);"), "{path}");
        *found.entry(cause.clone()).or_default() += calls;
    }
    found
}

/// A timer runs its tasks as often as there is time for, and a stream is cut into as many parts as there are threads; how often they do
/// their work is counted.
fn is_exact(path: &str) -> bool {
    let contains = |frames: &[&str]| frames.iter().any(|frame| path.contains(frame));
    // What the agent sees of the virtual machine, in whichever call it comes first.
    if contains(&["(class loading)", "(invokedynamic linking)", ";Caused.work(java.lang.String);"]) {
        return false;
    }
    !contains(&[";Caused.timer(", ";Caused.streams("]) || path.contains(";Caused.work(")
}

#[test]
fn everything_stands_beneath_its_cause_in_one_thread_and_in_eight() {
    let dir = tempfile::tempdir().unwrap();
    let classes = dir.path().join("classes");
    fs::create_dir(&classes).unwrap();
    let jdks = Jdk::all().unwrap();
    let kit = jdks.iter().find(|jdk| jdk.version >= 11).unwrap();
    let mut javac = kit.tool("javac");
    javac.args(["--release", "11", "-Xlint:-options", "-d"]).arg(&classes);
    javac.arg(java_source("Caused.java")).run_quietly().unwrap();
    let rewritten = dir.path().join("rewritten");
    subject::rewrite(&classes, &rewritten, &[TRANSFORMS]).unwrap();
    let newest = jdks.last().unwrap();
    let mut trees = Vec::new();
    for (jdk, by_agent, threads) in
        [(kit, false, "1"), (newest, false, "8"), (kit, true, "8"), (newest, true, "1")]
    {
        let out: PathBuf = dir.path().join(format!("{}.iprof", trees.len()));
        let threads_of_all = format!("-Djava.util.concurrent.ForkJoinPool.common.parallelism={threads}");
        let mut java = jdk.brief_java();
        if by_agent {
            let program = java.get_program().to_owned();
            java = subject::call().unwrap();
            java.args(["run", TRANSFORMS, "--include", "Caused**", "--agent"]).arg(agent::library().unwrap());
            java.arg("--out").arg(&out).arg("--").arg(program).arg("-cp").arg(&classes);
        } else {
            java.arg(format!("-Dinstrument.out={}", out.display())).arg("-cp").arg(&rewritten);
        }
        let done = java.args([&threads_of_all, "Caused", threads]).run_quietly().unwrap();
        let told = told(&String::from_utf8(done.stdout).unwrap());
        let tree = tree(&out);
        assert_eq!(found(&tree, &told), told, "{threads} threads, Java {}", jdk.version);
        let deepest = tree.keys().map(|path| path.matches(";(task);").count()).max();
        assert!(deepest >= Some(100), "{deepest:?}");
        trees.push(tree.into_iter().filter(|(path, _)| is_exact(path)).collect::<Vec<_>>());
    }
    for tree in &trees[1..] {
        let differ = tree.iter().zip(&trees[0]).find(|(one, other)| one != other);
        assert_eq!((differ, tree.len()), (None, trees[0].len()));
    }
}
