//! JDKs whose own classes are rewritten (`instrument jdk`): real programs run on them as on the original, and their profiles have the JDK's
//! methods, with counts that balance.

use instrument_tests::shared;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::corpus::{Corpus, sha256};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, java_source, join};
use instrument_tests::subject::{self, MethodCounts, entries_of};
use tempfile::TempDir;

/// The virtual machines that it is for.
fn jres() -> Result<Vec<Jre>> {
    let mut found = jre::all()?;
    found.retain(|jre| jre.version >= 11);
    ensure!(!found.is_empty(), "no Java 11 or later");
    Ok(jre::turn(found))
}

fn jdk(home: &Path, output: &Path, options: &[&str]) -> Result<Command> {
    let mut call = subject::call()?;
    call.arg("jdk").arg("--java-home").arg(home).arg("-o").arg(output).args(options);
    Ok(call)
}

/// The copy of a JDK with `java.util.**` recorded, made once.
fn rewritten(jre: &Jre) -> Result<Jre> {
    let folder = shared::folder(&format!("jdk-{}", jre.version), |folder| {
        jdk(&jre.home, &folder.join("jdk"), &["--include", "java.util.**"])?.run_quietly()?;
        Ok(())
    });
    Ok(Jre { home: folder.join("jdk"), version: jre.version })
}

fn folder() -> Result<TempDir> {
    Ok(tempfile::tempdir()?)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the program on the original and on the copy; both say and leave the same. Returns the methods of the profile.
fn compare(jre: &Jre, program: impl Fn(Command) -> Command) -> Result<Vec<MethodCounts>> {
    let copy = rewritten(jre)?;
    let (before, after) = (folder()?, folder()?);
    let run = |jre: &Jre, folder: &TempDir| program(jre.brief_java()).current_dir(folder.path()).capture();
    let (old, new) = (run(jre, &before)?, run(&copy, &after)?);
    let said = |output: &Output| (output.status.code(), text(&output.stdout), text(&output.stderr));
    ensure!(said(&old) == said(&new), "Java {}: {:?}\n{:?}", jre.version, said(&old), said(&new));
    ensure!(old.status.success(), "{}", text(&old.stderr));
    let files = |folder: &TempDir| -> Result<Vec<(PathBuf, String)>> {
        let mut files = Vec::new();
        for entry in walkdir::WalkDir::new(folder.path()).sort_by_file_name() {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type().is_file() && path.extension().is_none_or(|extension| extension != "iprof") {
                files.push((path.strip_prefix(folder.path())?.to_owned(), sha256(path)?));
            }
        }
        Ok(files)
    };
    ensure!(files(&before)? == files(&after)?, "Java {}: other files", jre.version);
    methods(after.path())
}

/// The methods of the profiles in a folder, whose counts balance.
fn methods(folder: &Path) -> Result<Vec<MethodCounts>> {
    let methods = subject::profile(folder)?;
    let wrong: Vec<_> = methods.iter().filter(|method| method.unclosed + method.unmatched > 0).collect();
    ensure!(wrong.is_empty(), "events out of place: {wrong:?}");
    Ok(methods)
}

fn ran(methods: &[MethodCounts], prefix: &str, at_least: u64) -> Result<()> {
    let entries = entries_of(methods, prefix);
    ensure!(entries >= at_least, "{entries} entries into {prefix}, expected at least {at_least}");
    Ok(())
}

#[test]
fn ecj_compiles_the_same_classes() -> Result<()> {
    let ecj = Corpus::open()?.path("ecj")?;
    for jre in jres()? {
        let methods = compare(&jre, |mut java| {
            java.arg("-jar").arg(&ecj).args(["-8", "-nowarn", "-proc:none", "-d", "classes"]);
            java.arg(java_source("bytecodes/Programs.java"));
            java
        })?;
        ran(&methods, "java.util.HashMap.put", 100)?;
        ran(&methods, "java.util.", 5_000)?;
        // The program itself was not rewritten.
        ensure!(entries_of(&methods, "org.eclipse.") == 0);
    }
    Ok(())
}

#[test]
fn clojure_runs_forms() -> Result<()> {
    let corpus = Corpus::open()?;
    let path = [corpus.path("clojure")?, corpus.path("spec-alpha")?, corpus.path("core-specs-alpha")?];
    const FORMS: &str = "(println (reduce + (map (comp inc *') (range 20000))))
        (println (transduce (comp (filter odd?) (map inc) (take 10)) + (range)))
        (println @(future (apply + (pmap inc (range 100)))))
        (println (try (nth [] 1) (catch IndexOutOfBoundsException e :none))) (shutdown-agents)";
    for jre in jres()? {
        let methods = compare(&jre, |mut java| {
            java.arg("-cp").arg(join(&path)).args(["clojure.main", "-e", FORMS]);
            java
        })?;
        ran(&methods, "java.util.concurrent.ConcurrentHashMap.get", 1_000)?;
        ran(&methods, "java.util.", 100_000)?;
    }
    Ok(())
}

#[test]
fn groovy_runs_a_script() -> Result<()> {
    let groovy = Corpus::open()?.path("groovy-all")?;
    const SCRIPT: &str = r#"def fib; fib = { int n -> n < 2 ? n : fib(n - 1) + fib(n - 2) }
println fib(12); println((1..2000).collect { it * it }.findAll { it % 3 == 0 }.sum())
println "seen: ${'one two one'.split(' ').countBy { it }}"
try { [].first() } catch (NoSuchElementException e) { println e.message }"#;
    for jre in jres()? {
        let methods = compare(&jre, |mut java| {
            java.args([
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "--add-opens=java.base/java.util=ALL-UNNAMED",
            ]);
            java.arg("-cp").arg(&groovy).args(["groovy.ui.GroovyMain", "-e", SCRIPT]);
            java
        })?;
        ran(&methods, "java.util.ArrayList.", 1_000)?;
    }
    Ok(())
}

const MAPS: &str = "import java.util.*;
public class Maps {
    static int fill() { Map<Integer, Integer> map = new HashMap<>(); for (int i = 0; i < 1000; i++) map.put(i, i); return map.size(); }
    static int fails() { try { new ArrayList<Integer>().iterator().next(); return 0; } catch (NoSuchElementException e) { return 1; } }
    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> System.out.println(fill())); thread.start(); thread.join();
        System.out.println(fails() + \" \" + new Object().toString().startsWith(\"java.lang.Object@\"));
    }
}";

/// A program of one class and one source file in a jar, and the same rewritten.
fn jars(name: &str, source: &str) -> Result<[PathBuf; 2]> {
    let folder = folder()?.keep();
    let kit = Jdk::default_kit()?;
    fs::write(folder.join(format!("{name}.java")), source)?;
    kit.tool("javac")
        .args(["--release", "11", "-d", "classes"])
        .arg(format!("{name}.java"))
        .current_dir(&folder)
        .run_quietly()?;
    let plain = folder.join(format!("{name}.jar"));
    kit.tool("jar")
        .arg("cfe")
        .arg(&plain)
        .args([name, "-C", "classes", "."])
        .current_dir(&folder)
        .run_quietly()?;
    let rewritten = folder.join(format!("{name}-rewritten.jar"));
    subject::rewrite::<&str>(&plain, &rewritten, &[])?;
    Ok([plain, rewritten])
}

/// Without a shared file of ids: no id means two methods, and the JDK's methods are below those of the program.
#[test]
fn methods_of_the_jdk_are_below_those_of_a_rewritten_program() -> Result<()> {
    let [plain, jar] = jars("Maps", MAPS)?;
    for jre in jres()? {
        let home = rewritten(&jre)?;
        let expected = jre.brief_java().arg("-jar").arg(&plain).run_quietly()?;
        let ways: [&[&str]; 5] = [
            &[],
            &["-Xverify:all", "-Xint"],
            &["-Xcomp"],
            &["-Dinstrument.record=trace"],
            // With a class of another module than the recorder's.
            &["-Dinstrument.cpu=true"],
        ];
        for options in ways {
            let folder = folder()?;
            let found = home
                .brief_java()
                .args(options)
                .arg("-jar")
                .arg(&jar)
                .current_dir(folder.path())
                .run_quietly()?;
            ensure!(found.stdout == expected.stdout, "{}", text(&found.stdout));
            ensure!(!text(&found.stderr).contains("instrument:"), "{options:?}: {}", text(&found.stderr));
            let methods = methods(folder.path())?;
            let count = |name: &str| {
                let found = methods.iter().find(|method| method.name == name);
                found.map_or([0; 3], |method| [method.entries, method.exits, method.unwinds])
            };
            ensure!(count("Maps.fill") == [1, 1, 0] && count("Maps.main") == [1, 1, 0], "{methods:?}");
            ensure!(count("java.util.HashMap.put")[0] >= 1000, "{:?}", count("java.util.HashMap.put"));
            let [entries, exits, unwinds] = count("java.util.ArrayList$Itr.next");
            ensure!(unwinds == 1 && entries == exits + 1, "{methods:?}");
            ensure!(entries_of(&methods, "java.lang.String.") == 0, "what the recorder needs is left alone");
            let profile = fs::read_dir(folder.path())?.next().context("no profile")??.path();
            let tree = subject::call()?.args(["xtree", "--json"]).arg(&profile).run_quietly()?;
            let tree = text(&tree.stdout);
            let fill = tree.find("Maps.fill").context("no Maps.fill")?;
            ensure!(tree[fill..].contains("java.util.HashMap.put"), "{tree}");
        }
    }
    Ok(())
}

const LISTER: &str = "import java.net.URI; import java.nio.file.*; import java.util.stream.Stream;
public class Lister {
    public static void main(String[] args) throws Exception {
        FileSystem image = FileSystems.getFileSystem(URI.create(\"jrt:/\"));
        Path folder = image.getPath(\"/modules/java.base/instrument/runtime\");
        try (Stream<Path> files = Files.list(folder); Stream<Path> packages = Files.list(image.getPath(\"/packages\"))) {
            System.out.println(files.anyMatch(path -> path.endsWith(\"JdkImage.class\")) + \" \"
                + packages.anyMatch(path -> path.endsWith(\"instrument.runtime\")) + \" \"
                + Object.class.getModule().isExported(\"instrument.runtime\"));
        }
    }
}";

/// Class data sharing is on, wherever the copy lies, and the recorder comes from the archive.
#[test]
fn a_copy_that_was_moved_starts_from_its_archive() -> Result<()> {
    let [jar, _] = jars("Maps", MAPS)?;
    let [lister, _] = jars("Lister", LISTER)?;
    for jre in jres()? {
        let has_archive = jre.home.join("lib/server/classes.jsa").exists();
        let home = rewritten(&jre)?;
        let place = folder()?;
        let moved = place.path().join("a moved JDK");
        Command::new("cp").arg("-a").arg(&home.home).arg(&moved).run_quietly()?;
        let moved = Jre { home: moved, ..jre.clone() };
        if has_archive {
            let folder = self::folder()?;
            let log = folder.path().join("loaded");
            let mut java = moved.brief_java();
            java.arg("-Xshare:on")
                .arg(format!("-Xlog:class+load:file={}", log.display()))
                .arg("-jar")
                .arg(&jar);
            java.current_dir(folder.path()).run_quietly()?;
            let log = fs::read_to_string(&log)?;
            for class in
                ["java.util.HashMap", "java.lang.InstrumentProbes", "instrument.runtime.ProfilerRuntime"]
            {
                let line = log.lines().find(|line| line.contains(&format!(" {class} "))).context(class)?;
                ensure!(line.contains("shared objects file"), "{line}");
            }
            ran(&methods(folder.path())?, "java.util.HashMap.put", 1000)?;
        }
        // What lists the content of the image finds what was added.
        let folder = self::folder()?;
        let found = moved.brief_java().arg("-jar").arg(&lister).current_dir(folder.path()).run_quietly()?;
        ensure!(text(&found.stdout) == "true true true\n", "{}", text(&found.stdout));
        // Another set of modules than that of the archive.
        let folder = self::folder()?;
        moved
            .brief_java()
            .args(["--limit-modules", "java.base", "-jar"])
            .arg(&jar)
            .current_dir(folder.path())
            .run_quietly()?;
        ran(&methods(folder.path())?, "java.util.HashMap.put", 1000)?;
        // Programs that are not recorded leave nothing.
        let folder = self::folder()?;
        moved
            .brief_java()
            .env("INSTRUMENT_RECORD", "off")
            .arg("-jar")
            .arg(&jar)
            .current_dir(folder.path())
            .run_quietly()?;
        ensure!(fs::read_dir(folder.path())?.next().is_none(), "a profile although nothing is recorded");
    }
    Ok(())
}

/// Probes in what runs virtual threads would wait for locks that virtual threads are to get next.
#[test]
fn virtual_threads_go_on() -> Result<()> {
    let Some(kit) = Jdk::at_least(21)? else {
        println!("not run: no JDK with virtual threads");
        return Ok(());
    };
    const SOURCE: &str = "import java.util.*; import java.util.concurrent.*;
public class Virtual {
    public static void main(String[] args) throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                results.add(executor.submit(() -> {
                    Thread.sleep(2);
                    Map<Integer, Integer> map = new HashMap<>();
                    for (int k = 0; k < 10; k++) map.put(k, k);
                    return map.size();
                }));
            }
            int sum = 0;
            for (Future<Integer> result : results) sum += result.get();
            System.out.println(sum);
        }
    }
}";
    let folder = folder()?;
    fs::write(folder.path().join("Virtual.java"), SOURCE)?;
    kit.tool("javac").arg("Virtual.java").current_dir(folder.path()).run_quietly()?;
    let home = rewritten(&Jre { home: kit.home, version: kit.version })?;
    let mut java = home.brief_java();
    java.args(["-cp", ".", "Virtual"]).current_dir(folder.path());
    let output = java.capture_within(std::time::Duration::from_secs(60))?;
    ensure!(text(&output.stdout) == "10000\n", "{}{}", text(&output.stdout), text(&output.stderr));
    ran(&methods(folder.path())?, "java.util.HashMap.put", 10_000)
}

/// A second clock would come into the middle of the times.
#[test]
fn an_agent_refuses_a_jdk_that_records_by_itself() -> Result<()> {
    let copy = rewritten(&jres()?.remove(0))?;
    let [jar, _] = jars("Maps", MAPS)?;
    let folder = folder()?;
    let mut java = copy.brief_java();
    java.arg(agent::option("")?).arg("-jar").arg(&jar).current_dir(folder.path());
    let found = java.capture()?;
    let said = text(&found.stderr);
    ensure!(said.contains("was made by instrument jdk"), "{said}");
    ensure!(said.contains("the program runs as it is"), "{said}");
    ensure!(found.status.success(), "{said}");
    ran(&methods(folder.path())?, "java.util.HashMap.put", 1000)
}

/// A runtime that jlink made, with compressed resources: all of its classes, every transform, the same bytes for any number of threads.
#[test]
fn everything_of_a_runtime_of_jlink_is_rewritten() -> Result<()> {
    let kit = Jdk::default_kit()?;
    if !kit.home.join("jmods").is_dir() {
        println!("not run: the JDK has no jmods");
        return Ok(());
    }
    let [_, jar] = jars("Maps", MAPS)?;
    let folder = folder()?;
    let (home, output) = (folder.path().join("linked"), folder.path().join("recorded"));
    let mut jlink = kit.tool("jlink");
    jlink.args(["--add-modules", "java.base,java.logging,java.rmi", "--compress=2", "--output"]).arg(&home);
    jlink.run_quietly()?;
    let before = sha256(&home.join("lib/modules"))?;
    let account = folder.path().join("account.jsonl");
    let account_path = account.to_string_lossy().into_owned();
    let all = ["--include", "**", "--transform", "method-events,allocation,rmi", "--account", &account_path];
    let mut made = Vec::new();
    for jobs in ["1", "3"] {
        // The second one replaces the first.
        jdk(&home, &output, &all)?.args(["-j", jobs]).run_quietly()?;
        made.push(sha256(&output.join("lib/modules"))?);
    }
    ensure!(made[0] == made[1], "other bytes with more threads");
    ensure!(before == sha256(&home.join("lib/modules"))?, "the input has changed");
    let account = fs::read_to_string(account)?;
    let has = |class: &str, outcome: &str| {
        let line = account.lines().find(|line| line.contains(&format!("\"class\":\"{class}\"")));
        line.is_some_and(|line| line.contains(&format!("\"outcome\":\"{outcome}\"")))
    };
    ensure!(has("java/util/HashMap", "rewritten") && has("java/util/logging/Logger", "rewritten"));
    // The JIT compiler has code of its own for this one.
    let intrinsic = r#""class":"java/util/Arrays","method":"equals","descriptor":"([B[B)Z","outcome":"#;
    let line = account.lines().find(|line| line.contains(intrinsic)).context("no Arrays.equals")?;
    ensure!(line.contains("\"outcome\":\"excluded\""), "{line}");
    ensure!(has("java/lang/String", "excluded") && has("java/util/concurrent/ForkJoinPool", "excluded"));
    let java = Jre { home: output, version: kit.version }
        .brief_java()
        .arg("-jar")
        .arg(&jar)
        .current_dir(folder.path())
        .capture()?;
    ensure!(text(&java.stdout) == "1000\n1 true\n", "{}{}", text(&java.stdout), text(&java.stderr));
    ran(&methods(folder.path())?, "java.util.HashMap.put", 1000)?;
    let profiles = fs::read_dir(folder.path())?.flatten().map(|entry| entry.path());
    let profile = profiles.into_iter().find(|path| path.extension().is_some_and(|of| of == "iprof"));
    let made = subject::call()?
        .args(["report", "--allocations"])
        .arg(profile.context("no profile")?)
        .run_quietly()?;
    let made = text(&made.stdout);
    ensure!(
        made.lines().any(|line| line.contains("java.util.HashMap$Node") && line.contains("newNode")),
        "{made}"
    );
    Ok(())
}

#[test]
fn what_cannot_be_done_is_refused_and_leaves_nothing() -> Result<()> {
    let jre = jres()?.remove(0);
    let copy = rewritten(&jre)?;
    let folder = folder()?;
    let output = folder.path().join("out");
    let util: &[&str] = &["--include", "java.util.**"];
    fs::create_dir(folder.path().join("other"))?;
    fs::write(folder.path().join("other/file"), "")?;
    let other = folder.path().join("other");
    let inside = jre.home.join("inside");
    let cases: [(&Path, &Path, &[&str], i32, &str); 8] = [
        (&jre.home, &output, &[], 2, "--include says which classes"),
        (
            &jre.home,
            &output,
            &["--include", "java.lang.**"],
            2,
            "leaves no method of this JDK that can be recorded",
        ),
        (&jre.home, &output, &["--include", "java.util.**", "--modules", "java.nope"], 2, "no such module"),
        (
            &jre.home,
            &output,
            &["--include", "java.util.**", "--transform", "lines"],
            2,
            "invalid value 'lines'",
        ),
        (&copy.home, &output, util, 1, "this JDK was rewritten before"),
        (folder.path(), &output, util, 1, "not the home directory of a JDK"),
        (&jre.home, &other, util, 2, "something that this command has not made"),
        (&jre.home, &inside, util, 2, "lies in"),
    ];
    for (home, output, options, code, said) in cases {
        let found = jdk(home, output, options)?.capture()?;
        ensure!(found.status.code() == Some(code), "{options:?}: {:?} {}", found.status, text(&found.stderr));
        ensure!(text(&found.stderr).contains(said), "{options:?}: {}", text(&found.stderr));
    }
    let mut left: Vec<_> =
        fs::read_dir(folder.path())?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
    left.sort();
    ensure!(left == ["other"], "{left:?}");
    ensure!(!inside.exists());
    Ok(())
}
