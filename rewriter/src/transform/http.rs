//! `remote-http`: requests by HTTP as remote calls, made and served.
//!
//! K, a local variable behind the method's own, is 0, or the number that the runtime has given a call that goes on. A method that is given an exchange
//! has another one for that: it may make requests itself.
//!
//! | where | code |
//! |---|---|
//! | first of all | K = 0 |
//! | in front of a call that sends or serves a request | store what is above the operands of the hook; copy these; the hook; K = its result; `httpSent` replaces a request that does not change; load what was above |
//! | in front of a call by which a library writes a request to its connection | copy receiver and request; the hook; it has no end |
//! | in front of a call by which a library says which method serves a request | copy the receiver; the hook; it has no end |
//! | behind one that sends or serves | `httpAnswered` with the result, `httpLeft` where there is none; K = 0 |
//! | in front of an exception handler that covers such a call | `httpFailed` with K; K = 0; only the exception table leads there |
//! | a handler behind the code, for what nothing else handles there | `httpFailed` with K; `athrow` |
//! | a method whose last parameter is an `HttpExchange` | as such a call, with the other variable: at the entry, in front of every return, and where an exception leaves it |
//!
//! A branch to the instruction behind a call does not pass through the end. Not reached: method references, calls by reflection.

pub(in crate::transform) mod calls;

use super::call_sites::callees;
use super::method_events::PcRange;
use super::{MethodSite, Transform, Transforms, around};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{ALOAD, CHECKCAST, DUP, DUP2, ILOAD, INVOKEINTERFACE, ISTORE, POP};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;
use calls::HttpCall;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Http;

const EXCHANGE: &[u8] = b"Lcom/sun/net/httpserver/HttpExchange;";

/// The parameters in front of an exchange that a method with this descriptor is given as the last one, as a handler is.
fn before_exchange(descriptor: &[u8]) -> Option<&[u8]> {
    descriptor.strip_prefix(b"(")?.strip_suffix(b")V")?.strip_suffix(EXCHANGE)
}

/// Whether a method is given an exchange, and the local variable that it is in.
fn exchange(site: &MethodSite<'_>) -> Option<u16> {
    let before = before_exchange(site.descriptor).filter(|_| !site.is_constructor)?;
    let mut slots = u16::from(!site.is_static);
    let mut rest = before;
    while let Some(&first) = rest.first() {
        let dimensions = rest.iter().take_while(|&&byte| byte == b'[').count();
        let name = &rest[dimensions..];
        let length = match name.first()? {
            b'L' => name.iter().position(|&byte| byte == b';')? + 1,
            _ => 1,
        };
        slots = slots.checked_add(1 + u16::from(matches!(first, b'J' | b'D')))?;
        rest = &name[length..];
    }
    Some(slots)
}

/// A call that is recorded.
#[derive(Debug, Clone)]
struct Recorded {
    call: HttpCall,
    left: Left,
}

/// What a call leaves on the stack.
#[derive(Debug, Clone, Copy)]
enum Left {
    None,
    Int,
    Object,
}

fn recorded(method: &MemberRef<'_>) -> Option<Recorded> {
    let (call, _) = calls::call_of(method)?;
    let left = match method.descriptor.rsplit(|&byte| byte == b')').next()? {
        b"V" => Left::None,
        b"I" => Left::Int,
        [b'L' | b'[', ..] => Left::Object,
        _ => return None,
    };
    Some(Recorded { call, left })
}

impl Transform for Http {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.remote_http
            && (exchange(site).is_some() || !site.calls_of(recorded).is_empty())
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.remote_http
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        recorded(method)?;
        calls::call_of(method).map(|(_, by)| by)
    }

    fn may_be_beside(&self, of: &Transforms, pool: &ConstantPool<'_>) -> bool {
        let mut texts = pool.indices().filter_map(|index| pool.utf8(index).ok());
        of.remote_http
            && (texts.any(|text| before_exchange(text).is_some())
                || callees(pool).any(|(_, method)| recorded(&method).is_some()))
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let number = around::number(site, edits)?;
        edits.need_stack(3);
        edits.least_stack = edits.least_stack.max(3);
        let mut covered: Vec<PcRange> = Vec::new();
        // No handler may cover code that has not called super(): the end of such a call may not be seen.
        let initialized = if site.is_constructor { Some(site.flow()?.initialized.clone()) } else { None };
        let is_covered = |pc: u32| {
            initialized
                .as_ref()
                .is_none_or(|ranges| ranges.iter().any(|&(start, end)| start <= pc && pc < end))
        };
        for (pc, recorded) in site.calls_of(recorded).into_iter().filter(|&(pc, _)| is_covered(pc)) {
            let is_interface = site.code.code[pc as usize] == INVOKEINTERFACE;
            let behind = pc + if is_interface { 5 } else { 3 };
            let is_all = matches!(recorded.call, HttpCall::Written | HttpCall::Routed);
            in_front(site, edits, pc, recorded.call, number)?;
            if is_all {
                continue;
            }
            let (load, hook): (&[u8], _) = match recorded.left {
                Left::None => (&[], Hook::HttpLeft),
                Left::Int => (&[DUP], Hook::HttpStatus),
                Left::Object => (&[DUP], Hook::HttpAnswered),
            };
            let ended = around::over(site, Snippet::default().with(load), hook, number)?;
            edits.insert(behind, Place::AfterPrevious, ended);
            covered.push((pc, behind));
            edits.sites.remote_calls += 1;
        }
        around::caught(site, edits, &covered, Hook::HttpFailed, number)?;
        around::uncaught(site, edits, covered, Hook::HttpFailed, number)?;
        match exchange(site) {
            Some(slot) => served(site, edits, slot),
            None => Ok(()),
        }
    }
}

/// A method that is given an exchange serves a request. Its handler is outside of those of its calls.
fn served(site: &mut MethodSite<'_>, edits: &mut Edits, slot: u16) -> Result<(), Reason> {
    let number = around::number(site, edits)?;
    let given = Snippet::default().with_local(ALOAD, slot);
    let entered = site.call(Hook::HttpExchange, given)?.with_local(ISTORE, number);
    edits.insert(0, Place::AfterPrevious, entered);
    edits.sites.remote_calls += 1;
    around::until_its_end(site, edits, (Hook::HttpLeft, Hook::HttpFailed), number)
}

/// What a call needs in front of it.
fn in_front(
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
    pc: u32,
    call: HttpCall,
    number: u16,
) -> Result<(), Reason> {
    let (hook, copy, above) = match call {
        HttpCall::Request { ref above, .. } => (Hook::HttpMade, DUP, above.clone()),
        HttpCall::Target => (Hook::HttpMadeTo, DUP2, super::operands::Above::objects(1)),
        HttpCall::Read => (Hook::HttpRead, DUP, Default::default()),
        HttpCall::Opened => (Hook::HttpOpened, DUP, Default::default()),
        HttpCall::Served => (Hook::HttpServed, DUP2, Default::default()),
        HttpCall::Written => {
            let written = site.call(Hook::HttpWritten, Snippet::default().with(&[DUP2]))?;
            edits.insert(pc, Place::Before, written);
            return Ok(());
        }
        HttpCall::Routed => {
            let routed = site.call(Hook::HttpRouted, Snippet::default().with(&[DUP2, POP]))?;
            edits.insert(pc, Place::Before, routed);
            return Ok(());
        }
        HttpCall::Filtered => (Hook::HttpServed, DUP2, super::operands::Above::objects(1)),
    };
    // Another transform may hold the first one behind those that are kept across the call.
    let free = site.code.max_locals.checked_add(edits.counter_slots() + 1).ok_or(Reason::MaxLocals)?;
    edits.need_locals(1 + above.slots(free)?);
    above.store(pc, free, edits);
    let begun = site.call(hook, Snippet::default().with(&[copy]))?.with_local(ISTORE, number);
    edits.insert(pc, Place::Before, begun);
    if let HttpCall::Request { class, .. } = call {
        let request = site.call(Hook::HttpSent, Snippet::default().with_local(ILOAD, number))?;
        let [high, low] = site.appender.class_named(site.pool, class)?.to_be_bytes();
        edits.insert(pc, Place::Before, request.with(&[CHECKCAST, high, low]));
    }
    above.load(pc, free, edits);
    Ok(())
}
