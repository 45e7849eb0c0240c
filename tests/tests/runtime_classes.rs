//! The compiled runtime that the binary carries: made from its sources, and with every method that injected code calls.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use instrument_names::pattern::Pattern;
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::transform::hooks::Hook;
use instrument_tests::machine::{Jdk, root};
use instrument_trace::Profile;
use tempfile::TempDir;
use walkdir::WalkDir;

const ACC_PUBLIC_STATIC: u16 = 0x0009;

fn classes(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = WalkDir::new(directory).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
    files
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            (entry.path().strip_prefix(directory).unwrap().to_owned(), fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn every_hook_is_a_public_static_method_of_the_runtime() {
    for hook in Hook::ALL {
        let path = root().join("runtime-java/classes").join(hook.owner()).with_extension("class");
        let bytes = fs::read(&path).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let mut methods = class.methods();
        let mut found = false;
        while let Some(method) = methods.next().unwrap() {
            found |= method.name(&class.pool).unwrap() == hook.name().as_bytes()
                && method.descriptor(&class.pool).unwrap() == hook.descriptor().as_bytes()
                && method.access_flags & ACC_PUBLIC_STATIC == ACC_PUBLIC_STATIC;
        }
        assert!(found, "{}.{}{}", hook.owner(), hook.name(), hook.descriptor());
    }
}

/// C2 makes no method a part of its callers that has more bytes of code than its flag `FreqInlineSize`, C1 none that has more than `C1MaxInlineSize`.
#[test]
fn probes_are_too_large_to_be_inlined_where_that_costs_time() {
    for (class, methods, most) in [
        ("TreeProbes", &["entry", "constructor", "exit", "other"][..], 325),
        ("SlowProbes", &["entry", "end", "other"], 325),
        (
            "ProfilerRuntime",
            &[
                "methodEntry",
                "constructorEntry",
                "methodExit",
                "methodUnwind",
                "superReturned",
                "exceptionCaught",
            ],
            35,
        ),
    ] {
        let sizes = code_sizes(class);
        for method in methods {
            assert!(sizes[*method] > most, "{class}.{method}: {sizes:?}");
        }
    }
}

/// Bytes of code of the methods of a class of the runtime, by name.
fn code_sizes(class: &str) -> BTreeMap<String, usize> {
    let path = root().join("runtime-java/classes/instrument/runtime").join(class).with_extension("class");
    let bytes = fs::read(&path).unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let mut methods = class.methods();
    let mut sizes = BTreeMap::new();
    while let Some(method) = methods.next().unwrap() {
        let name = String::from_utf8_lossy(method.name(&class.pool).unwrap()).into_owned();
        sizes.insert(name, method.code(&class.pool).unwrap().map_or(0, |code| code.code.len()));
    }
    sizes
}

/// Other compilers number constants in other ways, so only the one that made them can make them again.
#[test]
fn the_classes_are_made_from_the_sources() {
    let jdks = Jdk::all().unwrap();
    let Some(jdk) = jdks.iter().find(|jdk| jdk.version == 17) else {
        println!("not checked: no JDK 17 among {jdks:?}");
        return;
    };
    let made = tempfile::tempdir().unwrap();
    let done = Command::new("sh")
        .arg(root().join("runtime-java/build.sh"))
        .arg(made.path())
        .env("JAVAC", jdk.home.join("bin/javac"))
        .status()
        .unwrap();
    assert!(done.success());
    let (made, committed) = (classes(made.path()), classes(&root().join("runtime-java/classes")));
    assert!(committed.len() > 10);
    let names =
        |classes: &[(PathBuf, Vec<u8>)]| classes.iter().map(|class| class.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&made), names(&committed));
    for ((name, made), (_, committed)) in made.iter().zip(&committed) {
        assert!(
            made == committed,
            "{} differs: run runtime-java/build.sh runtime-java/classes",
            name.display()
        );
    }
}

const PATTERNS: [&str; 47] = [
    "com.acme.Shop",
    "com/acme/Shop",
    "com.acme.*",
    "com.**",
    "**.Shop",
    "**.Shop.Till",
    "**",
    "Shop",
    "com.acme.Shop.Till",
    "com.acme.Shop$Till",
    "com.acme.Shop#price",
    "com.acme.Shop.price",
    "com.acme.S?op.pr?ce",
    "com.acme.S*.*",
    "a*.Shop*.*",
    "*.*.Shop.price",
    "com.acme.Shop.*",
    "com.acme.Shop#*",
    "com.acme.Shop.price(int, String, Money[])",
    "com.acme.Shop.price(int,java.lang.String,q.Money[])",
    "com.acme.Shop.price(int, String, Money...)",
    "com.acme.Shop.price(int, S*, Money)",
    "com.acme.Shop.price(int, S*, M*)",
    "com.acme.Shop.price(int, S*, M*[])",
    "com.acme.Shop.price(*, **, *[])",
    "com.acme.Shop.price(*, *, *)",
    "com.acme.Shop.price(*, *)",
    "com.acme.Shop.price(ILjava/lang/String;[Lq/Money;)V",
    "com/acme/Shop.price(ILjava/lang/String;[Lq/Money;)V",
    "com.acme.Shop#price(ILjava.lang.String;[Lq.Money;)",
    "com.acme.Shop#price:(ILjava/lang/String;[Lq/Money;)V",
    "com.acme.Shop#price(ILjava/lang/String;[Lq/Money;)I",
    "com.acme.Shop#price(I*)V",
    "com.acme.Shop.price(..)",
    "com.acme.Shop.price(\u{2026})",
    "com.ac\u{2026}hop.price(\u{2026})",
    "com.acme.Shop.pr*(int,*,*)V",
    "com.acme.Shop.price(int, String, Money[]): void",
    "com.acme.Shop.price(..): void [bridge] (Shop.java:17)",
    "com.acme.Shop.price(..): Map.Entry",
    "com.acme.Shop.price(..) (Shop.java)",
    "com.acme.Shop.price()",
    "com.acme.Shop.price(long)",
    "com.acme.Shop.price(J)",
    "com.acme.Shop.Till.<init>(Shop)",
    "com.acme.Shop$Till.<init>",
    "**.Shop.Till#<init>(com.acme.Shop)V",
];
const METHODS: [[&str; 3]; 9] = [
    ["com/acme/Shop", "price", "(ILjava/lang/String;[Lq/Money;)V"],
    ["com/acme/Shop", "price", "(J)Ljava/util/Map$Entry;"],
    ["com/acme/Shop", "price", "()V"],
    ["com/acme/Shop", "prices", "([[I)[B"],
    ["com/acme/Shop$Till", "<init>", "(Lcom/acme/Shop;)V"],
    ["com/acme/Shop$Till/Roll", "price", "()V"],
    ["com/acme/sub/Shop", "price", "(ZLa/String;Lq/Money;)V"],
    ["Shop", "price", "(IJ)V"],
    ["price", "run", "()V"],
];

/// The recorder reads `-Dinstrument.roots` in Java; the one pattern language is [`Pattern`]'s.
#[test]
fn the_recorder_reads_patterns_of_methods_as_the_tool_does() {
    let made = made_patterns(9000);
    assert!(made.len() > 1000, "{}", made.len());
    let patterns = PATTERNS.iter().map(|&pattern| pattern.to_owned()).chain(made);
    let cases: Vec<_> =
        patterns.flat_map(|pattern| METHODS.iter().map(move |method| (pattern.clone(), method))).collect();
    let program = OwnProgram::compile("Patterns");
    let input = program.classes.path().join("cases");
    let lines = cases.iter().map(|(pattern, method)| format!("{pattern}\t{}\n", method.join("\t")));
    fs::write(&input, lines.collect::<String>()).unwrap();
    let output = program.java().stdin(File::open(&input).unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found.lines().count(), cases.len());
    let mut fitting = 0;
    for ((pattern, method), found) in cases.iter().zip(found.lines()) {
        let [class, name, descriptor] = method.map(str::as_bytes);
        let expected = Pattern::new(pattern).unwrap().matches(class, name, descriptor);
        assert_eq!(found, expected.to_string(), "{pattern} {method:?}");
        fitting += usize::from(expected);
    }
    assert!((300..cases.len() / 2).contains(&fitting), "{fitting}");
}

/// The recorder finds them in a table, readers by a logarithm.
#[test]
fn durations_are_in_the_buckets_that_readers_put_them_in() {
    let powers = (0..52).flat_map(|power| {
        let ns = 1u64 << power;
        [ns, ns + 1, ns.saturating_sub(1).max(1), 3 * ns / 2 + 1]
    });
    let spread = (1..20_000u64).map(|n| n * n * n / 7 + 1);
    let all: Vec<u64> = (1..5000).chain(powers).chain(spread).collect();
    let program = OwnProgram::compile("Buckets");
    let input = program.classes.path().join("durations");
    fs::write(&input, all.iter().map(|ns| format!("{ns}\n")).collect::<String>()).unwrap();
    let output = program.java().stdin(File::open(&input).unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found.lines().count(), all.len());
    for (ns, found) in all.iter().zip(found.lines()) {
        assert_eq!(found, instrument_trace::bucket(*ns).to_string(), "{ns}");
    }
}

/// Patterns of pieces that are put together by chance, always the same; without those that the tool refuses.
fn made_patterns(count: usize) -> BTreeSet<String> {
    const PIECES: [&str; 24] = [
        "com", "acme", "Shop", "S*", "Sh?p", "Till", "*", "**", "a*", "\u{2026}", ".", ".", ".", "/", "$",
        "#", "price", "pr*", "<init>", "(..)", "()", "(J)", "(int, *)", "(I*)V",
    ];
    let mut state = 1u64;
    let mut piece = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        PIECES[(state >> 33) as usize % PIECES.len()]
    };
    let patterns = (0..count).map(|i| (0..2 + i % 6).map(|_| piece()).collect::<String>());
    patterns.filter(|pattern| Pattern::new(pattern).is_ok()).collect()
}

#[test]
fn of_a_property_that_is_written_again_the_last_value_is_read() {
    let program = OwnProgram::compile("PropertyOrder");
    let path = program.classes.path().join("order.iprof");
    let output = program.java().arg(&path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let profile = Profile::open(&File::open(&path).unwrap()).unwrap();
    assert_eq!(profile.copies[&1].properties["order"].as_bytes(), output.stdout);
}

#[test]
fn statements_lose_what_differs_from_one_time_to_the_next() {
    let long = format!("select {}", "column_name, ".repeat(40));
    let cases = [
        // Text in quotes.
        ("select 'a', 'it''s', '' from t", "select ?, ?, ? from t"),
        ("select 'a -- b /* c */ ; d' from t", "select ? from t"),
        ("select N'a', x'00ff', B'01', E'it\\'s', U&'\\0441' from t", "select ?, ?, ?, ?, ? from t"),
        ("select 'c:\\' , 'd' from t", "select ? , ? from t"),
        ("select name'a' from t", "select name? from t"),
        ("select 'not closed", "select ?"),
        ("select $$it's$$, $tag$ $$ 'x' $tag$, $1 from t", "select ?, ?, $1 from t"),
        ("select a$b from t$1", "select a$b from t$1"),
        ("select $not closed$ from t", "select $not closed$ from t"),
        // Names.
        ("select \"a 1 'b'\", \"x\"\"2\" from `t 3`", "select \"a 1 'b'\", \"x\"\"2\" from `t 3`"),
        ("select c1, t2.c3, größe4 from schema5.t_6", "select c1, t2.c3, größe4 from schema5.t_6"),
        // Numbers.
        ("select 1, 1.5, .5, 1e-3, 2.E+10, 0xFF, 10L from t", "select ?, ?, ?, ?, ?, ?, ? from t"),
        (
            "select * from t where a = -1 and b=+2 and c in (-1, -2)",
            "select * from t where a = ? and b=? and c in (?)",
        ),
        ("select a-1, a - 1, (-1) from t limit 10", "select a-?, a - ?, (?) from t limit ?"),
        ("select '1'::int, ?::date from t", "select ?::int, ?::date from t"),
        // Comments and blanks.
        ("select  a¶\tfrom t -- all of it¶where b = 1 -- 'x'", "select a from t where b = ?"),
        ("/* from: 'shop' */ select /*+ hint */ a/**/from t;", "select a from t"),
        ("select a from t /* not closed", "select a from t"),
        ("  ;; ", "(empty)"),
        // Lists and rows.
        ("select * from t where a in (1,2 , 3) or b IN(?, ?)", "select * from t where a in (?) or b IN(?)"),
        ("select * from t where (a, b) in ((1, 2), (3, 4))", "select * from t where (a, b) in ((?, ?))"),
        (
            "select * from t where a in (select b from u where c = 1, 2)",
            "select * from t where a in (select b from u where c = ?)",
        ),
        ("insert into t (a, b) values (1, 'x'), (2, 'y'),(3, 'z')", "insert into t (a, b) values (?, ?)"),
        ("insert into t values (1, a), (2, a)", "insert into t values (?, a), (?, a)"),
        ("select f(1), f(2), g(?, ?) from begin(1)", "select f(?), f(?), g(?, ?) from begin(?)"),
        ("call p(?, ?); call p(?, ?);", "call p(?, ?); call p(?, ?)"),
        (&long, &format!("{} ..", &long[..400])),
    ];
    without_literals("SqlTexts", &cases);
}

#[test]
fn paths_lose_what_differs_from_one_time_to_the_next() {
    let uuid = "0a1b2c3d-0000-4000-8000-00A0C91E6BF6";
    let long = "/very-long-segment".repeat(30);
    let cases = [
        ("http /orders/17/items/0003", "/orders/?/items/?"),
        ("http /v1/orders-17/a1b2/1.5", "/v1/orders-?/a1b2/?.?"),
        (&format!("http /users/{uuid}"), "/users/?"),
        ("http /blobs/deadbeef/deadbee1/1f0e2d3c4b5a6978.json", "/blobs/deadbeef/?/?.json"),
        ("http /a;jsessionid=77/b;c=d;e/?q=1", "/a/b/"),
        ("http /a#part", "/a"),
        ("http ", "/"),
        ("http //a//1/", "//a//?/"),
        ("http /a%20b%2F12%2f%zz", "/a%20b%2F?%2f%zz"),
        ("http /people/ada@example.org/ada%40example.org", "/people/?/?"),
        ("http /t/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "/t/?"),
        ("http /t/a-long-name-of-words-without-any-number", "/t/a-long-name-of-words-without-any-number"),
        ("http /ä/\u{1b}[2m/\u{202e}\u{1f600}\u{85} x", "/ä/%1B[2m/%202E\u{1f600}%85%20x"),
        (&format!("http {long}"), &format!("{} ..", &long[..400])),
        ("file part-0001.csv", "part-?.csv"),
        ("file /var/log/2024/app.2024-01-31.log.gz", "/var/log/?/app.?-?-?.log.gz"),
        ("file h2db/a1b22c.tmp", "h?db/a?b?c.tmp"),
        (&format!("file /tmp/{uuid}/x-deadbee1 y.txt"), "/tmp/?/x-? y.txt"),
        (&format!("file {uuid}x"), "?-?-?-?-?A?C?E?BF?x"),
        ("file C:\\Temp\\9;10", "C:\\Temp\\?;?"),
        ("file a\u{7f}%41", "a%7F%?"),
        (&format!("file {long}"), &format!("{} ..", &long[..400])),
    ];
    without_literals("PathTexts", &cases);
}

/// What a program of `runtime-java/test` prints for each line.
fn without_literals(name: &'static str, cases: &[(&str, &str)]) {
    let program = OwnProgram::compile(name);
    let input = program.classes.path().join("cases");
    fs::write(&input, cases.iter().map(|(text, _)| format!("{text}\n")).collect::<String>()).unwrap();
    let output = program.java().stdin(File::open(&input).unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let found = String::from_utf8(output.stdout).unwrap();
    let expected: Vec<&str> = cases.iter().map(|(_, expected)| *expected).collect();
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
}

/// A program in the package of the runtime, from `runtime-java/test`.
struct OwnProgram {
    name: &'static str,
    jdk: Jdk,
    classes: TempDir,
}

impl OwnProgram {
    fn compile(name: &'static str) -> Self {
        let jdk = Jdk::all().unwrap().swap_remove(0);
        let classes = tempfile::tempdir().unwrap();
        let done = jdk
            .tool("javac")
            .args(["-nowarn", "-d"])
            .arg(classes.path())
            .arg("-cp")
            .arg(runtime())
            .arg(root().join("runtime-java/test").join(name).with_extension("java"))
            .status()
            .unwrap();
        assert!(done.success());
        Self { name, jdk, classes }
    }

    fn java(&self) -> Command {
        let mut java = self.jdk.java();
        java.args(["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-cp"])
            .arg(std::env::join_paths([self.classes.path(), &runtime()]).unwrap())
            .arg(format!("instrument.runtime.{}", self.name));
        java
    }
}

fn runtime() -> PathBuf {
    root().join("runtime-java/classes")
}
