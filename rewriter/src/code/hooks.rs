//! The one table of runtime hooks: the methods of the Java runtime that injected code calls.
//!
//! The Java side is `runtime-java/`; a test compares the two.

pub use crate::runtime::{BOOT_PROBES, METHOD_EVENT, OBJECT_EVENT};

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
/// Internal name of the class that remembers tasks that cannot be wrapped.
pub const TASK_LINKS: &str = "instrument/runtime/TaskLinks";
/// Internal name of the class that wraps method references.
pub const REFERENCES: &str = "instrument/runtime/References";
/// Internal name of the class that wraps functions of streams.
pub const STREAM_TASKS: &str = "instrument/runtime/StreamTasks";
/// Internal name of the class that splits calls by a value.
pub const VALUES: &str = "instrument/runtime/Values";
/// Internal name of the class that is told of calls by reflection.
pub const REFLECTED_CALLS: &str = "instrument/runtime/ReflectedCalls";
/// Internal name of the class that times code regions.
pub const REGIONS: &str = "instrument/runtime/Regions";
/// Internal name of the class that is told of remote method invocation.
pub const RMI_MARKERS: &str = "instrument/runtime/RmiMarkers";
/// Internal name of the class that is told of requests by HTTP as remote calls.
pub const HTTP_MARKERS: &str = "instrument/runtime/HttpMarkers";
/// Internal name of the class that is told of calls by gRPC.
pub const GRPC_MARKERS: &str = "instrument/runtime/GrpcMarkers";
/// Internal name of the class that is told of messages by JMS.
pub const JMS_MARKERS: &str = "instrument/runtime/JmsMarkers";

/// Internal name of the class that begins the recorder in a JDK whose module image was rewritten: `static boolean
/// begin()`.
pub const JDK_IMAGE: &str = "instrument/runtime/JdkImage";

/// What is told an object and gives a number.
const OBJECT_NUMBER: &str = "(Ljava/lang/Object;)I";

/// What injected code names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// The runtime itself.
    #[default]
    Direct,
    /// [`BOOT_PROBES`], which calls the runtime.
    Boot,
}

/// Makes the enum from rows of class, method and descriptor.
macro_rules! hooks {
    ($($(#[$doc:meta])* $name:ident = $owner:expr, $method:literal, $descriptor:expr;)*) => {
        /// A method of the runtime.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Hook {
            $($(#[$doc])* $name,)*
        }

        impl Hook {
            /// Every hook, in the order of the table.
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name),*];

            /// Owner, name and descriptor.
            const fn row(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $(Self::$name => ($owner, $method, $descriptor),)*
                }
            }
        }
    };
}

hooks! {
    /// First instruction of a method.
    MethodEntry = PROFILER_RUNTIME, "methodEntry", METHOD_EVENT;
    /// First instruction of a constructor, in front of `super()`.
    ConstructorEntry = PROFILER_RUNTIME, "constructorEntry", METHOD_EVENT;
    /// In front of every xRETURN.
    MethodExit = PROFILER_RUNTIME, "methodExit", METHOD_EVENT;
    /// In the catch-any handler.
    MethodUnwind = PROFILER_RUNTIME, "methodUnwind", METHOD_EVENT;
    /// Behind every `super()`/`this()` call of a constructor.
    SuperReturned = PROFILER_RUNTIME, "superReturned", METHOD_EVENT;
    /// In front of every exception handler of the method.
    ExceptionCaught = PROFILER_RUNTIME, "exceptionCaught", METHOD_EVENT;
    /// As `MethodExit`, with how many instructions the call has executed.
    CountedExit = BYTECODES, "methodExit", "(II)V";
    /// The same of a method with loops.
    CountedExitLong = BYTECODES, "methodExit", "(IJ)V";
    /// As `MethodUnwind`, with how many instructions the call has executed.
    CountedUnwind = BYTECODES, "methodUnwind", "(II)V";
    /// The same of a method with loops.
    CountedUnwindLong = BYTECODES, "methodUnwind", "(IJ)V";
    /// In a constructor, in front of instructions that are executed before `super()` has returned.
    CountedPending = BYTECODES, "pending", "(II)V";
    /// First of all in a method: gives the array in which it counts.
    LineCounters = LINES, "counters", "(III)[J";
    /// In front of a call into a library.
    LibraryEnter = PROFILER_RUNTIME, "libraryEnter", METHOD_EVENT;
    /// Behind it.
    LibraryExit = PROFILER_RUNTIME, "libraryExit", METHOD_EVENT;
    /// Behind whatever makes one array.
    ArrayAlloc = HEAP_PROXY, "ArrayAlloc", OBJECT_EVENT;
    /// Behind whatever makes an array of new arrays.
    MultiArrayAlloc = HEAP_PROXY, "MultiArrayAlloc", OBJECT_EVENT;
    /// Behind the constructor call of a `new`, and behind `Object.clone` called by `super`.
    ObjectAlloc = HEAP_PROXY, "ObjectAlloc", OBJECT_EVENT;
    /// Behind a virtual call of `Object.clone`.
    CloneAlloc = HEAP_PROXY, "CloneAlloc", OBJECT_EVENT;
    /// In `java.lang.Object.<init>`.
    EarlyObjectAlloc = HEAP_PROXY, "EarlyObjectAlloc", OBJECT_EVENT;
    /// In front of every call of a method `start()V`.
    Starting = THREAD_LINKS, "starting", OBJECT_EVENT;
    /// In front of a call by reflection: what names its target.
    Reflecting = REFLECTED_CALLS, "calling", OBJECT_EVENT;
    /// First instruction of a `park` method of `LockSupport`.
    Parking = PARKS, "parking", OBJECT_EVENT;
    /// In front of every return of it.
    Parked = PARKS, "parked", "()V";
    /// In front of a call that hands over a `Runnable`.
    WrapRunnable = HAND_OVER, "wrap", "(Ljava/lang/Runnable;)Ljava/lang/Runnable;";
    /// In front of a call that hands over a `Callable`.
    WrapCallable = HAND_OVER, "wrap", "(Ljava/util/concurrent/Callable;)Ljava/util/concurrent/Callable;";
    /// In front of a call that hands over a `Supplier`.
    WrapSupplier = HAND_OVER, "wrap", "(Ljava/util/function/Supplier;)Ljava/util/function/Supplier;";
    /// In front of a call that hands over a `Function`.
    WrapFunction = HAND_OVER, "wrap", "(Ljava/util/function/Function;)Ljava/util/function/Function;";
    /// In front of a call that hands over a `Consumer`.
    WrapConsumer = HAND_OVER, "wrap", "(Ljava/util/function/Consumer;)Ljava/util/function/Consumer;";
    /// In front of a call that hands over a `BiFunction`.
    WrapBiFunction = HAND_OVER, "wrap", "(Ljava/util/function/BiFunction;)Ljava/util/function/BiFunction;";
    /// In front of a call that hands over a `BiConsumer`.
    WrapBiConsumer = HAND_OVER, "wrap", "(Ljava/util/function/BiConsumer;)Ljava/util/function/BiConsumer;";
    /// In front of a call that hands over a collection of `Callable`s.
    WrapTasks = HAND_OVER, "wrap", "(Ljava/util/Collection;)Ljava/util/Collection;";
    /// In front of a call that hands over a `Runnable` if its receiver is an executor.
    WrapRunnableFor = HAND_OVER, "wrapFor", "(Ljava/lang/Object;Ljava/lang/Runnable;)Ljava/lang/Runnable;";
    /// In front of a call that hands over a `Callable` if its receiver is an executor.
    WrapCallableFor = HAND_OVER, "wrapFor", "(Ljava/lang/Object;Ljava/util/concurrent/Callable;)Ljava/util/concurrent/Callable;";
    /// In front of a call that hands over a collection of `Callable`s if its receiver is an executor.
    WrapTasksFor = HAND_OVER, "wrapFor", "(Ljava/lang/Object;Ljava/util/Collection;)Ljava/util/Collection;";
    /// In front of a call that gives a task as it is.
    Given = TASK_LINKS, "given", OBJECT_EVENT;
    /// First of all in a method that may be a task's.
    TaskBegins = TASK_LINKS, "taskBegins", OBJECT_NUMBER;
    /// Behind its end.
    TaskEnds = TASK_LINKS, "taskEnds", METHOD_EVENT;
    /// Behind an instruction that makes a method reference to one of these calls.
    Reference = REFERENCES, "of", "(Ljava/lang/Object;I)Ljava/lang/Object;";
    /// The same if the receiver, which is the first operand, is an executor.
    ReferenceOfReceiver = REFERENCES, "ofReceiver", "(Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/Object;";
    /// In front of a call that gives a stream a function.
    StreamTask = STREAM_TASKS, "of", "(Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/Object;";
    /// In front of a call that runs a statement with its text.
    StatementText = VALUES, "statementText", "(Ljava/lang/String;)I";
    /// The same, with a number behind the text.
    StatementTextKeys = VALUES, "statementText", "(Ljava/lang/String;I)I";
    /// The same, with an array behind the text.
    StatementTextColumns = VALUES, "statementText", "(Ljava/lang/String;Ljava/lang/Object;)I";
    /// In front of a call that runs a prepared statement.
    StatementRun = VALUES, "statementRun", OBJECT_NUMBER;
    /// In front of a call that runs a batch.
    BatchRun = VALUES, "batchRun", OBJECT_NUMBER;
    /// Behind a call that prepares a statement.
    StatementPrepared = VALUES, "statementPrepared", "(Ljava/lang/Object;Ljava/lang/String;)V";
    /// In front of a call that adds a statement to a batch.
    StatementBatched = VALUES, "statementBatched", "(Ljava/lang/Object;Ljava/lang/String;)V";
    /// In front of a call that sends a request by HTTP.
    RequestMade = VALUES, "requestMade", OBJECT_NUMBER;
    /// In front of a call that reads from a connection or URL.
    ConnectionRead = VALUES, "connectionRead", OBJECT_NUMBER;
    /// In front of a call of a library that tells which of the program's methods serves a request.
    HttpRouted = HTTP_MARKERS, "httpRouted", "(Ljava/lang/Object;)V";
    /// In front of a call that connects, or gives a stream to write to.
    ConnectionOpened = VALUES, "connectionOpened", OBJECT_NUMBER;
    /// In front of a call of a servlet.
    RequestServed = VALUES, "requestServed", OBJECT_NUMBER;
    /// In front of a call that opens a file for reading.
    FileRead = VALUES, "fileRead", OBJECT_NUMBER;
    /// In front of a call that opens a file for writing.
    FileWritten = VALUES, "fileWritten", OBJECT_NUMBER;
    /// In front of a call that opens a file as the operand behind its path says.
    FileOpened = VALUES, "fileOpened", "(Ljava/lang/Object;Ljava/lang/Object;)I";
    /// In front of a call that copies a file.
    FileCopied = VALUES, "fileCopied", OBJECT_NUMBER;
    /// In front of a call that moves a file.
    FileMoved = VALUES, "fileMoved", OBJECT_NUMBER;
    /// In front of a call that deletes a file.
    FileDeleted = VALUES, "fileDeleted", OBJECT_NUMBER;
    /// Behind a call that is split by a value.
    ValueLeft = VALUES, "valueLeft", METHOD_EVENT;
    /// Where control enters a code region.
    RegionBegin = REGIONS, "begin", METHOD_EVENT;
    /// Where control leaves a code region by itself.
    RegionEnd = REGIONS, "end", METHOD_EVENT;
    /// Where an exception leaves a code region.
    RegionLeft = REGIONS, "left", METHOD_EVENT;
    /// In front of a call that sends a request, which knows where it goes.
    HttpMade = HTTP_MARKERS, "httpMade", OBJECT_NUMBER;
    /// In front of a call that sends a request to a host.
    HttpMadeTo = HTTP_MARKERS, "httpMade", "(Ljava/lang/Object;Ljava/lang/Object;)I";
    /// Behind these: gives the request to send.
    HttpSent = HTTP_MARKERS, "httpSent", "(Ljava/lang/Object;I)Ljava/lang/Object;";
    /// In front of a call of a library that writes a request to a connection.
    HttpWritten = HTTP_MARKERS, "httpWritten", "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// In front of a call that connects, or gives a stream to write to.
    HttpOpened = HTTP_MARKERS, "httpOpened", OBJECT_NUMBER;
    /// In front of a call that reads from a connection or URL.
    HttpRead = HTTP_MARKERS, "httpRead", OBJECT_NUMBER;
    /// In front of a call of a servlet or filter.
    HttpServed = HTTP_MARKERS, "httpServed", "(Ljava/lang/Object;Ljava/lang/Object;)I";
    /// First instruction of a method that is given an exchange.
    HttpExchange = HTTP_MARKERS, "httpExchange", OBJECT_NUMBER;
    /// Behind a call that gives nothing.
    HttpLeft = HTTP_MARKERS, "httpLeft", METHOD_EVENT;
    /// Behind a call that gives a response.
    HttpAnswered = HTTP_MARKERS, "httpAnswered", "(Ljava/lang/Object;I)V";
    /// Behind a call that gives a status.
    HttpStatus = HTTP_MARKERS, "httpAnswered", "(II)V";
    /// Where an exception has left such a call.
    HttpFailed = HTTP_MARKERS, "httpFailed", "(Ljava/lang/Object;I)V";
    /// First instruction of the method that starts a call.
    GrpcStarted = GRPC_MARKERS, "grpcStarted", "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V";
    /// In front of a call that tells a client of the end.
    GrpcEnded = GRPC_MARKERS, "grpcEnded", "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// In front of a call that hands a call to the program.
    GrpcServed = GRPC_MARKERS, "grpcServed", "(Ljava/lang/Object;Ljava/lang/Object;)I";
    /// First instruction of a method that hands more of a call to the program.
    GrpcContinued = GRPC_MARKERS, "grpcContinued", OBJECT_NUMBER;
    /// The same of the last one.
    GrpcClosed = GRPC_MARKERS, "grpcClosed", "(Ljava/lang/Object;Ljava/lang/Object;)I";
    /// Where the program ends a call that it serves.
    GrpcAnswered = GRPC_MARKERS, "grpcAnswered", "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// Where the program returns.
    GrpcLeft = GRPC_MARKERS, "grpcLeft", METHOD_EVENT;
    /// Where an exception leaves it.
    GrpcFailed = GRPC_MARKERS, "grpcFailed", "(Ljava/lang/Object;I)V";
    /// In front of a call that sends a message.
    JmsSending = JMS_MARKERS, "jmsSending", OBJECT_NUMBER;
    /// In front of a call that hands a message to the program.
    JmsDelivered = JMS_MARKERS, "jmsDelivered", OBJECT_NUMBER;
    /// Behind a call that gives a message.
    JmsReceived = JMS_MARKERS, "jmsReceived", OBJECT_NUMBER;
    /// Behind a call that sends a message, or hands one to the program.
    JmsSent = JMS_MARKERS, "jmsSent", METHOD_EVENT;
    /// Where an exception has left such a call.
    JmsFailed = JMS_MARKERS, "jmsFailed", "(Ljava/lang/Object;I)V";
    /// In front of a call that gives the next message, and of a return.
    JmsLeft = JMS_MARKERS, "jmsLeft", METHOD_EVENT;
    /// Where an exception leaves a method that has received a message.
    JmsBroken = JMS_MARKERS, "jmsBroken", "(Ljava/lang/Object;I)V";
    /// At the end of the constructor of a connection.
    RmiConnection = RMI_MARKERS, "connection", "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V";
    /// Where a loop begins that accepts connections.
    RmiListening = RMI_MARKERS, "listening", OBJECT_EVENT;
    /// Where a socket was accepted.
    RmiAccepted = RMI_MARKERS, "accepted", OBJECT_EVENT;
    /// Where a method of a remote object is called.
    RmiInvoking = RMI_MARKERS, "invoking", "(Ljava/lang/Object;Ljava/lang/Object;J)V";
    /// Where a stub calls one of its operations.
    RmiNewCall = RMI_MARKERS, "newCall", "(Ljava/lang/Object;[Ljava/lang/Object;IJ)V";
    /// Where no connection can be had for a call.
    RmiUnmade = RMI_MARKERS, "unmade", OBJECT_EVENT;
    /// In the constructor of a call that is made.
    RmiCallMade = RMI_MARKERS, "callMade", "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;IJ)V";
    /// Where the arguments of a call are written.
    RmiSent = RMI_MARKERS, "sent", OBJECT_EVENT;
    /// Where the UID of a return was read.
    RmiReturned = RMI_MARKERS, "returned", OBJECT_EVENT;
    /// Where a server has sent an exception.
    RmiThrown = RMI_MARKERS, "thrown", "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// Where a connection is given back.
    RmiFreed = RMI_MARKERS, "freed", "(Ljava/lang/Object;Z)V";
    /// In the constructor of a call that comes in.
    RmiReceiving = RMI_MARKERS, "receiving", "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// Where the ObjID of a call was read.
    RmiServed = RMI_MARKERS, "served", OBJECT_EVENT;
    /// Where the number of an operation was read.
    RmiOperation = RMI_MARKERS, "operation", METHOD_EVENT;
    /// Where the hash of a method or interface was read.
    RmiHash = RMI_MARKERS, "hash", "(J)V";
    /// Where object and method of a call are known.
    RmiDispatching = RMI_MARKERS, "dispatching", "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// Where the input of a call is released.
    RmiInputReleased = RMI_MARKERS, "inputReleased", OBJECT_EVENT;
    /// In front of the call of a remote object's method.
    RmiCalling = RMI_MARKERS, "calling", "()V";
    /// Where an exception of a call is known.
    RmiFailed = RMI_MARKERS, "failed", OBJECT_EVENT;
    /// Where the UID of a return is written.
    RmiAnswering = RMI_MARKERS, "answering", OBJECT_EVENT;
    /// Where the service of a call ends.
    RmiServiced = RMI_MARKERS, "serviced", "(Z)V";
    /// First instruction of a stub's method.
    RmiStubEntered = RMI_MARKERS, "stubEntered", "()V";
    /// In front of the call that makes a stub's call.
    RmiStubCalls = RMI_MARKERS, "stubCalls", "(J)V";
    /// In front of every return of a stub's method.
    RmiStubReturns = RMI_MARKERS, "stubReturns", "()V";
    /// Where an exception leaves a stub's method.
    RmiStubThrows = RMI_MARKERS, "stubThrows", OBJECT_EVENT;
    /// First instruction of a skeleton's `dispatch`.
    RmiSkeletonEntered = RMI_MARKERS, "skeletonEntered", "(Ljava/lang/Object;IJ)V";
    /// In front of every return of it.
    RmiSkeletonReturns = RMI_MARKERS, "skeletonReturns", "()V";
    /// Where an exception leaves it.
    RmiSkeletonThrows = RMI_MARKERS, "skeletonThrows", OBJECT_EVENT;
    /// First instruction of a method that can be called from other processes.
    RmiRemoteEntered = RMI_MARKERS, "remoteEntered", "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// In front of every return of it.
    RmiRemoteReturns = RMI_MARKERS, "remoteReturns", "()V";
    /// Where an exception leaves it.
    RmiRemoteThrows = RMI_MARKERS, "remoteThrows", OBJECT_EVENT;
}

impl Hook {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The class that all of them are methods of where code of the boot loader calls them ([`BOOT_PROBES`]).
    #[test]
    fn no_two_hooks_are_the_same_method_of_one_class() {
        let mut met = HashSet::new();
        for hook in Hook::ALL {
            assert!(met.insert((hook.name(), hook.descriptor())), "{hook:?}");
        }
    }
}
