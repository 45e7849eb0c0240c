//! What is exported of processes that call each other: slices with arrows there and back, and spans.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::common::machines::{BASE, HOUR, Machine, call, chain, with, with_files};
use RemoteCallKind::{Made, Served};
use instrument_analysis::export::call_tree;
use instrument_analysis::export::chrome::Chrome;
use instrument_analysis::export::otlp;
use instrument_analysis::export::perfetto::Perfetto;
use instrument_analysis::export::remote::Remote;
use instrument_analysis::export::timeline::{Details, Flow, Thread, Timeline};
use instrument_analysis::export::trace::Trace;
use instrument_analysis::load::{Options, Process, load};
use instrument_analysis::merge::tree;
use instrument_analysis::merge::{Party, View, match_calls};
use instrument_analysis::replay;
use instrument_testing::Script;
use instrument_trace::{Http, ObjId, Profile, RemoteCall, RemoteCallKind, TraceParent};
use proptest::prelude::*;
use serde::Deserialize;

fn tell(remote: &Remote<'_, Vec<u8>>, timeline: &mut dyn Timeline) {
    let origin = remote.origin();
    timeline.time_of_day(remote.offsets.time_of_day(origin)).unwrap();
    for (process, party) in remote.parties.iter().enumerate() {
        let methods = |_, id| format!("m{id}");
        let process_name = &remote.names[process];
        let (source, profile) = (party.source, party.profile);
        let trace = Trace {
            source,
            profile,
            process,
            process_name,
            methods: &methods,
            classes: None,
            remote: Some(remote),
        };
        trace.add_events(remote.on_clock(process, origin), &|_| true, timeline).unwrap();
    }
    timeline.finish().unwrap();
}

/// Checks that frames nest and time goes on, and takes down what is told.
#[derive(Default)]
struct Notes {
    text: String,
    depth: usize,
    now: u64,
    /// Ends of the arrows: frames, by number and whether it begins there.
    flows: BTreeMap<(u64, bool), String>,
    open: Vec<String>,
    thread: String,
}

impl Notes {
    fn at(&mut self, at: u64) {
        assert!(at >= self.now, "{at} after {}: {}", self.now, self.text);
        self.now = at;
    }

    fn flows(&mut self, flows: &[Flow]) {
        let frame = format!("{} {}", self.thread, self.open.last().expect("an arrow is in a frame"));
        for flow in flows {
            let twice = self.flows.insert((flow.id, flow.is_start), frame.clone());
            assert_eq!(twice, None, "{flow:?}");
        }
    }

    /// Who calls whom, by the arrows: both ends are there.
    fn arrows(&self) -> Vec<String> {
        let starts = self.flows.iter().filter(|((_, is_start), _)| *is_start);
        let arrows: Vec<_> =
            starts.map(|((id, _), from)| format!("{from} -> {}", self.flows[&(*id, false)])).collect();
        assert_eq!(2 * arrows.len(), self.flows.len());
        arrows
    }
}

impl Timeline for Notes {
    fn thread(&mut self, thread: Thread<'_>) -> io::Result<()> {
        assert_eq!(self.depth, 0, "{}", self.text);
        self.now = 0;
        self.thread = format!("{}/{}", thread.process_name, thread.name);
        self.text += &format!("[{}]", self.thread);
        Ok(())
    }
    fn enter(&mut self, name: &str, at: u64) -> io::Result<()> {
        self.at(at);
        self.depth += 1;
        self.open.push(name.to_owned());
        self.text += &format!(" {at}>{name}");
        Ok(())
    }
    fn leave(&mut self, at: u64) -> io::Result<()> {
        self.at(at);
        self.depth -= 1;
        self.open.pop();
        self.text += &format!(" {at}<");
        Ok(())
    }
    fn enter_with(&mut self, name: &str, at: u64, details: &Details<'_>) -> io::Result<()> {
        self.enter(name, at)?;
        self.flows(details.flows);
        Ok(())
    }
    fn leave_with(&mut self, at: u64, flows: &[Flow]) -> io::Result<()> {
        self.flows(flows);
        self.leave(at)
    }
    fn finish(&mut self) -> io::Result<()> {
        assert_eq!(self.depth, 0, "{}", self.text);
        Ok(())
    }
}

fn told(machines: &[Machine]) -> Notes {
    let mut notes = Notes::default();
    with(machines, |remote| tell(remote, &mut notes));
    notes
}

/// The second machine's clock is believed to be 50 ns ahead, so that it began first.
const FIRST_CALL: &str = "[P0/main] 10550>m1 11050>call com.acme.Shop.sell 19050< 19550<";

#[test]
fn calls_are_slices_in_their_place_with_arrows_there_and_back() {
    let notes = told(&chain());
    assert!(notes.text.starts_with(FIRST_CALL), "{}", notes.text);
    let served = "[P1/rmi] 12000>serve com.acme.Shop.sell 12050>(remote call) 12500>m2 13000>call com.acme.Shop.sell 17100< \
        17500< 18050< 18100<";
    assert!(notes.text.contains(served), "{}", notes.text);
    let arrows = notes.arrows();
    let count = |arrow: &str| arrows.iter().filter(|of| *of == arrow).count();
    for (client, server) in [("P0/main", "P1/rmi"), ("P1/rmi", "P2/rmi")] {
        let (made, served) =
            (format!("{client} call com.acme.Shop.sell"), format!("{server} serve com.acme.Shop.sell"));
        assert_eq!(count(&format!("{made} -> {served}")), 3);
        assert_eq!(count(&format!("{served} -> {made}")), 3);
    }
    assert_eq!(arrows.len(), 12);
}

#[test]
fn clocks_that_drift_are_reported_and_lose_no_arrow() {
    let mut machines = chain();
    // 5,000 ns ahead in the last call, which was also the shortest on its way.
    let late = &mut machines[2].calls[2];
    (late.begin, late.sent, late.returned, late.end) =
        (late.begin + 5000 - 900, late.sent + 5000 - 900, late.returned + 5900, late.end + 5900);
    with(&machines, |remote| {
        let all = &remote.offsets.all;
        assert!(all[2].is_drifting && !all[1].is_drifting, "{all:?}");
        assert_eq!((all[2].ns - all[1].ns, all[2].uncertainty), (5000, Some(950 + 100)));
    });
    assert_eq!(told(&machines).arrows().len(), 12);
}

/// The merged tree, as text.
fn merged(machines: &[Machine]) -> String {
    let files: Vec<_> = machines.iter().zip(1..).map(|(machine, number)| machine.file(number)).collect();
    let mut profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    profiles.iter_mut().zip(&files).for_each(|(profile, file)| replay::profile(file, profile).unwrap());
    let labels: Vec<_> = (0..files.len()).map(|at| format!("P{at}")).collect();
    let methods = |_, id| format!("m{id}");
    let processes = profiles.iter_mut().zip(&labels);
    let mut processes: Vec<_> =
        processes.map(|(profile, label)| Process::new(profile, label.clone(), &methods)).collect();
    let loaded = load(&mut processes, &Options { apart: true, ..Options::default() });
    let parties: Vec<_> =
        profiles.iter().zip(&files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).unwrap();
    let view = View { roots: vec![0], ..View::default() };
    let tree = tree(&parties, &matching, &loaded, &labels, &view).unwrap().model;
    let mut bytes = Vec::new();
    call_tree::write(&tree, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn nothing_but_the_clocks_changes_when_clocks_are_changed() {
    let mut machines = chain();
    let bytes = |machines: &[Machine]| {
        with(machines, |remote| {
            let (mut chrome, mut perfetto, mut spans) = (Vec::new(), Vec::new(), Vec::new());
            tell(remote, &mut Chrome::new(&mut chrome));
            tell(remote, &mut Perfetto::new(&mut perfetto));
            otlp::write(remote, remote.names, false, &mut spans).unwrap();
            let partners: Vec<_> =
                (0..remote.matching.made.len() as u32).map(|row| remote.matching.made.partner(row)).collect();
            (partners, merged(machines), chrome, perfetto, spans)
        })
    };
    let first = bytes(&machines);
    assert_eq!(first.0.iter().filter(|partner| partner.is_some()).count(), 6);
    assert_eq!(first.1.matches("remote sell").count(), 2, "{}", first.1);
    assert!(first == bytes(&machines), "not the same every time");
    machines[1].ahead = HOUR as i64;
    assert!(first == bytes(&machines), "not the same by another clock");
    machines[2].ahead = -(HOUR as i64);
    assert!(first == bytes(&machines));
}

#[test]
fn a_call_without_an_end_goes_to_the_last_known_moment() {
    let mut machines = chain();
    for (machine, kind) in [(0, Made), (1, Served)] {
        let mut open = call(kind, 50, if kind == Made { 1 } else { 2 }, 1, [50_000, 50_100, 0, 0]);
        (open.return_id, open.returned, open.end) = (None, 0, 0);
        machines[machine].calls.push(open);
    }
    // What comes after it on its thread lies within it.
    machines[1].calls.push(call(Made, 51, 1, 1, [51_000, 51_100, 51_200, 51_300]));
    let notes = told(&machines);
    let text = &notes.text;
    assert!(text.contains(" 50000>call com.acme.Shop.sell (no end) 50100<[P1"), "{text}");
    assert!(
        text.contains(" 50450>serve com.acme.Shop.sell (no end) 51450>call sell 51750< 51750<"),
        "{text}"
    );
    // There is an arrow there, and none back.
    assert_eq!(notes.arrows().len(), 13);
}

#[test]
fn threads_that_are_gone_or_unknown_have_their_calls() {
    let mut machines = chain();
    machines[1].calls.push(call(Served, 60, 2, 33, [60_000, 60_100, 60_200, 60_300]));
    for serial in [61, 62, 63] {
        let at = u64::from(serial as u16) * 1000;
        machines[1].calls.push(call(Served, serial, 2, 0, [at, at + 10, at + 1500, at + 1600]));
    }
    let text = told(&machines).text;
    let own = "[P1/(ended thread) #33] 60000>serve com.acme.Shop.sell 60300<";
    let lanes = "[P1/(unknown thread) 1] 61000>serve com.acme.Shop.sell 62600< 63000>serve com.acme.Shop.sell 64600<\
        [P1/(unknown thread) 2] 62000>serve com.acme.Shop.sell 63600<";
    assert!(text.contains(own) && text.contains(lanes), "{text}");
}

/// What a collector reads, and nothing else.
mod strict {
    use super::Deserialize;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct Request {
        pub(super) resource_spans: Vec<ResourceSpans>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct ResourceSpans {
        pub(super) resource: Resource,
        pub(super) scope_spans: Vec<ScopeSpans>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Resource {
        pub(super) attributes: Vec<Attribute>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct ScopeSpans {
        pub(super) scope: Scope,
        pub(super) spans: Vec<Span>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Scope {
        pub(super) name: String,
        #[serde(rename = "version")]
        _version: String,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct Span {
        pub(super) trace_id: String,
        pub(super) span_id: String,
        pub(super) parent_span_id: Option<String>,
        pub(super) name: String,
        pub(super) kind: u32,
        pub(super) start_time_unix_nano: String,
        pub(super) end_time_unix_nano: String,
        pub(super) attributes: Vec<Attribute>,
        pub(super) status: Option<Status>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Attribute {
        pub(super) key: String,
        pub(super) value: Value,
    }
    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) enum Value {
        StringValue(String),
        IntValue(String),
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Status {
        #[serde(rename = "message")]
        _message: String,
        pub(super) code: u32,
    }
}

impl strict::Span {
    fn times(&self) -> (u64, u64) {
        (self.start_time_unix_nano.parse().unwrap(), self.end_time_unix_nano.parse().unwrap())
    }

    fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|of| of.key == key).map(|of| match &of.value {
            strict::Value::StringValue(text) | strict::Value::IntValue(text) => text.as_str(),
        })
    }
}

/// All spans with their services, one request a line; ids are what they have to be, and parents are there.
fn spans(machines: &[Machine], internals: bool) -> Vec<(String, strict::Span)> {
    let mut bytes = Vec::new();
    with(machines, |remote| otlp::write(remote, remote.names, internals, &mut bytes).unwrap());
    let mut spans = Vec::new();
    for line in String::from_utf8(bytes).unwrap().lines() {
        let request: strict::Request = serde_json::from_str(line).unwrap();
        for resource in request.resource_spans {
            let name = resource.resource.attributes.into_iter().find(|of| of.key == "service.name").unwrap();
            let strict::Value::StringValue(name) = name.value else { panic!("{:?}", name.value) };
            for scope in resource.scope_spans {
                assert_eq!(scope.scope.name, "instrument");
                spans.extend(scope.spans.into_iter().map(|span| (name.clone(), span)));
            }
        }
    }
    let is_id = |id: &str, digits: usize| {
        let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        id.len() == digits && id.chars().all(hex) && id.chars().any(|c| c != '0')
    };
    let ids: BTreeSet<_> = spans.iter().map(|(_, span)| &span.span_id).collect();
    assert_eq!(ids.len(), spans.len());
    let by_id: BTreeMap<_, _> = spans.iter().map(|(_, span)| (span.span_id.as_str(), span)).collect();
    for (_, span) in &spans {
        assert!(is_id(&span.trace_id, 32) && is_id(&span.span_id, 16));
        assert!(span.times().0 <= span.times().1);
        if let Some(parent) = &span.parent_span_id {
            let parent = by_id[parent.as_str()];
            assert_eq!(parent.trace_id, span.trace_id);
            assert_ne!(parent.kind, span.kind);
        }
    }
    spans
}

#[test]
fn an_outermost_call_is_a_trace() {
    let mut machines = chain();
    machines[1].ahead = HOUR as i64;
    let all = spans(&machines, false);
    let mut traces: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (service, span) in &all {
        traces.entry(&span.trace_id).or_default().push((service.as_str(), span));
    }
    assert_eq!(traces.len(), 3);
    for spans in traces.values() {
        let mut at = spans.iter().find(|(_, span)| span.parent_span_id.is_none()).unwrap();
        let mut way = vec![(at.0, at.1.kind)];
        while let Some(child) =
            spans.iter().find(|(_, span)| span.parent_span_id.as_ref() == Some(&at.1.span_id))
        {
            let (outer, inner) = (at.1.times(), child.1.times());
            assert!(outer.0 <= inner.0 && inner.1 <= outer.1, "{outer:?} around {inner:?}");
            at = child;
            way.push((at.0, at.1.kind));
        }
        assert_eq!(way, [("P0", 3), ("P1", 2), ("P1", 3), ("P2", 2)]);
    }
    let (_, first) = &all[0];
    assert_eq!(first.name, "com.acme.Shop/sell(int)", "overloads are told apart");
    assert_eq!(first.times(), (1_700_000_000_000_011_000, 1_700_000_000_000_019_000));
    let expected = [
        ("rpc.system", "java_rmi"),
        ("rpc.service", "com.acme.Shop"),
        ("rpc.method", "sell"),
        ("server.address", "10.0.0.2"),
        ("server.port", "1099"),
        ("network.peer.address", "10.0.0.2"),
        ("network.peer.port", "1099"),
        ("thread.id", "1"),
        ("thread.name", "main"),
        ("instrument.rmi.object", "[-5:3:1, 9]"),
        ("instrument.rmi.matched", "by return"),
    ];
    assert_eq!(first.attributes.len(), expected.len());
    for (key, value) in expected {
        assert_eq!(first.attribute(key), Some(value), "{key}");
    }
    let (_, second) = &all[3];
    assert_eq!((second.kind, second.attribute("server.port")), (2, Some("1099")));
    assert_eq!(second.attribute("client.port"), Some("5000"));
}

#[test]
fn failed_calls_are_exported_and_internal_calls_are_not() {
    let mut machines = chain();
    machines[0].calls[1].threw = true;
    let mut lost = call(Made, 70, 1, 1, [70_000, 70_100, 0, 0]);
    (lost.return_id, lost.returned, lost.end, lost.method) = (None, 0, 0, 0);
    machines[0].calls.push(lost);
    let mut lookup = call(Made, 71, 1, 1, [70_200, 70_300, 70_400, 70_500]);
    lookup.object = ObjId::REGISTRY;
    machines[0].calls.push(lookup);
    // One that nobody is known to have made, and one within it.
    machines[2].calls.push(call(Served, 72, 2, 1, [80_000, 80_100, 84_000, 84_100]));
    machines[2].calls.push(call(Made, 73, 1, 1, [81_000, 81_100, 82_000, 82_100]));
    let all = spans(&machines, false);
    assert_eq!(all.len(), 12 + 3);
    let wrong = all.iter().filter(|(_, span)| span.status.is_some()).collect::<Vec<_>>();
    assert_eq!(wrong.len(), 1);
    assert_eq!(wrong[0].1.status.as_ref().unwrap().code, 2);
    assert_eq!(wrong[0].1.attribute("error.type"), Some("the method threw an exception"));
    let (_, lost) = all.iter().find(|(_, span)| span.attribute("instrument.end").is_some()).unwrap();
    assert_eq!(lost.name, "(method 000000000000004d)");
    assert_eq!(lost.attribute("instrument.rmi.unmatched"), Some("not-dispatched"));
    let (_, foreign) = all.iter().rev().find(|(_, span)| span.kind == 2).unwrap();
    assert_eq!(foreign.attribute("instrument.rmi.unmatched"), Some("not-recorded"));
    assert_eq!(foreign.name, "com.acme.Shop/sell(int)");
    let (_, within) = all.last().unwrap();
    assert_eq!((within.kind, &within.trace_id), (3, &foreign.trace_id));
    assert_eq!(within.parent_span_id.as_ref(), Some(&foreign.span_id));
    assert_eq!(spans(&machines, true).len(), 12 + 4);
    // What was made within one that is not exported has nothing above it.
    let collector = call(Served, 74, 2, 1, [90_000, 90_100, 94_000, 94_100]);
    machines[2].calls.push(RemoteCall { object: ObjId::DGC, ..collector });
    machines[2].calls.push(call(Made, 75, 1, 1, [91_000, 91_100, 92_000, 92_100]));
    let (all, with_it) = (spans(&machines, false), spans(&machines, true));
    assert_eq!((all.len(), with_it.len()), (12 + 4, 12 + 6));
    let parents = [&all, &with_it].map(|all| all.last().unwrap().1.parent_span_id.is_some());
    assert_eq!(parents, [false, true]);
}

/// By the conventions for HTTP, and with those of remote methods around them.
#[test]
fn requests_by_http_have_method_route_and_status() {
    let mut machines = chain();
    let as_request = |call: &RemoteCall| RemoteCall {
        connection: 0,
        ordinal: 0,
        object: ObjId::default(),
        return_id: None,
        http: Some(Http {
            key: Some(TraceParent { trace: 1, parent: 2 }),
            has_bad_key: false,
            status: 503,
            ..Http::default()
        }),
        class: 0,
        method: 4,
        host: 5,
        port: 8080,
        sent: 0,
        returned: 0,
        ..*call
    };
    for machine in &mut machines[..2] {
        machine.calls[0] = as_request(&machine.calls[0]);
    }
    let all = spans(&machines, false);
    let (_, first) = &all[0];
    assert_eq!(first.name, "GET /orders/?");
    let expected = [
        ("http.request.method", "GET"),
        ("http.route", "/orders/?"),
        ("http.response.status_code", "503"),
        ("server.address", "shop.example"),
        ("server.port", "8080"),
        ("thread.id", "1"),
        ("thread.name", "main"),
        ("instrument.http.matched", "by header"),
        ("error.type", "the server answered with an error"),
    ];
    assert_eq!(
        first.attributes.len(),
        expected.len(),
        "{:?}",
        first.attributes.iter().map(|of| &of.key).collect::<Vec<_>>()
    );
    for (key, value) in expected {
        assert_eq!(first.attribute(key), Some(value), "{key}");
    }
    let served = all.iter().find(|(_, span)| span.parent_span_id.as_ref() == Some(&first.span_id)).unwrap();
    assert_eq!((served.0.as_str(), served.1.attribute("client.address")), ("P1", Some("shop.example")));
}

#[test]
fn what_a_rewritten_jar_served_is_no_lookup() {
    let mut machines = chain();
    let object = ObjId::REGISTRY;
    let times = [80_000, 80_100, 84_000, 84_100];
    let served = RemoteCall {
        connection: 0,
        ordinal: 0,
        object,
        return_id: None,
        host: 1,
        ..call(Served, 0, 0, 1, times)
    };
    machines[2].calls.push(served);
    let all = spans(&machines, false);
    assert_eq!(all.len(), 12 + 1);
    let (_, span) = all.last().unwrap();
    assert_eq!(span.attribute("instrument.rmi.object"), Some("unknown"));
    assert_eq!(span.attribute("instrument.rmi.unmatched"), Some("connection-unknown"));
}

#[test]
fn many_spans_take_several_requests() {
    let calls = |kind, connection| {
        (0..9000u64).map(move |k| {
            let times = [1000 * k + 1000, 1000 * k + 1100, 1000 * k + 1800, 1000 * k + 1900];
            call(kind, k as i16, connection, 1, times)
        })
    };
    let client = Machine { calls: calls(Made, 1).collect(), ..Machine::default() };
    let server = Machine { calls: calls(Served, 2).collect(), ..Machine::default() };
    let machines = [client, server];
    let mut bytes = Vec::new();
    with(&machines, |remote| otlp::write(remote, remote.names, false, &mut bytes).unwrap());
    assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 3);
    assert_eq!(spans(&machines, false).len(), 18_000);
    // Nothing at all is a request, too.
    assert_eq!(spans(&[Machine::default()], false).len(), 0);
}

/// Calls that were made within themselves, which no clock can have seen, end somewhere.
#[test]
fn a_circle_is_cut() {
    let mut machines = vec![Machine::default(); 2];
    for (machine, made, served) in [(0, 1, 2), (1, 2, 1)] {
        let served = call(Served, served, 2, 1, [1000, 1100, 8000, 8100]);
        machines[machine].calls = vec![served, call(Made, made, 1, 1, [2000, 2100, 7000, 7100])];
    }
    let all = spans(&machines, false);
    assert_eq!(all.len(), 4);
    assert_eq!(all.iter().filter(|(_, span)| span.parent_span_id.is_none()).count(), 1);
    assert_eq!(told(&machines).arrows().len(), 4);
}

proptest! {
    /// Whatever a profile says, frames nest and time goes on; every call is told once.
    #[test]
    fn slices_nest(
        steps in prop::collection::vec((0u64..40, 0u8..4), 0..60),
        calls in prop::collection::vec((0u64..1000, 0u64..400, any::<bool>(), 0u32..3), 0..40),
    ) {
        let mut script = Script::new(BASE);
        for (wait, step) in steps {
            script = script.wait(wait);
            script = match step {
                0 => script.enter(1),
                1 => script.exit(1),
                2 => script.enter(2),
                _ => script.exit(2),
            };
        }
        let records = calls.iter().zip(1..).map(|(&(begin, ns, has_end, thread), serial)| {
            let times = [begin, begin + ns / 4, begin + ns / 2, begin + ns];
            let mut record = call(if serial % 3 == 0 { Served } else { Made }, serial, 1, thread, times);
            if !has_end {
                record.end = 0;
            }
            record
        });
        let calls_of = records.collect::<Vec<_>>();
        let wanted = calls_of.len();
        let machine = Machine { threads: vec![("main", Some(script))], calls: calls_of, ..Machine::default() };
        let text = told(&[machine]).text;
        let slices = text.matches(">call ").count() + text.matches(">serve ").count();
        prop_assert_eq!(slices, wanted, "{}", text);
    }

    /// Files that lie.
    #[test]
    fn any_name_can_be_exported(changes in prop::collection::vec((0usize..3, any::<prop::sample::Index>(), any::<u64>(), 0u32..64), 1..8)) {
        let mut files: Vec<_> = chain().iter().zip(1..).map(|(machine, number)| machine.file(number)).collect();
        for (file, at, word, shift) in changes {
            // Behind magic, version and length of the header.
            let words = files[file].len() / 8 - 2;
            let at = 16 + 8 * at.index(words);
            files[file][at..at + 8].copy_from_slice(&(word >> shift).to_le_bytes());
        }
        with_files(&files, |remote| {
            tell(remote, &mut Notes::default());
            tell(remote, &mut Chrome::new(io::sink()));
            otlp::write(remote, remote.names, true, &mut io::sink()).unwrap();
        });
    }
}
