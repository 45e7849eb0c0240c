//! remote: the remote calls of several processes: added up by who called what of whom, and single outermost calls with all that was called
//! within them. Times of a client and of a server are each of its own clock; moments are those of the root's.

use std::io::Write;

use instrument_names::signature::readable;
use serde_json::{Value, json};

use super::aligned::Aligned;
use super::machine::field;
use super::{Error, Format, Options};
use crate::merge::Peer;
use crate::merge::processes::RemoteCalls;
use crate::merge::services::Figures;
use crate::merge::waterfalls::{Bounds, End, Span, Waterfall};
use crate::text::quantity;
use instrument_names::printable::printable;

/// Rows of text unless asked for otherwise.
const TOP: usize = 20;
/// Outermost calls of text unless asked for otherwise.
const OUTERMOST: usize = 5;
/// The same of documents.
const MOST_OUTERMOST: usize = 50;
/// Calls of each of them.
const WITHIN: usize = 200;

/// How many single calls a report has.
pub fn bounds(options: &Options<'_>) -> Bounds {
    let usual = if options.format == Format::Text { OUTERMOST } else { MOST_OUTERMOST };
    Bounds { outermost: options.top.unwrap_or(usual), within: WITHIN }
}

/// Writes who called what of whom.
///
/// # Errors
/// The output failed.
pub fn write_services(out: &mut dyn Write, calls: &RemoteCalls, options: &Options<'_>) -> Result<(), Error> {
    let usual = if options.format == Format::Text { TOP } else { usize::MAX };
    let top = options.top.unwrap_or(usual);
    match options.format {
        Format::Json => Ok(writeln!(out, "{:#}", services(calls, top))?),
        Format::Csv => {
            let figures = "made,served,matched,failed,client_ns,client_max_ns,server_ns,server_max_ns,kind";
            writeln!(out, "client,server,method,{figures}")?;
            for (service, of) in calls.services.all.iter().take(top) {
                let [client, server] = [service.client, service.server].map(|peer| field(calls.name(peer)));
                let method = field(&service.method);
                let (made, served, matched, failed) = (of.made, of.served, of.matched, of.failed);
                let times =
                    [of.client_ns, of.client_max, of.server_ns, of.server_max].map(|ns| ns.to_string());
                writeln!(
                    out,
                    "{client},{server},{method},{made},{served},{matched},{failed},{},{}",
                    times.join(","),
                    service.kind()
                )?;
            }
            Ok(())
        }
        Format::Text => {
            if calls.services.all.is_empty() {
                return Ok(writeln!(out, "no remote calls")?);
            }
            let mut table = table(&[], "client -> server");
            for (&(client, server), of) in &calls.services.links {
                table.row(cells(of), &calls.arrow(client, server));
            }
            table.print_as(out, options)?;
            writeln!(out)?;
            let mut table = self::table(&["kind"], "method (client -> server)");
            for (service, of) in calls.services.all.iter().take(top) {
                let arrow = calls.arrow(service.client, service.server);
                let cells = [cells(of), vec![service.kind().to_owned()]].concat();
                table.exact(cells, &format!("{} ({arrow})", shown(&service.method)));
            }
            table.print_as(out, options)?;
            let left = calls.services.all.len().saturating_sub(top);
            if left > 0 {
                writeln!(out, "not shown: {left} past the first {top}")?;
            }
            Ok(())
        }
    }
}

/// Writes single outermost calls.
///
/// # Errors
/// The output failed.
pub fn write_calls(out: &mut dyn Write, calls: &RemoteCalls, options: &Options<'_>) -> Result<(), Error> {
    match options.format {
        Format::Json => Ok(writeln!(out, "{:#}", waterfalls(calls))?),
        Format::Csv => {
            writeln!(
                out,
                "outermost,depth,client,server,method,outcome,matched,thread,begin_ns,ns,server_thread,server_begin_ns,server_ns"
            )?;
            for (number, of) in calls.waterfalls.iter().enumerate() {
                for span in &of.spans {
                    let [client, server] = [span.client, span.server].map(|peer| field(calls.name(peer)));
                    let method = field(&span.method);
                    let ns = |end: &End| end.ns.map_or_else(String::new, |ns| ns.to_string());
                    let [made, served] = [&span.made, &span.served].map(|end| {
                        let columns = |end: &End| format!("{},{},{}", field(&end.thread), end.begin, ns(end));
                        end.as_ref().map_or_else(|| ",,".to_owned(), columns)
                    });
                    let (depth, outcome, matched) = (span.depth, span.outcome, span.match_state.word());
                    writeln!(
                        out,
                        "{number},{depth},{client},{server},{method},{outcome},{matched},{made},{served}"
                    )?;
                }
            }
            Ok(())
        }
        Format::Text => {
            writeln!(
                out,
                "{} of {} outermost calls: the slowest, and the slowest of each method",
                calls.waterfalls.len(),
                calls.outermost
            )?;
            calls.waterfalls.iter().try_for_each(|of| text(out, calls, of, options))
        }
    }
}

fn text(
    out: &mut dyn Write,
    calls: &RemoteCalls,
    of: &Waterfall,
    options: &Options<'_>,
) -> Result<(), Error> {
    let time = |ns: i64| quantity(ns as f64, "ns");
    let ns = |end: &End| end.ns.map_or_else(|| "open".to_owned(), |ns| quantity(ns as f64, "ns"));
    let first = of.spans.first().and_then(Span::begin);
    let thread = first.map_or("", |end| end.thread.as_str());
    writeln!(out, "\nat {} after the start, thread {}", time(of.at), printable(thread))?;
    let headers = ["begin", "client", "begin", "server", "outcome"].map(str::to_owned);
    let mut table = Aligned::new(headers.to_vec(), "call (client -> server)").with_text(1);
    for span in &of.spans {
        let none = || "-".to_owned();
        let ends = [&span.made, &span.served].into_iter().flat_map(|end| {
            let end = end.as_ref();
            [end.map_or_else(none, |end| time(end.begin)), end.map_or_else(none, ns)]
        });
        let cells = ends.chain([span.outcome.to_owned()]).collect();
        let arrow = calls.arrow(span.client, span.server);
        let indent = "| ".repeat(span.depth);
        table.exact(cells, &format!("{indent}{} ({arrow})", shown(&span.method)));
    }
    table.print_as(out, options)?;
    if of.left_out > 0 {
        writeln!(out, "not shown: {} calls within it", of.left_out)?;
    }
    Ok(())
}

/// The document of services; the first `top` methods.
pub fn services(calls: &RemoteCalls, top: usize) -> Value {
    let links = calls.services.links.iter().map(|(&(client, server), of)| {
        let mut row = figures(of);
        calls.parties(&mut row, client, server);
        row
    });
    let rows = calls.services.all.iter().take(top).map(|(service, of)| {
        let mut row = figures(of);
        calls.parties(&mut row, service.client, service.server);
        row["kind"] = json!(service.kind());
        row["method"] = json!(service.method);
        row["label"] = json!(shown(&service.method));
        row
    });
    json!({
        "report": "services",
        "processes": calls.labels,
        "links": links.collect::<Vec<_>>(),
        "all": calls.services.all.len(),
        "rows": rows.collect::<Vec<_>>(),
    })
}

/// The document of single calls.
pub fn waterfalls(calls: &RemoteCalls) -> Value {
    let end = |end: &End| json!({"thread": end.thread, "begin_ns": end.begin, "ns": end.ns});
    let span = |span: &Span| {
        let mut row = json!({
            "parent": span.parent,
            "depth": span.depth,
            "method": span.method,
            "label": shown(&span.method),
            "made": span.made.as_ref().map(end),
            "served": span.served.as_ref().map(end),
            "between_ns": span.between(),
            "outcome": span.outcome,
            "matched": span.match_state.word(),
        });
        calls.parties(&mut row, span.client, span.server);
        row
    };
    let rows = calls.waterfalls.iter().map(|of| {
        let spans: Vec<_> = of.spans.iter().map(span).collect();
        json!({"at_ns": of.at, "spans": spans, "left_out": of.left_out})
    });
    let clocks = calls.offsets.all.iter().map(|offset| json!({"uncertainty_ns": offset.uncertainty}));
    json!({
        "report": "calls",
        "processes": calls.labels,
        "root": calls.offsets.root,
        "clocks": clocks.collect::<Vec<_>>(),
        "outermost": calls.outermost,
        "rows": rows.collect::<Vec<_>>(),
    })
}

fn figures(of: &Figures) -> Value {
    json!({
        "made": of.made, "served": of.served, "matched": of.matched, "failed": of.failed,
        "client_ns": of.client_ns, "client_max_ns": of.client_max, "client_mean_ns": mean(of.client_ns, of.made),
        "server_ns": of.server_ns, "server_max_ns": of.server_max, "server_mean_ns": mean(of.server_ns, of.served),
    })
}

/// Rounded; none of nothing.
fn mean(ns: u64, calls: u64) -> Option<u64> {
    (calls > 0).then(|| (ns as f64 / calls as f64).round() as u64)
}

/// With columns of text behind the figures.
fn table(text: &[&str], name: &str) -> Aligned {
    let figures = ["made", "failed", "client", "mean", "max", "served", "server", "mean", "max"];
    let headers = figures.iter().chain(text).map(|&header| header.to_owned());
    Aligned::new(headers.collect(), name).with_text(text.len())
}

fn cells(of: &Figures) -> Vec<String> {
    let time = |calls: u64, ns: u64| if calls > 0 { quantity(ns as f64, "ns") } else { "-".to_owned() };
    let average = |calls: u64, ns: u64| mean(ns, calls).map_or_else(|| "-".to_owned(), |ns| time(calls, ns));
    vec![
        of.made.to_string(),
        of.failed.to_string(),
        time(of.made, of.client_ns),
        average(of.made, of.client_ns),
        time(of.made, of.client_max),
        of.served.to_string(),
        time(of.served, of.server_ns),
        average(of.served, of.server_ns),
        time(of.served, of.server_max),
    ]
}

/// A method as Java writes it.
fn shown(method: &str) -> String {
    readable(method).unwrap_or_else(|| method.to_owned())
}

impl RemoteCalls {
    fn name(&self, peer: Peer) -> &str {
        let known = match peer {
            Peer::Party(party) => self.labels.get(party),
            Peer::Address(at) => self.addresses.get(at),
            Peer::Unknown => None,
        };
        known.map_or("unknown", String::as_str)
    }

    fn arrow(&self, client: Peer, server: Peer) -> String {
        format!("{} -> {}", self.name(client), self.name(server))
    }

    /// Client and server as members: the numbers of processes, or else addresses.
    fn parties(&self, row: &mut Value, client: Peer, server: Peer) {
        for (key, peer) in [("client", client), ("server", server)] {
            let (party, address) = match peer {
                Peer::Party(party) => (Some(party), None),
                Peer::Address(at) => (None, self.addresses.get(at)),
                Peer::Unknown => (None, None),
            };
            row[key] = json!(party);
            if let Some(address) = address {
                row[format!("{key}_address")] = json!(address);
            }
        }
    }
}
