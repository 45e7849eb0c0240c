//! Classes and methods that are left as they are, whatever is wanted of them.

use super::Reason;
use crate::class_file::{ClassFile, version};
use crate::runtime::is_own;

/// `ACC_MODULE` (JVMS 4.1).
const ACC_MODULE: u16 = 0x8000;
const ACC_NATIVE: u16 = 0x0100;
const ACC_ABSTRACT: u16 = 0x0400;

/// JVMS 4.7.3: a native or abstract method has no Code attribute; HotSpot refuses the class if it has.
pub(crate) fn may_have_code(access_flags: u16) -> bool {
    access_flags & (ACC_NATIVE | ACC_ABSTRACT) == 0
}

/// Why no method of this class is touched.
pub(crate) fn refusal(class: &ClassFile<'_>) -> Option<Reason> {
    if !version::is_supported(class.major_version, class.minor_version) {
        Some(Reason::UnsupportedVersion)
    } else if class.access_flags & ACC_MODULE != 0 {
        Some(Reason::NotCode)
    } else if class.name().is_ok_and(is_own) {
        Some(Reason::OwnRuntime)
    } else if class.pool.names_the_runtime() {
        Some(Reason::AlreadyInstrumented)
    } else {
        None
    }
}
