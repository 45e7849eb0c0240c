//! Which calls are in the tree of all processes, of one of them, and of what one did for the others; and where.

use instrument_analysis::merge::View;
use instrument_testing::Script;
use instrument_trace::{LinkKind, ObjId, RemoteCall};

use crate::common::trees::{
    MISSING, REMOTE, a_client, column, file, lines, link, linked, made, merged, merged_of, record, serve,
    served,
};

fn of_server(party: usize, internals: bool) -> View {
    View { roots: vec![party], is_server: true, internals }
}

fn of_client(party: usize, internals: bool) -> View {
    View { roots: vec![party], is_server: false, internals }
}

fn of_all(internals: bool) -> View {
    View { roots: Vec::new(), is_server: false, internals }
}

/// `R` stands for the remote method of all calls.
fn expected(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| line.replace('R', REMOTE)).collect()
}

/// A process serves two calls, the second one under no frame; what it calls within that stands, in its trace, below the frame of the first.
#[test]
fn a_call_below_the_frame_of_another_one_stands_outside_of_it() {
    let script = serve(Script::new(1000).wait(5), 1, 80);
    let made_within = RemoteCall { link: 3, ..record(&made(3, 0, 1220, 50)) };
    let links = [link(1, LinkKind::Served, 0, 0), link(3, LinkKind::RemoteCall, 1, 2)];
    let calls = [record(&served(1, 1, 1005, 80)), record(&served(2, 0, 1200, 100)), made_within];
    let middle = linked(&[("rmi", script)], &[], &calls, &links);
    let last = file(&[("rmi", serve(Script::new(1000), 1, 40))], &[], &[served(3, 1, 1000, 40)]);
    let files = [a_client(1000, true), middle, last];
    let own = merged(&files, |_| of_server(1, false));
    assert_eq!(
        lines(&own.model),
        expected(&["1 P1 1 0", "2 rmi 1 0", "3 R 1 0", "2 for P0 1 20", "3 m5 1 60"])
    );
    let own = merged(&files, |_| of_client(1, false));
    let its_server = ["1 P1 1 0", "2 rmi 1 0", "3 R 1 0", "4 P2 1 20", "5 m5 1 20"];
    assert_eq!(lines(&own.model), expected(&its_server));
    // It is there as well where its caller is not.
    for view in [of_all(false), of_server(1, false)] {
        let own = merged_of(&files, |_| view, false, &|thread| thread != "main");
        assert_eq!(column(&own, "remote-calls"), 1.0);
    }
}

/// A link of a remote call tells the context that made it, though that has other contexts below.
#[test]
fn the_link_of_a_call_tells_where_it_was_made() {
    let script =
        Script::new(1000).enter_link(1).call(5, |s| s.wait(10).call(6, |s| s.wait(60))).leave_link(1);
    let call = RemoteCall { link: 3, ..record(&made(2, 0, 1020, 50)) };
    let links = [link(1, LinkKind::Served, 0, 0), link(3, LinkKind::RemoteCall, 1, 3)];
    let middle = linked(&[("rmi", script)], &[], &[record(&served(1, 1, 1000, 70)), call], &links);
    let tree = merged(&[a_client(1000, false), middle], |_| of_client(0, false));
    let beneath = lines(&tree.model).split_off(4);
    assert_eq!(beneath, expected(&["5 R 1 30", "6 P1 1 0", "7 m5 1 10", "8 m6 1 10", "9 R 1 50"][..]));
}

/// The runtime of P0 calls that of P1 twice, the second time under no frame, and each time P1 calls P2: no collector does that, but a profile
/// can say it. The program of P0 calls P1 once.
fn with_internals() -> [Vec<u8>; 3] {
    let internal = |call| RemoteCall { object: ObjId::DGC, ..record(&call) };
    let main = Script::new(1000).call(1, |s| s.wait(100).call(2, |s| s.wait(110)).call(3, |s| s.wait(120)));
    let calls =
        [record(&made(1, 1, 1000, 90)), internal(made(2, 2, 1100, 100)), internal(made(3, 3, 1210, 115))];
    let client = linked(&[("main", main)], &[(0, Some(1)), (1, Some(2)), (1, Some(3))], &calls, &[]);
    let script = serve(serve(Script::new(1000), 1, 85), 2, 60).call(7, |s| s.wait(100));
    let calls = [
        record(&served(1, 1, 1000, 85)),
        internal(served(2, 2, 1085, 60)),
        record(&made(4, 1, 1100, 20)),
        internal(served(3, 0, 1145, 100)),
        record(&made(5, 2, 1160, 50)),
    ];
    let links = [1, 2].map(|number| link(number, LinkKind::Served, 0, 0));
    let middle = linked(&[("rmi", script)], &[(0, Some(5)), (0, Some(7))], &calls, &links);
    let script = serve(serve(Script::new(1000), 1, 22), 2, 41);
    let last = file(&[("rmi", script)], &[], &[served(4, 1, 1000, 22), served(5, 2, 1022, 41)]);
    [client, middle, last]
}

#[test]
fn calls_of_the_runtime_are_apart_unless_they_are_wanted() {
    let files = with_internals();
    let told = |view: View| {
        let merged = merged(&files, |_| view);
        assert_eq!(
            merged.remarks.iter().filter(|remark| remark.contains(MISSING)).count(),
            0,
            "{:?}",
            merged.remarks
        );
        lines(&merged.model)
    };
    let apart = "(rmi: dgc, registry)";
    let own = ["1 P1 1 0", "2 rmi 1 0", "3 m7 1 50", "4 R 1 50"];
    // What P1 did for its own runtime, and for P0.
    let frame = [&format!("2 {apart} 1 20"), "3 m5 1 20", "4 R 1 20", "2 for P0 1 20", "3 m5 1 65"];
    assert_eq!(told(of_server(1, false)), expected(&[&own[..], &frame[..]].concat()));
    let frames = ["2 for P0 2 40", "3 m5 2 85", "4 R 1 20"];
    assert_eq!(told(of_server(1, true)), expected(&[&own[..], &frames[..]].concat()));
    // What it did for itself: what P2 did for it is there.
    let own = ["1 P1 1 0", "2 rmi 1 0", "3 m7 1 50", "4 R 1 9", "5 P2 1 20", "6 m5 1 21"];
    for internals in [false, true] {
        assert_eq!(told(of_client(1, internals)), expected(&own), "{internals}");
    }
    let caller = ["1 P0 1 0", "2 main 1 0", "3 m1 1 10", "4 R 1 5", "5 P1 1 20", "6 m5 1 65"];
    let folded = ["4 m2 1 10", &format!("5 {apart} 1 100"), "4 m3 1 5", &format!("5 {apart} 1 115")];
    let of_second = ["4 m2 1 10", "5 R 1 40", "6 P1 1 20", "7 m5 1 18", "8 R 1 0", "9 P2 1 20", "10 m5 1 2"];
    let third = ["4 m3 1 5", "5 R 1 15", "6 P1 1 50", "7 R 1 9", "8 P2 1 20", "9 m5 1 21"];
    assert_eq!(told(of_client(0, false)), expected(&[&caller[..], &folded].concat()));
    assert_eq!(told(of_client(0, true)), expected(&[&caller[..], &of_second, &third].concat()));
    // Of all: what its process tells is not told below its caller as well.
    let frame = [&format!("2 {apart} 1 20"), "3 m5 1 18", "4 R 1 0", "5 P2 1 20", "6 m5 1 2"];
    let all = [&caller[..], &folded, &own, &frame, &["1 P2 1 0"]].concat();
    assert_eq!(told(of_all(false)), expected(&all));
    let third = ["4 m3 1 5", "5 R 1 15", "6 P1 1 100"];
    let all = [&caller[..], &of_second, &third, &own, &["1 P2 1 0"]].concat();
    assert_eq!(told(of_all(true)), expected(&all));
    // What the program's own calls took is there once.
    for view in [of_client(0, false), of_client(0, true), of_all(false), of_all(true)] {
        assert_eq!(column(&merged(&files, |_| view.clone()), "remote"), 305.0, "{view:?}");
    }
}

/// No clock can have seen this: each of two calls was made within the other. The tree has them once, and says that of one it has nothing.
#[test]
fn a_server_misses_its_own_calls_alone() {
    let file = |made_id, served_id| {
        let script = serve(Script::new(1000).wait(5), 1, 80);
        let calls = [served(served_id, 1, 1005, 80), made(made_id, 1, 1020, 50)];
        file(&[("rmi", script)], &[(0, Some(5))], &calls)
    };
    let files = [file(1, 2), file(2, 1)];
    let circle = "1 remote calls seem to have caused themselves".to_owned();
    let [first, second] = [0, 1].map(|party| merged(&files, |_| of_server(party, false)).remarks);
    assert_eq!(first, [circle.as_str()]);
    assert_eq!(second, [circle, format!("1{MISSING}")]);
}
