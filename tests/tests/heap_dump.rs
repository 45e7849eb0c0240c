//! Dumps of the heap: known objects have their values, counts are the virtual machine's own, readers of others open them.

use instrument_tests::shared;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, finish, option, run};
use instrument_tests::corpus::Corpus;
use instrument_tests::hprof;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, join};

/// The programs, compiled.
fn class_path() -> String {
    shared::folder("heap-dump", |folder| {
        agent::compile(&["Known.java", "Restless.java", "Made.java"], 8, folder)?;
        agent::compile(&["Point.java"], 17, folder)?;
        Ok(())
    })
    .display()
    .to_string()
}

/// Runs a program with a dump at its end, `dump.hprof` in its folder.
fn dumped(jre: &Jre, flags: &[&str], program: &[&str]) -> Result<Outcome> {
    let agent = option("record=counts,heap-dump=dump.hprof")?;
    let outcome = run(jre, &[flags, &[&agent, "-cp", &class_path()], program].concat())?;
    let case = format!("Java {} {flags:?}: {}", jre.version, outcome.stderr);
    ensure!(outcome.code == Some(0), "{case}");
    ensure!(outcome.folder.path().join("dump.hprof").exists(), "{case}");
    // Nothing is said but what was written; by -Xcheck:jni neither.
    let said: Vec<&str> = outcome.stderr.lines().collect();
    ensure!(said.len() == 1 && said[0].starts_with("instrument: dump.hprof: "), "{case}");
    ensure!(!outcome.stdout.contains("WARNING"), "{case}{}", outcome.stdout);
    Ok(outcome)
}

/// What the library of VisualVM understands of a dump: lines by their first word.
struct Read(BTreeMap<String, Vec<String>>);

impl Read {
    fn of(dump: &Path, class: &str) -> Result<Read> {
        let kit = Jdk::default_kit()?;
        let library = Corpus::open()?.path("hprof-heap")?;
        let classes = kit.compile(&["HeapReader.java"], std::slice::from_ref(&library))?;
        let mut java = kit.java();
        java.arg("-Dfile.encoding=UTF-8").args(["-cp", &join(&[classes, library]), "HeapReader"]);
        let output = java.arg(dump).args(Some(class).filter(|class| !class.is_empty())).run_quietly()?;
        let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in String::from_utf8(output.stdout)?.lines() {
            let (word, rest) = line.split_once(' ').with_context(|| line.to_owned())?;
            lines.entry(word.to_owned()).or_default().push(rest.to_owned());
        }
        Ok(Read(lines))
    }

    fn lines(&self, word: &str) -> &[String] {
        self.0.get(word).map_or(&[], Vec::as_slice)
    }

    /// Instances by class; hidden classes of Java 11 without their address, which only some say.
    fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for line in self.lines("class") {
            let (name, count) = line.rsplit_once(' ').unwrap();
            *counts.entry(plain(name).to_owned()).or_default() += count.parse::<u64>().unwrap();
        }
        counts
    }

    fn value(&self, path: &str) -> Option<&str> {
        self.lines("value").iter().find_map(|line| line.strip_prefix(path)?.strip_prefix('='))
    }
}

fn plain(name: &str) -> &str {
    let address = |c: char| c.is_ascii_digit();
    match name.rsplit_once(['/', '.']) {
        Some((class, number)) if !number.is_empty() && number.chars().all(address) => class,
        _ => name,
    }
}

/// Fields of `Known`, and what they are.
const VALUES: &[(&str, &str)] = &[
    ("leaf.Leaf#value", "3"),
    ("leaf.Leaf#name", "\"leaf\""),
    ("leaf.Leaf#flag", "true"),
    ("leaf.Middle#name", "\"middle\""),
    ("leaf.Middle#small", "-5"),
    ("leaf.Base#value", "1"),
    ("leaf.Base#name", "\"base\""),
    ("leaf.Base#self.Leaf#value", "3"),
    ("primitives.Primitives#z", "true"),
    ("primitives.Primitives#b", "-128"),
    ("primitives.Primitives#c", "€"),
    ("primitives.Primitives#s", "-32768"),
    ("primitives.Primitives#i", "-2147483648"),
    ("primitives.Primitives#j", "-9223372036854775807"),
    ("primitives.Primitives#f", "-1.5"),
    ("primitives.Primitives#d", "3.141592653589793"),
    ("primitives.Primitives#none", "null"),
    ("cycle.Node#next.Node#data", "\"tail\""),
    ("cycle.Node#next.Node#next.Node#data", "null"),
    ("arrays[0]", "boolean[]3[true, false, true]"),
    ("arrays[1]", "byte[]3[1, -2, 3]"),
    ("arrays[2]", "char[]2[a, ሴ]"),
    ("arrays[3]", "short[]2[-1, 300]"),
    ("arrays[4]", "int[]3[1, -2, 1073741824]"),
    ("arrays[5]", "long[]2[1099511627776, -1]"),
    ("arrays[6]", "float[]2[0.5, NaN]"),
    ("arrays[7]", "double[]2[1.0E300, -0.0]"),
    ("arrays[8]", "int[]0[]"),
    ("arrays[9]", "java.lang.Object[]0 0 not null"),
    ("arrays[10][0]", "null"),
    ("arrays[10][1]", "\"x\""),
    ("arrays[10]", "java.lang.String[]4 1 not null"),
    ("arrays[11][0]", "int[]1[1]"),
    ("arrays[11][1]", "null"),
    ("arrays[11][2]", "int[]0[]"),
    ("arrays[12]", "java.lang.Object[]5 0 not null"),
    ("text", "\"grüße €\""),
    ("latin", "\"plain\""),
    ("colour", "Known$Colour$1"),
    ("colour.Colour#weight", "2"),
    ("colour.java.lang.Enum#name", "\"GREEN\""),
    ("colour.java.lang.Enum#ordinal", "1"),
    ("failure.Failure#code", "42"),
    ("failure.Failure#detail", "\"why\""),
    ("weak.java.lang.ref.Reference#referent.Node#next.Node#data", "\"tail\""),
    ("soft.java.lang.ref.Reference#referent", "Known$Node"),
    ("carrier.Carrier#marker", "987654321"),
    ("large", "byte[]3145728[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]..17"),
    ("sparse", "java.lang.Object[]3145728 1 not null"),
    ("primitive", "java.lang.Class"),
    ("limit.java.lang.Long#value", "123456789095"),
    ("map.java.util.HashMap#size", "1020"),
    ("<module>", "java.lang.Module"),
    ("Known$Limits.LIMIT", "77"),
    ("Known$Limits.UNIT", "\"metres\""),
    ("Known$More.FAR", "123456789012"),
    ("Known$Base.counter", "12"),
    ("Known$Middle.shared", "int[]3[3, 1, 4]"),
    ("Known$Leaf.RATIO", "2.5"),
];

fn check_known(dump: &Path, case: &str) -> Result<()> {
    let read = Read::of(dump, "Known")?;
    for (path, value) in VALUES {
        assert_eq!(read.value(path), Some(*value), "{case}: {path}");
    }
    let lambda = read.lines("value").iter().find(|line| line.ends_with("=int[]3[9, 8, 7]"));
    ensure!(lambda.is_some_and(|line| line.starts_with("capturing.")), "{case}: {lambda:?}");
    ensure!(read.value("plain").is_some_and(|class| class.starts_with("Known$$Lambda")), "{case}");
    for (class, count) in [("Known$Leaf", 1), ("Known$Colour", 1), ("Known$Colour$1", 1)] {
        assert_eq!(read.counts()[class], count, "{case}: {class}");
    }
    // 1000 in the map, and those of the cycle, the reference, the thread local and the lock.
    assert_eq!(read.counts()["Known$Node"], 1005, "{case}");
    assert_eq!(read.lines("loaders"), ["21"], "{case}");
    for line in ["Known$Leaf Known$Middle", "Known$Limits java.lang.Object", "Known$Carrier java.lang.Thread"]
    {
        ensure!(read.lines("super").iter().any(|said| said == line), "{case}: {line}");
    }
    let path = read.lines("path")[0].as_str();
    ensure!(path.starts_with("Known$Node < Known$Node < ") && path.ends_with(" is a root"), "{case}: {path}");
    let waiting = read.lines("frame").iter().filter(|line| line.starts_with("waiting "));
    ensure!(waiting.clone().any(|line| line.contains("Known.lambda$main$")), "{case}");
    let local = "long[]5[1, 2, 3, 4, 5]";
    let held = read.lines("local").iter().find(|line| line.starts_with("waiting ") && line.ends_with(local));
    // The number of the frame is that of the lambda's.
    let number = held.with_context(|| format!("{case}: {:?}", read.lines("local")))?.split(' ').nth(1);
    let frame = format!("waiting {} Known.lambda$main$", number.unwrap_or_default());
    ensure!(waiting.clone().any(|line| line.starts_with(&frame)), "{case}: {frame}");
    Ok(())
}

/// No reference leads to nothing, and everything can be reached, as far as the virtual machine says what keeps it.
fn check_whole(dump: &Path, case: &str) -> Result<hprof::Dump> {
    let dump = hprof::read(dump).with_context(|| case.to_owned())?;
    let dangling = dump.dangling();
    ensure!(
        dangling.is_empty(),
        "{case}: {} references to nothing: {:?}",
        dangling.len(),
        &dangling[..3.min(dangling.len())]
    );
    Ok(dump)
}

fn dump_of(outcome: &Outcome) -> PathBuf {
    outcome.folder.path().join("dump.hprof")
}

#[test]
fn known_objects_have_their_values() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let outcome = dumped(&jre, &["-Xcheck:jni"], &["Known"])?;
        let case = format!("Java {}", jre.version);
        check_known(&dump_of(&outcome), &case)?;
        let dump = check_whole(&dump_of(&outcome), &case)?;
        let unreachable = dump.unreachable();
        let some: Vec<_> = unreachable.iter().map(|object| &object.class).take(20).collect();
        ensure!(unreachable.is_empty(), "{case}: {} of {}: {some:?}", unreachable.len(), dump.objects.len());
    }
    Ok(())
}

#[test]
fn every_collector_and_pointer_size_gives_the_same() -> Result<()> {
    let all = [
        &["-XX:+UseSerialGC"][..],
        &["-XX:+UseParallelGC"],
        &["-XX:+UseG1GC", "-XX:-UseCompressedOops"],
        &["-XX:+UseZGC"],
        &["-XX:+UseShenandoahGC"],
    ];
    let jres = jre::all()?;
    let ends = [jres.first(), jres.iter().find(|jre| jre.version == 17), jres.last()];
    let ends: Vec<&Jre> = ends.into_iter().flatten().collect();
    let mut ran = 0;
    for (jre, flags) in jre::each(&ends, &all) {
        let flags = [&["-XX:+UnlockExperimentalVMOptions", "-Xmx600m"], flags].concat();
        let has = run(jre, &[&flags[..], &["-version"]].concat())?;
        if has.code == Some(0) {
            let case = format!("Java {} {flags:?}", jre.version);
            let outcome = dumped(jre, &flags, &["Known"])?;
            check_known(&dump_of(&outcome), &case)?;
            check_whole(&dump_of(&outcome), &case)?;
            ran += 1;
        }
    }
    // Not every machine has every collector.
    ensure!(ran >= 4, "{ran} ran");
    Ok(())
}

#[test]
fn records_and_sealed_interfaces_too() -> Result<()> {
    for jre in jre::all()?.iter().filter(|jre| jre.version >= 17) {
        let outcome = dumped(jre, &[], &["Point"])?;
        let dump = check_whole(&dump_of(&outcome), "Point")?;
        assert_eq!((dump.counts()["Point"], dump.counts()["Point$Round"]), (2, 1));
    }
    Ok(())
}

/// HotSpot can write a dump of its own after a full collection. The agent asks for two, and looks at the heap after each.
///
/// Threads of the JDK run between the one look and the other, and what they make or drop then is a difference. It does not come twice
/// in the same place, while a wrong count comes always: so one run of four must agree.
#[test]
fn counts_are_those_of_the_virtual_machine() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let mut differences = Vec::new();
        loop {
            match compare_with_the_virtual_machine(&jre)? {
                found if found.is_empty() => break,
                found => differences.push(found),
            }
            assert!(differences.len() < 4, "Java {}: {differences:#?}", jre.version);
        }
    }
    Ok(())
}

/// What differs between our dump and the two of the virtual machine, a line for each class.
fn compare_with_the_virtual_machine(jre: &Jre) -> Result<Vec<String>> {
    let own = tempfile::tempdir()?;
    let path = format!("-XX:HeapDumpPath={}", own.path().display());
    let agent = option("record=counts,ctl=off,heap-dump=dump.hprof")?;
    // Without a compiler, whose threads come and go.
    // A small heap has hundreds of gaps, which `compare` takes for objects.
    let flags = ["-Xint", "-XX:+UseG1GC", "-Xmx1g", "-XX:+HeapDumpAfterFullGC", &path, &agent];
    let outcome = run(jre, &[&flags[..], &["-cp", &class_path(), "Known"]].concat())?;
    let mut files: Vec<PathBuf> = fs::read_dir(own.path())?.map(|e| Ok(e?.path())).collect::<Result<_>>()?;
    files.sort();
    let [first, second] = &files[..] else { anyhow::bail!("Java {}: dumps {files:?}", jre.version) };
    // By both readers; ours counts the classes, too.
    let raw = |path: &Path| -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        for (name, count) in hprof::read(path)?.counts() {
            *counts.entry(plain(&name).to_owned()).or_default() += count as u64;
        }
        Ok(counts)
    };
    let ours = dump_of(&outcome);
    let mut differences = compare([&raw(first)?, &raw(second)?], &raw(&ours)?, "java/lang/Class");
    let read = |path: &Path| -> Result<_> { Ok(Read::of(path, "")?.counts()) };
    differences.extend(compare([&read(first)?, &read(second)?], &read(&ours)?, "java.lang.Class"));
    Ok(differences)
}

/// Every class has as many instances as in the one or the other of the virtual machine's dumps, or between them. But for three:
/// instances of Class whose class was never loaded, from the JDK's archive, are in our dump only; `int[]` that a collector puts where it
/// has a gap are in the virtual machine's only; and threads of the JDK lock and name things in the moment between.
fn compare(theirs: [&BTreeMap<String, u64>; 2], ours: &BTreeMap<String, u64>, class: &str) -> Vec<String> {
    ensure_some(theirs[1], ours);
    let names: std::collections::BTreeSet<&String> = theirs[1].keys().chain(ours.keys()).collect();
    let mut differences = Vec::new();
    for name in names {
        let count = |counts: &BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0);
        let (theirs, ours) = (theirs.map(count), count(ours));
        let (least, most) = (theirs[0].min(theirs[1]), theirs[0].max(theirs[1]));
        let fine = match name.as_str() {
            "[I" | "int[]" => (least.saturating_sub(4)..=most + 4).contains(&ours),
            "java/lang/Object" | "java.lang.Object" => (least.saturating_sub(2)..=most + 2).contains(&ours),
            name if name == class => ours >= least,
            _ => (least..=most).contains(&ours),
        };
        if !fine {
            differences.push(format!("{name}: {theirs:?} for the virtual machine, {ours} for us"));
        }
    }
    differences
}

fn ensure_some(theirs: &BTreeMap<String, u64>, ours: &BTreeMap<String, u64>) {
    assert!(theirs.len() > 300 && ours.len() > 300, "{} and {} classes", theirs.len(), ours.len());
}

#[test]
fn many_objects_and_many_loaders() -> Result<()> {
    let ends = jre::ends()?;
    for jre in if Corpus::full() { &ends[..] } else { &ends[ends.len() - 1..] } {
        let outcome = dumped(jre, &["-Xcheck:jni", "-Xmx1g"], &["Known", "500000", "6000"])?;
        let counts = Read::of(&dump_of(&outcome), "")?.counts();
        assert_eq!(counts["Known$Node"], 501_005, "Java {}", jre.version);
        assert_eq!(counts["java.net.URLClassLoader"], 6000, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn a_program_that_does_not_stand_still_is_dumped_whole() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let outcome = dumped(&jre, &["-Xmx400m"], &["Restless"])?;
        let dump = check_whole(&dump_of(&outcome), &format!("Java {}", jre.version))?;
        ensure!(dump.counts()["Restless$Link"] > 0);
    }
    Ok(())
}

/// With the heap profiler objects keep its numbers, and know who made them.
#[test]
fn objects_know_the_context_that_made_them() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let agent = option("heap=objects,heap-dump=dump.hprof")?;
        let outcome = run(&jre, &["-Xcheck:jni", &agent, "-cp", &class_path(), "Made"])?;
        ensure!(
            outcome.code == Some(0) && !outcome.stdout.contains("WARNING"),
            "{}{}",
            outcome.stdout,
            outcome.stderr
        );
        let dump = check_whole(&dump_of(&outcome), &case)?;
        let mut traces: BTreeMap<String, usize> = BTreeMap::new();
        for object in
            dump.objects.values().filter(|object| object.class == "Made$Thing" || object.class == "[[J")
        {
            let frames = &dump.traces[&object.trace];
            // An object's own constructor may be a part of its context.
            let names = frames.iter().map(|frame| frame.rsplit_once(':').unwrap().0);
            let names: Vec<&str> = names.skip_while(|name| name.ends_with(".<init>")).collect();
            *traces.entry(format!("{} {}", object.class, names.join(" < "))).or_default() += 1;
        }
        let expected = [
            ("Made$Thing Made.one < Made.few < Made.main", 3),
            ("Made$Thing Made.one < Made.many < Made.main", 100),
            ("[[J Made.rows < Made.main", 1),
        ];
        let expected: BTreeMap<String, usize> = expected.map(|(name, count)| (name.to_owned(), count)).into();
        assert_eq!(traces, expected, "{case}");
        // Chains that are equal share one trace.
        let used: std::collections::BTreeSet<u32> = dump
            .objects
            .values()
            .filter(|object| object.class == "Made$Thing")
            .map(|object| object.trace)
            .collect();
        assert_eq!(used.len(), 2, "{case}");
        // A number of the profiler's is the object's id, times 8: all ids are aligned as addresses are.
        let numbered = dump.objects.iter().filter(|(_, object)| object.class == "Made$Thing");
        ensure!(numbered.clone().all(|(id, _)| *id < 8 << 40), "{case}");
        ensure!(dump.objects.keys().all(|id| id % 8 == 0), "{case}");
        Read::of(&dump_of(&outcome), "")?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_written_leaves_nothing_and_changes_nothing() -> Result<()> {
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let agent = option("record=counts,heap-dump=dump.hprof")?;
    // 8 MB for any file; the dump has 30.
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 16384; exec \"$0\" \"$@\""]).arg(jre.home.join("bin/java"));
    shell.args([&agent, "-cp", &class_path(), "Known"]);
    let full = finish(shell)?;
    assert_eq!((full.code, full.stdout.as_str()), (Some(0), "done constant\n"), "{}", full.stderr);
    ensure!(full.stderr.starts_with("instrument: heap-dump=dump.hprof: "), "{}", full.stderr);
    let left: Vec<_> = fs::read_dir(full.folder.path())?.flatten().map(|e| e.file_name()).collect();
    ensure!(left.iter().all(|name| !name.to_string_lossy().contains("dump")), "{left:?}");
    let nowhere = option("record=counts,heap-dump=no/such/folder/x.hprof")?;
    let outcome = run(&jre, &[&nowhere, "-cp", &class_path(), "Known"])?;
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "done constant\n"));
    ensure!(outcome.stderr.contains("heap-dump=no/such/folder/x.hprof: No such file"), "{}", outcome.stderr);
    Ok(())
}

#[test]
fn a_dump_replaces_another_and_is_named_after_the_process() -> Result<()> {
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.hprof");
    fs::write(&path, "old")?;
    let agent = option(&format!("record=counts,heap-dump={}", path.display()))?;
    run(&jre, &[&agent, "-cp", &class_path(), "Known"])?;
    check_whole(&path, "replaced")?;
    let agent = option(&format!("record=counts,heap-dump={}", folder.path().join("%p.hprof").display()))?;
    run(&jre, &[&agent, "-cp", &class_path(), "Known"])?;
    let names = fs::read_dir(folder.path())?.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let numbered = names.filter(|name| name.trim_end_matches(".hprof").parse::<u32>().is_ok()).count();
    assert_eq!(numbered, 1);
    Ok(())
}
