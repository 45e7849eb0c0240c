//! SARIF 2.1.0 (OASIS), as code hosts read it: each finding at a line of the sources.
//!
//! A finding about calls stands where they come from, one about objects or bytecodes at the method that makes or
//! executes them; the first method of these whose source file is known and found. Where there is none, it stands at the
//! gate.

use std::io::{self, Write};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::figure::Figure;
use super::outcome::{Finding, Outcome};
use super::print::{Format, Labels, details, sentence};

/// Names of the standard and of its schema.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const VERSION: &str = "2.1.0";
/// What relative addresses are relative to: the top of the repository, which code hosts know.
const ROOT: &str = "%SRCROOT%";
/// Rules: an id, and what it is about.
const RULES: [(&str, &str); 2] = [
    ("figure-grew", "An exact figure is larger than in the runs that the gate was learned from"),
    ("budget-exceeded", "An exact figure is not what a budget of the gate allows"),
];

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The address of the file: relative to the top of the repository, or absolute.
    pub file: String,
    /// From 1; 0: not known.
    pub number: u32,
}

/// What findings are at.
pub struct Places<'a> {
    /// The name of the gate.
    pub name: &'a str,
    /// The address of its file.
    pub gate: String,
    /// The first line of a method, by its name, if its source file was found.
    pub line: &'a dyn Fn(&str) -> Option<Line>,
}

/// Writes an outcome.
///
/// # Errors
/// The output fails.
pub fn write(out: &mut dyn Write, outcome: &Outcome, places: &Places<'_>) -> io::Result<()> {
    let labels = Labels::new(outcome, Format::Text);
    let results: Vec<Value> =
        outcome.findings.iter().map(|finding| result(finding, &labels, places)).collect();
    let rules = RULES.map(|(id, text)| json!({"id": id, "shortDescription": {"text": text}}));
    let driver = json!({"name": "instrument", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    let document = json!({
        "$schema": SCHEMA,
        "version": VERSION,
        "runs": [{
            "tool": {"driver": driver},
            // By this, code hosts keep the findings of several gates apart.
            "automationDetails": {"id": format!("gate/{}/", places.name)},
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn result(finding: &Finding, labels: &Labels, places: &Places<'_>) -> Value {
    let rule = usize::from(finding.allowed.is_some());
    let found = candidates(finding).find_map(|name| Some((name, (places.line)(name)?)));
    let location = match &found {
        Some((name, line)) => json!({
            "physicalLocation": physical(line),
            "logicalLocations": [{"fullyQualifiedName": name, "kind": "member"}],
        }),
        None => json!({"physicalLocation": physical(&Line { file: places.gate.clone(), number: 1 })}),
    };
    let text: Vec<String> =
        std::iter::once(sentence(finding, labels)).chain(details(finding, labels)).collect();
    let mut result = json!({
        "ruleId": RULES[rule].0,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": text.join("\n")},
        "locations": [location],
        "partialFingerprints": {"instrumentGate/v1": fingerprint(finding)},
    });
    let path: Vec<Value> = finding.path.iter().filter_map(|name| step(name, labels, places)).collect();
    if path.len() > 1 {
        result["codeFlows"] = json!([{"threadFlows": [{"locations": path}]}]);
    }
    result
}

/// The methods that a finding may be at, the most fitting first.
fn candidates(finding: &Finding) -> impl Iterator<Item = &str> {
    let callers = finding.from.iter().map(|(name, _)| name.as_str()).chain(finding.place.as_deref());
    let method = std::iter::once(finding.method.as_str());
    let is_own = matches!(finding.figure, Figure::Allocations | Figure::Bytes | Figure::Bytecodes);
    let (first, last) = if is_own { (Some(method), None) } else { (None, Some(method)) };
    let outwards = finding.path.iter().rev().skip(1).map(String::as_str);
    first.into_iter().flatten().chain(callers).chain(outwards).chain(last.into_iter().flatten())
}

/// A method on the way to what a finding is about.
fn step(name: &str, labels: &Labels, places: &Places<'_>) -> Option<Value> {
    let line = (places.line)(name)?;
    let location = json!({"physicalLocation": physical(&line), "message": {"text": labels.of(name)}});
    Some(json!({"location": location}))
}

fn physical(line: &Line) -> Value {
    let mut artifact = json!({"uri": line.file});
    // An absolute address is relative to nothing.
    if !line.file.contains("://") {
        artifact["uriBaseId"] = ROOT.into();
    }
    // Code hosts want a line: without one they show nothing.
    json!({"artifactLocation": artifact, "region": {"startLine": line.number.max(1)}})
}

/// The same for the same finding, however large its figure is.
fn fingerprint(finding: &Finding) -> String {
    let parts = [
        finding.figure.word(),
        &finding.method,
        finding.place.as_deref().unwrap_or_default(),
        finding.allowed.as_deref().unwrap_or_default(),
    ];
    let digest = Sha256::digest(parts.join("\n"));
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::figure::Range;
    use super::*;

    fn finding() -> Finding {
        let mut finding = Finding::new(Figure::Calls, "a.Db.query()V", Some(1), Range::fixed(51));
        finding.place = Some("a.Orders.list()V".into());
        finding.from = vec![("java.util.List.forEach()V".into(), 30), ("a.Item.price()V".into(), 20)];
        finding.path = ["a.Main.main()V", "a.Orders.list()V", "a.Item.price()V", "a.Db.query()V"]
            .map(String::from)
            .to_vec();
        finding
    }

    fn document(finding: Finding, known: &[(&str, u32)]) -> Value {
        let outcome = Outcome { findings: vec![finding], ..Outcome::default() };
        let line = |name: &str| {
            let (_, number) = known.iter().find(|(known, _)| *known == name)?;
            Some(Line { file: "src/a.java".into(), number: *number })
        };
        let places = Places { name: "app", gate: "ci/app.gate".into(), line: &line };
        let mut text = Vec::new();
        write(&mut text, &outcome, &places).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn calls_stand_where_they_come_from() {
        let all = [("a.Db.query()V", 9), ("a.Orders.list()V", 4), ("a.Item.price()V", 7)];
        let found = document(finding(), &all);
        assert_eq!((&found["version"], &found["$schema"]), (&json!("2.1.0"), &json!(SCHEMA)));
        let run = &found["runs"][0];
        assert_eq!(run["automationDetails"]["id"], "gate/app/");
        let result = &run["results"][0];
        assert_eq!((&result["ruleId"], &result["ruleIndex"]), (&json!("figure-grew"), &json!(0)));
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "figure-grew");
        let text = result["message"]["text"].as_str().unwrap();
        assert!(text.starts_with("`Orders#list` now calls `Db#query` 51 times, was 1; "), "{text}");
        assert!(text.ends_with("\nin Main#main > Orders#list > Item#price > Db#query"), "{text}");
        let place = |result: &Value| {
            let place = &result["locations"][0]["physicalLocation"];
            (place["artifactLocation"]["uri"].clone(), place["region"]["startLine"].clone())
        };
        // The library has no source; its caller's next has.
        assert_eq!(place(result), (json!("src/a.java"), json!(7)));
        let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
        let steps: Vec<_> = steps.iter().map(|step| &step["location"]["message"]["text"]).collect();
        assert_eq!(steps, ["Orders#list", "Item#price", "Db#query"]);

        let of = |known: &[(&str, u32)]| place(&document(finding(), known)["runs"][0]["results"][0]);
        assert_eq!(of(&all[1..2]), (json!("src/a.java"), json!(4)));
        assert_eq!(of(&[("a.Main.main()V", 2)]), (json!("src/a.java"), json!(2)));
        assert_eq!(of(&all[..1]), (json!("src/a.java"), json!(9)));
        assert_eq!(of(&[]), (json!("ci/app.gate"), json!(1)));

        let objects = Finding { figure: Figure::Allocations, ..finding() };
        let result = &document(objects, &all)["runs"][0]["results"][0];
        assert_eq!(place(result), (json!("src/a.java"), json!(9)));
    }

    #[test]
    fn a_budget_has_its_rule_and_a_finding_its_fingerprint() {
        let result = |finding| document(finding, &[])["runs"][0]["results"][0].clone();
        let (grew, more) = (result(finding()), result(Finding { now: Range::fixed(99), ..finding() }));
        assert_ne!(grew["message"], more["message"]);
        assert_eq!(grew["partialFingerprints"], more["partialFingerprints"]);
        let budget = result(Finding { allowed: Some("<= 1".into()), ..finding() });
        assert_eq!(budget["ruleId"], "budget-exceeded");
        assert_ne!(grew["partialFingerprints"], budget["partialFingerprints"]);
        assert!(grew.get("codeFlows").is_none());
        let nothing = Outcome::default();
        let places = Places { name: "app", gate: "app.gate".into(), line: &|_| None };
        let mut text = Vec::new();
        write(&mut text, &nothing, &places).unwrap();
        let nothing: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(nothing["runs"][0]["results"], json!([]));
    }
}
