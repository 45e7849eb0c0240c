//! What fuzzing of the class rewriter runs, and what must hold for any bytes.

use instrument_rewriter::class_file::{ClassFile, CodeAttribute, instruction, opcode};
use instrument_rewriter::filter::Filter;
use instrument_rewriter::library::{Boundary, Inputs};
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::{
    Choice, ClassRewriter, MethodEvent, MethodReport, Outcome, Reason, Transforms, module_info,
};
use instrument_rewriter::survey::{Survey, SurveyBuffers};
use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Ids at which the instruction that pushes them changes, and large ones.
const IDS: [u32; 12] =
    [1, 5, 6, 127, 128, 32_767, 32_768, 65_535, 65_536, 167_859, 0x0102_0304, i32::MAX as u32];
/// What was in the output before.
const BEFORE: &[u8] = b"before";

/// Chooses ids, and now and then none; from the input alone, so that a finding can be run again.
#[derive(Clone)]
struct Chooser(u64);

impl Chooser {
    fn new(bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        }))
    }

    fn choose(&mut self) -> Choice {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = (self.0 >> 33) as u32;
        match random % 16 {
            0 => Choice::Leave,
            1..=3 => Choice::Rewrite(random.max(1)),
            _ => Choice::Rewrite(IDS[(random >> 8) as usize % IDS.len()]),
        }
    }
}

/// Code regions somewhere in the class, from the input alone.
fn regions(bytes: &[u8]) -> Vec<Region> {
    let Ok(class) = ClassFile::parse(bytes) else { return Vec::new() };
    let Some(name) = class.name().ok().and_then(|name| std::str::from_utf8(name).ok()) else {
        return Vec::new();
    };
    let random = Chooser::new(bytes).0;
    let lines = [random >> 8, random >> 20, random >> 32].map(|bits| (1 + bits % 64, 1 + (bits >> 6) % 16));
    let lines = lines.into_iter().map(|(first, more)| format!("{name}:{first}-{}", first + more));
    let methods = [format!("{name}#<init>"), format!("{name}#main")];
    lines.chain(methods).filter_map(|text| Region::parse(&text).ok()).collect()
}

/// All calls of methods that the class does not declare.
fn library_calls(bytes: &[u8]) -> Vec<(u16, u32)> {
    let Ok(class) = ClassFile::parse(bytes) else { return Vec::new() };
    let mut inputs = Inputs::new();
    inputs.add(&class);
    let boundary = Boundary { own: &inputs, filter: &Filter::default() };
    let callees = boundary.callees(&class, |_, _| true).unwrap_or_default();
    assert!(callees.is_sorted_by(|a, b| a.index < b.index), "{callees:?}");
    callees.iter().map(|callee| (callee.index, IDS[usize::from(callee.index) % IDS.len()])).collect()
}

/// Rewrites `bytes` with each choice of transforms. Returns whether anything was rewritten.
///
/// # Panics
/// If an output is not what [`check`] wants, or the survey and the rewriter see two different classes.
pub(crate) fn rewrite(bytes: &[u8]) -> bool {
    let survey = Survey::of(bytes, &mut SurveyBuffers::default());
    let mut rewritten = false;
    let regions: Arc<[Region]> = regions(bytes).into();
    let mut used_before = ClassRewriter::with_regions(Transforms::ALL, regions.clone());
    for transforms in [
        Transforms { method_events: true, ..Transforms::NONE },
        Transforms {
            allocation: true,
            thread_links: true,
            hand_over: true,
            given_tasks: true,
            references: true,
            streams: true,
            ..Transforms::NONE
        },
        Transforms::ALL,
    ] {
        let mut chooser = Chooser::new(bytes);
        let mut choices = BTreeMap::new();
        let mut out = BEFORE.to_vec();
        let of_all = if transforms == Transforms::ALL { regions.clone() } else { Arc::default() };
        let mut rewriter = ClassRewriter::with_regions(transforms, of_all);
        if transforms.method_events && transforms.allocation {
            rewriter.record_library_calls(library_calls(bytes));
        }
        let result = rewriter.rewrite(
            bytes,
            |method| {
                let choice = chooser.choose();
                assert_eq!(choices.insert(method.index, choice), None, "a method is asked for twice");
                choice
            },
            &mut out,
        );
        let new = out.strip_prefix(BEFORE).expect("what was there stays");
        if let Ok(survey) = &survey {
            let outcome = result.as_ref().expect("the survey can read it");
            assert_surveyed(survey, outcome, transforms, &choices);
        }
        if matches!(result, Ok(Outcome::Rewritten)) {
            check(bytes, new, &rewriter, &choices);
            rewritten = true;
        } else {
            assert!(new.is_empty(), "{result:?}, but something was appended");
        }
        if transforms.method_events && transforms.allocation {
            let (mut again, mut chooser) = (Vec::new(), Chooser::new(bytes));
            // What a class that is refused half-way leaves in the buffers must not matter.
            let _ = used_before.rewrite(&bytes[..bytes.len() / 2], |_| Choice::Rewrite(1), &mut Vec::new());
            used_before.record_library_calls(library_calls(bytes));
            let _ = used_before.rewrite(bytes, |_| chooser.choose(), &mut again);
            assert!(again == new, "a rewriter that was used before does something else");
        }
    }
    for transforms in [Transforms::NONE, Transforms::ALL] {
        rewrite_with_own_calls(bytes, transforms, survey.is_ok());
    }
    check_module_changes(bytes);
    rewritten
}

/// The survey and the rewriter see the same class.
fn assert_surveyed(
    survey: &Survey,
    outcome: &Outcome,
    transforms: Transforms,
    choices: &BTreeMap<u16, Choice>,
) {
    match (outcome, survey.refusal) {
        // It is about one transform only.
        (Outcome::Skipped(Reason::UnknownInternals), None) if transforms.rmi => {}
        (Outcome::Skipped(reason), refusal) => assert_eq!(Some(*reason), refusal),
        (_, refusal) => {
            assert_eq!(refusal, None);
            let with_code = survey.methods.iter().filter(|method| method.has_code);
            assert!(with_code.map(|method| &method.index).eq(choices.keys()), "other methods have code");
        }
    }
}

fn check_module_changes(bytes: &[u8]) {
    for change in [module_info::add_package, module_info::add_exported_package, module_info::add_requires] {
        let mut out = Vec::new();
        if change(bytes, &mut out) {
            let (old, new) = (parse(bytes), parse(&out));
            assert_eq!(new.pool.count(), old.pool.count() + 2);
            assert!(out[10..].starts_with(&bytes[10..old.pool.end()]), "the old constant pool changed");
            assert!(!change(&out, &mut Vec::new()), "changed twice");
        } else {
            assert!(out.is_empty());
        }
    }
}

/// Calls of one's own: at every entry, in front of every third instruction, in front of returns. What it asks for, by
/// the place of the code.
#[derive(Debug, Default)]
struct Everywhere(Mutex<BTreeMap<usize, usize>>);

const OWN: &str = "own/Hooks";

impl InsertCalls for Everywhere {
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        let call = Call::new(OWN, "hook").expect("a name");
        let mut count = 1;
        let named = call.clone().with_name(method.name).expect("a short name");
        calls.at_entry(named).expect("a constant is everywhere");
        let instructions: Vec<_> = instruction::Instructions::new(method.code.code)
            .map(|one| one.expect("an instruction"))
            .collect();
        for one in instructions.iter().step_by(3) {
            calls.before(one.pc as u32, call.clone().with_int(one.pc as i32)).expect("an instruction");
            count += 1;
        }
        calls.before_returns(&call).expect("nothing is passed");
        count += instructions.iter().filter(|one| opcode::is_return(one.opcode)).count();
        assert!(calls.before(method.code.code.len() as u32, call).is_err(), "a call behind the code");
        self.0.lock().expect("no panic before").insert(method.code.code_offset, count);
    }
}

/// Every method that was not refused has the calls that it was to get, and is made of whole instructions.
fn rewrite_with_own_calls(bytes: &[u8], transforms: Transforms, is_class: bool) {
    let inserter = Arc::new(Everywhere::default());
    let mut rewriter = ClassRewriter::new(transforms);
    rewriter.insert_calls(Some(inserter.clone()));
    let mut out = Vec::new();
    let result = rewriter.rewrite(bytes, |_| Choice::Rewrite(7), &mut out);
    assert!(result.is_ok() || !is_class, "the survey can read it: {result:?}");
    if !matches!(result, Ok(Outcome::Rewritten)) {
        assert!(out.is_empty(), "{result:?}, but something was appended");
        return;
    }
    let (old, new) = (parse(bytes), parse(&out));
    assert!(out[10..].starts_with(&bytes[10..old.pool.end()]), "the old constant pool changed");
    let wanted = inserter.0.lock().expect("no panic before");
    let is_own = |code: &[u8], pc: usize| {
        code[pc] == opcode::INVOKESTATIC
            && new.pool.member_ref(instruction::u2(code, pc + 1)).is_ok_and(|m| m.class == OWN.as_bytes())
    };
    let (mut old_methods, mut new_methods) = (old.methods(), new.methods());
    let mut index = 0;
    while let Some(method) = old_methods.next().expect("a method") {
        let same = new_methods.next().expect("a method").expect("as many methods");
        let skipped =
            |report: &&MethodReport| report.index == index && matches!(report.event, MethodEvent::Skipped(_));
        if rewriter.reports().iter().any(|report| skipped(&report)) {
            assert_eq!(out[same.span], bytes[method.span], "method {index} was to be left");
        } else if let Some(before) = method.code(&old.pool).expect("readable code") {
            let after = same.code(&new.pool).expect("readable code").expect("code");
            check_code(&after);
            let calls = instruction::Instructions::new(after.code).map(|one| one.expect("an instruction").pc);
            let calls = calls.filter(|&pc| is_own(after.code, pc)).count();
            assert_eq!(Some(&calls), wanted.get(&before.code_offset), "method {index}");
        }
        index += 1;
    }
}

fn parse(bytes: &[u8]) -> ClassFile<'_> {
    ClassFile::parse(bytes).expect("a class")
}

/// The output is a class; all of the old constant pool, the fields and the methods that were left are in it as
/// they were; the code of the others can be decoded; it is refused when it comes in again.
fn check(bytes: &[u8], new_bytes: &[u8], rewriter: &ClassRewriter, choices: &BTreeMap<u16, Choice>) {
    let (old, new) = (parse(bytes), parse(new_bytes));
    assert_eq!(new_bytes[..8], bytes[..8]);
    assert!(new.pool.count() > old.pool.count(), "nothing names the runtime");
    assert!(new_bytes[10..].starts_with(&bytes[10..old.pool.end()]), "the old constant pool changed");
    let head = |class: &ClassFile<'_>| (class.access_flags, class.this_class, class.super_class);
    assert_eq!(head(&new), head(&old));
    assert!(new.interfaces().eq(old.interfaces()));
    let (mut old_fields, mut new_fields) = (old.fields(), new.fields());
    while let Some(field) = old_fields.next().expect("a field") {
        let same = new_fields.next().expect("a field").expect("as many fields");
        assert_eq!(new_bytes[same.span], bytes[field.span]);
    }
    assert!(new_fields.next().expect("no field").is_none());
    let skipped = |index: u16| {
        let of_method = |report: &&_| matches!(report, instrument_rewriter::rewrite::MethodReport { index: i, .. } if *i == index);
        rewriter.reports().iter().filter(of_method).any(|r| matches!(r.event, MethodEvent::Skipped(_)))
    };
    let (mut old_methods, mut new_methods) = (old.methods(), new.methods());
    for index in 0.. {
        let Some(method) = old_methods.next().expect("a method") else { break };
        let same = new_methods.next().expect("a method").expect("as many methods");
        assert_eq!(new_bytes[same.span.start..][..6], bytes[method.span.start..][..6]);
        if skipped(index) || !matches!(choices.get(&index), Some(Choice::Rewrite(_))) {
            assert_eq!(new_bytes[same.span], bytes[method.span], "method {index} was to be left");
            continue;
        }
        if new_bytes[same.span.clone()] == bytes[method.span.clone()] {
            // It allocates nothing.
            continue;
        }
        let before = method.code(&old.pool).expect("readable code").expect("code");
        let after = same.code(&new.pool).expect("readable code").expect("code");
        assert!(after.code.len() >= before.code.len() && after.max_stack >= before.max_stack);
        assert!(after.max_locals >= before.max_locals);
        check_code(&after);
    }
    assert!(new_methods.next().expect("no method").is_none());
    let mut again = Vec::new();
    let outcome = ClassRewriter::default().rewrite(new_bytes, |_| panic!("asked"), &mut again);
    assert_eq!(outcome, Ok(Outcome::Skipped(Reason::AlreadyInstrumented)));
    assert!(again.is_empty());
}

/// The code is made of whole instructions, and the exception table leads to some of them.
fn check_code(code: &CodeAttribute<'_>) {
    assert!(code.code.len() <= 65_535);
    let mut starts = vec![false; code.code.len() + 1];
    let mut pc = 0;
    while pc < code.code.len() {
        starts[pc] = true;
        pc += instruction::length_at(code.code, pc).expect("an instruction");
    }
    assert_eq!(pc, code.code.len(), "the last instruction is cut off");
    starts[pc] = true;
    for row in code.exception_table.iter() {
        assert!(row.start_pc < row.end_pc, "an empty range");
        for pc in [row.start_pc, row.end_pc, row.handler_pc] {
            assert!(starts.get(usize::from(pc)) == Some(&true), "pc {pc} is inside an instruction");
        }
    }
}
