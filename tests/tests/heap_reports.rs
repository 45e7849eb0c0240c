//! `instrument heap` and the XML trace, on what the agent recorded of a program whose objects are known.

use std::path::{Path, PathBuf};
use std::process::Command;

use instrument_tests::agent;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, java_source, root};
use instrument_tests::resident::Program;
use instrument_tests::subject;
use instrument_trace::Profile;
use serde_json::Value;
use std::fs::File;

/// Runs the program with every object followed; returns the folder of the profile, and the profile.
fn recorded(jre: &Jre) -> (agent::Outcome, PathBuf) {
    let classes = tempfile::tempdir().unwrap();
    agent::compile(&["Leak.java"], 8, classes.path()).unwrap();
    let option = agent::option("heap=objects").unwrap();
    let run = agent::run(jre, &[&option, "-cp", classes.path().to_str().unwrap(), "Leak"]).unwrap();
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "220000 2000\n"), "{}", run.stderr);
    let entries = std::fs::read_dir(run.folder.path()).unwrap().flatten().map(|entry| entry.path());
    let profile = entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "iprof")).unwrap();
    (run, profile)
}

fn instrument(arguments: &[&str], profile: &Path) -> Vec<u8> {
    let mut command = Command::new(subject::instrument().unwrap());
    let done = command.args(arguments).arg(profile).output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

fn json(arguments: &[&str], profile: &Path) -> Value {
    serde_json::from_slice(&instrument(arguments, profile)).unwrap()
}

/// Objects and live ones of a class made in a method.
fn made(sites: &Value, class: &str, method: &str) -> (u64, u64) {
    let rows = sites["table"]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["class"] == class && row["methods"][0] == method);
    let row = row.unwrap_or_else(|| panic!("no {class} in {method}: {sites:#}"));
    (row["objects"].as_u64().unwrap(), row["live"].as_u64().unwrap())
}

#[test]
fn sites_and_leaks_of_a_real_program_are_found() {
    for jre in jre::turn(jre::all().unwrap()) {
        let (_run, profile) = recorded(&jre);
        let sites = json(&["heap", "--json", "--by", "site"], &profile);
        assert_eq!(made(&sites, "Leak$Session", "Leak.login()V"), (2000, 2000));
        assert_eq!(made(&sites, "byte[]", "Leak$Session.<init>(I)V"), (2000, 2000));
        assert_eq!(made(&sites, "Leak$Price", "Leak.price(I)LLeak$Price;"), (100, 100));
        let (arrays, live) = made(&sites, "long[]", "Leak.serve(I)J");
        // The last collection comes when the last was made.
        assert_eq!((arrays, live <= 1), (20_000, true), "{live} are live");

        let leaks = json(&["heap", "--json", "--leaks"], &profile);
        let suspects = leaks["leaks"]["suspects"].as_array().unwrap();
        let ours = |suspect: &&Value| suspect["methods"].to_string().contains("Leak");
        let mut found: Vec<_> = suspects.iter().filter(ours).map(|s| s["class"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, ["Leak$Session", "byte[]"], "{leaks:#}");
        let parts: Vec<_> = suspects.iter().filter(ours).map(|s| (&s["leak"], &s["class"])).collect();
        assert_eq!(parts, [(&1.into(), &"Leak$Session".into()), (&1.into(), &"byte[]".into())], "one leak");

        let collections = json(&["heap", "--json", "--collections"], &profile);
        assert!(collections["collections"].as_array().unwrap().len() >= 20);
        let summary = String::from_utf8(instrument(&["heap"], &profile)).unwrap();
        assert!(
            summary.lines().count() <= 40 && summary.contains("1 leak suspect: objects of 2 kinds"),
            "{summary}"
        );
        assert!(summary.contains("recorded    objects by their constructors"), "{summary}");
        assert!(
            summary.contains("not seen    arrays and clones that classes of the JDK, hidden"),
            "{summary}"
        );
    }
}

/// Runs `Holders` with these options of the agent; returns the report on leaks.
fn holders(jre: &Jre, classes: &Path, options: &str) -> Value {
    let option = agent::option(options).unwrap();
    let run = agent::run(jre, &[&option, "-cp", classes.to_str().unwrap(), "Holders"]).unwrap();
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "300 600\n"), "{}", run.stderr);
    let entries = std::fs::read_dir(run.folder.path()).unwrap().flatten().map(|entry| entry.path());
    let profile = entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "iprof")).unwrap();
    json(&["heap", "--json", "--leaks"], &profile)
}

#[test]
fn a_leak_suspect_is_printed_with_what_holds_it() {
    let classes = tempfile::tempdir().unwrap();
    agent::compile(&["Holders.java"], 8, classes.path()).unwrap();
    let jres = jre::turn(jre::all().unwrap());
    for jre in &jres {
        let leaks = holders(jre, classes.path(), "heap=objects");
        let suspects = leaks["leaks"]["suspects"].as_array().unwrap();
        let held = |class: &str| -> Vec<(String, u64, u64)> {
            let suspect = suspects.iter().find(|suspect| suspect["class"] == class);
            let suspect = suspect.unwrap_or_else(|| panic!("no {class} in {leaks:#}"));
            let count = |holder: &Value, key: &str| holder[key].as_u64().unwrap();
            let path = |holder: &Value| {
                let steps = holder["path"].as_array().unwrap_or_else(|| panic!("{leaks:#}"));
                steps.iter().map(|step| step.as_str().unwrap()).collect::<Vec<_>>().join(" -> ")
            };
            let holders = suspect["holders"].as_array().unwrap().iter();
            holders.map(|h| (path(h), count(h, "objects"), count(h, "sampled"))).collect()
        };
        let list = "thread \"keeper-*\" -> Holders$Keeper.jobs -> java.util.LinkedList.first|last";
        let map = "static Holders$Cache.ENTRIES -> java.util.HashMap.table[]";
        let (item, value) = ("java.util.LinkedList$Node.item", "java.util.HashMap$Node.value");
        let both = |end: &str| {
            [(format!("{list} -> {item}{end}"), 600, 900), (format!("{map} -> {value}{end}"), 300, 900)]
        };
        assert_eq!(held("Holders$Item"), both(""), "{}", jre.version);
        assert_eq!(held("byte[]"), both(" -> Holders$Item.data"), "{}", jre.version);
        assert_eq!(held("java.util.LinkedList$Node"), [(list.to_owned(), 600, 600)]);
        assert_eq!(held("java.util.HashMap$Node"), [(map.to_owned(), 300, 300)]);
        let seen = "static Holders.SEEN -> java.util.ArrayList.elementData[]";
        assert_eq!(held("java.lang.ref.WeakReference"), [(seen.to_owned(), 900, 900)]);
    }
    let leaks = holders(&jres[0], classes.path(), "heap=objects,heap-holders=0");
    let remarks = leaks["leaks"]["remarks"].to_string();
    assert!(remarks.contains("who holds the suspects is not in the profile"), "{remarks}");
}

/// A program that allocates as often in its own code as in the JDK's, and one that hardly uses the JDK's. There are about 9,000
/// samples, which err by 1 %; the rest is start-up.
#[test]
fn the_share_of_the_allocated_bytes_that_is_recorded_is_printed() {
    let classes = tempfile::tempdir().unwrap();
    agent::compile(&["HeapShare.java"], 8, classes.path()).unwrap();
    let share = |jre: &Jre, level: &str, own: &str, jdk: &str| {
        let option = agent::option(&format!("heap={level}")).unwrap();
        let run = agent::run(jre, &[&option, "-cp", classes.path().to_str().unwrap(), "HeapShare", own, jdk]);
        let run = run.unwrap();
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), "done\n"), "{}", run.stderr);
        let entries = std::fs::read_dir(run.folder.path()).unwrap().flatten().map(|entry| entry.path());
        let profile = entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "iprof"));
        let profile = profile.unwrap();
        let report = json(&["heap", "--json"], &profile);
        let share = &report["shares"][0];
        if jre.version < 17 {
            assert!(share.is_null(), "{share}");
            return None;
        }
        let [percent, from, to] = ["percent", "from", "to"].map(|key| share[key].as_f64().unwrap());
        assert!(from < percent && percent <= to && to - from < 8.0, "{from} to {to}");
        let text = String::from_utf8(instrument(&["heap"], &profile)).unwrap();
        let line = format!("share       about {percent:.0} % of the allocated bytes were recorded (");
        assert!(text.contains(&line), "{text}");
        // With biographies the virtual machine also reports some of the JDK's arrays, until their code is compiled.
        let recorded = report["classes"]["total"]["bytes"].as_f64().unwrap();
        let made: f64 = [own, jdk].iter().map(|count| 10_016.0 * count.parse::<f64>().unwrap()).sum();
        Some((percent, (100.0 * recorded / made).min(100.0)))
    };
    for jre in jre::turn(jre::all().unwrap()) {
        for level in ["counts", "objects"] {
            let Some((percent, truth)) = share(&jre, level, "60000", "60000") else { continue };
            let is_half = level == "objects" || (49.0..51.0).contains(&truth);
            assert!(
                (percent - truth).abs() < 4.0 && is_half,
                "{level} on {}: {percent}, not {truth} %",
                jre.version
            );
        }
        let Some((percent, truth)) = share(&jre, "counts", "60000", "600") else { continue };
        assert!(truth > 98.0 && truth - percent < 5.0, "{}: {percent}, not {truth} %", jre.version);
    }
}

/// That nothing was found is no answer where nothing can be found.
#[test]
fn leaks_that_cannot_be_determined_have_an_exit_code_of_their_own() {
    let jre = jre::all().unwrap().remove(0);
    let classes = tempfile::tempdir().unwrap();
    agent::compile(&["Tiny.java"], 8, classes.path()).unwrap();
    for (options, reason) in [
        ("heap=counts", "that takes instrument run --heap objects"),
        ("heap=objects", "garbage collections, and at least 8 are needed"),
        ("threads=on", "that takes instrument run --heap objects"),
    ] {
        let option = agent::option(options).unwrap();
        let run = agent::run(&jre, &[&option, "-cp", classes.path().to_str().unwrap(), "Tiny"]).unwrap();
        let entries = std::fs::read_dir(run.folder.path()).unwrap().flatten().map(|entry| entry.path());
        let profile =
            entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "iprof")).unwrap();
        let ask = |arguments: &[&str]| {
            Command::new(subject::instrument().unwrap()).args(arguments).arg(&profile).output().unwrap()
        };
        let done = ask(&["heap", "--leaks"]);
        let text = String::from_utf8_lossy(&done.stdout);
        assert_eq!(done.status.code(), Some(4), "{options}: {text}");
        assert!(text.starts_with("leaks: cannot tell\nnote: ") && text.contains(reason), "{options}: {text}");
        let done = ask(&["heap", "--leaks", "--json"]);
        let report: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!((done.status.code(), &report["leaks"]["verdict"]), (Some(4), &"undetermined".into()));
        let done = ask(&["heap", "--leaks", "--csv"]);
        assert_eq!(
            (done.status.code(), String::from_utf8_lossy(&done.stderr).contains(reason)),
            (Some(4), true)
        );
        assert_eq!(ask(&["heap"]).status.code(), Some(0), "nobody asked about leaks");
    }
}

#[test]
fn the_trace_of_a_real_program_is_valid() {
    let jre = jre::all().unwrap().pop().unwrap();
    let (run, profile) = recorded(&jre);
    let jdk = Jdk::all().unwrap().pop().unwrap();
    jdk.compile_into(&[java_source("TraceCheck.java")], run.folder.path()).unwrap();
    let file = run.folder.path().join("trace.xml");
    instrument(&["export", "--to", "xml", "-o", file.to_str().unwrap()], &profile);
    let mut check = jdk.brief_java();
    check
        .arg("-cp")
        .arg(run.folder.path())
        .arg("TraceCheck")
        .arg(root().join("crates/analysis/schema/trace.xsd"));
    let done = check.arg(&file).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.matches("<objAlloc ").count() > 22_000 && text.matches("<gcFinish ").count() >= 20);
}

/// Each profile has the objects of its time, and the end of no other one: numbers begin anew, tags of before are forgotten.
#[test]
fn objects_are_recorded_again_and_again() {
    for jre in jre::ends().unwrap() {
        // Nothing is made but what is requested.
        let mut program = Program::start(&jre, &["-XX:+UseSerialGC"], &["Attached", "0"], None).unwrap();
        let rounds =
            [("objects", 7, 1), ("counts", 3, 0), ("objects", 5, 1), ("objects", 0, 0), ("objects", 2, 1)];
        for (round, (level, times, live)) in rounds.into_iter().enumerate() {
            let (case, file) = (format!("Java {}, round {round}", jre.version), format!("{round}.iprof"));
            program.attached(&["--heap", level, "--include", "Attached**", "-o", &file]).unwrap();
            // The last one of the round before is gone now, which is no end of one of these.
            program.run(&format!("call {times}")).unwrap();
            assert!(program.call(&["ctl", &program.pid(), "gc"]).unwrap().output().unwrap().status.success());
            program.stop().unwrap();
            program.run("call 4").unwrap();
            let table = json(&["heap", "--by", "class", "--json", "--top", "1000"], &program.at(&file));
            let rows = table["table"]["rows"].as_array().unwrap();
            let items = rows.iter().find(|row| row["class"] == "Attached$Item");
            let number = |key: &str| items.map_or(0, |row| row[key].as_u64().unwrap_or(0));
            assert_eq!((number("objects"), number("live")), (times, live), "{case}: {table:#}");
            let profile = Profile::open(&File::open(program.at(&file)).unwrap()).unwrap();
            assert_eq!(profile.damage, [], "{case}");
        }
        program.end().unwrap();
        let said = program.stderr();
        assert!(said.lines().all(|line| !line.starts_with("instrument:")), "{said}");
    }
}
