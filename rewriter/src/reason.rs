//! Why a class, a method or an entry was left as it is: one closed list.

use serde::Serialize;
use std::fmt;

/// Outcome of a class or method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Its bytes are new.
    Rewritten,
    /// There was nothing to do.
    Unchanged,
    /// It was not to be touched.
    Excluded,
    /// It should have been rewritten and could not be.
    Skipped,
}

/// Makes the enum from rows of name in reports, outcome and explanation.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $outcome:ident, $explanation:literal;)*) => {
        /// The reason. Its text is part of the report format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// Every reason, in the order of their names.
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name),*];

            /// The name in reports.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// How it counts: what a filter asked for is no failure, and a module descriptor or an abstract method has
            /// no code. Calls of a native method may be recorded elsewhere. Everything else should have been rewritten.
            pub const fn outcome(self) -> Outcome {
                match self {
                    $(Self::$name => Outcome::$outcome,)*
                }
            }

            /// One sentence for people.
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => $explanation,)*
                }
            }
        }
    };
}

reasons! {
    /// The class already calls the runtime.
    AlreadyInstrumented = "already-instrumented", Skipped, "the class already calls the instrument runtime";
    /// An entry or archive that two readers may read as two things.
    AmbiguousZip = "ambiguous-zip", Skipped, "two readers may see two different things";
    /// Starts the program of an archive; it is no part of the program.
    ArchiveLauncher = "archive-launcher", Excluded, "a class that starts the program of an archive";
    /// The code array holds an unknown opcode, a cut-off instruction, or a branch into the middle of one; or control
    /// falls off its end, for which the JVM refuses the class.
    BadCode = "bad-code", Skipped, "the code array cannot be decoded, or control falls off its end";
    /// A constant is named behind the end of the pool: the JVM refuses the class, and would not with the constants of
    /// injected code.
    BadConstantIndex = "bad-constant-index", Skipped, "a constant is named behind the end of the constant pool: the JVM refuses the class";
    /// A range of the exception table is empty or does not lie on instructions.
    BadExceptionTable = "bad-exception-table", Skipped, "the exception table has an empty range or one that cuts an instruction";
    /// The stack of a method gets deeper than its `max_stack`: the JVM refuses the class, and would not with the stack
    /// of injected code.
    BadMaxStack = "bad-max-stack", Skipped, "a method's operand stack gets deeper than max_stack: the JVM refuses the class";
    /// The StackMapTable cannot be read or does not fit the code.
    BadStackMap = "bad-stack-map", Skipped, "the StackMapTable cannot be read";
    /// Another agent loaded it before ours was there.
    BeforeAgent = "before-agent", Skipped, "loaded before the agent was there";
    /// An entry that is compressed in a way that is not known.
    CompressionMethod = "compression-method", Skipped, "an unknown compression method";
    /// More than 65,535 constant-pool entries would be needed.
    ConstantPoolFull = "constant-pool-full", Skipped, "more than 65,535 constant-pool entries would be needed";
    /// Nested too deep in archives.
    Depth = "depth", Skipped, "nested too deep";
    /// `finalize()` that only returns: HotSpot does not register such objects for finalization, and would if
    /// the method did anything.
    EmptyFinalizer = "empty-finalizer", Skipped, "an empty finalize() must stay empty, or every object becomes finalizable";
    /// An encrypted entry.
    Encrypted = "encrypted", Skipped, "encrypted";
    /// More than 65,535 exception table rows would be needed.
    ExceptionTableFull = "exception-table-full", Skipped, "more than 65,535 exception table rows would be needed";
    /// A filter left it out.
    Excluded = "excluded", Excluded, "left out by a filter";
    /// Made at run time.
    Generated = "generated", Excluded, "made at run time";
    /// A hidden class: no agent can have its bytes.
    Hidden = "hidden", Skipped, "a hidden class, whose bytes no agent can have";
    /// `jsr` or `ret` in a class file of version 51 or later.
    IllegalJsr = "illegal-jsr", Skipped, "jsr and ret are forbidden from version 51 on";
    /// A branch does not reach its target any more and no place for a longer one was found.
    JumpOverflow = "jump-overflow", Skipped, "a branch cannot reach its target any more";
    /// The loader of the class could not be asked whether it finds the runtime.
    LoaderNotAsked = "loader-not-asked", Skipped, "its class loader could not be asked for the runtime";
    /// `max_locals` is too near to 65,535.
    MaxLocals = "max-locals", Skipped, "there are as many local variables as the format allows";
    /// `max_stack` is 65,535 already.
    MaxStack = "max-stack", Skipped, "the operand stack is as deep as the format allows";
    /// The code array would exceed 65,535 bytes.
    MethodTooLarge = "method-too-large", Skipped, "the code would exceed 65,535 bytes";
    /// A method needs a StackMapTable and has none: a JVM takes the class only if it does not verify (`-Xverify:none`),
    /// and from Java 25 on it verifies what an agent has changed all the same.
    MissingStackMap = "missing-stack-map", Skipped, "a method needs a StackMapTable and has none: only a JVM that does not verify takes the class";
    /// Native; its calls are recorded where they are made.
    NativeAtCalls = "native-at-calls", Unchanged, "native: its calls are recorded where they are made";
    /// Native; its code is found by reflection, under the name that it has.
    NativeByReflection = "native-by-reflection", Skipped, "native: its code is found by reflection, so that it cannot be renamed";
    /// Native, and its class was loaded before wrappers were made: a loaded class gets no other methods.
    NativeLoaded = "native-loaded", Skipped, "native, and its class was loaded before: a loaded class gets no wrapper";
    /// A native method of the JDK, which knows some of them by name.
    NativeOfJdk = "native-of-jdk", Excluded, "a native method of the JDK: the virtual machine knows some of them by name";
    /// The native method behind a wrapper, which stands for it.
    NativeWrapped = "native-wrapped", Unchanged, "native, behind a wrapper that stands for it";
    /// Inserted code needs it.
    NeededByProbes = "needed-by-probes", Excluded, "a class that inserted code needs";
    /// Abstract or native.
    NoCode = "no-code", Unchanged, "abstract or native";
    /// The entry is no class file.
    NotAClass = "not-a-class", Skipped, "not a class file";
    /// In a directory: neither file nor directory.
    NotAFile = "not-a-file", Skipped, "neither file nor directory; left out";
    /// Not below one of the classes that were named.
    NotASubclass = "not-a-subclass", Excluded, "not below one of the classes that were named";
    /// Named like an archive; its bytes are none.
    NotAnArchive = "not-an-archive", Skipped, "not an archive";
    /// A `module-info`.
    NotCode = "not-code", Unchanged, "a module descriptor";
    /// No include pattern matches.
    NotIncluded = "not-included", Excluded, "no include pattern matches";
    /// The transforms have nothing to insert into it.
    NothingToInsert = "nothing-to-insert", Unchanged, "there is nothing to insert";
    /// Another agent's, and nobody named it.
    OfAgent = "of-agent", Excluded, "a class of another agent";
    /// Where no class loader of a war or ear looks.
    OutsideClassPath = "outside-class-path", Skipped, "where no class loader of the archive looks";
    /// A class of the instrument runtime itself.
    OwnRuntime = "own-runtime", Excluded, "a class of the instrument runtime itself";
    /// A link out of a directory.
    Symlink = "symlink", Skipped, "a link out of the directory, kept as it is";
    /// A class of the JDK does not have the places where remote calls can be seen.
    UnknownInternals = "unknown-internals", Skipped, "a class of the JDK is not as expected: remote calls are not seen there";
    /// The receiver of a constructor call could not be followed.
    UnknownReceiver = "unknown-receiver", Skipped, "the receiver of a constructor call could not be followed";
    /// The loader of the class does not find the runtime.
    UnreachableRuntime = "unreachable-runtime", Skipped, "its class loader does not find the runtime";
    /// The class file version is not known.
    UnsupportedVersion = "unsupported-version", Skipped, "unknown class file version";
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_reason_is_printed_as_reports_have_it() {
        assert_eq!(Reason::JumpOverflow.to_string(), "jump-overflow");
        let words: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(words.len(), Reason::ALL.len());
    }

    #[test]
    fn what_needs_nothing_is_not_skipped() {
        for (reason, outcome) in [
            (Reason::NothingToInsert, Outcome::Unchanged),
            (Reason::NoCode, Outcome::Unchanged),
            (Reason::Excluded, Outcome::Excluded),
            (Reason::Generated, Outcome::Excluded),
            (Reason::MethodTooLarge, Outcome::Skipped),
            // The agent's reasons: nobody asked for these classes to be left out.
            (Reason::Hidden, Outcome::Skipped),
            (Reason::BeforeAgent, Outcome::Skipped),
            (Reason::NativeAtCalls, Outcome::Unchanged),
            (Reason::NativeWrapped, Outcome::Unchanged),
            (Reason::NativeOfJdk, Outcome::Excluded),
            (Reason::NativeLoaded, Outcome::Skipped),
        ] {
            assert_eq!(reason.outcome(), outcome, "{reason}");
        }
    }
}
