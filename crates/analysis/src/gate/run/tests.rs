//! What a run is made of, and what is taken out of it.

use super::*;
use crate::gate::samples::run;

#[test]
fn a_part_is_what_lies_below_its_links_in_all_threads() {
    let mut model = Arcflow::new(Vec::new());
    let mut node = |parent, kind, name: &str, calls| {
        let consumer = model.consumer(name);
        let child = model.child(parent, kind, consumer);
        model.meet(child, calls);
        child
    };
    let main = node(Arcflow::ROOT, Kind::Thread, "main", 1);
    let test = node(main, Kind::Method, "a.Test.run()V", 1);
    node(test, Kind::Method, "a.B.outside()V", 5);
    let boundary = node(test, Kind::Link, "(boundary one)", 1);
    let inside = node(boundary, Kind::Method, "a.B.inside()V", 2);
    // What a thread does that was started inside, and a class that was needed there first.
    let started = node(inside, Kind::Thread, "worker", 1);
    node(started, Kind::Method, "a.B.inside()V", 3);
    let once = node(inside, Kind::Method, "a.C.<clinit>()V", 1);
    node(once, Kind::Method, "a.C.make()V", 7);
    let other = node(main, Kind::Link, "(boundary two)", 1);
    node(other, Kind::Method, "a.B.inside()V", 11);
    // The same boundary once more, elsewhere.
    let again = node(other, Kind::Link, "(boundary one)", 1);
    node(again, Kind::Method, "a.B.inside()V", 4);
    let part = |name| Run::of_part("run".into(), Conditions::default(), &model, Some(name));
    let run = part("(boundary one)").unwrap();
    let calls: Vec<_> = run.methods().into_iter().map(|(name, f)| (name.to_owned(), f[0])).collect();
    assert_eq!(calls, [("a.B.inside()V".to_owned(), 9)]);
    assert_eq!(run.path(2), ["a.B.inside()V", "a.B.inside()V"]);
    assert_eq!(run.nodes[0].figures, Figures::default(), "how often the boundary was entered is no figure");
    assert_eq!(part("(boundary two)").unwrap().methods()["a.B.inside()V"][0], 15);
    assert_eq!(part("(boundary three)").unwrap_err(), Refusal::NoPart("(boundary three)".into()));
}

#[test]
fn what_moves_without_harm_is_taken_out() {
    let first = run(&[
        ("a.A.main", 1, 0),
        ("a.A.main > a.B.<clinit>", 1, 3),
        ("a.A.main > (class loading)", 7, 0),
        ("a.A.main > (class loading) > a.L.load", 2, 0),
        ("a.A.main > a.A.lambda$main$0", 2, 0),
        ("a.A.main > a.A.lambda$main$1", 3, 0),
    ]);
    let second = run(&[
        ("a.A.main", 1, 0),
        ("a.A.main > a.A.lambda$main$7", 5, 0),
        ("a.A.main > a.A.lambda$main$7 > a.B.<clinit>", 1, 3),
        ("a.A.main > a.A.lambda$main$7 > (class loading) > a.L.load", 2, 0),
    ]);
    assert_eq!(first.methods(), second.methods());
    let paths: Vec<_> = (1..second.nodes.len()).map(|i| second.path(i).join(" > ")).collect();
    assert_eq!(
        paths,
        [
            "(class loading)",
            "(class loading) > a.L.load()V",
            "a.A.main()V",
            "a.A.main()V > a.A.lambda$main$*()V",
            "a.B.<clinit>()V",
        ]
    );
}

#[test]
fn contexts_of_samples_alone_are_left_out() {
    let counted = run(&[("a.A.main", 1, 0), ("a.A.main > a.A.x", 0, 0), ("a.A.main > a.A.x > a.A.y", 2, 0)]);
    let paths: Vec<_> = (1..counted.nodes.len()).map(|i| counted.path(i).join(" > ")).collect();
    assert_eq!(paths.len(), 3, "{paths:?}");
    let sampled = run(&[("a.A.main", 1, 0), ("a.A.main > a.A.x", 0, 0), ("a.A.main > a.A.x > a.A.y", 0, 0)]);
    assert_eq!(sampled.nodes.len(), 2);
}

#[test]
fn what_nobody_counts_is_not_zero() {
    let of = |selection: &str| {
        let conditions = Conditions { selection: selection.into(), ..Conditions::default() };
        Run::empty("app".into(), conditions).counts(Figure::Allocations).is_ok()
    };
    for counting in ["transform=allocation", "transform=method-events transform=object-init", "heap=counts"] {
        assert!(of(counting), "{counting}");
    }
    for other in
        ["", "transform=method-events include=com.allocation.**", "heap-include=a.B", "root=heap.A#b"]
    {
        assert!(!of(other), "{other}");
    }
}

#[test]
fn bytecodes_that_nobody_executed_are_zero_where_they_are_counted() {
    let counts = |selection: &str| {
        let conditions = Conditions { selection: selection.into(), ..Conditions::default() };
        Run::empty("app".into(), conditions).counts(Figure::Bytecodes).is_ok()
    };
    assert!(counts("transform=method-events transform=bytecodes"));
    assert!(!counts("transform=method-events include=com.bytecodes.**"));
}

#[test]
fn calls_have_in_common_who_makes_them_and_objects_who_is_called() {
    let run = run(&[("a.M.main > a.O.list > a.C.make", 2, 3)]);
    let common = |figure| run.common(&[3], figure).map(|i| run.name(i));
    assert_eq!(common(Figure::Calls), Some("a.O.list()V"));
    assert_eq!(common(Figure::Allocations), Some("a.C.make()V"));
    assert_eq!(common(Figure::Bytes), None, "none has any");
}
