//! Does the JVM refuse a class for something that rewriting would hide?
//!
//! Injected code needs a larger `max_stack` and more constants: a stack that got deeper than the old `max_stack` fits then, and an index behind
//! the end of the old constant pool names something, and behind the end of the old code stands a handler. Such a class is left as it is.
//!
//! | module | what it checks |
//! |---|---|
//! | [`constant_indices`] | the indices of constants in the structures that HotSpot reads |
//! | [`locals`] | code, where local variables are added: that it keeps to its own |
//! | [`stack_depth`] | code: that no method puts more onto its operand stack than `max_stack` says, its indices of constants, and that control does not fall off its end |

mod constant_indices;
pub(crate) mod locals;
mod stack_depth;

use crate::class_file::{ClassFile, CodeAttribute};
use crate::code::Reason;
use crate::error::ClassError;
use constant_indices::Check;
use stack_depth::StackDepth;

/// The buffers for one class after the other.
#[derive(Debug, Default)]
pub(crate) struct Validity {
    depth: StackDepth,
}

impl Validity {
    /// Why the JVM refuses the class, if it does for one of these reasons. `methods_end`: where its methods end.
    ///
    /// # Errors
    /// A structure that cannot be walked.
    pub(crate) fn refusal(
        &mut self,
        class: &ClassFile<'_>,
        methods_end: usize,
    ) -> Result<Option<Reason>, ClassError> {
        if Check::new(class).leads_out(class, methods_end)? {
            return Ok(Some(Reason::BadConstantIndex));
        }
        self.depth.begin_class(&class.pool);
        let mut methods = class.methods();
        while let Some(method) = methods.next()? {
            let mut attributes = method.attributes();
            while let Some(attribute) = attributes.next()? {
                if class.pool.utf8_or_empty(attribute.name_index) != b"Code" {
                    continue;
                }
                // What cannot be read is refused before and after.
                let Ok(code) = CodeAttribute::parse(&attribute) else { continue };
                let refusal = self.depth.refusal(&code, class.major_version, &class.pool);
                if refusal.is_some() {
                    return Ok(refusal);
                }
            }
        }
        Ok(None)
    }
}
