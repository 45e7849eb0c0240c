//! Classes of the JDK that are rewritten in one way, whatever the filters say: for what the virtual machine does in the middle of a method, for
//! objects, for locks and for remote calls. No method of them has an id.

use super::LoadHook;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::rmi_internals;
use instrument_rewriter::rewrite::{Choice, ClassRewriter as PlainRewriter, Outcome, Reason, Transforms};
use instrument_rewriter::transform::hooks::Reach;
use std::sync::Arc;

/// Code of the JDK that the virtual machine runs in the middle of a method, and the number of what it does there (see `MachineWork` in
/// `runtime-java`): its time is no part of the method's own. The virtual machine calls `loadClass` for a class that is not there yet;
/// loaders that have one of their own come to `defineClass`, in which the load hook runs.
const MACHINE_WORK: [(&str, u32); 6] = [
    ("java.lang.ClassLoader#loadClass(Ljava/lang/String;)Ljava/lang/Class;", CLASS_LOADING),
    (
        "java.lang.ClassLoader#defineClass(Ljava/lang/String;[BIILjava/security/ProtectionDomain;)Ljava/lang/Class;",
        CLASS_LOADING,
    ),
    (
        "java.lang.ClassLoader#defineClass(Ljava/lang/String;Ljava/nio/ByteBuffer;Ljava/security/ProtectionDomain;)Ljava/lang/Class;",
        CLASS_LOADING,
    ),
    ("java.lang.invoke.MethodHandleNatives#linkCallSite", DYNAMIC_LINKING),
    ("java.lang.invoke.MethodHandleNatives#linkMethodHandleConstant", DYNAMIC_LINKING),
    ("java.lang.invoke.MethodHandleNatives#linkDynamicConstant", DYNAMIC_LINKING),
];

/// Regions that users name have numbers below this one.
const CLASS_LOADING: u32 = 1 << 31;

const DYNAMIC_LINKING: u32 = CLASS_LOADING + 1;

/// The classes of that code.
pub(crate) const MACHINE_CLASSES: [&str; 2] =
    ["java/lang/ClassLoader", "java/lang/invoke/MethodHandleNatives"];

/// As regions of code.
pub(super) fn machine_work() -> Arc<[Region]> {
    let region = |&(method, number): &(&str, u32)| {
        let mut region = Region::parse(method).ok()?;
        region.number = number;
        Some(region)
    };
    MACHINE_WORK.iter().filter_map(region).collect()
}

/// No method of `java.lang.Object` has an id: none tells when it is called.
pub(super) fn rewrite_object(class: &[u8], reach: Reach) -> Option<Vec<u8>> {
    rewrite_with(Transforms { object_init: true, ..Transforms::NONE }, class, reach)
}

/// The new bytes of a class of the JDK whose methods have no ids.
pub(super) fn rewrite_with(transforms: Transforms, class: &[u8], reach: Reach) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rewriter = PlainRewriter::new(transforms);
    rewriter.call(reach);
    let outcome = rewriter.rewrite(class, |_| Choice::Rewrite(0), &mut out);
    matches!(outcome, Ok(Outcome::Rewritten)).then_some(out)
}

impl LoadHook {
    /// The new bytes of such a class. A method that this JDK does not have is none of the machine's.
    pub(super) fn rewrite_machine_work(&self, class: &[u8], reach: Reach) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut rewriter = PlainRewriter::with_regions(Transforms::NONE, self.machine_work.clone());
        rewriter.call(reach);
        let outcome = rewriter.rewrite(class, |_| Choice::Rewrite(0), &mut out);
        matches!(outcome, Ok(Outcome::Rewritten)).then_some(out)
    }

    /// The new bytes of a class that is to tell of remote calls and of nothing else.
    pub(super) fn rewrite_for_rmi(&self, name: &[u8], class: &[u8]) -> Option<Vec<u8>> {
        match rmi_internals::rewrite_internal(class) {
            Ok(out) => Some(out),
            // It came so from `instrument jdk-patch`, with the same hooks.
            Err(Reason::AlreadyInstrumented) => None,
            Err(reason) => {
                self.rmi_differs(name, reason);
                None
            }
        }
    }
}
