//! A dump of the heap as HPROF, the format that VisualVM and Eclipse MAT read, with the contexts in which objects were made.
//!
//! The virtual machine's own dump knows nothing of contexts; so this one is made from what JVMTI reports. [`write`]:
//!
//! 1. Garbage is collected. Classes are described and threads' stacks read.
//! 2. One [walk](walk) from the roots, during which the program stands still, writes all that it meets. Object ids are tags.
//! 3. What it did not meet is tagged, and garbage is collected again. What is still there is kept by something that JVMTI does not
//!    report (call sites of `invokedynamic`, a throwable's stack trace on some virtual machines, ..): a second walk writes it, and
//!    roots of unknown kind for what nothing else refers to.
//! 4. The classes that came in the meantime are described, and what was met of their objects is written. The other classes' records,
//!    whose place was kept free, are filled in. The tags are taken away.
//!
//! Objects that can be reached only are written, as by `jmap -dump:live`. Of memory, the agent needs some for each class and for what
//! step 3 finds, and nothing for another object; the virtual machine needs some for each tag until the dump is done.

mod at_end;
mod classes;
mod holders;
mod mirrors;
mod object_lifetimes;
mod output;
mod record;
mod stacks;
mod tags;
mod walk;

use crate::jvmti::heap::LeaveOut;
use crate::jvmti::{Capability, Jni, Jvmti, JvmtiError};
pub(crate) use at_end::AtEnd;
use classes::Classes;
pub(crate) use holders::search as search_holders;
pub(crate) use object_lifetimes::ObjectLifetimes;
use output::Output;
use record::Texts;
use stacks::Stacks;
use std::path::{Path, PathBuf};
use tags::Tags;
use walk::{Stop, Walk};

/// What follows objects from their beginning, and knows each by the number that is its tag in an environment.
pub(crate) trait Tracked {
    /// The environment with the tags.
    fn environment(&self) -> Jvmti<'static>;
    /// The context in which an object was made; 0: unknown. Called while the program stands still: it may use neither JVMTI nor JNI.
    fn context_of(&self, object: u64) -> u32;
    /// The ids of the methods of a context, the innermost first.
    fn chain(&self, jni: Jni<'_>, context: u32) -> Vec<u32>;
    /// What an id is the id of.
    fn method(&self, id: u32) -> Option<MethodName>;
}

/// A method as a stack frame names it.
#[derive(Debug, Clone)]
pub(crate) struct MethodName {
    /// As in class files.
    pub(crate) class: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) descriptor: Vec<u8>,
    pub(crate) source: Option<Vec<u8>>,
    pub(crate) line: Option<i32>,
}

/// A dump that was written.
#[derive(Debug, Clone)]
pub(crate) struct Dump {
    pub(crate) path: PathBuf,
    /// Objects and arrays; classes are not among them.
    pub(crate) objects: u64,
    pub(crate) classes: u64,
    /// Length of the file.
    pub(crate) bytes: u64,
    /// Arrays that are longer in the heap, for the format has no room for more than 4 GB.
    pub(crate) cut: u64,
}

/// Whether garbage may be collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Garbage {
    Collect,
    /// The virtual machine is about to end, and has no collector any more. Then step 3 is left out.
    Leave,
}

/// Writes a dump. `%p` in the name of the file is the process id; a file that is there already is replaced once the new one is whole.
///
/// # Errors
/// What went wrong, in one sentence; there is no file then.
pub(crate) fn write(
    jni: Jni<'_>,
    path: &Path,
    garbage: Garbage,
    tracked: Option<&dyn Tracked>,
) -> Result<Dump, String> {
    let path = expand(path);
    match tracked {
        Some(tracked) => {
            let jvmti = tracked.environment();
            let dump = dump(jvmti, jni, &path, garbage, Some(tracked));
            let cleaned = jvmti.iterate_heap(LeaveOut::Untagged, |_, tag| *tag = tags::restored(*tag));
            dump.and_then(|dump| cleaned.map(|_| dump).map_err(said))
        }
        None => jni
            .in_environment(|jvmti, jni| dump(jvmti, jni, &path, garbage, None))
            .map_err(said)
            .and_then(|dump| dump),
    }
    .map_err(|reason| format!("{}: {reason}", path.display()))
}

/// The heap profiler's number in a tag, whether a dump is being made or not; 0: there is none.
pub(crate) fn number(tag: i64) -> u64 {
    tags::tracked(tags::id(tag)).unwrap_or(0)
}

fn expand(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(text.replace("%p", &std::process::id().to_string())),
        None => path.to_owned(),
    }
}

fn said(error: JvmtiError) -> String {
    error.to_string()
}

fn dump<'a>(
    jvmti: Jvmti<'a>,
    jni: Jni<'a>,
    path: &Path,
    garbage: Garbage,
    tracked: Option<&dyn Tracked>,
) -> Result<Dump, String> {
    let mut output = Output::create(path).map_err(|error| error.to_string())?;
    let needed = [Capability::TagObjects, Capability::GetSourceFileName, Capability::GetLineNumbers];
    jvmti.add_capabilities(&needed).map_err(said)?;
    if garbage == Garbage::Collect {
        jvmti.force_gc().map_err(said)?;
    }
    let (mut tags, mut classes, mut texts) = (Tags::default(), Classes::default(), Texts::default());
    classes.add_new(jvmti, jni, &mut tags)?;
    classes.lay_out();
    let primitive_mirrors = mirrors::tag_primitives(jvmti, jni, &mut tags)?;

    record::begin(&mut output);
    classes.make_records(true, &mut texts, &mut output);
    let mut stacks = Stacks::new(&mut output);
    if let Some(tracked) = tracked {
        write_contexts(jvmti, jni, tracked, &classes, (&mut stacks, &mut texts, &mut output))?;
    }
    let threads = stacks.add_threads(jvmti, jni, &mut tags, (&mut texts, &mut output));
    threads.map_err(said)?;
    output.begin_heap();
    let first_records = classes.records.len();
    let place =
        output.reserve_segment(u32::try_from(first_records).map_err(|_| "the classes take more than 4 GB")?);

    let mut walk = Walk::new(&mut classes, &mut tags, &mut output, &mut stacks, tracked);
    let whole = jvmti.follow_references(None, &mut walk).map_err(said)?;
    walk.close();
    match walk.stop {
        Some(Stop::Ids) => return Err("there are more objects than can be numbered".to_owned()),
        Some(Stop::Output) => {}
        None if !whole => return Err("internal error in the walk through the heap".to_owned()),
        None if garbage == Garbage::Collect => follow_left_over(jvmti, jni, &mut walk)?,
        None => {}
    }
    walk.close();
    walk.classes.add_new(jvmti, jni, walk.tags)?;
    walk.classes.lay_out();
    walk.classes.make_records(false, &mut texts, walk.output);
    walk.write_late();
    mirrors::write(jvmti, jni, &mut walk, primitive_mirrors)?;
    walk.write_left_over_roots();
    let (objects, cut) = (walk.objects, walk.cut);
    let (first, late) = classes.records.split_at(first_records);
    output.begin_object(late.len() as u64);
    output.put(late);
    let bytes = output.finish(place, first).map_err(|error| error.to_string())?;
    Ok(Dump { path: path.to_owned(), objects, classes: classes.len() as u64, bytes, cut })
}

/// The second walk; see step 3 at the top.
fn follow_left_over<'a>(jvmti: Jvmti<'a>, jni: Jni<'a>, walk: &mut Walk<'_>) -> Result<(), String> {
    let tag_left_over = |_: i64, tag: &mut i64| {
        if !tags::is_met(*tag) {
            *tag = tags::LEFT_OVER;
        }
    };
    jvmti.iterate_heap(LeaveOut::Tagged, tag_left_over).map_err(said)?;
    jvmti.force_gc().map_err(said)?;
    let left_over = jvmti.objects_with_tag(tags::LEFT_OVER, jni).map_err(said)?;
    if left_over.is_empty() {
        return Ok(());
    }
    let array = jni.object_array(left_over).ok_or("the heap is full")?;
    jvmti.set_tag(&array, tags::START).map_err(said)?;
    walk.begin_left_over();
    let whole = jvmti.follow_references(Some(&array), walk).map_err(said)?;
    walk.close();
    jni.forget(array);
    if whole { Ok(()) } else { Err("internal error in the walk through the heap".to_owned()) }
}

/// Writes the traces of the contexts that made an object which is still there.
fn write_contexts<'a>(
    jvmti: Jvmti<'a>,
    jni: Jni<'a>,
    tracked: &dyn Tracked,
    classes: &Classes,
    (stacks, texts, output): (&mut Stacks, &mut Texts, &mut Output),
) -> Result<(), String> {
    let mut used: Vec<bool> = Vec::new();
    let seen = |_: i64, tag: &mut i64| {
        let context = tags::tracked(tags::id(*tag)).map_or(0, |number| tracked.context_of(number)) as usize;
        if used.len() <= context {
            used.resize(context + 1, false);
        }
        used[context] = true;
    };
    jvmti.iterate_heap(LeaveOut::Untagged, seen).map_err(said)?;
    let by_name = classes.by_name();
    // Classes that are not there any more get numbers of their own, and ids of nothing.
    let mut gone = std::collections::HashMap::new();
    let mut serial_of = |name: &[u8], texts: &mut Texts, output: &mut Output| -> u32 {
        if let Some(index) = by_name.get(name) {
            return *index as u32 + 1;
        }
        let next = (by_name.len() + classes.len() + gone.len()) as u32 + 1;
        *gone.entry(name.to_vec()).or_insert_with(|| {
            stacks::write_absent_class(next, name, texts, output);
            next
        })
    };
    let contexts =
        used.iter().enumerate().skip(1).filter(|(_, used)| **used).map(|(context, _)| context as u32);
    stacks.add_contexts(contexts, (tracked, jni), &mut serial_of, (texts, output));
    Ok(())
}

impl std::fmt::Display for Dump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Dump { path, objects, classes, bytes, cut } = self;
        write!(f, "{}: {objects} objects of {classes} classes, {bytes} bytes", path.display())?;
        match cut {
            0 => Ok(()),
            cut => write!(f, "; {cut} arrays are too long for the format and were cut"),
        }
    }
}
