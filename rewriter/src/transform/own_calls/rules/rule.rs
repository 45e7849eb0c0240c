//! A rule, as a user writes it.

use crate::transform::own_calls::call::Value;
use instrument_names::pattern::Pattern;
use instrument_names::types::ObjectPatterns;
use std::fmt;

/// Which methods get which call, and where.
#[derive(Debug)]
pub struct Rule {
    /// What messages and accounts call it.
    pub name: String,
    /// Which places.
    pub at: Kind,
    /// In which methods: those that fit one of the patterns; all, if there is none.
    pub methods: Vec<Pattern>,
    /// But not in those that fit one of these.
    pub except: Vec<Pattern>,
    /// Only in methods with an annotation of a type that fits one of these patterns, if there is one.
    pub annotated: Vec<Pattern>,
    /// The same of the annotations of the class.
    pub class_annotated: Vec<Pattern>,
    /// Only in classes that are, extend or implement one of these (internal names), if there is one.
    pub subclasses_of: Vec<String>,
    /// Internal name of the class whose method is called.
    pub owner: String,
    /// The name of that method.
    pub method: String,
    /// What is passed, in the order of the parameters.
    pub with: Vec<Given>,
}

/// A kind of place.
#[derive(Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Where the method is entered.
    Entry,
    /// In front of every return.
    Return,
    /// Where an exception leaves the method.
    Throw,
    /// In front of calls of methods that fit the pattern.
    BeforeCall(Pattern),
    /// Behind them.
    AfterCall(Pattern),
    /// Behind every reading of a field that fits the pattern.
    Get(Pattern),
    /// In front of every writing of a field that fits the pattern.
    Put(Pattern),
    /// Behind the constructor's call of `new`, and behind what makes arrays, of classes that fit.
    New(ObjectPatterns),
    /// In front of the first instruction of each run of instructions of a line.
    Line(u16),
}

/// What is passed for a parameter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Given {
    /// A value that the program has.
    Value(Value),
    /// The method's id, an `int`.
    Id,
    /// The method's name, class and parameters, as reports print them: `com.acme.Shop.price(int)`.
    Method,
    /// The same of the method that is called, the field that is accessed, or the class of the object that is made.
    Target,
    /// A number.
    Int(i32),
    /// A number.
    Long(i64),
    /// A number.
    Double(f64),
    /// A text.
    Text(String),
}

impl Kind {
    /// As rules write it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Return => "return",
            Self::Throw => "throw",
            Self::BeforeCall(_) => "before-call",
            Self::AfterCall(_) => "after-call",
            Self::Get(_) => "get",
            Self::Put(_) => "put",
            Self::New(_) => "new",
            Self::Line(_) => "line",
        }
    }

    /// Whether there may be such a value at places of this kind.
    pub fn has(&self, given: &Given) -> bool {
        let is_call = matches!(self, Self::BeforeCall(_) | Self::AfterCall(_));
        let is_field = matches!(self, Self::Get(_) | Self::Put(_));
        match given {
            Given::Value(Value::Result) => {
                matches!(self, Self::Return | Self::AfterCall(_) | Self::Get(_) | Self::New(_))
            }
            Given::Value(Value::Exception) => matches!(self, Self::Throw),
            Given::Value(Value::Receiver) => is_call || is_field,
            Given::Value(Value::Operand(_)) => is_call || matches!(self, Self::Put(_)),
            Given::Target => is_call || is_field || matches!(self, Self::New(_)),
            _ => true,
        }
    }
}

impl fmt::Display for Given {
    /// As rules write it, but for constants, which are shown as their type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(Value::This) => f.write_str("this"),
            Self::Value(Value::Argument(number)) => write!(f, "argument {}", u16::from(*number) + 1),
            Self::Value(Value::Result) => f.write_str("result"),
            Self::Value(Value::Exception) => f.write_str("exception"),
            Self::Value(Value::Receiver) => f.write_str("receiver"),
            Self::Value(Value::Operand(number)) => write!(f, "call argument {}", u16::from(*number) + 1),
            Self::Id => f.write_str("id"),
            Self::Method => f.write_str("method"),
            Self::Target => f.write_str("target"),
            Self::Int(_) => f.write_str("an int"),
            Self::Long(_) => f.write_str("a long"),
            Self::Double(_) => f.write_str("a double"),
            Self::Text(_) => f.write_str("a text"),
        }
    }
}
