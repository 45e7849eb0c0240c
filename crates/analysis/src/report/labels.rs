//! What consumers are called in tables for people: parameters by their simple types, and as much more as tells methods apart.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Options;
use crate::model::Arcflow;
use crate::origin::{Origin, Origins};
use crate::text::shown;
use instrument_names::printable::printable;
use instrument_names::signature::{readable, returned};

/// The names of a model's consumers as text shows them.
pub(crate) struct Labels {
    /// Of methods whose simple names are those of others, too.
    told_apart: HashMap<String, String>,
    origins: Origins,
    /// Source file and line are shown.
    lines: bool,
}

impl Labels {
    pub(crate) fn new(model: &Arcflow, options: &Options<'_>) -> Labels {
        let mut by_label: HashMap<Cow<'_, str>, Vec<&str>> = HashMap::new();
        for name in model.names().filter(|name| name.contains('(')) {
            by_label.entry(shown(name)).or_default().push(name);
        }
        let alike = by_label.into_iter().filter(|(_, names)| names.len() > 1);
        let told_apart = alike.flat_map(|(label, names)| tell_apart(&label, &names)).collect();
        Labels { told_apart, origins: model.origins.clone(), lines: options.lines }
    }

    /// A consumer's name: `Shop.price(String)`; of methods that differ in nothing but the type they return `Shop.price(): Item`, and those
    /// that the compiler made are marked.
    pub(crate) fn of<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let label = match self.told_apart.get(name) {
            Some(label) => Cow::Owned(label.clone()),
            None => shown(name),
        };
        let Some(origin) = self.origins.get(name) else { return label };
        let mark = mark(name, origin);
        let place = match (self.lines && !origin.file.is_empty(), origin.line) {
            (false, _) => String::new(),
            (true, 0) => format!(" ({})", printable(&origin.file)),
            (true, line) => format!(" ({}:{line})", printable(&origin.file)),
        };
        if mark.is_empty() && place.is_empty() { label } else { Cow::Owned(format!("{label}{mark}{place}")) }
    }
}

/// Methods of one simple name: with the whole names of their parameters' types if these differ, else with the type that they return.
fn tell_apart(label: &str, names: &[&str]) -> Vec<(String, String)> {
    let whole: Vec<String> =
        names.iter().map(|name| readable(name).unwrap_or_else(|| (*name).to_owned())).collect();
    let apart = |(name, whole_name): (&&str, &String)| {
        let is_one = whole.iter().filter(|other| *other == whole_name).count() == 1;
        let text = match returned(name).filter(|_| !is_one) {
            Some(class) if whole.iter().all(|other| other == whole_name) => format!("{label}: {class}"),
            Some(class) => format!("{whole_name}: {class}"),
            None => whole_name.clone(),
        };
        ((*name).to_owned(), printable(&text).into_owned())
    };
    names.iter().zip(&whole).map(apart).collect()
}

/// What the compiler made, unless its name says so.
fn mark(name: &str, origin: &Origin) -> &'static str {
    let method = name.split('(').next().and_then(|name| name.rsplit('.').next()).unwrap_or_default();
    match origin {
        Origin { is_bridge: true, .. } => " [bridge]",
        Origin { is_synthetic: true, .. } if !method.contains('$') => " [synthetic]",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_distinguished() {
        let mut model = Arcflow::new(Vec::new());
        let names = [
            "p.A.get()Ljava/lang/Object;",
            "p.A.get()Ljava/lang/String;",
            "p.A.at(Ljava/util/Date;)V",
            "p.A.at(Ljava/sql/Date;)V",
            "p.A.set(I)V",
            "p.A.set(J)V",
            "p.A.lambda$f$0()V",
            "main",
        ];
        for name in names {
            model.consumer(name);
        }
        let origin = |line, is_bridge| Origin {
            file: "A.java".into(),
            line,
            is_bridge,
            is_synthetic: is_bridge || line == 9,
        };
        let all = [(names[0], origin(3, true)), (names[1], origin(4, false)), (names[6], origin(9, false))];
        model.origins = model.origins_of(all.map(|(name, origin)| (name.to_owned(), origin)));
        let of = |lines| {
            let labels = Labels::new(&model, &Options { lines, ..Options::default() });
            names.map(|name| labels.of(name).into_owned())
        };
        let expected = [
            "p.A.get(): Object [bridge]",
            "p.A.get(): String",
            "p.A.at(java.util.Date)",
            "p.A.at(java.sql.Date)",
            "p.A.set(int)",
            "p.A.set(long)",
            "p.A.lambda$f$0()",
            "main",
        ];
        assert_eq!(of(false), expected);
        assert_eq!(of(true)[0], "p.A.get(): Object [bridge] (A.java:3)");
        assert_eq!(of(true)[6..], ["p.A.lambda$f$0() (A.java:9)", "main"]);
    }
}
