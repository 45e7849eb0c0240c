//! Remote calls of several processes, placed in time and told to other tools: scripted profiles of machines whose clocks differ.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr};

use instrument_analysis::export::call_tree;
use instrument_analysis::export::chrome::Chrome;
use instrument_analysis::export::otlp;
use instrument_analysis::export::perfetto::Perfetto;
use instrument_analysis::export::remote::Remote;
use instrument_analysis::export::timeline::{Details, Flow, Thread, Timeline};
use instrument_analysis::export::trace::Trace;
use instrument_analysis::load::{Options, Process, load};
use instrument_analysis::merge::offsets::Placed;
use instrument_analysis::merge::services::services;
use instrument_analysis::merge::tree;
use instrument_analysis::merge::waterfalls::{Bounds, Query};
use instrument_analysis::merge::{AllStages, Nesting, Numbers, Offsets, Party, Peer, View, match_calls};
use instrument_analysis::replay;
use instrument_analysis::report::{Format, matching};
use instrument_trace::testing::{REMOTE_CALL, Script, Writer};
use instrument_trace::{Connection, Link, LinkKind, ObjId, Profile, RemoteCall, RemoteCallKind, Side, Uid};
use proptest::prelude::*;
use serde::Deserialize;

use RemoteCallKind::{Made, Served};

const HOUR: u64 = 3_600_000_000_000;
/// What clocks begin with, so that they can be behind.
const BASE: u64 = 10 * HOUR;

/// A call at true times: of its beginning, when it was sent, when it returned, and of its end.
fn call(kind: RemoteCallKind, serial: i16, connection: u32, thread: u32, times: [u64; 4]) -> RemoteCall {
    let [begin, sent, returned, end] = times.map(|time| BASE + time);
    RemoteCall {
        kind,
        thread,
        connection,
        ordinal: serial as u32,
        object: ObjId { number: 9, space: Uid { unique: -5, time: 3, count: 1 } },
        return_id: Some(Uid { unique: 5, time: 9, count: serial }),
        class: if kind == Served { 1 } else { 0 },
        method: 2,
        link: if kind == Served { 1 } else { 0 },
        begin,
        sent,
        returned,
        end,
        ..REMOTE_CALL
    }
}

/// A process: its threads, its calls, and by how much its clock is ahead of the truth.
#[derive(Clone, Default)]
struct Machine {
    threads: Vec<(&'static str, Option<Script>)>,
    calls: Vec<RemoteCall>,
    ahead: i64,
    /// Start, in ms since 1970.
    start_ms: u64,
}

impl Machine {
    fn file(&self, number: u64) -> Vec<u8> {
        let on = |clock: u64| if clock == 0 { 0 } else { clock.saturating_add_signed(self.ahead) };
        let mut writer = Writer::new();
        writer.word(16, 1000 + number).word(24, 70 + number).word(32, self.start_ms).word(64, on(BASE));
        writer.property("java.vm.name", "a machine").property("host", "here");
        for (name, script) in &self.threads {
            let script = script.clone().unwrap_or(Script::new(BASE));
            let mut moved = Script::new(on(script.start));
            moved.steps = script.steps.iter().map(|&(at, event)| (on(at), event)).collect();
            moved.now = on(script.now);
            writer.trace(name, &moved, 1000);
        }
        writer.class_names(&[(1, "com.acme.Shop"), (2, "sell(I)V")]);
        writer.links(&[Link { copy: 1, number: 1, kind: LinkKind::Served, thread: 0, node: 0, clock: 0 }]);
        let connection = |number, side, local, remote| Connection {
            copy: 1,
            number,
            side,
            incarnation: 1,
            local_port: local,
            remote_port: remote,
            local: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
            remote: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
            clock: on(BASE),
            accepted: 0,
        };
        writer.connections(&[
            connection(1, Side::Connected, 5000, 1099),
            connection(2, Side::Accepted, 1099, 5000),
        ]);
        let moved = |call: &RemoteCall| RemoteCall {
            begin: on(call.begin),
            sent: on(call.sent),
            returned: on(call.returned),
            end: on(call.end),
            ..*call
        };
        writer.remote_calls(&self.calls.iter().map(|call| Some(moved(call))).collect::<Vec<_>>());
        writer.finish()
    }
}

/// Three calls through a chain of three machines, in traces.
fn chain() -> Vec<Machine> {
    let mut machines = vec![Machine { start_ms: 1_700_000_000_000, ..Machine::default() }; 3];
    let mut scripts = [(); 3].map(|()| Script::new(BASE));
    for serial in 0..3 {
        let at = 10_000 + 10_000 * serial as u64;
        let times = |times: [u64; 4]| times.map(|time| at + time);
        let (first, second) = (2 * serial + 1, 2 * serial + 2);
        machines[0].calls.push(call(Made, first, 1, 1, times([1000, 1100, 8900, 9000])));
        machines[1].calls.push(call(Served, first, 2, 1, times([2000, 2100, 8000, 8100])));
        machines[1].calls.push(call(Made, second, 1, 1, times([3000, 3100, 7000, 7100])));
        machines[2].calls.push(call(Served, second, 2, 1, times([4000, 4100, 6000, 6100])));
        let until = |script: Script, time: u64| {
            let now = script.now;
            script.wait(BASE + at + time - now)
        };
        let [a, b, c] = scripts;
        let a = until(until(a, 500).enter(1), 9500).exit(1);
        let b = until(until(b, 2050).enter_link(1), 2500).enter(2);
        let b = until(until(b, 7500).exit(2), 8050).leave_link(1);
        let c = until(until(c, 4200).enter_link(1), 6050).leave_link(1);
        scripts = [a, b, c];
    }
    for (machine, (name, script)) in machines.iter_mut().zip(["main", "rmi", "rmi"].into_iter().zip(scripts))
    {
        machine.threads.push((name, Some(script)));
    }
    machines
}

/// Hands over everything that exports take.
fn with<T>(machines: &[Machine], use_it: impl FnOnce(&Remote<'_, Vec<u8>>) -> T) -> T {
    let files: Vec<_> = machines.iter().zip(1..).map(|(machine, number)| machine.file(number)).collect();
    with_files(&files, use_it)
}

fn with_files<T>(files: &[Vec<u8>], use_it: impl FnOnce(&Remote<'_, Vec<u8>>) -> T) -> T {
    let profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    let parties: Vec<_> =
        profiles.iter().zip(files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).unwrap();
    let nesting = Nesting::new(&parties, &matching).unwrap();
    let offsets = Offsets::new(&parties, &matching, 0).unwrap();
    let names: Vec<_> = (0..files.len()).map(|at| format!("P{at}")).collect();
    let (parties, names, matching, nesting, offsets) =
        (&parties[..], &names[..], &matching, &nesting, &offsets);
    use_it(&Remote { parties, names, matching, nesting, offsets })
}

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
        trace.tell(remote.on_clock(process, origin), &|_| true, timeline).unwrap();
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

#[test]
fn calls_bound_the_difference_of_clocks() {
    for (one, other) in [(0, 0), (HOUR as i64, -(HOUR as i64)), (-77, 123_456_789)] {
        let mut machines = chain();
        (machines[1].ahead, machines[2].ahead) = (one, other);
        with(&machines, |remote| {
            let all = &remote.offsets.all;
            assert_eq!((all[0].ns, all[0].uncertainty, all[0].placed), (0, Some(0), Placed::Root));
            // Sent 1,000 ns before it came there, and back 900 ns after it left.
            assert_eq!(
                (all[1].ns, all[1].uncertainty, all[1].placed),
                (one + 50, Some(950), Placed::Calls(0))
            );
            assert_eq!((all[2].ns, all[2].uncertainty), (other + 50, Some(1950)));
            assert_eq!(all[2].placed, Placed::Calls(1));
            assert!(all.iter().all(|offset| !offset.is_drifting));
        });
    }
}

#[test]
fn the_way_with_the_smallest_uncertainty_is_taken() {
    let mut machines = chain();
    // A call from the first to the last that took long on its way, and one that tells more than all others.
    machines[0].calls.push(call(Made, 90, 1, 1, [50_000, 50_100, 80_000, 80_100]));
    machines[2].calls.push(call(Served, 90, 2, 1, [60_000, 60_100, 61_000, 61_100]));
    with(&machines, |remote| assert_eq!(remote.offsets.all[2].placed, Placed::Calls(1)));
    machines[0].calls.push(call(Made, 91, 1, 1, [90_000, 90_010, 90_090, 90_100]));
    machines[2].calls.push(call(Served, 91, 2, 1, [90_020, 90_030, 90_070, 90_080]));
    with(&machines, |remote| {
        let all = &remote.offsets.all;
        assert_eq!((all[2].placed, all[2].uncertainty), (Placed::Calls(0), Some(20)));
        assert_eq!((all[1].placed, all[1].uncertainty), (Placed::Calls(0), Some(950)));
    });
}

#[test]
fn clocks_that_drift_are_reported() {
    let mut machines = chain();
    let late = &mut machines[2].calls[2];
    // 5,000 ns ahead in the last call, which was also the shortest on its way.
    (late.begin, late.sent, late.returned, late.end) =
        (late.begin + 5000 - 900, late.sent + 5000 - 900, late.returned + 5900, late.end + 5900);
    with(&machines, |remote| {
        let all = &remote.offsets.all;
        assert!(all[2].is_drifting && !all[1].is_drifting, "{all:?}");
        assert_eq!((all[2].ns - all[1].ns, all[2].uncertainty), (5000, Some(950 + 100)));
    });
    assert_eq!(told(&machines).arrows().len(), 12);
}

#[test]
fn a_damaged_record_says_nothing_of_clocks() {
    let mut machines = chain();
    let damaged = &mut machines[1].calls[0];
    (damaged.returned, damaged.end) = (damaged.returned | 1 << 50, damaged.end | 1 << 50);
    with(&machines, |remote| {
        let offset = remote.offsets.all[1];
        assert_eq!((offset.ns, offset.uncertainty, offset.is_drifting), (50, Some(950), false));
    });
}

#[test]
fn a_profile_that_goes_on_while_it_is_read_is_an_error() {
    let mut machines = chain();
    let before = machines[0].file(1);
    machines[0].calls.pop();
    let fewer = machines[0].file(1);
    for (first, then) in [(&before, &fewer), (&fewer, &before)] {
        let profiles = [first, then].map(|file| Profile::parse(file).unwrap());
        let matching = match_calls(&[Party { profile: &profiles[0], source: first }]).unwrap();
        let parties = [Party { profile: &profiles[1], source: then }];
        let error = Nesting::new(&parties, &matching).unwrap_err();
        assert!(error.to_string().contains("changed while they were read"), "{error}");
        assert!(Offsets::new(&parties, &matching, 0).is_err());
    }
}

#[test]
fn who_calls_nobody_is_placed_by_the_time_of_day() {
    let mut machines = chain();
    let start_ms = machines[0].start_ms + 250;
    machines.push(Machine { ahead: -(HOUR as i64), start_ms, ..Machine::default() });
    with(&machines, |remote| {
        let last = remote.offsets.all[3];
        assert_eq!((last.placed, last.uncertainty), (Placed::Start, None));
        // Its clock was at the base, less an hour, 250 ms after the first one's was at the base.
        let start = remote.offsets.to_root(3, BASE - HOUR);
        assert_eq!(start, i128::from(BASE) + 250_000_000);
        assert_eq!(remote.offsets.time_of_day(start), start_ms * 1_000_000);
    });
}

/// How each clock is known, in the words of the report, in text and JSON.
#[test]
fn how_sure_a_clock_is_stands_in_the_report() {
    let mut machines = chain();
    let start_ms = machines[0].start_ms + 250;
    machines.push(Machine { ahead: -(HOUR as i64), start_ms, ..Machine::default() });
    let rows = |machines: &[Machine]| {
        with(machines, |remote| {
            let numbers = Numbers::of(remote.matching);
            let (mut text, stages) = (Vec::new(), AllStages::default());
            matching::write(&mut text, remote.names, &numbers, &stages, remote.offsets, Format::Text)
                .unwrap();
            let text = String::from_utf8(text).unwrap();
            let clocks = text[text.find("known by").unwrap()..].to_owned();
            let json = matching::json(remote.names, &numbers, &stages, remote.offsets);
            let json = json["clocks"].as_array().unwrap().iter().map(|clock| {
                let word = clock["placed_by"].as_str().unwrap().to_owned();
                (word, clock["drifts"].as_bool().unwrap(), clock["uncertainty_ns"].as_u64())
            });
            (clocks, json.collect::<Vec<_>>())
        })
    };
    let known = |word: &str, drifts, uncertainty| (word.to_owned(), drifts, uncertainty);
    let (text, json) = rows(&machines);
    assert_eq!(json[0], known("root", false, Some(0)));
    assert!(json[1..3].iter().all(|clock| clock.0 == "calls" && !clock.1 && clock.2 > Some(0)), "{json:?}");
    assert_eq!(json[3], known("start", false, None));
    let ends = |text: &str, words: &[&str]| {
        let lines: Vec<_> = text.lines().skip(1).take(words.len()).collect();
        let fits = |(line, words): (&&str, &&str)| {
            line.split_whitespace().collect::<Vec<_>>().join(" ").ends_with(words)
        };
        assert!(lines.len() == words.len() && lines.iter().zip(words).all(fits), "{text}");
    };
    ends(
        &text,
        &["0 ns +-0 ns root P0", "+50 ns +-950 ns calls P1", "+50 ns +-1.950 us calls P2", "? start P3"],
    );
    assert!(!text.contains("drift"), "{text}");
    let late = &mut machines[2].calls[2];
    (late.begin, late.sent, late.returned, late.end) =
        (late.begin + 5000 - 900, late.sent + 5000 - 900, late.returned + 5900, late.end + 5900);
    let (text, json) = rows(&machines);
    assert!(json[2].1 && !json[1].1, "{json:?}");
    ends(&text, &["root P0", "calls P1", "calls (drifts) P2", "start P3"]);
    assert!(text.contains("\nclocks that drift fit at the moment of"), "{text}");
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
    let view = View { root: Some(0), ..View::default() };
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
    let (_, within) = all.last().unwrap();
    assert_eq!((within.kind, &within.trace_id), (3, &foreign.trace_id));
    assert_eq!(within.parent_span_id.as_ref(), Some(&foreign.span_id));
    assert_eq!(spans(&machines, true).len(), 12 + 4);
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

/// Who called what of whom, and single calls with what was called within them.
#[test]
fn calls_are_added_up_by_service_and_shown_one_by_one() {
    let machines = chain();
    with(&machines, |remote| {
        let Remote { parties, matching, nesting, offsets, .. } = *remote;
        let found = services(parties, matching, nesting, false).unwrap();
        let sums = |client: usize, server: usize| {
            let key = (Peer::Party(client), Peer::Party(server));
            let of = found.links[&key];
            assert_eq!((of.made, of.served, of.matched, of.failed), (3, 3, 3, 0));
            [of.client_ns, of.client_max, of.server_ns, of.server_max]
        };
        assert_eq!(sums(0, 1), [24_000, 8000, 18_300, 6100]);
        assert_eq!(sums(1, 2), [12_300, 4100, 6300, 2100]);
        assert_eq!(found.links.len(), 2);
        // The one that took longest first.
        let rows: Vec<_> = found.all.iter().map(|(of, _)| (of.client, of.method.as_str())).collect();
        let name = "com.acme.Shop.sell(I)V";
        assert_eq!(rows, [(Peer::Party(0), name), (Peer::Party(1), name)]);

        let query = Query { parties, matching, nesting, offsets, internals: false };
        let (all, outermost) = query.waterfalls(Bounds { outermost: 2, within: 10 }).unwrap();
        assert_eq!((all.len(), outermost), (2, 3));
        for waterfall in &all {
            let [first, second] = &waterfall.spans[..] else { panic!("{waterfall:?}") };
            assert_eq!((first.parent, first.depth, first.client, first.server), (None, 0, 0, Peer::Party(1)));
            assert_eq!((second.parent, second.depth, second.client), (Some(0), 1, 1));
            assert_eq!((first.made.begin, first.made.ns, first.between()), (0, Some(8000), Some(1900)));
            let served = second.served.as_ref().unwrap();
            assert_eq!((second.made.ns, served.ns, second.between()), (Some(4100), Some(2100), Some(2000)));
            assert_eq!((first.made.thread.as_str(), served.thread.as_str()), ("main", "rmi"));
            assert_eq!((second.outcome, second.fate.word()), ("returned", "by return"));
            // As far as the clocks are known.
            let off = offsets.all[1].uncertainty.unwrap() as i64;
            assert!((second.made.begin - 2000).abs() <= off, "{} +-{off}", second.made.begin);
            assert_eq!(waterfall.left_out, 0);
        }
        // Where there is no room for what was called within.
        let (all, _) = query.waterfalls(Bounds { outermost: 1, within: 1 }).unwrap();
        assert_eq!((all.len(), all[0].spans.len(), all[0].left_out), (1, 1, 1));
    });
}

/// The slowest outermost calls are shown, and the slowest one of each method besides.
#[test]
fn the_slowest_call_of_each_method_is_shown() {
    let mut machine = Machine { threads: vec![("main", None)], ..Machine::default() };
    for serial in 1..6i16 {
        let begin = 10_000 * serial as u64;
        let ns = if serial == 1 { 10 } else { 100 * serial as u64 };
        let times = [begin, begin + 1, begin + ns - 1, begin + ns];
        // The first one is another method, and faster than all others.
        let method = if serial == 1 { 0 } else { 2 };
        machine.calls.push(RemoteCall { method, failed: serial == 5, ..call(Made, serial, 1, 1, times) });
    }
    with(&[machine], |remote| {
        let Remote { parties, matching, nesting, offsets, .. } = *remote;
        let query = Query { parties, matching, nesting, offsets, internals: false };
        let (all, outermost) = query.waterfalls(Bounds { outermost: 2, within: 5 }).unwrap();
        let ns: Vec<_> = all.iter().map(|of| of.spans[0].made.ns.unwrap()).collect();
        assert_eq!((ns, outermost), (vec![500, 400, 10], 5));
        assert_eq!((all[0].spans[0].outcome, all[0].spans[0].served.as_ref()), ("failed", None));
        let found = services(parties, matching, nesting, false).unwrap();
        let (made, failed): (u64, u64) =
            found.all.iter().fold((0, 0), |sum, (_, of)| (sum.0 + of.made, sum.1 + of.failed));
        assert_eq!((made, failed, found.all.len()), (5, 1, 2));
    });
}
