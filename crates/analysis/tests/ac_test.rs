//! The example of seed 001: its trace has to become its table, whichever way it takes.

use instrument_analysis::export::{self, Figure};
use instrument_analysis::input::{self, Format, Input, Remarks};
use instrument_analysis::model::{Arcflow, Kind, NodeId};
use std::collections::BTreeMap;

const TRACE: &str = include_str!("data/AC_test.events");

/// Table 3: consumer context, number of occurrences, resource consumption.
const TABLE_3: [(&str, f64, f64); 11] = [
    ("Main", 1.0, 0.0),
    ("Main A", 1.0, 1.0),
    ("Main A B", 2.0, 2.0),
    ("Main A B C", 1.0, 1.0),
    ("Main B", 1.0, 1.0),
    ("Main B A", 1.0, 1.0),
    ("Main B A C", 1.0, 1.0),
    ("Main B A X", 1.0, 0.0),
    ("Main B A X E", 1.0, 1.0),
    ("Main B A X F", 1.0, 1.0),
    ("Main B A X G", 1.0, 1.0),
];

fn read(bytes: &[u8]) -> Input {
    let input = input::read(bytes).unwrap();
    assert_eq!(input.remarks, Remarks::default());
    input
}

/// A figure of every method by its context; all of them lie beneath the one thread.
fn column(model: &Arcflow, figure: Figure) -> BTreeMap<String, f64> {
    let mut contexts = vec![String::new()];
    for node in &model.nodes()[1..] {
        let above = &contexts[node.parent.0 as usize];
        let name = model.name(node.consumer);
        contexts.push(match node.kind {
            Kind::Thread => {
                assert_eq!((name, node.parent), ("AC_test_pidtid", Arcflow::ROOT));
                String::new()
            }
            _ if above.is_empty() => name.to_owned(),
            _ => format!("{above} {name}"),
        });
    }
    let rows = contexts.into_iter().enumerate().filter(|(_, context)| !context.is_empty());
    rows.map(|(i, context)| (context, figure.of(model, NodeId(i as u32)))).collect()
}

fn table(figure: Figure) -> BTreeMap<String, f64> {
    let value = |n, consumption| if figure == Figure::Occurrences { n } else { consumption };
    TABLE_3.iter().map(|&(context, n, consumption)| (context.to_owned(), value(n, consumption))).collect()
}

#[test]
fn the_trace_becomes_table_3() {
    let Input { model, format, .. } = read(TRACE.as_bytes());
    assert_eq!(format, Format::Events);
    // The root and the thread lie above the eleven contexts.
    assert_eq!(model.nodes().len(), 13);
    for figure in [Figure::Occurrences, Figure::Base(0)] {
        assert_eq!(column(&model, figure), table(figure));
    }
    assert_eq!(model.cum()[0], 10.0);
    assert_eq!((model.consumers.as_str(), model.occurrences.as_str()), ("Method names", "Number of calls"));
    assert_eq!((model.resources()[0].name.as_str(), model.resources()[0].unit.as_str()), ("cpu", "s"));
}

#[test]
fn a_call_tree_keeps_everything() {
    let model = read(TRACE.as_bytes()).model;
    let write = |model: &Arcflow| {
        let mut bytes = Vec::new();
        export::call_tree::write(model, &mut bytes).unwrap();
        bytes
    };
    let bytes = write(&model);
    let again = read(&bytes);
    assert_eq!(again.format, Format::CallTree);
    for figure in [Figure::Occurrences, Figure::Base(0)] {
        assert_eq!(column(&again.model, figure), table(figure));
    }
    assert_eq!(again.model.resources(), model.resources());
    assert_eq!(write(&again.model), bytes);
}

#[test]
fn folded_stacks_keep_one_figure() {
    let model = read(TRACE.as_bytes()).model;
    for figure in [Figure::Occurrences, Figure::Base(0)] {
        let mut bytes = Vec::new();
        export::folded::write(&model, figure, &mut bytes).unwrap();
        let again = read(&bytes);
        assert_eq!(again.format, Format::Folded);
        assert_eq!(column(&again.model, Figure::Base(0)), table(figure));
    }
}

#[test]
fn deep_trees_are_written_and_read_without_recursion() {
    const DEPTH: usize = 100_000;
    let mut text = String::new();
    (0..DEPTH).for_each(|i| text += &format!("{i} > f\n"));
    let model = input::read(text.as_bytes()).unwrap().model;
    let mut bytes = Vec::new();
    export::call_tree::write(&model, &mut bytes).unwrap();
    assert_eq!(read(&bytes).model.nodes().len(), DEPTH + 1);
}

#[test]
fn what_is_no_input_is_refused() {
    let said = |text: &str| input::read(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(said(""), "nothing in it");
    assert_eq!(said("# only this\n\n"), "nothing in it");
    assert!(said("hello\n").starts_with("neither events"));
    assert!(said("\u{feff}  {}").starts_with("call tree: there is no `tree`"));
}
