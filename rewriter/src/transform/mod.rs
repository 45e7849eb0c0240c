//! What is injected: one file per transform, and [one table](Transforms) of all of them in their order.
//!
//! | transform | what it makes a program tell |
//! |---|---|
//! | [`method_events`] | every entry and exit of every method, normal or by exception |
//! | [`bytecodes`] | how many instructions every call executes |
//! | [`lines`] | how often every line and branch is executed |
//! | [`allocation`] | every array and object that a method creates |
//! | [`thread_links`] | which call started a thread |
//! | [`hand_over`], [`given_tasks`], [`streams`] | which call handed a task to another thread |
//! | [`references`] | the same of method references to such calls |
//! | [`values`] | which statements are sent to databases, which requests are made and served, which files are opened |
//! | [`library_calls`] | every call into a class that is not rewritten; `waits`: calls of methods that [block](crate::library::blocking) |
//! | [`parks`] | which locks of `java.util.concurrent` threads wait for |
//! | [`rmi`] | which calls are made and served by remote method invocation |
//! | [`http`] | which requests by HTTP are made and served, as remote calls |
//! | [`grpc`] | which calls are made and served by gRPC |
//! | [`messages`] | which messages are sent and received by JMS |
//! | [`reflection`] | what calls by reflection are about to call |
//! | [`regions`] | how long control stays in a code region |
//! | [`own_calls`] | whatever a user of this crate has it tell, by calls of static methods |
//!
//! A transform only says what goes where; relocation, frames and tables are the business of
//! [`rewrite`](crate::rewrite).

pub mod allocation;
mod around;
mod beside;
pub mod boot_modules;
pub mod boot_probes;
pub mod bytecodes;
pub(crate) mod call_sites;
pub mod given_tasks;
pub mod grpc;
pub mod hand_over;
pub mod http;
pub mod library_calls;
pub mod lines;
pub mod messages;
pub mod method_events;
mod operands;
pub mod own_calls;
pub mod parks;
pub mod references;
pub mod reflection;
pub mod regions;
pub mod rmi;
mod site;
pub mod streams;
mod table;
pub mod thread_links;
pub mod values;

pub use crate::code::hooks;

use crate::class_file::constant_pool::MemberRef;
use crate::class_file::{ClassFile, CodeAttribute, ConstantPool};
use crate::code::Reason;
use crate::code::code_scan::CodeScan;
use crate::code::constant_pool_appender::ConstantPoolAppender;
use crate::code::edits::{Edits, Snippet};
use crate::code::uninitialized::Flow;
use crate::region::RegionFault;
use call_sites::{Call, LibraryCall, Made};
use own_calls::{InsertCalls, Placed};
use regions::Located;

/// One change to a method.
///
/// Contract: a transform
/// - looks at the method as it was before any transform, so that transforms can be combined in any set;
/// - inserts only snippets that leave the operand stack as they found it, and says how much of it they need;
/// - calls nothing but the static methods of [`hooks`];
/// - refuses with a [`Reason`] rather than guess: then the whole method stays as it was.
pub(crate) trait Transform {
    /// Whether it may have something to insert: a quick look, for every method of a class.
    fn concerns(&self, site: &MethodSite<'_>) -> bool;

    /// Adds this transform's insertions to `edits`. Called for methods that it [`concerns`](Self::concerns).
    ///
    /// # Errors
    /// Why the method has to stay as it is.
    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason>;

    /// Whether it looks for calls in a class with this constant pool.
    fn looks_for_calls(&self, _of: &Transforms, _pool: &ConstantPool<'_>) -> bool {
        false
    }

    /// With which instructions calls of `method` are made that it looks for; none: it looks for others. Of a method that is of interest to two
    /// transforms both look for the same instructions.
    fn finds(&self, _method: &MemberRef<'_>, _of: &Transforms) -> Option<&'static [u8]> {
        None
    }

    /// Whether it may have something to tell [besides](Transforms::beside) the methods of a class with this constant pool.
    fn may_be_beside(&self, _of: &Transforms, _pool: &ConstantPool<'_>) -> bool {
        false
    }
}

table::transforms! {
    // Row: the transform; the options that ask for it; and why it has its place. What follows an instruction is inserted in the order of the
    // rows, and so is what is in front of one.
    //
    // What follows a call follows its end.
    library_calls::LibraryExits {}
    // A region ends in front of the method that it is part of.
    regions::Regions {}
    // Of one class that has no other.
    parks::Parks {
        /// [`parks`].
        parks
    }
    // What a method serves ends in front of its own end.
    rmi::Rmi {
        /// [`rmi`].
        rmi
    }
    // A call whose counters cannot be had has not begun.
    lines::Lines {
        /// [`lines`].
        lines
    }
    // The ends that `method-events` inserts tell the count.
    bytecodes::Bytecodes {
        /// [`bytecodes`]; [`method_events`](Self::method_events) belongs to it.
        bytecodes
    }
    // What it serves ends in front of its own end.
    http::Http {
        /// [`http`].
        remote_http
    }
    grpc::Grpc {
        /// [`grpc`].
        remote_grpc
    }
    messages::Messages {
        /// [`messages`].
        remote_jms
    }
    // Behind everything that has its end within the call.
    method_events::MethodEvents {
        /// [`method_events`].
        method_events
    }
    // A task's own method ends within what ran on behalf of who gave it.
    given_tasks::GivenTasks {
        /// [`given_tasks`]; [`hand_over`](Self::hand_over) without it knows no such task.
        given_tasks
    }
    // What the call makes, calls and hands over, it does while it is open.
    allocation::ObjectInit {
        /// The part of [`allocation`] for `java.lang.Object`.
        object_init
    }
    allocation::Arrays {
        /// Its part for arrays and copies.
        array_allocation
    }
    allocation::Objects {
        /// [`allocation`]: objects, by their `new`, and arrays and copies.
        allocation
    }
    thread_links::ThreadLinks {
        /// [`thread_links`].
        thread_links
    }
    hand_over::HandOvers {
        /// [`hand_over`].
        hand_over
    }
    streams::Streams {
        /// [`streams`]; [`hand_over`](Self::hand_over) without it knows nothing of them.
        streams
    }
    references::References {
        /// [`references`], of which [`thread_links`](Self::thread_links) and [`hand_over`](Self::hand_over) know nothing by themselves.
        references
    }
    // Its ends come behind those of library calls by itself.
    values::Values {
        /// [`values`]: statements; [`method_events`](Self::method_events) belongs to it.
        jdbc,
        /// The same of requests by HTTP.
        http,
        /// The same of files.
        files
    }
    // What is rewritten for a call is rewritten before it begins.
    reflection::Reflection {
        /// [`reflection`]; no word of the command line asks for it.
        reflection
    }
    // What precedes a call precedes its beginning.
    library_calls::LibraryEntries {
        /// Calls of methods that [block](crate::library::blocking) are among the
        /// [library calls](crate::rewrite::ClassRewriter::record_library_calls); by itself it inserts nothing.
        waits
    }
    // In front of a return they are behind the event of the exit, where no handler of ours leads an exception of the called method to a
    // second one.
    own_calls::OwnCalls {}
}

/// A method that is being rewritten.
pub(crate) struct MethodSite<'a> {
    pub(crate) pool: &'a ConstantPool<'a>,
    pub(crate) appender: &'a mut ConstantPoolAppender,
    pub(crate) scan: &'a CodeScan,
    pub(crate) code: &'a CodeAttribute<'a>,
    /// The `info` of the StackMapTable.
    pub(crate) frames: Option<&'a [u8]>,
    /// What is asked for.
    pub(crate) request: &'a Request<'a>,
    /// The calls that transforms look for, by pc.
    pub(crate) calls: &'a [Call],
    /// The instructions that make [`references`], by pc.
    pub(crate) references: &'a [Made],
    /// The calls into libraries, by pc.
    pub(crate) library_calls: &'a [LibraryCall],
    /// What pushes it, once somebody has asked: a constant is appended once.
    pub(crate) pushed_id: Option<Snippet>,
    /// `<init>` of a class other than `java/lang/Object`: its `this` is uninitialised at first.
    pub(crate) is_constructor: bool,
    pub(crate) is_static: bool,
    /// Its class.
    pub(crate) file: &'a ClassFile<'a>,
    /// Internal name of its class.
    pub(crate) class: &'a [u8],
    /// Position in the class's method table.
    pub(crate) index: u16,
    pub(crate) access_flags: u16,
    pub(crate) name: &'a [u8],
    pub(crate) descriptor: &'a [u8],
    /// Computed when the first transform asks for it.
    pub(crate) flow: Option<Flow>,
    /// Faults and places of what was asked for.
    pub(crate) findings: &'a mut Findings,
}

/// What is wanted of one method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    /// The method id that the probes get.
    pub(crate) id: u32,
    pub(crate) transforms: Transforms,
    /// The method can be called from other processes.
    pub(crate) is_remote: bool,
    pub(crate) regions: &'a [Located],
    pub(crate) own_calls: Option<&'a dyn InsertCalls>,
}

/// Faults of regions, and places of the calls of a user of this crate, in one method.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The fault of each region, if it has one; empty: none has.
    pub(crate) region_faults: Vec<Option<RegionFault>>,
    pub(crate) placed: Vec<Placed>,
}

impl Findings {
    pub(crate) fn clear(&mut self) {
        self.region_faults.clear();
        self.placed.clear();
    }
}
