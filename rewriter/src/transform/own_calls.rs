//! Calls of one's own: static methods that a user of this crate names, at the places that it names, with the values
//! that it names.
//!
//! | where | code |
//! |---|---|
//! | entry: in front of everything, also of what other transforms insert | push the arguments; `invokestatic` |
//! | in front of an instruction, behind what other transforms insert there | the same |
//! | behind an instruction | the same |
//! | where an exception leaves the method: catch-any handler behind the code | store the exception; the same; `athrow` it |
//!
//! What is passed are constants and the [`Value`]s that the program has there. Values on the stack are copied over
//! local variables behind the method's own; the stack is as it was when the call is made.
//!
//! Branches to an instruction pass through the calls in front of it, branches to the first instruction do not pass
//! through the entry, and branches to what follows an instruction do not pass through the calls behind it. The call of
//! an entry is made before `super()` in a constructor. What the called method throws leaves the method, unless the code
//! has a handler there. With `method_events` the calls at entry and in front of returns lie outside of the events of
//! the method, and the one where an exception leaves it in front of its end.
//!
//! [`rules`] chooses places and values by rules that a user writes down.
//!
//! ```
//! use instrument_rewriter::rewrite::{Choice, ClassRewriter, Outcome, Transforms};
//! use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method, Value};
//! use std::sync::Arc;
//!
//! /// `com.acme.Hooks.entered("name of the method")` at every entry, `com.acme.Hooks.left(Throwable)` where an exception leaves.
//! #[derive(Debug)]
//! struct Ends {
//!     entered: Call,
//!     left: Call,
//! }
//!
//! impl InsertCalls for Ends {
//!     fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
//!         if let Ok(call) = self.entered.clone().with_name(method.name) {
//!             // A constant can be passed everywhere.
//!             let _ = calls.at_entry(call);
//!         }
//!         // No exception leaves a method that only returns: that is an error, too.
//!         let _ = calls.at_throw(self.left.clone());
//!     }
//! }
//!
//! let class = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/Greeter.class"));
//! let mut rewriter = ClassRewriter::new(Transforms::NONE);
//! let entered = Call::new("com/acme/Hooks", "entered")?;
//! let left = Call::new("com/acme/Hooks", "left")?.with_value(Value::Exception, b"Ljava/lang/Throwable;")?;
//! rewriter.insert_calls(Some(Arc::new(Ends { entered, left })));
//! let mut rewritten = Vec::new();
//! let outcome = rewriter.rewrite(class, |_| Choice::Rewrite(1), &mut rewritten)?;
//! assert_eq!(outcome, Outcome::Rewritten);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod absent;
mod call;
mod emit;
mod places;
pub mod rules;

use super::{MethodSite, Transform};
use crate::class_file::annotation::annotation_types;
use crate::class_file::{Attributes, ClassFile, CodeAttribute, ConstantPool};
use crate::code::Reason;
use crate::code::code_scan::CodeScan;
use crate::code::edits::Edits;
use crate::code::uninitialized;
pub use absent::Absent;
pub use call::{BadCall, Call, Value};
use emit::Emission;
pub use places::Operation;
use places::{At, Places};
use std::collections::BTreeMap;
use std::fmt;

/// Says which calls methods get. One object serves all threads.
pub trait InsertCalls: fmt::Debug + Send + Sync {
    /// Called for each method with code that is rewritten, in the order of the class; adds to `calls` what this method
    /// gets.
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>);

    /// Whether a method (internal name of its class, its name and descriptor, in modified UTF-8) may get calls. Others
    /// are left as they are unless something else is inserted.
    fn concerns(&self, _class: &[u8], _name: &[u8], _descriptor: &[u8]) -> bool {
        true
    }

    /// Whether calls pass [`Method::id`]: methods that are left but for these calls get one then.
    fn pass_ids(&self) -> bool {
        true
    }

    /// Called for each class that was rewritten or left unchanged: what became of the calls that
    /// [`insert`](Self::insert) has added to it under a number.
    fn inserted(&self, _placed: &[Placed]) {}
}

/// A call that was added under a number; see [`Calls::under`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placed {
    /// The number.
    pub number: u32,
    /// The method, by its position in the class.
    pub method: u16,
    /// Why there is none, if there is none.
    pub absent: Option<Absent>,
}

/// A method as it was before anything was inserted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Method<'a> {
    /// Internal name of its class, modified UTF-8.
    pub class: &'a [u8],
    /// Unqualified name, modified UTF-8.
    pub name: &'a [u8],
    /// Descriptor (JVMS 4.3.3), modified UTF-8.
    pub descriptor: &'a [u8],
    /// `access_flags` (JVMS table 4.6-A).
    pub access_flags: u16,
    /// What it was given by [`Choice::Rewrite`](crate::rewrite::Choice::Rewrite).
    pub id: u32,
    /// The constant pool that the code names.
    pub pool: &'a ConstantPool<'a>,
    /// Its code: the instructions are those of `Instructions::new(method.code.code)`.
    pub code: &'a CodeAttribute<'a>,
    /// The class file.
    file: &'a [u8],
    /// Position in the class.
    index: u16,
}

impl Method<'_> {
    /// Descriptors of the types of the annotations that the method has in the class file, whether they are visible at
    /// run time or not.
    pub fn annotations(&self) -> Vec<Vec<u8>> {
        let of = |class: &ClassFile<'_>| {
            let mut methods = class.methods();
            for _ in 0..self.index {
                methods.next().ok()?;
            }
            Some(annotations(methods.next().ok()??.attributes(), &class.pool))
        };
        ClassFile::parse(self.file).ok().and_then(|class| of(&class)).unwrap_or_default()
    }

    /// The same of its class.
    pub fn class_annotations(&self) -> Vec<Vec<u8>> {
        let class = ClassFile::parse(self.file);
        class.map(|class| annotations(class.attributes(), &class.pool)).unwrap_or_default()
    }

    /// Internal names of the direct superclass and superinterfaces of its class.
    pub fn supers(&self) -> Vec<Vec<u8>> {
        let Ok(class) = ClassFile::parse(self.file) else { return Vec::new() };
        let interfaces = class.interfaces().filter_map(|index| class.pool.class_name(index).ok());
        let above = class.super_name().ok().flatten();
        above.into_iter().chain(interfaces).map(<[u8]>::to_vec).collect()
    }
}

fn annotations(mut attributes: Attributes<'_>, pool: &ConstantPool<'_>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Ok(Some(attribute)) = attributes.next() {
        let name = pool.utf8_or_empty(attribute.name_index);
        if [&b"RuntimeVisibleAnnotations"[..], b"RuntimeInvisibleAnnotations"].contains(&name) {
            let types = annotation_types(attribute.info).unwrap_or_default();
            found.extend(types.into_iter().map(|index| pool.utf8_or_empty(index).to_vec()));
        }
    }
    found
}

/// The calls that a method gets. Several at one place are made in the order in which they were added.
#[derive(Debug)]
pub struct Calls<'a> {
    scan: &'a CodeScan,
    places: Places<'a>,
    placed: Vec<(At, Call)>,
    number: Option<u32>,
    method: u16,
    reports: Vec<Placed>,
}

impl Calls<'_> {
    /// When the method is entered, once for each time.
    ///
    /// # Errors
    /// The call passes what is not there; nothing is added. So it is with the others.
    pub fn at_entry(&mut self, call: Call) -> Result<(), BadCall> {
        self.add(At::Entry, call)
    }

    /// In front of the instruction at `pc`, whichever way leads there.
    ///
    /// # Errors
    /// No instruction begins there, or the call passes what is not there.
    pub fn before(&mut self, pc: u32, call: Call) -> Result<(), BadCall> {
        self.add(At::Before(pc), call)
    }

    /// Behind the instruction at `pc`, when control goes on from it to the next.
    ///
    /// # Errors
    /// No instruction begins there, control never goes on from it, or the call passes what is not there.
    pub fn after(&mut self, pc: u32, call: Call) -> Result<(), BadCall> {
        self.add(At::After(pc), call)
    }

    /// In front of every return of the method; not where it ends by an exception.
    ///
    /// # Errors
    /// The call passes what is not there. It is then in front of no return.
    pub fn before_returns(&mut self, call: &Call) -> Result<(), BadCall> {
        for &pc in &self.scan.returns {
            self.places.check(At::Before(pc), call)?;
        }
        self.scan.returns.iter().try_for_each(|&pc| self.add(At::Before(pc), call.clone()))
    }

    /// Where an exception leaves the method, which goes on then.
    ///
    /// # Errors
    /// None can, or the call passes what is not there.
    pub fn at_throw(&mut self, call: Call) -> Result<(), BadCall> {
        self.add(At::Throw, call)
    }

    /// What is added from now on is reported to [`InsertCalls::inserted`] under this number.
    pub fn under(&mut self, number: u32) {
        self.number = Some(number);
    }

    /// Reports that a call was not added.
    pub fn leave(&mut self, absent: Absent) {
        self.report(Some(absent));
    }

    fn add(&mut self, at: At, call: Call) -> Result<(), BadCall> {
        self.places.check(at, &call)?;
        self.placed.push((at, call));
        self.report(None);
        Ok(())
    }

    fn report(&mut self, absent: Option<Absent>) {
        let method = self.method;
        self.reports.extend(self.number.map(|number| Placed { number, method, absent }));
    }
}

/// The transform; what it inserts is in the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnCalls;

impl Transform for OwnCalls {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        let inserter = site.request.own_calls;
        inserter.is_some_and(|inserter| inserter.concerns(site.class, site.name, site.descriptor))
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        match site.request.own_calls {
            Some(inserter) => plan(inserter, site, edits),
            None => Ok(()),
        }
    }
}

fn plan(inserter: &dyn InsertCalls, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
    let index = site.index;
    let method = Method {
        class: site.class,
        name: site.name,
        descriptor: site.descriptor,
        access_flags: site.access_flags,
        id: site.request.id,
        pool: site.pool,
        code: site.code,
        file: site.file.bytes,
        index,
    };
    let flow = site.flow.take();
    let walked = uninitialized::Method {
        pool: site.pool,
        code: site.code.code,
        scan: site.scan,
        exception_table: site.code.exception_table,
        frames: site.frames,
        is_constructor: site.is_constructor,
        is_static: site.is_static,
        descriptor: site.descriptor,
    };
    let places = Places::new(walked, site.class, flow);
    let mut calls = Calls {
        scan: site.scan,
        places,
        placed: Vec::new(),
        number: None,
        method: index,
        reports: Vec::new(),
    };
    inserter.insert(&method, &mut calls);
    let Calls { mut places, placed, reports: new, .. } = calls;
    site.findings.placed.extend(new);
    let emitted = emit(placed, &mut places, site, edits);
    site.flow = places.into_flow();
    emitted
}

fn emit(
    placed: Vec<(At, Call)>,
    places: &mut Places<'_>,
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
) -> Result<(), Reason> {
    let (mut entry, mut throw) = (Vec::new(), Vec::new());
    let mut around: BTreeMap<u32, [Vec<Call>; 2]> = BTreeMap::new();
    let mut passes_locals = false;
    for (at, call) in placed {
        passes_locals |= call.passes_locals();
        match at {
            At::Entry => entry.push(call),
            At::Before(pc) => around.entry(pc).or_default()[0].push(call),
            At::After(pc) => around.entry(pc).or_default()[1].push(call),
            At::Throw => throw.push(call),
        }
    }
    let ranges =
        if throw.is_empty() { Vec::new() } else { places.thrown_from().map_err(|_| Reason::BadCode)? };
    let around: Vec<_> =
        around.into_iter().map(|(pc, calls)| (pc, places.behind(pc), places.operation(pc), calls)).collect();
    let locals = match passes_locals {
        true => places.locals().map_err(|_| Reason::BadCode)?,
        false => &[],
    };
    let mut emission = Emission { site, edits, locals };
    emission.entry(&entry)?;
    for (pc, behind, operation, [before, after]) in around {
        emission.around(pc, behind, operation.as_ref(), &before, &after)?;
    }
    if !throw.is_empty() {
        emission.throw(&throw, ranges)?;
    }
    Ok(())
}
