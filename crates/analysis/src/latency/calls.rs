//! The calls of a thread, by method, from its trace.

use std::collections::HashMap;

use instrument_trace::TreeConsumer;

use super::{Call, Durations};
use crate::replay::{CallEnd, Visitor};

/// Takes the calls of a thread, each with all that it called. A call within a call of a method of the same name is part of it.
pub(super) struct Collector<'a, F> {
    /// The moment of a clock.
    moment: F,
    row: usize,
    /// The name of a method.
    name: &'a dyn Fn(u32) -> String,
    /// The clock that calls have ended after which count.
    after: u64,
    /// Methods by id; several ids may have one name.
    places: HashMap<u32, usize>,
    methods: Vec<Method>,
    /// ns that the recorder has taken for itself so far.
    paused: u64,
}

#[derive(Default)]
struct Method {
    name: String,
    durations: Durations,
    /// Open calls of the method on this thread.
    open: u64,
}

/// An open call.
pub(super) struct Begun {
    /// The method, among those of the collector; none: a link.
    method: Option<usize>,
    /// Whether no call of the method is beneath.
    is_outermost: bool,
    at: u64,
    paused: u64,
}

impl<'a, F: Fn(u64) -> u64> Collector<'a, F> {
    pub(super) fn new(row: usize, moment: F, name: &'a dyn Fn(u32) -> String, after: u64) -> Self {
        Collector { moment, row, name, after, places: HashMap::new(), methods: Vec::new(), paused: 0 }
    }

    /// The durations by name of method. Outermost calls that are still open are counted.
    pub(super) fn finish(self) -> impl Iterator<Item = (String, Durations)> {
        self.methods.into_iter().map(|mut method| {
            method.durations.open += u64::from(method.open > 0);
            (method.name, method.durations)
        })
    }

    fn method(&mut self, id: u32) -> usize {
        let methods = &mut self.methods;
        *self.places.entry(id).or_insert_with(|| {
            let name = (self.name)(id);
            methods.iter().position(|method| method.name == name).unwrap_or_else(|| {
                methods.push(Method { name, ..Method::default() });
                methods.len() - 1
            })
        })
    }
}

impl<F: Fn(u64) -> u64> Visitor for Collector<'_, F> {
    type Call = Begun;

    fn enter(&mut self, consumer: TreeConsumer, _: bool, _: Option<&Begun>, _: usize, at: u64) -> Begun {
        let method = consumer.method().map(|id| self.method(id));
        let mut is_outermost = false;
        if let Some(method) = method {
            is_outermost = self.methods[method].open == 0;
            self.methods[method].open += 1;
        }
        Begun { method, is_outermost, at, paused: self.paused }
    }

    fn leave(&mut self, call: Begun, _: TreeConsumer, how: CallEnd, _: usize, at: u64) {
        let Some(method) = call.method.and_then(|method| self.methods.get_mut(method)) else { return };
        method.open -= 1;
        if !call.is_outermost || at <= self.after {
            return;
        }
        let has_failed = match how {
            CallEnd::Exit => false,
            CallEnd::Unwind => true,
            // When the super() of a constructor failed is not known, nor whether it did where a thread has left its frames behind.
            CallEnd::Aborted | CallEnd::Unclosed | CallEnd::Surplus => {
                method.durations.unknown += 1;
                return;
            }
        };
        let ns = at.saturating_sub(call.at).saturating_sub(self.paused - call.paused);
        let (from, to) = ((self.moment)(call.at), (self.moment)(at));
        method.durations.add(Call { row: self.row, from, to, ns, has_failed });
    }

    fn pause(&mut self, ns: u64, _: u64) {
        self.paused = self.paused.saturating_add(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TreeConsumer = TreeConsumer::Method(1);
    const B: TreeConsumer = TreeConsumer::Method(2);

    #[test]
    fn only_outermost_calls_that_ended_have_a_duration() {
        let mut of = Collector::new(3, |clock| clock - 100, &|id| format!("m{id}"), 0);
        let outer = of.enter(A, false, None, 0, 100);
        let failing = of.enter(B, false, Some(&outer), 1, 110);
        // Within a call of the same method, and not its end.
        let inner = of.enter(A, false, Some(&failing), 2, 120);
        of.pause(7, 130);
        of.leave(inner, A, CallEnd::Exit, 2, 140);
        of.leave(failing, B, CallEnd::Unwind, 1, 150);
        of.leave(outer, A, CallEnd::Exit, 0, 160);
        let lost = of.enter(B, false, None, 0, 170);
        of.leave(lost, B, CallEnd::Unclosed, 0, 180);
        let link = of.enter(TreeConsumer::Link(9), false, None, 0, 190);
        let open = of.enter(A, false, Some(&link), 1, 200);
        of.enter(A, false, Some(&open), 2, 210);
        let found: HashMap<String, Durations> = of.finish().collect();

        let (a, b) = (&found["m1"], &found["m2"]);
        assert_eq!((a.returned.count(), a.returned.sum(), a.open, a.unknown), (1, 60 - 7, 1, 0));
        assert_eq!((b.returned.count(), b.failed.sum(), b.open, b.unknown), (0, 40 - 7, 0, 1));
        assert_eq!(a.slowest, [Call { row: 3, from: 0, to: 60, ns: 53, has_failed: false }]);
        assert_eq!(a.typical(), None, "the median of one call is not said");
        assert!(b.slowest[0].has_failed && found.len() == 2);
    }

    #[test]
    fn a_constructor_that_is_found_to_be_gone_is_no_error() {
        let mut of = Collector::new(0, |clock| clock, &|id| id.to_string(), 0);
        let call = of.enter(A, true, None, 0, 100);
        of.leave(call, A, CallEnd::Aborted, 0, 900);
        let (_, durations) = of.finish().next().unwrap();
        assert_eq!((durations.ended(), durations.unknown), (0, 1));
    }

    #[test]
    fn methods_of_one_name_are_one() {
        let mut of = Collector::new(0, |clock| clock, &|_| "same".to_owned(), 0);
        let outer = of.enter(A, false, None, 0, 100);
        let inner = of.enter(B, false, Some(&outer), 1, 110);
        of.leave(inner, B, CallEnd::Exit, 1, 120);
        of.leave(outer, A, CallEnd::Exit, 0, 130);
        let found: Vec<_> = of.finish().collect();
        assert_eq!((found.len(), found[0].1.ended(), found[0].1.returned.sum()), (1, 1, 30));
    }

    #[test]
    fn calls_that_had_ended_when_figures_were_reset_do_not_count() {
        let mut of = Collector::new(0, |clock| clock, &|id| id.to_string(), 150);
        let before = of.enter(A, false, None, 0, 100);
        of.leave(before, A, CallEnd::Exit, 0, 150);
        let through = of.enter(A, false, None, 0, 140);
        of.leave(through, A, CallEnd::Unwind, 0, 160);
        let (_, durations) = of.finish().next().unwrap();
        assert_eq!((durations.returned.count(), durations.failed.sum()), (0, 20));
    }

    #[test]
    fn the_slowest_are_kept_whoever_comes_first() {
        let call = |ns| Call { row: 0, from: 1000 - ns, to: 1000, ns, has_failed: false };
        let (mut one, mut other) = (Durations::default(), Durations::default());
        (1..=20).for_each(|ns| one.add(call(2 * ns)));
        (1..=20).rev().for_each(|ns| other.add(call(2 * ns - 1)));
        one.merge(other);
        let slowest: Vec<u64> = one.slowest.iter().map(|call| call.ns).collect();
        assert_eq!(slowest, (31..=40).rev().collect::<Vec<_>>());
        assert_eq!(one.typical().map(|call| call.ns), Some(20));
        assert_eq!(one.ended(), 40);
        assert!((one.tail() - 20.0).abs() < 0.5, "{}", one.tail());
    }
}
