//! What the counters of a plan say is how often everything was executed: methods of the golden cases are walked through
//! at random, with and without exceptions, counting both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use instrument_rewriter::class_file::instruction::{Instructions, targets};
use instrument_rewriter::class_file::{ClassFile, CodeAttribute, opcode};
use instrument_rewriter::executions::{Class, Method, Point};

/// Steps after which a walk is given up: it counts for nothing.
const LONGEST: usize = 3_000;
const WALKS: usize = 60;

fn class_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            class_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "class") {
            found.push(path);
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// What one walk has counted.
#[derive(Default)]
struct Walk {
    counters: Vec<u64>,
    executed: BTreeMap<u32, u64>,
    /// By branch and target; falling through goes to the next instruction, but a branch may lead there, too.
    ways: BTreeMap<(u32, bool, u32), u64>,
}

/// How control came to an instruction.
enum By {
    Entry,
    Falling,
    Branch(u32),
    Exception,
}

/// That the constructor of `Object` cannot is known.
fn may_throw(class: &ClassFile<'_>, code: &[u8], pc: usize) -> bool {
    use opcode::*;
    if code[pc] == INVOKESPECIAL {
        let index = u16::from_be_bytes([code[pc + 1], code[pc + 2]]);
        let called = class.pool.member_ref(index);
        return !called.is_ok_and(|m| m.class == b"java/lang/Object" && m.name == b"<init>");
    }
    matches!(code[pc], GETSTATIC..=ATHROW | IDIV | LDIV | IREM | LREM | IALOAD..=SALOAD | IASTORE..=SASTORE)
}

/// A walk that ended; none: it took too long.
fn walk(
    class: &ClassFile<'_>,
    code: &CodeAttribute<'_>,
    method: &Method,
    throws: bool,
    random: &mut Random,
) -> Option<Walk> {
    let lengths: BTreeMap<u32, u32> = Instructions::new(code.code)
        .map(|instruction| instruction.unwrap())
        .map(|instruction| (instruction.pc as u32, instruction.bytes.len() as u32))
        .collect();
    let number = |point: Point| method.plan.points.iter().position(|known| *known == point);
    let mut walk = Walk { counters: vec![0; method.plan.points.len()], ..Walk::default() };
    let (mut pc, mut by) = (0, By::Entry);
    for _ in 0..LONGEST {
        let on_the_way = match by {
            By::Entry => number(Point::Entry),
            By::Falling => number(Point::FallsInto(pc)),
            By::Branch(switch) => number(Point::Arm { switch, target: pc }),
            By::Exception => None,
        };
        for index in on_the_way.into_iter().chain(number(Point::Before(pc))) {
            walk.counters[index] += 1;
        }
        *walk.executed.entry(pc).or_default() += 1;
        let op = code.code[pc as usize];
        let next = pc + lengths[&pc];
        if op == opcode::ATHROW
            || (throws && may_throw(class, code.code, pc as usize) && random.below(6) == 0)
        {
            let covers = |row: &_| {
                let row: &instrument_rewriter::class_file::exception_table::ExceptionEntry = row;
                (u32::from(row.start_pc)..u32::from(row.end_pc)).contains(&pc)
            };
            let handlers: Vec<u32> =
                code.exception_table.iter().filter(covers).map(|row| u32::from(row.handler_pc)).collect();
            let choice = random.below(handlers.len() + 1);
            let Some(&handler) = handlers.get(choice) else { return Some(walk) };
            (pc, by) = (handler, By::Exception);
            continue;
        }
        if opcode::is_return(op) {
            return Some(walk);
        }
        let mut all: Vec<u32> = targets(code.code, pc as usize).map(|target| target as u32).collect();
        all.sort_unstable();
        all.dedup();
        let falls = opcode::is_conditional_branch(op) && random.below(2) == 0;
        if all.is_empty() || falls {
            if falls {
                *walk.ways.entry((pc, true, next)).or_default() += 1;
            }
            (pc, by) = (next, By::Falling);
        } else {
            let target = all[random.below(all.len())];
            *walk.ways.entry((pc, false, target)).or_default() += 1;
            (pc, by) = (target, By::Branch(pc));
        }
    }
    None
}

fn has_subroutines(code: &CodeAttribute<'_>) -> bool {
    Instructions::new(code.code).any(|instruction| {
        let bytes = instruction.unwrap().bytes;
        matches!(bytes[0], opcode::JSR | opcode::JSR_W | opcode::RET)
            || (bytes[0] == opcode::WIDE && bytes[1] == opcode::RET)
    })
}

fn check(
    what: &str,
    class: &ClassFile<'_>,
    code: &CodeAttribute<'_>,
    method: &Method,
    throws: bool,
    random: &mut Random,
) -> usize {
    let mut counters = vec![0; method.plan.points.len()];
    let (mut executed, mut ways) = (BTreeMap::new(), BTreeMap::new());
    let mut calls = 0;
    for walk in (0..WALKS).filter_map(|_| walk(class, code, method, throws, random)) {
        calls += 1;
        counters.iter_mut().zip(walk.counters).for_each(|(sum, more)| *sum += more);
        walk.executed.into_iter().for_each(|(pc, count)| *executed.entry(pc).or_default() += count);
        walk.ways.into_iter().for_each(|(way, count)| *ways.entry(way).or_default() += count);
    }
    let value = |index: u32| method.plan.counts[index as usize].value(&counters);
    assert_eq!(value(method.plan.calls), calls, "{what}: calls");
    let of = |pc: u32| executed.get(&pc).copied().unwrap_or(0);
    for instruction in &method.plan.instructions {
        let starts = method.lines.iter().any(|line| line.start == instruction.pc);
        if !throws || starts {
            let said = instruction.count.map_or(0, value);
            assert_eq!(said, of(instruction.pc), "{what}: pc {} of {:?}", instruction.pc, method.plan);
        }
    }
    for branch in &method.plan.branches {
        assert_eq!(value(branch.count), of(branch.pc), "{what}: branch {}", branch.pc);
        let way = |falls, target| ways.get(&(branch.pc, falls, target)).copied().unwrap_or(0);
        let mut all: Vec<u32> = targets(code.code, branch.pc as usize).map(|target| target as u32).collect();
        all.sort_unstable();
        all.dedup();
        let falling = opcode::is_conditional_branch(code.code[branch.pc as usize]).then(|| {
            ways.range((branch.pc, true, 0)..=(branch.pc, true, u32::MAX))
                .map(|(_, count)| *count)
                .sum::<u64>()
        });
        let exact: Vec<u64> = falling.into_iter().chain(all.into_iter().map(|to| way(false, to))).collect();
        let said: Vec<u64> = branch.ways.iter().map(|&index| value(index)).collect();
        assert_eq!(said, exact, "{what}: ways of {}", branch.pc);
    }
    calls as usize
}

#[test]
fn counters_say_how_often_everything_is_executed() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("golden");
    let mut files = Vec::new();
    class_files(&golden, &mut files);
    files.sort();
    let (mut methods, mut walks, mut points, mut instructions) = (0, 0, 0, 0);
    let mut random = Random(1);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let (Ok(read), Ok(class)) = (Class::read(&bytes), ClassFile::parse(&bytes)) else { continue };
        let mut members = class.methods();
        while let Some(member) = members.next().unwrap() {
            let Ok(Some(code)) = member.code(&class.pool) else { continue };
            let (name, descriptor) =
                (member.name(&class.pool).unwrap(), member.descriptor(&class.pool).unwrap());
            let found = read.methods.iter().find(|m| m.name == name && m.descriptor == descriptor);
            let Some(method) = found else { continue };
            // Walks follow the code blindly: what may run off its end, or is too long to walk often, is left out.
            if has_subroutines(&code) || code.code.len() > 4_000 || !ends(&code) {
                continue;
            }
            let what = format!("{}: {}", file.display(), String::from_utf8_lossy(name));
            methods += 1;
            points += method.plan.points.len();
            instructions += method.plan.instructions.len();
            walks += check(&what, &class, &code, method, false, &mut random);
            walks += check(&what, &class, &code, method, true, &mut random);
        }
    }
    println!("{walks} walks through {methods} methods, {points} counters for {instructions} instructions");
    assert!(methods > 300 && walks > 20_000, "{walks} walks through {methods} methods");
}

/// Whether every branch leads to an instruction, and control cannot run off the end.
fn ends(code: &CodeAttribute<'_>) -> bool {
    let all: Vec<_> = Instructions::new(code.code).map(|instruction| instruction.unwrap()).collect();
    let starts = |pc: i64| all.iter().any(|instruction| instruction.pc as i64 == pc);
    let handlers = code.exception_table.iter().all(|row| starts(i64::from(row.handler_pc)));
    handlers
        && all.iter().all(|instruction| targets(code.code, instruction.pc).all(starts))
        && all.last().is_some_and(|last| opcode::is_end_of_flow(last.bytes[0]))
}
