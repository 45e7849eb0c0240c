//! The way to every remote call: the calls that it was made within, over all processes.
//!
//! 1. read the served calls: their frames and durations;
//! 2. read the calls made: the context of each, and the call that its thread served at the time, by the clock that both
//!    share;
//! 3. the path of a call is the path of the call that it was made within, its context, and the frame that it was served
//!    under; a context that does not stand below the frame of the call that it was made within stands for that frame,
//!    or for its thread if that has none;
//! 4. read the calls made once more: their figures are added up by path.

use instrument_trace::{Error, Profile, RemoteCall, RemoteCallKind, Source};

use super::Party;
use super::calls::Matching;
use super::calls::{NONE, is_internal, is_route};
use super::receivers::Receivers;
use super::sites::{Frames, Sites};
use crate::hash::{HashMap, HashSet};
use crate::load::place::Places;
use crate::model::{Arcflow, NodeId};

/// Where the work that a call caused was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    /// Path of the call that it was made within, or [`NONE`].
    pub(crate) within: u32,
    /// The context that made it.
    pub(crate) site: NodeId,
    /// Index of the remote method in [`Paths::methods`].
    pub(crate) method: u32,
    /// Party that served it, or [`NONE`].
    pub(crate) server: u32,
    /// Frame that it was served under, or [`NONE`].
    pub(crate) frame: u32,
    /// It is one that the runtime makes for itself.
    pub(crate) is_internal: bool,
    /// It was made in a task that some served call caused, which of them is not known; `within` is [`NONE`].
    pub(crate) is_of_task: bool,
}

/// A path with the figures of its calls. ns of the client's and of the server's clock.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    pub(crate) way: Way,
    pub(crate) client: usize,
    /// Who sends a message does not wait for who receives it.
    pub(crate) is_message: bool,
    /// Calls that were made.
    pub(crate) made: u64,
    /// Calls that were served, or made and not known to be: a message may have several receivers.
    pub(crate) calls: u64,
    /// From beginning to end, as the client measured it.
    pub(crate) client_ns: u64,
    /// The same as the server measured it.
    pub(crate) server_ns: u64,
    /// What of that the calls made within them took, as the server measured them; without those of threads that are
    /// left out.
    pub(crate) nested_ns: u64,
    /// Time of calls of which both sides are known, less that of the server: network, marshalling.
    pub(crate) between_ns: i64,
}

/// Sums over the served calls of a frame.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Served {
    pub(crate) calls: u64,
    pub(crate) ns: u64,
    pub(crate) is_internal: bool,
    pub(crate) route: Route,
}

/// What requests by HTTP are that a frame served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Route {
    #[default]
    None,
    /// All have this name: its index in [`Paths::methods`].
    One(u32),
    /// They have several.
    Several,
}

impl Route {
    fn and(self, name: u32) -> Route {
        match self {
            Route::None => Route::One(name),
            Route::One(known) if known == name => self,
            _ => Route::Several,
        }
    }
}

/// The four stages of the calls between two parties, each on the clock of the process that it is in; in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stages {
    /// Calls of which everything is known.
    pub calls: u64,
    /// The client's, from beginning to end.
    pub client: u64,
    /// The server's.
    pub server: u64,
    /// The client writes the arguments.
    pub marshalling: u64,
    /// The client waits, less what the server did: the network, and what the server's machine did before and after.
    pub network: i64,
    /// The server reads the arguments.
    pub unmarshalling: u64,
    /// The method.
    pub service: u64,
    /// The server writes the return, and the client reads it.
    pub returning: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Paths {
    pub(crate) all: Vec<Path>,
    /// By frame.
    pub(crate) served: Vec<Served>,
    pub(crate) frames: Frames,
    /// Names of the remote methods, as `name(descriptor)`.
    pub(crate) methods: Vec<String>,
    /// By client and server.
    pub(crate) stages: std::collections::BTreeMap<(usize, usize), Stages>,
    /// Calls that were made within themselves, as it seems.
    pub(crate) circular: u64,
    /// By party: it made calls that are no part of what it served.
    pub(crate) makes_own: Vec<bool>,
}

/// What is kept of a served call.
#[derive(Debug, Clone, Copy)]
struct Service {
    frame: u32,
    link: u32,
    /// Of a request by HTTP: what its server calls it, as in [`Paths::methods`]; else [`NONE`].
    route: u32,
    total: u64,
    arguments: u64,
    method: u64,
    is_whole: bool,
}

/// What is kept of a call made.
#[derive(Debug, Clone, Copy)]
struct Origin {
    /// Row of the served call that it was made within, or [`NONE`].
    within: u32,
    site: NodeId,
    method: u32,
    is_internal: bool,
    path: u32,
}

/// The path of a call whose callers are being looked at.
const OPEN: u32 = NONE - 1;

impl Paths {
    pub(crate) fn new<S: Source>(
        parties: &[Party<'_, S>],
        matching: &Matching,
        places: &[Places],
        model: &Arcflow,
    ) -> Result<Paths, Error> {
        let mut paths = Paths { makes_own: vec![false; parties.len()], ..Paths::default() };
        let mut services = Vec::with_capacity(matching.served.len());
        let mut origins = Vec::with_capacity(matching.made.len());
        let mut methods = Methods::default();
        for (number, party) in parties.iter().enumerate() {
            let shared = links_of_threads(party)?;
            let mut sites = Sites::new(number, party.profile, &places[number], shared, &mut paths.frames);
            paths.served.resize(paths.frames.all.len(), Served::default());
            let until = last_moment(party.profile);
            party.visit(matching.rows(number), |_, call| {
                if call.kind == RemoteCallKind::Served {
                    let is_named = is_route(call);
                    let route = if is_named { methods.index(party.profile, call) } else { NONE };
                    let service = Service { route, ..Service::new(call, sites.served(call), until) };
                    if let Some(of) = paths.served.get_mut(service.frame as usize) {
                        of.calls += 1;
                        of.ns = of.ns.saturating_add(service.total);
                        of.is_internal |= is_internal(call);
                        if is_named {
                            of.route = of.route.and(route);
                        }
                    }
                    services.push(service);
                }
            })?;
            party.visit(matching.rows(number), |row, call| {
                if call.kind == RemoteCallKind::Made {
                    let within = matching.within[row as usize];
                    let link = services.get(within as usize).map_or(0, |service| service.link);
                    let site = sites.made(call, link);
                    let method = methods.index(party.profile, call);
                    let is_internal = is_internal(call);
                    origins.push(Origin { within, site, method, is_internal, path: NONE });
                }
            })?;
            methods.of_party.clear();
        }
        paths.methods = methods.all;
        let receivers = Receivers::new(matching);
        receivers.add_to(&mut origins);
        paths.walk(matching, &receivers, &services, &mut origins, model);
        for (client, party) in parties.iter().enumerate() {
            let until = last_moment(party.profile);
            party.visit(matching.rows(client), |row, call| {
                if call.kind == RemoteCallKind::Made {
                    for (is_first, at) in receivers.rows_of(row) {
                        let partner = receivers.partner(matching, at);
                        let server = partner.map(|at| (matching.served.party(at), services[at as usize]));
                        let path = origins[at as usize].path;
                        paths.add(client, (call, is_first), until, path, server);
                    }
                }
            })?;
        }
        Ok(paths)
    }

    /// Gives every call made its path, those first that it was made within.
    fn walk(
        &mut self,
        matching: &Matching,
        receivers: &Receivers<'_>,
        services: &[Service],
        origins: &mut [Origin],
        model: &Arcflow,
    ) {
        let frame_of = &self.frames.of_all(model)[..];
        let mut known: HashMap<Way, u32> = HashMap::default();
        let mut stack = Vec::new();
        for row in 0..origins.len() as u32 {
            let mut at = row;
            // Up to a call whose path is known, or that was made within none.
            let mut within = loop {
                match origins[at as usize].path {
                    NONE => {}
                    OPEN => {
                        self.circular += 1;
                        break NONE;
                    }
                    path => break path,
                }
                origins[at as usize].path = OPEN;
                stack.push(at);
                let above = origins[at as usize].within;
                match (above != NONE).then(|| receivers.origin_of(matching, above)).flatten() {
                    Some(next) => at = next,
                    None => break NONE,
                }
            };
            while let Some(at) = stack.pop() {
                let Origin { within: call, mut site, method, is_internal, .. } = origins[at as usize];
                let above = frame_of[site.0 as usize];
                if let Some(outer) = self.all.get(within as usize).filter(|_| site != Arcflow::ROOT) {
                    match outer.way.frame {
                        frame if frame == above => {}
                        NONE => site = above_frames(model, frame_of, site),
                        frame => site = self.frames.all[frame as usize].nodes[0],
                    }
                }
                let is_of_task = call == NONE && above != NONE;
                let client = matching.made.party(receivers.made(at));
                self.makes_own[client] |= within == NONE && above == NONE && !is_internal;
                let partner = receivers.partner(matching, at);
                let server = partner.map_or(NONE, |served| matching.served.party(served) as u32);
                let service = partner.map(|served| services[served as usize]);
                let frame = service.map_or(NONE, |service| service.frame);
                let method = service.map(|of| of.route).filter(|&route| route != NONE).unwrap_or(method);
                let way = Way { within, site, method, server, frame, is_internal, is_of_task };
                let next = self.all.len() as u32;
                let path = *known.entry(way).or_insert(next);
                if path == next {
                    self.all.push(Path {
                        way,
                        client,
                        is_message: false,
                        made: 0,
                        calls: 0,
                        client_ns: 0,
                        server_ns: 0,
                        nested_ns: 0,
                        between_ns: 0,
                    });
                }
                origins[at as usize].path = path;
                within = path;
            }
        }
    }

    fn add(
        &mut self,
        client: usize,
        (call, is_first): (&RemoteCall, bool),
        until: u64,
        index: u32,
        server: Option<(usize, Service)>,
    ) {
        let path = &mut self.all[index as usize];
        path.calls += 1;
        path.is_message = call.is_message();
        if !is_first {
            let received = server.map_or(0, |(_, service)| service.total);
            path.server_ns = path.server_ns.saturating_add(received);
            return;
        }
        path.made += 1;
        let end = if call.end == 0 { until } else { call.end };
        let whole = end.saturating_sub(call.begin);
        path.client_ns = path.client_ns.saturating_add(whole);
        let Way { within, site, .. } = path.way;
        if within != NONE && site != Arcflow::ROOT {
            let outer = &mut self.all[within as usize];
            outer.nested_ns = outer.nested_ns.saturating_add(whole);
        }
        let path = &mut self.all[index as usize];
        let Some((server, service)) = server else { return };
        path.server_ns = path.server_ns.saturating_add(service.total);
        if path.is_message {
            return;
        }
        path.between_ns = path.between_ns.saturating_add(signed(whole) - signed(service.total));
        if !(is_whole(call) && service.is_whole) {
            return;
        }
        let stages = self.stages.entry((client, server)).or_default();
        stages.calls += 1;
        stages.client = stages.client.saturating_add(whole);
        stages.server = stages.server.saturating_add(service.total);
        stages.marshalling = stages.marshalling.saturating_add(call.sent.saturating_sub(call.begin));
        stages.unmarshalling = stages.unmarshalling.saturating_add(service.arguments);
        stages.service = stages.service.saturating_add(service.method);
        let returning = call.end.saturating_sub(call.returned);
        stages.returning = stages.returning.saturating_add(returning);
        let waited = signed(call.returned.saturating_sub(call.sent));
        stages.network =
            stages.network.saturating_add(waited - signed(service.arguments.saturating_add(service.method)));
    }
}

/// Whether all times of a call are known, and are such as a clock tells.
fn is_whole(call: &RemoteCall) -> bool {
    let times = [call.begin, call.sent, call.returned, call.end];
    !times.contains(&0) && times.is_sorted()
}

/// The nearest context above one that stands below no frame.
fn above_frames(model: &Arcflow, frame_of: &[u32], mut site: NodeId) -> NodeId {
    while frame_of[site.0 as usize] != NONE {
        site = model.node(site).parent;
    }
    site
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Up to when calls that did not end went on, as far as it is known.
pub(super) fn last_moment(profile: &Profile) -> u64 {
    let last = profile.threads.iter().map(|thread| thread.last_event).max().unwrap_or(0);
    last.max(profile.beat_clock).max(profile.shutdown_clock)
}

impl Service {
    fn new(call: &RemoteCall, frame: u32, until: u64) -> Service {
        let end = if call.end == 0 { until } else { call.end };
        Service {
            frame,
            link: call.link,
            route: NONE,
            total: end.saturating_sub(call.begin),
            arguments: call.sent.saturating_sub(call.begin),
            method: call.returned.saturating_sub(call.sent),
            is_whole: is_whole(call),
        }
    }
}

/// Remote methods, numbered over all parties.
#[derive(Default)]
struct Methods {
    all: Vec<String>,
    known: HashMap<String, u32>,
    /// By copy, number of the name, and, if there is no such name, hash and operation.
    of_party: HashMap<(u32, u32, (i64, i32)), u32>,
}

impl Methods {
    fn index(&mut self, profile: &Profile, call: &RemoteCall) -> u32 {
        let names = profile.copies.get(&call.copy).map(|copy| &copy.class_names);
        let name = names.and_then(|names| names.get(&call.method));
        let unnamed = if name.is_none() { (call.hash, call.operation) } else { (0, 0) };
        *self.of_party.entry((call.copy, call.method, unnamed)).or_insert_with(|| {
            let name = match name {
                Some(name) => name.clone(),
                None if call.operation < 0 => format!("method {:016x}", call.hash),
                None => format!("operation {} of {:016x}", call.operation, call.hash),
            };
            let next = self.all.len() as u32;
            *self.known.entry(name).or_insert_with_key(|name| {
                self.all.push(name.clone());
                next
            })
        })
    }
}

/// The links, with their copies, that several threads serve one call under.
fn links_of_threads<S: Source>(party: &Party<'_, S>) -> Result<HashSet<(u32, u32)>, Error> {
    let mut links = HashSet::default();
    party.profile.visit_remote_calls(party.source, |call| {
        if call.is_of_threads() {
            links.insert((call.copy, call.link));
        }
    })?;
    Ok(links)
}
