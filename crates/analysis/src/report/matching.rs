//! matching: which remote calls of several processes found their other side, and why the rest did not (seed 000, merge step).

use std::io::Write;

use serde_json::json;

use super::aligned::Aligned;
use super::{Error, Format, field};

use crate::merge::numbers::Matched;
use crate::merge::{AllStages, Numbers, Offsets, Peer, Reason};
use crate::text::quantity;

/// Writes the report; `names` are those of the processes. The CSV is of the calls alone, without times and clocks.
///
/// # Errors
/// The output failed.
pub fn write(
    out: &mut dyn Write,
    names: &[String],
    numbers: &Numbers,
    stages: &AllStages,
    offsets: &Offsets,
    format: Format,
) -> Result<(), Error> {
    match format {
        Format::Text => text(out, names, numbers, stages, offsets),
        Format::Json => Ok(writeln!(out, "{:#}", json(names, numbers, stages, offsets))?),
        Format::Csv => csv(out, names, numbers),
    }
}

/// The same as a value.
pub fn json(names: &[String], numbers: &Numbers, stages: &AllStages, offsets: &Offsets) -> serde_json::Value {
    let processes = names
        .iter()
        .enumerate()
        .map(|(at, name)| json!({"process": name, "made": numbers.made[at], "served": numbers.served[at]}));
    let matched = numbers.matched.iter().map(|(&(client, server), calls)| {
        json!({
            "client": client, "server": server, "calls": calls.all(),
            "by_return": calls.by_return, "by_place": calls.by_place, "by_ports": calls.by_ports,
            "by_header": calls.by_header,
            "by_id": calls.by_id,
            "also_received": calls.also_received,
        })
    });
    let unmatched = numbers.unmatched.iter().map(|(&(party, is_made, reason, peer), calls)| {
        let (peer, address) = match peer {
            Peer::Party(party) => (Some(party), None),
            Peer::Address(at) => (None, numbers.addresses.get(at)),
            Peer::Unknown => (None, None),
        };
        json!({
            "process": party, "side": side(is_made), "reason": reason.word(), "peer": peer, "address": address,
            "calls": calls,
        })
    });
    let stages = stages.iter().map(|(&(client, server), of)| {
        json!({
            "client": client, "server": server, "calls": of.calls, "client_ns": of.client, "server_ns": of.server,
            "marshalling_ns": of.marshalling, "network_ns": of.network, "unmarshalling_ns": of.unmarshalling,
            "service_ns": of.service, "returning_ns": of.returning,
        })
    });
    let clocks = offsets.all.iter().enumerate().map(|(at, offset)| {
        json!({
            "process": at, "offset_ns": offset.ns, "uncertainty_ns": offset.uncertainty,
            "placed_by": offset.placed.word(), "drifts": offset.is_drifting,
        })
    });
    json!({
        "stages": stages.collect::<Vec<_>>(),
        "root": offsets.root,
        "clocks": clocks.collect::<Vec<_>>(),
        "processes": processes.collect::<Vec<_>>(),
        "matched": matched.collect::<Vec<_>>(),
        "unmatched": unmatched.collect::<Vec<_>>(),
        "misplaced": numbers.misplaced,
        "unknown_kinds": numbers.unknown,
    })
}

fn other_side<'a>(peer: Peer, names: &'a [String], numbers: &'a Numbers) -> Option<&'a str> {
    match peer {
        Peer::Party(party) => Some(&names[party]),
        Peer::Address(at) => numbers.addresses.get(at).map(String::as_str),
        Peer::Unknown => None,
    }
}

fn side(is_made: bool) -> &'static str {
    if is_made { "made" } else { "served" }
}

fn text(
    out: &mut dyn Write,
    names: &[String],
    numbers: &Numbers,
    stages: &AllStages,
    offsets: &Offsets,
) -> Result<(), Error> {
    let (made, served) = (numbers.made.iter().sum::<u64>(), numbers.served.iter().sum::<u64>());
    let sum = numbers.all_matched();
    writeln!(
        out,
        "remote calls: {made} made, {served} served, {sum} matched; unmatched {} made, {} served",
        made - sum,
        numbers.unmatched_served()
    )?;
    if !numbers.matched.is_empty() {
        let ways = |calls: &Matched| {
            [
                calls.by_return,
                calls.by_place,
                calls.by_ports,
                calls.by_header,
                calls.by_id,
                calls.also_received,
            ]
        };
        let headers = ["by return", "by place", "by ports", "by header", "by id", "also received"];
        // Those ways by which some call was matched.
        let used: Vec<usize> = (0..headers.len())
            .filter(|&at| numbers.matched.values().any(|calls| ways(calls)[at] > 0))
            .collect();
        let headers = ["matched"].into_iter().chain(used.iter().map(|&at| headers[at]));
        let mut table = Aligned::new(headers.map(str::to_owned).collect(), "client -> server");
        for (&(client, server), calls) in &numbers.matched {
            let cells = [calls.all()].into_iter().chain(used.iter().map(|&at| ways(calls)[at]));
            let name = format!("{} -> {}", names[client], names[server]);
            table.row(cells.map(|count| count.to_string()).collect(), &name);
        }
        table.print(out, None)?;
    }
    if !numbers.unmatched.is_empty() {
        let headers = ["unmatched", "side", "reason"].map(str::to_owned);
        let mut table = Aligned::new(headers.into(), "recorded by (other side)");
        for (&(party, is_made, reason, peer), calls) in &numbers.unmatched {
            let cells = [calls.to_string(), side(is_made).to_owned(), reason.word().to_owned()];
            let peer = other_side(peer, names, numbers).unwrap_or("unknown");
            table.row(cells.into(), &format!("{} ({peer})", names[party]));
        }
        table.print(out, None)?;
        if numbers.unmatched.keys().any(|&(_, _, reason, _)| reason == Reason::PeerConnectionUnknown) {
            writeln!(
                out,
                "{}: a server that serves these methods does not say over which connections, because the classes of its JDK were not rewritten;\n\
                 rewrite its jar with --launcher-agent, or start it with the options of instrument jdk-patch, or with instrument run",
                Reason::PeerConnectionUnknown.word()
            )?;
        }
    }
    let no_key = |made: bool| numbers.unmatched.keys().any(|key| key.2 == Reason::NoKey && key.1 == made);
    let why = match (no_key(true), no_key(false)) {
        (true, _) => {
            "these calls have no traceparent header where they were recorded, and no message id and no place on a connection that both ends know; --propagate gives them a header"
        }
        (_, true) => {
            "these calls came without a traceparent header: from outside, or from a program that was recorded without --propagate"
        }
        _ => "",
    };
    if !why.is_empty() {
        writeln!(out, "{}: {why}", Reason::NoKey.word())?;
    }
    stage_table(out, names, stages)?;
    clocks(out, names, offsets)?;
    if numbers.misplaced > 0 {
        writeln!(out, "{} matched calls have different places on their connections", numbers.misplaced)?;
    }
    if numbers.unknown > 0 {
        writeln!(out, "{} calls of unknown kinds", numbers.unknown)?;
    }
    Ok(())
}

/// What a call's parts took, for each pair of processes.
fn stage_table(out: &mut dyn Write, names: &[String], stages: &AllStages) -> Result<(), Error> {
    if stages.is_empty() {
        return Ok(());
    }
    let headers = ["client", "server", "difference", "marshal", "network", "unmarshal", "service", "return"];
    let mut table =
        Aligned::new(headers.map(str::to_owned).into(), "times of whole calls, each on its own clock");
    for (&(client, server), of) in stages {
        let time = |ns: u64| quantity(ns as f64, "ns");
        let difference = quantity(of.client as f64 - of.server as f64, "ns");
        let cells = [
            time(of.client),
            time(of.server),
            difference,
            time(of.marshalling),
            quantity(of.network as f64, "ns"),
            time(of.unmarshalling),
            time(of.service),
            time(of.returning),
        ];
        table.row(cells.into(), &format!("{} -> {}", names[client], names[server]));
    }
    writeln!(out)?;
    table.print(out, None)?;
    Ok(())
}

/// Where there is something to compare.
fn clocks(out: &mut dyn Write, names: &[String], offsets: &Offsets) -> Result<(), Error> {
    if offsets.all.len() < 2 {
        return Ok(());
    }
    let headers = ["clock", "", "known by"].map(str::to_owned);
    let mut table = Aligned::new(headers.into(), &format!("ahead of {}", names[offsets.root]));
    for (offset, name) in offsets.all.iter().zip(names) {
        let sign = if offset.ns > 0 { "+" } else { "" };
        let ahead = format!("{sign}{}", quantity(offset.ns as f64, "ns"));
        let uncertainty =
            offset.uncertainty.map_or("?".to_owned(), |ns| format!("+-{}", quantity(ns as f64, "ns")));
        let by = if offset.is_drifting { "calls (drifts)" } else { offset.placed.word() };
        table.row(vec![ahead, uncertainty, by.to_owned()], name);
    }
    writeln!(out)?;
    table.print(out, None)?;
    if offsets.all.iter().any(|offset| offset.is_drifting) {
        writeln!(out, "clocks that drift fit at the moment of the call with the smallest round trip")?;
    }
    Ok(())
}

fn csv(out: &mut dyn Write, names: &[String], numbers: &Numbers) -> Result<(), Error> {
    writeln!(out, "process,side,peer,outcome,calls")?;
    for (&(client, server), calls) in &numbers.matched {
        let (client, server) = (field(&names[client]), field(&names[server]));
        let hows = [
            ("return", calls.by_return),
            ("place", calls.by_place),
            ("ports", calls.by_ports),
            ("header", calls.by_header),
            ("id", calls.by_id),
        ];
        for (how, count) in hows.into_iter().filter(|(_, count)| *count > 0) {
            writeln!(out, "{client},made,{server},by-{how},{count}")?;
            writeln!(out, "{server},served,{client},by-{how},{count}")?;
        }
    }
    for (&(client, server), calls) in numbers.matched.iter().filter(|(_, calls)| calls.also_received > 0) {
        let (client, server) = (field(&names[client]), field(&names[server]));
        writeln!(out, "{server},served,{client},also-received,{}", calls.also_received)?;
    }
    for (&(party, is_made, reason, peer), calls) in &numbers.unmatched {
        let peer = other_side(peer, names, numbers).map_or_else(String::new, field);
        writeln!(out, "{},{},{peer},{},{calls}", field(&names[party]), side(is_made), reason.word())?;
    }
    Ok(())
}
