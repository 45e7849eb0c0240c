//! The one table of runtime hooks: the methods of the Java runtime that injected code calls.
//!
//! The Java side is `runtime-java/`; a test compares the two.

/// A method of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Hook {
    /// First instruction of a method.
    MethodEntry,
    /// First instruction of a constructor, in front of `super()`.
    ConstructorEntry,
    /// In front of every xRETURN.
    MethodExit,
    /// In the catch-any handler.
    MethodUnwind,
    /// Behind every `super()`/`this()` call of a constructor.
    SuperReturned,
    /// In front of every exception handler of the method.
    ExceptionCaught,
    /// Behind every array creation.
    ArrayAlloc,
    /// Behind the constructor call of a `new`.
    ObjectAlloc,
}

/// Internal name of the class that takes method events.
pub const PROFILER_RUNTIME: &str = "instrument/runtime/ProfilerRuntime";
/// Internal name of the class that takes allocation events.
pub const HEAP_PROXY: &str = "instrument/runtime/HeapProxy";
/// Descriptor of the method events: the method id.
pub const METHOD_EVENT: &str = "(I)V";
/// Descriptor of the allocation events: the new object.
pub const ALLOCATION_EVENT: &str = "(Ljava/lang/Object;)V";

impl Hook {
    /// Every hook, in the order of the enum.
    pub const ALL: [Self; 8] = [
        Self::MethodEntry,
        Self::ConstructorEntry,
        Self::MethodExit,
        Self::MethodUnwind,
        Self::SuperReturned,
        Self::ExceptionCaught,
        Self::ArrayAlloc,
        Self::ObjectAlloc,
    ];

    /// The Java method's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MethodEntry => "methodEntry",
            Self::ConstructorEntry => "constructorEntry",
            Self::MethodExit => "methodExit",
            Self::MethodUnwind => "methodUnwind",
            Self::SuperReturned => "superReturned",
            Self::ExceptionCaught => "exceptionCaught",
            Self::ArrayAlloc => "ArrayAlloc",
            Self::ObjectAlloc => "ObjectAlloc",
        }
    }

    /// Internal name of the class that declares it.
    pub const fn owner(self) -> &'static str {
        match self {
            Self::ArrayAlloc | Self::ObjectAlloc => HEAP_PROXY,
            _ => PROFILER_RUNTIME,
        }
    }

    /// Its descriptor; all hooks are static.
    pub const fn descriptor(self) -> &'static str {
        match self {
            Self::ArrayAlloc | Self::ObjectAlloc => ALLOCATION_EVENT,
            _ => METHOD_EVENT,
        }
    }
}
