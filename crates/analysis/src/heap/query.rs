//! A question about the heap: which objects of which profiles, and what the answer is made of.

use instrument_names::types::ObjectPatterns;
use instrument_trace::ThreadKind;
use serde_json::Value;

use super::Process;
use super::leaks::{self, Found};
use super::table::Filter;
use crate::report;
use crate::report::heap::{Heap, View};
use crate::session::lookup::{unknown_classes, unknown_threads};
use crate::session::{Error, Methods, ProfileFile, thread_filter, thread_names};
use std::io::Write;

/// Which objects; empty lists: all.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Of classes that fit one of these patterns, as Java writes them.
    pub classes: Vec<String>,
    /// Made in methods that fit one of these patterns.
    pub methods: Vec<String>,
    /// Made by threads of one of these names.
    pub threads: Vec<String>,
}

/// The patterns of a [`Query`], compared with the names that there are.
#[derive(Debug)]
pub struct Selection {
    classes: ObjectPatterns,
    methods: Methods,
    threads: Vec<String>,
    /// Of patterns that fit nothing.
    pub warnings: Vec<String>,
}

impl Query {
    /// Compares the patterns with the names in the files.
    ///
    /// # Errors
    /// A pattern that cannot be read.
    pub fn select(&self, files: &[ProfileFile]) -> Result<Selection, Error> {
        let classes =
            ObjectPatterns::new(&self.classes).map_err(|error| Error::Request(error.to_string()))?;
        let method_names = files.iter().flat_map(|file| file.names.methods()).collect();
        let class_names = files.iter().flat_map(|file| file.names.classes()).collect();
        let methods = Methods::new("--method", &self.methods, &method_names)?;
        let warnings = [
            unknown_classes(&classes, &class_names),
            unknown_threads(&self.threads, &thread_names(files)),
            methods.warnings.clone(),
        ];
        Ok(Selection { classes, methods, threads: self.threads.clone(), warnings: warnings.concat() })
    }
}

impl Selection {
    /// Writes a report about these objects. Gives what was found of leaks, if `view` looks for them.
    ///
    /// # Errors
    /// A file that cannot be read, an output that fails.
    pub fn report(
        &self,
        files: &[ProfileFile],
        view: &View<'_>,
        options: &report::Options<'_>,
        out: &mut dyn Write,
    ) -> Result<Option<Found>, Error> {
        let (written, found) =
            self.with_heap(files, view, |heap, view| report::heap::write(out, heap, view, options))?;
        written?;
        Ok(found)
    }

    /// The same report as JSON has it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn document(
        &self,
        files: &[ProfileFile],
        view: &View<'_>,
        options: &report::Options<'_>,
    ) -> Result<Value, Error> {
        let document = |heap: &Heap<'_>, view: &View<'_>| report::heap::document(heap, view, options);
        Ok(self.with_heap(files, view, document)?.0)
    }

    /// Hands these objects to `then`, and gives what was found of leaks beside its result.
    fn with_heap<T>(
        &self,
        files: &[ProfileFile],
        view: &View<'_>,
        then: impl FnOnce(&Heap<'_>, &View<'_>) -> T,
    ) -> Result<(T, Option<Found>), Error> {
        let class = |name: &str| self.classes.matches(name.as_bytes());
        let method = |name: &str| self.methods.fits(name);
        let filter = Filter {
            class: (!self.classes.is_empty()).then_some(&class as &dyn Fn(&str) -> bool),
            method: (!self.methods.is_empty()).then_some(&method as &dyn Fn(&str) -> bool),
        };
        let wanted = &thread_filter(&self.threads);
        let mut known = Vec::new();
        for file in files {
            let methods = move |copy: u32, id: u32| file.names.method(copy, id);
            let classes = move |copy: u32, number: u32| file.names.class(copy, number);
            let threads = move |copy: u32, ordinal: u32| wanted(thread_name(file, copy, ordinal));
            known.push((file, file.lifetimes()?, methods, classes, threads));
        }
        let processes: Vec<_> = known
            .iter()
            .map(|(file, biographies, methods, classes, threads)| Process {
                profile: &file.profile,
                biographies: *biographies,
                methods,
                classes,
                threads,
            })
            .collect();
        let found = if view.looks_for_leaks() { Some(find(files, &processes, &filter)?) } else { None };
        let names: Vec<_> = files.iter().map(ProfileFile::label).collect();
        let heap = Heap { processes: &processes, names: &names, leaks: found.as_ref() };
        let result = then(&heap, &View { filter, ..*view });
        Ok((result, found))
    }
}

fn thread_name(file: &ProfileFile, copy: u32, ordinal: u32) -> &str {
    let is_it = |thread: &&instrument_trace::Thread| {
        thread.kind == ThreadKind::Thread && (thread.copy, thread.ordinal) == (copy, ordinal)
    };
    file.profile.threads.iter().find(is_it).map_or("", |thread| thread.name.as_str())
}

/// What leaks in these files; none: objects were not recorded.
///
/// # Errors
/// A file that cannot be read.
pub(crate) fn leaks(files: &[ProfileFile]) -> Result<Option<Found>, Error> {
    let mut known = Vec::new();
    for file in files {
        let methods = move |copy: u32, id: u32| file.names.method(copy, id);
        let classes = move |copy: u32, number: u32| file.names.class(copy, number);
        known.push((file, file.lifetimes()?, methods, classes));
    }
    if known.iter().all(|(_, biographies, ..)| biographies.is_none()) {
        return Ok(None);
    }
    let processes: Vec<_> = known
        .iter()
        .map(|(file, biographies, methods, classes)| Process {
            profile: &file.profile,
            biographies: *biographies,
            methods,
            classes,
            threads: &|_, _| true,
        })
        .collect();
    find(files, &processes, &Filter { class: None, method: None }).map(Some)
}

/// Looks for leaks in all files.
fn find(files: &[ProfileFile], processes: &[Process<'_>], filter: &Filter<'_>) -> Result<Found, Error> {
    let mut all = Found::default();
    for (file, process) in files.iter().zip(processes) {
        let found = leaks::find(process, file.source()).map_err(Error::profile(&file.path))?;
        let named = |text: String| {
            if files.len() > 1 { format!("{}: {text}", file.path.display()) } else { text }
        };
        all.suspects.extend(found.suspects);
        all.undetermined.extend(found.undetermined.into_iter().map(named));
        all.remarks.extend(found.remarks.into_iter().map(named));
    }
    all.suspects.retain(|suspect| filter.wants(&suspect.class, &suspect.context));
    all.group();
    Ok(all)
}
