//! What is wrong with a class: the rule, the place, what the rule expects and what was found.

use serde::{Serialize, Serializer};
use std::fmt;

/// The error that a JVM throws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum LinkageError {
    ClassFormatError,
    UnsupportedClassVersionError,
    NoClassDefFoundError,
    ClassCircularityError,
    IncompatibleClassChangeError,
    IllegalAccessError,
    VerifyError,
}

macro_rules! rules {
    ($($name:ident $error:ident $code:literal $words:literal;)*) => {
        /// A rule that a class breaks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule { $(#[doc = $words] $name,)* }

        impl Rule {
            /// The error that a JVM throws for it.
            pub fn error(self) -> LinkageError {
                match self { $(Self::$name => LinkageError::$error,)* }
            }

            /// Its name in JSON.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What is wrong, in words.
            pub fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* }
            }
        }
    };
}

rules! {
    Structure ClassFormatError "structure" "the class file cannot be read";
    Version UnsupportedClassVersionError "version" "the JVM does not support this class file version";
    ConstantVersion ClassFormatError "constant-version" "the class file version does not have this kind of constant";
    ConstantIndex ClassFormatError "constant-index" "an index names no constant of the kind that is needed";
    Utf8 ClassFormatError "utf8" "a Utf8 constant is not modified UTF-8";
    Name ClassFormatError "name" "a name is not legal";
    Descriptor ClassFormatError "descriptor" "a descriptor is not legal";
    MethodHandleKind ClassFormatError "method-handle-kind" "a method handle has a kind that does not fit what it refers to";
    BootstrapMethods ClassFormatError "bootstrap-methods" "the bootstrap methods do not fit the constants that use them";
    ClassFlags ClassFormatError "class-flags" "the access flags of the class contradict each other";
    ModuleFlag NoClassDefFoundError "module-flag" "the class file is a module descriptor, not a class";
    SuperClass ClassFormatError "super-class" "the superclass index is not legal";
    Interfaces ClassFormatError "interfaces" "the list of superinterfaces is not legal";
    FieldFlags ClassFormatError "field-flags" "the access flags of a field contradict each other";
    MethodFlags ClassFormatError "method-flags" "the access flags of a method contradict each other";
    Duplicate ClassFormatError "duplicate" "something stands twice that may stand once";
    ConstantValue ClassFormatError "constant-value" "a ConstantValue does not fit its field";
    AttributeLength ClassFormatError "attribute-length" "an attribute has a wrong length";
    Attribute ClassFormatError "attribute" "the content of an attribute is not legal";
    CodeAbsent ClassFormatError "code-absent" "a method that is neither abstract nor native has no code";
    CodeUnexpected ClassFormatError "code-unexpected" "an abstract or native method has code";
    CodeLength ClassFormatError "code-length" "the length of the code is not between 1 and 65535";
    Arguments ClassFormatError "arguments" "the parameters take more than 255 slots, or do not fit into the local variables";
    ExceptionTable ClassFormatError "exception-table" "a row of the exception table is not legal";
    LineNumberTable ClassFormatError "line-number-table" "a row of the line number table is not legal";
    LocalVariableTable ClassFormatError "local-variable-table" "a row of a local variable table is not legal";
    StackMapFormat ClassFormatError "stack-map-format" "the StackMapTable is not legal";
    StackMapSize ClassFormatError "stack-map-size" "a stack map frame does not fit the code: its place, its local variables or its stack";
    Circularity ClassCircularityError "circularity" "the class is its own superclass or superinterface";
    SuperIsInterface IncompatibleClassChangeError "super-is-interface" "the superclass is an interface";
    SuperIsFinal IncompatibleClassChangeError "super-is-final" "the superclass is final";
    InterfaceIsClass IncompatibleClassChangeError "interface-is-class" "a superinterface is a class";
    NotPermitted IncompatibleClassChangeError "not-permitted" "the sealed superclass or superinterface does not permit this class";
    SuperAccess IllegalAccessError "super-access" "the superclass or superinterface is not accessible";
    FinalMethod IncompatibleClassChangeError "final-method" "a final method is overridden";
    BadInstruction VerifyError "bad-instruction" "there is no such instruction, or it is cut off";
    CatchType VerifyError "catch-type" "the type of an exception handler is no subclass of Throwable";
    ExpectedFrame VerifyError "expected-frame" "a stack map frame is needed here, since the instruction before does not lead here";
    NoFrame VerifyError "no-frame" "the target of a branch or handler has no stack map frame";
    FrameMismatch VerifyError "frame-mismatch" "the types do not fit the stack map frame";
    FallsOffCode VerifyError "falls-off-code" "control falls off the end of the code";
    StackUnderflow VerifyError "stack-underflow" "the operand stack is empty";
    StackOverflow VerifyError "stack-overflow" "the operand stack is deeper than max_stack";
    StackType VerifyError "stack-type" "the operand stack holds another type than the instruction takes";
    LocalIndex VerifyError "local-index" "the local variable lies behind max_locals";
    LocalType VerifyError "local-type" "the local variable holds another type than the instruction takes";
    Operand VerifyError "operand" "an operand of the instruction is not legal";
    ConstantKind VerifyError "constant-kind" "the instruction names a constant of another kind";
    SwitchOrder VerifyError "switch-order" "the keys of the switch are not in order";
    InternalMethod VerifyError "internal-method" "a method whose name begins with < cannot be called like this";
    SpecialClass VerifyError "special-class" "invokespecial names a class that is neither the current one nor above it";
    InitReceiver VerifyError "init-receiver" "the constructor does not belong to the object that it is called on";
    ProtectedAccess VerifyError "protected-access" "a protected member is used on an object of another class";
    ReturnType VerifyError "return-type" "the method returns another type";
    ThisUninitialized VerifyError "this-uninitialized" "the constructor returns before it called this() or super()";
    BranchTarget VerifyError "branch-target" "a branch does not lead to an instruction";
    Merge VerifyError "merge" "the paths that lead here have operand stacks that do not fit";
    Subroutine VerifyError "subroutine" "a subroutine (jsr, ret) is not used as it may be";
    TooComplex VerifyError "too-complex" "the method needs more work than the limit allows: it is not judged";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl Rule {
    /// Whether HotSpot asks inference what it thinks of a class of version 50 that breaks the rule. A StackMapTable
    /// that cannot even be read is final.
    pub fn fails_over(self) -> bool {
        !matches!(self, Self::StackMapFormat | Self::TooComplex | Self::Structure)
    }
}

/// A broken rule, before its class and method are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub rule: Rule,
    /// What breaks it; may be empty.
    pub detail: String,
    /// What the rule expects; may be empty.
    pub expected: String,
    /// What is there instead; may be empty.
    pub found: String,
    /// Where in the code.
    pub pc: Option<u32>,
}

/// The outcome of a check. The error is rare and large, so it lies on the heap.
pub type Check<T = ()> = Result<T, Box<Problem>>;

impl Problem {
    /// A broken rule with what breaks it.
    #[cold]
    pub fn new(rule: Rule, detail: impl Into<String>) -> Box<Self> {
        let (expected, found) = (String::new(), String::new());
        Box::new(Self { rule, detail: detail.into(), expected, found, pc: None })
    }

    /// With what the rule expects, and what is there instead.
    #[must_use]
    pub fn instead(mut self: Box<Self>, expected: impl Into<String>, found: impl Into<String>) -> Box<Self> {
        (self.expected, self.found) = (expected.into(), found.into());
        self
    }

    /// With its place in the code, unless it has one.
    #[must_use]
    pub fn at(mut self: Box<Self>, pc: u32) -> Box<Self> {
        self.pc.get_or_insert(pc);
        self
    }
}

/// A method by name and descriptor, what could harm a terminal escaped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Method {
    pub name: String,
    pub descriptor: String,
}

/// One thing that is wrong with a class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The class, as Java writes it; empty if its name cannot be read.
    pub class: String,
    /// The method; none if the fault is one of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Bytecode index of the instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pc: Option<u32>,
    /// Its mnemonic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<&'static str>,
    /// The error that a JVM throws.
    pub error: LinkageError,
    /// The broken rule.
    pub rule: Rule,
    /// The rule in words.
    pub message: &'static str,
    /// What breaks the rule.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// What the rule expects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// What is there instead.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub found: String,
}

impl Fault {
    /// A problem at its place.
    pub fn new(class: String, method: Option<Method>, problem: Problem) -> Self {
        let Problem { rule, detail, expected, found, pc } = problem;
        let (error, message) = (rule.error(), rule.words());
        Self { class, method, pc, instruction: None, error, rule, message, detail, expected, found }
    }

    /// Whether another fault is the same one, in code that may have moved.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.rule, &self.class, &self.method) == (other.rule, &other.class, &other.method)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.class)?;
        if let Some(method) = &self.method {
            write!(f, ".{}{}", method.name, method.descriptor)?;
        }
        write!(f, ": {:?}", self.error)?;
        if let Some(pc) = self.pc {
            write!(f, " at bytecode index {pc}")?;
        }
        if let Some(instruction) = self.instruction {
            write!(f, " ({instruction})")?;
        }
        write!(f, ": {}", self.message)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        for (name, text) in [("expected", &self.expected), ("found", &self.found)] {
            if !text.is_empty() {
                write!(f, "\n  {:<9} {text}", format!("{name}:"))?;
            }
        }
        Ok(())
    }
}
