//! OpenTelemetry spans as JSON (OTLP 1.x, `ExportTraceServiceRequest`): a client's span for each remote call made, a
//! server's for each one served, one trace for each outermost call.
//!
//! A line is one request; more than [`AT_ONCE`] spans take several, as the collector's file receiver reads them. Each
//! process is a resource. Ids follow from the process and the number of the call in its profile: the same profiles give
//! the same bytes.

use super::otlp_resource;
use super::remote::{Remote, connections, object};
use super::trace::Error;
use crate::hash::HashMap;
use crate::load::thread_rows;
use crate::merge::calls::{MatchState, full_name, grpc_status, is_internal};
use instrument_names::signature::readable;
use instrument_trace::{Connection, Http, Profile, Protocol, RemoteCall, RemoteCallKind, Source, ThreadKind};
use serde::Serialize;
use std::io::{self, Write};

/// Spans of a request.
const AT_ONCE: usize = 8192;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Span {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: String,
    kind: u32,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Attribute>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
}

#[derive(Serialize)]
pub(super) struct Attribute {
    key: &'static str,
    value: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Value {
    StringValue(String),
    /// As text: JSON's numbers have no room for all of them.
    IntValue(String),
}

#[derive(Serialize)]
struct Status {
    message: &'static str,
    code: u32,
}

#[derive(Serialize)]
pub(super) struct Resource {
    attributes: Vec<Attribute>,
}

const SERVER: u32 = 2;
const CLIENT: u32 = 3;
const PRODUCER: u32 = 4;
const CONSUMER: u32 = 5;
const ERROR: u32 = 2;

pub(super) fn text(key: &'static str, value: impl Into<String>) -> Attribute {
    Attribute { key, value: Value::StringValue(value.into()) }
}

fn number(key: &'static str, value: impl ToString) -> Attribute {
    Attribute { key, value: Value::IntValue(value.to_string()) }
}

/// Writes the calls of all processes; `programs` are what they are called. `internals`: those of the runtime's own,
/// too.
///
/// # Errors
/// Those of the sources and of `out`.
pub fn write<S: Source>(
    remote: &Remote<'_, S>,
    programs: &[String],
    internals: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let seeds = remote.parties.iter().map(|party| seed(party.profile)).collect();
    let mut requests = Requests { out, all: 0, spans: 0, resource: None, resources: 0 };
    for (party, program) in programs.iter().enumerate() {
        requests.resource(resource(remote.parties[party].profile, program))?;
        let process = Process::new(remote, &seeds, party, internals);
        let mut failed = None;
        remote.parties[party].visit(remote.matching.rows(party), |row, call| {
            let span = process.span(row, call);
            if let (Some(span), None) = (span, &failed) {
                failed = requests.span(&span).err();
            }
        })?;
        failed.map_or(Ok(()), Err)?;
    }
    requests.finish()
}

/// Writes spans as requests.
struct Requests<'o> {
    out: &'o mut dyn Write,
    /// How many are in this request, and in its last resource.
    all: usize,
    spans: usize,
    /// Of the spans that follow.
    resource: Option<String>,
    /// How many have begun in this request.
    resources: usize,
}

impl Requests<'_> {
    fn resource(&mut self, resource: Resource) -> Result<(), Error> {
        self.end_resource()?;
        self.resource = Some(serde_json::to_string(&resource).map_err(io::Error::from)?);
        self.begin_resource()
    }

    fn begin_resource(&mut self) -> Result<(), Error> {
        let Some(resource) = &self.resource else { return Ok(()) };
        let separator = if self.resources == 0 { "{\"resourceSpans\":[" } else { "," };
        self.resources += 1;
        let scope = concat!("{\"name\":\"instrument\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}");
        let spans = "\"spans\":[";
        write!(self.out, "{separator}{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{scope},{spans}")?;
        self.spans = 0;
        Ok(())
    }

    fn end_resource(&mut self) -> Result<(), Error> {
        if self.resource.is_some() {
            write!(self.out, "]}}]}}")?;
        }
        Ok(())
    }

    fn span(&mut self, span: &Span) -> Result<(), Error> {
        if self.all == AT_ONCE {
            self.end_resource()?;
            writeln!(self.out, "]}}")?;
            (self.resources, self.all) = (0, 0);
            self.begin_resource()?;
        }
        if self.spans > 0 {
            write!(self.out, ",")?;
        }
        (self.spans, self.all) = (self.spans + 1, self.all + 1);
        Ok(serde_json::to_writer(&mut *self.out, span).map_err(io::Error::from)?)
    }

    fn finish(mut self) -> Result<(), Error> {
        self.end_resource()?;
        if self.resource.is_none() {
            write!(self.out, "{{\"resourceSpans\":[")?;
        }
        Ok(writeln!(self.out, "]}}")?)
    }
}

/// Makes the spans of one process.
struct Process<'a, S> {
    remote: &'a Remote<'a, S>,
    seeds: &'a Vec<u64>,
    party: usize,
    internals: bool,
    connections: HashMap<(u32, u32), &'a Connection>,
    threads: HashMap<(u32, u32), String>,
    /// The last known moment.
    last: u64,
}

impl<'a, S: Source> Process<'a, S> {
    fn new(remote: &'a Remote<'a, S>, seeds: &'a Vec<u64>, party: usize, internals: bool) -> Self {
        let profile = remote.parties[party].profile;
        let threads = profile.threads.iter().zip(thread_rows::single(profile));
        let threads = threads.filter(|(thread, _)| thread.kind == ThreadKind::Thread);
        Process {
            remote,
            seeds,
            party,
            internals,
            connections: connections(profile),
            threads: threads.map(|(thread, name)| ((thread.copy, thread.ordinal), name)).collect(),
            last: remote.nesting.last_moment(party),
        }
    }

    /// The span of a call; none if it is not wanted.
    fn span(&self, row: u32, call: &RemoteCall) -> Option<Span> {
        let is_made = call.kind == RemoteCallKind::Made;
        if is_internal(call) && !self.internals {
            return None;
        }
        let (matching, nesting) = (self.remote.matching, self.remote.nesting);
        let (name, signature, match_state, parent) = if is_made {
            let within = nesting.within(row).filter(|&served| self.shows(served));
            let parent = within.map(|served| self.id(false, served));
            (
                nesting.name_of_made(row),
                nesting.signature_of_made(row),
                matching.made.match_state(row),
                parent,
            )
        } else {
            let parent = matching.served.partner(row).map(|made| self.id(true, made));
            (
                nesting.name_of_served(row),
                nesting.signature_of_served(row),
                matching.served.match_state(row),
                parent,
            )
        };
        let end = if call.end == 0 { self.last } else { call.end }.max(call.begin);
        let time = |clock: u64| {
            let offsets = self.remote.offsets;
            offsets.time_of_day(offsets.to_root(self.party, clock)).to_string()
        };
        Some(Span {
            trace_id: self.trace(is_made, row),
            span_id: hex(self.id(is_made, row)),
            parent_span_id: parent.map(hex),
            name: span_name((name.0, &readable(signature).unwrap_or_else(|| name.1.to_owned())), call),
            kind: match (is_made, call.is_message()) {
                (true, false) => CLIENT,
                (false, false) => SERVER,
                (true, true) => PRODUCER,
                (false, true) => CONSUMER,
            },
            start_time_unix_nano: time(call.begin),
            end_time_unix_nano: time(end),
            attributes: self.attributes(call, name, is_made, match_state),
            status: status(call),
        })
    }

    fn attributes(
        &self,
        call: &RemoteCall,
        (service, method): (&str, &str),
        is_made: bool,
        match_state: MatchState,
    ) -> Vec<Attribute> {
        let mut attributes = match call.http {
            Some(http) if http.protocol == Protocol::Grpc => grpc(http, method),
            Some(_) if call.is_message() => message(method, is_made),
            Some(http) => request(http, method),
            None => remote_method("java_rmi", service, method),
        };
        if let Some(connection) = self.connections.get(&(call.copy, call.connection)) {
            let local = (connection.local, connection.local_port);
            let peer = (connection.remote, connection.remote_port);
            let keys = [
                ("server.address", "server.port", if is_made { peer } else { local }),
                ("network.peer.address", "network.peer.port", peer),
            ];
            let client = (!is_made).then_some(("client.address", "client.port", peer));
            for (address_key, port_key, (address, port)) in keys.into_iter().chain(client) {
                if !address.is_unspecified() {
                    attributes.push(text(address_key, address.to_string()));
                }
                attributes.push(number(port_key, port));
            }
        }
        let copy = self.remote.parties[self.party].profile.copies.get(&call.copy);
        let host = copy.and_then(|copy| copy.class_names.get(&call.host));
        if let Some(host) = host.filter(|_| is_made) {
            attributes.push(text("server.address", host));
            attributes.push(number("server.port", call.port));
        } else if let Some(host) = host.filter(|_| call.http.is_some()) {
            attributes.push(text("client.address", host));
        }
        if call.thread != 0 {
            attributes.push(number("thread.id", call.thread));
        }
        if let Some(name) = self.threads.get(&(call.copy, call.thread)) {
            attributes.push(text("thread.name", name));
        }
        if call.http.is_none() {
            attributes.push(text("instrument.rmi.object", object(call)));
        }
        let key = match (match_state, call.http.map(|http| http.protocol)) {
            (MatchState::Matched(_), None) => "instrument.rmi.matched",
            (_, None) => "instrument.rmi.unmatched",
            (MatchState::Matched(_), Some(Protocol::Http)) => "instrument.http.matched",
            (_, Some(Protocol::Http)) => "instrument.http.unmatched",
            (MatchState::Matched(_), Some(Protocol::Grpc)) => "instrument.grpc.matched",
            (_, Some(Protocol::Grpc)) => "instrument.grpc.unmatched",
            (MatchState::Matched(_), Some(Protocol::Jms)) => "instrument.jms.matched",
            (_, Some(Protocol::Jms)) => "instrument.jms.unmatched",
        };
        attributes.push(text(key, match_state.word()));
        if let Some(status) = status(call) {
            attributes.push(text("error.type", status.message));
        }
        if call.end == 0 {
            attributes.push(text("instrument.end", "the last known moment"));
        }
        attributes
    }

    fn shows(&self, served: u32) -> bool {
        self.internals || !self.remote.nesting.is_internal_served(served)
    }

    /// The outermost call that this one is part of has the id of the trace.
    fn trace(&self, is_made: bool, row: u32) -> String {
        let (matching, nesting) = (self.remote.matching, self.remote.nesting);
        let made = if is_made { Some(row) } else { matching.served.partner(row) };
        let (is_made, first) = match made.map(|made| nesting.outermost(made)) {
            Some(outermost) => match nesting.within(outermost) {
                // Nobody is known to have made it.
                Some(served) if self.shows(served) => (false, served),
                _ => (true, outermost),
            },
            None => (false, row),
        };
        let id = self.id(is_made, first);
        format!("{:016x}{id:016x}", mixed(id ^ 0x7472_6163_6569_6473).max(1))
    }

    fn id(&self, is_made: bool, row: u32) -> u64 {
        let matching = self.remote.matching;
        let rows = if is_made { &matching.made } else { &matching.served };
        let party = rows.party(row);
        let number = 2 * u64::from(row - rows.of(party).start) + u64::from(is_made);
        // Different numbers have different ids, none of them 0 but by the worst of luck.
        mixed(self.seeds[party].wrapping_add(number)).max(1)
    }
}

/// `Shop/sell(java.lang.String,int)`: as the conventions for remote calls have it, with what tells overloads apart.
fn span_name((service, method): (&str, &str), call: &RemoteCall) -> String {
    let method = full_name(("", method), call);
    if service.is_empty() { method } else { format!("{service}/{method}") }
}

/// The attributes of a remote method.
fn remote_method(system: &'static str, service: &str, method: &str) -> Vec<Attribute> {
    let known = [("rpc.service", service), ("rpc.method", method)];
    let known = known.into_iter().filter(|(_, value)| !value.is_empty());
    std::iter::once(("rpc.system", system)).chain(known).map(|(key, value)| text(key, value)).collect()
}

/// The attributes of a call by gRPC, which is called `shop.Orders/Place`.
fn grpc(http: Http, name: &str) -> Vec<Attribute> {
    let (service, method) = name.rsplit_once('/').unwrap_or(("", name));
    let mut attributes = remote_method("grpc", service, method);
    if http.status != 0 {
        attributes.push(number("rpc.grpc.status_code", http.status - 1));
    }
    attributes
}

/// The attributes of a message, which is called `queue orders`.
fn message(name: &str, is_sent: bool) -> Vec<Attribute> {
    let mut attributes = vec![
        text("messaging.system", "jms"),
        text("messaging.operation.type", if is_sent { "send" } else { "process" }),
    ];
    let destination = ["queue ", "topic "].into_iter().find_map(|kind| name.strip_prefix(kind));
    attributes.extend(destination.map(|name| text("messaging.destination.name", name)));
    attributes
}

/// The attributes of a request, which is called `GET /orders/?`.
fn request(http: Http, name: &str) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    // As the recorder names them: `GET /orders/*`, `(other method) /dav`, and `GET (others)` where there were too many
    // routes.
    if let Some((method, route)) = name
        .find(" /")
        .map(|at| (&name[..at], Some(&name[at + 1..])))
        .or_else(|| Some((name.strip_suffix(" (others)")?, None)))
    {
        let method = if method.starts_with('(') { "_OTHER" } else { method };
        attributes.push(text("http.request.method", method));
        attributes.extend(route.map(|route| text("http.route", route)));
    }
    if http.status != 0 {
        attributes.push(number("http.response.status_code", http.status));
    }
    attributes
}

fn status(call: &RemoteCall) -> Option<Status> {
    let message = if call.threw {
        "the method threw an exception"
    } else if call.no_such_object {
        "no such object"
    } else if call.failed {
        "the call failed"
    } else if let Some(status) = grpc_status(call) {
        status
    } else if call.has_error_status() {
        "the server answered with an error"
    } else {
        return None;
    };
    Some(Status { message, code: ERROR })
}

/// What ids of a process begin with.
fn seed(profile: &Profile) -> u64 {
    if profile.nonce != 0 {
        return mixed(profile.nonce);
    }
    mixed(mixed(profile.pid).wrapping_add(profile.start_ms)).wrapping_add(profile.start_clock)
}

/// splitmix64's finalizer: a permutation of all numbers.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn hex(id: u64) -> String {
    format!("{id:016x}")
}

pub(super) fn resource(profile: &Profile, program: &str) -> Resource {
    let attribute = |(key, value)| match value {
        otlp_resource::Value::Text(value) => text(key, value),
        otlp_resource::Value::Number(value) => number(key, value),
    };
    Resource { attributes: otlp_resource::attributes(profile, program).into_iter().map(attribute).collect() }
}
