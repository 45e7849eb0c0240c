//! `instrument heap`: reports on scripted profiles whose every figure is known.

use crate::common::Dir;
use instrument_testing::{Life, Script, Writer};

const SESSION: u32 = 1;
const BYTES: u32 = 2;
const STRING: u32 = 3;

/// 16 collections, 1 ms apart, each of 1 us. Between them m2, called by m1, makes 10 sessions of 32 bytes that stay; m3, called by m1,
/// makes 100 byte arrays of 64 bytes half a millisecond before the collection that finds them gone; m1 makes 50 strings of 24
/// bytes before the first. After the last collection 3 sessions more are made.
fn shop() -> Writer {
    let mut writer = Writer::new();
    writer.property("command", "/srv/shop.jar").property("record", "tree");
    writer.class_names(&[(SESSION, "com.acme.Session"), (BYTES, "[B"), (STRING, "java.lang.String")]);
    writer.contexts(1, &[(0, Some(1)), (1, Some(2)), (1, Some(3))]);
    let collections: Vec<_> = (1..=16).map(|k| (k * 1_000_000, k * 1_000_000 + 1000)).collect();
    writer.collections(1, &collections);
    let mut lives = Vec::new();
    for epoch in 0..=16u32 {
        let life =
            Life { thread: 1, born: epoch, clock: 501_000 + 1_000_000 * u64::from(epoch), ..Life::default() };
        let sessions = if epoch < 16 { 10 } else { 3 };
        for _ in 0..sessions {
            lives.push(Life { class: SESSION, context: 2, bytes: 32, ..life });
        }
        for _ in 0..if epoch < 16 { 100 } else { 0 } {
            lives.push(Life { class: BYTES, context: 3, bytes: 64, gone: Some(epoch + 1), ..life });
        }
        for _ in 0..if epoch == 0 { 50 } else { 0 } {
            lives.push(Life { class: STRING, context: 1, bytes: 24, ..life });
        }
    }
    writer.objects(1, &lives);
    writer.tree(
        "main",
        &Script::new(1000).call(1, |s| s.wait(500).call(2, |s| s.wait(10)).call(3, |s| s.wait(5))),
    );
    writer.clocks(0, 17_000_000);
    writer
}

#[track_caller]
fn prints(dir: &Dir, line: &str, expected: &str) {
    let run = dir.line(&format!("heap {line} shop.iprof")).expect(0);
    assert_eq!(run.stdout, expected, "heap {line}");
    assert_eq!(run.stderr, "");
}

#[test]
fn the_summary_fits_on_one_screen() {
    let dir = Dir::new();
    dir.write("shop.iprof", shop().finish());
    let expected = "\
made        1813 objects, 106.3 KiB of 3 classes at 3 sites
live        213 objects, 6.266 KiB at the end; 3, 96 B of them made after the last collection
died        1600 objects, 100.0 KiB; 100.0 % outlived no collection
collections 16, 16.00 us in all, the longest 1.000 us

objects      bytes     %  live  live bytes  outlived     lived  class
   1600  100.0 KiB  94.1     0         0 B       0.0  500.0 us  byte[]
    163  5.094 KiB   4.8   163   5.094 KiB         -         -  com.acme.Session
     50  1.172 KiB   1.1    50   1.172 KiB         -         -  java.lang.String

objects      bytes     %  live  live bytes  outlived     lived  class in method
   1600  100.0 KiB  94.1     0         0 B       0.0  500.0 us  byte[] in #3
    163  5.094 KiB   4.8   163   5.094 KiB         -         -  com.acme.Session in #2
     50  1.172 KiB   1.1    50   1.172 KiB         -         -  java.lang.String in #1

1 leak suspect
 +2.500 KiB  com.acme.Session in #2 < #1
             80 objects became 160 in the last 8 collections (+2.500 KiB, 312.5 KiB/s), more in 8 of 8 windows, fewer in none; \
             100 % of the 80 made since are still there
note: nothing that had outlived more than 0 collections was found gone in the last 8: old garbage may not have been collected yet; \
a full collection before the end tells it from leaks
note: who holds the suspects is not in the profile: instrument run --heap objects searches the heap when the program ends, unless \
it is killed (kill -9) or --heap-holders 0 is given
";
    prints(&dir, "", expected);
    // A narrow terminal, and fewer rows.
    let run = dir.line("heap --width 60 --top 1 shop.iprof").expect(0);
    assert!(run.stdout.contains("not shown: 2 past the first 1: 213 objects, 6.266 KiB\n"), "{}", run.stdout);
}

#[test]
fn rows_are_classes_sites_or_contexts() {
    let dir = Dir::new();
    dir.write("shop.iprof", shop().finish());
    let expected = "\
objects      bytes     %  live  live bytes  outlived     lived  class in method
   1600  100.0 KiB  94.1     0         0 B       0.0  500.0 us  byte[] in #3 < #1
    163  5.094 KiB   4.8   163   5.094 KiB         -         -  com.acme.Session in #2 < #1
     50  1.172 KiB   1.1    50   1.172 KiB         -         -  java.lang.String in #1
";
    prints(&dir, "--by context", expected);
    prints(
        &dir,
        "--live --top 1",
        "\
objects      bytes  live  live bytes     %  class
    163  5.094 KiB   163   5.094 KiB  81.3  com.acme.Session
not shown: 1 past the first 1: 50 objects, 1.172 KiB
",
    );
    let csv = "\
class,method,objects,bytes,live,live_bytes,died,outlived_mean,outlived_p50,outlived_p90,outlived_max,lived_ns_mean,\
lived_ns_p50,lived_ns_p90,lived_ns_max
byte[],#3,1600,102400,0,0,1600,0,0,0,0,500000,500000,500000,500000
com.acme.Session,#2,163,5216,163,5216,0,,,,,,,,
java.lang.String,#1,50,1200,50,1200,0,,,,,,,,
";
    prints(&dir, "--csv --by site", csv);
    let rows =
        |line: &str| dir.line(&format!("heap --csv {line} shop.iprof")).expect(0).stdout.lines().count() - 1;
    assert_eq!(rows("--class com.acme.*"), 1);
    assert_eq!(rows("--class byte[] --class java.**"), 2);
    assert_eq!(rows("--thread main"), 3);
    assert_eq!(rows("--thread other"), 0);
}

#[test]
fn lifetimes_are_a_histogram_and_rows() {
    let mut writer = shop();
    // Two that outlived 3 and 9 collections.
    let life = Life { class: STRING, context: 1, bytes: 24, clock: 501_000, ..Life::default() };
    writer.objects(4000, &[Life { gone: Some(4), ..life }, Life { gone: Some(10), ..life }]);
    let dir = Dir::new();
    dir.write("shop.iprof", writer.finish());
    let expected = "\
outlived  objects     %
       0     1600  88.2  ########################################
       1        0   0.0
     2-3        1   0.1  #
     4-7        0   0.0
    8-15        1   0.1  #
    live      213  11.7  ######

died  live  outlived  p50  p90  p99  max     lived       p50       p90       max  class
1600     0       0.0    0    0    0    0  500.0 us  500.0 us  500.0 us  500.0 us  byte[]
   0   163         -    -    -    -    -         -         -         -         -  com.acme.Session
   2    50       6.0    3    8    8    9  6.500 ms  3.500 ms  9.437 ms  9.500 ms  java.lang.String
";
    prints(&dir, "--lifetimes", expected);
}

#[test]
fn collections_are_listed_with_what_they_left() {
    let dir = Dir::new();
    dir.write("shop.iprof", shop().finish());
    let expected = "\
number        at      took  made      bytes  gone      bytes  left      bytes
     1  999.0 us  1.000 us   160  7.734 KiB   100  6.250 KiB    60  1.484 KiB
     2  1.999 ms  1.000 us   110  6.562 KiB   100  6.250 KiB    70  1.797 KiB
not shown: 14
";
    prints(&dir, "--collections --top 2", expected);
    let csv = dir.line("heap --collections --csv shop.iprof").expect(0).stdout;
    assert!(csv.ends_with("\nshop.jar (pid 1),16,15999000,1000,110,6720,100,6400,210,6320\n"), "{csv}");
}

#[test]
fn json_has_every_section_that_was_asked_for() {
    let dir = Dir::new();
    dir.write("shop.iprof", shop().finish());
    let json = dir.line("heap --json shop.iprof").expect(0).json();
    assert_eq!(json["classes"]["total"]["live_bytes"], 6416);
    assert_eq!(json["sites"]["rows"][0]["methods"][0], "#3");
    assert_eq!(json["collections"][15]["left"]["objects"], 210);
    assert_eq!(json["leaks"]["suspects"][0]["growth_bytes"], 2560);
    let json = dir.line("heap --json --live --leaks shop.iprof").expect(0).json();
    assert_eq!(json["live"]["rows"].as_array().unwrap().len(), 2);
    assert_eq!((json["leaks"].is_object(), json["classes"].is_null()), (true, true));
}

/// The figures in every context: biographies and counts stand in the same tree.
#[test]
fn the_tree_shows_what_is_live() {
    let dir = Dir::new();
    dir.write("shop.iprof", shop().finish());
    let run = dir.line("xtree --absolute --prune 0 --resource live,live-bytes,bytes shop.iprof").expect(0);
    let expected = "\
live 213, live-bytes 6.266 KiB, bytes 106.3 KiB
calls  live base  live cum  live-bytes base  live-bytes cum  bytes base   bytes cum  function
    1          0       213              0 B       6.266 KiB         0 B   106.3 KiB  shop.jar (pid 1)
    1          0       213              0 B       6.266 KiB         0 B   106.3 KiB    main
    1         50       213        1.172 KiB       6.266 KiB   1.172 KiB   106.3 KiB      #1
    1        163       163        5.094 KiB       5.094 KiB   5.094 KiB   5.094 KiB        #2
    1          0         0              0 B             0 B   100.0 KiB   100.0 KiB        #3
";
    assert_eq!(run.stdout, expected);
    let run = dir.line("xprof --resource live-bytes --top 1 shop.iprof").expect(0);
    assert!(run.stdout.contains("#2"), "{}", run.stdout);
}

#[test]
fn counts_have_no_lifetimes() {
    let dir = Dir::new();
    let mut writer = Writer::new();
    writer.class_names(&[(1, "[[I")]);
    writer.tree("main", &Script::new(1000).call(1, |s| s.call(2, |s| s.make(1, 40).make(1, 24))));
    dir.write("shop.iprof", writer.finish());
    let expected = "\
made        2 objects, 64 B of 1 classes at 1 sites

objects  bytes      %  class
      2   64 B  100.0  int[][]

objects  bytes      %  class in method
      2   64 B  100.0  int[][] in #2

recorded    objects, arrays and clones that the rewritten classes make
not seen    what all other classes make, those of the JDK among them, by reflection, deserialisation and native code, too; their \
share is unknown: instrument run --heap counts --heap-all records every allocation
";
    prints(&dir, "", expected);
    prints(&dir, "--live", "what is live is not known: objects were counted, and not followed\n");
    let run = dir.line("heap --csv --by context shop.iprof").expect(0);
    assert!(run.stdout.ends_with("\nint[][],#2 < #1,2,64,,,,,,,,,,,\n"), "{}", run.stdout);
    // Counts without trees have no bytes.
    let pinned = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../crates/trace/tests/profiles/v1-allocations.iprof");
    dir.write("shop.iprof", std::fs::read(pinned).unwrap());
    let run = dir.line("heap shop.iprof").expect(0);
    assert!(run.stdout.starts_with("made        203 objects of 4 classes at 5 sites\n"), "{}", run.stdout);
    assert!(run.stdout.contains("\n    100  49.3  int[]\n"), "{}", run.stdout);
}

#[test]
fn wrong_questions_and_files_are_refused() {
    let dir = Dir::new();
    dir.write("shop.iprof", shop().finish());
    dir.write("text", "main;work 7\n");
    dir.line("heap text").says(2, &["text: no profile"]);
    dir.line("heap nothing").says(1, &["cannot read nothing"]);
    dir.line("heap --csv --live --leaks shop.iprof").says(2, &["one table at a time"]);
    dir.line("heap --class [B[ shop.iprof").says(2, &["an array is written `int[]`"]);
}

/// Biographies that speak of collections which are not there are counted, and said.
#[test]
fn what_does_not_fit_is_said() {
    let mut writer = shop();
    let life = Life { class: 99, context: 77, thread: 9, bytes: 8, born: 1000, ..Life::default() };
    writer.objects(5000, &[life, Life { born: 4, gone: Some(2), ..life }]);
    let dir = Dir::new();
    dir.write("shop.iprof", writer.finish());
    let run = dir.line("heap --csv shop.iprof").expect(0);
    assert!(run.stdout.ends_with("\nclass #99,2,16,1,8,1,0,0,0,0,,,,\n"), "{}", run.stdout);
    assert!(
        run.stderr.contains("2 objects speak of collections that the profile does not have"),
        "{}",
        run.stderr
    );
}

#[test]
fn events_are_exported_as_xml() {
    let dir = Dir::new();
    dir.write("shop.iprof", shop().finish());
    dir.line("export --to xml -o shop.xml shop.iprof").expect(0);
    let xml = dir.text("shop.xml");
    assert!(
        xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n<node nodeId=\"n1\""),
        "{xml}"
    );
    let count = |what: &str| xml.matches(what).count();
    assert_eq!(
        (count("<objAlloc "), count("<objFree "), count("<gcFinish "), count("<classDef ")),
        (1813, 1600, 16, 3)
    );
    assert!(xml.contains("<gcFinish usedObjects=\"210\" usedObjSpace=\"6320\" "), "the last of them");
    dir.write("text", "main;work 7\n");
    dir.line("export --to xml text").says(2, &["only profiles have events"]);
    dir.line("export --to xml --resource bytes shop.iprof").says(2, &["--resource"]);
}

/// `--heap-include` of a run takes the same patterns: both compile them with `instrument_names::types`.
#[test]
fn arrays_are_chosen_as_by_a_run() {
    let dir = Dir::new();
    dir.write("shop.iprof", shop().finish());
    let rows = |pattern: &str| {
        let run = dir.run(&["heap", "--strict", "--by", "class", "--csv", "--class", pattern, "shop.iprof"]);
        (run.code, run.stdout.lines().count() - 1)
    };
    assert_eq!(rows("byte[]"), (0, 1));
    assert_eq!(rows("[B"), (0, 1), "as Class.getName() has it");
    assert_eq!(rows("**"), (0, 3), "a package has its arrays, and the one of everything has all");
    assert_eq!(rows("byte"), (3, 0));
    dir.run(&["heap", "--class", "bite[]", "shop.iprof"])
        .says(0, &["no class fits --class 'bite[]'; did you mean byte[]?"]);
}
