//! `instrument rewrite`: where outputs go, what is refused, and that a run which fails leaves nothing behind.

use crate::common::{Dir, empty_class};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn app(dir: &Dir, name: &str) {
    let class = empty_class("com/acme/Foo");
    let manifest = b"Manifest-Version: 1.0\r\n\r\n";
    dir.jar(
        name,
        &[("META-INF/MANIFEST.MF", manifest), ("com/acme/Foo.class", &class), ("data.txt", b"data")],
    );
}

fn entry(dir: &Dir, jar: &str, entry: &str) -> Vec<u8> {
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(dir.read(jar))).unwrap();
    let mut bytes = Vec::new();
    std::io::copy(&mut zip.by_name(entry).unwrap(), &mut bytes).unwrap();
    bytes
}

#[test]
fn the_default_output_lies_beside_the_input() {
    let dir = Dir::new();
    app(&dir, "lib/app.jar");
    app(&dir, "shop.war");
    dir.write("Foo.class", empty_class("Foo"));
    dir.write("classes/a/B.class", empty_class("a/B"));
    dir.write("classes/a/b.properties", "x=1");
    let before = dir.list().len();
    dir.line("lib/app.jar shop.war Foo.class classes").says(0, &["lib/app.jar -> lib/app-instrumented.jar"]);
    assert_eq!(entry(&dir, "lib/app-instrumented.jar", "com/acme/Foo.class"), empty_class("com/acme/Foo"));
    assert_eq!(entry(&dir, "shop-instrumented.war", "data.txt"), b"data");
    assert_eq!(dir.read("Foo-instrumented.class"), empty_class("Foo"));
    assert_eq!(dir.read("classes-instrumented/a/B.class"), empty_class("a/B"));
    assert_eq!(dir.text("classes-instrumented/a/b.properties"), "x=1");
    assert!(dir.path("classes-instrumented/META-INF/instrument/ids.gz").is_file());
    let temporary: Vec<_> = dir.list().into_iter().filter(|name| name.contains(".tmp")).collect();
    assert_eq!(temporary, [""; 0]);
    assert!(dir.list().len() > before);
}

#[test]
fn rewrite_may_be_written_out_and_dot_is_a_directory() {
    let dir = Dir::new();
    app(&dir, "app.jar");
    dir.line("rewrite app.jar -o out.jar").expect(0);
    assert_eq!(entry(&dir, "out.jar", "data.txt"), b"data");
    let inner = Dir::new();
    inner.write("classes/B.class", empty_class("B"));
    let run = inner.command(&["."]).current_dir(inner.path("classes")).output().unwrap();
    crate::common::finish(run).expect(0);
    assert_eq!(inner.read("classes-instrumented/B.class"), empty_class("B"));
}

#[test]
fn several_inputs_go_into_a_directory() {
    let dir = Dir::new();
    app(&dir, "a.jar");
    app(&dir, "x/b.jar");
    dir.write("classes/B.class", empty_class("B"));
    dir.line("a.jar x/b.jar classes -o out").expect(0);
    assert!(dir.path("out/a.jar").is_file() && dir.path("out/b.jar").is_file());
    assert_eq!(dir.read("out/classes/B.class"), empty_class("B"));
    // One input may go into a directory as well, if there is one or a slash says so.
    dir.line("a.jar -o x").expect(0);
    assert!(dir.path("x/a.jar").is_file());
    dir.line("a.jar -o fresh/").expect(0);
    assert!(dir.path("fresh/a.jar").is_file());
    dir.line("a.jar x/b.jar -o a.jar").says(2, &["a.jar: not a directory"]);
}

#[test]
fn permissions_are_kept() {
    let dir = Dir::new();
    app(&dir, "app.jar");
    dir.write("classes/run.sh", "#!/bin/sh\n");
    dir.write("classes/B.class", empty_class("B"));
    let mode = |name: &str| fs::metadata(dir.path(name)).unwrap().permissions().mode() & 0o7777;
    for (name, bits) in
        [("app.jar", 0o750), ("classes/run.sh", 0o755), ("classes/B.class", 0o640), ("classes", 0o750)]
    {
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(bits)).unwrap();
    }
    dir.line("app.jar classes").expect(0);
    assert_eq!(mode("app-instrumented.jar"), 0o750);
    assert_eq!(mode("classes-instrumented/run.sh"), 0o755);
    assert_eq!(mode("classes-instrumented/B.class"), 0o640);
    assert_eq!(mode("classes-instrumented"), 0o750);
}

#[test]
fn in_place_replaces_the_input_and_nothing_else() {
    let dir = Dir::new();
    app(&dir, "real/app.jar");
    dir.write("classes/Seed.class", seed());
    dir.write("classes/x.txt", "x");
    dir.write("plain/B.class", empty_class("B"));
    symlink("real/app.jar", dir.path("link.jar")).unwrap();
    dir.line("--in-place link.jar classes plain").expect(0);
    assert!(dir.path("link.jar").is_symlink(), "the link stays, its target is replaced");
    assert_eq!(entry(&dir, "real/app.jar", "data.txt"), b"data");
    assert_eq!(dir.text("classes/x.txt"), "x");
    assert!(dir.path("classes/META-INF/instrument/ids.gz").is_file());
    assert!(!dir.path("plain/META-INF").exists(), "nothing was rewritten");
    assert_eq!(
        dir.list().iter().filter(|name| name.contains("instrumented") || name.contains(".tmp")).count(),
        0
    );
    dir.line("--in-place -o x.jar link.jar").says(2, &["--in-place", "--output"]);
    dir.line("--in-place classes").says(1, &["classes: already instrumented"]);
}

#[test]
fn an_earlier_output_is_replaced_and_anything_else_is_not() {
    let dir = Dir::new();
    dir.write("classes/B.class", empty_class("B"));
    dir.line("classes -o out").expect(0);
    dir.write("out/stale.txt", "");
    dir.line("classes -o out").expect(0);
    assert!(!dir.path("out/stale.txt").exists());
    dir.write("precious/letter.txt", "dear");
    dir.line("classes -o precious").says(2, &["precious: exists, is not empty, and is no earlier output"]);
    assert_eq!(dir.text("precious/letter.txt"), "dear");
    fs::create_dir(dir.path("empty")).unwrap();
    dir.line("classes -o empty").expect(0);
    assert!(dir.path("empty/B.class").is_file());
    dir.line("classes -o precious/letter.txt").says(2, &["is not a directory"]);
    app(&dir, "app.jar");
    dir.line("app.jar -o /dev/null").says(2, &["/dev/null: exists and is not a regular file"]);
}

#[test]
fn requests_that_make_no_sense_are_refused_before_anything_is_written() {
    let dir = Dir::new();
    app(&dir, "a.jar");
    app(&dir, "x/a.jar");
    app(&dir, "classes/lib/in.jar");
    dir.write("classes/B.class", empty_class("B"));
    dir.write("text.txt", "hello");
    dir.write("empty", "");
    fs::hard_link(dir.path("a.jar"), dir.path("hard.jar")).unwrap();
    let before = dir.list();
    for (line, code, part) in [
        ("a.jar -o a.jar", 2, "input and output are the same"),
        ("a.jar -o ./x/../a.jar", 2, "input and output are the same"),
        ("a.jar -o hard.jar", 2, "input and output are the same"),
        ("a.jar x/a.jar -o out", 2, "would both be written to out/a.jar"),
        ("a.jar ./a.jar", 2, "given twice"),
        ("a.jar -o nowhere/deep/out.jar", 1, "nowhere/deep"),
        ("a.jar x/a.jar -o nowhere/deep", 1, "nowhere"),
        ("classes -o classes/out", 2, "lies inside the input directory"),
        ("classes -o classes", 2, "input and output are the same"),
        ("classes/lib -o classes", 2, "a directory that holds the input"),
        ("classes classes/lib/in.jar", 2, "lies inside classes, which is given too"),
        ("classes --ids classes/ids", 2, "--ids classes/ids: is, or lies in"),
        ("a.jar -o -", 2, "standard output is not supported"),
        ("-", 2, "standard input is not supported"),
        ("missing.jar", 1, "missing.jar: no such file"),
        ("text.txt", 1, "text.txt: neither a class file nor an archive"),
        ("empty", 1, "empty: neither a class file nor an archive"),
        ("/dev/null", 1, "/dev/null: neither a regular file nor a directory"),
        ("a.jar --ids a.jar", 2, "--ids a.jar: is, or lies in"),
        ("a.jar --account a-instrumented.jar", 2, "--account a-instrumented.jar: is, or lies in"),
        ("a.jar --ids same --account ./same", 2, "are the same file"),
        ("a.jar --ids x", 2, "not a regular file"),
        ("a.jar --account nowhere/r", 1, "nowhere"),
        ("a.jar --ids text.txt", 1, "text.txt:1: not an id map"),
    ] {
        dir.line(line).says(code, &["error: ", part]);
        assert_eq!(dir.list(), before, "{line} left something behind");
    }
}

#[test]
fn links_in_a_directory_are_copied_and_not_followed() {
    let dir = Dir::new();
    dir.write("classes/a/B.class", empty_class("a/B"));
    dir.write("outside/C.class", empty_class("C"));
    symlink("a", dir.path("classes/inside")).unwrap();
    symlink("../outside", dir.path("classes/out")).unwrap();
    symlink("nowhere", dir.path("classes/broken")).unwrap();
    let run = dir
        .line("-v classes --report report.jsonl --strict")
        .says(3, &["out skipped: a link out of the directory"]);
    assert!(run.stdout.is_empty());
    for link in ["inside", "out", "broken"] {
        let of = |root: &str| fs::read_link(dir.path(root).join(link)).unwrap();
        assert_eq!(of("classes-instrumented"), of("classes"));
    }
    let report = dir.text("report.jsonl");
    let lines: Vec<serde_json::Value> =
        report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let skipped: Vec<_> = lines.iter().filter(|line| line["outcome"] == "skipped").collect();
    assert_eq!(skipped.len(), 1);
    assert_eq!((&skipped[0]["entry"], &skipped[0]["reason"]), (&"out".into(), &"symlink".into()));
    assert_eq!((&skipped[0]["kind"], &skipped[0]["input"]), (&"entry".into(), &"classes".into()));
    dir.line("classes").says(0, &["warning: skipped: 1 class, 0 methods"]);
    assert_eq!(dir.line("-q classes").expect(0).stderr, "");
}

#[test]
fn the_summary_is_json_and_everything_else_is_talk() {
    let dir = Dir::new();
    app(&dir, "app.jar");
    let quiet = dir.line("-q app.jar").expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let run = dir.line("app.jar --json --ids ids").expect(0);
    let summary = run.json();
    assert_eq!(
        summary["outputs"],
        serde_json::json!([{"input": "app.jar", "output": "app-instrumented.jar"}])
    );
    assert_eq!(summary["methods"]["rewritten"], 0, "the class has none");
    assert_eq!(summary["ids"], serde_json::json!({"file": "ids", "new": 0, "total": 0}));
    assert!(!run.stderr.contains('\x1b'), "no colour in a pipe");
}

#[test]
fn the_id_file_is_created_and_a_failed_run_does_not_leave_it() {
    let dir = Dir::new();
    app(&dir, "app.jar");
    dir.line("app.jar --ids ids").expect(0);
    assert_eq!(dir.text("ids"), "instrument ids 1\n");
    let known = "instrument ids 1\nclass A -\n7 run ()V 0 1 0000000000000000\n";
    dir.write("ids", format!("{known}class tor"));
    let run = dir.line("app.jar --ids ids --json").says(0, &["ids: the last line is torn (9 bytes)"]);
    assert_eq!(run.json()["ids"]["total"], 1);
    assert_eq!(dir.text("ids"), known);
    dir.write("damaged", "instrument ids 1\nclass A\n");
    dir.line("app.jar --ids damaged").says(1, &["damaged:2: neither"]);
}

/// A real class, with methods.
fn seed() -> Vec<u8> {
    fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/class_scan/Seed.class")).unwrap()
}

#[test]
fn deflated_classes_are_accounted_for_by_name() {
    let dir = Dir::new();
    dir.jar("app.jar", &[("Seed.class", &seed()), ("Bad.class", b"\xca\xfe\xba\xbe\0")]);
    dir.line("-v app.jar --report report.jsonl").says(0, &["app.jar: Bad.class skipped: "]);
    let report = dir.text("report.jsonl");
    let lines: Vec<serde_json::Value> =
        report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).collect::<Vec<_>>();
    assert_eq!(of("class")[0]["class"], "Seed");
    let names: Vec<&str> = of("method").iter().map(|line| line["method"].as_str().unwrap()).collect();
    assert!(names.contains(&"<init>"), "{names:?}");
    assert!(of("method").iter().all(|line| line["class"] == "Seed"));
}

#[test]
fn a_class_that_was_rewritten_before_is_refused_by_name() {
    let dir = Dir::new();
    dir.write("Seed.class", seed());
    dir.line("Seed.class --ids ids").expect(0);
    let rewritten = dir.read("Seed-instrumented.class");
    dir.jar("app.jar", &[("a/Fine.class", &empty_class("a/Fine")), ("Seed.class", &rewritten)]);
    dir.write("classes/Seed.class", &rewritten);
    let before = dir.list();
    for (input, at) in [
        ("Seed-instrumented.class", "Seed-instrumented.class"),
        ("app.jar", "app.jar!Seed.class"),
        ("classes", "classes!Seed.class"),
    ] {
        let error = format!("error: {at}: already instrumented: it calls the instrument runtime");
        dir.line(input).says(1, &[&error]);
        assert_eq!(dir.list(), before);
    }
    // What is left out on purpose is nobody's concern.
    dir.line("app.jar --exclude Seed").expect(0);
}

/// What a build does twice: the second time nothing is needed, and nothing happens.
#[test]
fn what_is_instrumented_already_is_left_if_needed() {
    let dir = Dir::new();
    let seed = seed();
    dir.jar("app.jar", &[("Seed.class", &seed)]);
    dir.write("classes/Seed.class", &seed);
    dir.write("Seed.class", &seed);
    let all = "app.jar classes Seed.class --ids ids --in-place --if-needed";
    dir.line(all).says(0, &["app.jar -> app.jar", "classes -> classes"]);
    let before: Vec<_> =
        ["app.jar", "classes/Seed.class", "Seed.class", "ids"].map(|name| dir.read(name)).into();
    let names = dir.list();
    dir.line("app.jar --in-place").says(1, &["already instrumented"]);
    for line in [all, "app.jar classes Seed.class --if-needed --root com.acme.Missing"] {
        let run = dir.line(line).says(0, &["app.jar: already instrumented; left as it is\n"]);
        assert_eq!(run.stderr.matches("left as it is\n").count(), 3, "{}", run.stderr);
        assert_eq!(dir.list(), names);
    }
    let after: Vec<_> =
        ["app.jar", "classes/Seed.class", "Seed.class", "ids"].map(|name| dir.read(name)).into();
    assert!(before == after);

    // Beside one that needs it; with -o the output is there.
    dir.jar("new.jar", &[("Seed.class", &seed)]);
    let run =
        dir.line("app.jar classes new.jar -o out --if-needed --json").says(0, &["left as it is and copied"]);
    assert_eq!(run.json()["left"], serde_json::json!(["app.jar", "classes"]));
    assert_eq!(run.json()["outputs"].as_array().unwrap().len(), 1);
    assert!(dir.read("out/app.jar") == before[0] && dir.read("out/classes/Seed.class") == before[1]);
    assert!(dir.path("out/classes/META-INF/instrument/ids.gz").is_file());
    dir.line("out/new.jar").says(1, &["already instrumented"]);

    // What is no archive is an error with it, too; and so is a jar in which only a part was instrumented.
    dir.write("bad.jar", "PK\x03\x04");
    dir.line("bad.jar --if-needed").says(1, &["bad.jar"]);
    dir.jar("part.jar", &[("Seed.class", &before[2])]);
    dir.line("part.jar --if-needed").says(1, &["part.jar!Seed.class: already instrumented"]);
}

#[test]
fn filters_that_leave_nothing_are_pointed_out() {
    let dir = Dir::new();
    dir.jar("app.jar", &[("Seed.class", &seed())]);
    for filter in
        ["--include Sead", "--exclude **", "--subclasses-of com.acme.Missing", "--include Seed#nope"]
    {
        let warning = format!("warning: nothing was rewritten: {filter} leaves no method with code");
        dir.line(&format!("app.jar {filter}")).says(0, &[&warning]);
    }
    let run = dir.line("app.jar --include Seed#<init>").expect(0);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    dir.line("app.jar -j 0").says(2, &["not a number from 1 to 1024"]);
}

#[test]
fn an_output_with_several_class_paths_is_known_again() {
    let dir = Dir::new();
    dir.write("app/classes/Seed.class", seed());
    dir.jar("app/lib/seed.jar", &[("Seed.class", &seed())]);
    dir.line("app -o out").expect(0);
    for root in ["out", "out/classes"] {
        assert!(dir.path(root).join("META-INF/instrument/ids.gz").is_file(), "{root}");
    }
    assert!(dir.path("out/classes/instrument/runtime/ProfilerRuntime.class").is_file());
    assert!(!dir.path("out/instrument").exists());
    dir.line("app -o out").expect(0);
    dir.line("out").says(1, &["out: already instrumented"]);
    fs::remove_dir_all(dir.path("app/classes")).unwrap();
    dir.line("app -o libraries").expect(0);
    dir.line("app -o libraries").expect(0);
}

#[test]
fn library_calls_need_the_methods_that_make_them() {
    let dir = Dir::new();
    app(&dir, "app.jar");
    dir.line("app.jar --library-calls top-level --transform allocation")
        .says(2, &["--library-calls", "method-events"]);
    dir.line("app.jar --library-calls all --subclasses-of a.B")
        .says(2, &["--library-calls all", "--subclasses-of"]);
    dir.line("app.jar --library-calls some").says(2, &["none, top-level, all"]);
    assert_eq!(dir.list(), ["app.jar"]);
    dir.line("app.jar --library-calls top-level --transform allocation,method-events").expect(0);
}

/// The class has the methods of `fuzz/corpus/class_scan/Old.class`, `wide(int)` among them.
#[test]
fn patterns_that_nothing_fits_are_said_with_those_near_them() {
    let dir = Dir::new();
    dir.jar("a.jar", &[("Old.class", include_bytes!("../../fuzz/corpus/class_scan/Old.class"))]);
    let words = ["a.jar", "-o", "b.jar"];
    for (option, pattern, near) in [
        ("--include", "Old.wied(int)", "; did you mean Old.wide(int)?"),
        ("--include", "Odl", "; did you mean Old"),
        ("--exclude", "org.gone.**", ""),
        ("--root", "Old#wied", "; did you mean Old.wide(int)?"),
    ] {
        let said = format!("warning: no class and no method fits {option} '{pattern}'{near}");
        dir.run(&[&words[..], &[option, pattern]].concat()).says(0, &[&said]);
        dir.run(&[&words[..], &["--strict", option, pattern]].concat()).says(3, &[&said]);
    }
    for pattern in ["Old.wide(int)", "Old#wide(I)I", "Old.wide", "Old.wide(\u{2026})"] {
        let run =
            dir.run(&[&words[..], &["--strict", "--include", pattern, "--root", pattern]].concat()).expect(0);
        assert!(!run.stderr.contains("warning"), "{pattern}: {}", run.stderr);
        assert!(run.stderr.contains("1 method"), "{pattern}: {}", run.stderr);
    }
}

#[test]
fn recording_off_is_about_a_run() {
    let dir = Dir::new();
    dir.jar("a.jar", &[("Old.class", include_bytes!("../../fuzz/corpus/class_scan/Old.class"))]);
    let run = |variable: Option<&str>, out: &str| {
        let mut command = dir.command(&["a.jar", "-o", out]);
        variable.map(|value| command.env("INSTRUMENT_RECORD", value));
        assert!(command.status().unwrap().success());
        dir.read(out)
    };
    assert!(run(Some("off"), "b.jar") == run(None, "c.jar"), "recording off does not change the archive");
}

/// The recorder reads the one language of patterns, so that a root is written as it was given.
#[test]
fn roots_are_written_for_the_recorder_as_they_were_given() {
    let dir = Dir::new();
    dir.jar("a.jar", &[("Old.class", include_bytes!("../../fuzz/corpus/class_scan/Old.class"))]);
    for (root, written) in [
        ("Old.wide(int)", "roots=Old.wide(int)\n"),
        ("Old.wide", "roots=Old.wide\n"),
        ("Old#wide(I)I", "roots=Old#wide(I)I\n"),
        ("Old#wi*", "roots=Old#wi*\n"),
        ("Old#*:Old.wide(\u{2026})", "roots=Old#*:Old.wide(\\u2026)\n"),
    ] {
        dir.run(&["a.jar", "-o", "b.jar", "--root", root]).expect(0);
        let mut jar = zip::ZipArchive::new(std::io::Cursor::new(dir.read("b.jar"))).unwrap();
        let mut text = String::new();
        let mut entry = jar.by_name("META-INF/instrument/runtime.properties").unwrap();
        std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
        assert!(text.contains(written), "{root}: {text}");
    }
}

#[test]
fn a_launcher_agent_and_a_patch_need_a_jdk_and_say_what_is_none() {
    let dir = Dir::new();
    app(&dir, "app.jar");
    dir.write("java8/lib/rt.jar", "");
    dir.write("torn/lib/modules", "not an image, but long enough for a header");
    for (home, parts) in [
        ("nowhere", ["nowhere/lib/modules", "not the home directory of a JDK"]),
        ("java8", ["java8/lib/modules", "Java 9 or later is needed"]),
        ("torn", ["torn/lib/modules", "magic number of a module image"]),
    ] {
        dir.line(&format!("app.jar --transform rmi --launcher-agent {home}")).says(1, &parts);
        dir.line(&format!("jdk-patch --java-home {home} -o patch")).says(1, &parts);
    }
    dir.line("app.jar --launcher-agent nowhere").says(2, &["rmi is not among the transforms"]);
    assert!(!dir.path("patch").exists() && !dir.path("app-instrumented.jar").exists());
}

#[test]
fn files_that_are_bound_to_the_bytes_of_a_jar_are_named() {
    let dir = Dir::new();
    let class = fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../rewriter/tests/wrappers/module-info.hashed.class"),
    );
    dir.jar("b.jar", &[("module-info.class", &class.unwrap())]);
    for name in ["b.jar.sha1", "b.jar.asc", "b.jar.txt", "b.jsa", "x.aot"] {
        dir.write(name, "of the first bytes");
    }
    let archives = ["b.jsa: if it holds classes", "x.aot: if it holds classes"];
    let beside = dir.line("b.jar").says(0, &archives);
    assert!(!beside.stderr.contains("other bytes"), "{}", beside.stderr);
    let replaced = dir.line("b.jar --in-place");
    let replaced = replaced
        .says(0, &["b.jar.sha1: if it was made before, of other bytes", "b.jar.asc: if it was", archives[0]]);
    assert!(!replaced.stderr.contains("txt"), "{}", replaced.stderr);
}

#[test]
fn hashes_of_modules_are_like_signatures() {
    let dir = Dir::new();
    let descriptor = |name: &str| {
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rewriter/tests/wrappers").join(name)).unwrap()
    };
    // a records the hash of b.
    let (a, b) = (descriptor("module-info.hashes.class"), descriptor("module-info.hashed.class"));
    dir.jar("a.jar", &[("module-info.class", &a)]);
    dir.jar("b.jar", &[("module-info.class", &b)]);
    let both = "a.jar b.jar --runtime classpath -o out";
    let refused = dir.line(both).says(2, &["module a records the hash of module b", "--strip-signatures"]);
    assert!(!dir.path("out").exists(), "{}", refused.stderr);
    dir.line("a.jar --runtime classpath -o alone.jar").expect(0);
    dir.line(&format!("{both} --strip-signatures")).expect(0);
    let has_hashes = |jar: &str| dir.line(&format!("dump {jar}")).expect(0).stdout.contains("ModuleHashes b");
    assert!(has_hashes("a.jar") && has_hashes("alone.jar") && !has_hashes("out/a.jar"));
}
