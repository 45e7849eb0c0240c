//! A class rewriter that marks classes, and checks that the engine keeps its promises.

use std::collections::HashMap;

use instrument_rewriter::archive::{
    ArchiveError, ClassRewriter, Layout, Location, NewEntry, Options, Outcome, rewrite,
};

/// Appends the class's number and `MARK` to every class whose location `wants` accepts.
pub(crate) struct Marker {
    pub(crate) wants: fn(&str) -> bool,
    /// "Rewrites" to the same bytes.
    pub(crate) same: bool,
    pub(crate) extra: Vec<NewEntry>,
    pub(crate) next_id: u32,
    /// What happened, in order.
    pub(crate) log: Vec<String>,
    pub(crate) layout: Option<Layout>,
    pub(crate) done: usize,
    pub(crate) admitted: HashMap<u32, String>,
}

pub(crate) const MARK: &[u8] = b"MARK";

pub(crate) struct Plan {
    at: String,
    len: usize,
    id: u32,
}

impl Default for Marker {
    fn default() -> Self {
        Marker {
            wants: |_| true,
            same: false,
            extra: Vec::new(),
            next_id: 0,
            log: Vec::new(),
            layout: None,
            done: 0,
            admitted: HashMap::new(),
        }
    }
}

impl ClassRewriter for Marker {
    type Plan = Plan;

    fn plan(&self, at: &Location<'_>, class: &[u8]) -> Plan {
        Plan { at: at.to_string(), len: class.len(), id: u32::MAX }
    }

    fn admit(&mut self, at: &Location<'_>, plan: &mut Plan, class: &[u8]) {
        assert!(self.layout.is_none(), "admitted after extra_entries");
        assert_eq!((plan.at.as_str(), plan.len), (at.to_string().as_str(), class.len()));
        plan.id = self.next_id;
        self.next_id += 1;
        self.admitted.insert(plan.id, plan.at.clone());
        self.log.push(plan.at.clone());
    }

    fn rewrite(&self, at: &Location<'_>, plan: &Plan, class: &[u8], out: &mut Vec<u8>) -> bool {
        assert!(out.is_empty());
        assert_eq!(plan.len, class.len());
        assert_eq!(self.admitted[&plan.id], at.to_string());
        if !(self.wants)(&plan.at) {
            return false;
        }
        out.extend_from_slice(class);
        if !self.same {
            out.extend_from_slice(&plan.id.to_le_bytes());
            out.extend_from_slice(MARK);
        }
        true
    }

    fn done(&mut self, at: &Location<'_>, plan: Plan, rewritten: bool) {
        assert_eq!(rewritten, (self.wants)(&plan.at));
        assert_eq!(at.to_string(), self.log[self.done]);
        self.done += 1;
    }

    fn extra_entries(&mut self, layout: &Layout) -> Vec<NewEntry> {
        assert!(self.layout.is_none(), "asked twice");
        assert_eq!(self.done, self.log.len());
        self.layout = Some(layout.clone());
        std::mem::take(&mut self.extra)
    }
}

pub(crate) fn runtime() -> Vec<NewEntry> {
    let entry = |name: &str, data: &[u8]| NewEntry { name: name.into(), data: data.into(), stored: false };
    vec![
        entry("instrument/runtime/ProfilerRuntime.class", &super::build::class_bytes(77, 900)),
        entry("META-INF/instrument/ids", b"0 a/B <init> ()V\n"),
    ]
}

pub(crate) fn run_with(
    name: &str,
    input: &[u8],
    marker: &mut Marker,
    options: &Options,
) -> Result<(Vec<u8>, Outcome), ArchiveError> {
    let mut out = Vec::new();
    let outcome = rewrite(name, input, &mut out, marker, options)?;
    assert_eq!(outcome.written, out.len() as u64);
    assert_eq!(outcome.changed, out != input || marker.same && outcome.rewritten > 0);
    assert_eq!(outcome.classes as usize, marker.done);
    Ok((out, outcome))
}

/// Marks every class.
pub(crate) fn mark(name: &str, input: &[u8]) -> Result<(Vec<u8>, Outcome), ArchiveError> {
    run_with(name, input, &mut Marker::default(), &Options::default())
}

/// Marks every class and adds a runtime.
pub(crate) fn mark_and_add(name: &str, input: &[u8]) -> Result<(Vec<u8>, Outcome), ArchiveError> {
    let mut marker = Marker { extra: runtime(), ..Marker::default() };
    run_with(name, input, &mut marker, &Options::default())
}

/// The code of the error that marking `input` gives.
pub(crate) fn error_of(input: &[u8]) -> String {
    match mark("x.jar", input) {
        Ok((_, outcome)) => panic!("no error but {outcome:?}"),
        Err(error) => error.kind.code().to_owned(),
    }
}

pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    assert!(bytes.ends_with(MARK), "not marked");
    &bytes[..bytes.len() - MARK.len() - 4]
}
