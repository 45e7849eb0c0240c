//! The JVM's judgement on class files, without a JVM.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`format`] | format checking: constants, names, flags, attributes (JVMS 4.8) |
//! | [`link`] | superclasses and superinterfaces (JVMS 5.3.5) |
//! | [`checker`] | verification by type checking (JVMS 4.10.1) |
//! | [`stack_maps`] | the frames of a StackMapTable |
//! | [`frame`] | type states |
//! | [`types`] | verification types and names |
//! | [`hierarchy`] | other classes: found, or assumed |
//! | [`jdk`], [`image`] | the classes of a JDK, from its `lib/modules` |
//! | [`constants`] | constants as instructions use them |
//! | [`fault`] | what is wrong, in words |
//!
//! The judge is HotSpot with `-Xverify:all`: where it differs from the specification, it is followed. Whoever uses the
//! crate says where classes are found ([`hierarchy::ClassPath`]); the only file that it reads itself is `lib/modules`.

pub mod checker;
pub mod constants;
pub mod fault;
pub mod format;
pub mod frame;
pub mod hierarchy;
pub mod image;
pub mod jdk;
pub mod link;
pub mod stack_maps;
pub mod types;

use checker::Checker;
use fault::{Fault, Method, Problem, Rule};
use format::Jvm;
use hierarchy::{ClassPath, Summary, Universe, flags};
use instrument_names::mutf8;
use instrument_rewriter::class_file::{ClassFile, opcode, version};
use std::sync::Arc;
use types::NameId;

/// The judgement on a class.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// The class, as Java writes it; empty if its name cannot be read.
    pub class: String,
    /// What is wrong: the first fault of the format, or else the first of each method.
    pub faults: Vec<Fault>,
    /// Classes that were not found and mattered; the best was assumed of them.
    pub assumptions: Vec<String>,
    /// It is a module descriptor, which no JVM loads as a class: it was not judged.
    pub is_module: bool,
}

/// Judges one class after the other.
pub struct Verifier<'p> {
    universe: Universe<'p>,
    jvm: Jvm,
    format: format::Buffers,
    checker: checker::Buffers,
}

impl<'p> Verifier<'p> {
    /// Finds other classes on this class path.
    pub fn new(class_path: &'p dyn ClassPath, jvm: Jvm) -> Self {
        Self {
            universe: Universe::new(class_path),
            jvm,
            format: format::Buffers::default(),
            checker: checker::Buffers::default(),
        }
    }

    /// Judges a class.
    pub fn verify(&mut self, bytes: &[u8]) -> Verdict {
        let class = match ClassFile::parse(bytes) {
            Ok(class) => class,
            Err(error) => {
                let problem = Problem::new(Rule::Structure, error.to_string());
                let fault = Fault::new(String::new(), None, *problem);
                return Verdict { faults: vec![fault], ..Verdict::default() };
            }
        };
        let name = class.name().map(mutf8::escape).unwrap_or_default().replace('/', ".");
        let mut verdict = Verdict { class: name.clone(), ..Verdict::default() };
        let fault = |method: Option<Method>, problem: Problem| Fault::new(name.clone(), method, problem);
        if class.major_version >= 53 && class.access_flags & flags::MODULE != 0 {
            verdict.is_module = true;
            return verdict;
        }
        if let Err((method, problem)) = format::check(&class, self.jvm, &mut self.format) {
            verdict.faults.push(fault(method, *problem));
            return verdict;
        }
        let (fields, methods) = (self.format.fields.clone(), self.format.methods.clone());
        let Some(summary) = Summary::with_members(&class, fields, methods) else { return verdict };
        let summary = Arc::new(summary);
        let this = self.universe.begin(summary.clone());
        if let Err(problem) = link::check(&summary, this, &mut self.universe) {
            verdict.faults.push(fault(None, *problem));
        } else {
            self.methods(&class, this, &name, &mut verdict.faults);
        }
        verdict.assumptions = self.universe.assumptions().map(types::java_name).collect();
        verdict
    }

    /// The code of all methods: the first fault of each.
    fn methods(&mut self, class: &ClassFile<'_>, this: NameId, name: &str, faults: &mut Vec<Fault>) {
        let mut checker = Checker::new(class, this, self.jvm, &mut self.universe, &mut self.checker);
        let mut infers = class.major_version < version::FIRST_WITH_FRAMES;
        // HotSpot's fail-over: what is no right frame in version 50 may be right without frames.
        let may_fail_over = class.major_version == version::FIRST_WITH_FRAMES;
        let mut methods = class.methods();
        while let Ok(Some(method)) = methods.next() {
            let checked = if infers { checker.infer(&method) } else { checker.method(&method) };
            let Err(problem) = checked else { continue };
            if may_fail_over && !infers && problem.rule.fails_over() {
                infers = true;
                methods = class.methods();
                continue;
            }
            let pc = problem.pc;
            let mut fault = Fault::new(name.into(), Some(format::members::named(class, &method)), *problem);
            let code = method.code(&class.pool).ok().flatten();
            let opcode = code.zip(pc).and_then(|(code, pc)| code.code.get(pc as usize).copied());
            fault.instruction =
                opcode.map(|opcode| opcode::NAMES[usize::from(opcode)]).filter(|name| !name.is_empty());
            faults.push(fault);
        }
    }
}
