//! A call, and what it passes.

use super::absent::Absent;
use crate::class_file::descriptor::field_slots;
use crate::class_file::mutf8;
use instrument_names::glob::push_modified_utf8_str;
use instrument_names::printable::printable;

/// A call of a static method that returns nothing. Each `with_..` adds a parameter to the method and says what is
/// passed for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub(super) owner: Vec<u8>,
    pub(super) name: Vec<u8>,
    pub(super) arguments: Vec<Argument>,
}

/// A parameter and what is passed for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    pub(super) passed: Passed,
    /// Field descriptor of the parameter.
    pub(super) parameter: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Passed {
    Int(i32),
    Long(i64),
    Double(f64),
    Text(Vec<u8>),
    Value(Value),
}

/// What the program has where a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// The object whose method this is. Not in static methods, and in constructors not before `super()` has returned.
    This,
    /// An argument of the method, counted from 0. Behind the entry, only one to which the method assigns nothing.
    Argument(u8),
    /// What an instruction has left on the stack, behind it; behind the call of a constructor by `new`, the new object;
    /// in front of a return, what is returned.
    Result,
    /// What leaves the method: for [`at_throw`](super::Calls::at_throw).
    Exception,
    /// Whose method the instruction calls, or whose field it accesses.
    Receiver,
    /// What the instruction takes from the stack besides the receiver, counted from 0: arguments of a call, the value
    /// for a field.
    Operand(u8),
}

/// A call that no class file can hold, or a place where none can stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCall {
    /// The name of the class.
    #[error("`{}` is no class name as class files have it, such as com/acme/Hooks", printable(.0))]
    Owner(String),
    /// The name of the method.
    #[error("`{}` is no name of a static method", printable(.0))]
    Name(String),
    /// The length of a text in bytes of modified UTF-8.
    #[error("a text of {0} bytes; a constant holds 65,535")]
    Text(usize),
    /// The descriptor of a parameter.
    #[error("`{}` is no descriptor of a type, such as I or Ljava/lang/String;", printable(.0))]
    Parameter(String),
    /// More parameters than a method can have.
    #[error("the parameters take more than 255 slots")]
    TooManyParameters,
    /// The place.
    #[error("no instruction begins at pc {0}")]
    Pc(u32),
    /// The value.
    #[error("{0}")]
    Absent(#[from] Absent),
    /// The type of a parameter and of the value for it.
    #[error("a value of the type {} is passed for a parameter of the type {}", printable(.passed), printable(.parameter))]
    Kind {
        /// Descriptor of the value's type.
        passed: String,
        /// Descriptor of the parameter's type.
        parameter: String,
    },
}

/// Most bytes of a `CONSTANT_Utf8` (JVMS 4.4.7).
const MAX_UTF8: usize = 65_535;
/// Most slots of the parameters of a method (JVMS 4.3.3).
const MAX_SLOTS: u16 = 255;

impl Call {
    /// A call of `owner.name()`: a static method without result of a class (not of an interface). `owner` is an
    /// internal name: `com/acme/Hooks`.
    ///
    /// # Errors
    /// Names that JVMS 4.2 does not allow.
    pub fn new(owner: &str, name: &str) -> Result<Self, BadCall> {
        let is_name = |text: &str, never: &[char]| {
            !text.is_empty() && text.len() <= MAX_UTF8 / 2 && !text.contains(never)
        };
        if !owner.split('/').all(|part| is_name(part, &['.', ';', '['])) || owner.len() > MAX_UTF8 / 2 {
            return Err(BadCall::Owner(owner.to_owned()));
        }
        if !is_name(name, &['.', ';', '[', '/', '<', '>']) {
            return Err(BadCall::Name(name.to_owned()));
        }
        Ok(Self { owner: modified_utf8(owner), name: modified_utf8(name), arguments: Vec::new() })
    }

    /// One more parameter: an `int`.
    #[must_use]
    pub fn with_int(self, argument: i32) -> Self {
        self.and(Passed::Int(argument), b"I")
    }

    /// One more parameter: a `long`.
    #[must_use]
    pub fn with_long(self, argument: i64) -> Self {
        self.and(Passed::Long(argument), b"J")
    }

    /// One more parameter: a `double`.
    #[must_use]
    pub fn with_double(self, argument: f64) -> Self {
        self.and(Passed::Double(argument), b"D")
    }

    /// One more parameter: a String.
    ///
    /// # Errors
    /// The text is longer than a constant can be.
    pub fn with_text(self, argument: &str) -> Result<Self, BadCall> {
        self.with_encoded(modified_utf8(argument))
    }

    /// As [`with_text`](Self::with_text), of a name as the class file has it, in modified UTF-8.
    ///
    /// # Errors
    /// The text is longer than a constant can be.
    pub fn with_name(self, argument: &[u8]) -> Result<Self, BadCall> {
        let mut text = Vec::with_capacity(argument.len());
        // Bytes that are no modified UTF-8 would make a class that the JVM refuses.
        mutf8::code_units(argument).for_each(|unit| mutf8::push_unit(unit, &mut text));
        self.with_encoded(text)
    }

    fn with_encoded(self, text: Vec<u8>) -> Result<Self, BadCall> {
        match text.len() {
            0..=MAX_UTF8 => Ok(self.and(Passed::Text(text), b"Ljava/lang/String;")),
            length => Err(BadCall::Text(length)),
        }
    }

    /// One more parameter, of this type (a field descriptor, JVMS 4.3.2, in modified UTF-8), for what the program has.
    /// That an object is one of the class `parameter` is for the caller to know: the rewriter knows no other classes.
    ///
    /// # Errors
    /// `parameter` is no descriptor, or there are too many.
    pub fn with_value(self, value: Value, parameter: &[u8]) -> Result<Self, BadCall> {
        if field_slots(parameter).is_none_or(|(_, rest)| !rest.is_empty()) || parameter.len() > MAX_UTF8 / 2 {
            return Err(BadCall::Parameter(mutf8::escape(parameter)));
        }
        let call = self.and(Passed::Value(value), parameter);
        if call.slots() > MAX_SLOTS { Err(BadCall::TooManyParameters) } else { Ok(call) }
    }

    fn and(mut self, passed: Passed, parameter: &[u8]) -> Self {
        self.arguments.push(Argument { passed, parameter: parameter.to_owned() });
        self
    }

    /// Gives the last parameter another type, of which its constant is one, too.
    pub(super) fn retype(&mut self, parameter: &[u8]) {
        if let Some(last) = self.arguments.last_mut() {
            last.parameter = parameter.to_owned();
        }
    }

    /// Slots of the arguments.
    pub(super) fn slots(&self) -> u16 {
        let slots = |argument: &Argument| field_slots(&argument.parameter).map_or(1, |(slots, _)| slots);
        self.arguments.iter().map(slots).fold(0, u16::saturating_add)
    }

    /// Whether it passes `this` or arguments of the method.
    pub(super) fn passes_locals(&self) -> bool {
        let is_local = |passed: &Passed| matches!(passed, Passed::Value(Value::This | Value::Argument(_)));
        self.arguments.iter().any(|argument| is_local(&argument.passed))
    }

    /// The descriptor of the method that is called, in modified UTF-8.
    pub(super) fn encoded_descriptor(&self) -> Vec<u8> {
        let parameters = self.arguments.iter().map(|argument| &argument.parameter[..]);
        let parts: Vec<&[u8]> = [&b"("[..]].into_iter().chain(parameters).chain([&b")V"[..]]).collect();
        parts.concat()
    }

    /// The descriptor of the method that is called.
    pub fn descriptor(&self) -> String {
        mutf8::escape(&self.encoded_descriptor())
    }
}

fn modified_utf8(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    push_modified_utf8_str(text, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_class_file_has_are_refused() {
        for owner in ["", "/", "a/", "a//b", "a.B", "La/B;", "[I"] {
            assert_eq!(Call::new(owner, "f"), Err(BadCall::Owner(owner.to_owned())));
        }
        for name in ["", "<init>", "a.b", "a/b", "a;"] {
            assert_eq!(Call::new("a/B", name), Err(BadCall::Name(name.to_owned())));
        }
        let call = Call::new("a/B", "f").unwrap();
        assert_eq!(call.descriptor(), "()V");
        assert_eq!(call.clone().with_int(-1).descriptor(), "(I)V");
        assert_eq!(call.clone().with_text("x").unwrap().descriptor(), "(Ljava/lang/String;)V");
        assert_eq!(call.clone().with_text(&"x".repeat(65_536)), Err(BadCall::Text(65_536)));
        assert_eq!(call.clone().with_name(b"\0\xff").unwrap(), call.clone().with_text("\0\u{ff}").unwrap());
        // NUL takes two bytes in modified UTF-8.
        assert_eq!(call.with_text(&"\0".repeat(32_768)), Err(BadCall::Text(65_536)));
        let message = Call::new("a\u{1b}.B", "f").unwrap_err().to_string();
        assert_eq!(message, "`a\\u001b.B` is no class name as class files have it, such as com/acme/Hooks");
    }

    #[test]
    fn parameters_have_descriptors_and_at_most_255_slots() {
        let call = Call::new("a/B", "f").unwrap();
        for parameter in ["", "V", "I I", "II", "Ljava/lang/Object", "[", "java/lang/Object"] {
            let refused = call.clone().with_value(Value::This, parameter.as_bytes());
            assert_eq!(refused, Err(BadCall::Parameter(parameter.to_owned())));
        }
        let mixed = call.clone().with_long(1).with_double(0.5).with_value(Value::Result, b"[I").unwrap();
        assert_eq!(mixed.descriptor(), "(JD[I)V");
        let mut long = call;
        for _ in 0..127 {
            long = long.with_value(Value::Argument(0), b"J").unwrap();
        }
        assert!(long.clone().with_value(Value::This, b"La;").is_ok());
        assert_eq!(long.with_value(Value::Argument(0), b"J"), Err(BadCall::TooManyParameters));
    }
}
