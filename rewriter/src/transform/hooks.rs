//! The one table of runtime hooks: the methods of the Java runtime that injected code calls.
//!
//! The Java side is `runtime-java/`; a test compares the two.

use crate::filter::RUNTIME_PACKAGE;

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
    /// As `MethodExit`, with how many instructions the call has executed.
    CountedExit,
    /// The same of a method with loops.
    CountedExitLong,
    /// As `MethodUnwind`, with how many instructions the call has executed.
    CountedUnwind,
    /// The same of a method with loops.
    CountedUnwindLong,
    /// In a constructor, in front of instructions that are executed before `super()` has returned.
    CountedPending,
    /// First of all in a method: gives the array in which it counts.
    LineCounters,
    /// In front of a call into a library.
    LibraryEnter,
    /// Behind it.
    LibraryExit,
    /// Behind whatever makes one array.
    ArrayAlloc,
    /// Behind whatever makes an array of new arrays.
    MultiArrayAlloc,
    /// Behind the constructor call of a `new`, and behind `Object.clone` called by `super`.
    ObjectAlloc,
    /// Behind a virtual call of `Object.clone`.
    CloneAlloc,
    /// In `java.lang.Object.<init>`.
    EarlyObjectAlloc,
    /// In front of every call of a method `start()V`.
    Starting,
    /// First instruction of a `park` method of `LockSupport`.
    Parking,
    /// In front of every return of it.
    Parked,
    /// In front of a call that hands over a `Runnable`.
    WrapRunnable,
    /// In front of a call that hands over a `Callable`.
    WrapCallable,
    /// In front of a call that hands over a `Supplier`.
    WrapSupplier,
    /// In front of a call that hands over a `Function`.
    WrapFunction,
    /// In front of a call that hands over a `Consumer`.
    WrapConsumer,
    /// In front of a call that hands over a `BiFunction`.
    WrapBiFunction,
    /// In front of a call that hands over a `BiConsumer`.
    WrapBiConsumer,
    /// In front of a call that hands over a collection of `Callable`s.
    WrapTasks,
    /// In front of a call that hands over a `Runnable` if its receiver is an executor.
    WrapRunnableFor,
    /// In front of a call that hands over a `Callable` if its receiver is an executor.
    WrapCallableFor,
    /// In front of a call that hands over a collection of `Callable`s if its receiver is an executor.
    WrapTasksFor,
    /// In front of a call that runs a statement with its text.
    StatementText,
    /// The same, with a number behind the text.
    StatementTextKeys,
    /// The same, with an array behind the text.
    StatementTextColumns,
    /// In front of a call that runs a prepared statement.
    StatementRun,
    /// In front of a call that runs a batch.
    BatchRun,
    /// Behind a call that prepares a statement.
    StatementPrepared,
    /// In front of a call that adds a statement to a batch.
    StatementBatched,
    /// In front of a call that sends a request by HTTP.
    RequestMade,
    /// In front of a call that reads from a connection or URL.
    ConnectionRead,
    /// In front of a call that connects, or gives a stream to write to.
    ConnectionOpened,
    /// In front of a call of a servlet.
    RequestServed,
    /// In front of a call that opens a file for reading.
    FileRead,
    /// In front of a call that opens a file for writing.
    FileWritten,
    /// In front of a call that opens a file as the operand behind its path says.
    FileOpened,
    /// In front of a call that copies a file.
    FileCopied,
    /// In front of a call that moves a file.
    FileMoved,
    /// In front of a call that deletes a file.
    FileDeleted,
    /// Behind a call that is split by a value.
    ValueLeft,
    /// Where control enters a code region.
    RegionBegin,
    /// Where control leaves a code region by itself.
    RegionEnd,
    /// Where an exception leaves a code region.
    RegionLeft,
    /// At the end of the constructor of a connection.
    RmiConnection,
    /// Where a loop begins that accepts connections.
    RmiListening,
    /// Where a socket was accepted.
    RmiAccepted,
    /// Where a method of a remote object is called.
    RmiInvoking,
    /// Where a stub calls one of its operations.
    RmiNewCall,
    /// Where no connection can be had for a call.
    RmiUnmade,
    /// In the constructor of a call that is made.
    RmiCallMade,
    /// Where the arguments of a call are written.
    RmiSent,
    /// Where the UID of a return was read.
    RmiReturned,
    /// Where a server has sent an exception.
    RmiThrown,
    /// Where a connection is given back.
    RmiFreed,
    /// In the constructor of a call that comes in.
    RmiReceiving,
    /// Where the ObjID of a call was read.
    RmiServed,
    /// Where the number of an operation was read.
    RmiOperation,
    /// Where the hash of a method or interface was read.
    RmiHash,
    /// Where object and method of a call are known.
    RmiDispatching,
    /// Where the input of a call is released.
    RmiInputReleased,
    /// In front of the call of a remote object's method.
    RmiCalling,
    /// Where an exception of a call is known.
    RmiFailed,
    /// Where the UID of a return is written.
    RmiAnswering,
    /// Where the service of a call ends.
    RmiServiced,
    /// First instruction of a stub's method.
    RmiStubEntered,
    /// In front of the call that makes a stub's call.
    RmiStubCalls,
    /// In front of every return of a stub's method.
    RmiStubReturns,
    /// Where an exception leaves a stub's method.
    RmiStubThrows,
    /// First instruction of a skeleton's `dispatch`.
    RmiSkeletonEntered,
    /// In front of every return of it.
    RmiSkeletonReturns,
    /// Where an exception leaves it.
    RmiSkeletonThrows,
    /// First instruction of a method that can be called from other processes.
    RmiRemoteEntered,
    /// In front of every return of it.
    RmiRemoteReturns,
    /// Where an exception leaves it.
    RmiRemoteThrows,
}

/// Internal name of the class that takes method events.
pub const PROFILER_RUNTIME: &str = "instrument/runtime/ProfilerRuntime";
/// Internal name of the class that takes exits with counts of executed instructions.
pub const BYTECODES: &str = "instrument/runtime/Bytecodes";
/// Internal name of the class that has the counters of lines.
pub const LINES: &str = "instrument/runtime/Lines";
/// Internal name of the class that takes allocation events.
pub const HEAP_PROXY: &str = "instrument/runtime/HeapProxy";
/// Internal name of the class that is told of threads that start.
pub const THREAD_LINKS: &str = "instrument/runtime/ThreadLinks";
/// Internal name of the class that is told of threads that park.
pub const PARKS: &str = "instrument/runtime/Parks";
/// Internal name of the class that wraps tasks.
pub const HAND_OVER: &str = "instrument/runtime/HandOver";
/// Internal name of the class that splits calls by a value.
pub const VALUES: &str = "instrument/runtime/Values";
/// Internal name of the class that times code regions.
pub const REGIONS: &str = "instrument/runtime/Regions";
/// Internal name of the class that is told of remote calls.
pub const RMI_MARKERS: &str = "instrument/runtime/RmiMarkers";

/// Internal name of the class that begins the recorder in a JDK whose module image was rewritten: `static boolean begin()`.
pub const JDK_IMAGE: &str = "instrument/runtime/JdkImage";

/// Internal name of a class that lies beside `java.lang.Object`, where an agent defines it or a rewritten module image has it: a method for every hook, which calls the hook. Every
/// class loader finds it, whatever it thinks of other packages: `defineClass` makes it ask the boot loader for all of `java.*`.
pub const BOOT_PROBES: &str = "java/lang/InstrumentProbes";

/// What injected code names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// The runtime itself.
    #[default]
    Direct,
    /// [`BOOT_PROBES`], which calls the runtime.
    Boot,
}

/// Whether a class that names this class was rewritten, by this version or any other: what injected code calls has always been, and
/// will always be, a class of the runtime's package or [`BOOT_PROBES`].
pub(crate) fn is_owner(class: &[u8]) -> bool {
    class.starts_with(RUNTIME_PACKAGE.as_bytes()) || class == BOOT_PROBES.as_bytes()
}

/// Descriptor of the method and region events: the method id, or the number of the region.
pub const METHOD_EVENT: &str = "(I)V";
/// Descriptor of the events that get an object: one that was made, or a thread that is started.
pub const OBJECT_EVENT: &str = "(Ljava/lang/Object;)V";

impl Hook {
    /// Every hook, in the order of the enum.
    pub const ALL: [Self; 85] = [
        Self::MethodEntry,
        Self::ConstructorEntry,
        Self::MethodExit,
        Self::MethodUnwind,
        Self::SuperReturned,
        Self::ExceptionCaught,
        Self::CountedExit,
        Self::CountedExitLong,
        Self::CountedUnwind,
        Self::CountedUnwindLong,
        Self::CountedPending,
        Self::LineCounters,
        Self::LibraryEnter,
        Self::LibraryExit,
        Self::ArrayAlloc,
        Self::MultiArrayAlloc,
        Self::ObjectAlloc,
        Self::CloneAlloc,
        Self::EarlyObjectAlloc,
        Self::Starting,
        Self::Parking,
        Self::Parked,
        Self::WrapRunnable,
        Self::WrapCallable,
        Self::WrapSupplier,
        Self::WrapFunction,
        Self::WrapConsumer,
        Self::WrapBiFunction,
        Self::WrapBiConsumer,
        Self::WrapTasks,
        Self::WrapRunnableFor,
        Self::WrapCallableFor,
        Self::WrapTasksFor,
        Self::StatementText,
        Self::StatementTextKeys,
        Self::StatementTextColumns,
        Self::StatementRun,
        Self::BatchRun,
        Self::StatementPrepared,
        Self::StatementBatched,
        Self::RequestMade,
        Self::ConnectionRead,
        Self::ConnectionOpened,
        Self::RequestServed,
        Self::FileRead,
        Self::FileWritten,
        Self::FileOpened,
        Self::FileCopied,
        Self::FileMoved,
        Self::FileDeleted,
        Self::ValueLeft,
        Self::RegionBegin,
        Self::RegionEnd,
        Self::RegionLeft,
        Self::RmiConnection,
        Self::RmiListening,
        Self::RmiAccepted,
        Self::RmiInvoking,
        Self::RmiNewCall,
        Self::RmiUnmade,
        Self::RmiCallMade,
        Self::RmiSent,
        Self::RmiReturned,
        Self::RmiThrown,
        Self::RmiFreed,
        Self::RmiReceiving,
        Self::RmiServed,
        Self::RmiOperation,
        Self::RmiHash,
        Self::RmiDispatching,
        Self::RmiInputReleased,
        Self::RmiCalling,
        Self::RmiFailed,
        Self::RmiAnswering,
        Self::RmiServiced,
        Self::RmiStubEntered,
        Self::RmiStubCalls,
        Self::RmiStubReturns,
        Self::RmiStubThrows,
        Self::RmiSkeletonEntered,
        Self::RmiSkeletonReturns,
        Self::RmiSkeletonThrows,
        Self::RmiRemoteEntered,
        Self::RmiRemoteReturns,
        Self::RmiRemoteThrows,
    ];

    /// Owner, name and descriptor.
    #[rustfmt::skip]
    const fn row(self) -> (&'static str, &'static str, &'static str) {
        macro_rules! wrap {
            ($class:literal) => { (HAND_OVER, "wrap", concat!("(L", $class, ";)L", $class, ";")) };
            (for $class:literal) => { (HAND_OVER, "wrapFor", concat!("(Ljava/lang/Object;L", $class, ";)L", $class, ";")) };
        }
        match self {
            Self::MethodEntry => (PROFILER_RUNTIME, "methodEntry", METHOD_EVENT),
            Self::ConstructorEntry => (PROFILER_RUNTIME, "constructorEntry", METHOD_EVENT),
            Self::MethodExit => (PROFILER_RUNTIME, "methodExit", METHOD_EVENT),
            Self::MethodUnwind => (PROFILER_RUNTIME, "methodUnwind", METHOD_EVENT),
            Self::SuperReturned => (PROFILER_RUNTIME, "superReturned", METHOD_EVENT),
            Self::ExceptionCaught => (PROFILER_RUNTIME, "exceptionCaught", METHOD_EVENT),
            Self::CountedExit => (BYTECODES, "methodExit", "(II)V"),
            Self::CountedExitLong => (BYTECODES, "methodExit", "(IJ)V"),
            Self::CountedUnwind => (BYTECODES, "methodUnwind", "(II)V"),
            Self::CountedUnwindLong => (BYTECODES, "methodUnwind", "(IJ)V"),
            Self::CountedPending => (BYTECODES, "pending", "(II)V"),
            Self::LineCounters => (LINES, "counters", "(III)[J"),
            Self::LibraryEnter => (PROFILER_RUNTIME, "libraryEnter", METHOD_EVENT),
            Self::LibraryExit => (PROFILER_RUNTIME, "libraryExit", METHOD_EVENT),
            Self::ArrayAlloc => (HEAP_PROXY, "ArrayAlloc", OBJECT_EVENT),
            Self::MultiArrayAlloc => (HEAP_PROXY, "MultiArrayAlloc", OBJECT_EVENT),
            Self::ObjectAlloc => (HEAP_PROXY, "ObjectAlloc", OBJECT_EVENT),
            Self::CloneAlloc => (HEAP_PROXY, "CloneAlloc", OBJECT_EVENT),
            Self::EarlyObjectAlloc => (HEAP_PROXY, "EarlyObjectAlloc", OBJECT_EVENT),
            Self::Starting => (THREAD_LINKS, "starting", OBJECT_EVENT),
            Self::Parking => (PARKS, "parking", OBJECT_EVENT),
            Self::Parked => (PARKS, "parked", "()V"),
            Self::WrapRunnable => wrap!("java/lang/Runnable"),
            Self::WrapCallable => wrap!("java/util/concurrent/Callable"),
            Self::WrapSupplier => wrap!("java/util/function/Supplier"),
            Self::WrapFunction => wrap!("java/util/function/Function"),
            Self::WrapConsumer => wrap!("java/util/function/Consumer"),
            Self::WrapBiFunction => wrap!("java/util/function/BiFunction"),
            Self::WrapBiConsumer => wrap!("java/util/function/BiConsumer"),
            Self::WrapTasks => wrap!("java/util/Collection"),
            Self::WrapRunnableFor => wrap!(for "java/lang/Runnable"),
            Self::WrapCallableFor => wrap!(for "java/util/concurrent/Callable"),
            Self::WrapTasksFor => wrap!(for "java/util/Collection"),
            Self::StatementText => (VALUES, "statementText", "(Ljava/lang/String;)I"),
            Self::StatementTextKeys => (VALUES, "statementText", "(Ljava/lang/String;I)I"),
            Self::StatementTextColumns => (VALUES, "statementText", "(Ljava/lang/String;Ljava/lang/Object;)I"),
            Self::StatementRun => (VALUES, "statementRun", "(Ljava/lang/Object;)I"),
            Self::BatchRun => (VALUES, "batchRun", "(Ljava/lang/Object;)I"),
            Self::StatementPrepared => (VALUES, "statementPrepared", "(Ljava/lang/Object;Ljava/lang/String;)V"),
            Self::StatementBatched => (VALUES, "statementBatched", "(Ljava/lang/Object;Ljava/lang/String;)V"),
            Self::RequestMade => (VALUES, "requestMade", "(Ljava/lang/Object;)I"),
            Self::ConnectionRead => (VALUES, "connectionRead", "(Ljava/lang/Object;)I"),
            Self::ConnectionOpened => (VALUES, "connectionOpened", "(Ljava/lang/Object;)I"),
            Self::RequestServed => (VALUES, "requestServed", "(Ljava/lang/Object;)I"),
            Self::FileRead => (VALUES, "fileRead", "(Ljava/lang/Object;)I"),
            Self::FileWritten => (VALUES, "fileWritten", "(Ljava/lang/Object;)I"),
            Self::FileOpened => (VALUES, "fileOpened", "(Ljava/lang/Object;Ljava/lang/Object;)I"),
            Self::FileCopied => (VALUES, "fileCopied", "(Ljava/lang/Object;)I"),
            Self::FileMoved => (VALUES, "fileMoved", "(Ljava/lang/Object;)I"),
            Self::FileDeleted => (VALUES, "fileDeleted", "(Ljava/lang/Object;)I"),
            Self::ValueLeft => (VALUES, "valueLeft", METHOD_EVENT),
            Self::RegionBegin => (REGIONS, "begin", METHOD_EVENT),
            Self::RegionEnd => (REGIONS, "end", METHOD_EVENT),
            Self::RegionLeft => (REGIONS, "left", METHOD_EVENT),
            Self::RmiConnection => (RMI_MARKERS, "connection", "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V"),
            Self::RmiListening => (RMI_MARKERS, "listening", OBJECT_EVENT),
            Self::RmiAccepted => (RMI_MARKERS, "accepted", OBJECT_EVENT),
            Self::RmiInvoking => (RMI_MARKERS, "invoking", "(Ljava/lang/Object;Ljava/lang/Object;J)V"),
            Self::RmiNewCall => (RMI_MARKERS, "newCall", "(Ljava/lang/Object;[Ljava/lang/Object;IJ)V"),
            Self::RmiUnmade => (RMI_MARKERS, "unmade", OBJECT_EVENT),
            Self::RmiCallMade => (RMI_MARKERS, "callMade", "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;IJ)V"),
            Self::RmiSent => (RMI_MARKERS, "sent", OBJECT_EVENT),
            Self::RmiReturned => (RMI_MARKERS, "returned", OBJECT_EVENT),
            Self::RmiThrown => (RMI_MARKERS, "thrown", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
            Self::RmiFreed => (RMI_MARKERS, "freed", "(Ljava/lang/Object;Z)V"),
            Self::RmiReceiving => (RMI_MARKERS, "receiving", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
            Self::RmiServed => (RMI_MARKERS, "served", OBJECT_EVENT),
            Self::RmiOperation => (RMI_MARKERS, "operation", METHOD_EVENT),
            Self::RmiHash => (RMI_MARKERS, "hash", "(J)V"),
            Self::RmiDispatching => (RMI_MARKERS, "dispatching", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
            Self::RmiInputReleased => (RMI_MARKERS, "inputReleased", OBJECT_EVENT),
            Self::RmiCalling => (RMI_MARKERS, "calling", "()V"),
            Self::RmiFailed => (RMI_MARKERS, "failed", OBJECT_EVENT),
            Self::RmiAnswering => (RMI_MARKERS, "answering", OBJECT_EVENT),
            Self::RmiServiced => (RMI_MARKERS, "serviced", "(Z)V"),
            Self::RmiStubEntered => (RMI_MARKERS, "stubEntered", "()V"),
            Self::RmiStubCalls => (RMI_MARKERS, "stubCalls", "(J)V"),
            Self::RmiStubReturns => (RMI_MARKERS, "stubReturns", "()V"),
            Self::RmiStubThrows => (RMI_MARKERS, "stubThrows", OBJECT_EVENT),
            Self::RmiSkeletonEntered => (RMI_MARKERS, "skeletonEntered", "(Ljava/lang/Object;IJ)V"),
            Self::RmiSkeletonReturns => (RMI_MARKERS, "skeletonReturns", "()V"),
            Self::RmiSkeletonThrows => (RMI_MARKERS, "skeletonThrows", OBJECT_EVENT),
            Self::RmiRemoteEntered => (RMI_MARKERS, "remoteEntered", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
            Self::RmiRemoteReturns => (RMI_MARKERS, "remoteReturns", "()V"),
            Self::RmiRemoteThrows => (RMI_MARKERS, "remoteThrows", OBJECT_EVENT),
        }
    }

    /// The Java method's name.
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// Internal name of the class that declares it.
    pub const fn owner(self) -> &'static str {
        self.row().0
    }

    /// Internal name of the class that injected code names.
    pub(crate) const fn owner_by(self, reach: Reach) -> &'static str {
        match reach {
            Reach::Direct => self.owner(),
            Reach::Boot => BOOT_PROBES,
        }
    }

    /// Its descriptor; all hooks are static.
    pub const fn descriptor(self) -> &'static str {
        self.row().2
    }
}
