//! `--library-calls`: what a program calls in the JDK, recorded where it is called; rewritten jars and the agent on real virtual machines.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use instrument_names::id_map::{IdMap, gz};
use instrument_rewriter::class_file::mutf8;
use instrument_tests::agent::{self, Outcome};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, root};
use instrument_tests::subject;
use instrument_trace::{Method, Profile, TreeConsumer};

/// Contexts of `Borrowed`: entries, exits, unwinds, aborted, open. `main` is left out at the beginning; before a colon stands the name of a
/// thread, if it is not the main one.
const CONTEXTS: &str = "
main                                                     1 0 0 0 1
nested                                                   1 1 0 0 0
nested > java.lang.Math.max                              1 1 0 0 0
nested > java.lang.Math.abs                              1 1 0 0 0
callback                                                 1 1 0 0 0
callback > java.lang.Integer.valueOf                     3 3 0 0 0
callback > ByValue.<init>                                1 1 0 0 0
callback > java.util.Arrays.sort                         1 1 0 0 0
callback > java.util.Arrays.sort > ByValue.compare       4 4 0 0 0
callback > java.util.Arrays.sort > ByValue.compare > java.lang.Integer.compareTo 4 4 0 0 0
caught                                                   3 3 0 0 0
caught > java.lang.Integer.parseInt                      3 1 2 0 0
fails                                                    3 3 0 0 0
fails > passes                                           1 0 1 0 0
fails > passes > java.lang.Integer.parseInt              1 0 1 0 0
fails > cleans                                           1 0 1 0 0
fails > cleans > java.lang.Integer.parseInt              1 0 1 0 0
fails > cleans > java.lang.Math.abs                      1 1 0 0 0
fails > rethrows                                         1 0 1 0 0
fails > rethrows > java.lang.Long.parseLong              1 0 1 0 0
fails > rethrows > java.lang.IllegalArgumentException.<init> 1 1 0 0 0
down                                                     2 1 1 0 0
down > java.util.Collections.singletonList               2 2 0 0 0
down > Step.<init>                                       2 2 0 0 0
down > java.util.List.forEach                            2 1 1 0 0
down > java.util.List.forEach > Step.accept              2 1 1 0 0
down > java.util.List.forEach > Step.accept > down       2 1 1 0 0
down > java.util.List.forEach > Step.accept > down > java.util.Collections.singletonList 2 2 0 0 0
down > java.util.List.forEach > Step.accept > down > Step.<init> 2 2 0 0 0
down > java.util.List.forEach > Step.accept > down > java.util.List.forEach 2 1 1 0 0
down > java.util.List.forEach > Step.accept > down > java.util.List.forEach > Step.accept 2 1 1 0 0
down > java.util.List.forEach > Step.accept > down > java.util.List.forEach > Step.accept > down 2 1 1 0 0
down > java.util.List.forEach > Step.accept > down > java.util.List.forEach > Step.accept > down > java.lang.IllegalStateException.<init> 1 1 0 0 0
constructed                                              1 1 0 0 0
constructed > java.lang.StringBuilder.<init>             1 1 0 0 0
constructed > java.util.ArrayList.<init>                 1 0 1 0 0
supers                                                   1 1 0 0 0
supers > Mine.<init>                                     3 2 0 1 0
supers > Mine.<init> > java.util.ArrayList.<init>        3 2 1 0 0
supers > Parsed.<init>                                   2 1 0 1 0
supers > Parsed.<init> > java.lang.Integer.parseInt      2 1 1 0 0
supers > Parsed.<init> > Parsed.<init>                   1 1 0 0 0
cloned                                                   1 1 0 0 0
cloned > java.lang.Object.clone                          2 2 0 0 0
cloned > Sheep.<init>                                    1 1 0 0 0
cloned > Sheep.copy                                      1 1 0 0 0
cloned > Sheep.copy > java.lang.Object.clone             1 1 0 0 0
handle                                                   1 1 0 0 0
handle > java.lang.invoke.MethodType.methodType          1 1 0 0 0
handle > java.lang.invoke.MethodHandles.lookup           1 1 0 0 0
handle > java.lang.invoke.MethodHandles$Lookup.findStatic 1 1 0 0 0
handle > java.lang.invoke.MethodHandle.invokeExact       1 1 0 0 0
handle > java.lang.invoke.MethodHandle.invokeExact > twice 1 1 0 0 0
copied                                                   1 1 0 0 0
copied > java.lang.System.arraycopy                      2 1 1 0 0
inherited                                                1 1 0 0 0
inherited > Name.<init>                                  1 1 0 0 0
inherited > Named.trimmed                                1 1 0 0 0
inherited > Named.trimmed > Name.name                    1 1 0 0 0
inherited > Named.trimmed > java.lang.String.trim        1 1 0 0 0
inherited > Mine.<init>                                  1 1 0 0 0
inherited > Mine.<init> > java.util.ArrayList.<init>     1 1 0 0 0
inherited > Mine.twice                                   1 1 0 0 0
inherited > Mine.twice > Mine.size                       2 2 0 0 0
inherited > Mine.size                                    1 1 0 0 0
natives                                                  1 1 0 0 0
natives > secret                                         1 0 1 0 0
swallowed                                                1 1 0 0 0
swallowed > Failing.<init>                               1 1 0 0 0
swallowed > java.util.concurrent.FutureTask.<init>       1 1 0 0 0
swallowed > java.util.concurrent.FutureTask.run          1 1 0 0 0
swallowed > java.util.concurrent.FutureTask.run > Failing.call 1 0 1 0 0
swallowed > java.util.concurrent.FutureTask.run > Failing.call > java.lang.Integer.parseInt 1 0 1 0 0
swallowed > java.lang.Class.getDeclaredConstructor       1 1 0 0 0
swallowed > java.lang.reflect.Constructor.newInstance    1 0 1 0 0
swallowed > java.lang.reflect.Constructor.newInstance > Parsed.<init> 1 0 0 1 0
swallowed > java.lang.reflect.Constructor.newInstance > Parsed.<init> > java.lang.Integer.parseInt 1 0 1 0 0
lambdas                                                  1 1 0 0 0
lambdas > java.lang.Runnable.run                         2 2 0 0 0
lambdas > java.lang.Runnable.run > lambda$lambdas$0      2 2 0 0 0
lambdas > java.lang.Runnable.run > lambda$lambdas$0 > java.lang.Math.abs 2 2 0 0 0
threads                                                  1 1 0 0 0
threads > Work.<init>                                    1 1 0 0 0
threads > java.lang.Thread.<init>                        1 1 0 0 0
threads > java.lang.Thread.start                         1 1 0 0 0
threads > java.lang.Thread.join                          1 1 0 0 0
work: Work.run                                           1 1 0 0 0
work: Work.run > java.util.Collections.emptyList         1 1 0 0 0
work: Work.run > java.util.List.size                     1 1 0 0 0
loop                                                     1 1 0 0 0
loop > java.lang.Math.max                                3 3 0 0 0
loop > java.lang.Integer.parseInt                        1 0 1 0 0
loop > java.lang.Math.abs                                1 1 0 0 0
loop > java.lang.Math.min                                3 3 0 0 0
java.lang.System.exit                                    1 0 0 0 1
";

type Figures = [u64; 5];

fn expected() -> BTreeMap<String, Figures> {
    let line = |line: &str| {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let figures = words.split_off(words.len() - 5);
        let figures: Vec<u64> = figures.iter().map(|word| word.parse().unwrap()).collect();
        (words.join(" "), figures.try_into().unwrap())
    };
    CONTEXTS.lines().filter(|text| text.split_whitespace().count() > 5).map(line).collect()
}

fn figures(method: &Method) -> Figures {
    let closes = &method.closes;
    [method.entries, closes.exits, closes.unwinds, closes.aborted, method.open]
}

/// The classes of the programs.
fn compiled(into: &Path) -> PathBuf {
    let mut javac = Jdk::default_kit().unwrap().tool("javac");
    javac.args(["-nowarn", "-Xlint:-options", "--release", "8", "-d"]).arg(into);
    let sources = ["Borrowed", "Busy"].map(|name| root().join(format!("tests/java/library/{name}.java")));
    javac.args(sources).run_quietly().unwrap();
    into.to_path_buf()
}

fn profile(folder: &Path) -> Profile {
    let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let path = entries.find(|path| path.extension().is_some_and(|e| e == "iprof")).expect("a profile");
    let profile = Profile::parse(&fs::read(path).unwrap()).unwrap();
    assert_eq!(profile.damage, []);
    assert_eq!(profile.imbalances(), []);
    profile
}

/// Names of all ids: those of the program without its own name; and which of them are calls into libraries.
fn names(profile: &Profile) -> HashMap<u32, (String, bool)> {
    let mut names = HashMap::new();
    for map in profile.copies.values().flat_map(|copy| &copy.id_maps) {
        let map = IdMap::parse(&gz::decompress(map, 1 << 24).unwrap()).unwrap();
        for entry in map.iter() {
            let class = mutf8::escape(entry.class).replace('/', ".");
            let class = class.replace("Borrowed$", "").replace("Borrowed", "");
            let name = format!("{class}.{}", mutf8::escape(entry.method.name));
            let is_call = entry.method.is_library_call();
            names.insert(entry.id, (name.trim_start_matches('.').to_owned(), is_call));
        }
    }
    names
}

/// As [`CONTEXTS`].
fn contexts(profile: &Profile) -> BTreeMap<String, Figures> {
    let names = names(profile);
    let mut found: BTreeMap<String, Figures> = BTreeMap::new();
    for thread in &profile.threads {
        let tree = thread.tree.as_ref().expect("a tree");
        let thread = match thread.name.as_str() {
            "main" => String::new(),
            name => format!("{name}: "),
        };
        let mut paths = vec![String::new()];
        for node in &tree.nodes {
            let above = &paths[node.parent as usize];
            let step = match node.consumer {
                TreeConsumer::Method(id) => names[&id].0.clone(),
                // Class loading is no call.
                TreeConsumer::Link(_) => {
                    paths.push(above.clone());
                    continue;
                }
                TreeConsumer::Deeper => "..".to_owned(),
            };
            let path = if above.is_empty() || above == "main" { step } else { format!("{above} > {step}") };
            paths.push(path.clone());
            let counts = node.counts();
            assert_eq!((counts.closes.unclosed, counts.unmatched), (0, 0), "{path}");
            let sum = found.entry(format!("{thread}{path}")).or_default();
            let closes = &counts.closes;
            // Of one context one call is open at most, so what has no end is.
            let open = counts.entries - closes.exits - closes.unwinds - closes.aborted;
            for (sum, figure) in sum.iter_mut().zip(figures(&Method { open, ..counts })) {
                *sum += figure;
            }
        }
    }
    found.retain(|_, figures| figures[0] > 0);
    found
}

/// What differs, a line each.
fn difference(found: &BTreeMap<String, Figures>, expected: &BTreeMap<String, Figures>) -> String {
    let found_only = found.iter().filter(|(path, f)| expected.get(*path) != Some(f));
    let expected_only = expected.iter().filter(|(path, f)| found.get(*path) != Some(f));
    let found_only = found_only.map(|(path, f)| format!("found    {path} {f:?}\n"));
    found_only.chain(expected_only.map(|(path, f)| format!("expected {path} {f:?}\n"))).collect()
}

/// By method instead of by context.
fn by_method(contexts: &BTreeMap<String, Figures>) -> BTreeMap<String, Figures> {
    let mut sums: BTreeMap<String, Figures> = BTreeMap::new();
    for (path, figures) in contexts {
        let method = path.rsplit([' ']).next().unwrap();
        for (sum, figure) in sums.entry(method.to_owned()).or_default().iter_mut().zip(figures) {
            *sum += figure;
        }
    }
    sums
}

/// The methods of a run in whatever way it recorded.
fn methods(outcome: &Outcome) -> BTreeMap<String, Figures> {
    let mut sums: BTreeMap<String, Figures> = BTreeMap::new();
    for method in subject::profile(outcome.folder.path()).unwrap() {
        assert_eq!((method.unclosed, method.unmatched), (0, 0), "{method:?}");
        let name = method.name.replace("Borrowed$", "").replace("Borrowed.", "");
        let figures = [method.entries, method.exits, method.unwinds, method.aborted, method.open];
        for (sum, figure) in sums.entry(name).or_default().iter_mut().zip(figures) {
            *sum += figure;
        }
    }
    sums
}

fn run_rewritten(jre: &Jre, classes: &Path, flags: &[&str]) -> Outcome {
    let mut java = jre.brief_java();
    java.args(flags).arg("-cp").arg(classes).arg("Borrowed");
    let outcome = agent::finish(java).unwrap();
    assert_eq!(outcome.code, Some(3), "{}{}", outcome.stdout, outcome.stderr);
    outcome
}

fn run_agent(jre: &Jre, classes: &Path, options: &str) -> Outcome {
    let option = agent::option(options).unwrap();
    let classes = classes.to_str().unwrap();
    let outcome = agent::run(jre, &[&option, "-cp", classes, "Borrowed"]).unwrap();
    assert_eq!(outcome.code, Some(3), "{}{}", outcome.stdout, outcome.stderr);
    outcome
}

/// A method that a class inherits from a library and that another class calls by its name: an agent cannot know.
fn as_the_agent_sees(mut contexts: BTreeMap<String, Figures>) -> BTreeMap<String, Figures> {
    contexts.remove("inherited > Mine.size").expect("a context");
    contexts
}

#[test]
fn every_call_of_a_rewritten_program_is_recorded_in_its_context() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(&work.path().join("classes"));
    let rewritten = work.path().join("rewritten");
    subject::rewrite(&classes, &rewritten, &["--library-calls", "top-level"]).unwrap();
    let expected = expected();
    let machines = jre::all().unwrap();
    for jre in &jre::turn(machines.clone()) {
        let outcome = run_rewritten(jre, &rewritten, &["-Dinstrument.record=tree"]);
        let found = contexts(&profile(outcome.folder.path()));
        assert!(found == expected, "Java {}\n{}", jre.version, difference(&found, &expected));
    }
    let modes = [
        &["-Dinstrument.record=counts"][..],
        &["-Dinstrument.record=trace"],
        &["-Dinstrument.timing=every:4"],
        &["-Dinstrument.cpu=true", "-Xint"],
    ];
    let expected = by_method(&expected);
    for (jre, mode) in jre::each(&machines, &modes) {
        let found = methods(&run_rewritten(&jre, &rewritten, mode));
        assert!(found == expected, "Java {} {mode:?}\n{}", jre.version, difference(&found, &expected));
    }
}

#[test]
fn the_agent_records_the_same() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(work.path());
    let expected = as_the_agent_sees(expected());
    let machines = jre::all().unwrap();
    for jre in &jre::turn(machines.clone()) {
        let outcome = run_agent(jre, &classes, "library-calls=top-level,record=tree");
        let found = contexts(&profile(outcome.folder.path()));
        assert!(found == expected, "Java {}\n{}", jre.version, difference(&found, &expected));
    }
    let expected = by_method(&expected);
    for (jre, mode) in jre::each(&machines, &["record=counts", "record=trace", "timing=every:4"]) {
        let found = methods(&run_agent(&jre, &classes, &format!("library-calls=top-level,{mode}")));
        assert!(found == expected, "Java {} {mode}\n{}", jre.version, difference(&found, &expected));
    }
}

/// Which names are those of calls into libraries, of those that ran.
fn calls(profile: &Profile) -> BTreeMap<String, bool> {
    let names = names(profile);
    let ran = profile.threads.iter().flat_map(|thread| thread.tree.iter()).flat_map(|tree| &tree.nodes);
    ran.filter_map(|node| node.consumer.method()).map(|id| names[&id].clone()).collect()
}

#[test]
fn what_the_filter_leaves_out_is_a_library() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(&work.path().join("classes"));
    let jre = &jre::all().unwrap()[0];
    let filter = ["--include", "Borrowed", "--exclude", "Borrowed#cleans"];
    let rewritten = work.path().join("rewritten");
    let options = [&["--library-calls", "top-level"], &filter[..]].concat();
    subject::rewrite(&classes, &rewritten, &options).unwrap();
    let of_jar = profile(run_rewritten(jre, &rewritten, &[]).folder.path());
    let options = "library-calls=top-level,include=Borrowed,exclude=Borrowed#cleans";
    let of_agent = profile(run_agent(jre, &classes, options).folder.path());
    for profile in [of_jar, of_agent] {
        let found = contexts(&profile);
        let calls = calls(&profile);
        for (name, is_call) in [
            ("main", false),
            ("callback", false),
            ("cleans", true),
            ("ByValue.<init>", true),
            ("Sheep.copy", true),
            ("java.util.Arrays.sort", true),
            ("secret", true),
            ("Mine.size", true),
        ] {
            assert_eq!(calls.get(name), Some(&is_call), "{name}: {calls:?}");
        }
        assert_eq!(found["fails > cleans"], [1, 0, 1, 0, 0]);
        assert!(!found.contains_key("fails > cleans > java.lang.Math.abs"));
        // What it calls back is not recorded, but what that calls of the program is.
        assert_eq!(found["down > java.util.List.forEach > down"], [2, 1, 1, 0, 0], "{found:?}");
        assert_eq!(found["supers > Mine.<init>"], [3, 2, 1, 0, 0]);
        assert!(!calls.contains_key("ByValue.compare"));
    }
}

#[test]
fn all_takes_in_what_the_include_patterns_leave_out() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(&work.path().join("classes"));
    let rewritten = work.path().join("rewritten");
    let options = ["--library-calls", "all", "--include", "Borrowed", "--exclude", "**.None"];
    subject::rewrite(&classes, &rewritten, &options).unwrap();
    let jre = &jre::all().unwrap()[0];
    let found = contexts(&profile(run_rewritten(jre, &rewritten, &[]).folder.path()));
    let expected = expected();
    assert!(found == expected, "{}", difference(&found, &expected));
}

/// The JDK itself is rewritten, but for what the probes need.
#[test]
fn the_agent_goes_into_the_jdk_with_all() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(work.path());
    let expected = by_method(&expected());
    for (jre, mode) in jre::each(&jre::all().unwrap(), &["record=tree", "record=trace"]) {
        let options = format!("library-calls=all,include=Borrowed,exclude=java.util.zip.**,{mode}");
        let outcome = run_agent(&jre, &classes, &options);
        let found = methods(&outcome);
        for (name, figures) in &expected {
            let is_own = !name.starts_with("java.") && name != "Mine.size";
            assert!(!is_own || found.get(name) == Some(figures), "Java {} {name}", jre.version);
        }
        assert!(!found.keys().any(|name| name.starts_with("java.util.zip.Inflater.inflate(")));
        if mode == "record=tree" {
            let calls = calls(&profile(outcome.folder.path()));
            assert_eq!(calls.get("java.util.Arrays.sort"), Some(&false), "Java {}", jre.version);
            assert_eq!(calls.get("java.util.ArrayList.size"), Some(&false));
            assert_eq!(calls.get("java.lang.Math.abs"), Some(&true));
            assert_eq!(calls.get("java.lang.System.arraycopy"), Some(&true));
        }
    }
}

/// What is called was rewritten as well, but not together with its caller: the call is recorded, and the method beneath it.
#[test]
fn parts_that_are_rewritten_one_by_one_share_ids_and_are_distinguished() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(&work.path().join("classes"));
    let ids = work.path().join("ids").display().to_string();
    let (one, two) = (work.path().join("one"), work.path().join("two"));
    for (part, is_one) in [(&one, true), (&two, false)] {
        let source = work.path().join(if is_one { "source-one" } else { "source-two" });
        fs::create_dir(&source).unwrap();
        for entry in fs::read_dir(&classes).unwrap() {
            let entry = entry.unwrap();
            if (entry.file_name() == "Borrowed.class") == is_one {
                fs::copy(entry.path(), source.join(entry.file_name())).unwrap();
            }
        }
        subject::rewrite(&source, part, &["--library-calls", "top-level", "--ids", &ids]).unwrap();
    }
    let map = IdMap::parse(&fs::read(&ids).unwrap()).unwrap();
    assert!(map.iter().filter(|entry| entry.method.is_library_call()).count() > 40);
    let jre = &jre::all().unwrap()[0];
    let path = format!("{}:{}", one.display(), two.display());
    let outcome = run_rewritten(jre, Path::new(&path), &[]);
    let found = contexts(&profile(outcome.folder.path()));
    assert_eq!(found["callback > ByValue.<init>"], [1, 1, 0, 0, 0]);
    assert_eq!(found["callback > ByValue.<init> > ByValue.<init>"], [1, 1, 0, 0, 0]);
    assert_eq!(found["supers > Mine.<init> > Mine.<init> > java.util.ArrayList.<init>"], [3, 2, 1, 0, 0]);
    let counted = subject::profile(outcome.folder.path()).unwrap();
    let entries =
        |name: &str| counted.iter().find(|m| m.name == name).map(|m| (m.entries, m.unclosed + m.unmatched));
    assert_eq!(entries("call Borrowed$ByValue.<init>"), Some((1, 0)));
    assert_eq!(entries("Borrowed$ByValue.<init>"), Some((1, 0)));
    assert_eq!(entries("java.util.Arrays.sort"), Some((1, 0)));
}

#[test]
fn run_takes_the_option_and_reports_show_the_calls() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(work.path());
    let jre = &jre::all().unwrap()[0];
    let mut run = subject::call().unwrap();
    run.args(["run", "--report", "xtree --prune 0 --width 300", "--library-calls", "top-level", "--"]);
    run.arg(jre.home.join("bin/java")).arg("-cp").arg(&classes).arg("Borrowed");
    let outcome = agent::finish(run).unwrap();
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    let line = |name: &str| outcome.stdout.lines().find(|line| line.contains(name)).map(str::to_owned);
    let sort = line("  java.util.Arrays.sort(Object[], Comparator)").expect("a line for the call");
    let compare = line("  Borrowed$ByValue.compare(Object, Object)").expect("a line for what it calls back");
    let indent = |line: &str| line.len() - line.rsplit("  ").next().unwrap().len();
    assert_eq!(indent(&compare), indent(&sort) + 2, "{}", outcome.stdout);
}

/// Entries, exits, unwinds, open; nothing else has happened.
fn counted(folder: &Path, name: &str) -> [u64; 4] {
    let methods = subject::profile(folder).unwrap();
    let method = methods.iter().find(|method| method.name == name).unwrap_or_else(|| panic!("{methods:?}"));
    assert_eq!((method.aborted, method.unclosed, method.unmatched), (0, 0, 0), "{method:?}");
    [method.entries, method.exits, method.unwinds, method.open]
}

#[test]
fn virtual_threads_are_recorded_as_others() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(work.path()).display().to_string();
    for jre in jre::all().unwrap().iter().filter(|jre| jre.version >= 21) {
        for record in ["counts", "tree", "trace"] {
            let option = agent::option(&format!("library-calls=top-level,record={record}")).unwrap();
            let outcome = agent::run(jre, &[&option, "-cp", &classes, "Busy", "500"]).unwrap();
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            let folder = outcome.folder.path();
            profile(folder);
            assert_eq!(counted(folder, "java.util.Collections.sort"), [1000, 1000, 0, 0], "{record}");
            // And at every turn of the loop that starts them.
            assert_eq!(counted(folder, "java.lang.Integer.parseInt"), [1501, 501, 1000, 0], "{record}");
            assert_eq!(counted(folder, "Busy.work"), [1000, 1000, 0, 0], "{record}");
        }
    }
}

#[test]
fn the_counts_of_a_program_that_was_killed_balance() {
    let work = tempfile::tempdir().unwrap();
    let classes = compiled(work.path());
    for (record, jre) in ["counts", "tree", "trace"].into_iter().zip(jre::all().unwrap().iter().cycle()) {
        let folder = tempfile::tempdir().unwrap();
        let mut java = jre.brief_java();
        java.arg(agent::option(&format!("library-calls=top-level,record={record}")).unwrap());
        java.current_dir(folder.path()).arg("-cp").arg(&classes).arg("Busy");
        let mut child = java.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        child.kill().unwrap();
        child.wait().unwrap();
        profile(folder.path());
        let [sorts, sorted, ..] = counted(folder.path(), "java.util.Collections.sort");
        let [parsed, exits, thrown, open] = counted(folder.path(), "java.lang.Integer.parseInt");
        assert!(sorts > 0 && sorts - sorted <= 4, "{sorts} {sorted}");
        // The frame of a thread may be there and not yet, or still, be counted.
        assert!(exits == 0 && (parsed..=parsed + 4).contains(&(thrown + open)), "{parsed} {thrown} {open}");
        assert!(sorted - parsed <= 4, "{sorted} {parsed}");
    }
}
