//! Writing: a class goes in, the same class with the transforms' insertions comes out.
//!
//! | module | what it moves |
//! |---|---|
//! | `relocation` | instructions, branches, switches |
//! | `exception_table` | ranges and handlers |
//! | `stack_map_table` | frames |
//! | `debug_tables`, `type_annotations` | line numbers, local variables, type annotations |
//! | `constant_pool_appender` | nothing: it only appends |
//! | `wrapper` | the code of methods without room for probes, into a method of its own |
//! | [`natives`] | native methods, behind a wrapper; before a class is rewritten |
//!
//! The output is assembled from slices of the input and what changed: see [`ClassRewriter::rewrite`].

pub(crate) mod code_scan;
pub(crate) mod constant_pool_appender;
mod debug_tables;
pub(crate) mod edits;
mod exception_table;
mod method;
pub mod module_info;
pub mod natives;
mod relocation;
mod report;
mod skip;
mod stack_map_table;
#[cfg(test)]
mod testing;
mod type_annotations;
pub(crate) mod uninitialized;
mod wrapper;

use crate::class_file::{ClassFile, ConstantPool, version};
use crate::error::ClassError;
use crate::filter::is_own;
use crate::region::{Region, RegionFault};
use crate::remote_methods::{MethodSet, RemoteMethods};
use crate::transform::call_sites::CallSites;
use crate::transform::hooks::Reach;
use crate::transform::own_calls::{InsertCalls, Placed};
use crate::transform::regions::Located;
use crate::transform::rmi;
use crate::validity::Validity;
use constant_pool_appender::ConstantPoolAppender;
use method::{MethodRewriter, Request};
pub use report::{Choice, MethodEvent, MethodRef, MethodReport, Note, Outcome, RegionReport};
pub use skip::SkipReason;
use std::collections::BTreeMap;
use std::sync::Arc;
pub use wrapper::LargeMethods;
use wrapper::{Large, Names};

/// `ACC_MODULE` (JVMS 4.1).
const ACC_MODULE: u16 = 0x8000;
const ACC_PUBLIC: u16 = 0x0001;
const ACC_STATIC: u16 = 0x0008;
const ACC_NATIVE: u16 = 0x0100;
const ACC_ABSTRACT: u16 = 0x0400;

/// Which transforms to apply, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transforms {
    /// [`method_events`](crate::transform::method_events).
    pub method_events: bool,
    /// [`bytecodes`](crate::transform::bytecodes); [`method_events`](Self::method_events) belongs to it.
    pub bytecodes: bool,
    /// [`lines`](crate::transform::lines).
    pub lines: bool,
    /// [`allocation`](crate::transform::allocation).
    pub allocation: bool,
    /// Its part for arrays and copies.
    pub array_allocation: bool,
    /// Its part for `java.lang.Object`.
    pub object_init: bool,
    /// [`thread_links`](crate::transform::thread_links).
    pub thread_links: bool,
    /// [`hand_over`](crate::transform::hand_over).
    pub hand_over: bool,
    /// [`parks`](crate::transform::parks).
    pub parks: bool,
    /// [`rmi`].
    pub rmi: bool,
    /// [`values`](crate::transform::values); [`method_events`](Self::method_events) belongs to it.
    pub jdbc: bool,
    /// The same of requests by HTTP.
    pub http: bool,
    /// The same of files.
    pub files: bool,
    /// Calls of methods that [block](crate::library::blocking) are among the [library calls](ClassRewriter::record_library_calls); by itself
    /// it inserts nothing.
    pub waits: bool,
}

impl Transforms {
    /// None of them.
    pub const NONE: Self = Self {
        method_events: false,
        bytecodes: false,
        lines: false,
        allocation: false,
        array_allocation: false,
        object_init: false,
        thread_links: false,
        hand_over: false,
        parks: false,
        rmi: false,
        jdbc: false,
        http: false,
        files: false,
        waits: false,
    };
    /// All of them.
    pub const ALL: Self = Self {
        method_events: true,
        bytecodes: true,
        lines: true,
        allocation: true,
        array_allocation: true,
        object_init: true,
        thread_links: true,
        hand_over: true,
        parks: true,
        rmi: true,
        jdbc: true,
        http: true,
        files: true,
        waits: true,
    };

    /// Arrays and copies alone.
    pub(crate) const ARRAYS: Self = Self { array_allocation: true, ..Self::NONE };

    /// Whether calls are split by values.
    pub(crate) fn splits_by_values(&self) -> bool {
        self.jdbc || self.http || self.files
    }

    /// Whether arrays and copies are told of.
    pub(crate) fn makes_arrays_tell(&self) -> bool {
        self.allocation || self.array_allocation
    }
}

/// Rewrites classes one after the other; its buffers are used again.
#[derive(Debug, Default)]
pub struct ClassRewriter {
    transforms: Transforms,
    reach: Reach,
    offsets: Vec<u32>,
    appender: ConstantPoolAppender,
    method: MethodRewriter,
    calls: CallSites,
    /// The method table of the class in work, up to what was copied.
    methods: Vec<u8>,
    /// Methods that the class in work gets, behind its own.
    bodies: Vec<u8>,
    bodies_count: u16,
    large_methods: LargeMethods,
    /// Of the class in work, once it has a large method.
    names: Option<Names>,
    reports: Vec<MethodReport>,
    regions: Arc<[Region]>,
    region_reports: Vec<RegionReport>,
    remote_methods: Option<Arc<RemoteMethods>>,
    validity: Option<Validity>,
    own_calls: Option<Arc<dyn InsertCalls>>,
    /// What became of them in the class in work.
    own_placed: Vec<Placed>,
}

impl ClassRewriter {
    /// A rewriter that applies `transforms`.
    pub fn new(transforms: Transforms) -> Self {
        Self { transforms, ..Self::default() }
    }

    /// A rewriter that applies `transforms` and times `regions`.
    pub fn with_regions(transforms: Transforms, regions: Arc<[Region]>) -> Self {
        Self { transforms, regions, ..Self::default() }
    }

    /// How the classes from now on call the runtime.
    pub fn call(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// The calls into libraries that the next class makes: index in its constant pool and id, by ascending index; see
    /// [`library`](crate::library). None, unless this was called for that class.
    pub fn record_library_calls(&mut self, calls: impl IntoIterator<Item = (u16, u32)>) {
        self.calls.library.clear();
        self.calls.library.extend(calls);
    }

    /// Which methods can be called from other processes; without this, `rmi` knows of none.
    pub fn set_remote_methods(&mut self, remote_methods: Option<Arc<RemoteMethods>>) {
        self.remote_methods = remote_methods;
    }

    /// From now on leaves classes that the JVM refuses and would not refuse any more when they are rewritten:
    /// [`BadCode`](SkipReason::BadCode), [`BadConstantIndex`](SkipReason::BadConstantIndex), [`BadMaxStack`](SkipReason::BadMaxStack). Without this, classes are taken for valid.
    pub fn leave_invalid(&mut self) {
        self.validity.get_or_insert_default();
    }

    /// What becomes of methods that have no room for their probes; without this, they are left.
    pub fn set_large_methods(&mut self, large_methods: LargeMethods) {
        self.large_methods = large_methods;
    }

    /// The calls of one's own that methods get from now on, besides what the transforms insert; see
    /// [`own_calls`](crate::transform::own_calls).
    pub fn insert_calls(&mut self, inserter: Option<Arc<dyn InsertCalls>>) {
        self.own_calls = inserter;
    }

    /// What became of the regions that lie in the last class.
    pub fn region_reports(&self) -> &[RegionReport] {
        &self.region_reports
    }

    /// What there is to say about the methods of the last class, in method order.
    pub fn reports(&self) -> &[MethodReport] {
        &self.reports
    }

    /// Rewrites one class. `choose` is asked for every method with code, in order.
    ///
    /// Appends the new class to `out` if the outcome is [`Outcome::Rewritten`], else nothing.
    ///
    /// Steps:
    /// 1. Walk the pool, the fields and the methods; rewrite each chosen method's Code attribute into
    ///    `methods`, everything around it is copied; a method that is refused is copied, too.
    /// 2. Assemble: head, pool, appended pool entries, fields, new methods, class attributes.
    ///
    /// # Errors
    /// The bytes are no complete class file.
    pub fn rewrite(
        &mut self,
        bytes: &[u8],
        mut choose: impl FnMut(&MethodRef<'_>) -> Choice,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, ClassError> {
        self.reports.clear();
        self.region_reports.clear();
        let class = ClassFile::parse_head(bytes, std::mem::take(&mut self.offsets))?;
        let outcome = self.rewrite_methods(&class, &mut choose, out);
        self.calls.library.clear();
        self.offsets = class.pool.into_buffer();
        outcome
    }

    fn rewrite_methods(
        &mut self,
        class: &ClassFile<'_>,
        choose: &mut impl FnMut(&MethodRef<'_>) -> Choice,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, ClassError> {
        if let Some(reason) = refusal(class) {
            let left = Err(RegionFault::MethodLeft(reason.as_str()));
            let name = class.name().unwrap_or_default();
            let regions = self.regions.iter().enumerate().filter(|(_, region)| region.is_in(name));
            self.region_reports
                .extend(regions.map(|(region, _)| RegionReport { region, outcome: left.clone() }));
            return Ok(Outcome::Skipped(reason));
        }
        if self.transforms.rmi && !rmi::fits(class, class.name()?) {
            return Ok(Outcome::Skipped(SkipReason::UnknownInternals));
        }
        let mut wanted = self.locate_regions(class.name()?, class);
        let (bytes, pool) = (class.bytes, &class.pool);
        let served = match &self.remote_methods {
            Some(methods) if self.transforms.rmi => methods.of(class.name()?).unwrap_or_default(),
            _ => MethodSet::default(),
        };
        self.appender.reset(pool, self.reach);
        self.calls.begin_class(pool, &self.transforms);
        self.methods.clear();
        self.bodies.clear();
        self.bodies_count = 0;
        self.names = None;
        let inserter = self.own_calls.clone();
        self.own_placed.clear();
        let mut copied = class.methods_start();
        let mut rewritten = 0;
        let mut walk = class.methods();
        let mut index = 0u16;
        while let Some(mut member) = walk.open()? {
            let has_code = may_have_code(member.access_flags);
            let mut chosen = None;
            while let Some(attribute) = member.attributes.next()? {
                if chosen.is_some() || !has_code || !is_code(pool, attribute.name_index) {
                    continue;
                }
                let method = MethodRef {
                    index,
                    access_flags: member.access_flags,
                    name: pool.utf8(member.name_index)?,
                    descriptor: pool.utf8(member.descriptor_index)?,
                };
                chosen = Some(choose(&method));
                let regions = wanted.remove(&index).unwrap_or_default();
                let (id, transforms, regions) = match chosen {
                    Some(Choice::Rewrite(id)) => (id, self.transforms, regions),
                    _ => {
                        let left = RegionFault::MethodLeft(SkipReason::Excluded.as_str());
                        self.report_regions(&regions, |_| Err(left.clone()));
                        match chosen {
                            Some(Choice::Arrays) => (0, Transforms::ARRAYS, Vec::new()),
                            Some(Choice::Calls(id)) if self.transforms.array_allocation => {
                                (id, Transforms::ARRAYS, Vec::new())
                            }
                            Some(Choice::Calls(id)) => (id, Transforms::NONE, Vec::new()),
                            _ => continue,
                        }
                    }
                };
                let located: Vec<Located> = regions.iter().map(|region| region.1).collect();
                let is_remote = !served.is_empty()
                    && method.access_flags & (ACC_PUBLIC | ACC_STATIC) == ACC_PUBLIC
                    && served.contains(&(method.name.into(), method.descriptor.into()));
                let is_left = !matches!(chosen, Some(Choice::Rewrite(_)));
                // What is left is not told of, but for its arrays.
                let own_calls = inserter.as_deref().filter(|_| chosen != Some(Choice::Arrays));
                let request = Request { id, transforms, is_remote, regions: &located, own_calls };
                let (length, mark) = (self.methods.len(), self.appender.mark());
                self.methods.extend_from_slice(&bytes[copied..attribute.offset]);
                let result = self.method.rewrite(
                    class,
                    &method,
                    &attribute,
                    &request,
                    &mut self.calls,
                    &mut self.appender,
                    &mut self.methods,
                );
                match result {
                    Ok(changed) => {
                        copied = attribute.end();
                        rewritten += u32::from(changed);
                        self.own_placed.append(&mut self.method.own_placed);
                        if !changed && !is_left {
                            self.reports.push(MethodReport { index, event: MethodEvent::Unchanged });
                        }
                        self.method.report(index, &mut self.reports);
                        let faults = std::mem::take(&mut self.method.region_faults);
                        let fault = |position: usize| faults.get(position).cloned().flatten();
                        self.report_regions(&regions, |position| fault(position).map_or(Ok(index), Err));
                    }
                    Err(reason) => {
                        self.methods.truncate(length);
                        self.appender.roll_back(mark);
                        let descriptor_index = member.descriptor_index;
                        let large = Large { method, descriptor_index, attribute, request, regions: &regions };
                        if self.try_wrap(class, &large, copied, reason) {
                            copied = attribute.end();
                            rewritten += 1;
                            continue;
                        }
                        self.reports.push(MethodReport { index, event: MethodEvent::Skipped(reason) });
                        self.report_regions(&regions, |_| Err(RegionFault::MethodLeft(reason.as_str())));
                    }
                }
            }
            walk.close(member.attributes.position());
            if chosen.is_none() {
                self.reports.push(MethodReport { index, event: MethodEvent::Skipped(SkipReason::NoCode) });
            }
            index = index.wrapping_add(1);
        }
        let end = walk.position();
        // The class attributes are walked for the check alone.
        class.finish_check(end)?;
        if rewritten == 0 {
            self.tell(inserter.as_deref());
            return Ok(Outcome::Unchanged);
        }
        if let Some(validity) = &mut self.validity
            && let Some(reason) = validity.refusal(class, end)?
        {
            self.reports.clear();
            for report in &mut self.region_reports {
                report.outcome = Err(RegionFault::MethodLeft(reason.as_str()));
            }
            return Ok(Outcome::Skipped(reason));
        }
        self.tell(inserter.as_deref());
        let new = self.appender.bytes();
        out.reserve([bytes.len(), new.len(), self.methods.len(), self.bodies.len()].iter().sum());
        out.extend_from_slice(&bytes[..pool.start()]);
        out.extend_from_slice(&self.appender.count().to_be_bytes());
        out.extend_from_slice(&bytes[pool.start() + 2..pool.end()]);
        out.extend_from_slice(new);
        out.extend_from_slice(&bytes[pool.end()..class.methods_start() - 2]);
        out.extend_from_slice(&(class.methods_count() + self.bodies_count).to_be_bytes());
        out.extend_from_slice(&self.methods);
        out.extend_from_slice(&bytes[copied..end]);
        out.extend_from_slice(&self.bodies);
        out.extend_from_slice(&bytes[end..]);
        Ok(Outcome::Rewritten)
    }
}

impl ClassRewriter {
    /// Tells what became of the calls of a user of this crate.
    fn tell(&self, inserter: Option<&dyn InsertCalls>) {
        if let Some(inserter) = inserter.filter(|_| !self.own_placed.is_empty()) {
            inserter.inserted(&self.own_placed);
        }
    }
}

/// The regions of a class by method index: position in the list of regions, number and range.
type Wanted = BTreeMap<u16, Vec<(usize, Located)>>;

impl ClassRewriter {
    /// Finds the regions that lie in this class.
    fn locate_regions(&mut self, name: &[u8], class: &ClassFile<'_>) -> Wanted {
        let mut wanted = Wanted::new();
        for (position, region) in self.regions.iter().enumerate().filter(|(_, region)| region.is_in(name)) {
            match region.locate(class) {
                Ok((index, range)) => {
                    wanted.entry(index).or_default().push((position, (region.number, range)));
                }
                Err(fault) => {
                    self.region_reports.push(RegionReport { region: position, outcome: Err(fault) })
                }
            }
        }
        wanted
    }

    fn report_regions(
        &mut self,
        regions: &[(usize, Located)],
        outcome: impl Fn(usize) -> Result<u16, RegionFault>,
    ) {
        let reports = regions.iter().enumerate();
        self.region_reports.extend(
            reports.map(|(position, region)| RegionReport { region: region.0, outcome: outcome(position) }),
        );
    }
}

/// JVMS 4.7.3: a native or abstract method has no Code attribute; HotSpot refuses the class if it has.
pub(crate) fn may_have_code(access_flags: u16) -> bool {
    access_flags & (ACC_NATIVE | ACC_ABSTRACT) == 0
}

fn is_code(pool: &ConstantPool<'_>, name_index: u16) -> bool {
    pool.utf8_or_empty(name_index) == b"Code"
}

/// Why no method of this class is touched.
pub(crate) fn refusal(class: &ClassFile<'_>) -> Option<SkipReason> {
    if !version::is_supported(class.major_version, class.minor_version) {
        Some(SkipReason::UnsupportedVersion)
    } else if class.access_flags & ACC_MODULE != 0 {
        Some(SkipReason::NotCode)
    } else if class.name().is_ok_and(is_own) {
        Some(SkipReason::OwnRuntime)
    } else if class.pool.names_the_runtime() {
        Some(SkipReason::AlreadyInstrumented)
    } else {
        None
    }
}
