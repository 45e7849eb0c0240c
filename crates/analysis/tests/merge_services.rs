//! Which service calls which, and the slowest calls one by one.

use crate::common::machines::{Machine, call, chain, with};
use RemoteCallKind::{Made, Served};
use instrument_analysis::export::remote::Remote;
use instrument_analysis::merge::Peer;
use instrument_analysis::merge::services::{Figures, Service, services};
use instrument_analysis::merge::waterfalls::{Bounds, Query, Span};
use instrument_trace::{ObjId, RemoteCall, RemoteCallKind};

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
            let ends = (first.client, first.server);
            assert_eq!((first.parent, first.depth, ends), (None, 0, (Peer::Party(0), Peer::Party(1))));
            assert_eq!((second.parent, second.depth, second.client), (Some(0), 1, Peer::Party(1)));
            let (made, within) = (first.made.as_ref().unwrap(), second.made.as_ref().unwrap());
            assert_eq!((made.begin, made.ns, first.between()), (0, Some(8000), Some(1900)));
            let served = second.served.as_ref().unwrap();
            assert_eq!((within.ns, served.ns, second.between()), (Some(4100), Some(2100), Some(2000)));
            assert_eq!((made.thread.as_str(), served.thread.as_str()), ("main", "rmi"));
            assert_eq!((second.outcome, second.match_state.word()), ("returned", "by return"));
            // As far as the clocks are known.
            let off = offsets.all[1].uncertainty.unwrap() as i64;
            assert!((within.begin - 2000).abs() <= off, "{} +-{off}", within.begin);
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
        let ns: Vec<_> = all.iter().map(|of| of.spans[0].made.as_ref().unwrap().ns.unwrap()).collect();
        assert_eq!((ns, outermost), (vec![500, 400, 10], 5));
        assert_eq!((all[0].spans[0].outcome, all[0].spans[0].served.as_ref()), ("failed", None));
        let found = services(parties, matching, nesting, false).unwrap();
        let (made, failed): (u64, u64) =
            found.all.iter().fold((0, 0), |sum, (_, of)| (sum.0 + of.made, sum.1 + of.failed));
        assert_eq!((made, failed, found.all.len()), (5, 1, 2));
    });
}

/// Who made and who served what, whatever one side alone knows of it: methods without names by their hash or operation.
#[test]
fn calls_that_one_side_knows_are_added_up_by_their_method() {
    let at =
        |serial: u64, ns: u64| [1000 * serial, 1000 * serial + 1, 1000 * serial + ns - 1, 1000 * serial + ns];
    let made = |serial: i16, ns: u64| call(Made, serial, 1, 1, at(serial as u64, ns));
    let served = |serial: i16, ns: u64| call(Served, serial, 2, 1, at(serial as u64, ns));
    let unnamed =
        |call: RemoteCall, hash: i64, operation: i32| RemoteCall { method: 0, hash, operation, ..call };
    let client = vec![
        made(1, 900),
        RemoteCall { threw: true, hash: 78, ..made(2, 300) },
        unnamed(made(3, 80), 1, -1),
        RemoteCall { failed: true, ..unnamed(made(4, 70), 1, -1) },
        unnamed(made(5, 60), 2, -1),
        RemoteCall { end: 0, ..unnamed(made(6, 50), 3, 4) },
        RemoteCall { object: ObjId::DGC, ..made(7, 40) },
    ];
    let server = vec![
        RemoteCall { threw: true, ..served(1, 800) },
        RemoteCall { method: 3, no_such_object: true, ..served(11, 35) },
        RemoteCall { method: 3, failed: true, ..served(12, 25) },
        RemoteCall { method: 3, ..served(13, 15) },
        RemoteCall { object: ObjId::DGC, ..served(14, 5) },
    ];
    let machine = |calls| Machine { threads: vec![("main", None)], calls, ..Machine::default() };
    with(&[machine(client), machine(server)], |remote| {
        let Remote { parties, matching, nesting, .. } = *remote;
        let rows = |internals| {
            let found = services(parties, matching, nesting, internals).unwrap();
            let row = |(of, sum): &(Service, Figures)| {
                assert_eq!((of.client, of.server), (Peer::Party(0), Peer::Party(1)));
                let calls = [sum.made, sum.served, sum.matched, sum.failed];
                (of.method.clone(), calls, [sum.client_ns, sum.client_max, sum.server_ns, sum.server_max])
            };
            found.all.iter().map(row).collect::<Vec<_>>()
        };
        let shop = |method: &str| format!("com.acme.Shop.{method}");
        let expected = [
            (shop("sell(I)V"), [1, 1, 1, 0], [900, 900, 800, 800]),
            // The client does not know the object's class.
            ("sell(I)V".to_owned(), [1, 0, 0, 1], [300, 300, 0, 0]),
            ("(method 0000000000000001)".to_owned(), [2, 0, 0, 1], [150, 80, 0, 0]),
            (shop("buy(J)V"), [0, 3, 0, 2], [0, 0, 75, 35]),
            ("(method 0000000000000002)".to_owned(), [1, 0, 0, 0], [60, 60, 0, 0]),
            ("(operation 4)".to_owned(), [1, 0, 0, 0], [0; 4]),
        ];
        assert_eq!(rows(false), expected);
        let internal: u64 = rows(true).iter().map(|(_, [made, served, ..], _)| made + served).sum();
        assert_eq!(internal, 7 + 5, "{:?}", rows(true));
    });
}

/// Five calls through four machines, on one clock: what each calls stands below the call that it served, as many as there is room for.
#[test]
fn what_was_called_within_stands_in_its_place_as_far_as_there_is_room() {
    let times = |begin: u64, end: u64| [begin, begin + 1, end - 1, end].map(|at| 5000 + at);
    let made = |serial, begin, end| call(Made, serial, 1, 1, times(begin, end));
    let served = |serial, begin, end| call(Served, serial, 2, 1, times(begin, end));
    let of = |calls: &[RemoteCall]| Machine {
        threads: vec![("main", None)],
        calls: calls.to_vec(),
        ..Machine::default()
    };
    let machines = [
        of(&[made(1, 0, 1000)]),
        of(&[served(1, 100, 900), made(2, 200, 800), made(4, 810, 850)]),
        of(&[served(2, 300, 700), made(3, 400, 600), made(5, 610, 690)]),
        of(&[served(3, 450, 550)]),
    ];
    type Told = (Vec<(Option<usize>, usize, u64)>, u64);
    let told = |machines: &[Machine], within: usize| -> Told {
        with(machines, |remote| {
            let Remote { parties, matching, nesting, offsets, .. } = *remote;
            let query = Query { parties, matching, nesting, offsets, internals: false };
            let (all, outermost) = query.waterfalls(Bounds { outermost: 1, within }).unwrap();
            let [of] = &all[..] else { panic!("{all:?}") };
            let made = |span: &Span| span.made.clone().unwrap();
            assert_eq!((outermost, of.at, made(&of.spans[0]).begin), (1, 5000, 0));
            let span = |span: &Span| (span.parent, span.depth, made(span).ns.unwrap());
            (of.spans.iter().map(span).collect(), of.left_out)
        })
    };
    let (first, second, third) = ((None, 0, 1000), (Some(0), 1, 600), (Some(1), 2, 200));
    let (fourth, fifth) = ((Some(0), 1, 40), (Some(1), 2, 80));
    assert_eq!(told(&machines, 5), (vec![first, second, third, fifth, fourth], 0));
    assert_eq!(told(&machines, 4), (vec![first, second, third, fourth], 1));
    assert_eq!(told(&machines, 3), (vec![first, second, fourth], 2));
    assert_eq!(told(&machines, 2), (vec![first, second], 3));
    // What the runtime calls within is not there, and takes no room.
    let mut with_collector = machines.clone();
    let collector = RemoteCall { object: ObjId::DGC, ..made(6, 150, 160) };
    with_collector[1].calls.insert(1, collector);
    assert_eq!(told(&with_collector, 3), (vec![first, second, fourth], 2));
    // What is read first has the room; where the call between is left out, a call stands below the next one up.
    let [a, b, c, d] = machines;
    let (third, fifth) = ((Some(0), 1, 200), (Some(0), 1, 80));
    assert_eq!(told(&[c.clone(), d.clone(), b.clone(), a.clone()], 3), (vec![first, third, fifth], 2));
    assert_eq!(told(&[d, c, b, a], 2), (vec![first, third], 3));
}
