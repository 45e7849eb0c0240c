//! The example of the arcflow paper (seed 001): the reports of figures 4 to 6. Table 3 is in `ac_test.rs`.

use instrument_analysis::arcs::Arcs;
use instrument_analysis::report::{self, Format, Options, Show, Sort};
use instrument_analysis::{Arcflow, Kind, input, invariants};
use std::path::Path;

fn example() -> Arcflow {
    input::read(include_bytes!("data/AC_test.events").as_slice()).unwrap().model
}

/// Compares with a file in `tests/data`; `INSTRUMENT_BLESS` writes it.
#[track_caller]
fn golden(name: &str, text: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if std::env::var_os("INSTRUMENT_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(String::from_utf8_lossy(text), expected, "{name}");
}

fn percent() -> Options<'static> {
    Options { show: Show::Percent, ..Options::default() }
}

fn xprof(options: &Options<'_>) -> Vec<u8> {
    let (model, mut out) = (example(), Vec::new());
    report::xprof::write(&mut out, &model, &Arcs::new(&model), options).unwrap();
    out
}

fn xtree(options: &Options<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    report::xtree::write(&mut out, &example(), options).unwrap();
    out
}

fn xarc(options: &Options<'_>) -> Vec<u8> {
    let (model, mut out) = (example(), Vec::new());
    report::xarc::write(&mut out, &model, &Arcs::new(&model), options).unwrap();
    out
}

#[test]
fn reports_look_like_the_figures() {
    golden("AC_test.xprof", &xprof(&percent()));
    golden("AC_test.xtree", &xtree(&percent()));
    golden("AC_test.xarc", &xarc(&percent()));
    golden("AC_test.absolute.xprof", &xprof(&Options { sort: Some(Sort::Cum), ..Options::default() }));
    for (format, ending) in [(Format::Json, "json"), (Format::Csv, "csv")] {
        let options = Options { format, ..Options::default() };
        golden(&format!("AC_test.xprof.{ending}"), &xprof(&options));
        golden(&format!("AC_test.xtree.{ending}"), &xtree(&options));
        golden(&format!("AC_test.xarc.{ending}"), &xarc(&options));
    }
}

/// What the text says of figures 4 to 6.
#[test]
fn figures_are_those_that_the_paper_names() {
    let model = example();
    let arcs = Arcs::new(&model);
    assert_eq!(arcs.total(), [10.0]);
    let of = |name: &str| arcs.ids().find(|&id| model.name(arcs.function(id).consumer) == name).unwrap();
    let between = |parent: &str, child: &str| {
        let arc = arcs.children(of(parent)).iter().find(|&&a| arcs.arc(a).child == of(child));
        *arc.unwrap_or_else(|| panic!("no arc {parent} -> {child}"))
    };
    // "Main is responsible for 100 percent of CPU time consumed (although none of that is within the body)"
    assert_eq!((arcs.self_base(of("Main")), arcs.self_cum(of("Main"))), (&[0.0][..], &[10.0][..]));
    assert_eq!(arcs.parents(of("Main")).len(), 1);
    assert_eq!(arcs.arc(arcs.parents(of("Main"))[0]).parent, of("AC_test_pidtid"));
    // "B is responsible for 60 percent .., whereas A is shown as being responsible for 40 percent"
    assert_eq!(arcs.children(of("Main")).len(), 2);
    assert_eq!(arcs.child_cum(between("Main", "B")), [6.0]);
    assert_eq!(arcs.child_cum(between("Main", "A")), [4.0]);
    // "Base time of 0 percent indicates no work done in this method, whereas cum time of 30 percent .."
    assert_eq!((arcs.self_base(of("X")), arcs.self_cum(of("X"))), (&[0.0][..], &[3.0][..]));
    // "A is called by main; A calls B, C, and X"
    let callees: Vec<_> = arcs.children(of("A")).iter().map(|&a| arcs.arc(a).child).collect();
    assert_eq!(callees.len(), 3);
    assert!(["B", "C", "X"].iter().all(|name| callees.contains(&of(name))));
    let checked = invariants::check(&model, &arcs);
    assert_eq!(checked.violations, []);
    // 9 consumers with all three kinds of parents' equations and one of children, the root with the last only.
    assert_eq!(checked.equations, 9 * 4 + 1);
}

#[test]
fn pruning_keeps_the_tree_coherent_and_sums_up_what_it_cut() {
    let text = |options: Options<'_>| String::from_utf8(xtree(&options)).unwrap();
    let pruned = text(Options { prune: 0.25, ..percent() });
    let lines: Vec<_> = pruned.lines().collect();
    assert_eq!(lines.len(), 2 + 7 + 1, "{pruned}");
    assert!(lines[5].ends_with("  A"), "{pruned}");
    // C, E, F, G and the other C.
    assert_eq!(lines[9], "cut: 5 contexts, cpu 5.000 s (50.0 %): below 25 %");
    let top = text(Options { top: Some(3), ..percent() });
    assert_eq!(top.lines().last(), Some("cut: 9 contexts, cpu 9.000 s (90.0 %): past the 3 largest"));
    let shallow = text(Options { depth: Some(2), ..percent() });
    assert_eq!(shallow.lines().count(), 2 + 2 + 1);
    let selected =
        text(Options { select: Some(&|kind, name| kind == Kind::Method && name == "X"), ..percent() });
    assert_eq!(selected.lines().count(), 2 + 8 + 1, "X, what is above it and below it: {selected}");
}

#[test]
fn an_unknown_resource_is_named_with_those_there_are() {
    let options = Options { resources: &["bytes".to_owned()], ..Options::default() };
    let error = report::xtree::write(&mut Vec::new(), &example(), &options).unwrap_err();
    assert_eq!(error.to_string(), "there is no resource `bytes` here; there is cpu");
}

#[test]
fn a_tree_as_json_is_an_input() {
    let options = Options { format: Format::Json, ..Options::default() };
    let json = xtree(&options);
    let again = input::read(json.as_slice()).unwrap();
    assert_eq!(again.format, input::Format::CallTree);
    let mut out = Vec::new();
    report::xtree::write(&mut out, &again.model, &options).unwrap();
    assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&json));
}
