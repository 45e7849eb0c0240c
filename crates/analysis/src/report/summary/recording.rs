//! What recording took, and what its figures cannot say: the part of the summary about the cost of looking.

use std::io::Write;

use super::{fact, sampler, twice};
use crate::arcs::Arcs;
use crate::correction::Correction;
use crate::model::Kind;
use crate::report::Error;
use crate::session::{ProfileFile, Session};
use crate::text::{percent, quantity};
use crate::thread_time::counts_calls;
use crate::uncertainty::Uncertainty;
use serde::Serialize;

/// What recording costs that is in no figure.
const LEFT_OUT: [&str; 3] = [
    "class loading, which takes longer for classes with probes",
    "the calibration itself",
    "inlining and other work of the compiler that probes prevent",
];

/// What recording took at least.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Recording {
    /// ns of the probes, over all threads; none: that is not known.
    probes_ns: Option<u64>,
    /// The same in percent of all CPU time, where times are samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    probes_percent: Option<f64>,
    /// ns for which the agent held threads up that loaded classes; none: there was no agent.
    rewriting_ns: Option<u64>,
    /// Classes that it looked at then.
    rewriting_classes: Option<u64>,
    /// Classes of the program that are not recorded unless an include pattern names them.
    classes_left: Option<String>,
    /// Hidden classes of the program, which run as they are; none: that is not known.
    hidden_classes: Option<u64>,
    /// One of them.
    hidden_class: Option<String>,
    /// Classes that another agent brought before ours was called, which run as they are; none: that is not known.
    agent_classes: Option<u64>,
    /// One of them.
    agent_class: Option<String>,
    /// Classes of other agents, which nobody asked for by name; none: that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_agent_classes: Option<u64>,
    /// One of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_agent_class: Option<String>,
    /// Classes that were loaded before `native=on` could give their native methods wrappers; none: there are none, or it was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    native_classes: Option<u64>,
    /// One of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    native_class: Option<String>,
    /// Methods of the JDK that were requested and in whose place JIT compilers put code of their own; none: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    intrinsic_methods: Option<u64>,
    /// One of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    intrinsic_method: Option<String>,
    /// With `subgraph=on`; none: everything that the patterns fit was rewritten.
    subgraph: Option<Subgraph>,
    /// What is not in these.
    left_out: [&'static str; 3],
    /// Methods whose own time cannot be told from the cost of recording; none: times are not corrected.
    too_short: Option<TooShort>,
}

/// What was rewritten of a program, where that is what the roots can call; of several programs the sums, and the longest stop of all.
#[derive(Debug, PartialEq, Serialize)]
struct Subgraph {
    classes: u64,
    methods: u64,
    /// Those of them that were entered beneath a root.
    called: u64,
    /// How often classes were rewritten that were loaded.
    stops: u64,
    /// ns that the longest of these took; the program stood still for a part of it.
    longest_ns: u64,
    /// ns from the beginning until methods were added the last time. Calls before may be missing.
    settled_ns: u64,
    /// Methods that call by reflection, of a recording that did not follow that.
    reflective: Vec<String>,
    /// Method handles made of others: what these call was not known.
    unfollowed_handles: u64,
    /// Calls by reflection that began before what they call was rewritten.
    unfollowed_calls: u64,
}

impl Subgraph {
    fn of(session: &Session) -> Option<Subgraph> {
        let mut sum: Option<Subgraph> = None;
        for file in &session.profiles {
            let number = |key: &str| file.property(key).and_then(|text| text.parse::<u64>().ok());
            let Some(methods) = number("subgraph.methods") else { continue };
            let number = |key| number(key).unwrap_or(0);
            let of = sum.get_or_insert(Subgraph {
                classes: 0,
                methods: 0,
                called: 0,
                stops: 0,
                longest_ns: 0,
                settled_ns: 0,
                reflective: Vec::new(),
                unfollowed_handles: 0,
                unfollowed_calls: 0,
            });
            of.methods = of.methods.saturating_add(methods);
            of.classes = of.classes.saturating_add(number("subgraph.classes"));
            of.called = of.called.saturating_add(number("subgraph.called"));
            of.stops = of.stops.saturating_add(number("subgraph.stops"));
            of.longest_ns = of.longest_ns.max(number("subgraph.longest.ns"));
            of.settled_ns = of.settled_ns.max(number("subgraph.settled.ns"));
            let reflective = file.property("subgraph.reflective").unwrap_or_default();
            of.reflective.extend(reflective.split_whitespace().map(str::to_owned));
            let (handles, calls) =
                (number("subgraph.unfollowed.handles"), number("subgraph.unfollowed.calls"));
            of.unfollowed_handles = of.unfollowed_handles.saturating_add(handles);
            of.unfollowed_calls = of.unfollowed_calls.saturating_add(calls);
        }
        sum
    }

    fn print(&self, out: &mut dyn Write) -> Result<(), Error> {
        let Subgraph { classes, methods, called, stops, longest_ns, settled_ns, .. } = self;
        let longest = quantity(*longest_ns as f64, "ns");
        let text = format!(
            "methods rewritten: {methods}, of {classes} classes; called: {called}; classes were rewritten {stops} times, which took {longest} at most"
        );
        fact(out, "subgraph", &text)?;
        if *settled_ns > 0 {
            let settled = quantity(*settled_ns as f64, "ns");
            let text = format!(
                "methods were added until {settled} after the beginning: calls before then may be missing, and their time is in their callers"
            );
            fact(out, "", &text)?;
        }
        self.print_unfollowed(out)
    }

    /// Calls by reflection that may be missing.
    fn print_unfollowed(&self, out: &mut dyn Write) -> Result<(), Error> {
        /// The most methods that are named.
        const NAMED: usize = 5;
        let Subgraph { reflective, unfollowed_handles: handles, unfollowed_calls: calls, .. } = self;
        if *handles > 0 {
            let text = format!(
                "targets of {handles} method handles that combine others (such as MethodHandles.insertArguments); they are recorded without --subgraph"
            );
            fact(out, "left out", &text)?;
        }
        if *calls > 0 {
            let text = format!(
                "up to {calls} calls by reflection: they began before the methods that they call were rewritten"
            );
            fact(out, "left out", &text)?;
        }
        if !reflective.is_empty() {
            let mut named = reflective.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            if reflective.len() > NAMED {
                named += &format!(" and {} more", reflective.len() - NAMED);
            }
            let text = format!(
                "calls by reflection in {named}, and what only they call: attach without --subgraph records it"
            );
            fact(out, "left out", &text)?;
        }
        Ok(())
    }
}

#[derive(Debug, PartialEq, Serialize)]
struct TooShort {
    methods: u64,
    of_methods: u64,
    calls: u64,
    of_calls: u64,
}

impl Recording {
    pub(crate) fn of(session: &Session, arcs: &Arcs) -> Recording {
        let is_corrected = session.model.correction == Correction::Applied;
        // Of two runs another line says what recording took.
        let is_of_two = session.profiles.iter().any(|file| twice::of(file).is_some());
        let probes_percent =
            sampler::probes_percent(&session.model).filter(|_| counts_calls(&session.model) && !is_of_two);
        let sum = |key: &str| {
            let number = |file: &ProfileFile| file.property(key).and_then(|text| text.parse::<u64>().ok());
            session.profiles.iter().filter_map(number).reduce(u64::saturating_add)
        };
        let first = |key| session.profiles.iter().find_map(|file| file.property(key)).map(str::to_owned);
        Recording {
            probes_ns: (is_corrected || probes_percent.is_some()).then(|| session.overhead.round() as u64),
            probes_percent,
            rewriting_ns: sum("rewriting.ns"),
            rewriting_classes: sum("rewriting.classes"),
            classes_left: first("rewriting.left"),
            hidden_classes: sum("hidden.classes"),
            hidden_class: first("hidden.first"),
            agent_classes: sum("before-agent.classes"),
            agent_class: first("before-agent.first"),
            of_agent_classes: sum("of-agent.classes"),
            of_agent_class: first("of-agent.first"),
            native_classes: sum("native-loaded.classes"),
            native_class: first("native-loaded.first"),
            intrinsic_methods: sum("intrinsic.methods"),
            intrinsic_method: first("intrinsic.first"),
            subgraph: Subgraph::of(session),
            left_out: LEFT_OUT,
            too_short: session
                .model
                .resource("wall")
                .filter(|_| is_corrected)
                .map(|wall| too_short(session, arcs, wall)),
        }
    }

    /// The same in a few words.
    pub(crate) fn left_out_in_brief(&self) -> Vec<String> {
        let some = |count: Option<u64>, one: &str, many: &str| {
            let count = count.filter(|&count| count > 0)?;
            Some(if count == 1 { format!("1 {one}") } else { format!("{count} {many}") })
        };
        let reflective = self.subgraph.as_ref().filter(|subgraph| {
            !subgraph.reflective.is_empty() || subgraph.unfollowed_handles + subgraph.unfollowed_calls > 0
        });
        [
            self.classes_left.clone(),
            some(self.hidden_classes, "hidden class", "hidden classes"),
            some(self.agent_classes, "class of another agent", "classes of another agent"),
            some(self.native_classes, "class with native methods", "classes with native methods"),
            some(self.intrinsic_methods, "method of the JDK", "methods of the JDK"),
            reflective.map(|_| "calls by reflection".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What ought to have been recorded and was not: a line for each reason.
    pub(crate) fn print_left_out(&self, out: &mut dyn Write) -> Result<(), Error> {
        if let Some(classes) = &self.classes_left {
            let text = format!(
                "{classes}, which loads classes from the archive: its time is in (class loading) and in its callers; \
                 `--include '**'` records it"
            );
            fact(out, "left out", &text)?;
        }
        if let (Some(classes), Some(first)) = (self.hidden_classes, &self.hidden_class) {
            let classes =
                if classes == 1 { "1 hidden class".to_owned() } else { format!("{classes} hidden classes") };
            let text = format!("{classes}, the first is {first}: the virtual machine shows them to no agent");
            fact(out, "left out", &text)?;
        }
        if let (Some(classes), Some(first)) = (self.agent_classes, &self.agent_class) {
            let classes = if classes == 1 { "1 class".to_owned() } else { format!("{classes} classes") };
            let text = format!(
                "{classes} that another agent loaded before this one was called, the first is {first}: give java this agent's -agentpath before the -javaagent of the other, also in JAVA_TOOL_OPTIONS"
            );
            fact(out, "left out", &text)?;
        }
        if let (Some(classes), Some(first)) = (self.of_agent_classes, &self.of_agent_class) {
            let classes = if classes == 1 { "1 class".to_owned() } else { format!("{classes} classes") };
            let text =
                format!("{classes} of other agents, the first is {first}: `--include '**'` records them");
            fact(out, "left out", &text)?;
        }
        if let (Some(classes), Some(first)) = (self.native_classes, &self.native_class) {
            let classes = if classes == 1 { "1 class".to_owned() } else { format!("{classes} classes") };
            let text = format!(
                "{classes} loaded before the recording began whose native methods are not recorded, the first is {first}: start the program with --native"
            );
            fact(out, "left out", &text)?;
        }
        if let (Some(methods), Some(first)) = (self.intrinsic_methods, &self.intrinsic_method) {
            let methods = if methods == 1 { "1 method".to_owned() } else { format!("{methods} methods") };
            let text = format!(
                "{methods} of the JDK, the first is {first}: the JIT compiler puts code of its own in their place; --library-calls records the calls"
            );
            fact(out, "left out", &text)?;
        }
        Ok(())
    }

    /// `measured`: the time that the probes are a part of, in ns.
    pub(crate) fn print(&self, out: &mut dyn Write, measured: f64) -> Result<(), Error> {
        self.print_left_out(out)?;
        if let Some(subgraph) = &self.subgraph {
            subgraph.print(out)?;
        }
        if let Some(percent) = self.probes_percent {
            let hidden = "what they hinder in the compiler is not in it (run --twice measures it)";
            return fact(out, "overhead", &format!("probes took {percent:.0} % of the CPU; {hidden}"));
        }
        let mut parts = Vec::new();
        let mut sum = 0;
        if let Some(ns) = self.probes_ns {
            let share = percent(ns as f64, measured);
            parts.push(format!("{} of probes ({share} % of wall-raw)", quantity(ns as f64, "ns")));
            sum += ns;
        }
        if let (Some(ns), Some(classes)) = (self.rewriting_ns, self.rewriting_classes) {
            parts
                .push(format!("{} of rewriting as {classes} classes were loaded", quantity(ns as f64, "ns")));
            sum = sum.saturating_add(ns);
        }
        if parts.is_empty() {
            return Ok(());
        }
        let sum = quantity(sum as f64, "ns");
        fact(out, "overhead", &format!("at least {sum}: {}", parts.join(", ")))?;
        fact(out, "", &format!("not counted: {}", self.left_out.join("; ")))?;
        if let Some(short) = self.too_short.as_ref().filter(|short| short.methods > 0) {
            let TooShort { methods, of_methods, calls, of_calls } = short;
            let share = percent(*calls as f64, *of_calls as f64);
            let text = format!(
                "{methods} of {of_methods} methods, {share} % of the calls: their own time is less than its error; marked ~"
            );
            fact(out, "too short", &text)?;
        }
        Ok(())
    }
}

/// Methods whose base is within its error.
fn too_short(session: &Session, arcs: &Arcs, wall: usize) -> TooShort {
    let uncertain = Uncertainty::of(&session.model, wall);
    let mut short = TooShort { methods: 0, of_methods: 0, calls: 0, of_calls: 0 };
    for id in arcs.ids() {
        let function = arcs.function(id);
        if function.kind != Kind::Method {
            continue;
        }
        short.of_methods += 1;
        short.of_calls = short.of_calls.saturating_add(function.calls);
        let base = arcs.self_base(id);
        if uncertain.base(base).is_some_and(|error| error.hides(base[wall])) {
            short.methods += 1;
            short.calls = short.calls.saturating_add(function.calls);
        }
    }
    short
}
