//! One class: its methods one after the other, and what is around them.

mod large;

use super::method::{MethodRewriter, OldMethod};
use super::wrapper::Names;
use super::{
    ACC_PUBLIC, ACC_STATIC, Choice, LargeMethods, MethodEvent, MethodRef, MethodReport, Outcome, Reason,
    RegionReport, Transforms,
};
use crate::class_file::member::OpenMember;
use crate::class_file::well_known::WellKnown;
use crate::class_file::{Attributes, ClassFile};
use crate::code::constant_pool_appender::ConstantPoolAppender;
use crate::code::hooks::Reach;
use crate::code::method_code::MethodCode;
use crate::code::{may_have_code, refusal};
use crate::error::ClassError;
use crate::region::{Region, RegionFault};
use crate::remote_methods::{MethodSet, RemoteMethods};
use crate::transform::call_sites::CallSites;
use crate::transform::own_calls::{InsertCalls, Placed};
use crate::transform::regions::Located;
use crate::transform::{Request, references, rmi};
use crate::validity::Validity;
use large::Large;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rewrites classes one after the other; its buffers are used again.
#[derive(Debug, Default)]
pub struct ClassRewriter {
    transforms: Transforms,
    reach: Reach,
    offsets: Vec<u32>,
    appender: ConstantPoolAppender,
    method: MethodRewriter,
    calls: CallSites,
    /// The new method table of the class in work.
    methods: Vec<u8>,
    /// Up to here in the old class.
    copied: usize,
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

/// What is asked of the methods of the class in work.
struct Asked<'a, C> {
    class: &'a ClassFile<'a>,
    choose: C,
    /// Those in methods that were not met yet.
    regions: Wanted,
    /// The methods that can be called from other processes.
    remote: &'a MethodSet,
    inserter: Option<Arc<dyn InsertCalls>>,
}

impl<C> Asked<'_, C> {
    fn is_remote(&self, method: &MethodRef<'_>) -> bool {
        !self.remote.is_empty()
            && method.access_flags & (ACC_PUBLIC | ACC_STATIC) == ACC_PUBLIC
            && self.remote.contains(&(method.name.into(), method.descriptor.into()))
    }
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
    /// [`BadCode`](Reason::BadCode), [`BadConstantIndex`](Reason::BadConstantIndex),
    /// [`BadMaxStack`](Reason::BadMaxStack). Without this, classes are taken for valid.
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

    /// Outcome of the regions that lie in the last class.
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
        choose: impl FnMut(&MethodRef<'_>) -> Choice,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, ClassError> {
        let class = ClassFile::parse_head(bytes, std::mem::take(&mut self.offsets))?;
        let outcome = self.rewrite_parsed(&class, choose, out);
        self.offsets = class.pool.into_buffer();
        outcome
    }

    /// The same of a class of which everything in front of the methods is parsed.
    ///
    /// # Errors
    /// Its methods, or what is behind them, are not complete.
    pub(crate) fn rewrite_parsed(
        &mut self,
        class: &ClassFile<'_>,
        mut choose: impl FnMut(&MethodRef<'_>) -> Choice,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, ClassError> {
        self.reports.clear();
        self.region_reports.clear();
        let outcome = self.rewrite_methods(class, &mut choose, out);
        self.calls.library.clear();
        outcome
    }

    fn rewrite_methods(
        &mut self,
        class: &ClassFile<'_>,
        choose: &mut impl FnMut(&MethodRef<'_>) -> Choice,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, ClassError> {
        if let Some(reason) = self.refused(class)? {
            return Ok(Outcome::Skipped(reason));
        }
        let name = class.name()?;
        let regions = self.locate_regions(name, class);
        let remote = match &self.remote_methods {
            Some(methods) if self.transforms.rmi => methods.of(name).unwrap_or_default(),
            _ => MethodSet::default(),
        };
        self.begin_class(class);
        let mut asked = Asked { class, choose, regions, remote: &remote, inserter: self.own_calls.clone() };
        let (mut rewritten, mut index) = (0, 0u16);
        let mut walk = class.methods();
        while let Some(mut member) = walk.open()? {
            rewritten += u32::from(self.walk_method(&mut member, index, &mut asked)?);
            walk.close(member.attributes.position());
            index = index.wrapping_add(1);
        }
        let end = walk.position();
        // The class attributes are walked for the check alone.
        let attributes = class.attributes_behind(end)?;
        if rewritten > 0
            && let Some(reason) = self.invalid(class, attributes)?
        {
            return Ok(Outcome::Skipped(reason));
        }
        if let Some(inserter) = asked.inserter.filter(|_| !self.own_placed.is_empty()) {
            inserter.inserted(&self.own_placed);
        }
        if rewritten == 0 {
            return Ok(Outcome::Unchanged);
        }
        self.assemble(class, end, out);
        Ok(Outcome::Rewritten)
    }

    /// Walks a method's attributes, which are judged, and rewrites its code, if it is chosen; whether that changed it.
    fn walk_method(
        &mut self,
        member: &mut OpenMember<'_>,
        index: u16,
        asked: &mut Asked<'_, impl FnMut(&MethodRef<'_>) -> Choice>,
    ) -> Result<bool, ClassError> {
        let class = asked.class;
        if let Some(validity) = &mut self.validity {
            validity.method(class, member.name_index, member.descriptor_index);
        }
        let has_code = may_have_code(member.access_flags);
        let (mut is_chosen, mut changed) = (false, false);
        while let Some(attribute) = member.attributes.next()? {
            if !class.pool.is(attribute.name_index, WellKnown::Code) {
                if let Some(validity) = &mut self.validity {
                    validity.attribute(class, &attribute);
                }
                continue;
            }
            let (code, scanned) = match &mut self.validity {
                Some(validity) => validity.code(class, &attribute, &mut self.method.scan),
                None => (MethodCode::read(&attribute, &class.pool, |_| ()), None),
            };
            if is_chosen || !has_code {
                continue;
            }
            is_chosen = true;
            let (name, descriptor) =
                (class.pool.utf8(member.name_index)?, class.pool.utf8(member.descriptor_index)?);
            let method = MethodRef { index, access_flags: member.access_flags, name, descriptor };
            let old = OldMethod { class, method, attribute, code: code.as_ref(), scanned };
            changed = self.choose_method(old, member.descriptor_index, asked);
        }
        if !is_chosen {
            self.reports.push(MethodReport { index, event: MethodEvent::Skipped(Reason::NoCode) });
        }
        Ok(changed)
    }

    /// Asks what to do with a method that has code, and does it; whether that changed it.
    fn choose_method(
        &mut self,
        old: OldMethod<'_>,
        descriptor_index: u16,
        asked: &mut Asked<'_, impl FnMut(&MethodRef<'_>) -> Choice>,
    ) -> bool {
        let choice = (asked.choose)(&old.method);
        let regions = asked.regions.remove(&old.method.index).unwrap_or_default();
        let regions = self.regions_of(choice, regions);
        let Some((id, transforms)) = self.wanted(choice) else { return false };
        let located: Vec<Located> = regions.iter().map(|region| region.1).collect();
        // What is left has no calls of one's own.
        let own_calls = asked.inserter.as_deref().filter(|_| choice != Choice::Beside);
        let is_remote = asked.is_remote(&old.method);
        let request = Request { id, transforms, is_remote, regions: &located, own_calls };
        let large = Large { old, descriptor_index, request, regions: &regions };
        self.rewrite_method(&large, matches!(choice, Choice::Rewrite(_)))
    }

    /// Why the class as a whole stays as it is, if that is known before its methods are looked at.
    fn refused(&mut self, class: &ClassFile<'_>) -> Result<Option<Reason>, ClassError> {
        if let Some(reason) = refusal(class) {
            let left = Err(RegionFault::MethodLeft(reason));
            let name = class.name().unwrap_or_default();
            let regions = self.regions.iter().enumerate().filter(|(_, region)| region.is_in(name));
            self.region_reports
                .extend(regions.map(|(region, _)| RegionReport { region, outcome: left.clone() }));
            return Ok(Some(reason));
        }
        let fits = !self.transforms.rmi || rmi::fits(class, class.name()?);
        Ok((!fits).then_some(Reason::UnknownInternals))
    }

    fn begin_class(&mut self, class: &ClassFile<'_>) {
        self.appender.reset(&class.pool, self.reach);
        self.calls.begin_class(&class.pool, &self.transforms, references::of(class, &self.transforms));
        self.methods.clear();
        self.copied = class.methods_start();
        self.bodies.clear();
        self.bodies_count = 0;
        self.names = None;
        self.own_placed.clear();
        if let Some(validity) = &mut self.validity {
            validity.begin_class(class);
        }
    }

    /// The id of a method and what is inserted into it; none: it stays as it is.
    fn wanted(&self, choice: Choice) -> Option<(u32, Transforms)> {
        match choice {
            Choice::Rewrite(id) => Some((id, self.transforms)),
            Choice::Beside => Some((0, self.transforms.beside())),
            Choice::Calls(id) => Some((id, self.transforms.beside())),
            Choice::Leave => None,
        }
    }

    /// Appends the methods up to the end of this one's code, which is new if it can be; whether it is. `is_recorded`:
    /// it was chosen.
    fn rewrite_method(&mut self, large: &Large<'_>, is_recorded: bool) -> bool {
        let Large { old, request, regions, .. } = large;
        let index = old.method.index;
        let (length, mark) = (self.methods.len(), self.appender.mark());
        self.methods.extend_from_slice(&old.class.bytes[self.copied..old.attribute.offset]);
        match self.method.rewrite(old, request, &mut self.calls, &mut self.appender, &mut self.methods) {
            Ok(changed) => {
                self.copied = old.attribute.end();
                self.own_placed.append(&mut self.method.findings.placed);
                if !changed && is_recorded {
                    self.reports.push(MethodReport { index, event: MethodEvent::Unchanged });
                }
                self.method.report(index, &mut self.reports);
                let faults = std::mem::take(&mut self.method.findings.region_faults);
                let fault = |position: usize| faults.get(position).cloned().flatten();
                self.report_regions(regions, |position| fault(position).map_or(Ok(index), Err));
                changed
            }
            Err(reason) => {
                self.methods.truncate(length);
                self.appender.roll_back(mark);
                if self.try_wrap(large, reason) {
                    return true;
                }
                self.reports.push(MethodReport { index, event: MethodEvent::Skipped(reason) });
                self.report_regions(regions, |_| Err(RegionFault::MethodLeft(reason)));
                false
            }
        }
    }

    /// Why the JVM refuses the class, if somebody asks and it does; then nothing else is told of it.
    fn invalid(
        &mut self,
        class: &ClassFile<'_>,
        attributes: Attributes<'_>,
    ) -> Result<Option<Reason>, ClassError> {
        let Some(validity) = &mut self.validity else { return Ok(None) };
        let refusal = validity.finish(class, attributes)?;
        if let Some(reason) = refusal {
            self.reports.clear();
            for report in &mut self.region_reports {
                report.outcome = Err(RegionFault::MethodLeft(reason));
            }
        }
        Ok(refusal)
    }

    /// Appends the new class, whose methods end at `methods_end`.
    fn assemble(&self, class: &ClassFile<'_>, methods_end: usize, out: &mut Vec<u8>) {
        let (bytes, pool, new) = (class.bytes, &class.pool, self.appender.bytes());
        out.reserve([bytes.len(), new.len(), self.methods.len(), self.bodies.len()].iter().sum());
        out.extend_from_slice(&bytes[..pool.start()]);
        out.extend_from_slice(&self.appender.count().to_be_bytes());
        out.extend_from_slice(&bytes[pool.start() + 2..pool.end()]);
        out.extend_from_slice(new);
        out.extend_from_slice(&bytes[pool.end()..class.methods_start() - 2]);
        out.extend_from_slice(&(class.methods_count() + self.bodies_count).to_be_bytes());
        out.extend_from_slice(&self.methods);
        out.extend_from_slice(&bytes[self.copied..methods_end]);
        out.extend_from_slice(&self.bodies);
        out.extend_from_slice(&bytes[methods_end..]);
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

    /// The regions of a method that is recorded; if it is not, they are reported.
    fn regions_of(&mut self, choice: Choice, regions: Vec<(usize, Located)>) -> Vec<(usize, Located)> {
        if matches!(choice, Choice::Rewrite(_)) {
            return regions;
        }
        let left = RegionFault::MethodLeft(Reason::Excluded);
        self.report_regions(&regions, |_| Err(left.clone()));
        Vec::new()
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
