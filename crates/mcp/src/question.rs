//! What the tools ask of one session: the reports, with the options that make one question the same for text, document
//! and command line.

use std::path::PathBuf;

use anyhow::Result;
use instrument_analysis::Arcflow;
use instrument_analysis::arcs::Arcs;
use instrument_analysis::heap::query::Query;
use instrument_analysis::heap::table::{By, Filter};
use instrument_analysis::invariants;
use instrument_analysis::report::heap::{Section, View};
use instrument_analysis::report::summary::Summary;
use instrument_analysis::report::{Format, Options, Select, counts, monitors, screen, xarc, xprof, xtree};
use instrument_analysis::session::lookup::method_names;
use instrument_analysis::session::{Methods, Request, Session, thread_filter};
use serde_json::{Value, json};

use crate::answer::{Asked, Report, Room};
use crate::arguments::Given;
use crate::files::Files;
use instrument_analysis::report::Sort;
use instrument_analysis::report::print::{Print, calls_of, correction_line};
use instrument_analysis::session::lookup::each_for_itself;
use instrument_messages::usage;
use instrument_names::word::Word;

/// Rows unless asked for otherwise.
pub(crate) const ROWS: usize = 20;
/// Columns of a line of text; longer names are shortened, and whole in the document.
pub(crate) const WIDTH: usize = 160;
/// Levels of a tree unless asked for otherwise, and at most: readers of JSON have their limits.
pub(crate) const DEPTH: usize = 30;
/// Contexts of a tree that have a smaller share are cut, in percent.
const SMALL: f64 = 0.1;

/// A call of a tool.
pub(crate) struct Question<'a> {
    /// Its arguments.
    pub(crate) given: Given,
    /// The files of the server.
    pub(crate) files: &'a Files,
    /// How much room there is for the answer.
    pub(crate) room: &'a Room,
}

impl Question<'_> {
    /// The files that it is about.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        self.files.named(&self.given.texts("files"))
    }

    /// The rows that it asks for.
    pub(crate) fn rows(&self) -> usize {
        self.given.number("rows").unwrap_or(ROWS)
    }

    /// The order that it asks for.
    pub(crate) fn sort(&self) -> Option<Sort> {
        self.given.text("sort").and_then(|word| Sort::of(word).ok())
    }
}

/// Options as words of a command line.
#[derive(Default)]
pub(crate) struct Words {
    words: Vec<String>,
    /// As many callers and callees of each method as rows.
    has_arcs: bool,
}

impl Words {
    /// `command`: with its fixed words.
    pub(crate) fn new(command: &str) -> Words {
        let words = ["instrument"].into_iter().chain(command.split(' ')).map(str::to_owned).collect();
        Words { words, has_arcs: false }
    }

    /// An option with its values.
    pub(crate) fn each(mut self, option: &str, values: &[String]) -> Words {
        // A value may begin with `-`.
        self.words.extend(values.iter().map(|value| format!("{option}={value}")));
        self
    }

    /// An option with a value.
    pub(crate) fn one(self, option: &str, value: impl ToString) -> Words {
        self.each(option, &[value.to_string()])
    }

    /// What is printed, but for the number of rows.
    pub(crate) fn print(self, print: &Print) -> Words {
        let sort: Vec<_> = print.sort.iter().map(|sort| sort.word().to_owned()).collect();
        let prune: Vec<_> = print.prune.iter().map(ToString::to_string).collect();
        self.each("--resource", &print.resource)
            .each("--sort", &sort)
            .each("--method", &print.method)
            .each("--prune", &prune)
    }

    /// The command with so many rows, about these files.
    pub(crate) fn with(&self, rows: usize, files: &[PathBuf]) -> Vec<String> {
        let mut words = self.words.clone();
        words.extend(self.has_arcs.then(|| format!("--arcs={rows}")));
        words.extend([format!("--top={rows}"), format!("--width={WIDTH}")]);
        words.extend(operands(files));
        words
    }
}

/// Files as operands.
pub(crate) fn operands(files: &[PathBuf]) -> impl Iterator<Item = String> {
    files.iter().map(|path| {
        let path = path.to_string_lossy();
        if path.starts_with('-') { format!("./{path}") } else { path.into_owned() }
    })
}

/// The resource that a question is about: the one that is named, or the one that text shows.
pub(crate) fn resource(given: &Given, model: &Arcflow) -> Result<Vec<String>> {
    let named: Vec<String> = given.text("resource").map(str::to_owned).into_iter().collect();
    let found = Options { resources: &named, ..Options::default() }.resources(model)?;
    Ok(found.into_iter().map(|r| model.resources()[r].name.clone()).collect())
}

/// Fails if patterns fit nothing: the answer would be empty. Otherwise those that fit nothing are told.
pub(crate) fn check(methods: &Methods, notes: &mut Vec<String>) -> Result<()> {
    if methods.fit_nothing() {
        return Err(usage(methods.warnings.join("; ")));
    }
    notes.extend(methods.warnings.iter().cloned());
    Ok(())
}

/// A question about one session.
struct OfSession<'a, 'q> {
    question: &'a Question<'q>,
    files: Vec<PathBuf>,
    threads: Vec<String>,
    own: Vec<String>,
    session: Session,
    arcs: Arcs,
    notes: Vec<String>,
    print: Print,
    methods: Methods,
    depth: Option<usize>,
}

/// Writes a report for people.
type Text<'a> = &'a dyn Fn(&mut Vec<u8>, &Options<'_>) -> Result<()>;
/// Makes its document.
type Document<'a> = &'a dyn Fn(&Options<'_>) -> Result<Value>;

impl<'a, 'q> OfSession<'a, 'q> {
    fn new(question: &'a Question<'q>) -> Result<OfSession<'a, 'q>> {
        let (files, threads) = (question.files()?, question.given.texts("thread"));
        let own = question.given.texts("own");
        // Without a pattern it is what a report puts first.
        let patterns = own.iter().filter(|pattern| *pattern != "auto").cloned().collect();
        let request = Request {
            files: files.clone(),
            threads: threads.clone(),
            own: (!own.is_empty()).then_some(patterns),
            ..Request::default()
        };
        let session = Session::read(&request).map_err(|error| match files.len() {
            1 => error.into(),
            _ => usage(format!("{}; `files` says which of the files a question is about", error.chain())),
        })?;
        // There is one pattern: it fits nothing, or what it fits has no figures.
        if !threads.is_empty() && !session.warnings.is_empty() {
            return Err(usage(session.warnings.join("; ")));
        }
        let arcs = Arcs::new(&session.model);
        let mut notes: Vec<_> = session.messages.iter().map(|message| message.text.clone()).collect();
        notes.extend(session.warnings.iter().cloned());
        let checked = invariants::check(&session.model, &arcs);
        if !checked.violations.is_empty() {
            notes.push(checked.line());
        }
        let print = Print { width: Some(WIDTH), ..Print::default() };
        let (methods, depth) = (Methods::default(), None);
        Ok(OfSession { question, files, threads, own, session, arcs, notes, print, methods, depth })
    }

    /// Only the methods of the argument `method`.
    fn methods(&mut self) -> Result<()> {
        let patterns: Vec<_> = self.question.given.text("method").map(str::to_owned).into_iter().collect();
        self.methods = Methods::new("method", &patterns, &method_names(&self.session.model))?;
        self.print.method = patterns;
        check(&self.methods, &mut self.notes)
    }

    /// Figures of one resource; times say if they are not corrected.
    fn figures(&mut self, prune: f64) -> Result<()> {
        self.print.resource = resource(&self.question.given, &self.session.model)?;
        self.print.sort = self.question.sort();
        self.print.prune = Some(prune);
        Ok(())
    }

    fn words(&self, command: &str) -> Words {
        Words::new(command).each("--own", &self.own).each("--thread", &self.threads).print(&self.print)
    }

    /// `has_line`: whether the report does not say itself that times are not corrected.
    fn answer(
        &self,
        words: &Words,
        has_line: bool,
        left_out: fn(&Value) -> u64,
        text: Text<'_>,
        document: Document<'_>,
    ) -> Result<Value> {
        let asked = Asked {
            rows: self.question.rows(),
            command: &|rows| words.with(rows, &self.files),
            notes: self.notes.clone(),
            // Long lists beside what the summary is about.
            unneeded: &["methods", "allocations"],
            left_out,
        };
        let line = correction_line(&self.session.model, &self.print.resource).filter(|_| has_line);
        let print = |format: Format, rows: usize| Print { top: Some(rows), format, ..self.print.clone() };
        let text = |out: &mut Vec<u8>, rows: usize| {
            if let Some(line) = &line {
                out.extend(format!("{line}\n\n").into_bytes());
            }
            print(Format::Text, rows).with(self.depth, &self.methods, false, |options| text(out, options))
        };
        let document =
            |rows: usize| print(Format::Json, rows).with(self.depth, &self.methods, false, document);
        self.question.room.answer(&asked, &Report { text: &text, document: &document })
    }
}

/// A count of a document; what is not there is none.
pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Elements of a list of a document.
pub(crate) fn rows(value: &Value) -> u64 {
    value.as_array().map_or(0, |rows| rows.len() as u64)
}

/// The summary of the profiles.
pub(crate) fn summary(question: &Question<'_>) -> Result<Value> {
    let asked = OfSession::new(question)?;
    let request = |top| counts::Request { top, ..counts::Request::default() };
    let summary = Summary::new(&asked.session, &request(Some(question.rows())), &[])?;
    let left_out = |report: &Value| number(&report["xprof"]["left_out"]) + number(&report["left_out"]);
    let is_of_counts = asked.session.is_of_counts();
    let text = |out: &mut Vec<u8>, options: &Options<'_>| {
        if is_of_counts {
            summary.counts.tables(&request(options.top), out)?;
            return Ok(summary.counts.balance.print(out)?);
        }
        Ok(screen::write(out, &summary, options.top, options)?)
    };
    let document = |options: &Options<'_>| {
        let mut document = summary.document(options.top)?;
        // Figures of all methods are in the flat profile, where there is one.
        let methods = document["methods"].take();
        if let (true, Value::Array(mut methods), Some(rows)) = (is_of_counts, methods, options.top) {
            document["left_out"] = json!(methods.len().saturating_sub(rows));
            methods.truncate(rows);
            document["counts"] = Value::Array(methods);
        }
        Ok(document)
    };
    asked.answer(&Words::new("report"), false, left_out, &text, &document)
}

/// The methods that consume most.
pub(crate) fn hot_methods(question: &Question<'_>) -> Result<Value> {
    let mut asked = OfSession::new(question)?;
    asked.methods()?;
    asked.figures(0.0)?;
    let OfSession { session: Session { model, .. }, arcs, .. } = &asked;
    let text = |out: &mut Vec<u8>, options: &Options<'_>| Ok(xprof::write(out, model, arcs, options)?);
    let document = |options: &Options<'_>| Ok(xprof::document(model, arcs, options)?);
    let left_out = |report: &Value| number(&report["left_out"]);
    asked.answer(&asked.words("xprof"), true, left_out, &text, &document)
}

/// A method with its callers and its callees.
pub(crate) fn callers_callees(question: &Question<'_>) -> Result<Value> {
    let mut asked = OfSession::new(question)?;
    asked.methods()?;
    asked.figures(0.0)?;
    let left_out = |report: &Value| {
        let stanzas = report["stanzas"].as_array().into_iter().flatten();
        let arcs = stanzas.map(|of| number(&of["parents_left_out"]) + number(&of["children_left_out"]));
        number(&report["left_out"]) + arcs.sum::<u64>()
    };
    let words = Words { has_arcs: true, ..asked.words("xarc") };
    let OfSession { session: Session { model, .. }, arcs, .. } = &asked;
    let text = |out: &mut Vec<u8>, options: &Options<'_>| {
        Ok(xarc::write(out, model, arcs, &Options { arcs: options.top, ..*options })?)
    };
    let document =
        |options: &Options<'_>| Ok(xarc::document(model, arcs, &Options { arcs: options.top, ..*options })?);
    asked.answer(&words, true, left_out, &text, &document)
}

/// The tree of contexts, from the top or from a method down.
pub(crate) fn tree(question: &Question<'_>) -> Result<Value> {
    let mut asked = OfSession::new(question)?;
    asked.figures(SMALL)?;
    asked.depth = Some(question.given.number("depth").unwrap_or(DEPTH));
    let patterns: Vec<_> = question.given.text("method").map(str::to_owned).into_iter().collect();
    let methods = Methods::new("method", &patterns, &method_names(&asked.session.model))?;
    check(&methods, &mut asked.notes)?;
    let outer = question.given.texts("within");
    if patterns.is_empty() && !outer.is_empty() {
        return Err(usage("`within` goes with `method`: the method whose calls are made within these"));
    }
    let words = asked.words("xtree").each("--focus", &patterns).each("--within", &outer);
    let words = words.one("--depth", asked.depth.unwrap_or(DEPTH));
    let outer = each_for_itself("within", &outer, &asked.session.model)?;
    for methods in &outer {
        check(methods, &mut asked.notes)?;
    }
    let (focus, outer) = (calls_of(&methods), outer.iter().map(calls_of).collect::<Vec<_>>());
    let outer: Vec<Select<'_>> = outer.iter().map(|select| select as Select<'_>).collect();
    let left_out =
        |report: &Value| number(&report["cut"]["contexts"]) + number(&report["callers"]["cut"]["contexts"]);
    let model = &asked.session.model;
    let (focus, outer) = if methods.is_empty() { (None, &[][..]) } else { (Some(&focus as _), &outer[..]) };
    let text = |out: &mut Vec<u8>, options: &Options<'_>| {
        Ok(xtree::write(out, model, &Options { focus, within: outer, ..*options })?)
    };
    let document =
        |options: &Options<'_>| Ok(xtree::document(model, &Options { focus, within: outer, ..*options })?);
    asked.answer(&words, true, left_out, &text, &document)
}

/// What threads waited for.
pub(crate) fn monitors(question: &Question<'_>) -> Result<Value> {
    let asked = OfSession::new(question)?;
    let wanted = thread_filter(&asked.threads);
    let left_out = |report: &Value| {
        let processes = report["processes"].as_array().into_iter().flatten();
        let lists = processes.flat_map(|process| process["left_out"].as_object().into_iter().flatten());
        lists.map(|(_, left)| number(left)).sum::<u64>() + number(&report["contexts"]["cut"]["contexts"])
    };
    let text = |out: &mut Vec<u8>, options: &Options<'_>| {
        Ok(monitors::of_session(out, &asked.session, &wanted, monitors::Table::Monitors, options)?)
    };
    let document = |options: &Options<'_>| {
        let options = Options { depth: Some(DEPTH), ..*options };
        Ok(monitors::document(&asked.session, &wanted, &options)?)
    };
    asked.answer(&asked.words("monitors"), true, left_out, &text, &document)
}

/// What was allocated, and what is left of it.
pub(crate) fn objects(question: &Question<'_>) -> Result<Value> {
    let (word, by) = match question.given.text("by") {
        Some("site") => ("site", By::Site),
        Some("context") => ("context", By::Context),
        _ => ("class", By::Class),
    };
    let is_live = question.given.is_set("live");
    let section = if is_live { Section::Live } else { Section::Table };
    let words = Words::new(if is_live { "heap --live" } else { "heap" }).one("--by", word);
    let left_out = |report: &Value| {
        let of = if report.get("live").is_some() { &report["live"] } else { &report["table"] };
        number(&of["all"]).saturating_sub(rows(&of["rows"]))
    };
    heap(question, words, section, by, left_out)
}

pub(crate) fn leak_suspects(question: &Question<'_>) -> Result<Value> {
    let left_out = |report: &Value| {
        let leaks = &report["leaks"];
        let shown =
            leaks["suspects"].as_array().into_iter().flatten().map(|suspect| number(&suspect["leak"]));
        number(&leaks["leaks"]).saturating_sub(shown.max().unwrap_or(0))
    };
    heap(question, Words::new("heap --leaks"), Section::Leaks, By::Class, left_out)
}

fn heap(
    question: &Question<'_>,
    words: Words,
    section: Section,
    by: By,
    left_out: fn(&Value) -> u64,
) -> Result<Value> {
    let mut asked = OfSession::new(question)?;
    if asked.session.profiles.is_empty() {
        return Err(usage("only profiles have objects: a text of another tool has none"));
    }
    let [classes, methods] = ["class", "method"]
        .map(|name| question.given.text(name).map(str::to_owned).into_iter().collect::<Vec<_>>());
    let words = words.each("--class", &classes).each("--method", &methods).each("--thread", &asked.threads);
    let query = Query { classes, methods, threads: asked.threads.clone() };
    let selection = query.select(&asked.session.profiles)?;
    let given = query.classes.len() + query.methods.len();
    if given > 0 && selection.warnings.len() >= given {
        return Err(usage(selection.warnings.join("; ")));
    }
    asked.notes.extend(selection.warnings.iter().cloned());
    let view = View { sections: &[section], by, filter: Filter::default() };
    let profiles = &asked.session.profiles;
    let text = |out: &mut Vec<u8>, options: &Options<'_>| {
        Ok(selection.report(profiles, &view, options, out).map(drop)?)
    };
    let document = |options: &Options<'_>| Ok(selection.document(profiles, &view, options)?);
    asked.answer(&words, false, left_out, &text, &document)
}
