//! What changed, for programs: the document, and the table.

use std::io::Write;

use serde_json::{Value, json};

use super::{Change, Changed, Diff, Found, Part};
use crate::report::document::Document;
use crate::report::interval::Difference;
use crate::report::{Error, machine};

impl Diff<'_> {
    pub(super) fn document<'d>(&'d self, found: &'d Found) -> Document<'d> {
        let resources = self.shown.iter().map(|&r| {
            let resource = &self.resources[r];
            json!({"name": resource.name, "unit": resource.unit})
        });
        let mut document = Document::default();
        document.put("report", "diff");
        document.put("resources", resources.collect::<Value>());
        if self.corrections.iter().any(|correction| !correction.is_null()) {
            document.put("correction", json!(self.corrections));
        }
        document.put("runs", json!(self.runs));
        document.put("differs", found.differs);
        let keys = [
            ["methods_changed", "methods_not_told_apart", "methods"],
            ["contexts_changed", "contexts_not_told_apart", "contexts"],
        ];
        for ((changes, rest), [changed, not_told_apart, rows]) in
            found.changes.iter().zip(found.rest).zip(keys)
        {
            document.put(changed, changes.iter().filter(|change| change.differs).count());
            document.put(not_told_apart, rest.not_told_apart);
            document.rows(rows, self.top(changes).iter().map(|change| self.row(change)));
        }
        document
    }

    fn row(&self, change: &Change) -> Value {
        let mut row = self.value(change);
        let (kind, name) = self.consumer(change.of);
        match change.of {
            Changed::Method(_) => row.insert("function".into(), json!(name)),
            Changed::Context(id) => row.insert("context".into(), json!(self.path(id))),
        };
        row.insert("kind".into(), json!(kind.word()));
        machine::origin(&self.all, name, Some(&mut row));
        Value::Object(row)
    }

    fn value(&self, change: &Change) -> serde_json::Map<String, Value> {
        let list = |part: Part, of: &dyn Fn(Difference) -> Value| {
            self.shown.iter().map(|&r| of(self.difference(change.of, part, r))).collect::<Value>()
        };
        let calls = self.difference(change.of, Part::Base, 0);
        let mut row = serde_json::Map::new();
        for (word, of) in
            [("before", (|found| found.before) as fn(Difference) -> f64), ("after", |found| found.after)]
        {
            let number = |found| machine::number(of(found));
            let value = json!({
                "calls": number(calls),
                "base": list(Part::Base, &number),
                "cum": list(Part::Cum, &number),
            });
            row.insert(word.into(), value);
        }
        let interval = |found: Difference| found.interval.map_or(Value::Null, machine::number);
        row.insert("base_interval".into(), list(Part::Base, &interval));
        row.insert("cum_interval".into(), list(Part::Cum, &interval));
        row.insert("differs".into(), json!(change.differs));
        row
    }

    pub(super) fn table(&self, out: &mut dyn Write, changes: [&[Change]; 2]) -> Result<(), Error> {
        write!(out, "of,function,kind,calls_before,calls_after")?;
        let resources: Vec<usize> = self.shown.iter().copied().filter(|r| *r > 0).collect();
        for &r in &resources {
            let name = machine::field(&self.resources[r].name).replace(' ', "_");
            write!(out, ",{name}_base_before,{name}_base_after,{name}_cum_before,{name}_cum_after")?;
        }
        writeln!(out, ",differs")?;
        for (changes, what) in changes.into_iter().zip(["method", "context"]) {
            for change in self.top(changes) {
                let kind = self.consumer(change.of).0.word();
                let name = machine::field(&self.words(change.of, usize::MAX, &|name| name.to_owned()));
                let sides = |part: Part, r: usize| {
                    let found = self.difference(change.of, part, r);
                    format!("{},{}", machine::number(found.before), machine::number(found.after))
                };
                write!(out, "{what},{name},{kind},{}", sides(Part::Base, 0))?;
                for &r in &resources {
                    write!(out, ",{},{}", sides(Part::Base, r), sides(Part::Cum, r))?;
                }
                writeln!(out, ",{}", change.differs)?;
            }
        }
        Ok(())
    }
}
