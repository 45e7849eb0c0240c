//! Why a method, or a whole class, was left as it is: a closed list.

use std::fmt;

/// The reason. Its text is part of the report format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SkipReason {
    /// The class already calls the runtime.
    AlreadyInstrumented,
    /// The code array holds an unknown opcode, a cut-off instruction, or a branch into the middle of one; or control falls off its end, for
    /// which the JVM refuses the class.
    BadCode,
    /// A constant is named behind the end of the pool: the JVM refuses the class, and would not with the constants of injected code.
    BadConstantIndex,
    /// A range of the exception table is empty or does not lie on instructions.
    BadExceptionTable,
    /// The stack of a method gets deeper than its `max_stack`: the JVM refuses the class, and would not with the stack of injected code.
    BadMaxStack,
    /// The StackMapTable cannot be read or does not fit the code.
    BadStackMap,
    /// More than 65,535 constant-pool entries would be needed.
    ConstantPoolFull,
    /// `finalize()` that only returns: HotSpot does not register such objects for finalization, and would if
    /// the method did anything.
    EmptyFinalizer,
    /// More than 65,535 exception table rows would be needed.
    ExceptionTableFull,
    /// A filter left it out.
    Excluded,
    /// `jsr` or `ret` in a class file of version 51 or later.
    IllegalJsr,
    /// A branch does not reach its target any more and no place for a longer one was found.
    JumpOverflow,
    /// `max_locals` is too near to 65,535.
    MaxLocals,
    /// `max_stack` is 65,535 already.
    MaxStack,
    /// The code array would exceed 65,535 bytes.
    MethodTooLarge,
    /// Native; its calls are recorded where they are made.
    NativeAtCalls,
    /// Native; its code is found by reflection, under the name that it has.
    NativeByReflection,
    /// Native, and its class was loaded before wrappers were made: a loaded class gets no other methods.
    NativeLoaded,
    /// A native method of the JDK, which knows some of them by name.
    NativeOfJdk,
    /// The native method behind a wrapper, which stands for it.
    NativeWrapped,
    /// Abstract or native.
    NoCode,
    /// The entry is no class file.
    NotAClass,
    /// A `module-info`.
    NotCode,
    /// A class of the instrument runtime itself.
    OwnRuntime,
    /// The receiver of a constructor call could not be followed.
    UnknownReceiver,
    /// A class of the JDK does not have the places where remote calls can be seen.
    UnknownInternals,
    /// The class file version is not known.
    UnsupportedVersion,
}

impl SkipReason {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AlreadyInstrumented => "already-instrumented",
            Self::BadCode => "bad-code",
            Self::BadConstantIndex => "bad-constant-index",
            Self::BadExceptionTable => "bad-exception-table",
            Self::BadMaxStack => "bad-max-stack",
            Self::BadStackMap => "bad-stack-map",
            Self::ConstantPoolFull => "constant-pool-full",
            Self::EmptyFinalizer => "empty-finalizer",
            Self::ExceptionTableFull => "exception-table-full",
            Self::Excluded => "excluded",
            Self::IllegalJsr => "illegal-jsr",
            Self::JumpOverflow => "jump-overflow",
            Self::MaxLocals => "max-locals",
            Self::MaxStack => "max-stack",
            Self::MethodTooLarge => "method-too-large",
            Self::NativeAtCalls => "native-at-calls",
            Self::NativeByReflection => "native-by-reflection",
            Self::NativeLoaded => "native-loaded",
            Self::NativeOfJdk => "native-of-jdk",
            Self::NativeWrapped => "native-wrapped",
            Self::NoCode => "no-code",
            Self::NotAClass => "not-a-class",
            Self::NotCode => "not-code",
            Self::OwnRuntime => "own-runtime",
            Self::UnknownReceiver => "unknown-receiver",
            Self::UnknownInternals => "unknown-internals",
            Self::UnsupportedVersion => "unsupported-version",
        }
    }

    /// One sentence for people.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::AlreadyInstrumented => "the class already calls the instrument runtime",
            Self::BadCode => "the code array cannot be decoded, or control falls off its end",
            Self::BadExceptionTable => {
                "the exception table has an empty range or one that cuts an instruction"
            }
            Self::BadConstantIndex => {
                "a constant is named behind the end of the constant pool: the JVM refuses the class"
            }
            Self::BadMaxStack => {
                "a method's operand stack gets deeper than max_stack: the JVM refuses the class"
            }
            Self::BadStackMap => "the StackMapTable cannot be read",
            Self::ConstantPoolFull => "more than 65,535 constant-pool entries would be needed",
            Self::EmptyFinalizer => {
                "an empty finalize() must stay empty, or every object becomes finalizable"
            }
            Self::ExceptionTableFull => "more than 65,535 exception table rows would be needed",
            Self::Excluded => "left out by a filter",
            Self::IllegalJsr => "jsr and ret are forbidden from version 51 on",
            Self::JumpOverflow => "a branch cannot reach its target any more",
            Self::MaxLocals => "there are as many local variables as the format allows",
            Self::MaxStack => "the operand stack is as deep as the format allows",
            Self::MethodTooLarge => "the code would exceed 65,535 bytes",
            Self::NativeAtCalls => "native: its calls are recorded where they are made",
            Self::NativeByReflection => {
                "native: its code is found by reflection, so that it cannot be renamed"
            }
            Self::NativeLoaded => "native, and its class was loaded before: a loaded class gets no wrapper",
            Self::NativeOfJdk => "a native method of the JDK: the virtual machine knows some of them by name",
            Self::NativeWrapped => "native, behind a wrapper that stands for it",
            Self::NoCode => "abstract or native",
            Self::NotAClass => "not a class file",
            Self::NotCode => "a module descriptor",
            Self::OwnRuntime => "a class of the instrument runtime itself",
            Self::UnknownReceiver => "the receiver of a constructor call could not be followed",
            Self::UnknownInternals => {
                "a class of the JDK is not as expected: remote calls are not seen there"
            }
            Self::UnsupportedVersion => "unknown class file version",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_printed_as_reports_have_it() {
        assert_eq!(SkipReason::JumpOverflow.to_string(), "jump-overflow");
        assert_eq!(SkipReason::NoCode.to_string(), SkipReason::NoCode.as_str());
    }
}
