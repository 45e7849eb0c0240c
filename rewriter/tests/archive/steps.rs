//! In which order classes are worked on, and which part of an archive an option or a limit is about.

use std::ops::ControlFlow;
use std::sync::Mutex;

use instrument_rewriter::archive::{
    ClassRewriter, Kind, Layout, Limits, Location, NewEntry, Options, rewrite, visit_classes,
};

use crate::archive::build::{Entry, class_bytes, deflated, entry, zip};
use crate::archive::fake::{Marker, mark, mark_and_add, run_with, runtime};
use crate::archive::inspect::{entries, find};

/// Writes down what is asked of it.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Recorder {
    fn note(&self, what: &str, at: &Location<'_>) {
        let name = String::from_utf8_lossy(at.name()).into_owned();
        self.0.lock().unwrap().push(format!("{what} {name}"));
    }
}

impl ClassRewriter for Recorder {
    type Plan = ();

    fn plan(&self, at: &Location<'_>, _: &[u8]) {
        self.note("plan", at);
    }

    fn admit(&mut self, at: &Location<'_>, (): &mut (), _: &[u8]) {
        self.note("admit", at);
    }

    fn rewrite(&self, _: &Location<'_>, (): &(), _: &[u8], _: &mut Vec<u8>) -> bool {
        false
    }

    fn done(&mut self, _: &Location<'_>, (): (), _: bool) {}

    fn extra_entries(&mut self, _: &Layout) -> Vec<NewEntry> {
        Vec::new()
    }
}

#[test]
fn a_batch_holds_classes_up_to_its_size_and_at_least_one() {
    let classes = [("a", 100), ("b", 200), ("c", 250), ("d", 50), ("e", 10), ("f", 400), ("g", 60)];
    let input = zip(classes.map(|(name, size)| deflated(format!("{name}.class"), class_bytes(1, size))));
    let batches = |batch| {
        let mut recorder = Recorder::default();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let options = Options { batch, ..Options::default() };
        pool.install(|| rewrite("x.jar", &input, &mut Vec::new(), &mut recorder, &options)).unwrap();
        // A batch is planned as a whole before its first class is admitted.
        let (mut text, mut planning) = (String::new(), false);
        for event in recorder.0.into_inner().unwrap() {
            let (what, name) = event.split_once(' ').unwrap();
            if what == "plan" {
                text += if planning || text.is_empty() { "" } else { "|" };
                text += name.trim_end_matches(".class");
            }
            planning = what == "plan";
        }
        text
    };
    assert_eq!(batches(300), "ab|cd|e|f|g");
    assert_eq!(batches(309), "ab|cd|e|f|g");
    assert_eq!(batches(310), "ab|cde|f|g");
    assert_eq!(batches(299), "a|b|c|de|f|g");
    assert_eq!(batches(1), "a|b|c|d|e|f|g");
    assert_eq!(batches(5_000), "abcdefg");
}

#[test]
fn attributes_are_for_the_manifest_of_the_outermost_archive_alone() {
    let manifest = "Manifest-Version: 1.0\r\n\r\nName: a/A.class\r\nSHA-256-Digest: x\r\n\r\n";
    let signed = |class: &str| {
        let parts = [deflated("META-INF/MANIFEST.MF", manifest), entry("META-INF/ME.SF", "")];
        parts.into_iter().chain([deflated(class, class_bytes(2, 200))]).collect::<Vec<_>>()
    };
    let mut parts = signed("a/A.class");
    parts.push(entry("lib/n.jar", zip(signed("b/B.class"))));
    let options = Options {
        strip_signatures: true,
        manifest_attributes: vec![("Launcher-Agent-Class", "l.L")],
        ..Options::default()
    };
    let (out, _) = run_with("x.jar", &zip(parts), &mut Marker::default(), &options).unwrap();
    let outer = entries(&out);
    let manifest_of = |seen: &[crate::archive::inspect::Seen]| {
        String::from_utf8(find(seen, "META-INF/MANIFEST.MF").content.clone()).unwrap()
    };
    assert_eq!(manifest_of(&outer), "Manifest-Version: 1.0\r\nLauncher-Agent-Class: l.L\r\n\r\n");
    let inner = entries(&find(&outer, "lib/n.jar").content);
    assert_eq!(manifest_of(&inner), "Manifest-Version: 1.0\r\n\r\n");
}

#[test]
fn the_index_of_a_war_does_not_list_what_lies_in_its_classes() {
    let index = "JarIndex-Version: 1.0\n\nx.war\na\n";
    let input = zip([
        deflated("META-INF/INDEX.LIST", index),
        deflated("WEB-INF/classes/a/A.class", class_bytes(1, 200)),
    ]);
    let (out, _) = mark_and_add("x.war", &input).unwrap();
    assert_eq!(find(&entries(&out), "META-INF/INDEX.LIST").content, index.as_bytes());
}

#[test]
fn the_kind_of_an_archive_is_in_its_suffix_and_that_of_an_entry_in_its_size_as_well() {
    let plain =
        zip([deflated("a/A.class", class_bytes(1, 200)), entry("b/D.class/", ""), entry(".jar", "no zip")]);
    for (name, kind) in [("x.war", Kind::War), (".war", Kind::Jar), ("x.EAR", Kind::Ear), ("war", Kind::Jar)]
    {
        let (_, outcome) = mark(name, &plain).unwrap();
        assert_eq!(outcome.kind, Some(kind), "{name}");
    }
    let (_, outcome) = mark("x.jar", &plain).unwrap();
    assert_eq!((outcome.classes, outcome.rewritten, outcome.skipped.len()), (1, 1, 0));
}

#[test]
fn the_library_of_an_ear_is_where_its_descriptor_says_if_that_can_be_read() {
    let text = "<application><library-directory>APP-INF</library-directory></application>";
    let padded = |length: usize| format!("{text}{}", " ".repeat(length - text.len()));
    let name = "META-INF/application.xml";
    for (xml, folder) in [
        (deflated(name, text), "APP-INF"),
        (entry(name, text), "APP-INF"),
        (Entry { flags: 1, ..entry(name, text) }, "lib"),
        (Entry { method: Some(12), ..entry(name, text) }, "lib"),
        (deflated(name, padded(1 << 20)), "APP-INF"),
        (deflated(name, padded((1 << 20) + 1)), "lib"),
    ] {
        let mut marker = Marker { extra: runtime(), ..Marker::default() };
        run_with("x.ear", &zip([xml]), &mut marker, &Options::default()).unwrap();
        let library = marker.layout.and_then(|layout| layout.library);
        assert_eq!(library, Some(format!("{folder}/instrument-runtime.jar")));
    }
}

#[test]
fn reading_goes_as_deep_as_rewriting_and_gives_back_what_a_nested_archive_held() {
    let lib = |name: &str| zip([deflated(name, class_bytes(1, 500)), entry("fill", [0; 3_000])]);
    let two = zip([
        deflated("a.jar", lib("A.class")),
        deflated("no.jar", "no zip at all"),
        deflated("b.jar", zip([deflated("c.jar", lib("C.class"))])),
    ]);
    let visit = |input: &[u8], limits: &Limits| {
        let mut seen = Vec::new();
        let skipped = visit_classes("x.jar", input, limits, &mut |class| {
            seen.push(class.at.to_string());
            ControlFlow::Continue(())
        })?;
        let skipped: Vec<_> =
            skipped.iter().map(|skipped| (skipped.at.clone(), skipped.reason.reason().as_str())).collect();
        Ok::<_, instrument_rewriter::archive::ArchiveError>((seen, skipped))
    };
    let no = ("x.jar!no.jar".to_owned(), "not-an-archive");
    let (a, c) = ("x.jar!a.jar!A.class".to_owned(), "x.jar!b.jar!c.jar!C.class".to_owned());
    // Room for one of them at a time: `b.jar` and what it holds.
    let sizes = |name: &str, bytes: &[u8]| find(&entries(bytes), name).content.clone();
    let b = sizes("b.jar", &two);
    let most = b.len() + sizes("c.jar", &b).len() + 500;
    let limits = |inflated: usize, depth| Limits {
        inflated: inflated as u64,
        inflated_per_input_byte: 0,
        depth,
        ..Limits::default()
    };
    assert_eq!(visit(&two, &limits(most, 2)).unwrap(), (vec![a.clone(), c], vec![no.clone()]));
    let deep = ("x.jar!b.jar!c.jar".to_owned(), "depth");
    assert_eq!(visit(&two, &limits(most, 1)).unwrap(), (vec![a], vec![no, deep]));
    assert_eq!(visit(&two, &limits(most - 1, 2)).unwrap_err().kind.code(), "limit");
    assert_eq!(visit(b"no zip at all", &Limits::default()).unwrap_err().kind.code(), "not-an-archive");
}
