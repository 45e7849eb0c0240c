//! `rmi`: remote calls made and served.
//!
//! What the classes of the JDK's module `java.rmi` tell, where they can be rewritten (as they load, by `instrument
//! jdk-patch`, or by a launcher agent):
//!
//! | class | where | hook |
//! |---|---|---|
//! | TCPConnection | end of `<init>` | `connection` |
//! | AcceptLoop, ConnectionHandler | `<init>` | `listening`, `accepted`: also of sockets that never carry a call |
//! | UnicastRef | `invoke`, `newCall` | `invoking`, `newCall`: the method |
//! | StreamRemoteCall | `<init>` of a call made, `executeCall`, `exceptionReceivedFromServer` | `callMade`, `sent`, `thrown` |
//! | | `<init>` of a call that comes in, `releaseInputStream` | `receiving`, `inputReleased` |
//! | ConnectionInputStream, ConnectionOutputStream | `readID`, `writeID` | `returned`, `answering`: the UID of the return |
//! | TCPChannel | `newConnection` | `unmade`, where an exception leaves: there is no connection for the call |
//! | | `free` | `freed`: every call made gives its connection back once, however it ends |
//! | Transport | `serviceCall`: the ObjID is read; every exit | `served`, `serviced` |
//! | UnicastServerRef | `dispatch`, `oldDispatch`, `logCall`, `logCallException` | `operation`, `hash`, `dispatching`, `calling`, `failed` |
//!
//! Each place is found by class, method, descriptor and, inside of a method, by what is called there, which must be
//! there once. A class in which one of its places is missing is left as it is, as a whole:
//! [`Reason::UnknownInternals`].
//!
//! What every class can tell by itself:
//!
//! | method | where | hook |
//! |---|---|---|
//! | one that calls `RemoteRef.newCall` or `RemoteRef.invoke` with a method: a stub's | entry; in front of the call; every exit | `stubEntered`, `stubCalls`, `stubReturns`, `stubThrows` |
//! | `dispatch` of a skeleton | entry; every exit | `skeletonEntered`, `skeletonReturns`, `skeletonThrows` |
//! | one that a remote interface declares: see [`remote_methods`](crate::remote_methods) | entry; every exit | `remoteEntered`, `remoteReturns`, `remoteThrows` |
//!
//! The last only where all classes are there to say which are remote: in archives. Whether such a method is called from
//! another process, and nobody else has told of that, the runtime finds out.
//!
//! Stubs that are dynamic proxies have no class file; what they do, and which connection a call takes, only the JDK's
//! classes tell. The runtime makes one record of what both tell.

use super::call_sites::ALL;
use super::{MethodSite, Transform, Transforms};
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::instruction::{Instructions, u2};
use crate::class_file::opcode::{
    ALOAD_0, ALOAD_1, ALOAD_2, ALOAD_3, ATHROW, DUP, DUP2, ICONST_0, ILOAD_2, ILOAD_3,
};
use crate::class_file::opcode::{INVOKEINTERFACE, INVOKEVIRTUAL, LLOAD, POP};
use crate::class_file::{ClassFile, ConstantPool};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, RegionHandler, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rmi;

/// A place in a class of the JDK.
struct Point {
    class: &'static str,
    method: &'static str,
    descriptor: &'static str,
    at: At,
    /// Pushes the arguments of the hook.
    load: &'static [u8],
    hook: Hook,
}

#[derive(Clone, Copy)]
enum At {
    Entry,
    /// In front of every return.
    Return,
    /// In front of every return, which takes a boolean, and where an exception leaves the method.
    Exit,
    /// Where an exception leaves the method.
    Thrown,
    /// In front of the one call of a method.
    Before(&'static str, &'static str),
    /// Behind it.
    After(&'static str, &'static str),
}

const fn at(
    class: &'static str,
    method: &'static str,
    descriptor: &'static str,
    at: At,
    load: &'static [u8],
    hook: Hook,
) -> Point {
    Point { class, method, descriptor, at, load, hook }
}

const CALL: &str = "sun/rmi/transport/StreamRemoteCall";
const SERVER: &str = "sun/rmi/server/UnicastServerRef";
const CLIENT: &str = "sun/rmi/server/UnicastRef";
const CONNECTION: &str = "sun/rmi/transport/tcp/TCPConnection";
const CHANNEL: &str = "sun/rmi/transport/tcp/TCPChannel";
const ACCEPT_LOOP: &str = "sun/rmi/transport/tcp/TCPTransport$AcceptLoop";
const ACCEPTED: &str = "sun/rmi/transport/tcp/TCPTransport$ConnectionHandler";
const TRANSPORT: &str = "sun/rmi/transport/Transport";
const INPUT: &str = "sun/rmi/transport/ConnectionInputStream";
const OUTPUT: &str = "sun/rmi/transport/ConnectionOutputStream";

/// Classes of the JDK that are stubs and skeletons.
const OWN_STUBS: [&str; 4] = [
    "sun/rmi/registry/RegistryImpl_Stub",
    "sun/rmi/registry/RegistryImpl_Skel",
    "sun/rmi/transport/DGCImpl_Stub",
    "sun/rmi/transport/DGCImpl_Skel",
];

#[rustfmt::skip]
const POINTS: [Point; 22] = [
    at(CONNECTION, "<init>", "(Lsun/rmi/transport/tcp/TCPChannel;Ljava/net/Socket;Ljava/io/InputStream;Ljava/io/OutputStream;)V",
        At::Return, &[ALOAD_0, ALOAD_2, ALOAD_3], Hook::RmiConnection),
    at(CLIENT, "invoke", "(Ljava/rmi/Remote;Ljava/lang/reflect/Method;[Ljava/lang/Object;J)Ljava/lang/Object;",
        At::Entry, &[ALOAD_0, ALOAD_2, LLOAD, 4], Hook::RmiInvoking),
    at(CLIENT, "newCall", "(Ljava/rmi/server/RemoteObject;[Ljava/rmi/server/Operation;IJ)Ljava/rmi/server/RemoteCall;",
        At::Entry, &[ALOAD_0, ALOAD_2, ILOAD_3, LLOAD, 4], Hook::RmiNewCall),
    at(ACCEPT_LOOP, "<init>", "(Lsun/rmi/transport/tcp/TCPTransport;Ljava/net/ServerSocket;)V",
        At::Return, &[ALOAD_2], Hook::RmiListening),
    at(ACCEPTED, "<init>", "(Lsun/rmi/transport/tcp/TCPTransport;Ljava/net/Socket;Ljava/lang/String;)V",
        At::Return, &[ALOAD_2], Hook::RmiAccepted),
    at(CALL, "<init>", "(Lsun/rmi/transport/Connection;Ljava/rmi/server/ObjID;IJ)V",
        At::After("java/lang/Object.<init>", "()V"), &[ALOAD_0, ALOAD_1, ALOAD_2, ILOAD_3, LLOAD, 4], Hook::RmiCallMade),
    at(CALL, "executeCall", "()V", At::Entry, &[ALOAD_0], Hook::RmiSent),
    at(CALL, "exceptionReceivedFromServer", "(Ljava/lang/Exception;)V", At::Entry, &[ALOAD_0, ALOAD_1], Hook::RmiThrown),
    at(INPUT, "readID", "()V",
        At::After("java/rmi/server/UID.read", "(Ljava/io/DataInput;)Ljava/rmi/server/UID;"), &[DUP], Hook::RmiReturned),
    at(CHANNEL, "newConnection", "()Lsun/rmi/transport/Connection;", At::Thrown, &[DUP], Hook::RmiUnmade),
    at(CHANNEL, "free", "(Lsun/rmi/transport/Connection;Z)V", At::Entry, &[ALOAD_1, ILOAD_2], Hook::RmiFreed),
    at(CALL, "<init>", "(Lsun/rmi/transport/Connection;)V", At::Return, &[ALOAD_0, ALOAD_1], Hook::RmiReceiving),
    at(TRANSPORT, "serviceCall", "(Ljava/rmi/server/RemoteCall;)Z",
        At::After("java/rmi/server/ObjID.read", "(Ljava/io/ObjectInput;)Ljava/rmi/server/ObjID;"), &[DUP], Hook::RmiServed),
    at(TRANSPORT, "serviceCall", "(Ljava/rmi/server/RemoteCall;)Z", At::Exit, &[], Hook::RmiServiced),
    at(SERVER, "dispatch", "(Ljava/rmi/Remote;Ljava/rmi/server/RemoteCall;)V",
        At::After("java/io/ObjectInput.readInt", "()I"), &[DUP], Hook::RmiOperation),
    at(SERVER, "dispatch", "(Ljava/rmi/Remote;Ljava/rmi/server/RemoteCall;)V",
        At::After("java/io/ObjectInput.readLong", "()J"), &[DUP2], Hook::RmiHash),
    at(SERVER, "dispatch", "(Ljava/rmi/Remote;Ljava/rmi/server/RemoteCall;)V",
        At::Before("java/lang/reflect/Method.invoke", "(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;"), &[], Hook::RmiCalling),
    at(SERVER, "oldDispatch", "(Ljava/rmi/Remote;Ljava/rmi/server/RemoteCall;I)V",
        At::After("java/io/ObjectInput.readLong", "()J"), &[DUP2], Hook::RmiHash),
    at(SERVER, "logCall", "(Ljava/rmi/Remote;Ljava/lang/Object;)V", At::Entry, &[ALOAD_1, ALOAD_2], Hook::RmiDispatching),
    at(SERVER, "logCallException", "(Ljava/lang/Throwable;)V", At::Entry, &[ALOAD_1], Hook::RmiFailed),
    at(CALL, "releaseInputStream", "()V", At::Entry, &[ALOAD_0], Hook::RmiInputReleased),
    // Two values are on the stack, the UID under the stream.
    at(OUTPUT, "writeID", "()V",
        At::Before("java/rmi/server/UID.write", "(Ljava/io/DataOutput;)V"), &[DUP2, POP], Hook::RmiAnswering),
];

/// The JDK's module of the classes that the transform changes.
pub const MODULE: &str = "java.rmi";

/// Internal names of the JDK's classes that the transform changes, each once.
pub fn internals() -> impl Iterator<Item = &'static str> {
    let is_first = |(at, point): &(usize, &Point)| POINTS[..*at].iter().all(|of| of.class != point.class);
    let with_points = POINTS.iter().enumerate().filter(is_first).map(|(_, point)| point.class);
    with_points.chain(OWN_STUBS)
}

/// Whether this is a class of the JDK that the transform changes.
pub fn is_internal(class: &[u8]) -> bool {
    class.starts_with(b"sun/rmi/") && internals().any(|internal| internal.as_bytes() == class)
}

fn points(class: &[u8]) -> impl Iterator<Item = &'static Point> {
    POINTS.iter().filter(move |point| point.class.as_bytes() == class)
}

/// Whether a class of the JDK has all the places that are looked for in it; true for any other class.
pub(crate) fn fits(class: &ClassFile<'_>, name: &[u8]) -> bool {
    let fits = |point: &Point| {
        let mut methods = class.methods();
        while let Ok(Some(method)) = methods.next() {
            if method.name(&class.pool) == Ok(point.method.as_bytes())
                && method.descriptor(&class.pool) == Ok(point.descriptor.as_bytes())
            {
                let Ok(Some(code)) = method.code(&class.pool) else { return false };
                return match point.at {
                    At::Before(callee, descriptor) | At::After(callee, descriptor) => {
                        only_call(code.code, &class.pool, callee, descriptor).is_some()
                    }
                    At::Entry | At::Return | At::Exit | At::Thrown => true,
                };
            }
        }
        false
    };
    points(name).all(fits)
}

/// The one call of a method, `class.name`: its pc and length.
fn only_call(code: &[u8], pool: &ConstantPool<'_>, callee: &str, descriptor: &str) -> Option<(u32, u32)> {
    let mut found = None;
    for instruction in Instructions::new(code) {
        let instruction = instruction.ok()?;
        if !matches!(instruction.opcode, INVOKEVIRTUAL..=INVOKEINTERFACE) {
            continue;
        }
        let Ok(method) = pool.member_ref(u2(instruction.bytes, 1)) else { continue };
        let Some((class, name)) = callee.split_once('.') else { continue };
        if (method.class, method.name, method.descriptor)
            == (class.as_bytes(), name.as_bytes(), descriptor.as_bytes())
            && found.replace((instruction.pc as u32, instruction.bytes.len() as u32)).is_some()
        {
            return None;
        }
    }
    found
}

/// Whether a stub makes a call by calling this.
fn makes_call(method: &MemberRef<'_>) -> Option<()> {
    const INVOKE: &[u8] =
        b"(Ljava/rmi/Remote;Ljava/lang/reflect/Method;[Ljava/lang/Object;J)Ljava/lang/Object;";
    const NEW_CALL: &[u8] =
        b"(Ljava/rmi/server/RemoteObject;[Ljava/rmi/server/Operation;IJ)Ljava/rmi/server/RemoteCall;";
    let makes = method.class == b"java/rmi/server/RemoteRef"
        && ((method.name == b"invoke" && method.descriptor == INVOKE)
            || (method.name == b"newCall" && method.descriptor == NEW_CALL));
    makes.then_some(())
}

fn is_dispatch(site: &MethodSite<'_>) -> bool {
    !site.is_static
        && site.name == b"dispatch"
        && site.descriptor == b"(Ljava/rmi/Remote;Ljava/rmi/server/RemoteCall;IJ)V"
}

impl Transform for Rmi {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.rmi
            && (site.request.is_remote
                || site.name == b"dispatch"
                || points(site.class).any(|point| point.method.as_bytes() == site.name)
                || !site.calls_of(makes_call).is_empty())
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.rmi
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        makes_call(method).map(|()| ALL)
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let (class, name, descriptor) = (site.class, site.name, site.descriptor);
        let here =
            |point: &&Point| point.method.as_bytes() == name && point.descriptor.as_bytes() == descriptor;
        for point in points(class).filter(here) {
            plan_point(point, site, edits)?;
        }
        let calls = site.calls_of(makes_call);
        if !calls.is_empty() && !site.is_constructor {
            for (pc, ()) in calls {
                // The hash is the last argument.
                let hook = site.call(Hook::RmiStubCalls, Snippet::default().with(&[DUP2]))?;
                edits.need_stack(2);
                edits.insert(pc, Place::Before, hook);
                edits.sites.remote_calls += 1;
            }
            let entered = (Hook::RmiStubEntered, Snippet::default());
            enclose(site, edits, entered, Hook::RmiStubReturns, Hook::RmiStubThrows)?;
        }
        if is_dispatch(site) {
            let load = Snippet::default().with(&[ALOAD_1, ILOAD_3, LLOAD, 4]);
            let entered = (Hook::RmiSkeletonEntered, load);
            enclose(site, edits, entered, Hook::RmiSkeletonReturns, Hook::RmiSkeletonThrows)?;
            edits.sites.remote_calls += 1;
        }
        if site.request.is_remote {
            let name = site.push_name()?;
            let entered = Snippet::default().with(&[ALOAD_0]).then(name);
            let entered = (Hook::RmiRemoteEntered, entered);
            enclose(site, edits, entered, Hook::RmiRemoteReturns, Hook::RmiRemoteThrows)?;
            edits.sites.remote_calls += 1;
        }
        Ok(())
    }
}

fn plan_point(point: &Point, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
    let load = Snippet::default().with(point.load);
    // Of what is loaded, a long takes two slots: at most three words less than the bytes.
    edits.need_stack(point.load.len().max(2) as u16);
    match point.at {
        At::Entry => {
            let hook = site.call(point.hook, load)?;
            edits.insert(0, Place::AfterPrevious, hook);
        }
        At::Return => {
            let hook = site.call(point.hook, load)?;
            let returns = &site.scan.returns;
            returns.iter().for_each(|&pc| edits.insert(pc, Place::Before, hook));
        }
        At::Exit => {
            let returned = site.call(point.hook, Snippet::default().with(&[DUP]))?;
            let thrown = site.call(point.hook, Snippet::default().with(&[ICONST_0]))?.with(&[ATHROW]);
            exits(site, edits, returned, thrown);
        }
        At::Thrown => {
            // Nothing but the exception is known in a handler.
            let thrown = site.call(point.hook, load)?.with(&[ATHROW]);
            handler(edits, thrown, vec![(0, site.code.code.len() as u32)]);
        }
        At::Before(callee, descriptor) | At::After(callee, descriptor) => {
            let call = only_call(site.code.code, site.pool, callee, descriptor);
            let (pc, length) = call.ok_or(Reason::UnknownInternals)?;
            let hook = site.call(point.hook, load)?;
            match point.at {
                At::Before(..) => edits.insert(pc, Place::Before, hook),
                _ => edits.insert(pc + length, Place::AfterPrevious, hook),
            }
        }
    }
    edits.sites.remote_calls += 1;
    Ok(())
}

/// Hooks at the entry and at every exit.
fn enclose(
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
    entered: (Hook, Snippet),
    returns: Hook,
    throws: Hook,
) -> Result<(), Reason> {
    let (hook, load) = entered;
    let entered = site.call(hook, load)?;
    edits.need_stack(load.length() as u16);
    edits.insert(0, Place::AfterPrevious, entered);
    let returned = site.call(returns, Snippet::default())?;
    let thrown = site.call(throws, Snippet::default().with(&[DUP]))?.with(&[ATHROW]);
    exits(site, edits, returned, thrown);
    Ok(())
}

/// In front of every return, and a handler that all but the returns, each with its hook, lead to.
fn exits(site: &MethodSite<'_>, edits: &mut Edits, returned: Snippet, thrown: Snippet) {
    let mut ranges = Vec::new();
    let mut from = 0;
    for &pc in &site.scan.returns {
        edits.insert(pc, Place::Before, returned);
        if from < pc {
            ranges.push((from, pc));
        }
        from = pc + 1;
    }
    let end = site.code.code.len() as u32;
    if from < end {
        ranges.push((from, end));
    }
    handler(edits, thrown, ranges);
}

/// A handler for what nothing else in the method handles.
fn handler(edits: &mut Edits, snippet: Snippet, ranges: Vec<(u32, u32)>) {
    edits.least_stack = edits.least_stack.max(2);
    edits.region_handlers.push(RegionHandler {
        snippets: vec![snippet],
        start: None,
        ranges,
        locals: Vec::new(),
    });
}
