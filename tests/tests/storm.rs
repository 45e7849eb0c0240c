//! Storms of remote calls between real virtual machines of several versions: who called whom is known from serial numbers that both sides wrote
//! down, and `merge` has to find the same, or to say why not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use instrument_analysis::merge::{MatchState, Matching, Numbers, Party, Reason, match_calls};
use instrument_tests::corpus::Corpus;
use instrument_tests::rmi::{
    Recorded, Running, TRANSFORMS, all_are_listed, free_port, java, jre, pairs, profile,
};
use instrument_trace::{ObjId, RemoteCall, RemoteCallKind, Side};

/// What the storm's own methods are called; all others are the runtime's, or the marks of threads.
const METHODS: [&str; 4] = ["call(", "cell(", "hit(", "back("];

struct Storm {
    record: &'static str,
    clients: usize,
    threads: usize,
    calls: usize,
}

/// Serial numbers by the number of the thread's mark: of calls made, and of calls served.
type Log = BTreeMap<i64, [Vec<i64>; 2]>;

fn log(said: &str) -> Result<Log> {
    let mut log = Log::new();
    for line in said.lines() {
        let mut words = line.split(' ');
        let (Some(mark), Some(side)) = (words.next(), words.next()) else { continue };
        let side =
            ["made", "served"].iter().position(|name| *name == side).with_context(|| line.to_owned())?;
        let serials = words.map(str::parse).collect::<Result<Vec<i64>, _>>()?;
        log.entry(mark.parse()?).or_default()[side] = serials;
    }
    Ok(log)
}

impl Storm {
    fn run(&self, folder: &Path) -> Result<Vec<(String, Log)>> {
        let port = free_port().to_string();
        let options = format!("{TRANSFORMS},record={}", self.record);
        // References are renewed, and connections given up, all the time; but no lease runs out on a busy machine.
        let restless =
            ["-Djava.rmi.dgc.leaseValue=6000", "-Dsun.rmi.transport.connectionTimeout=15", "-Xmx96m"];
        let start = |name: &str, index: usize, more: &[&str]| {
            let mut java = java(&jre(index), Some(&options), name, folder)?;
            java.args(restless).args(["StormServer", &port, name]).args(more);
            Running::start(java, name, folder)
        };
        let servers = [("a", start("a", 1, &["b", "registry"])?), ("b", start("b", 3, &["a"])?)];
        let mut clients = Vec::new();
        for index in 0..self.clients {
            let name = format!("c{index}");
            let mut java = java(&jre(2 * index), Some(&options), &name, folder)?;
            java.args(restless).args(["StormClient", &port, &index.to_string()]);
            java.args([self.threads.to_string(), self.calls.to_string()]);
            if index > 0 {
                java.arg(free_port().to_string());
            }
            let errors = File::create(folder.join(format!("{name}.err")))?;
            clients.push((name, java.stdout(Stdio::piped()).stderr(errors).spawn()?));
        }
        let mut logs = Vec::new();
        for (name, mut client) in clients {
            let mut said = String::new();
            client.stdout.take().context("a pipe")?.read_to_string(&mut said)?;
            client.wait()?;
            let rest = said.strip_prefix("0 wrong\n");
            let errors = std::fs::read_to_string(folder.join(format!("{name}.err")))?;
            ensure!(errors.is_empty(), "{name}: {errors}");
            logs.push((name, log(rest.context(said.clone())?)?));
        }
        for (name, server) in servers {
            let (said, errors) = server.stop()?;
            ensure!(errors.is_empty(), "{name}: {errors}");
            logs.push((name.to_owned(), log(&said)?));
        }
        Ok(logs)
    }
}

fn side(call: &RemoteCall) -> usize {
    usize::from(call.kind == RemoteCallKind::Served)
}

/// The serial number of every call that has one, by side and place among the calls of that side.
fn serials(recorded: &Recorded, log: &Log) -> Result<[BTreeMap<u32, i64>; 2]> {
    let is_mark =
        |call: &&RemoteCall| call.kind == RemoteCallKind::Made && recorded.method(call) == "mark()V";
    let marks = recorded.calls.iter().filter(is_mark);
    let threads: BTreeMap<u32, i64> = marks.map(|call| (call.thread, call.object.number)).collect();
    ensure!(threads.len() == log.len(), "{} threads, {} with a log", threads.len(), log.len());
    let (mut serials, mut rows) = ([BTreeMap::new(), BTreeMap::new()], [0, 0]);
    let mut calls = Vec::new();
    for call in &recorded.calls {
        calls.push((call, rows[side(call)]));
        rows[side(call)] += 1;
    }
    // Places in the file are used again: what comes first in it need not have been first.
    calls.sort_by_key(|(call, _)| call.begin);
    let mut passed: BTreeMap<(u32, usize), usize> = BTreeMap::new();
    for (call, row) in calls {
        let side = side(call);
        if METHODS.iter().any(|method| recorded.method(call).starts_with(method)) {
            let mark = threads.get(&call.thread).with_context(|| format!("{call:?}"))?;
            let next = passed.entry((call.thread, side)).or_default();
            let serial =
                log[mark][side].get(*next).with_context(|| format!("one more than were made: {call:?}"))?;
            *next += 1;
            serials[side].insert(row, *serial);
        }
    }
    let all: usize = log.values().map(|sides| sides[0].len() + sides[1].len()).sum();
    ensure!(serials[0].len() + serials[1].len() == all, "calls without a record");
    Ok(serials)
}

/// What was recorded, and what `merge` makes of it.
struct Weather {
    names: Vec<String>,
    processes: Vec<Recorded>,
    /// By process.
    serials: Vec<[BTreeMap<u32, i64>; 2]>,
    matching: Matching,
    numbers: Numbers,
}

impl Weather {
    fn of(folder: &Path, logs: &[(String, Log)]) -> Result<Weather> {
        let names: Vec<String> = logs.iter().map(|(name, _)| name.clone()).collect();
        let processes = names.iter().map(|name| Recorded::of(folder, name)).collect::<Result<Vec<_>>>()?;
        let serials = processes
            .iter()
            .zip(logs)
            .map(|(recorded, (name, log))| serials(recorded, log).with_context(|| name.clone()));
        let serials = serials.collect::<Result<Vec<_>>>()?;
        let sources =
            names.iter().map(|name| Ok(File::open(profile(folder, name)?)?)).collect::<Result<Vec<_>>>()?;
        let parties: Vec<_> = (processes.iter().zip(&sources))
            .map(|(process, source)| Party { profile: &process.profile, source })
            .collect();
        let matching = match_calls(&parties)?;
        let numbers = Numbers::of(&matching);
        Ok(Weather { names, processes, serials, matching, numbers })
    }

    /// Checks every call, made or served, of every process. Returns how many of the storm's own were matched.
    fn check(&self) -> Result<usize> {
        let Matching { made, served, .. } = &self.matching;
        let mut right = 0;
        for (client, recorded) in self.processes.iter().enumerate() {
            let calls: Vec<&RemoteCall> = recorded.calls.iter().filter(|call| side(call) == 0).collect();
            for (at, row) in made.of(client).enumerate() {
                let serial = self.serials[client][0].get(&(at as u32));
                let Some(partner) = made.partner(row) else {
                    let MatchState::Unmatched(reason) = made.match_state(row) else {
                        panic!("{:?}", calls[at])
                    };
                    // All of them were recorded from beginning to end: only calls that the end of a process cut off have no other side, or are of
                    // the collector, which every process has, and of which nothing else tells whose it is.
                    let is_lost = match reason {
                        Reason::FailedBeforeSending | Reason::NotDispatched | Reason::InFlight => true,
                        Reason::AmbiguousConnection => calls[at].object == ObjId::DGC,
                        // Sent to a process that ended before it had accepted the connection.
                        Reason::PeerNotRecorded => calls[at].object == ObjId::DGC && calls[at].failed,
                        _ => false,
                    };
                    ensure!(is_lost && calls[at].return_id.is_none(), "{reason:?}: {:?}", calls[at]);
                    ensure!(serial.is_none(), "{serial:?} has no other side: {reason:?}, {:?}", calls[at]);
                    continue;
                };
                let server = served.party(partner);
                let place = partner - served.of(server).start;
                let other = self.serials[server][1].get(&place);
                // A server does not know the method of an object that is gone.
                let is_gone = calls[at].no_such_object && other.is_none();
                ensure!(serial == other || is_gone, "{serial:?} was matched with {other:?}: {:?}", calls[at]);
                right += usize::from(serial.is_some());
            }
        }
        for (server, serials) in self.serials.iter().enumerate() {
            for (&place, serial) in &serials[1] {
                let row = served.of(server).start + place;
                ensure!(
                    served.partner(row).is_some(),
                    "{serial} was served for nobody: {:?}",
                    served.match_state(row)
                );
            }
        }
        Ok(right)
    }

    /// What the records of the two sides say of each other, whatever merge makes of them; and that everything is there that makes it hard.
    fn is_hard(&self) -> Result<()> {
        let pairs = pairs(&self.processes)?;
        let mut methods = BTreeSet::new();
        for [made, served] in &pairs {
            let (client, server) = (&self.processes[made.0].calls[made.1], &self.processes[served.0]);
            ensure!(!client.failed && !server.calls[served.1].failed, "{client:?}");
            methods.insert(server.method(&server.calls[served.1]).split('(').next().unwrap_or_default());
        }
        for method in
            ["call", "cell", "hit", "back", "mark", "lookup", "list", "rebind", "dirty", "clean", ""]
        {
            ensure!(methods.contains(method), "{method} is not among {methods:?}");
        }
        let is_own = |recorded: &Recorded, call: &RemoteCall| recorded.method(call).starts_with("call(");
        let thrown = |process: &Recorded, kind: RemoteCallKind| {
            process
                .calls
                .iter()
                .filter(|call| call.kind == kind && call.threw && is_own(process, call))
                .count()
        };
        for (name, process) in self.names.iter().zip(&self.processes) {
            ensure!(thrown(process, RemoteCallKind::Made) > 0, "{name}: nothing was thrown");
            let connections = &process.profile.connections;
            let most = connections.iter().map(|connection| connection.incarnation).max();
            if name != "c0" {
                ensure!(most > Some(1), "{name}: no port was used again: {most:?}");
            }
            // Every socket is known, and the last connection with its ports tells how many there were.
            let accepted = connections.iter().filter(|of| of.side == Side::Accepted);
            for of in accepted {
                ensure!(of.accepted >= of.incarnation, "{name}: {of:?}");
            }
        }
        Ok(())
    }
}

fn storm(storm: &Storm) -> Result<Weather> {
    let folder = tempfile::tempdir()?;
    let logs = storm.run(folder.path())?;
    let weather = Weather::of(folder.path(), &logs)?;
    let right = weather.check()?;
    weather.is_hard()?;
    let files = weather.names.iter().map(|name| profile(folder.path(), name)).collect::<Result<Vec<_>>>()?;
    all_are_listed(&files, &[])?;
    all_are_listed(&files, &["--links"])?;
    all_are_listed(&files, &["--internals"])?;
    let all: usize = logs.iter().flat_map(|(_, log)| log.values()).map(|sides| sides[0].len()).sum();
    assert_eq!(right, all);
    let Numbers { made, served, unmatched, .. } = &weather.numbers;
    println!(
        "{}: {} made, {} served, {} matched, {right} of them with a serial number; {unmatched:?}",
        storm.record,
        made.iter().sum::<u64>(),
        served.iter().sum::<u64>(),
        weather.numbers.all_matched(),
    );
    Ok(weather)
}

#[test]
fn thousands_of_calls_are_matched_by_nothing_but_what_they_are() -> Result<()> {
    // Fifty thousand calls take a minute of processor time.
    let calls = if Corpus::full() { 1180 } else { 80 };
    let weather = storm(&Storm { record: "tree", clients: 3, threads: 8, calls })?;
    let all: usize = weather.serials.iter().map(|sides| sides[0].len()).sum();
    ensure!(all >= 42 * calls, "{all}");
    Ok(())
}

#[test]
fn traces_tell_the_same() -> Result<()> {
    storm(&Storm { record: "trace", clients: 2, threads: 3, calls: 200 })?;
    Ok(())
}
