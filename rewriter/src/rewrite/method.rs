//! Rewrites one Code attribute (JVMS 4.7.3).

use super::code_scan::CodeScan;
use super::constant_pool_appender::ConstantPoolAppender;
use super::edits::Edits;
use super::relocation::Relocation;
use super::stack_map_table::AppendedFrames;
use super::{
    MethodEvent, MethodRef, MethodReport, Note, SkipReason, Transforms, debug_tables, exception_table,
    stack_map_table, type_annotations,
};
use crate::class_file::{Attribute, ClassFile, CodeAttribute, opcode, version};
use crate::region::RegionFault;
use crate::transform::allocation::{Arrays, ObjectInit, Objects};
use crate::transform::bytecodes::Bytecodes;
use crate::transform::call_sites::CallSites;
use crate::transform::hand_over::HandOvers;
use crate::transform::library_calls::{LibraryEntries, LibraryExits};
use crate::transform::lines::Lines;
use crate::transform::method_events::MethodEvents;
use crate::transform::own_calls::{self, InsertCalls, Inserting, Placed};
use crate::transform::parks::{self, Parks};
use crate::transform::regions::{self, Located};
use crate::transform::rmi::{self, Rmi};
use crate::transform::thread_links::ThreadLinks;
use crate::transform::values::Values;
use crate::transform::{MethodSite, Transform};
use crate::validity::locals;

/// HotSpot's HugeMethodLimit: longer methods stay interpreted for ever (-XX:+DontCompileHugeMethods).
const HUGE_METHOD_LIMIT: usize = 8_000;
const ACC_STATIC: u16 = 0x0008;

/// What is wanted of one method.
pub(crate) struct Request<'a> {
    pub(crate) id: u32,
    pub(crate) transforms: Transforms,
    /// It can be called from other processes.
    pub(crate) is_remote: bool,
    pub(crate) regions: &'a [Located],
    pub(crate) own_calls: Option<&'a dyn InsertCalls>,
}

/// The buffers for one method after the other.
#[derive(Debug, Default)]
pub(crate) struct MethodRewriter {
    scan: CodeScan,
    edits: Edits,
    relocation: Relocation,
    /// New pcs of the handlers behind the code: those of the code regions, then the one for unwinding.
    appended: Vec<u32>,
    /// New row of each old exception table row.
    moved_rows: Vec<u16>,
    /// What is wrong with the regions of the last method, if something is.
    pub(crate) region_faults: Vec<Option<RegionFault>>,
    /// What became of the calls of a user of this crate in the last method.
    pub(crate) own_placed: Vec<Placed>,
    unknown_attributes: u16,
    crossed_huge_limit: bool,
}

impl MethodRewriter {
    /// Appends the new Code attribute to `out`; whether it differs from the old one. After an error, `out` and the pool hold rubbish behind
    /// where they were: the caller rolls back.
    ///
    /// # Errors
    /// The reason why this method must stay as it is.
    #[allow(clippy::too_many_arguments, reason = "the parts are borrowed from one owner, separately")]
    pub(crate) fn rewrite(
        &mut self,
        class: &ClassFile<'_>,
        method: &MethodRef<'_>,
        attribute: &Attribute<'_>,
        request: &Request<'_>,
        calls: &mut CallSites,
        appender: &mut ConstantPoolAppender,
        out: &mut Vec<u8>,
    ) -> Result<bool, SkipReason> {
        let pool = &class.pool;
        let code = CodeAttribute::parse(attribute).map_err(|_| SkipReason::BadCode)?;
        self.scan.decode(code.code)?;
        self.edits.clear();
        self.region_faults.clear();
        self.own_placed.clear();
        let &Request { id, transforms, is_remote, regions, own_calls } = request;
        self.unknown_attributes = 0;
        self.crossed_huge_limit = false;
        calls.begin_method(code.code)?;
        let is_left = transforms == Transforms::ARRAYS || transforms == Transforms::NONE;
        let library_calls = if is_left { &[][..] } else { &calls.library_calls };
        let class_name = class.name().map_err(|_| SkipReason::BadCode)?;
        let own_calls =
            own_calls.filter(|inserter| inserter.concerns(class_name, method.name, method.descriptor));
        // The one constructor that calls no other.
        let is_object_init = transforms.object_init && class.super_class == 0 && method.name == b"<init>";
        let wanted = transforms.method_events
            || transforms.lines
            || (transforms.makes_arrays_tell() && !self.scan.array_creations.is_empty())
            || (transforms.allocation && !self.scan.news.is_empty())
            || is_object_init
            || !calls.calls.is_empty()
            || !library_calls.is_empty()
            || (transforms.parks && parks::concerns(class_name, method.name, method.descriptor))
            || (transforms.rmi && rmi::concerns(class_name, method.name))
            || is_remote
            || own_calls.is_some()
            || !regions.is_empty();
        if !wanted {
            out.extend_from_slice(&class.bytes[attribute.offset..attribute.end()]);
            return Ok(false);
        }
        if method.name == b"finalize" && method.descriptor == b"()V" && code.code == [opcode::RETURN] {
            return Err(SkipReason::EmptyFinalizer);
        }
        if self.scan.subroutines && class.major_version >= version::FIRST_WITHOUT_JSR {
            return Err(SkipReason::IllegalJsr);
        }
        exception_table::check(code.exception_table, &self.scan)?;
        let has_frames = class.major_version >= version::FIRST_WITH_FRAMES;
        let frames = if has_frames { find_frames(&code, pool)? } else { None };

        let mut site = MethodSite {
            pool,
            appender,
            scan: &self.scan,
            code: &code,
            frames,
            calls: &calls.calls,
            library_calls,
            id,
            pushed_id: None,
            is_constructor: method.name == b"<init>" && class.super_class != 0,
            is_static: method.access_flags & ACC_STATIC != 0,
            is_remote,
            class: class_name,
            name: method.name,
            descriptor: method.descriptor,
            flow: None,
        };
        // What follows a call follows its end.
        LibraryExits.plan(&mut site, &mut self.edits)?;
        if !regions.is_empty() {
            // First, so that a region ends in front of the method that it is part of.
            self.region_faults = regions::faults(&site, regions);
            let sound = regions.iter().zip(&self.region_faults).filter(|(_, fault)| fault.is_none());
            let sound: Vec<Located> = sound.map(|(region, _)| *region).collect();
            regions::plan(&mut site, &sound, &mut self.edits)?;
        }
        if transforms.parks {
            Parks.plan(&mut site, &mut self.edits)?;
        }
        if transforms.rmi {
            // So that what a method serves ends in front of its own end.
            Rmi.plan(&mut site, &mut self.edits)?;
        }
        if transforms.lines {
            Lines.plan(&mut site, &mut self.edits)?;
        }
        if transforms.bytecodes && transforms.method_events {
            Bytecodes.plan(&mut site, &mut self.edits)?;
        }
        if transforms.method_events {
            MethodEvents.plan(&mut site, &mut self.edits)?;
        }
        if is_object_init {
            ObjectInit.plan(&mut site, &mut self.edits)?;
        }
        if transforms.makes_arrays_tell() {
            Arrays.plan(&mut site, &mut self.edits)?;
        }
        if transforms.allocation {
            Objects.plan(&mut site, &mut self.edits)?;
        }
        if transforms.thread_links {
            ThreadLinks.plan(&mut site, &mut self.edits)?;
        }
        if transforms.hand_over {
            HandOvers.plan(&mut site, &mut self.edits)?;
        }
        if transforms.splits_by_values() {
            Values.plan(&mut site, &mut self.edits)?;
        }
        // What precedes a call precedes its beginning.
        LibraryEntries.plan(&mut site, &mut self.edits)?;
        if let Some(inserter) = own_calls {
            let inserting = Inserting {
                inserter,
                access_flags: method.access_flags,
                file: class.bytes,
                index: method.index,
            };
            own_calls::plan(&inserting, &mut site, &mut self.edits, &mut self.own_placed)?;
        }
        if self.edits.is_empty() {
            out.extend_from_slice(&class.bytes[attribute.offset..attribute.end()]);
            return Ok(false);
        }
        if self.edits.extra_locals > 0
            && !locals::fit(&code, method.descriptor, method.access_flags & ACC_STATIC != 0)
        {
            return Err(SkipReason::BadCode);
        }
        self.edits.sort();

        let start = out.len();
        out.extend_from_slice(&attribute.name_index.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        let deeper = code.max_stack.checked_add(self.edits.extra_stack).ok_or(SkipReason::MaxStack)?;
        out.extend_from_slice(&deeper.max(self.edits.least_stack).to_be_bytes());
        let locals = code.max_locals.checked_add(self.edits.extra_locals).ok_or(SkipReason::MaxLocals)?;
        out.extend_from_slice(&locals.to_be_bytes());

        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        let code_at = out.len();
        self.relocation.apply(code.code, &self.scan, &self.edits, has_frames, frames, out)?;
        self.appended.clear();
        for handler in &self.edits.region_handlers {
            self.appended.push((out.len() - code_at) as u32);
            handler.snippets.iter().for_each(|snippet| out.extend_from_slice(snippet.as_slice()));
        }
        let regions = self.appended.len();
        let unwind_pc = (out.len() - code_at) as u32;
        let unwind =
            self.edits.unwind.filter(|_| exception_table::covers_anything(&self.relocation, &self.edits));
        if let Some(handler) = unwind {
            out.extend_from_slice(handler.as_slice());
            self.appended.push(unwind_pc);
        } else {
            self.edits.covered.clear();
        }
        let length = out.len() - code_at;
        if length > usize::from(u16::MAX) {
            return Err(SkipReason::MethodTooLarge);
        }
        self.crossed_huge_limit = length > HUGE_METHOD_LIMIT && code.code.len() <= HUGE_METHOD_LIMIT;
        out[length_at..code_at].copy_from_slice(&(length as u32).to_be_bytes());

        exception_table::write(
            code.exception_table,
            &self.relocation,
            &self.edits,
            &self.appended[..regions],
            unwind_pc,
            &mut self.moved_rows,
            out,
        )?;
        let throwable = match self.appended.is_empty() || !has_frames {
            true => None,
            false => Some(site.appender.throwable(pool)?),
        };
        self.write_attributes(class, method, &code, frames, throwable, appender, out)?;
        let length = (out.len() - start - 6) as u32;
        out[start + 2..start + 6].copy_from_slice(&length.to_be_bytes());
        Ok(true)
    }

    /// The attributes of the Code attribute, in their order; a StackMapTable that was not there is last.
    #[allow(clippy::too_many_arguments, reason = "the parts are borrowed from one owner, separately")]
    fn write_attributes(
        &mut self,
        class: &ClassFile<'_>,
        method: &MethodRef<'_>,
        code: &CodeAttribute<'_>,
        frames: Option<&[u8]>,
        throwable: Option<u16>,
        appender: &mut ConstantPoolAppender,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let pool = &class.pool;
        let relocation = &self.relocation;
        let extra = &self.edits.kept[..];
        let appended = throwable.map(|throwable| AppendedFrames {
            pcs: &self.appended,
            handlers: &self.edits.region_handlers,
            throwable,
            extra,
        });
        let added = frames.is_none() && appended.is_some();
        let count = code.attributes.len() + usize::from(added);
        out.extend_from_slice(&u16::try_from(count).map_err(|_| SkipReason::BadCode)?.to_be_bytes());
        let mut attributes = code.attributes.clone();
        while let Some(attribute) = attributes.next().map_err(|_| SkipReason::BadCode)? {
            let start = out.len();
            out.extend_from_slice(&attribute.name_index.to_be_bytes());
            out.extend_from_slice(&[0; 4]);
            match pool.utf8_or_empty(attribute.name_index) {
                b"LineNumberTable" => {
                    debug_tables::write_line_numbers(attribute.info, code.code.len(), relocation, out);
                }
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    let (length, count) = (code.code.len(), pool.count());
                    debug_tables::write_local_variables(attribute.info, length, count, relocation, out);
                }
                b"StackMapTable" if frames.is_some() => {
                    if relocation.trampolines().is_empty() && extra.is_empty() {
                        stack_map_table::write(Some(attribute.info), &self.scan, relocation, appended, out)?;
                    } else {
                        let locals = initial_locals(class, method, appender)?;
                        stack_map_table::write_in_full(
                            attribute.info,
                            &locals,
                            &self.scan,
                            relocation,
                            extra,
                            appended,
                            out,
                        )?;
                    }
                }
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    type_annotations::write(attribute.info, relocation, &self.moved_rows, out);
                }
                _ => {
                    self.unknown_attributes += 1;
                    out.extend_from_slice(attribute.info);
                }
            }
            close_attribute(start, out);
        }
        if added {
            let start = out.len();
            out.extend_from_slice(&appender.stack_map_table()?.to_be_bytes());
            out.extend_from_slice(&[0; 4]);
            stack_map_table::write(None, &self.scan, relocation, appended, out)?;
            close_attribute(start, out);
        }
        Ok(())
    }

    /// Adds what there is to say about the method that was just rewritten.
    pub(crate) fn report(&self, index: u16, reports: &mut Vec<MethodReport>) {
        let sites = self.edits.sites;
        let some = |count: u32, note: fn(u32) -> Note| (count > 0).then(|| note(count));
        let notes = [
            self.crossed_huge_limit.then_some(Note::CrossedHugeMethodLimit),
            (self.unknown_attributes > 0).then_some(Note::UnknownCodeAttributes(self.unknown_attributes)),
            some(sites.untracked, Note::UntrackedAllocations),
            some(sites.starts, Note::ThreadStarts),
            some(sites.hand_overs, Note::HandOvers),
            some(sites.statements, Note::Statements),
            some(sites.requests, Note::Requests),
            some(sites.files, Note::Files),
            some(sites.remote_calls, Note::RemoteCalls),
            some(sites.library_calls, Note::LibraryCalls),
        ];
        reports.extend(
            notes
                .into_iter()
                .flatten()
                .map(|note| MethodReport { index, event: MethodEvent::Rewritten(note) }),
        );
    }
}

/// Fills in the length of the attribute that begins at `start` and ends where `out` ends.
fn close_attribute(start: usize, out: &mut [u8]) {
    let length = (out.len() - start - 6) as u32;
    out[start + 2..start + 6].copy_from_slice(&length.to_be_bytes());
}

/// The `info` of the one StackMapTable; HotSpot refuses a second.
fn find_frames<'a>(
    code: &CodeAttribute<'a>,
    pool: &crate::class_file::ConstantPool<'a>,
) -> Result<Option<&'a [u8]>, SkipReason> {
    let mut found = None;
    let mut attributes = code.attributes.clone();
    while let Some(attribute) = attributes.next().map_err(|_| SkipReason::BadCode)? {
        if pool.utf8_or_empty(attribute.name_index) == b"StackMapTable" {
            if found.is_some() {
                return Err(SkipReason::BadStackMap);
            }
            found = Some(attribute.info);
        }
    }
    Ok(found)
}

/// The verification types of `this` and the parameters (JVMS 4.10.1.6), with Class entries for their names.
fn initial_locals(
    class: &ClassFile<'_>,
    method: &MethodRef<'_>,
    appender: &mut ConstantPoolAppender,
) -> Result<Vec<u8>, SkipReason> {
    use crate::class_file::descriptor::field_slots;
    use crate::class_file::stack_map_table::verification_type::{
        DOUBLE, FLOAT, INTEGER, LONG, OBJECT, UNINITIALIZED_THIS,
    };
    let mut locals = Vec::new();
    if method.access_flags & ACC_STATIC == 0 {
        if method.name == b"<init>" && class.super_class != 0 {
            locals.push(UNINITIALIZED_THIS);
        } else {
            locals.push(OBJECT);
            locals.extend_from_slice(&class.this_class.to_be_bytes());
        }
    }
    let mut rest = method.descriptor.strip_prefix(b"(").ok_or(SkipReason::BadCode)?;
    while rest.first().is_some_and(|&first| first != b')') {
        let (_, tail) = field_slots(rest).ok_or(SkipReason::BadCode)?;
        let parameter = &rest[..rest.len() - tail.len()];
        match parameter {
            [b'J'] => locals.push(LONG),
            [b'D'] => locals.push(DOUBLE),
            [b'F'] => locals.push(FLOAT),
            [b'L', name @ .., b';'] | name @ [b'[', ..] => {
                locals.push(OBJECT);
                locals.extend_from_slice(&appender.class_named(&class.pool, name)?.to_be_bytes());
            }
            _ => locals.push(INTEGER),
        }
        rest = tail;
    }
    Ok(locals)
}

#[cfg(test)]
mod tests;
