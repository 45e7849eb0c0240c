//! Can the oracle fail? Each fault is seeded into a rewritten class that is right otherwise: its code is taken
//! apart, one thing is changed, and everything is put together again with tables that fit. Every fault must be
//! found, and for the right reason.

use crate::structural::assembler::{
    Body, ClassBuilder, Item, Label, Target, Type, attribute_names, replace_code,
};
use crate::structural::listing::op;
use crate::structural::model::{Class, Code};
use crate::structural::programs::{Constructor, Statement, class};
use crate::structural::{check_outcome, rewrite};
use instrument_rewriter::rewrite::{Outcome, Transforms};

const BOTH: Transforms = Transforms { method_events: true, allocation: true, ..Transforms::NONE };

/// The original, and a rewritten class with one method in pieces.
struct Bench {
    old: Vec<u8>,
    class: Class,
    method: usize,
    body: Body,
    /// Changes that the pieces cannot express are made in the assembled code.
    finish: Option<fn(&mut Code, &Code)>,
}

impl Bench {
    fn new(old: &[u8], method: &str) -> Self {
        let (outcome, new, _) = rewrite(old, BOTH);
        assert_eq!(outcome, Outcome::Rewritten);
        let class = Class::parse(&new).unwrap();
        // The constructor with parameters is the last of its name.
        let named = |m: &crate::structural::model::Method| class.pool.utf8(m.name) == method.as_bytes();
        let method = class.methods.iter().rposition(named).unwrap();
        let body = Body::disassemble(&class, method).unwrap();
        Self { old: old.to_vec(), class, method, body, finish: None }
    }

    fn old_code(&self) -> Code {
        let old = Class::parse(&self.old).unwrap();
        let name = attribute_names(&old.pool)["Code"];
        let info = &old.methods[self.method].attributes.iter().find(|a| a.name == name).unwrap().info;
        Code::parse(info).unwrap()
    }

    /// What the oracle says about the class as it is now.
    fn verdict(mut self) -> Result<(), String> {
        let mut code = self.body.assemble(&attribute_names(&self.class.pool)).unwrap();
        if let Some(finish) = self.finish {
            finish(&mut code, &self.old_code());
        }
        replace_code(&mut self.class, self.method, &code);
        check_outcome(&self.old, BOTH, Outcome::Rewritten, &self.class.to_bytes(), &[]).map(|_| ())
    }

    /// Positions of the calls of a hook among the items; the push, or the dup, stands two items in front.
    fn calls(&self, hook: &str) -> Vec<usize> {
        let is_call = |item: &Item| match item {
            Item::Op(bytes) if bytes[0] == op::INVOKESTATIC => {
                let index = u16::from_be_bytes([bytes[1], bytes[2]]);
                self.class.pool.name_and_type(index).0 == hook.as_bytes()
            }
            _ => false,
        };
        let found: Vec<usize> =
            (0..self.body.items.len()).filter(|&i| is_call(&self.body.items[i])).collect();
        assert!(!found.is_empty(), "no call of {hook}");
        found
    }

    /// Takes the call at `call` out, and what is pushed for it.
    fn remove(&mut self, call: usize) {
        self.body.items.remove(call);
        self.body.items.remove(call - 2);
    }

    /// Replaces the operand of the call at `call` with that of a call of `hook`.
    fn redirect(&mut self, call: usize, hook: &str) {
        self.body.items[call] = self.body.items[self.calls(hook)[0]].clone();
    }

    /// The label in front of the item behind the one at `label`.
    fn next(&self, label: Label) -> Label {
        let at = self.body.items.iter().position(|item| *item == Item::Label(label)).unwrap();
        let labels = self.body.items[at + 1..].iter().filter_map(|item| match item {
            Item::Label(label) => Some(*label),
            _ => None,
        });
        labels.into_iter().next().unwrap()
    }

    /// The label right in front of an item.
    fn label_of(&self, item: usize) -> Label {
        match self.body.items[item - 1] {
            Item::Label(label) => label,
            _ => panic!("no label in front of item {item}"),
        }
    }

    /// The label of the unwind handler: the last row leads there.
    fn unwind(&self) -> Label {
        self.body.rows.last().unwrap().2
    }

    fn unwind_row(&mut self) -> &mut (Label, Label, Label, u16) {
        let unwind = self.unwind();
        self.body.rows.iter_mut().find(|row| row.2 == unwind).unwrap()
    }
}

fn program() -> Vec<u8> {
    use Statement::*;
    let body = [
        Mix,
        Loop(2, vec![Add(1), NewArray]),
        TableSwitch(vec![vec![Add(1)], vec![Mix], vec![]]),
        LookupSwitch(vec![vec![Add(4)], vec![Mix]]),
        TryCatch(vec![MaybeThrow], vec![Add(2)]),
        SelfCovering(vec![MaybeThrow]),
        FallIntoHandler(vec![MaybeThrow]),
        Synchronized(vec![MaybeThrow]),
        NewConditional,
        NewThrownAway(true),
        MaybeReturn,
        If(0, vec![Add(1)], vec![Mix]),
    ];
    let construct = [TryCatch(vec![MaybeThrow], vec![Add(2)]), If(0, vec![Add(1)], vec![Mix])];
    class("P", 52, &body, Constructor::TwoSites, &construct, false).unwrap()
}

/// `do { n--; } while (n > 0);` from pc 0 on.
fn loop_to_the_start() -> Vec<u8> {
    let mut class = ClassBuilder::new("L", 52);
    let mut body = Body::new(1, 1);
    let start = body.here();
    body.op(&[0x84, 0, 0xff]);
    body.op(&[0x1a]);
    body.branch(0x9d, start);
    body.op(&[0xb1]);
    body.frame(start, &[crate::structural::assembler::INT], &[]);
    class.method(9, "run", "(I)V", &body).unwrap();
    class.build()
}

fn far() -> Vec<u8> {
    class("P", 52, &[Statement::Far(32_760)], Constructor::Straight, &[], false).unwrap()
}

/// Name, a word of the message that must come, class, method, and what goes wrong.
type Fault = (&'static str, &'static str, fn() -> Vec<u8>, &'static str, fn(&mut Bench));

const FAULTS: &[Fault] = &[
    ("local variables not moved", "LocalVariableTable", program, "run", |b| {
        b.finish = Some(|new, old| {
            let at = old.attributes.iter().position(|a| a.info.len() == 12).unwrap();
            new.attributes[at].info = old.attributes[at].info.clone();
        });
    }),
    ("local variable ends too early", "LocalVariableTable", program, "run", |b| {
        b.body.variables[0].1 = b.label_of(b.calls("methodExit")[0]);
    }),
    ("line number one instruction off", "LineNumberTable", program, "run", |b| {
        b.body.lines[3].0 = b.next(b.body.lines[3].0);
    }),
    ("first line does not start at 0", "LineNumberTable", program, "run", |b| {
        b.body.lines[0].0 = b.next(b.next(b.body.lines[0].0));
    }),
    ("line number table lost", "attributes of the code", program, "run", |b| b.body.lines.clear()),
    ("frame not moved", "frame", program, "run", |b| b.body.frames[2].0 = b.next(b.body.frames[2].0)),
    ("frame with other locals", "frame", program, "run", |b| b.body.frames[2].1[0] = Type::Simple(2)),
    ("frame of a landing lost", "frame", program, "run", |b| {
        let call = b.calls("exceptionCaught")[0];
        let landing = b.label_of(call - 2);
        b.body.frames.retain(|frame| frame.0 != landing);
    }),
    ("frame of a landing differs from its handler's", "frame", program, "run", |b| {
        let call = b.calls("exceptionCaught")[0];
        let landing = b.label_of(call - 2);
        let frame = b.body.frames.iter_mut().find(|frame| frame.0 == landing).unwrap();
        frame.1[1] = Type::Simple(0);
    }),
    ("unwind frame keeps locals", "frame", program, "run", |b| {
        let unwind = b.unwind();
        let frame = b.body.frames.iter_mut().find(|frame| frame.0 == unwind).unwrap();
        frame.1.push(crate::structural::assembler::INT);
    }),
    ("Uninitialized does not follow its new", "frame", program, "run", |b| {
        let before = b.label_of(3);
        for item in b.body.frames.iter_mut().flat_map(|frame| &mut frame.2) {
            if let Type::Uninitialized(label) = item {
                *label = before;
            }
        }
    }),
    ("switch case off", "switch", program, "run", |b| {
        let at = b.body.items.iter().position(|item| matches!(item, Item::Switch(..))).unwrap();
        let Item::Switch(opcode, keys, default, mut cases) = b.body.items[at].clone() else { unreachable!() };
        cases[0] = b.next(cases[0]);
        b.body.items[at] = Item::Switch(opcode, keys, default, cases);
    }),
    ("switch default off", "switch", program, "run", |b| {
        let at = b.body.items.iter().rposition(|item| matches!(item, Item::Switch(..))).unwrap();
        let Item::Switch(opcode, keys, default, cases) = b.body.items[at].clone() else { unreachable!() };
        b.body.items[at] = Item::Switch(opcode, keys, b.next(default), cases);
    }),
    ("switch key changed", "switch", program, "run", |b| {
        for item in &mut b.body.items {
            if let Item::Switch(op::LOOKUPSWITCH, keys, ..) = item {
                keys[0] -= 1;
            }
        }
    }),
    ("branch off", "branch", program, "run", |b| {
        let at = b.body.items.iter().position(|item| matches!(item, Item::Branch(0x99..=0xa6, _))).unwrap();
        let Item::Branch(opcode, label) = b.body.items[at] else { unreachable!() };
        b.body.items[at] = Item::Branch(opcode, b.next(label));
    }),
    ("branch to a return past its exit call", "branch", program, "<init>", |b| {
        let exit = *b.calls("methodExit").last().unwrap();
        let (push, around) = (b.label_of(exit - 2), b.next(b.label_of(exit)));
        let mut changed = 0;
        for item in &mut b.body.items {
            if let Item::Branch(_, label) = item
                && *label == push
            {
                *label = around;
                changed += 1;
            }
        }
        assert!(changed > 0);
        b.body.frames.iter_mut().filter(|frame| frame.0 == push).for_each(|frame| frame.0 = around);
    }),
    ("entry call is a branch target", "branch", loop_to_the_start, "run", |b| {
        let entry = b.label_of(1);
        for item in &mut b.body.items {
            if let Item::Branch(_, label) = item {
                *label = entry;
            }
        }
    }),
    ("trampoline leads elsewhere", "branch", far, "run", |b| {
        for item in &mut b.body.items {
            if let Item::Branch(op::GOTO_W, label) = item {
                *label += 1;
            }
        }
    }),
    ("unwind range covers an exit call", "exception table", program, "run", |b| {
        let exit = b.calls("methodExit")[0];
        let behind = b.next(b.label_of(exit));
        b.unwind_row().1 = behind;
    }),
    ("unwind range covers a return", "exception table", program, "run", |b| {
        let exit = b.calls("methodExit")[0];
        let from = b.next(b.label_of(exit));
        let row = b.body.rows.iter().rposition(|row| row.2 == b.unwind()).unwrap();
        b.body.rows[row].0 = from;
    }),
    ("unwind range covers the entry call", "exception table", program, "run", |b| {
        let entry = b.label_of(1);
        b.unwind_row().0 = entry;
    }),
    ("unwind range covers itself", "exception table", program, "run", |b| {
        let call = b.calls("methodUnwind")[0];
        let behind = b.next(b.label_of(call));
        b.body.rows.last_mut().unwrap().1 = behind;
    }),
    ("unwind range has a hole", "exception table", program, "run", |b| {
        let from = b.unwind_row().0;
        let next = b.next(from);
        b.unwind_row().0 = next;
    }),
    ("unwind range covers the call of super()", "exception table", program, "<init>", |b| {
        let entry = b.calls("constructorEntry")[0];
        let from = b.next(b.label_of(entry));
        b.unwind_row().0 = from;
    }),
    ("unwind rows come first", "exception table", program, "run", |b| b.body.rows.rotate_right(1)),
    ("unwind handler lost", "unwind", program, "run", |b| {
        let unwind = b.unwind();
        b.body.rows.retain(|row| row.2 != unwind);
        b.body.frames.retain(|frame| frame.0 != unwind);
        let at = b.body.items.iter().position(|item| *item == Item::Label(unwind)).unwrap();
        let labels: Vec<Item> =
            b.body.items[at..].iter().filter(|i| matches!(i, Item::Label(_))).cloned().collect();
        b.body.items.truncate(at);
        b.body.items.extend(labels);
    }),
    ("unwind handler returns", "unwind", program, "run", |b| {
        let at = b.body.items.iter().rposition(|item| *item == Item::Op(vec![op::ATHROW])).unwrap();
        b.body.items[at] = Item::Op(vec![0xb0]);
    }),
    ("landing's own range lost", "exception table", program, "run", |b| {
        b.body.rows.remove(0);
    }),
    ("row not split around its own landing", "exception table", program, "run", |b| {
        let rows = &mut b.body.rows;
        // The two halves lead to one landing, the second starts where the first is interrupted.
        let at =
            (1..rows.len() - 1).find(|&i| rows[i].2 == rows[i + 1].2 && rows[i].3 == rows[i + 1].3).unwrap();
        rows[at].1 = rows[at + 1].1;
        rows.remove(at + 1);
    }),
    ("handler entered behind its landing", "exception table", program, "run", |b| {
        let call = b.calls("exceptionCaught")[0];
        let (landing, behind) = (b.label_of(call - 2), b.next(b.label_of(call)));
        b.body.rows.iter_mut().filter(|row| row.2 == landing).for_each(|row| row.2 = behind);
    }),
    ("rows in another order", "exception table", program, "run", |b| {
        let shields = b.body.rows.iter().position(|row| row.3 != 0).unwrap();
        b.body.rows.swap(shields, shields + 1);
    }),
    ("catch type lost", "exception table", program, "run", |b| {
        b.body.rows.iter_mut().for_each(|row| row.3 = 0);
    }),
    ("exit call lost", "methodExit", program, "run", |b| b.remove(b.calls("methodExit")[0])),
    ("exit call twice", "instruction", program, "run", |b| {
        let exit = b.calls("methodExit")[0];
        let pair = [b.body.items[exit - 2].clone(), b.body.items[exit].clone()];
        b.body.items.splice(exit + 1..exit + 1, pair);
    }),
    ("entry call lost", "methodEntry", program, "run", |b| b.remove(b.calls("methodEntry")[0])),
    ("methodEntry in a constructor", "constructorEntry", program, "<init>", |b| {
        let entry = b.calls("constructorEntry")[0];
        b.redirect(entry, "methodExit");
    }),
    ("exceptionCaught lost", "exceptionCaught", program, "run", |b| b.remove(b.calls("exceptionCaught")[0])),
    ("landing reached by normal flow", "goto", program, "run", |b| {
        let landing = |i: usize| b.calls("exceptionCaught").iter().any(|call| [i + 4, i + 6].contains(call));
        let skip = (0..b.body.items.len())
            .find(|&i| {
                matches!(b.body.items[i], Item::Branch(op::GOTO, _))
                    && landing(i)
                    && b.body.items[i - 2] == Item::Op(vec![1])
            })
            .unwrap();
        b.body.items.remove(skip);
    }),
    ("landing's exceptions lead to the handler that it falls into", "exception table", program, "run", |b| {
        b.body.rows[0].2 = b.body.rows[0].1;
    }),
    ("pad leads back to its landing", "goto around", program, "run", |b| {
        let (landing, _, pad, _) = b.body.rows[0];
        let at = b.body.items.iter().position(|item| *item == Item::Label(pad)).unwrap();
        b.body.items[at + 1] = Item::Branch(op::GOTO, landing);
    }),
    ("pad lost", "no goto", program, "run", |b| {
        let (landing, _, pad, _) = b.body.rows[0];
        b.body.rows[0].2 = landing;
        let at = b.body.items.iter().position(|item| *item == Item::Label(pad)).unwrap();
        b.body.items.remove(at + 1);
        b.body.frames.retain(|frame| frame.0 != pad);
    }),
    ("superReturned lost", "superReturned", program, "<init>", |b| b.remove(b.calls("superReturned")[1])),
    ("superReturned in front of super()", "instruction", program, "<init>", |b| {
        let call = b.calls("superReturned")[0];
        let pair = [b.body.items[call - 2].clone(), b.body.items[call].clone()];
        b.remove(call);
        b.body.items.splice(call - 5..call - 5, pair);
    }),
    ("wrong method id", "wrong id", program, "run", |b| {
        let exit = b.calls("methodExit")[0];
        b.body.items[exit - 2] = Item::Op(vec![0x08]);
    }),
    ("ArrayAlloc lost", "ArrayAlloc", program, "run", |b| b.remove(b.calls("ArrayAlloc")[0])),
    ("ObjectAlloc lost", "ObjectAlloc", program, "run", |b| b.remove(b.calls("ObjectAlloc")[0])),
    ("ObjectAlloc gets another object", "ObjectAlloc", program, "run", |b| {
        // A value from elsewhere instead of the copy of the new object.
        let call = b.calls("ObjectAlloc")[0];
        b.redirect(call, "ArrayAlloc");
    }),
    ("type annotation not moved", "TypeAnnotations", program, "run", |b| {
        let start = b.label_of(1);
        for target in &mut b.body.annotations {
            if let Target::Offset(_, label) = target {
                *label = start;
            }
        }
    }),
    ("type annotation of a catch not moved", "TypeAnnotations", program, "run", |b| {
        for target in &mut b.body.annotations {
            if let Target::Catch(row) = target {
                *row = 0;
            }
        }
    }),
    ("type annotation of a local not moved", "TypeAnnotations", program, "run", |b| {
        let exit = b.label_of(b.calls("methodExit")[0]);
        for target in &mut b.body.annotations {
            if let Target::Local(_, end, _) = target {
                *end = exit;
            }
        }
    }),
    ("stack not deepened", "max_stack", program, "run", |b| b.body.max_stack -= 1),
    ("max_locals changed", "max_locals", program, "run", |b| b.body.max_locals += 1),
    ("operand changed", "operands", program, "run", |b| {
        let at =
            b.body.items.iter().position(|item| matches!(item, Item::Op(bytes) if bytes[0] == 0x84)).unwrap();
        b.body.items[at] = Item::Op(vec![0x84, 9, 9]);
    }),
    ("old constant changed", "constant pool", program, "run", |b| {
        let last = b.class.pool.bytes.iter().position(|byte| *byte == b'S').unwrap();
        b.class.pool.bytes[last] = b'T';
    }),
    ("access flags changed", "between the pool", program, "run", |b| b.class.middle[1] ^= 0x10),
    ("class attribute added", "class attributes", program, "run", |b| {
        let name = attribute_names(&b.class.pool)["Code"].to_be_bytes();
        b.class.tail = [&[0, 1][..], &name, &[0, 0, 0, 0]].concat();
    }),
    ("method flags changed", "method", program, "run", |b| b.class.methods[b.method].flags ^= 0x20),
];

#[test]
fn every_seeded_fault_is_found() {
    let mut missed = Vec::new();
    for (name, expected, class, method, seed) in FAULTS {
        let old = class();
        // Taken apart and put together without a fault, the class passes: the seed alone makes the difference.
        let clean = Bench::new(&old, method).verdict();
        assert_eq!(clean, Ok(()), "{name}: not even the clean class passes");
        let mut bench = Bench::new(&old, method);
        seed(&mut bench);
        match bench.verdict() {
            Ok(()) => missed.push(format!("{name}: not found")),
            Err(fault) if !fault.contains(expected) => missed.push(format!("{name}: found as {fault:.300}")),
            Err(_) => {}
        }
    }
    assert!(missed.is_empty(), "{} of {} faults:\n{}", missed.len(), FAULTS.len(), missed.join("\n"));
    assert!(FAULTS.len() >= 12);
    println!("{} of {} seeded faults were found", FAULTS.len(), FAULTS.len());
}
