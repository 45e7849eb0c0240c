//! Does the JVM refuse a class for something that rewriting would hide?
//!
//! Injected code needs a larger `max_stack` and more constants: a stack that got deeper than the old `max_stack` fits
//! then, and an index behind the end of the old constant pool names something, and behind the end of the old code
//! stands a handler. Such a class is left as it is.
//!
//! | module | what it checks |
//! |---|---|
//! | [`constant_indices`] | the indices of constants in the structures that HotSpot reads |
//! | [`locals`] | code, where local variables are added: that it keeps to its own |
//! | [`stack_depth`] | code: that no method puts more onto its operand stack than `max_stack` says, its indices of constants, and that control does not fall off its end |

mod constant_indices;
pub(crate) mod locals;
mod stack_depth;

use crate::class_file::well_known::WellKnown;
use crate::class_file::{Attribute, Attributes, ClassFile};
use crate::code::Reason;
use crate::code::code_scan::CodeScan;
use crate::code::method_code::MethodCode;
use crate::error::ClassError;
use constant_indices::{Check, Place};
use stack_depth::StackDepth;

/// What the walk over a class has found so far, and the buffers for one class after the other.
#[derive(Debug, Default)]
pub(crate) struct Validity {
    depth: StackDepth,
    /// A method names a constant behind the end of the pool.
    leads_out: bool,
    /// The first thing that is wrong with code.
    fault: Option<Reason>,
}

impl Validity {
    /// Before the walk over the methods of a class.
    pub(crate) fn begin_class(&mut self, class: &ClassFile<'_>) {
        self.depth.begin_class(&class.pool);
        (self.leads_out, self.fault) = (false, None);
    }

    /// A method's name and descriptor.
    pub(crate) fn method(&mut self, class: &ClassFile<'_>, name_index: u16, descriptor_index: u16) {
        let check = Check::new(class);
        self.leads_out |= check.out(name_index) || check.out(descriptor_index);
    }

    /// An attribute of a method that is not Code.
    pub(crate) fn attribute(&mut self, class: &ClassFile<'_>, attribute: &Attribute<'_>) {
        self.leads_out |= Check::new(class).attribute(Place::Method, attribute);
    }

    /// A Code attribute: what it holds, if it can be read, and the outcome of decoding its code into `scan`, which is
    /// left out when enough is known of the class.
    pub(crate) fn code<'a>(
        &mut self,
        class: &ClassFile<'a>,
        attribute: &Attribute<'a>,
        scan: &mut CodeScan,
    ) -> (Option<MethodCode<'a>>, Option<Result<(), Reason>>) {
        let check = Check::new(class);
        let mut leads_out = false;
        let method = MethodCode::read(attribute, &class.pool, |table| {
            leads_out |= check.attribute(Place::Code, table)
        });
        // What cannot be read is refused before and after.
        let Some(MethodCode { code, frames, .. }) = method.as_ref().filter(|_| !self.leads_out) else {
            return (method, None);
        };
        self.leads_out =
            leads_out || code.exception_table.iter().any(|handler| check.out(handler.catch_type));
        if self.fault.is_some() {
            return (method, None);
        }
        let (scanned, fault) = self.depth.judge(code, *frames, class.major_version, &class.pool, scan);
        self.fault = fault;
        (method, Some(scanned))
    }

    /// Why the JVM refuses the class whose methods were walked, if it does for one of these reasons. `attributes`:
    /// those of the class.
    ///
    /// # Errors
    /// A structure that cannot be walked.
    pub(crate) fn finish(
        &self,
        class: &ClassFile<'_>,
        attributes: Attributes<'_>,
    ) -> Result<Option<Reason>, ClassError> {
        let leads_out = self.leads_out || Check::new(class).around_methods(class, attributes)?;
        Ok(if leads_out { Some(Reason::BadConstantIndex) } else { self.fault })
    }

    /// The same of a class whose methods nobody else walks.
    ///
    /// # Errors
    /// A structure that cannot be walked.
    pub(crate) fn refusal(class: &ClassFile<'_>) -> Result<Option<Reason>, ClassError> {
        let mut this = Self::default();
        let mut scan = CodeScan::default();
        this.begin_class(class);
        let mut methods = class.methods();
        while let Some(method) = methods.next()? {
            this.method(class, method.name_index, method.descriptor_index);
            let mut attributes = method.attributes();
            while let Some(attribute) = attributes.next()? {
                if class.pool.is(attribute.name_index, WellKnown::Code) {
                    this.code(class, &attribute, &mut scan);
                } else {
                    this.attribute(class, &attribute);
                }
            }
        }
        this.finish(class, class.attributes_behind(methods.position())?)
    }
}
