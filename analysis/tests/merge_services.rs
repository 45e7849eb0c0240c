//! Which service calls which, and the slowest calls one by one.

use crate::common::machines::{Machine, call, chain, with};
use RemoteCallKind::Made;
use instrument_analysis::export::remote::Remote;
use instrument_analysis::merge::Peer;
use instrument_analysis::merge::services::services;
use instrument_analysis::merge::waterfalls::{Bounds, Query};
use instrument_trace::{RemoteCall, RemoteCallKind};

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
