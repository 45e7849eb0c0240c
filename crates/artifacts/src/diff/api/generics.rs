//! Types of Java as `Signature` attributes and descriptors write them (JVMS 4.7.9.1): read, compared, printed.

use std::fmt::{self, Display, Formatter, Write};

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// `int`, `void`.
    Base(&'static str),
    /// A type variable, by name.
    Variable(String),
    Array(Box<Type>),
    /// A class with the classes around it that have arguments, the outermost first: names in internal form.
    Class(Vec<(String, Vec<Argument>)>),
}

/// A type argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument {
    Any,
    Exactly(Type),
    Extends(Type),
    Super(Type),
}

/// A type parameter: its name and its bounds. A bound that is only `Object` is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) bounds: Vec<Type>,
}

/// A method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) type_parameters: Vec<Parameter>,
    pub(super) parameters: Vec<Type>,
    pub(super) returned: Type,
}

/// A class: its type parameters, superclass and interfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) type_parameters: Vec<Parameter>,
    pub(super) supers: Vec<Type>,
}

/// Types nest this deep at most in what is read.
const DEEPEST: usize = 200;

/// The type of a field: its signature or its descriptor. `None`: it is neither.
pub(super) fn field(text: &str) -> Option<Type> {
    let mut reader = Reader { rest: text, depth: 0 };
    reader.any().filter(|_| reader.rest.is_empty())
}

/// A method's signature or descriptor. What it throws is not in it.
pub(super) fn method(text: &str) -> Option<Method> {
    let mut reader = Reader { rest: text, depth: 0 };
    let type_parameters = reader.type_parameters()?;
    reader.skip('(')?;
    let mut parameters = Vec::new();
    while reader.skip(')').is_none() {
        parameters.push(reader.any()?);
    }
    Some(Method { type_parameters, parameters, returned: reader.any()? })
}

/// A class's signature.
pub(super) fn class(text: &str) -> Option<Class> {
    let mut reader = Reader { rest: text, depth: 0 };
    let type_parameters = reader.type_parameters()?;
    let mut supers = Vec::new();
    while !reader.rest.is_empty() {
        supers.push(reader.any()?);
    }
    Some(Class { type_parameters, supers })
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn skip(&mut self, wanted: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    /// Everything in front of one of these characters, which stays.
    fn until(&mut self, ends: &[char]) -> Option<&'t str> {
        let (name, rest) = self.rest.split_at(self.rest.find(ends)?);
        self.rest = rest;
        Some(name)
    }

    fn any(&mut self) -> Option<Type> {
        self.depth += 1;
        let first = self.rest.chars().next().filter(|_| self.depth < DEEPEST)?;
        self.rest = &self.rest[first.len_utf8()..];
        let read = match first {
            'B' => Type::Base("byte"),
            'C' => Type::Base("char"),
            'D' => Type::Base("double"),
            'F' => Type::Base("float"),
            'I' => Type::Base("int"),
            'J' => Type::Base("long"),
            'S' => Type::Base("short"),
            'Z' => Type::Base("boolean"),
            'V' => Type::Base("void"),
            '[' => Type::Array(Box::new(self.any()?)),
            'T' => {
                let name = self.until(&[';'])?.to_owned();
                self.skip(';')?;
                Type::Variable(name)
            }
            'L' => self.class()?,
            _ => return None,
        };
        self.depth -= 1;
        Some(read)
    }

    /// Behind the `L`.
    fn class(&mut self) -> Option<Type> {
        let mut parts = vec![(self.until(&['<', '.', ';'])?.to_owned(), Vec::new())];
        loop {
            if self.skip('<').is_some() {
                let arguments = &mut parts.last_mut()?.1;
                while self.skip('>').is_none() {
                    arguments.push(if self.skip('*').is_some() {
                        Argument::Any
                    } else if self.skip('+').is_some() {
                        Argument::Extends(self.any()?)
                    } else if self.skip('-').is_some() {
                        Argument::Super(self.any()?)
                    } else {
                        Argument::Exactly(self.any()?)
                    });
                }
            } else if self.skip('.').is_some() {
                parts.push((self.until(&['<', '.', ';'])?.to_owned(), Vec::new()));
            } else {
                self.skip(';')?;
                return Some(Type::Class(parts));
            }
        }
    }

    fn type_parameters(&mut self) -> Option<Vec<Parameter>> {
        let mut parameters = Vec::new();
        if self.skip('<').is_none() {
            return Some(parameters);
        }
        while self.skip('>').is_none() {
            let name = self.until(&[':'])?.to_owned();
            let mut bounds = Vec::new();
            while self.skip(':').is_some() {
                // Without a class as its first bound, an interface follows a second colon.
                if !self.rest.starts_with(':') {
                    bounds.push(self.any()?);
                }
            }
            bounds.retain(|bound| !bound.is_object());
            parameters.push(Parameter { name, bounds });
        }
        Some(parameters)
    }
}

impl Type {
    pub(super) fn is_object(&self) -> bool {
        matches!(self, Type::Class(parts) if matches!(&parts[..], [(name, _)] if name == "java/lang/Object"))
    }

    /// Gives each type variable in it another name; whether that worked for all.
    pub(super) fn rename(&mut self, name: &dyn Fn(&str) -> Option<String>) -> bool {
        match self {
            Type::Base(_) => true,
            Type::Variable(own) => name(own).map(|new| *own = new).is_some(),
            Type::Array(element) => element.rename(name),
            Type::Class(parts) => {
                parts.iter_mut().flat_map(|part| &mut part.1).all(|argument| match argument {
                    Argument::Any => true,
                    Argument::Exactly(one) | Argument::Extends(one) | Argument::Super(one) => {
                        one.rename(name)
                    }
                })
            }
        }
    }
}

impl Method {
    /// Gives each type variable in it another name, its own parameters too; whether that worked for all.
    pub(super) fn rename(&mut self, name: &dyn Fn(&str) -> Option<String>) -> bool {
        let mut all = self.parameters.iter_mut().all(|one| one.rename(name)) && self.returned.rename(name);
        for parameter in &mut self.type_parameters {
            all &= parameter.rename(name);
        }
        all
    }
}

impl Parameter {
    pub(super) fn rename(&mut self, name: &dyn Fn(&str) -> Option<String>) -> bool {
        let bounds = self.bounds.iter_mut().all(|bound| bound.rename(name));
        bounds && name(&self.name).map(|new| self.name = new).is_some()
    }
}

/// The name of a class as Java writes it, without `java.lang.`.
pub(super) fn java_name(internal: &str) -> String {
    let short = internal.strip_prefix("java/lang/").filter(|rest| !rest.contains('/'));
    short.unwrap_or(internal).replace('/', ".")
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Base(name) => f.write_str(name),
            Type::Variable(name) => f.write_str(name),
            Type::Array(element) => write!(f, "{element}[]"),
            Type::Class(parts) => {
                for (position, (name, arguments)) in parts.iter().enumerate() {
                    if position > 0 {
                        f.write_char('.')?;
                    }
                    f.write_str(&java_name(name))?;
                    write_list(f, "<", arguments, ", ", ">")?;
                }
                Ok(())
            }
        }
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Any => f.write_char('?'),
            Argument::Exactly(one) => write!(f, "{one}"),
            Argument::Extends(one) => write!(f, "? extends {one}"),
            Argument::Super(one) => write!(f, "? super {one}"),
        }
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        write_list(f, " extends ", &self.bounds, " & ", "")
    }
}

/// Type parameters, `<T, E extends Exception>`; nothing for none.
pub(super) struct InBrackets<'p>(pub(super) &'p [Parameter]);

impl Display for InBrackets<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_list(f, "<", self.0, ", ", ">")
    }
}

/// Nothing for an empty list.
fn write_list<T: Display>(
    f: &mut Formatter<'_>,
    start: &str,
    list: &[T],
    between: &str,
    end: &str,
) -> fmt::Result {
    for (position, one) in list.iter().enumerate() {
        write!(f, "{}{one}", if position == 0 { start } else { between })?;
    }
    if list.is_empty() { Ok(()) } else { f.write_str(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_as_java() {
        let text = |signature: &str| field(signature).map(|read| read.to_string());
        assert_eq!(text("I").unwrap(), "int");
        assert_eq!(text("[[Ljava/lang/String;").unwrap(), "String[][]");
        assert_eq!(
            text("Ljava/util/Map<TK;+Ljava/util/List<*>;>.Entry<-TV;>;").unwrap(),
            "java.util.Map<K, ? extends java.util.List<?>>.Entry<? super V>"
        );
        let read = method("<T::Ljava/lang/Comparable<TT;>;E:Ljava/lang/Object;>(TT;[I)TE;^TE;").unwrap();
        assert_eq!(InBrackets(&read.type_parameters).to_string(), "<T extends Comparable<T>, E>");
        assert_eq!((read.parameters[0].to_string(), read.returned.to_string()), ("T".into(), "E".into()));
        let read = class("<T:Ljava/lang/Object;>Ljava/lang/Object;La/I<TT;>;").unwrap();
        assert_eq!(read.supers[1].to_string(), "a.I<T>");
    }

    #[test]
    fn what_is_no_signature_is_none() {
        for text in ["", "L", "Ljava/lang/String", "La<", "La<I", "Q", "TT", "II", "La<+>;"] {
            assert_eq!(field(text), None, "{text}");
        }
        assert_eq!(field(&"[".repeat(100_000)), None);
        assert_eq!(field(&"La<".repeat(100_000)), None);
        for text in ["", "()", "(", "<", "<T>()V", "<T:()V"] {
            assert_eq!(method(text), None, "{text}");
        }
    }
}
