//! Methods that have no room for their probes get a [wrapper](super::super::wrapper).

use super::ClassRewriter;
use crate::class_file::{Attribute, Tag};
use crate::code::Reason;
use crate::code::method_code::MethodCode;
use crate::region::RegionFault;
use crate::rewrite::method::OldMethod;
use crate::rewrite::report::{MethodEvent, MethodReport, Note};
use crate::rewrite::wrapper::{LargeMethods, Names, first_line, has_no_room, wrapper_code};
use crate::rewrite::{ACC_STATIC, Transforms};
use crate::transform::Request;
use crate::transform::regions::Located;

/// A method that has no room for its probes.
pub(super) struct Large<'a> {
    pub(super) old: OldMethod<'a>,
    /// Of its descriptor, in the constant pool.
    pub(super) descriptor_index: u16,
    pub(super) request: Request<'a>,
    /// Its code regions: position in the list of regions, and place.
    pub(super) regions: &'a [(usize, Located)],
}

const ACC_PRIVATE: u16 = 0x0002;
const ACC_INTERFACE: u16 = 0x0200;
const ACC_STRICT: u16 = 0x0800;
const ACC_SYNTHETIC: u16 = 0x1000;
/// From this class file version on interfaces may have private methods (JVMS 4.6).
const FIRST_WITH_PRIVATE_INTERFACE_METHODS: u16 = 52;

impl ClassRewriter {
    /// Gives a method that is left for `reason` a wrapper, if it is to have one and can have one; whether it has. The
    /// class is copied up to `copied`, and then up to the end of the method's code.
    pub(super) fn try_wrap(&mut self, large: &Large<'_>, reason: Reason) -> bool {
        if !self.wraps(large, reason) {
            return false;
        }
        let mark = self.appender.mark();
        let (methods, bodies, count) = (self.methods.len(), self.bodies.len(), self.bodies_count);
        self.methods.extend_from_slice(&large.old.class.bytes[self.copied..large.old.attribute.offset]);
        match self.wrap(large) {
            Ok(has_others) => {
                self.copied = large.old.attribute.end();
                self.report_wrapped(large, has_others, reason);
                true
            }
            Err(_) => {
                self.appender.roll_back(mark);
                self.methods.truncate(methods);
                self.bodies.truncate(bodies);
                self.bodies_count = count;
                false
            }
        }
    }

    fn wraps(&mut self, large: &Large<'_>, reason: Reason) -> bool {
        let class = large.old.class;
        let transforms = large.request.transforms;
        self.large_methods == LargeMethods::Wrap
            && has_no_room(reason)
            && transforms.method_events
            && !transforms.bytecodes
            && !transforms.lines
            && !large.old.method.name.starts_with(b"<")
            && (class.access_flags & ACC_INTERFACE == 0
                || class.major_version >= FIRST_WITH_PRIVATE_INTERFACE_METHODS)
            && !self.names.get_or_insert_with(|| Names::of(&class.pool)).asks_for_its_caller
    }

    /// Appends the wrapper's Code attribute to the methods, and the method with the code to the new ones. Whether the
    /// other transforms found room in there.
    fn wrap(&mut self, large: &Large<'_>) -> Result<bool, Reason> {
        let Large { old, descriptor_index, request, .. } = large;
        let OldMethod { class, method, attribute, code, .. } = old;
        let count = self.bodies_count.checked_add(1).ok_or(Reason::MethodTooLarge)?;
        class.methods_count().checked_add(count).ok_or(Reason::MethodTooLarge)?;
        let suffix = &self.names.get_or_insert_with(|| Names::of(&class.pool)).suffix;
        let name = [method.name, suffix].concat();
        let tag = match class.access_flags & ACC_INTERFACE {
            0 => Tag::Methodref,
            _ => Tag::InterfaceMethodref,
        };
        let (name_index, reference) =
            self.appender.own_method(tag, class.this_class, &name, *descriptor_index)?;
        let code = &code.ok_or(Reason::BadCode)?.code;
        let info = wrapper_code(method, first_line(code, &class.pool), reference)?;
        let wrapper = Attribute { name_index: attribute.name_index, offset: attribute.offset, info: &info };
        let transforms = Transforms { method_events: true, rmi: request.is_remote, ..Transforms::NONE };
        let outer = Request { transforms, regions: &[], own_calls: None, ..*request };
        let (calls, appender) = (&mut self.calls, &mut self.appender);
        let code = MethodCode::read(&wrapper, &class.pool, |_| ());
        let wrapper = OldMethod { attribute: wrapper, code: code.as_ref(), scanned: None, ..*old };
        self.method.rewrite(&wrapper, &outer, calls, appender, &mut self.methods)?;

        let flags = ACC_PRIVATE | ACC_SYNTHETIC | method.access_flags & (ACC_STATIC | ACC_STRICT);
        let only_attribute = 1;
        for item in [flags, name_index, *descriptor_index, only_attribute] {
            self.bodies.extend_from_slice(&item.to_be_bytes());
        }
        let transforms = Transforms { method_events: false, ..request.transforms };
        let inner = Request { transforms, is_remote: false, ..*request };
        let (length, mark) = (self.bodies.len(), appender.mark());
        let old = &OldMethod { scanned: None, ..*old };
        let result = self.method.rewrite(old, &inner, calls, appender, &mut self.bodies);
        self.bodies_count = count;
        match result {
            Ok(_) => Ok(true),
            Err(reason) if has_no_room(reason) => {
                self.bodies.truncate(length);
                appender.roll_back(mark);
                self.bodies.extend_from_slice(&class.bytes[attribute.offset..attribute.end()]);
                Ok(false)
            }
            Err(reason) => Err(reason),
        }
    }

    /// `has_others`: the other transforms are in the code.
    fn report_wrapped(&mut self, large: &Large<'_>, has_others: bool, reason: Reason) {
        let (index, regions) = (large.old.method.index, large.regions);
        if has_others {
            self.reports.push(MethodReport { index, event: MethodEvent::Rewritten(Note::Wrapped) });
            self.method.report(index, &mut self.reports);
            self.own_placed.append(&mut self.method.findings.placed);
            let faults = std::mem::take(&mut self.method.findings.region_faults);
            let fault = |position: usize| faults.get(position).cloned().flatten();
            self.report_regions(regions, |position| fault(position).map_or(Ok(index), Err));
        } else {
            self.reports.push(MethodReport { index, event: MethodEvent::Rewritten(Note::WrappedBare) });
            self.report_regions(regions, |_| Err(RegionFault::MethodLeft(reason)));
        }
    }
}
