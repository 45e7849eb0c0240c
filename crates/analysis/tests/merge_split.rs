//! Times and calls of a merged tree where a frame served several calls: each caller has its part.

use instrument_analysis::load::{CallTimes, Options, Process, load};
use instrument_analysis::merge::{Merged, Party, View, match_calls, tree};
use instrument_analysis::{Kind, NodeId};
use instrument_testing::Script;
use instrument_trace::Profile;

use crate::common::trees::{REMOTE, a_client, file, serve, served};

/// The tree of files whose calls of some methods block, with what is known of the calls of each context.
fn merged_in_parts(files: &[Vec<u8>], blocks: &dyn Fn(u32, u32) -> bool) -> Merged {
    let mut profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    let names = |_, id| format!("m{id}");
    let labels: Vec<_> = (0..files.len()).map(|at| format!("P{at}")).collect();
    let of = |(profile, label)| Process { blocks: Some(blocks), ..Process::new(profile, label, &names) };
    let mut processes: Vec<_> = profiles.iter_mut().zip(labels.iter().cloned()).map(of).collect();
    let loaded = load(&mut processes, &Options { apart: true, contexts: true, ..Options::default() });
    drop(processes);
    let parties: Vec<_> =
        profiles.iter().zip(files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).unwrap();
    tree(&parties, &matching, &loaded, &labels, &View::default()).unwrap()
}

/// The resources of the nodes of a name, by node.
fn figures(merged: &Merged, name: &str, resources: [&str; 3]) -> Vec<[f64; 3]> {
    let model = &merged.model;
    let columns = resources.map(|resource| model.resource(resource).unwrap());
    let is_it = |index: &usize| model.name(model.nodes()[*index].consumer) == name;
    let nodes = (0..model.nodes().len()).filter(is_it);
    nodes.map(|index| columns.map(|column| model.base(NodeId(index as u32))[column])).collect()
}

#[test]
fn running_and_waiting_are_all_of_the_time_that_a_caller_has_left() {
    let server = serve(Script::new(1000).wait(5), 1, 80);
    let server = file(&[("rmi", server)], &[], &[served(1, 1, 1005, 80)]);
    let files = [server, a_client(1000, false)];
    let parts = ["wall-raw", "running-raw", "waiting-raw"];
    // The server's method waits; or the client's, which waits for the server alone.
    for (id, of_server) in [(5, [60.0, 0.0, 60.0]), (2, [60.0, 60.0, 0.0])] {
        let merged = merged_in_parts(&files, &|_, method| method == id);
        assert_eq!(figures(&merged, "m5", parts), [of_server], "{id}");
        assert_eq!(figures(&merged, "m2", parts), [[0.0; 3]], "{id}");
        assert_eq!(figures(&merged, "m1", parts), [[20.0, 20.0, 0.0]], "{id}");
        assert_eq!(figures(&merged, REMOTE, parts), [[20.0, 20.0, 0.0]], "{id}");
    }
}

#[test]
fn the_calls_of_a_frame_are_split_as_its_figures_are() {
    let server = serve(serve(Script::new(1000).wait(5), 1, 80), 1, 160);
    let server = file(&[("rmi", server)], &[], &[served(1, 1, 1005, 80), served(2, 1, 1085, 160)]);
    let merged = merged_in_parts(&[server, a_client(1000, true)], &|_, _| false);
    let model = &merged.model;
    let mut of_server = Vec::new();
    for (node, calls) in model.nodes().iter().zip(&merged.contexts) {
        let counts = calls.counts;
        if model.name(node.consumer).starts_with('m') && node.kind == Kind::Method {
            assert_eq!(
                (counts.entries, counts.closes.exits),
                (node.n, node.n),
                "{}",
                model.name(node.consumer)
            );
        }
        if model.name(node.consumer) == "m5" {
            let CallTimes { calls, ended, ended_ns, closed_ns, exact_ns, sum_squares, min, max, .. } =
                calls.times;
            of_server.push((
                [counts.entries, calls, ended],
                [ended_ns, closed_ns, exact_ns, sum_squares, min, max],
            ));
        }
    }
    // It took 60 and 140 ns; the calls 80 and 160, with one more for each: 81 and 161 of 242.
    let first = [67.0, 67.0, 67.0, 7765.0, 60.0, 140.0];
    let second = [133.0, 133.0, 133.0, 3600.0 + 19_600.0 - 7765.0, 60.0, 140.0];
    assert_eq!(of_server, [([1, 1, 1], first), ([1, 1, 1], second)]);
    let remote: Vec<_> = model
        .nodes()
        .iter()
        .zip(&merged.contexts)
        .filter(|(node, _)| model.name(node.consumer) == REMOTE)
        .map(|(_, calls)| (calls.counts.entries, calls.counts.closes.exits))
        .collect();
    assert_eq!(remote, [(1, 1), (1, 1)]);
}
