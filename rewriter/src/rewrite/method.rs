//! Rewrites one Code attribute (JVMS 4.7.3).

use super::relocation::Relocation;
use super::stack_map_table::AppendedFrames;
use super::{
    MethodEvent, MethodRef, MethodReport, Note, Reason, debug_tables, exception_table, stack_map_table,
    type_annotations,
};
use crate::class_file::well_known::WellKnown;
use crate::class_file::{Attribute, ClassFile, CodeAttribute, opcode, version};
use crate::code::code_scan::CodeScan;
use crate::code::constant_pool_appender::ConstantPoolAppender;
use crate::code::edits::{Edits, Sites};
use crate::code::method_code::MethodCode;
use crate::transform::call_sites::CallSites;
use crate::transform::{self, Findings, MethodSite, Request};
use crate::validity::locals;

/// HotSpot's HugeMethodLimit: longer methods stay interpreted for ever (-XX:+DontCompileHugeMethods).
const HUGE_METHOD_LIMIT: usize = 8_000;
const ACC_STATIC: u16 = 0x0008;
const TYPE_ANNOTATIONS: [&[u8]; 2] = [b"RuntimeVisibleTypeAnnotations", b"RuntimeInvisibleTypeAnnotations"];

/// A method as it is in the input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OldMethod<'a> {
    pub(crate) class: &'a ClassFile<'a>,
    pub(crate) method: MethodRef<'a>,
    /// Its Code attribute.
    pub(crate) attribute: Attribute<'a>,
    /// What that holds; none: it cannot be read.
    pub(crate) code: Option<&'a MethodCode<'a>>,
    /// What came of decoding the code, if [`scan`](MethodRewriter::scan) holds it.
    pub(crate) scanned: Option<Result<(), Reason>>,
}

/// The buffers for one method after the other.
#[derive(Debug, Default)]
pub(crate) struct MethodRewriter {
    pub(crate) scan: CodeScan,
    edits: Edits,
    relocation: Relocation,
    /// New pcs of the handlers behind the code: those of the code regions, then the one for unwinding.
    appended: Vec<u32>,
    /// New row of each old exception table row.
    moved_rows: Vec<u16>,
    /// Outcome of the regions and of the calls of a user of this crate in the last method.
    pub(crate) findings: Findings,
    unknown_attributes: u16,
    crossed_huge_limit: bool,
}

impl MethodRewriter {
    /// Appends the new Code attribute to `out`; whether it differs from the old one. After an error, `out` and the pool
    /// hold rubbish behind where they were: the caller rolls back.
    ///
    /// # Errors
    /// The reason why this method must stay as it is.
    pub(crate) fn rewrite(
        &mut self,
        method: &OldMethod<'_>,
        request: &Request<'_>,
        calls: &mut CallSites,
        appender: &mut ConstantPoolAppender,
        out: &mut Vec<u8>,
    ) -> Result<bool, Reason> {
        let read = method.code.ok_or(Reason::BadCode)?;
        let code = &read.code;
        method.scanned.unwrap_or_else(|| self.scan.decode(code.code))?;
        self.edits.clear();
        self.findings.clear();
        self.unknown_attributes = 0;
        self.crossed_huge_limit = false;
        calls.begin_method(code.code)?;
        let frames = self.plan(method, read, request, calls, appender)?;
        if self.edits.is_empty() {
            out.extend_from_slice(&method.class.bytes[method.attribute.offset..method.attribute.end()]);
            return Ok(false);
        }
        self.write(method, code, frames, appender, out)?;
        Ok(true)
    }

    /// Collects what is to be inserted. Returns the frames that the method has.
    fn plan<'a>(
        &mut self,
        method: &OldMethod<'a>,
        read: &MethodCode<'a>,
        request: &Request<'_>,
        calls: &CallSites,
        appender: &mut ConstantPoolAppender,
    ) -> Result<Option<&'a [u8]>, Reason> {
        let (class, MethodRef { index, access_flags, name, descriptor }) = (method.class, method.method);
        let code = &read.code;
        let is_left = request.transforms == request.transforms.beside();
        let mut site = MethodSite {
            pool: &class.pool,
            appender,
            scan: &self.scan,
            code,
            frames: None,
            request,
            calls: &calls.calls,
            library_calls: if is_left { &[] } else { &calls.library_calls },
            references: if is_left { &[] } else { &calls.references },
            pushed_id: None,
            is_constructor: name == b"<init>" && class.super_class != 0,
            is_static: access_flags & ACC_STATIC != 0,
            file: class,
            class: class.name().map_err(|_| Reason::BadCode)?,
            index,
            access_flags,
            name,
            descriptor,
            flow: None,
            findings: &mut self.findings,
        };
        if !transform::concerns(&site) {
            return Ok(None);
        }
        if name == b"finalize" && descriptor == b"()V" && code.code == [opcode::RETURN] {
            return Err(Reason::EmptyFinalizer);
        }
        if self.scan.subroutines && class.major_version >= version::FIRST_WITHOUT_JSR {
            return Err(Reason::IllegalJsr);
        }
        exception_table::check(code.exception_table, &self.scan)?;
        let has_frames = class.major_version >= version::FIRST_WITH_FRAMES;
        let frames = if has_frames { read.only_frames()? } else { None };
        site.frames = frames;
        transform::plan(&mut site, &mut self.edits)?;
        if self.edits.extra_locals > 0 && !locals::fit(code, descriptor, access_flags & ACC_STATIC != 0) {
            return Err(Reason::BadCode);
        }
        self.edits.sort();
        Ok(frames)
    }

    /// Appends the new Code attribute.
    fn write(
        &mut self,
        method: &OldMethod<'_>,
        code: &CodeAttribute<'_>,
        frames: Option<&[u8]>,
        appender: &mut ConstantPoolAppender,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let class = method.class;
        let has_frames = class.major_version >= version::FIRST_WITH_FRAMES;
        let start = out.len();
        let deeper = code.max_stack.checked_add(self.edits.extra_stack).ok_or(Reason::MaxStack)?;
        let max_stack = deeper.max(self.edits.least_stack);
        let max_locals = code.max_locals.checked_add(self.edits.extra_locals).ok_or(Reason::MaxLocals)?;
        // Name, length of the attribute, limits, and length of the code.
        let head = [method.attribute.name_index, 0, 0, max_stack, max_locals, 0, 0].map(u16::to_be_bytes);
        out.extend_from_slice(head.as_flattened());
        let (regions, unwind_pc) = self.write_code(code, has_frames, frames, out)?;
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
            false => Some(appender.throwable(&class.pool)?),
        };
        self.write_attributes(method, code, frames, throwable, appender, out)?;
        close_attribute(start, out);
        Ok(())
    }

    /// Appends the code, with the handlers behind it, and fills in its length in front of it: how many handlers are of
    /// code regions, and the pc of the one for unwinding.
    fn write_code(
        &mut self,
        code: &CodeAttribute<'_>,
        has_frames: bool,
        frames: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, u32), Reason> {
        let code_at = out.len();
        self.relocation.apply(code.code, &self.scan, &self.edits, has_frames, frames, out)?;
        self.appended.clear();
        for handler in &self.edits.region_handlers {
            self.appended.push((out.len() - code_at) as u32);
            handler.snippets.iter().for_each(|snippet| snippet.append_to(out));
        }
        let regions = self.appended.len();
        let unwind_pc = (out.len() - code_at) as u32;
        let covers = exception_table::covers_anything(&self.relocation, &self.edits);
        if covers && !self.edits.unwind.is_empty() {
            self.edits.unwind.iter().for_each(|snippet| snippet.append_to(out));
            self.appended.push(unwind_pc);
        } else {
            self.edits.covered.clear();
        }
        let length = out.len() - code_at;
        if length > usize::from(u16::MAX) {
            return Err(Reason::MethodTooLarge);
        }
        self.crossed_huge_limit = length > HUGE_METHOD_LIMIT && code.code.len() <= HUGE_METHOD_LIMIT;
        out[code_at - 4..code_at].copy_from_slice(&(length as u32).to_be_bytes());
        Ok((regions, unwind_pc))
    }

    /// The attributes of the Code attribute, in their order; a StackMapTable that was not there is last.
    fn write_attributes(
        &mut self,
        method: &OldMethod<'_>,
        code: &CodeAttribute<'_>,
        frames: Option<&[u8]>,
        throwable: Option<u16>,
        appender: &mut ConstantPoolAppender,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let pool = &method.class.pool;
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
        out.extend_from_slice(&u16::try_from(count).map_err(|_| Reason::BadCode)?.to_be_bytes());
        let mut attributes = code.attributes.clone();
        while let Some(attribute) = attributes.next().map_err(|_| Reason::BadCode)? {
            let start = open_attribute(attribute.name_index, out);
            let is = |which| pool.is(attribute.name_index, which);
            if is(WellKnown::LineNumberTable) {
                debug_tables::write_line_numbers(attribute.info, code.code.len(), relocation, out);
            } else if is(WellKnown::LocalVariableTable) || is(WellKnown::LocalVariableTypeTable) {
                let (length, count) = (code.code.len(), pool.count());
                debug_tables::write_local_variables(attribute.info, length, count, relocation, out);
            } else if frames.is_some() && is(WellKnown::StackMapTable) {
                if relocation.trampolines().is_empty() && extra.is_empty() {
                    stack_map_table::write(Some(attribute.info), &self.scan, relocation, appended, out)?;
                } else {
                    let locals = initial_locals(method.class, &method.method, appender)?;
                    let (info, scan) = (attribute.info, &self.scan);
                    stack_map_table::write_in_full(info, &locals, scan, relocation, extra, appended, out)?;
                }
            } else if TYPE_ANNOTATIONS.contains(&pool.utf8_or_empty(attribute.name_index)) {
                type_annotations::write(attribute.info, relocation, &self.moved_rows, out);
            } else {
                self.unknown_attributes += 1;
                out.extend_from_slice(attribute.info);
            }
            close_attribute(start, out);
        }
        if added {
            let start = open_attribute(appender.stack_map_table()?, out);
            stack_map_table::write(None, &self.scan, relocation, appended, out)?;
            close_attribute(start, out);
        }
        Ok(())
    }

    /// Adds what there is to say about the method that was just rewritten.
    pub(crate) fn report(&self, index: u16, reports: &mut Vec<MethodReport>) {
        let sites = self.edits.sites;
        if sites == Sites::default() && !self.crossed_huge_limit && self.unknown_attributes == 0 {
            return;
        }
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

/// Appends the head of an attribute, without its length: where it begins.
fn open_attribute(name_index: u16, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice([name_index, 0, 0].map(u16::to_be_bytes).as_flattened());
    out.len() - 6
}

/// Fills in the length of the attribute that begins at `start` and ends where `out` ends.
fn close_attribute(start: usize, out: &mut [u8]) {
    let length = (out.len() - start - 6) as u32;
    out[start + 2..start + 6].copy_from_slice(&length.to_be_bytes());
}

/// The verification types of `this` and the parameters (JVMS 4.10.1.6), with Class entries for their names.
fn initial_locals(
    class: &ClassFile<'_>,
    method: &MethodRef<'_>,
    appender: &mut ConstantPoolAppender,
) -> Result<Vec<u8>, Reason> {
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
    let mut rest = method.descriptor.strip_prefix(b"(").ok_or(Reason::BadCode)?;
    while rest.first().is_some_and(|&first| first != b')') {
        let (_, tail) = field_slots(rest).ok_or(Reason::BadCode)?;
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
