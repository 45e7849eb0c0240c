//! Profiles of processes that call each other, their times known exactly, and the execution tree over them.

use std::net::{IpAddr, Ipv4Addr};

use instrument_analysis::arcs::Arcs;
use instrument_analysis::load::{Options, Process, load};
use instrument_analysis::merge::{Merged, Numbers, Party, View, match_calls};
use instrument_analysis::merge::{tree, tree_of_at_most, view::roots};
use instrument_analysis::{Arcflow, invariants};
use instrument_testing::{REMOTE_CALL, Script, Writer};
use instrument_trace::{Connection, Link, LinkKind, Profile, RemoteCall, RemoteCallKind, Side, Uid};

/// The remote method of all calls, which has no name.
pub(crate) const REMOTE: &str = "remote method 000000000000004d";

/// How many remote calls have no place in the tree.
pub(crate) const MISSING: &str = " remote calls were made in contexts that the tree does not have";

/// A remote call at times of one process.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) kind: RemoteCallKind,
    /// Its return; the other side has the same.
    pub(crate) id: i16,
    pub(crate) thread: u32,
    pub(crate) context: u32,
    pub(crate) link: u32,
    pub(crate) begin: u64,
    pub(crate) ns: u64,
}

pub(crate) fn record(call: &Call) -> RemoteCall {
    RemoteCall {
        kind: call.kind,
        thread: call.thread,
        return_id: Some(Uid { unique: 5, time: 9, count: call.id }),
        context: call.context,
        link: call.link,
        begin: call.begin,
        sent: call.begin + 1,
        returned: call.begin + call.ns - 1,
        end: call.begin + call.ns,
        ..REMOTE_CALL
    }
}

pub(crate) fn link(number: u32, kind: LinkKind, thread: u32, node: u32) -> Link {
    Link { copy: 1, number, kind, thread, node, clock: 0 }
}

pub(crate) fn file(threads: &[(&str, Script)], contexts: &[(u32, Option<u32>)], calls: &[Call]) -> Vec<u8> {
    let links = [1, 2].map(|number| link(number, LinkKind::Served, 0, 0));
    linked(threads, contexts, &calls.iter().map(record).collect::<Vec<_>>(), &links)
}

pub(crate) fn linked(
    threads: &[(&str, Script)],
    contexts: &[(u32, Option<u32>)],
    calls: &[RemoteCall],
    links: &[Link],
) -> Vec<u8> {
    written(threads, contexts, calls, links, |_| ())
}

/// With what else its profile has.
pub(crate) fn written(
    threads: &[(&str, Script)],
    contexts: &[(u32, Option<u32>)],
    calls: &[RemoteCall],
    links: &[Link],
    more: impl FnOnce(&mut Writer),
) -> Vec<u8> {
    let mut writer = Writer::new();
    more(&mut writer);
    for (name, script) in threads {
        writer.tree(name, script);
    }
    writer.contexts(1, contexts);
    writer.links(links);
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    writer.connections(&[Connection {
        copy: 1,
        number: 1,
        side: Side::Connected,
        incarnation: 1,
        local_port: 1,
        remote_port: 2,
        local: address,
        remote: address,
        clock: 1,
        accepted: 0,
    }]);
    writer.remote_calls(&calls.iter().map(|call| Some(*call)).collect::<Vec<_>>());
    writer.finish()
}

pub(crate) const fn made(id: i16, context: u32, begin: u64, ns: u64) -> Call {
    Call { kind: RemoteCallKind::Made, id, thread: 1, context, link: 0, begin, ns }
}

pub(crate) const fn served(id: i16, link: u32, begin: u64, ns: u64) -> Call {
    Call { kind: RemoteCallKind::Served, id, thread: 1, context: 0, link, begin, ns }
}

pub(crate) fn merged(files: &[Vec<u8>], view: impl FnOnce(&Numbers) -> View) -> Merged {
    merged_with(files, view, false)
}

pub(crate) fn merged_with(files: &[Vec<u8>], view: impl FnOnce(&Numbers) -> View, links: bool) -> Merged {
    merged_of(files, view, links, &|_| true)
}

pub(crate) fn merged_of(
    files: &[Vec<u8>],
    view: impl FnOnce(&Numbers) -> View,
    links: bool,
    thread: &dyn Fn(&str) -> bool,
) -> Merged {
    merged_within(usize::MAX, files, view, links, thread)
}

/// With so many nodes, beyond which what was served is one node each.
pub(crate) fn merged_within(
    most: usize,
    files: &[Vec<u8>],
    view: impl FnOnce(&Numbers) -> View,
    links: bool,
    thread: &dyn Fn(&str) -> bool,
) -> Merged {
    let mut profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    let names = |_, id| format!("m{id}");
    let labels: Vec<_> = (0..files.len()).map(|at| format!("P{at}")).collect();
    let mut processes: Vec<_> =
        profiles.iter_mut().zip(&labels).map(|(p, name)| Process::new(p, name.clone(), &names)).collect();
    let loaded =
        load(&mut processes, &Options { apart: true, links, thread: Some(thread), ..Options::default() });
    let parties: Vec<_> =
        profiles.iter().zip(files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).unwrap();
    let view = view(&Numbers::of(&matching));
    let merged = match most {
        usize::MAX => tree(&parties, &matching, &loaded, &labels, &view),
        most => tree_of_at_most(most, &parties, &matching, &loaded, &labels, &view),
    };
    let merged = merged.unwrap();
    let are_wanted = profiles.iter().flat_map(|profile| &profile.threads).all(|of| thread(&of.name));
    if (view.roots.is_empty() || view.is_server) && are_wanted && most == usize::MAX {
        // Every call, or every one of the server, is there, or is said to be missing.
        let missing = merged.remarks.iter().find_map(|remark| remark.strip_suffix(MISSING));
        let missing = missing.map_or(0.0, |calls| calls.parse().unwrap());
        let all = view.roots.first().map_or(matching.made.len(), |&root| matching.made.of(root).len()) as f64;
        assert_eq!(column(&merged, "remote-calls") + missing, all, "{:#?}", lines(&merged.model));
    }
    let arcs = Arcs::new(&merged.model);
    assert_eq!(invariants::check(&merged.model, &arcs).violations.len(), 0);
    merged
}

/// What there is of a resource in all.
pub(crate) fn column(tree: &Merged, name: &str) -> f64 {
    tree.model.cum()[tree.model.resource(name).unwrap()]
}

pub(crate) fn default(numbers: &Numbers) -> View {
    View { roots: roots(numbers), ..View::default() }
}

/// `depth name calls wall` of every node.
pub(crate) fn lines(model: &Arcflow) -> Vec<String> {
    let wall = model.resource("wall-raw").unwrap();
    let children = model.children();
    let mut lines = Vec::new();
    let mut stack = vec![(Arcflow::ROOT, 0)];
    while let Some((id, depth)) = stack.pop() {
        let node = model.node(id);
        if id != Arcflow::ROOT {
            lines.push(format!("{depth} {} {} {}", model.name(node.consumer), node.n, model.base(id)[wall]));
        }
        stack.extend(children.of(id).iter().rev().map(|&child| (child, depth + 1)));
    }
    lines
}

/// Calls the server once from method 2 and, if `twice`, once from 3; the clock begins at `start`.
pub(crate) fn a_client(start: u64, twice: bool) -> Vec<u8> {
    let script = Script::new(start).enter(1).wait(10).call(2, |s| s.wait(100)).wait(10);
    let (script, mut calls) = (script, vec![made(1, 2, start + 10, 100)]);
    let script = if twice {
        calls.push(made(2, 3, start + 120, 200));
        script.call(3, |s| s.wait(200))
    } else {
        script
    };
    file(&[("main", script.exit(1))], &[(0, Some(1)), (1, Some(2)), (1, Some(3))], &calls)
}

pub(crate) fn serve(script: Script, link: u32, ns: u64) -> Script {
    script.enter_link(link).wait(10).call(5, |s| s.wait(ns - 20)).wait(10).leave_link(link)
}
