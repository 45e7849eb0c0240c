//! Verification types (JVMS 4.10.1.2), packed into a word so that they are compared without a look at names.

use foldhash::fast::RandomState;
use instrument_names::mutf8;
use std::collections::HashMap;

/// A verification type. The halves of `long` and `double` are types of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type(u32);

const KIND: u32 = 3 << 30;
const UNINITIALIZED: u32 = 1 << 30;
/// Among the uninitialised: no object, but the return address of a subroutine.
const RETURN_ADDRESS: u32 = UNINITIALIZED | 1 << 20;
const OBJECT: u32 = 2 << 30;
const ARRAY: u32 = 3 << 30;

impl Type {
    pub const TOP: Type = Type(0);
    pub const INT: Type = Type(1);
    pub const FLOAT: Type = Type(2);
    pub const NULL: Type = Type(3);
    pub const UNINITIALIZED_THIS: Type = Type(4);
    pub const LONG: Type = Type(5);
    /// The upper half, on top of the stack.
    pub const LONG_2: Type = Type(6);
    pub const DOUBLE: Type = Type(7);
    pub const DOUBLE_2: Type = Type(8);
    /// The next four are components of arrays only.
    pub const BOOLEAN: Type = Type(9);
    pub const BYTE: Type = Type(10);
    pub const CHAR: Type = Type(11);
    pub const SHORT: Type = Type(12);

    /// The object that the `new` at this bytecode index made.
    pub const fn uninitialized(pc: u32) -> Type {
        Type(UNINITIALIZED | pc)
    }

    /// The bytecode index of its `new`.
    pub fn new_at(self) -> Option<u32> {
        (self.0 & (KIND | RETURN_ADDRESS) == UNINITIALIZED).then_some(self.0 & !KIND)
    }

    /// A return address of the subroutine that begins at this bytecode index.
    pub const fn return_address(subroutine: u32) -> Type {
        Type(RETURN_ADDRESS | subroutine)
    }

    /// The bytecode index at which its subroutine begins.
    pub fn subroutine(self) -> Option<u32> {
        (self.0 & (KIND | RETURN_ADDRESS) == RETURN_ADDRESS).then_some(self.0 & !RETURN_ADDRESS)
    }

    /// An initialised object, an array or null.
    pub fn is_reference(self) -> bool {
        self.0 >= OBJECT || self == Self::NULL
    }

    /// A reference or an object that is not initialised.
    pub fn is_any_reference(self) -> bool {
        self.is_reference() || self.new_at().is_some() || self == Self::UNINITIALIZED_THIS
    }

    /// A type that takes one slot.
    pub fn is_category_1(self) -> bool {
        self.0 >= UNINITIALIZED || matches!(self.0, 1..=4)
    }

    /// The lower half of a type that takes two slots.
    pub fn is_category_2(self) -> bool {
        self == Self::LONG || self == Self::DOUBLE
    }

    /// The upper half of a type that takes two slots.
    pub fn is_category_2_upper(self) -> bool {
        self == Self::LONG_2 || self == Self::DOUBLE_2
    }

    /// The upper half that belongs to this lower half.
    pub fn upper(self) -> Type {
        Type(self.0 + 1)
    }

    /// `boolean`, `byte`, `char` or `short`.
    pub fn is_small(self) -> bool {
        matches!(self.0, 9..=12)
    }

    pub fn is_object(self) -> bool {
        self.0 & KIND == OBJECT
    }

    pub fn is_array(self) -> bool {
        self.0 & KIND == ARRAY
    }

    /// The name of the class or array.
    pub fn name(self) -> Option<NameId> {
        (self.0 >= OBJECT).then_some(NameId(self.0 & !KIND))
    }
}

/// A name of a class or array, numbered by [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(u32);

impl NameId {
    /// The number, from 0 on.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The type of this name, if it is known to be no array.
    pub const fn object(self) -> Type {
        Type(OBJECT | self.0)
    }
}

/// The names that are known from the start, by number.
const KNOWN: [&str; 14] = [
    "java/lang/Object",
    "java/lang/String",
    "java/lang/Class",
    "java/lang/Throwable",
    "java/lang/Cloneable",
    "java/io/Serializable",
    "java/lang/invoke/MethodHandle",
    "java/lang/invoke/MethodType",
    "[Z",
    "[C",
    "[F",
    "[D",
    "[B",
    "[S",
];

/// Names that the verifier itself needs.
impl NameId {
    pub const OBJECT: NameId = NameId(0);
    pub const STRING: NameId = NameId(1);
    pub const CLASS: NameId = NameId(2);
    pub const THROWABLE: NameId = NameId(3);
    pub const CLONEABLE: NameId = NameId(4);
    pub const SERIALIZABLE: NameId = NameId(5);
    pub const METHOD_HANDLE: NameId = NameId(6);
    pub const METHOD_TYPE: NameId = NameId(7);
}

#[derive(Debug)]
struct Name {
    text: Box<[u8]>,
    /// Of an array: of what. `Type::TOP`: not looked up yet.
    component: Type,
    /// The array of this. `Type::TOP`: not looked up yet.
    array: Type,
}

/// All names that were seen, numbered.
#[derive(Debug)]
pub struct Names {
    ids: HashMap<Box<[u8]>, NameId, RandomState>,
    names: Vec<Name>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names { ids: HashMap::default(), names: Vec::new() };
        for name in KNOWN {
            names.id(name.as_bytes());
        }
        names
    }
}

impl Names {
    /// The number of a name.
    pub fn id(&mut self, text: &[u8]) -> NameId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        // Two bits of a type are its kind; a file has fewer names than that by far.
        let id = NameId(self.names.len() as u32 & !KIND);
        self.names.push(Name { text: text.into(), component: Type::TOP, array: Type::TOP });
        self.ids.insert(text.into(), id);
        id
    }

    /// The name of a number.
    pub fn text(&self, id: NameId) -> &[u8] {
        &self.names[id.index()].text
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none, which is never so.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The type of a Class constant's name: an array if it begins with `[`.
    pub fn class_type(&mut self, text: &[u8]) -> Type {
        let id = self.id(text);
        if text.first() == Some(&b'[') { Type(ARRAY | id.0) } else { id.object() }
    }

    /// The type of a field descriptor, as it lies in a local variable or on the stack: the lower half of `long` and
    /// `double`. What is no descriptor is `TOP`.
    pub fn field_type(&mut self, descriptor: &[u8]) -> Type {
        match descriptor {
            [b'B' | b'C' | b'I' | b'S' | b'Z', ..] => Type::INT,
            [b'F', ..] => Type::FLOAT,
            [b'J', ..] => Type::LONG,
            [b'D', ..] => Type::DOUBLE,
            [b'L', name @ .., b';'] => self.id(name).object(),
            [b'[', ..] => Type(ARRAY | self.id(descriptor).0),
            _ => Type::TOP,
        }
    }

    /// What an array consists of; `TOP` if the name is no array's.
    pub fn component(&mut self, array: Type) -> Type {
        let Some(id) = array.name().filter(|_| array.is_array()) else { return Type::TOP };
        let known = self.names[id.index()].component;
        if known != Type::TOP {
            return known;
        }
        let text = self.names[id.index()].text.clone();
        let component = match &text[1..] {
            [b'Z'] => Type::BOOLEAN,
            [b'B'] => Type::BYTE,
            [b'C'] => Type::CHAR,
            [b'S'] => Type::SHORT,
            inner => self.field_type(inner),
        };
        self.names[id.index()].component = component;
        component
    }

    /// The array of this class or array.
    pub fn array_of(&mut self, component: Type) -> Type {
        let Some(id) = component.name() else { return Type::TOP };
        let known = self.names[id.index()].array;
        if known != Type::TOP {
            return known;
        }
        let text = self.text(id);
        let text = if component.is_array() { [b"[", text].concat() } else { [b"[L", text, b";"].concat() };
        let array = Type(ARRAY | self.id(&text).0);
        self.names[id.index()].array = array;
        array
    }

    /// The array with so many more dimensions.
    pub fn array_of_dimensions(&mut self, element: Type, dimensions: usize) -> Type {
        (0..dimensions).fold(element, |of, _| self.array_of(of))
    }

    /// The second byte of an array's name, which says what it consists of.
    pub fn element(&self, array: Type) -> u8 {
        array.name().and_then(|id| self.text(id).get(1).copied()).unwrap_or_default()
    }

    /// The number of dimensions of an array.
    pub fn dimensions(&self, array: Type) -> usize {
        array.name().map_or(0, |id| self.text(id).iter().take_while(|&&b| b == b'[').count())
    }

    /// A type in words, as Java writes it.
    pub fn words(&self, of: Type) -> String {
        match of {
            Type::TOP => "unusable".into(),
            Type::INT => "int".into(),
            Type::FLOAT => "float".into(),
            Type::NULL => "null".into(),
            Type::UNINITIALIZED_THIS => "this (not initialised)".into(),
            Type::LONG => "long".into(),
            Type::LONG_2 => "second half of a long".into(),
            Type::DOUBLE => "double".into(),
            Type::DOUBLE_2 => "second half of a double".into(),
            Type::BOOLEAN => "boolean".into(),
            Type::BYTE => "byte".into(),
            Type::CHAR => "char".into(),
            Type::SHORT => "short".into(),
            _ if of.subroutine().is_some() => "return address".into(),
            _ => match (of.new_at(), of.name()) {
                (Some(pc), _) => format!("object of the new at {pc} (not initialised)"),
                (_, Some(id)) => java_name(self.text(id)),
                _ => String::new(),
            },
        }
    }

    /// Types in words; the halves of `long` and `double` together.
    pub fn list(&self, types: &[Type]) -> String {
        let mut words = Vec::new();
        let mut types = types.iter().copied().peekable();
        while let Some(of) = types.next() {
            if of.is_category_2() {
                types.next_if(|&next| next == of.upper());
            }
            words.push(self.words(of));
        }
        words.join(", ")
    }
}

/// An internal name or array descriptor as Java writes it: `java.lang.String[]`.
pub fn java_name(text: &[u8]) -> String {
    let dimensions = text.iter().take_while(|&&b| b == b'[').count();
    let element = &text[dimensions..];
    let name = match element {
        _ if dimensions == 0 => mutf8::escape(element),
        [b'Z'] => "boolean".into(),
        [b'B'] => "byte".into(),
        [b'C'] => "char".into(),
        [b'S'] => "short".into(),
        [b'I'] => "int".into(),
        [b'J'] => "long".into(),
        [b'F'] => "float".into(),
        [b'D'] => "double".into(),
        [b'L', name @ .., b';'] => mutf8::escape(name),
        _ => mutf8::escape(element),
    };
    name.replace('/', ".") + &"[]".repeat(dimensions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_and_their_components() {
        let mut names = Names::default();
        let strings = names.class_type(b"[[Ljava/lang/String;");
        let inner = names.component(strings);
        assert_eq!(names.words(inner), "java.lang.String[]");
        assert_eq!(names.component(inner), NameId::STRING.object());
        assert_eq!(names.array_of(inner), strings);
        assert_eq!(names.array_of(NameId::STRING.object()), inner);
        let ints = names.class_type(b"[Z");
        assert_eq!((names.component(ints), names.element(ints)), (Type::BOOLEAN, b'Z'));
        assert_eq!(names.dimensions(strings), 2);
        assert_eq!(names.list(&[Type::LONG, Type::LONG_2, ints, Type::TOP]), "long, boolean[], unusable");
    }
}
