//! Questions about the heap of several files, and the figures of objects that limits of numbers decide.

use std::fs;
use std::path::PathBuf;

use instrument_analysis::heap::histogram::Histogram;
use instrument_analysis::heap::leaks::Found;
use instrument_analysis::heap::object_lifetimes::{Ends, Epoch, ObjectLifetimes};
use instrument_analysis::heap::query::Query;
use instrument_analysis::heap::table::{By, Filter};
use instrument_analysis::report::heap::{Section, View};
use instrument_analysis::report::{Format, Options};
use instrument_analysis::session::ProfileFile;
use instrument_testing::{Life, Recorded, Script, Writer};
use instrument_trace::Profile;

/// So many collections, and what `one` and `two` made of p.A and p.B; the first thread of a copy is a sum of those that ended.
fn profile(collections: u64, lives: &[Life]) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.class_names(&[(1, "p.A"), (2, "p.B")]);
    writer.ended(3, &Recorded::default());
    for name in ["one", "two"] {
        writer.tree(name, &Script::new(1000));
    }
    let clocks: Vec<_> = (1..=collections).map(|k| (1_000_000 * k, 1_000_000 * k + 10)).collect();
    writer.collections(1, &clocks).contexts(1, &[(0, Some(5))]).objects(1, lives);
    writer.finish()
}

/// By thread and class: p.A grows by 3 with each of 40 collections, made by `one`; p.B by 2, made by `two`.
fn leaking() -> Vec<Life> {
    let of = |class, thread, born| Life { class, thread, born, context: 1, bytes: 16, ..Life::default() };
    (0..40)
        .flat_map(|born| [of(1, 1, born), of(1, 1, born), of(1, 1, born), of(2, 2, born), of(2, 2, born)])
        .collect()
}

/// Asks about files of these profiles: the table of classes as CSV, without its head and up to the live objects, and the leaks.
fn ask(
    profiles: &[Vec<u8>],
    query: &Query,
    sections: &[Section],
) -> (Vec<String>, Option<Found>, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..profiles.len()).map(|at| folder.path().join(format!("p{at}.iprof"))).collect();
    let files = paths.iter().zip(profiles).zip(0..).map(|((path, data), number)| {
        fs::write(path, data).unwrap();
        ProfileFile::open(path, number, profiles.len() > 1).unwrap()
    });
    let files: Vec<_> = files.collect();
    let selection = query.select(&files).unwrap();
    assert_eq!(selection.warnings, [""; 0]);
    let view = View { sections, by: By::Class, filter: Filter::default() };
    let mut out = Vec::new();
    let options = Options { format: Format::Csv, ..Options::default() };
    let found = selection.report(&files, &view, &options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rows = text.lines().skip(1).map(|row| row.split(',').take(5).collect::<Vec<_>>().join(" "));
    (rows.collect(), found, paths)
}

fn suspects(found: &Found) -> Vec<(&str, u64, usize)> {
    found.suspects.iter().map(|of| (of.class.as_str(), of.growth(), of.leak)).collect()
}

#[test]
fn a_table_has_the_classes_that_were_asked_for() {
    let data = [profile(40, &leaking())];
    let of = |classes: &[&str]| {
        let classes = classes.iter().map(|&class| class.to_owned()).collect();
        ask(&data, &Query { classes, ..Query::default() }, &[Section::Table])
    };
    // Class, objects, bytes, live objects and bytes.
    let (a, b) = ("p.A 120 1920 120 1920", "p.B 80 1280 80 1280");
    assert_eq!(
        (of(&[]).0, of(&["p.A"]).0, of(&["p.B"]).0),
        (vec![a.into(), b.into()], vec![a.into()], vec![b.into()])
    );
    // Nobody has asked for leaks.
    assert_eq!(of(&[]).1, None);
}

#[test]
fn a_table_has_what_threads_of_a_name_made() {
    let data = [profile(40, &leaking())];
    let of = |threads: &[&str]| {
        let threads = threads.iter().map(|&thread| thread.to_owned()).collect();
        ask(&data, &Query { threads, ..Query::default() }, &[Section::Table]).0
    };
    assert_eq!(of(&["one"]), ["p.A 120 1920 120 1920"]);
    assert_eq!(of(&["two"]), ["p.B 80 1280 80 1280"]);
    assert_eq!(of(&["one", "t*"]).len(), 2);
}

#[test]
fn leaks_are_looked_for_in_all_files_and_of_classes_that_were_asked_for() {
    let (many, few) = (profile(40, &leaking()), profile(7, &leaking()[..35]));
    let everything = Query::default();
    let (_, found, _) = ask(std::slice::from_ref(&many), &everything, &[Section::Leaks]);
    // 20 times 3 and 2 objects of 16 bytes; 3 for each 2 is no multiple.
    assert_eq!(suspects(&found.unwrap()), [("p.A", 960, 1), ("p.B", 640, 2)]);
    let only = Query { classes: vec!["p.B".into()], ..Query::default() };
    let (_, found, _) = ask(std::slice::from_ref(&many), &only, &[Section::Leaks]);
    assert_eq!(suspects(&found.unwrap()), [("p.B", 640, 1)]);
    // Of two files it is said which one cannot be judged; of one that is clear.
    let too_few = "the program had 7 garbage collections";
    let (_, found, _) = ask(std::slice::from_ref(&few), &everything, &[Section::Leaks]);
    let found = found.unwrap();
    assert!(found.undetermined.len() == 1 && found.undetermined[0].starts_with(too_few), "{found:?}");
    let (_, found, paths) = ask(&[few, many], &everything, &[Section::Leaks]);
    let found = found.unwrap();
    let named = format!("{}: {too_few}", paths[0].display());
    assert!(found.undetermined.len() == 1 && found.undetermined[0].starts_with(&named), "{found:?}");
    let remark = format!("{}: nothing that had outlived", paths[1].display());
    assert!(found.remarks.iter().any(|text| text.starts_with(&remark)), "{found:?}");
    assert_eq!((found.suspects.len(), found.leaks()), (2, 2));
}

#[test]
fn epochs_are_of_all_pieces_of_a_copy() {
    let life = Life { class: 1, context: 1, bytes: 16, ..Life::default() };
    let mut writer = Writer::new();
    writer.class_names(&[(1, "p.A")]).collections(1, &[(100, 110), (200, 210)]);
    writer.objects(1, &[life, Life { gone: Some(2), ..life }]);
    writer.objects(3, &[Life { born: 1, bytes: 24, ..life }, Life { born: 1, gone: Some(1), ..life }]);
    let data = writer.finish();
    let profile = Profile::parse(&data).unwrap();
    let all = ObjectLifetimes::read(&profile, &data).unwrap().expect("there are some");
    let epoch = |made, made_bytes, gone, gone_bytes| Epoch { made, made_bytes, gone, gone_bytes };
    assert_eq!(all.epochs[&1], [epoch(2, 32, 0, 0), epoch(2, 40, 1, 16), epoch(0, 0, 1, 16)]);
    // Gone with the last collection, and after as many as it was made after: neither is misdated.
    assert_eq!((all.misdated, all.remarks()), (0, vec![]));
}

#[test]
fn collections_count_up_to_the_first_that_has_not_ended() {
    let ends = |clocks: &[(u64, u64)]| {
        let mut writer = Writer::new();
        writer.collections(1, clocks);
        let ends = Ends::new(&Profile::parse(&writer.finish()).unwrap(), 1);
        (ends.is_empty(), ends.len(), ends.half(), [0, 1, 2, 3].map(|number| ends.clock(number)))
    };
    assert_eq!(ends(&[(100, 0)]), (true, 0, 0, [None; 4]));
    assert_eq!(ends(&[(100, 110), (200, 210), (300, 0)]), (false, 2, 1, [None, Some(110), Some(210), None]));
}

#[test]
fn what_is_added_to_an_empty_histogram_keeps_its_bounds() {
    let of = |values: &[u64]| {
        let mut all = Histogram::default();
        values.iter().for_each(|&value| all.add(value));
        all
    };
    // 111 is the last value of the bucket that begins with 96: its middle, 103, is not what occurred.
    let mut sum = Histogram::default();
    sum.merge(&of(&[111]));
    assert_eq!((sum.quantile(0.5), sum.most(), sum.count()), (Some(111), 111, 1));
    sum.merge(&Histogram::default());
    assert_eq!((sum.quantile(0.5), sum.most(), sum.count()), (Some(111), 111, 1));
    sum.merge(&of(&[96]));
    assert_eq!((sum.quantile(0.5), sum.mean()), (Some(103), Some(103.5)));
    // From 20 to 23, and from 5 to 5.
    assert_eq!((of(&[20, 23]).quantile(0.5), of(&[5, 5]).quantile(1.0)), (Some(21), Some(5)));
}
