//! What rules that fit nothing may have meant.

use crate::engine::add_names;
use instrument_analysis::session::lookup::{Given as Pattern, nothing_fits};
use instrument_control::run::RuleOutcome;
use instrument_names::mutf8;
use instrument_names::nearest::did_you_mean;
use instrument_names::signature;
use instrument_rewriter::class_file::annotation::annotation_types;
use instrument_rewriter::class_file::{Attributes, ClassFile, ConstantPool, Tag};
use instrument_rewriter::transform::own_calls::rules::{Kind, Rule};
use std::collections::BTreeSet;

/// `2 static, 1 no-result`.
pub(super) fn reasons(outcome: &RuleOutcome) -> String {
    let reasons: Vec<String> =
        outcome.left.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    reasons.join(", ")
}

/// What rules that fit nothing may have meant.
#[derive(Default)]
pub(super) struct Names {
    /// Classes and methods.
    declared: Vec<String>,
    /// Methods and fields that code names.
    methods: BTreeSet<String>,
    fields: BTreeSet<String>,
    /// Classes that code names.
    classes: BTreeSet<String>,
    annotations: BTreeSet<String>,
}

impl Names {
    pub(super) fn add(&mut self, class: &ClassFile<'_>) {
        add_names(class, &mut self.declared);
        let pool = &class.pool;
        for index in pool.indices() {
            if let Ok(name) = pool.class_name(index) {
                self.classes
                    .insert(signature::java_class(&mutf8::escape(name).replace('/', ".")).into_owned());
            }
            let Ok(member) = pool.member_ref(index) else { continue };
            let class = mutf8::escape(member.class).replace('/', ".");
            let name = format!("{class}.{}", mutf8::escape(member.name));
            match member.tag {
                Tag::Fieldref => self.fields.insert(name),
                _ => self.methods.insert(name + &mutf8::escape(member.descriptor)),
            };
        }
        self.add_annotations(class.attributes(), pool);
        let mut methods = class.methods();
        while let Ok(Some(method)) = methods.next() {
            self.add_annotations(method.attributes(), pool);
        }
    }

    fn add_annotations(&mut self, mut attributes: Attributes<'_>, pool: &ConstantPool<'_>) {
        while let Ok(Some(attribute)) = attributes.next() {
            if pool.utf8_or_empty(attribute.name_index).ends_with(b"visibleAnnotations") {
                for index in annotation_types(attribute.info).unwrap_or_default() {
                    let of = mutf8::escape(pool.utf8_or_empty(index)).replace('/', ".");
                    self.annotations.insert(of.trim_start_matches('L').trim_end_matches(';').to_owned());
                }
            }
        }
    }

    /// Why a rule fits nothing: a sentence for each of its parts that does.
    pub(super) fn why(&self, rule: &Rule, outcome: &RuleOutcome) -> Vec<String> {
        if !outcome.left.is_empty() {
            return vec![format!("all places were left ({})", reasons(outcome))];
        }
        let mut reasons = Vec::new();
        if outcome.chosen > 0 {
            let (what, of, names) = match &rule.at {
                Kind::BeforeCall(of) | Kind::AfterCall(of) => {
                    ("call in these methods", of.text().to_owned(), &self.methods)
                }
                Kind::Get(of) | Kind::Put(of) => {
                    ("such access of a field in these methods", of.text().to_owned(), &self.fields)
                }
                Kind::New(of) => {
                    let texts: Vec<&str> = of.each().map(|(text, _)| text).collect();
                    ("object that these methods make", texts.join(":"), &self.classes)
                }
                Kind::Line(line) => return vec![format!("the code of these methods has no line {line}")],
                _ => return vec!["there is no such place in these methods".to_owned()],
            };
            return vec![nothing_fits(Pattern { name: "`of`", what }, &of, names)];
        }
        let declared = |text: &str| self.declared.iter().any(|name| name == text);
        for pattern in
            rule.methods.iter().filter(|pattern| !self.declared.iter().any(|name| pattern.matches_name(name)))
        {
            let given = Pattern { name: "`in`", what: "class and no method" };
            reasons.push(nothing_fits(given, pattern.text(), &self.declared));
        }
        for (name, patterns) in
            [("`annotated`", &rule.annotated), ("`class-annotated`", &rule.class_annotated)]
        {
            for pattern in
                patterns.iter().filter(|pattern| !self.annotations.iter().any(|of| pattern.matches_name(of)))
            {
                reasons.push(nothing_fits(
                    Pattern { name, what: "annotation" },
                    pattern.text(),
                    &self.annotations,
                ));
            }
        }
        for class in rule.subclasses_of.iter().map(|class| class.replace('/', ".")) {
            if !declared(&class) && !self.classes.contains(&class) {
                reasons.push(format!(
                    "no input names the class {class} of `subclasses-of`{}",
                    did_you_mean(&class, &self.classes)
                ));
            }
        }
        if reasons.is_empty() {
            reasons
                .push("no method with code has all that it asks for, or options leave them out".to_owned());
        }
        reasons
    }
}
