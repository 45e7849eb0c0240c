//! What a tool can be given. One table is the JSON schema that clients see, and the check of what they send.

use anyhow::Result;
use serde_json::{Map, Value, json};

use instrument_messages::usage;
use instrument_names::nearest::nearest;

/// Letters of a text.
const LONGEST: usize = 1000;
/// Texts of a list.
const MOST: usize = 100;

/// What an argument is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Text,
    /// Some texts, or one.
    Texts,
    /// A whole number of this range.
    Number(usize, usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Yes or no.
    Flag,
}

/// An argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Argument {
    /// Its name.
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// Whether a question needs it.
    pub(crate) required: bool,
    pub(crate) about: &'static str,
}

impl Argument {
    /// One that a question may leave out.
    pub(crate) const fn new(name: &'static str, shape: Shape, about: &'static str) -> Argument {
        Argument { name, shape, required: false, about }
    }

    /// One that it needs.
    pub(crate) const fn required(self) -> Argument {
        Argument { required: true, ..self }
    }

    fn schema(&self) -> Value {
        let text = json!({"type": "string", "minLength": 1, "maxLength": LONGEST});
        let mut schema = match self.shape {
            Shape::Text => text,
            Shape::Texts => json!({"type": "array", "items": text, "minItems": 1, "maxItems": MOST}),
            Shape::Number(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Shape::Word(words) => json!({"type": "string", "enum": words}),
            Shape::Flag => json!({"type": "boolean"}),
        };
        schema["description"] = json!(self.about);
        schema
    }

    /// What a value has to be, in words.
    fn wanted(&self) -> String {
        match self.shape {
            Shape::Text => format!("a text of 1 to {LONGEST} letters"),
            Shape::Texts => format!("a list of 1 to {MOST} texts of 1 to {LONGEST} letters"),
            Shape::Number(least, most) => format!("a whole number from {least} to {most}"),
            Shape::Word(words) => format!("one of {}", words.join(", ")),
            Shape::Flag => "true or false".to_owned(),
        }
    }

    fn fits(&self, value: &Value) -> bool {
        let is_text = |value: &Value| {
            value.as_str().is_some_and(|text| !text.is_empty() && text.chars().count() <= LONGEST)
        };
        match self.shape {
            Shape::Text => is_text(value),
            Shape::Texts => match value {
                Value::Array(texts) => !texts.is_empty() && texts.len() <= MOST && texts.iter().all(is_text),
                // Assistants often forget the brackets.
                one => is_text(one),
            },
            Shape::Number(least, most) => {
                number(value).is_some_and(|number| (least..=most).contains(&number))
            }
            Shape::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Shape::Flag => value.is_boolean(),
        }
    }
}

/// JSON has one kind of number: 20.0 is whole.
fn number(value: &Value) -> Option<usize> {
    let whole =
        |number: f64| (number.fract() == 0.0 && (0.0..1e9).contains(&number)).then_some(number as usize);
    value.as_u64().map(|number| number as usize).or_else(|| value.as_f64().and_then(whole))
}

/// The schema of the arguments of a tool.
pub(crate) fn schema(arguments: &[Argument]) -> Value {
    let properties: Map<String, Value> =
        arguments.iter().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
    let required: Vec<_> = arguments.iter().filter(|one| one.required).map(|one| one.name).collect();
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Arguments that fit the schema of their tool.
pub(crate) struct Given(Map<String, Value>);

impl Given {
    /// Checks what a client sent.
    ///
    /// # Errors
    /// What does not fit, with what would.
    pub(crate) fn new(value: &Value, arguments: &[Argument]) -> Result<Given> {
        let mut given = match value {
            Value::Null => Map::new(),
            Value::Object(given) => given.clone(),
            _ => return Err(usage("`arguments` has to be an object")),
        };
        // Clients send null for what is not given.
        given.retain(|_, value| !value.is_null());
        for (name, value) in &given {
            let Some(argument) = arguments.iter().find(|argument| argument.name == name) else {
                let names = || arguments.iter().map(|argument| argument.name.to_owned());
                let cure = match nearest(name, names()).into_iter().next() {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
                };
                return Err(usage(format!("there is no argument `{name}`; {cure}")));
            };
            if !argument.fits(value) {
                return Err(usage(format!("`{name}` has to be {}", argument.wanted())));
            }
        }
        if let Some(missing) = arguments.iter().find(|one| one.required && !given.contains_key(one.name)) {
            let (name, wanted) = (missing.name, missing.wanted());
            return Err(usage(format!("`{name}` is missing: {wanted}. {}", missing.about)));
        }
        Ok(Given(given))
    }

    /// A text or word.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Texts; none if the argument is not given.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match self.0.get(name) {
            Some(Value::Array(texts)) => texts.iter().filter_map(text).collect(),
            Some(one) => text(one).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        number(self.0.get(name)?)
    }

    /// Whether a flag is given and true.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Argument; 5] = [
        Argument::new("method", Shape::Text, "A pattern.").required(),
        Argument::new("files", Shape::Texts, "Files."),
        Argument::new("rows", Shape::Number(1, 100), "Rows."),
        Argument::new("sort", Shape::Word(&["base", "cum"]), "Order."),
        Argument::new("live", Shape::Flag, "Only live ones."),
    ];

    fn refused(value: Value) -> String {
        Given::new(&value, &ALL).err().expect("refused").to_string()
    }

    #[test]
    fn what_fits_is_taken() {
        let value = json!({"method": "a", "files": "x", "rows": 20.0, "sort": "cum", "live": true});
        let given = Given::new(&value, &ALL).unwrap();
        assert_eq!((given.text("method"), given.number("rows")), (Some("a"), Some(20)));
        assert_eq!((given.texts("files"), given.is_set("live")), (vec!["x".to_owned()], true));
        let given = Given::new(&json!({"method": "a", "files": null}), &ALL).unwrap();
        assert_eq!((given.texts("files"), given.number("rows"), given.is_set("live")), (vec![], None, false));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        assert_eq!(refused(json!([1])), "`arguments` has to be an object");
        assert!(refused(Value::Null).starts_with("`method` is missing: a text of 1 to 1000 letters"));
        assert!(refused(json!({"method": ""})).contains("a text of 1"));
        assert!(refused(json!({"method": "x".repeat(1001)})).contains("a text of 1"));
        assert_eq!(refused(json!({"metod": "a"})), "there is no argument `metod`; did you mean `method`?");
        assert!(refused(json!({"zzz": 1})).ends_with("there are method, files, rows, sort, live"));
        for rows in [json!(0), json!(101), json!(-1), json!(1.5), json!("3"), json!(1e300)] {
            let reason = refused(json!({"method": "a", "rows": rows}));
            assert_eq!(reason, "`rows` has to be a whole number from 1 to 100");
        }
        assert_eq!(refused(json!({"method": "a", "sort": "x"})), "`sort` has to be one of base, cum");
        assert_eq!(refused(json!({"method": "a", "live": "yes"})), "`live` has to be true or false");
        assert!(refused(json!({"method": "a", "files": []})).contains("a list of 1 to 100"));
    }

    #[test]
    fn the_schema_says_the_same() {
        let schema = schema(&ALL);
        assert_eq!(schema["required"], json!(["method"]));
        assert_eq!(schema["properties"]["rows"]["maximum"], 100);
        assert_eq!(schema["properties"]["sort"]["enum"], json!(["base", "cum"]));
        assert_eq!(schema["additionalProperties"], false);
    }
}
