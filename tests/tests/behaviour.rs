//! Real programs, original and instrumented: the same output, exit code and files; and a profile which proves that
//! instrumented code ran, and obeys the balance of exact counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, Run, join};
use instrument_tests::subject::{self, MethodCounts, entries_of};
use tempfile::TempDir;

/// What `--runtime classpath` writes beside its output.
const RUNTIME_JAR: &str = "instrument-runtime.jar";

/// Two folders with the same content, one for each run of a program.
struct Trial {
    work: TempDir,
    /// Original jars or folders of classes, by the path that they have in both folders.
    subjects: Vec<(PathBuf, String)>,
    options: Vec<String>,
}

impl Trial {
    fn new() -> Result<Trial> {
        let work = tempfile::tempdir()?;
        for side in ["before", "after"] {
            fs::create_dir(work.path().join(side))?;
        }
        Ok(Trial { work, subjects: Vec::new(), options: Vec::new() })
    }

    fn folder(&self, side: &str) -> PathBuf {
        self.work.path().join(side)
    }

    /// Puts a file into both folders.
    fn file(&self, name: &str, content: &str) -> Result<()> {
        for side in ["before", "after"] {
            let path = self.folder(side).join(name);
            fs::create_dir_all(path.parent().expect("inside a folder"))?;
            fs::write(path, content)?;
        }
        Ok(())
    }

    /// Puts `original` into one folder and what `instrument` makes of it into the other, both as `name`.
    fn subject(&mut self, original: &Path, name: &str) {
        self.subjects.push((original.to_path_buf(), name.to_string()));
    }

    /// Runs the program in both folders, compares all that can be seen, and returns the profile.
    fn run(&self, program: impl Fn(&Path) -> Command) -> Result<Vec<MethodCounts>> {
        let (before, after) = (self.folder("before"), self.folder("after"));
        // What runs together shares one id map, or methods would be taken for one another.
        let ids = self.work.path().join("shared.ids").to_string_lossy().into_owned();
        let options: Vec<String> = self.options.iter().cloned().chain(["--ids".into(), ids]).collect();
        for (original, name) in &self.subjects {
            if original.is_dir() {
                copy(original, &before.join(name))?;
            } else {
                fs::copy(original, before.join(name))?;
            }
            subject::rewrite(original, &after.join(name), &options)?;
            let report = after.join(name).with_extension("report");
            fs::rename(report, self.work.path().join("last.report"))?;
        }
        let old = program(&before).current_dir(&before).capture()?;
        let now = program(&after).current_dir(&after).capture()?;
        let said = text(&now, &after);
        same(&format!("exit status, with output {said:?},"), &old.status, &now.status)?;
        same("stdout", &text(&old, &before).0, &text(&now, &after).0)?;
        same("stderr", &text(&old, &before).1, &text(&now, &after).1)?;
        ensure!(old.status.success(), "the program itself failed: {}", text(&old, &before).1);
        let mut inputs: Vec<&str> = self.subjects.iter().map(|(_, name)| name.as_str()).collect();
        inputs.push(RUNTIME_JAR);
        let (old, now) = (files(&before, &inputs)?, files(&after, &inputs)?);
        same("names of files", &old.keys().collect::<Vec<_>>(), &now.keys().collect::<Vec<_>>())?;
        for (name, bytes) in &old {
            ensure!(now[name] == *bytes, "{name} differs");
        }
        let methods = subject::profile(&after)?;
        let wrong: Vec<_> = methods.iter().filter(|method| method.unclosed + method.unmatched > 0).collect();
        ensure!(wrong.is_empty(), "events out of place: {wrong:?}");
        Ok(methods)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, before: &T, after: &T) -> Result<()> {
    ensure!(before == after, "{what} differs\nbefore: {before:?}\nafter: {after:?}");
    Ok(())
}

/// What a program said, without the name of the folder that it ran in.
fn text(output: &Output, folder: &Path) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&*folder.to_string_lossy(), "{folder}");
    (text(&output.stdout), text(&output.stderr))
}

/// Every file below `folder` other than profiles and the program's own jars.
fn files(folder: &Path, without: &[&str]) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry?;
        let name = entry.path().strip_prefix(folder)?.to_string_lossy().into_owned();
        let ours = without.iter().any(|jar| name == *jar || name.starts_with(&format!("{jar}/")));
        if entry.file_type().is_file() && !ours && !name.ends_with(".iprof") {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(files)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry?;
        let target = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs::create_dir_all(target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Unpacks a jar; `keep` chooses entries by name.
fn unpack(jar: &Path, into: &Path, keep: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut archive = zip::ZipArchive::new(fs::File::open(jar)?)?;
    let mut unpacked = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let name = entry.enclosed_name().context("a jar with unsafe names")?;
        if entry.is_file() && keep(&name.to_string_lossy()) {
            let path = into.join(name);
            fs::create_dir_all(path.parent().expect("inside a folder"))?;
            std::io::copy(&mut entry, &mut fs::File::create(&path)?)?;
            unpacked.push(path);
        }
    }
    Ok(unpacked)
}

fn ran(methods: &[MethodCounts], prefix: &str, at_least: u64) {
    let entries = entries_of(methods, prefix);
    assert!(entries >= at_least, "{entries} entries into {prefix}, expected at least {at_least}");
}

/// A call of java that is the same in every folder.
fn java(arguments: &'static [&'static str]) -> impl Fn(&Path) -> Command {
    move |_| {
        let mut command = Jdk::default_kit().expect("a JDK").brief_java();
        command.args(arguments);
        command
    }
}

fn clojure() -> Result<Trial> {
    let corpus = Corpus::open()?;
    let mut trial = Trial::new()?;
    trial.subject(&corpus.path("clojure")?, "clojure.jar");
    trial.subject(&corpus.path("spec-alpha")?, "spec.alpha.jar");
    trial.subject(&corpus.path("core-specs-alpha")?, "core.specs.alpha.jar");
    trial.file(
        "src/sample/app.clj",
        r#"(ns sample.app (:require [clojure.string :as string] [clojure.set :as set] [clojure.walk :as walk]))
(defprotocol Area (area [this]))
(defrecord Square [side] Area (area [_] (* side side)))
(defmulti describe class)
(defmethod describe Square [s] (str "square of " (area s)))
(defn primes [n] (loop [found [] c 2] (if (= n (count found)) found
  (recur (if (some #(zero? (rem c %)) found) found (conj found c)) (inc c)))))
(defn failing [n] (try (if (zero? n) (throw (ex-info "bottom" {:n n})) (failing (dec n)))
  (catch clojure.lang.ExceptionInfo e (if (= n 7) (:n (ex-data e)) (throw e)))))
(defn -main [] (println (string/join "," (primes 60))) (println (describe (->Square 12)))
  (println (reduce + (map (comp inc *') (range 20000)))) (println (failing 12))
  (println (set/union #{1} #{2})) (println (walk/postwalk #(if (number? %) (inc %) %) {:a [1 {:b 2}]}))
  (println (transduce (comp (filter odd?) (map inc) (take 10)) + (range)))
  (println @(future (apply + (pmap inc (range 100))))) (shutdown-agents))
"#,
    )?;
    Ok(trial)
}

#[test]
fn clojure_runs_forms() -> Result<()> {
    let methods = clojure()?.run(java(&[
        "-cp",
        "clojure.jar:spec.alpha.jar:core.specs.alpha.jar:src",
        "clojure.main",
        "-e",
        "(require 'sample.app) (sample.app/-main)",
    ]))?;
    // Clojure prefers its classes only where they are no older than their source: the times were kept.
    ran(&methods, "clojure.core$", 100_000);
    ran(&methods, "clojure.lang.LispReader", 100);
    Ok(())
}

#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: the same compiler compiles what `clojure_runs_forms` runs"]
fn clojure_compiles_ahead_of_time() -> Result<()> {
    let trial = clojure()?;
    for side in ["before", "after"] {
        fs::create_dir(trial.folder(side).join("classes"))?;
    }
    let methods = trial.run(java(&[
        "-cp",
        "clojure.jar:spec.alpha.jar:core.specs.alpha.jar:src:classes",
        "clojure.main",
        "-e",
        "(binding [*compile-path* \"classes\"] (compile 'sample.app) (compile 'clojure.set)) (shutdown-agents)",
    ]))?;
    assert!(trial.folder("after").join("classes/sample/app$primes.class").exists());
    ran(&methods, "clojure.lang.Compiler", 10_000);
    Ok(())
}

const GROOVY: &str = r#"
class Shape implements Comparable<Shape> { String name; int sides
  int compareTo(Shape o) { sides <=> o.sides }
  def methodMissing(String n, args) { "$name cannot $n ${args.join(' ')}" } }
def shapes = [new Shape(name: 'square', sides: 4), new Shape(name: 'triangle', sides: 3)].sort()
println shapes*.name.join(', ')
println shapes[0].fly('far', 'away')
def fib; fib = { int n -> n < 2 ? n : fib(n - 1) + fib(n - 2) }
println fib(15)
println((1..2000).collect { it * it }.findAll { it % 3 == 0 }.sum())
println "seen: ${'one two one'.split(' ').countBy { it }}"
def writer = new StringWriter()
new groovy.xml.MarkupBuilder(writer).people { person(id: 1) { name('Ada') } }
println writer
try { [].first() } catch (NoSuchElementException e) { println e.message }
"#;

fn groovy(script: &str) -> Result<Trial> {
    let corpus = Corpus::open()?;
    let mut trial = Trial::new()?;
    trial.subject(&corpus.path("groovy-all")?, "groovy.jar");
    trial.file(script, GROOVY)?;
    Ok(trial)
}

#[test]
fn groovy_runs_a_script() -> Result<()> {
    let methods = groovy("script.groovy")?.run(java(&[
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "--add-opens=java.base/java.util=ALL-UNNAMED",
        "-cp",
        "groovy.jar",
        "groovy.ui.GroovyMain",
        "script.groovy",
    ]))?;
    ran(&methods, "groovy.lang.", 1_000);
    ran(&methods, "org.codehaus.groovy.", 100_000);
    Ok(())
}

#[test]
fn groovyc_compiles_the_same_classes() -> Result<()> {
    let trial = groovy("Shapes.groovy")?;
    let methods = trial.run(java(&[
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "-cp",
        "groovy.jar",
        "org.codehaus.groovy.tools.FileSystemCompiler",
        "-d",
        "classes",
        "Shapes.groovy",
    ]))?;
    assert!(trial.folder("after").join("classes/Shape.class").exists());
    // Constructors with several super() calls are among these.
    ran(&methods, "org.codehaus.groovy.", 100_000);
    Ok(())
}

/// The sources of commons-lang3 in both folders, and the list of those to compile: in a usual run one package, and what it needs.
fn with_sources(trial: &Trial) -> Result<usize> {
    let sources = Corpus::open()?.path("commons-lang3-sources")?;
    let mut list = String::new();
    for side in ["before", "after"] {
        let folder = trial.folder(side);
        let mut files = unpack(&sources, &folder.join("src"), |name| name.ends_with(".java"))?;
        files.sort();
        let names = files.iter().map(|path| path.strip_prefix(&folder).unwrap().display().to_string());
        let is_taken = |name: &String| Corpus::full() || name.contains("/mutable/");
        list = names.filter(is_taken).map(|name| name + "\n").collect();
        fs::write(folder.join("sources.list"), &list)?;
    }
    Ok(list.lines().count())
}

fn compiled(trial: &Trial, sources: usize) {
    let classes = walkdir::WalkDir::new(trial.folder("after").join("classes"));
    let classes = classes.into_iter().flatten().filter(|entry| entry.file_type().is_file()).count();
    assert!(classes > sources, "{classes} classes from {sources} sources");
}

#[test]
fn ecj_compiles_the_same_classes() -> Result<()> {
    let mut trial = Trial::new()?;
    // Signed, and started with -jar.
    trial.subject(&Corpus::open()?.path("ecj")?, "ecj.jar");
    trial.options = vec!["--strip-signatures".into()];
    let sources = with_sources(&trial)?;
    let methods = trial.run(java(&[
        "-jar",
        "ecj.jar",
        "-8",
        "-nowarn",
        "-g",
        "-proc:none",
        "-encoding",
        "UTF-8",
        "-sourcepath",
        "src",
        "-d",
        "classes",
        "@sources.list",
    ]))?;
    compiled(&trial, sources);
    ran(&methods, "org.eclipse.jdt.internal.compiler.", 1_000_000);
    Ok(())
}

#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: the compiler of Eclipse compiles the same sources"]
fn javac_compiles_the_same_classes() -> Result<()> {
    let modules = Corpus::open()?.jdk_modules(Jdk::default_kit()?)?;
    let compiler = modules.iter().find(|jar| jar.ends_with("jdk.compiler.jar")).context("no jdk.compiler")?;
    let mut trial = Trial::new()?;
    trial.subject(compiler, "jdk.compiler.jar");
    let sources = with_sources(&trial)?;
    let methods = trial.run(java(&[
        "--patch-module=jdk.compiler=jdk.compiler.jar",
        "--add-modules=jdk.compiler",
        "-m",
        "jdk.compiler/com.sun.tools.javac.Main",
        "-g",
        "-nowarn",
        "-Xlint:none",
        "-proc:none",
        "--release",
        "8",
        "-encoding",
        "UTF-8",
        "-sourcepath",
        "src",
        "-d",
        "classes",
        "@sources.list",
    ]))?;
    compiled(&trial, sources);
    ran(&methods, "com.sun.tools.javac.", 1_000_000);
    Ok(())
}

const STEPS: &str = r#"package sample.app;
import java.util.function.IntUnaryOperator;
public class Main {
    static class Step { final int n; Step(int n) { if (n < 0) throw new IllegalArgumentException("n"); this.n = n; } }
    static class Late extends Step { Late(int n) { super(n); } }
    static int work(int n) { return n * 2; }
    static int fails(int n) { if (n % 4 == 0) throw new IllegalStateException("no " + n); return n; }
    public static void main(String[] args) throws Exception {
        int sum = 0, failed = 0, refused = 0;
        for (int i = 0; i < 1000; i++) { sum += work(i); }
        for (int i = 0; i < 1000; i++) { try { fails(i); } catch (IllegalStateException e) { failed++; } }
        for (int i = -10; i < 20; i++) { try { new Late(i); } catch (IllegalArgumentException e) { refused++; } }
        IntUnaryOperator twice = n -> work(n);
        Thread thread = new Thread(() -> { for (int i = 0; i < 50; i++) twice.applyAsInt(i); });
        thread.start(); thread.join();
        System.out.println(sum + " " + failed + " " + refused + " " + Main.class.getResource("Main.class").getProtocol());
        System.out.println(sample.lib.Greeting.to("world"));
    }
}
"#;

const GREETING: &str = "package sample.lib; public class Greeting { public static String to(String name) { return \"hello, \" + name; } }";

/// What the sample has to count, wherever it runs.
fn exact(methods: &[MethodCounts]) {
    let find = |name: &str| {
        methods
            .iter()
            .find(|method| method.name == name)
            .cloned()
            .unwrap_or_else(|| panic!("{name} is not in the profile"))
    };
    let counts = |name: &str| {
        let method = find(name);
        (method.entries, method.exits, method.unwinds, method.aborted)
    };
    assert_eq!(counts("sample.app.Main.main"), (1, 1, 0, 0));
    assert_eq!(counts("sample.app.Main.work"), (1050, 1050, 0, 0));
    assert_eq!(counts("sample.app.Main.fails"), (1000, 750, 250, 0));
    assert_eq!(counts("sample.app.Main$Step.<init>"), (30, 20, 10, 0));
    // Its super() failed ten times: no handler may cover that call, so these frames end as aborted.
    assert_eq!(counts("sample.app.Main$Late.<init>"), (30, 20, 0, 10));
    assert_eq!(counts("sample.lib.Greeting.to"), (1, 1, 0, 0));
}

/// Compiles the sample; returns the folders of the classes of the application and of its library.
fn sample(work: &Path, modular: bool) -> Result<(PathBuf, PathBuf)> {
    let mut class_path = Vec::new();
    for (part, package, name, source, module) in [
        ("lib", "sample/lib", "Greeting", GREETING, "module sample.lib { exports sample.lib; }"),
        ("app", "sample/app", "Main", STEPS, "module sample.app { requires sample.lib; }"),
    ] {
        let source_folder = work.join("sources").join(part);
        let file = source_folder.join(package).join(format!("{name}.java"));
        fs::create_dir_all(file.parent().expect("inside a folder"))?;
        fs::write(&file, source)?;
        let classes = work.join(part);
        let mut javac = Jdk::default_kit()?.tool("javac");
        javac.args(["-g", "-d"]).arg(&classes).arg(if modular { "-p" } else { "-cp" }).arg(join(&class_path));
        if modular {
            let declaration = source_folder.join("module-info.java");
            fs::write(&declaration, module)?;
            javac.arg(declaration);
        }
        javac.arg(file).run_quietly()?;
        class_path.push(classes);
    }
    Ok((class_path.pop().expect("app"), class_path.pop().expect("lib")))
}

/// Packs a folder with the JDK's own tool; a module then has the attributes that tool adds.
fn pack(classes: &Path, jar: &Path, options: &[&str]) -> Result<PathBuf> {
    let mut tool = Jdk::default_kit()?.tool("jar");
    tool.arg("--create")
        .arg("--file")
        .arg(jar)
        .args(options)
        .arg("-C")
        .arg(classes)
        .arg(".")
        .run_quietly()?;
    Ok(jar.to_path_buf())
}

#[test]
fn a_class_directory_runs() -> Result<()> {
    let mut trial = Trial::new()?;
    let (app, lib) = sample(trial.work.path(), false)?;
    copy(&lib, &app)?;
    trial.subject(&app, "classes");
    let methods = trial.run(java(&["-cp", "classes", "sample.app.Main"]))?;
    exact(&methods);
    Ok(())
}

#[test]
fn an_application_with_a_class_path_in_its_manifest_runs() -> Result<()> {
    let mut trial = Trial::new()?;
    let (app, lib) = sample(trial.work.path(), false)?;
    let manifest = trial.work.path().join("manifest");
    fs::write(&manifest, "Main-Class: sample.app.Main\nClass-Path: lib.jar\n")?;
    let manifest = manifest.to_string_lossy().into_owned();
    let app = pack(&app, &trial.work.path().join("app.jar"), &["--manifest", &manifest])?;
    let lib = pack(&lib, &trial.work.path().join("lib.jar"), &[])?;
    trial.subject(&app, "app.jar");
    trial.subject(&lib, "lib.jar");
    let methods = trial.run(java(&["-jar", "app.jar"]))?;
    exact(&methods);
    Ok(())
}

#[test]
fn an_application_of_two_modules_runs() -> Result<()> {
    let mut trial = Trial::new()?;
    let work = trial.work.path().to_path_buf();
    let (app, lib) = sample(&work, true)?;
    let app = pack(&app, &work.join("app.jar"), &["--main-class", "sample.app.Main"])?;
    let lib = pack(&lib, &work.join("lib.jar"), &[])?;
    trial.subject(&app, "app.jar");
    trial.subject(&lib, "lib.jar");
    // The runtime is a module of its own here, since no package may be in two modules; with the default this is refused.
    trial.options = vec!["--runtime".into(), "classpath".into()];
    let methods = trial.run(java(&["--module-path", ".", "-m", "sample.app"]))?;
    exact(&methods);
    let refused = subject::call()?.arg(&app).arg(&lib).arg("-o").arg(work.join("both")).capture()?;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("--runtime classpath"), "{said}");
    Ok(())
}

#[test]
fn a_modular_jar_runs_alone() -> Result<()> {
    let mut trial = Trial::new()?;
    let (app, lib) = sample(trial.work.path(), true)?;
    let lib = pack(&lib, &trial.work.path().join("lib.jar"), &[])?;
    for side in ["before", "after"] {
        fs::copy(&lib, trial.folder(side).join("lib.jar"))?;
    }
    trial.subject(
        &pack(&app, &trial.work.path().join("app.jar"), &["--main-class", "sample.app.Main"])?,
        "app.jar",
    );
    let methods = trial.run(java(&["--module-path", "app.jar:lib.jar", "-m", "sample.app"]))?;
    assert!(entries_of(&methods, "sample.app.Main.work") == 1050 && entries_of(&methods, "sample.lib.") == 0);
    Ok(())
}

/// Appends the entries of a Spring Boot jar: the real loader at the root, the application and its library below
/// BOOT-INF, the library STORED as the loader demands.
#[test]
fn a_spring_boot_jar_runs() -> Result<()> {
    let mut trial = Trial::new()?;
    let work = trial.work.path().to_path_buf();
    let (app, lib) = sample(&work, false)?;
    let lib = pack(&lib, &work.join("lib.jar"), &["--no-compress"])?;
    let layout = work.join("boot");
    unpack(&Corpus::open()?.path("spring-boot-loader")?, &layout, |name| name.ends_with(".class"))?;
    copy(&app, &layout.join("BOOT-INF/classes"))?;
    fs::create_dir_all(layout.join("BOOT-INF/lib"))?;
    fs::copy(&lib, layout.join("BOOT-INF/lib/lib.jar"))?;
    let manifest = work.join("manifest");
    fs::write(
        &manifest,
        "Main-Class: org.springframework.boot.loader.JarLauncher\nStart-Class: sample.app.Main\n\
         Spring-Boot-Classes: BOOT-INF/classes/\nSpring-Boot-Lib: BOOT-INF/lib/\n",
    )?;
    let manifest = manifest.to_string_lossy().into_owned();
    trial.subject(
        &pack(&layout, &work.join("boot.jar"), &["--no-compress", "--manifest", &manifest])?,
        "boot.jar",
    );
    let methods = trial.run(java(&["-jar", "boot.jar"]))?;
    exact(&methods);
    Ok(())
}

/// A container in miniature: it unpacks a war and runs it with a class loader of its own, whose parent knows nothing.
const CONTAINER: &str = r#"import java.io.*; import java.net.*; import java.nio.file.*; import java.util.*; import java.util.zip.*;
public class Container {
    public static void main(String[] args) throws Exception {
        Path root = Files.createTempDirectory("war");
        List<URL> urls = new ArrayList<>(List.of(root.resolve("WEB-INF/classes/").toUri().toURL()));
        try (ZipInputStream war = new ZipInputStream(Files.newInputStream(Path.of(args[0])))) {
            for (ZipEntry entry; (entry = war.getNextEntry()) != null;) {
                Path target = root.resolve(entry.getName());
                Files.createDirectories(entry.isDirectory() ? target : target.getParent());
                if (!entry.isDirectory()) Files.copy(war, target);
                if (entry.getName().matches("WEB-INF/lib/.*[.]jar")) urls.add(target.toUri().toURL());
            }
        }
        urls.set(0, root.resolve("WEB-INF/classes").toUri().toURL());
        ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        loader.loadClass(args[1]).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
}
"#;

#[test]
fn a_war_runs_under_its_own_class_loader() -> Result<()> {
    let mut trial = Trial::new()?;
    let work = trial.work.path().to_path_buf();
    let (app, lib) = sample(&work, false)?;
    let layout = work.join("war");
    copy(&app, &layout.join("WEB-INF/classes"))?;
    fs::create_dir_all(layout.join("WEB-INF/lib"))?;
    pack(&lib, &layout.join("WEB-INF/lib/lib.jar"), &[])?;
    trial.subject(&pack(&layout, &work.join("app.war"), &[])?, "app.war");
    trial.file("Container.java", CONTAINER)?;
    let methods = trial.run(java(&["Container.java", "app.war", "sample.app.Main"]))?;
    exact(&methods);
    Ok(())
}

/// A trial must see a difference: a program that says where it runs is not the same in two folders.
#[test]
fn a_trial_sees_a_difference() -> Result<()> {
    let trial = Trial::new()?;
    trial.file(
        "Say.java",
        "class Say { public static void main(String[] a) { System.out.println(a[0]); } }",
    )?;
    let said = trial.run(|folder| {
        let mut command = java(&["Say.java"])(folder);
        command.arg(if folder.ends_with("before") { "yes" } else { "no" });
        command
    });
    let error = said.expect_err("the two outputs differ").to_string();
    assert!(error.contains("stdout differs"), "{error}");
    Ok(())
}
