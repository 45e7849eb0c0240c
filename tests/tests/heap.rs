//! The heap profiler on real virtual machines: known numbers of objects of every kind, all there and none twice.

use instrument_tests::shared;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::jre::{self, BOTH_COMPILERS, Jre};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject;
use instrument_trace::{Object, Profile};
use serde_json::Value;

fn class_path() -> String {
    shared::folder("heap", |folder| {
        agent::compile(&["Heap.java"], 8, folder)?;
        agent::compile(&["HeapAll.java"], 11, folder)?;
        agent::compile(&["HeapRecords.java"], 17, folder)?;
        Ok(())
    })
    .display()
    .to_string()
}

fn profile_of(outcome: &Outcome) -> Result<PathBuf> {
    let entries = fs::read_dir(outcome.folder.path())?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let mut profiles = paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "iprof"));
    let profile = profiles.next().with_context(|| format!("no profile: {}", outcome.stderr))?;
    ensure!(profiles.next().is_none(), "several profiles");
    Ok(profile)
}

/// Objects by class and method on top of the stack.
struct Made(Vec<(String, String, u64)>);

impl Made {
    fn read(profile: &Path) -> Result<Made> {
        let output =
            subject::call()?.args(["report", "--allocations", "--json"]).arg(profile).run_quietly()?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let rows = report["allocations"].as_array().context("no allocations")?;
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let row = |row: &Value| Some((text(row, "class"), text(row, "method"), row["count"].as_u64()?));
        Ok(Made(rows.iter().filter_map(row).collect()))
    }

    fn count(&self, class: &str, method: &str) -> u64 {
        let wanted = |row: &&(String, String, u64)| row.0 == class && row.1.starts_with(method);
        self.0.iter().filter(wanted).map(|row| row.2).sum()
    }

    fn by_class(&self) -> BTreeMap<String, u64> {
        let mut classes = BTreeMap::new();
        for (class, _, count) in &self.0 {
            *classes.entry(class.clone()).or_default() += count;
        }
        classes
    }

    /// That of everything that is exact on every virtual machine, the program has made what it says.
    fn check(&self, case: &str) {
        let arrays = |letter: &str| format!("[{letter}");
        let plain = "Heap$Plain";
        let mut expected: Vec<(String, &str, u64)> = vec![
            (plain.into(), "", 1000),
            ("Heap$Sub".into(), "", 10),
            ("Heap$Fails".into(), "", 5),
            ("java.lang.IllegalStateException".into(), "Heap$Fails.<init>", 5),
            (format!("[L{plain};"), "Heap.arrays(", 3),
            (format!("[[L{plain};"), "Heap.arrays(", 3),
            ("[I".into(), "Heap.zeros(", 5),
            (format!("[L{plain};"), "Heap.zeros(", 5),
            ("[[I".into(), "Heap.multi(", 1),
            ("[I".into(), "Heap.multi(", 2),
            ("[[[S".into(), "Heap.multi(", 1),
            ("[[S".into(), "Heap.multi(", 2),
            ("[S".into(), "Heap.multi(", 0),
            (format!("[[[L{plain};"), "Heap.multi(", 1),
            (format!("[[L{plain};"), "Heap.multi(", 2),
            (format!("[L{plain};"), "Heap.multi(", 0),
            ("[[J".into(), "Heap.multi(", 1),
            ("[J".into(), "Heap.multi(", 0),
            ("[[[B".into(), "Heap.multi(", 1),
            ("[[B".into(), "Heap.multi(", 2),
            ("[B".into(), "Heap.multi(", 4),
            ("[[C".into(), "Heap.multi(", 0),
            ("[I".into(), "Heap.clones(", 4),
            ("[[I".into(), "Heap.clones(", 4),
            ("[LHeap$Kind;".into(), "Heap$Kind.values(", 1),
            ("Heap$Copied".into(), "", 7),
            ("[I".into(), "Heap$Copied.clone(", 6),
            ("Heap$Inherits".into(), "", 7),
            ("Heap$Overrides".into(), "", 7),
            ("Heap$Reflected".into(), "", 50),
            ("Heap$Handled".into(), "", 20),
            ("[LHeap$Reflected;".into(), "Heap.reflectiveArrays(", 7),
            ("[[D".into(), "Heap.reflectiveArrays(", 7),
            ("[D".into(), "Heap.reflectiveArrays(", 14),
            ("Heap$Saved".into(), "", 40),
            ("java.lang.Integer".into(), "Heap.boxing(", 30),
            ("java.lang.String".into(), "Heap.strings(", 50),
            ("java.lang.StringBuilder".into(), "Heap.strings(", 25),
            ("Heap$Threaded".into(), "", 40_000),
            ("Heap$Dying".into(), "", 1000),
            ("[J".into(), "Heap$Dying.<init>", 1000),
            ("java.lang.ref.WeakReference".into(), "Heap.fill(", 1000),
            ("Heap$Staying".into(), "", 10),
            ("Heap$Finalized".into(), "", 50),
            ("Heap$AfterOverflow".into(), "", 100),
        ];
        expected.extend("ZBCSIJFD".chars().map(|c| (arrays(&c.to_string()), "Heap.arrays(", 3)));
        for (class, method, count) in expected {
            assert_eq!(self.count(&class, method), count, "{case}: {class} in {method}");
        }
        let lambdas = self
            .0
            .iter()
            .filter(|row| row.0.starts_with("Heap$$Lambda") && row.1.starts_with("Heap.lambdas("));
        assert_eq!(lambdas.map(|row| row.2).sum::<u64>(), 40, "{case}: lambdas");
        let own: Vec<_> = self.0.iter().filter(|row| row.0.contains("instrument.runtime")).collect();
        assert!(own.is_empty(), "{case}: the recorder's own {own:?}");
    }
}

const SAID: &str = "gone true\nfinalized 50\noverflow\noverflow\noverflow\n10\n";

fn heap(jre: &Jre, options: &str, flags: &[&str], arguments: &[&str]) -> Result<Outcome> {
    let (agent, path) = (option(options)?, class_path());
    let words = [&[agent.as_str()][..], flags, &["-cp", &path], arguments].concat();
    run(jre, &words)
}

/// A run of all of `Heap`, about which nobody has anything to say.
fn heap_silently(jre: &Jre, options: &str, flags: &[&str], case: &str) -> Result<Outcome> {
    let outcome = heap(jre, options, flags, &["Heap"])?;
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), SAID), "{case}: {}", outcome.stderr);
    ensure!(!outcome.stderr.contains("instrument:"), "{case}: {}", outcome.stderr);
    ensure!(!outcome.stderr.contains("WARNING in native"), "{case}: {}", outcome.stderr);
    Ok(outcome)
}

fn biographies(profile: &Path) -> Result<(Profile, Vec<Object>)> {
    let file = fs::File::open(profile)?;
    let read = Profile::open(&file)?;
    let mut objects = Vec::new();
    read.for_each_object(&file, |object| objects.push(*object))?;
    Ok((read, objects))
}

#[test]
fn every_object_is_counted_once() -> Result<()> {
    for (jre, record) in jre::each(&jre::all()?, &["tree", "counts", "trace"]) {
        let flags: &[&str] = if record == "trace" { &["-Xint"] } else { &["-Xcheck:jni"] };
        let options = format!("heap=counts,record={record},calibrate=off");
        let case = format!("Java {}, {record}", jre.version);
        let outcome = heap_silently(&jre, &options, flags, &case)?;
        let made = Made::read(&profile_of(&outcome)?)?;
        made.check(&case);
        // What no rewritten code makes is not seen.
        assert_eq!(made.count("Heap$Unsafed", ""), 0, "{case}");
    }
    Ok(())
}

#[test]
fn every_object_has_one_biography() -> Result<()> {
    let ways = [&["-Xcheck:jni", BOTH_COMPILERS][..], &["-Xint", "-XX:+UseSerialGC"], &["-Xcomp"]];
    for (jre, flags) in jre::each(&jre::all()?, &ways) {
        let case = format!("Java {}, {flags:?}", jre.version);
        let outcome = heap_silently(&jre, "heap=objects,calibrate=off", flags, &case)?;
        let path = profile_of(&outcome)?;
        let made = Made::read(&path)?;
        made.check(&case);
        check_biographies(&path, &made, &case)?;
    }
    Ok(())
}

/// The virtual machine's own word for the size of arrays, however it lays them out.
#[test]
fn arrays_have_the_size_that_the_virtual_machine_gives_them() -> Result<()> {
    let work = tempfile::tempdir()?;
    agent::compile(&["Sized.java"], 8, work.path())?;
    fs::write(work.path().join("manifest"), "Premain-Class: Sized\n")?;
    let mut jar = Jdk::default_kit()?.tool("jar");
    jar.current_dir(work.path()).args(["cfm", "sized.jar", "manifest", "Sized.class"]).run_quietly()?;
    let jar = work.path().join("sized.jar").display().to_string();
    let layouts = [
        &[][..],
        &["-XX:ObjectAlignmentInBytes=32"],
        &["-XX:-UseCompressedOops"],
        &["-XX:-UseCompressedClassPointers"],
        &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"],
    ];
    for (jre, flags) in jre::each(&jre::all()?, &layouts) {
        let flags = [&["-XX:+IgnoreUnrecognizedVMOptions"], flags].concat();
        let (agent, other) =
            (option("heap=counts,calibrate=off,include=Sized")?, format!("-javaagent:{jar}"));
        let words = [&[&*agent, &*other][..], &flags, &["-cp", &jar, "Sized"]].concat();
        let outcome = run(&jre, &words)?;
        let case = format!("Java {}, {flags:?}: {}", jre.version, outcome.stderr);
        let expected: u64 =
            outcome.stdout.lines().last().unwrap_or_default().parse().with_context(|| case.clone())?;
        let arguments = ["report", "--allocations", "--json"];
        let report = subject::call()?.args(arguments).arg(profile_of(&outcome)?).run_quietly()?;
        let report: Value = serde_json::from_slice(&report.stdout)?;
        let xprof = &report["xprof"];
        let resources = xprof["resources"].as_array().context("no resources")?;
        let bytes = resources.iter().position(|resource| resource["name"] == "bytes").context("no bytes")?;
        let rows = xprof["rows"].as_array().context("no rows")?;
        let is_made =
            |row: &&Value| row["function"].as_str().is_some_and(|name| name.starts_with("Sized.made("));
        let made = rows.iter().find(is_made).with_context(|| case.clone())?;
        assert_eq!(made["base"][bytes].as_u64(), Some(expected), "{case}");
    }
    Ok(())
}

/// What is made to find out what a record costs is made by nobody.
#[test]
fn calibration_makes_no_records() -> Result<()> {
    let jre = jre::all()?.into_iter().next().context("no Java")?;
    let outcome = heap(&jre, "heap=objects,calibrate=60,timing=auto", &[], &["Heap"])?;
    let path = profile_of(&outcome)?;
    let (profile, objects) = biographies(&path)?;
    ensure!(profile.calibration().is_some(), "{}", outcome.stderr);
    ensure!(!objects.is_empty());
    let strange = objects.iter().find(|object| object.thread == 0);
    ensure!(strange.is_none(), "{strange:?}");
    Made::read(&path)?.check("calibrated");
    Ok(())
}

/// Biographies and counts say the same; what is dead is dead, what lives lives.
fn check_biographies(path: &Path, made: &Made, case: &str) -> Result<()> {
    let (profile, objects) = biographies(path)?;
    let copy = &profile.copies[&objects.first().context("no object")?.copy];
    let collections = profile.collections.len() as u32;
    ensure!(collections > 0, "{case}: no collection");
    let mut by_class: BTreeMap<String, u64> = BTreeMap::new();
    let (mut numbers, mut clock) = (0, 0);
    for object in &objects {
        numbers += 1;
        assert_eq!(object.number, numbers, "{case}: numbers have no gaps");
        *by_class.entry(copy.class_names[&object.class].clone()).or_default() += 1;
        ensure!(object.born <= collections, "{case}: {object:?}");
        ensure!(
            object.gone.is_none_or(|gone| gone >= object.born && gone <= collections),
            "{case}: {object:?}"
        );
        ensure!(object.clock > 0 && object.bytes >= 8, "{case}: {object:?}");
        ensure!(object.thread > 0, "{case}: {object:?}");
        clock = clock.max(object.clock);
    }
    // Where the stack overflows in a probe the object is dropped, perhaps after its biography has begun.
    let (mut counted, overflowing) = (made.by_class(), "Heap$Endless");
    let (begun, ended) = (by_class.remove(overflowing), counted.remove(overflowing));
    let dropped: u64 = profile.threads.iter().map(|thread| thread.dropped).sum();
    let missing = begun.unwrap_or(0).abs_diff(ended.unwrap_or(0));
    ensure!(missing <= dropped, "{case}: {begun:?} begun, {ended:?} counted, {dropped} dropped");
    assert_eq!(by_class, counted, "{case}");
    let of = |class: &str| -> Vec<&Object> {
        objects.iter().filter(|object| copy.class_names[&object.class] == class).collect()
    };
    for dying in of("Heap$Dying") {
        ensure!(dying.gone.is_some_and(|gone| gone > dying.born), "{case}: {dying:?}");
        assert_eq!(dying.bytes, 16, "{case}");
    }
    for staying in of("Heap$Staying") {
        ensure!(staying.gone.is_none() && staying.bytes == 16, "{case}: {staying:?}");
    }
    for sub in of("Heap$Sub") {
        assert_eq!(sub.bytes, 24, "{case}");
    }
    for collection in &profile.collections {
        ensure!(collection.start > 0 && collection.end >= collection.start, "{case}: {collection:?}");
    }
    // Where the virtual machine tells, and the compiler does not do it by itself.
    ensure!(of("Heap$Unsafed").len() <= 8, "{case}: {}", of("Heap$Unsafed").len());
    Ok(())
}

#[test]
fn only_the_chosen_classes_are_recorded() -> Result<()> {
    let options = "heap=objects,calibrate=off,heap-include=Heap$*:int[]:long[][],heap-exclude=Heap$Thread*";
    for jre in jre::turn(jre::all()?) {
        let outcome = heap(&jre, options, &[], &["Heap"])?;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), SAID), "{}", outcome.stderr);
        let path = profile_of(&outcome)?;
        let (made, (_, objects)) = (Made::read(&path)?, biographies(&path)?);
        let classes = made.by_class();
        assert_eq!(
            (made.count("Heap$Plain", ""), made.count("[I", "Heap.arrays("), made.count("[[J", "")),
            (1000, 3, 1)
        );
        let wanted = |class: &str| {
            ["[I", "[[J"].contains(&class) || class.starts_with("Heap$") && class != "Heap$Threaded"
        };
        ensure!(classes.keys().all(|class| wanted(class)), "{classes:?}");
        assert_eq!(objects.len() as u64, classes.values().sum::<u64>());
    }
    Ok(())
}

/// A row of `instrument heap --by context`: class, methods, objects.
type Row = (String, Vec<String>, u64);

/// The report, and its rows.
fn contexts(profile: &Path) -> Result<(Value, Vec<Row>)> {
    let output = subject::call()?.args(["heap", "--by", "context", "--json"]).arg(profile).run_quietly()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let rows = report["table"]["rows"].as_array().context("no rows")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| {
        let methods = row["methods"].as_array().into_iter().flatten().map(text).collect();
        (text(&row["class"]), methods, row["objects"].as_u64().unwrap_or(0))
    };
    let rows = rows.iter().map(row).collect();
    Ok((report, rows))
}

/// Arrays made by classes of the JDK, by reflection and the virtual machine, deserialised, cloned, boxed, joined, instances without a
/// constructor: whatever kind, as many as the program has made.
#[test]
fn every_kind_of_allocation_is_exact_with_heap_all() -> Result<()> {
    for (jre, (level, flags)) in
        jre::each(&jre::all()?, &[("counts", &["-Xcheck:jni"][..]), ("counts", &["-Xint"]), ("objects", &[])])
    {
        let case = format!("Java {}, {level}, {flags:?}", jre.version);
        let options = format!("heap={level},heap-all=on,calibrate=off");
        let outcome = heap(&jre, &options, flags, &["HeapAll"])?;
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{case}");
        let (report, rows) = contexts(&profile_of(&outcome)?)?;
        let mut lines = outcome.stdout.lines();
        let times: u64 = lines.next().context("nothing printed")?.parse()?;
        let mut kinds = 0;
        for line in lines {
            let [method, class, each] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            let is_made = |methods: &[String]| {
                let called = |pair: &[String]| {
                    pair[0].starts_with(&format!("HeapAll.{method}("))
                        && pair[1].starts_with("HeapAll.measure(")
                };
                methods.windows(2).any(called)
            };
            let is_class = |name: &str| name == class || class.ends_with("Lambda") && name.starts_with(class);
            let made = rows.iter().filter(|(name, methods, _)| is_class(name) && is_made(methods));
            let made: u64 = made.map(|(_, _, objects)| objects).sum();
            assert_eq!(made, times * each.parse::<u64>()?, "{case}: {line}");
            kinds += 1;
        }
        ensure!(kinds >= 44, "{case}: {kinds} kinds");
        let coverage = report["coverage"][0]["recorded"].as_str().unwrap_or_default();
        ensure!(coverage.starts_with("all allocations of the JVM"), "{case}: {coverage}");
        let own: Vec<_> = rows.iter().filter(|row| row.0.contains("instrument.runtime")).collect();
        ensure!(own.is_empty(), "{case}: {own:?}");
    }
    Ok(())
}

/// `include` and `exclude` choose the methods whose calls are recorded. Arrays and clones are counted all the same, in the context of
/// those; what is not rewritten at all is `no-rewrite`.
#[test]
fn the_choice_of_methods_does_not_narrow_the_heap() -> Result<()> {
    let jre = jre::all()?.into_iter().next().context("no Java")?;
    let arrays = |options: &str, exact: bool| -> Result<BTreeMap<String, u64>> {
        let outcome =
            heap(&jre, &format!("heap=counts,calibrate=off,{options}account=account"), &[], &["Heap"])?;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), SAID), "{options}: {}", outcome.stderr);
        let account = fs::read_to_string(outcome.folder.path().join("account"))?;
        let heap = account
            .lines()
            .find(|line| line.starts_with("{\"kind\":\"heap\""))
            .context("no line of the heap")?;
        ensure!(heap.contains("\"not_seen\":\"arrays and clones that classes of the JDK"), "{heap}");
        let (_, rows) = contexts(&profile_of(&outcome)?)?;
        let mut made = BTreeMap::new();
        for (class, methods, objects) in rows {
            if class.ends_with("[]")
                || ["Heap$Copied", "Heap$Inherits", "Heap$Overrides"].contains(&class.as_str())
            {
                ensure!(
                    !exact || methods.iter().all(|method| method.starts_with("Heap.main(")),
                    "{methods:?}"
                );
                *made.entry(class).or_default() += objects;
            }
        }
        Ok(made)
    };
    let all = arrays("", false)?;
    ensure!(all["int[]"] > 15 && all["Heap$Copied"] == 7, "{all:?}");
    assert_eq!(arrays("include=Heap#main,", true)?, all);
    assert_eq!(arrays("exclude=**,", true)?, all);
    let left = arrays("no-rewrite=Heap:Heap$*,", false)?;
    ensure!(!left.contains_key("int[]") && left["Heap$Copied"] < 7, "{left:?}");
    Ok(())
}

#[test]
fn exits_and_lack_of_memory_lose_nothing() -> Result<()> {
    for (jre, level) in jre::each(&jre::all()?, &["counts", "objects"]) {
        let options = format!("heap={level},calibrate=off");
        let outcome = heap(&jre, &options, &[], &["Heap", "exit"])?;
        assert_eq!(outcome.code, Some(7), "{}", outcome.stderr);
        Made::read(&profile_of(&outcome)?)?.check(&format!("Java {}, exit, {level}", jre.version));

        let outcome = heap(&jre, &options, &["-Xmx48m"], &["Heap", "memory"])?;
        assert_eq!(
            (outcome.code, outcome.stdout.as_str()),
            (Some(0), "too large\nfull\n"),
            "{}",
            outcome.stderr
        );
        let made = Made::read(&profile_of(&outcome)?)?;
        assert_eq!(made.count("Heap$AfterMemory", ""), 100, "Java {}, {level}", jre.version);
    }
    Ok(())
}

#[test]
fn a_full_profile_counts_what_it_drops() -> Result<()> {
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let outcome = heap(&jre, "heap=objects,calibrate=off,limit=2m", &[], &["Heap"])?;
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), SAID), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("instrument:").count(), 1, "{}", outcome.stderr);
    ensure!(outcome.stderr.contains("is incomplete from here on: the limit of"), "{}", outcome.stderr);
    let (profile, objects) = biographies(&profile_of(&outcome)?)?;
    let dropped: u64 = profile.dropped + profile.threads.iter().map(|thread| thread.dropped).sum::<u64>();
    ensure!(objects.len() < 40_000 && dropped > 1000, "{} objects, {dropped} dropped", objects.len());
    Ok(())
}

#[test]
fn records_and_joined_strings_are_seen() -> Result<()> {
    for jre in jre::all()?.into_iter().filter(|jre| jre.version >= 17) {
        for level in ["counts", "objects"] {
            let outcome = heap(&jre, &format!("heap={level}"), &[], &["HeapRecords"])?;
            assert_eq!(
                (outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()),
                (Some(0), "9\n", "")
            );
            let made = Made::read(&profile_of(&outcome)?)?;
            assert_eq!(made.count("HeapRecords$Point", ""), 60, "Java {}", jre.version);
            let strings = made.count("java.lang.String", "HeapRecords.main(");
            ensure!(strings >= 60, "Java {}: {strings} strings", jre.version);
        }
    }
    Ok(())
}

#[test]
fn wrong_options_are_refused() -> Result<()> {
    let jre = jre::all()?.pop().context("a virtual machine")?;
    for (options, reason) in [
        ("heap=everything", "heap=everything: there are counts, objects"),
        ("heap-include=a.B", "heap-include and heap-exclude go with heap="),
        ("heap=counts,transform=allocation", "heap sees what transform=allocation sees"),
        ("heap=counts,heap-all=on,early=on", "heap-all=on: the virtual machine reports objects from when"),
    ] {
        let outcome = heap(&jre, options, &[], &["HeapRecords"])?;
        ensure!(outcome.code == Some(0) && outcome.profiles() == 0, "{options}");
        ensure!(
            outcome.stderr.starts_with(&format!("instrument: {reason}")),
            "{options}: {}",
            outcome.stderr
        );
    }
    Ok(())
}
