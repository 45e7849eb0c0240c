//! Machines whose clocks differ, with calls from one to the other, as traces and what is read of them.

use std::net::{IpAddr, Ipv4Addr};

use RemoteCallKind::{Made, Served};
use instrument_analysis::export::remote::Remote;
use instrument_analysis::merge::{Nesting, Offsets, Party, match_calls};
use instrument_testing::{REMOTE_CALL, Script, Writer};
use instrument_trace::{Connection, Link, LinkKind, ObjId, Profile, RemoteCall, RemoteCallKind, Side, Uid};

pub(crate) const HOUR: u64 = 3_600_000_000_000;
/// What clocks begin with, so that they can be behind.
pub(crate) const BASE: u64 = 10 * HOUR;

/// A call at true times: of its beginning, when it was sent, when it returned, and of its end.
pub(crate) fn call(
    kind: RemoteCallKind,
    serial: i16,
    connection: u32,
    thread: u32,
    times: [u64; 4],
) -> RemoteCall {
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
pub(crate) struct Machine {
    pub(crate) threads: Vec<(&'static str, Option<Script>)>,
    pub(crate) calls: Vec<RemoteCall>,
    pub(crate) ahead: i64,
    /// Start, in ms since 1970.
    pub(crate) start_ms: u64,
}

impl Machine {
    pub(crate) fn file(&self, number: u64) -> Vec<u8> {
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
        writer.class_names(&[
            (1, "com.acme.Shop"),
            (2, "sell(I)V"),
            (3, "buy(J)V"),
            (4, "GET /orders/?"),
            (5, "shop.example"),
        ]);
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
pub(crate) fn chain() -> Vec<Machine> {
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
pub(crate) fn with<T>(machines: &[Machine], use_it: impl FnOnce(&Remote<'_, Vec<u8>>) -> T) -> T {
    let files: Vec<_> = machines.iter().zip(1..).map(|(machine, number)| machine.file(number)).collect();
    with_files(&files, use_it)
}

pub(crate) fn with_files<T>(files: &[Vec<u8>], use_it: impl FnOnce(&Remote<'_, Vec<u8>>) -> T) -> T {
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
