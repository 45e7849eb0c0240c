//! Which call was made within which, and what calls are called: what exports need to know of a call beside its record.

use instrument_trace::{Copy, Error, Profile, RemoteCall, RemoteCallKind, Source};

use super::Party;
use super::calls::Matching;
use super::calls::{NONE, is_internal, is_route};
use super::paths::last_moment;
use crate::hash::HashMap;

/// What a call is called; empty for what is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Label {
    service: String,
    method: String,
    is_internal: bool,
    /// It is what the server calls a request by HTTP: by the route that it has for it, if it has one.
    is_route: bool,
}

/// What all calls were made within, and their names; by the rows of a matching.
#[derive(Debug, Clone)]
pub struct Nesting<'a> {
    matching: &'a Matching,
    /// Of a call made: the served call that it was made within, or [`NONE`].
    within: Vec<u32>,
    /// Of a call made: the outermost call made that it is part of.
    outermost: Vec<u32>,
    labels: Vec<Label>,
    made: Vec<u32>,
    served: Vec<u32>,
    /// By party.
    last: Vec<u64>,
}

/// An outermost call, by the side that is known of it, and its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// A call made.
    Made(u32),
    /// A request that came from outside.
    Served(u32),
}

/// A call that is being looked at.
const OPEN: u32 = NONE - 1;

impl<'a> Nesting<'a> {
    /// Reads all calls.
    ///
    /// # Errors
    /// When a source fails.
    pub fn new<S: Source>(parties: &[Party<'_, S>], matching: &'a Matching) -> Result<Nesting<'a>, Error> {
        let room = matching.made.len();
        let mut nesting = Nesting {
            matching,
            within: matching.within.clone(),
            outermost: vec![NONE; room],
            labels: Vec::new(),
            made: Vec::with_capacity(room),
            served: Vec::with_capacity(matching.served.len()),
            last: Vec::with_capacity(parties.len()),
        };
        let mut known = Known::default();
        for (number, party) in parties.iter().enumerate() {
            known.of_party.clear();
            let mut last = last_moment(party.profile);
            party.visit(matching.rows(number), |_, call| {
                let label = nesting.label(&mut known, party.profile, call);
                last = last.max(call.begin).max(call.sent).max(call.returned).max(call.end);
                match call.kind {
                    RemoteCallKind::Made => nesting.made.push(label),
                    RemoteCallKind::Served => nesting.served.push(label),
                    RemoteCallKind::Other(_) => {}
                }
            })?;
            nesting.last.push(last);
        }
        nesting.find_outermost();
        Ok(nesting)
    }

    /// The served call that a call was made within.
    pub fn within(&self, made: u32) -> Option<u32> {
        Some(self.within[made as usize]).filter(|&row| row != NONE)
    }

    /// The outermost call made that a call is part of, over all processes: itself, if it was made within none.
    pub fn outermost(&self, made: u32) -> u32 {
        self.outermost[made as usize]
    }

    /// The outermost call that a call made is part of, on whichever side it is known: a request by HTTP from outside is
    /// known where it was served.
    pub fn root(&self, made: u32) -> Root {
        let outermost = self.outermost(made);
        let served = self.within(outermost).filter(|&served| self.is_from_outside(served));
        served.map_or(Root::Made(outermost), Root::Served)
    }

    /// Whether a served call is a request by HTTP that nobody is known to have made.
    pub fn is_from_outside(&self, served: u32) -> bool {
        let is_route = self.labels[self.served[served as usize] as usize].is_route;
        is_route && self.matching.served.partner(served).is_none()
    }

    /// Up to when calls of a party that did not end went on, as far as it is known.
    pub fn last_moment(&self, party: usize) -> u64 {
        self.last[party]
    }

    /// The class of the remote object and the method of a call made, as far as either side knows them.
    pub fn name_of_made(&self, made: u32) -> (&str, &str) {
        let (one, other) = self.labels_of_made(made);
        self.name(one, other)
    }

    /// The same of a served call.
    pub fn name_of_served(&self, served: u32) -> (&str, &str) {
        let partner = self.matching.served.partner(served);
        self.name(self.served[served as usize], partner.map(|row| self.made[row as usize]))
    }

    /// The labels of a call made, and of the call that served it, or of that alone where it says more:
    /// [`Nesting::signature_of`] has their text.
    pub(super) fn labels_of_made(&self, made: u32) -> (u32, Option<u32>) {
        let served = self.matching.made.partner(made).map(|row| self.served[row as usize]);
        match served {
            Some(served) if self.labels[served as usize].is_route => (served, None),
            served => (self.made[made as usize], served),
        }
    }

    /// The same of a served call that nobody is known to have made.
    pub(super) fn labels_of_served(&self, served: u32) -> (u32, Option<u32>) {
        (self.served[served as usize], None)
    }

    /// The class of the remote object, and the method with its descriptor.
    pub(super) fn signature_of(&self, (one, other): (u32, Option<u32>)) -> (&str, &str) {
        self.signature(one, other)
    }

    /// Whether the runtime made a call for itself: to the registry, or for the collector.
    pub fn is_internal_served(&self, served: u32) -> bool {
        self.labels[self.served[served as usize] as usize].is_internal
    }

    /// The method of a call made with its descriptor, as far as either side knows it.
    pub fn signature_of_made(&self, made: u32) -> &str {
        self.signature_of(self.labels_of_made(made)).1
    }

    /// The same of a served call.
    pub fn signature_of_served(&self, served: u32) -> &str {
        let partner = self.matching.served.partner(served).map(|row| self.made[row as usize]);
        self.signature(self.served[served as usize], partner).1
    }

    fn name(&self, one: u32, other: Option<u32>) -> (&str, &str) {
        let (service, method) = self.signature(one, other);
        (service, method.split('(').next().unwrap_or(method))
    }

    fn signature(&self, one: u32, other: Option<u32>) -> (&str, &str) {
        let first = &self.labels[one as usize];
        let second = other.map_or(first, |other| &self.labels[other as usize]);
        let known = |a: &'_ str| !a.is_empty();
        let service = if known(&first.service) { &first.service } else { &second.service };
        let method = if known(&first.method) { &first.method } else { &second.method };
        (service, method)
    }

    fn label(&mut self, known: &mut Known, profile: &Profile, call: &RemoteCall) -> u32 {
        let is_route = is_route(call);
        let key = (call.copy, call.class, call.method, is_internal(call), is_route);
        if let Some(&label) = known.of_party.get(&key) {
            return label;
        }
        let copy = profile.copies.get(&call.copy);
        let text = |number: u32| copy.and_then(|copy: &Copy| copy.class_names.get(&number)).cloned();
        let method = text(call.method).unwrap_or_default();
        let service = text(call.class).unwrap_or_default();
        let label = Label { service, method, is_internal: key.3, is_route };
        let next = self.labels.len() as u32;
        let number = *known.all.entry(label.clone()).or_insert(next);
        if number == next {
            self.labels.push(label);
        }
        known.of_party.insert(key, number);
        number
    }

    /// Follows every call up to the one that no other was made within; a circle is cut open.
    fn find_outermost(&mut self) {
        let mut stack = Vec::new();
        for row in 0..self.within.len() as u32 {
            let mut at = row;
            let outermost = loop {
                match self.outermost[at as usize] {
                    NONE => {}
                    OPEN => {
                        // Not the clock of any machine: the call that was looked at last is the first one.
                        let first = stack.last().copied().unwrap_or(at);
                        self.within[first as usize] = NONE;
                        break first;
                    }
                    known => break known,
                }
                self.outermost[at as usize] = OPEN;
                stack.push(at);
                let partner = self.within(at).and_then(|served| self.matching.served.partner(served));
                match partner {
                    Some(made) => at = made,
                    None => break at,
                }
            };
            for at in stack.drain(..) {
                self.outermost[at as usize] = outermost;
            }
        }
    }
}

/// Labels by what they were made from.
#[derive(Default)]
struct Known {
    of_party: HashMap<(u32, u32, u32, bool, bool), u32>,
    all: HashMap<Label, u32>,
}
