//! The XML trace, as the schema validator and the parser of a JDK take it, whatever the names and the figures are.

use std::fs;
use std::path::Path;

use instrument_analysis::export::xml::{Process, write};
use instrument_testing::{Life, ThreadFacts, Writer};
use instrument_tests::machine::{self, Jdk, java_source};
use instrument_trace::{JavaThread, Profile, Wait, WaitKind};

/// Names that a program may give to its classes and threads.
fn nasty() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        " ",
        "  two  blanks ",
        "<a href=\"x\">&amp;'</a>",
        "]]> <!-- -- --> <?xml?>",
        "tab\tline\nreturn\r\n",
        "\0\u{1}\u{8}\u{b}\u{1f}\u{7f}\u{80}\u{85}\u{9f}",
        "\u{fffe}\u{ffff}\u{fffd}\u{1fffe}\u{10ffff}",
        "back\\slash \\u0041 \\",
        "größe ürün \u{2028}\u{202e}\u{1f600} e\u{301}",
        "\u{feff}bom",
        "&#0;&#x1;&lt;",
    ]
    .map(str::to_owned)
    .into();
    names.push("x\\<\0".repeat(5_000));
    names
}

/// What a name is in the document.
fn escaped(name: &str) -> String {
    let escape = |c: char| match c {
        '\\' => "\\\\".to_owned(),
        '\u{fffe}' | '\u{ffff}' => format!("\\u{:04X}", c as u32),
        c if c.is_control() => format!("\\u{:04X}", c as u32),
        c => c.to_string(),
    };
    name.chars().map(escape).collect()
}

fn hex(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("{unit:04x}")).collect()
}

fn export(files: &[&[u8]], classes: &dyn Fn(u32, u32) -> String) -> Vec<u8> {
    let profiles: Vec<_> = files.iter().map(|data| (data.to_vec(), Profile::parse(data).unwrap())).collect();
    let processes: Vec<_> = profiles
        .iter()
        .map(|(source, profile)| Process { source, profile, name: "a\u{0}b.jar", host: None, classes })
        .collect();
    let mut out = Vec::new();
    write(&processes, &mut out).unwrap();
    out
}

struct Check {
    directory: tempfile::TempDir,
    jdk: Jdk,
}

impl Check {
    fn new() -> Check {
        let jdk = Jdk::all().unwrap().pop().unwrap();
        let directory = tempfile::tempdir().unwrap();
        jdk.compile_into(&[java_source("TraceCheck.java")], directory.path()).unwrap();
        Check { directory, jdk }
    }

    /// What the checker prints; else what it says is wrong.
    fn check(&self, document: &[u8]) -> Result<String, String> {
        let path: &Path = self.directory.path();
        let file = path.join("trace.xml");
        fs::write(&file, document).unwrap();
        let mut command = self.jdk.brief_java();
        command
            .arg("-cp")
            .arg(path)
            .arg("TraceCheck")
            .arg(machine::root().join("crates/analysis/schema/trace.xsd"))
            .arg(&file);
        let done = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stderr)) }
    }
}

/// Threads and classes with all the names; objects and waits of each.
fn named(names: &[String]) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.collections(1, &[(5_000, 6_000), (7_000, 8_000)]);
    let (mut threads, mut lives, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for (number, name) in (1..).zip(names) {
        // A thread's names are cut to what fits.
        let name: String = name.chars().take(30).collect();
        writer.thread(&name, &ThreadFacts { start: 2_000, ..ThreadFacts::default() }, 0, 0);
        threads.push(JavaThread {
            copy: 1,
            number,
            ordinal: number,
            start: 2_000,
            group: name.clone(),
            group_parent: name.clone(),
            name,
            ..JavaThread::default()
        });
        let life = Life { class: number, thread: number, bytes: 16, clock: 3_000, ..Life::default() };
        lives.extend([life, Life { gone: Some(1 + number % 2), ..life }]);
        let wait = Wait {
            copy: 1,
            kind: WaitKind::Contended,
            thread: number,
            start: 2_500,
            end: 4_500,
            monitor: number,
            class: number,
            context: 0,
            owner: 1,
            timeout: 0,
            timed_out: false,
        };
        waits.extend([wait, Wait { kind: WaitKind::Waiting, end: 0, owner: 0, timeout: u64::MAX, ..wait }]);
    }
    writer.java_threads(&threads).objects(1, &lives);
    writer.waits(&waits);
    writer.finish()
}

#[test]
fn any_name_is_escaped_and_can_be_restored() {
    let names = nasty();
    let data = named(&names);
    let classes = |_: u32, number: u32| names[number as usize - 1].clone();
    // Two traces in one document: ids are told apart.
    let document = export(&[&data, &data], &classes);
    let printed = Check::new().check(&document).unwrap_or_else(|error| panic!("{error}"));
    let count = names.len();
    // Each: a thread, a class, two objects of which one goes, three ends of waits; two collections; five around them.
    assert!(printed.ends_with(&format!("elements {}\n", 1 + 2 * (8 * count + 4 + 5))), "{printed}");
    let has = |line: String| assert!(printed.contains(&line), "{line}");
    for name in &names {
        has(format!("classDef name {}\n", hex(&escaped(name))));
        let thread: String = name.chars().take(30).collect();
        has(format!("threadStart threadName {}\n", hex(&escaped(&thread))));
    }
}

/// Figures that no recorder would write: the document is valid still, and ids are used only while they are defined.
#[test]
fn any_figures_make_a_valid_document() {
    let mut seed = 3u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    let check = Check::new();
    for round in 0..4 {
        let mut writer = Writer::new();
        let mut collections: Vec<_> = (0..10).map(|_| (random(10_000), random(10_000))).collect();
        if round % 2 == 0 {
            collections.iter_mut().for_each(|(start, end)| (*start, *end) = (*start + 1, *start + *end + 1));
        }
        writer.collections(1, &collections);
        let threads = (1..=6).map(|number| JavaThread {
            copy: 1,
            number,
            ordinal: random(4) as u32,
            start: random(9_000),
            end: random(9_000),
            ..JavaThread::default()
        });
        let threads: Vec<_> = threads.collect();
        writer.java_threads(&threads);
        writer.thread(
            "t",
            &ThreadFacts { start: random(9_000), end: random(9_000), ..ThreadFacts::default() },
            0,
            0,
        );
        let lives = (0..500).map(|_| Life {
            class: random(4) as u32,
            thread: random(9) as u32,
            bytes: 8 * random(1 << 20),
            born: random(14) as u32,
            gone: (random(2) == 0).then(|| random(14) as u32),
            clock: random(12_000),
            ..Life::default()
        });
        let lives: Vec<_> = lives.collect();
        writer.objects(1, &lives);
        let waits = (0..200).map(|_| Wait {
            copy: 1,
            kind: if random(2) == 0 { WaitKind::Contended } else { WaitKind::Waiting },
            thread: random(9) as u32,
            start: random(12_000),
            end: random(12_000),
            monitor: random(3) as u32,
            class: random(3) as u32,
            context: 0,
            owner: random(9) as u32,
            timeout: random(100),
            timed_out: false,
        });
        let waits: Vec<_> = waits.collect();
        writer.waits(&waits);
        let data = writer.finish();
        let document = export(&[&data], &|_, number| format!("C{number}"));
        check.check(&document).unwrap_or_else(|error| {
            panic!("round {round}: {error}\n{}", String::from_utf8_lossy(&document[..2000]))
        });
    }
    // A profile with nothing in it, and none at all.
    check.check(&export(&[&Writer::new().finish()], &|_, _| String::new())).unwrap();
    check.check(&export(&[], &|_, _| String::new())).unwrap();
}

/// The judge can say no.
#[test]
fn what_is_wrong_is_found() {
    let names = vec!["a".to_owned()];
    let document = String::from_utf8(export(&[&named(&names)], &|_, _| "A".into())).unwrap();
    let check = Check::new();
    check.check(document.as_bytes()).unwrap();
    let without = |element: &str| -> String {
        document.lines().filter(|line| !line.contains(element)).map(|line| format!("{line}\n")).collect()
    };
    let moved = {
        let mut lines: Vec<_> = document.lines().collect();
        let at = lines.iter().position(|line| line.contains("<gcStart")).unwrap();
        let line = lines.remove(at);
        lines.insert(at + 2, line);
        lines.join("\n")
    };
    for (wrong, reason) in [
        (without("<threadStart"), "cvc-identity-constraint"),
        (without("<classDef"), "classRef"),
        (without("<traceEnd"), "cvc-complex-type"),
        (document.replace("name=\"A\"", "name=\"\\x\""), "cvc-pattern-valid"),
        (document.replace("name=\"A\"", "name=\"\u{1}\""), "0x1"),
        (document.replace("isArray=\"false\"", ""), "isArray"),
        (moved, "comes after"),
    ] {
        let error = check.check(wrong.as_bytes()).unwrap_err();
        assert!(error.contains(reason), "{reason}: {error}");
    }
}
