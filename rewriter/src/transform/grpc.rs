//! `remote-grpc`: calls by gRPC as remote calls, made and served.
//!
//! They are recorded in a few classes of gRPC itself, behind all interceptors and above all transports. K, a local
//! variable, is as in [`around`].
//!
//! | class in `io.grpc.internal` | where | hook |
//! |---|---|---|
//! | ClientCallImpl, DelayedClientCall | `start`: entry | `grpcStarted`: call, listener, headers |
//! | any | in front of `ClientCall.Listener.onClose` | `grpcEnded`: listener, status |
//! | any | in front of `ServerCallHandler.startCall` | K = `grpcServed`: call, headers |
//! | | the exits of that method | `grpcLeft`, `grpcFailed` with K |
//! | ServerCallImpl.ServerStreamListenerImpl | `messagesAvailable`, `halfClosed`, `onReady`, `closed`: entry | K = `grpcContinued`, `grpcClosed` |
//! | | their exits | `grpcLeft`, `grpcFailed` with K |
//! | ServerCallImpl | `close`: entry | `grpcAnswered`: call, status |

use super::call_sites::callees;
use super::operands::Above;
use super::{MethodSite, Transform, Transforms, around};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{ALOAD_0, ALOAD_1, ALOAD_2, DUP2, INVOKEINTERFACE, INVOKEVIRTUAL, ISTORE};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grpc;

/// A method of gRPC that is told of.
struct Point {
    class: &'static [u8],
    method: &'static [u8],
    descriptor: &'static [u8],
    /// Pushes the arguments of the hook.
    load: &'static [u8],
    hook: Hook,
    /// The hook gives a number, by which the end of the method is told.
    is_span: bool,
}

const PACKAGE: &[u8] = b"io/grpc/internal/";
const LISTENER: &[u8] = b"io/grpc/internal/ServerCallImpl$ServerStreamListenerImpl";
const START: &[u8] = b"(Lio/grpc/ClientCall$Listener;Lio/grpc/Metadata;)V";
const STARTED: Point = Point {
    class: b"io/grpc/internal/ClientCallImpl",
    method: b"start",
    descriptor: START,
    load: &[ALOAD_0, ALOAD_1, ALOAD_2],
    hook: Hook::GrpcStarted,
    is_span: false,
};

const fn of_listener(method: &'static [u8], descriptor: &'static [u8]) -> Point {
    Point { class: LISTENER, method, descriptor, load: &[ALOAD_0], hook: Hook::GrpcContinued, is_span: true }
}

const POINTS: [Point; 7] = [
    STARTED,
    Point { class: b"io/grpc/internal/DelayedClientCall", ..STARTED },
    Point {
        class: b"io/grpc/internal/ServerCallImpl",
        method: b"close",
        descriptor: b"(Lio/grpc/Status;Lio/grpc/Metadata;)V",
        load: &[ALOAD_0, ALOAD_1],
        hook: Hook::GrpcAnswered,
        is_span: false,
    },
    of_listener(b"messagesAvailable", b"(Lio/grpc/internal/StreamListener$MessageProducer;)V"),
    of_listener(b"halfClosed", b"()V"),
    of_listener(b"onReady", b"()V"),
    Point {
        load: &[ALOAD_0, ALOAD_1],
        hook: Hook::GrpcClosed,
        ..of_listener(b"closed", b"(Lio/grpc/Status;)V")
    },
];

fn point(site: &MethodSite<'_>) -> Option<&'static Point> {
    let is_here = |point: &&Point| {
        (point.class, point.method, point.descriptor) == (site.class, site.name, site.descriptor)
    };
    POINTS.iter().filter(|_| !site.is_static).find(is_here)
}

/// A call that is told of, and the instruction that makes it.
fn told(method: &MemberRef<'_>) -> Option<(Hook, &'static [u8])> {
    match (method.class, method.name, method.descriptor) {
        (b"io/grpc/ClientCall$Listener", b"onClose", b"(Lio/grpc/Status;Lio/grpc/Metadata;)V") => {
            Some((Hook::GrpcEnded, &[INVOKEVIRTUAL]))
        }
        (
            b"io/grpc/ServerCallHandler",
            b"startCall",
            b"(Lio/grpc/ServerCall;Lio/grpc/Metadata;)Lio/grpc/ServerCall$Listener;",
        ) => Some((Hook::GrpcServed, &[INVOKEINTERFACE])),
        _ => None,
    }
}

fn hook_of(method: &MemberRef<'_>) -> Option<Hook> {
    told(method).map(|(hook, _)| hook)
}

impl Transform for Grpc {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.remote_grpc
            && site.class.starts_with(PACKAGE)
            && !site.is_constructor
            && (point(site).is_some() || !site.calls_of(hook_of).is_empty())
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.remote_grpc
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        told(method).map(|(_, by)| by)
    }

    fn may_be_beside(&self, of: &Transforms, pool: &ConstantPool<'_>) -> bool {
        let mut texts = pool.indices().filter_map(|index| pool.utf8(index).ok());
        of.remote_grpc
            && (texts.any(|text| POINTS.iter().any(|point| point.class == text))
                || callees(pool).any(|(_, method)| told(&method).is_some()))
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        edits.need_stack(3);
        edits.least_stack = edits.least_stack.max(3);
        let mut number = None;
        if let Some(point) = point(site) {
            let begun = site.call(point.hook, Snippet::default().with(point.load))?;
            edits.sites.remote_calls += 1;
            let begun = match point.is_span {
                true => begun.with_local(ISTORE, of_method(site, edits, &mut number)?),
                false => begun,
            };
            edits.insert(0, Place::AfterPrevious, begun);
        }
        for (pc, hook) in site.calls_of(hook_of) {
            in_front(site, edits, pc, hook, &mut number)?;
            edits.sites.remote_calls += 1;
        }
        match number {
            Some(number) => around::until_its_end(site, edits, (Hook::GrpcLeft, Hook::GrpcFailed), number),
            None => Ok(()),
        }
    }
}

/// The one variable of a method.
fn of_method(site: &MethodSite<'_>, edits: &mut Edits, number: &mut Option<u16>) -> Result<u16, Reason> {
    match *number {
        Some(number) => Ok(number),
        None => Ok(*number.insert(around::number(site, edits)?)),
    }
}

/// What a call needs in front of it.
fn in_front(
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
    pc: u32,
    hook: Hook,
    number: &mut Option<u16>,
) -> Result<(), Reason> {
    if hook == Hook::GrpcServed {
        // Handler, call and headers: the two upper ones are the hook's.
        let number = of_method(site, edits, number)?;
        let begun = site.call(hook, Snippet::default().with(&[DUP2]))?.with_local(ISTORE, number);
        edits.insert(pc, Place::Before, begun);
        return Ok(());
    }
    // Listener, status and trailers: the two lower ones.
    let told = site.call(hook, Snippet::default().with(&[DUP2]))?;
    Above::objects(1).around(site, edits, pc, told)
}
