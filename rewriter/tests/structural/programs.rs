//! Random programs: verifiable, terminating, with a result that can be compared. Between statements the stack
//! is empty and all locals hold what the one frame of the method says, so that frames are easy to write.

use super::assembler::{Body, ClassBuilder, INT, Item, Label, Target, Type, UNINITIALIZED_THIS};
use super::listing::op;
use proptest::prelude::*;

/// A statement. Numbers are parameters of what it does.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Add(i8),
    Mix,
    /// This many bytes that do nothing.
    Pad(u16),
    If(u8, Vec<Statement>, Vec<Statement>),
    Loop(u8, Vec<Statement>),
    TableSwitch(Vec<Vec<Statement>>),
    LookupSwitch(Vec<Vec<Statement>>),
    TryCatch(Vec<Statement>, Vec<Statement>),
    /// One row covers the body and the catch-any handler that it leads to.
    SelfCovering(Vec<Statement>),
    /// Normal flow runs into the handler.
    FallIntoHandler(Vec<Statement>),
    /// The handler stands in front of its range.
    HandlerFirst(Vec<Statement>),
    /// As javac compiles it: two rows, the second covers only the handler.
    Synchronized(Vec<Statement>),
    NewArray,
    MultiArray,
    /// `new X(c ? a : b)`: a not yet initialised object lives across branches.
    NewConditional,
    /// The object is thrown away, in the second form inside the arguments of another.
    NewThrownAway(bool),
    MaybeReturn,
    MaybeThrow,
    /// A subroutine in versions that allow it, else just its body.
    Subroutine(Vec<Statement>),
    /// A conditional branch over this many bytes.
    Far(u16),
    /// A conditional branch back over this many bytes.
    FarBack(u16),
}

use Statement::*;

/// How constructors reach `super()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constructor {
    Straight,
    /// `this()` on one path, `super()` on the other.
    TwoSites,
    /// `this(c ? null : new Object())`.
    ConditionalArgument,
    /// An exception is caught before, by a handler behind the whole method.
    CaughtBefore,
}

/// Short statements.
pub(crate) fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let leaf = prop_oneof![
        any::<i8>().prop_map(Add),
        Just(Mix),
        (0u16..90).prop_map(Pad),
        Just(NewArray),
        Just(MultiArray),
        Just(NewConditional),
        any::<bool>().prop_map(NewThrownAway),
        Just(MaybeReturn),
        Just(MaybeThrow),
    ];
    let block = leaf.prop_recursive(3, 24, 4, |inner| {
        let body = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (0u8..6, body(), body()).prop_map(|(c, a, b)| If(c, a, b)),
            (1u8..4, body()).prop_map(|(n, a)| Loop(n, a)),
            prop::collection::vec(body(), 1..5).prop_map(TableSwitch),
            prop::collection::vec(body(), 0..4).prop_map(LookupSwitch),
            (body(), body()).prop_map(|(a, b)| TryCatch(a, b)),
            body().prop_map(SelfCovering),
            body().prop_map(FallIntoHandler),
            body().prop_map(HandlerFirst),
            body().prop_map(Synchronized),
            body().prop_map(Subroutine),
        ]
    });
    prop::collection::vec(block, 1..7)
}

pub(crate) fn constructors() -> impl Strategy<Value = Constructor> {
    prop_oneof![
        Just(Constructor::Straight),
        Just(Constructor::TwoSites),
        Just(Constructor::ConditionalArgument),
        Just(Constructor::CaughtBefore),
    ]
}

/// A class `name` with `static int run(int)` made of `body`, and a constructor that `run` calls, made of
/// `construct`. `wide` moves some locals behind 255.
///
/// # Errors
/// A branch does not reach its target, or the code is too long.
pub(crate) fn class(
    name: &str,
    major: u16,
    body: &[Statement],
    constructor: Constructor,
    construct: &[Statement],
    wide: bool,
) -> Result<Vec<u8>, String> {
    let mut class = ClassBuilder::new(name, major);
    for descriptor in ["()V", "(Ljava/lang/Object;)V"] {
        let mut simple = Body::new(1, 2);
        simple.op(&[0x2a]);
        simple.op2(op::INVOKESPECIAL, class.method_ref("java/lang/Object", "<init>", "()V"));
        simple.op(&[0xb1]);
        class.method(1, "<init>", descriptor, &simple)?;
    }
    let emitted = Emitter::new(&mut class, name, major, true, wide).constructor(constructor, construct);
    finish(&mut class, 1, "<init>", "(I)V", &emitted)?;
    let emitted = Emitter::new(&mut class, name, major, false, wide).run(body);
    finish(&mut class, 9, "run", "(I)I", &emitted)?;
    Ok(class.build())
}

fn finish(
    class: &mut ClassBuilder,
    flags: u16,
    name: &str,
    descriptor: &str,
    body: &Body,
) -> Result<(), String> {
    if body.size() > 65_000 { Err("too long".into()) } else { class.method(flags, name, descriptor, body) }
}

struct Emitter<'a> {
    class: &'a mut ClassBuilder,
    name: &'a str,
    major: u16,
    /// Slot of the parameter; the accumulator, the lock and the scratch local follow.
    first: u16,
    /// The locals of every frame.
    locals: Vec<Type>,
    counters: u16,
    next_counter: u16,
    body: Body,
    /// Subroutines to be written behind the code.
    subroutines: Vec<(Label, Vec<Statement>)>,
    line: u16,
}

const COUNTERS: u16 = 24;

impl<'a> Emitter<'a> {
    fn new(class: &'a mut ClassBuilder, name: &'a str, major: u16, is_constructor: bool, wide: bool) -> Self {
        let object = Type::Object(class.class("java/lang/Object"));
        let first = u16::from(is_constructor);
        let mut locals = if is_constructor { vec![Type::Object(class.class(name))] } else { Vec::new() };
        locals.extend([INT, INT, object, object]);
        let counters = if wide { 300 } else { locals.len() as u16 };
        locals.resize(usize::from(counters), Type::Simple(0));
        locals.extend(vec![INT; usize::from(COUNTERS)]);
        let body = Body::new(10, counters + COUNTERS + 1);
        let next_counter = counters;
        Self {
            class,
            name,
            major,
            first,
            locals,
            counters,
            next_counter,
            body,
            subroutines: Vec::new(),
            line: 0,
        }
    }

    fn typed(&self) -> bool {
        self.major >= 50
    }

    /// Places `label` with a frame if the version wants one.
    fn join(&mut self, label: Label, stack: &[Type]) {
        self.body.place(label);
        self.frame(label, stack);
    }

    fn frame(&mut self, label: Label, stack: &[Type]) {
        if self.typed() {
            let locals = self.locals.clone();
            self.body.frame(label, &locals, stack);
        }
    }

    fn local(&mut self, opcode: u8, slot: u16) {
        match slot {
            0..=255 => self.body.op(&[opcode, slot as u8]),
            _ => self.body.op(&[op::WIDE, opcode, (slot >> 8) as u8, slot as u8]),
        }
    }

    fn increment(&mut self, slot: u16, by: i8) {
        match slot {
            0..=255 => self.body.op(&[0x84, slot as u8, by as u8]),
            _ => {
                let [a, b] = i16::from(by).to_be_bytes();
                self.body.op(&[op::WIDE, 0x84, (slot >> 8) as u8, slot as u8, a, b]);
            }
        }
    }

    fn load(&mut self) {
        self.local(0x15, self.first + 1);
    }

    fn store(&mut self) {
        self.local(0x36, self.first + 1);
    }

    fn scratch(&self) -> u16 {
        self.first + 3
    }

    fn call(&mut self, opcode: u8, class: &str, name: &str, descriptor: &str) {
        let index = self.class.method_ref(class, name, descriptor);
        self.body.op2(opcode, index);
    }

    fn new_object(&mut self, class: &str) -> Label {
        let label = self.body.here();
        let index = self.class.class(class);
        self.body.op2(op::NEW, index);
        label
    }

    /// The locals behind the parameters.
    fn prologue(&mut self) {
        let start = self.body.here();
        self.body.lines.push((start, 1));
        self.local(0x15, self.first);
        self.store();
        for slot in [self.first + 2, self.scratch()] {
            self.new_object("java/lang/Object");
            self.body.op(&[op::DUP]);
            self.call(op::INVOKESPECIAL, "java/lang/Object", "<init>", "()V");
            self.local(0x3a, slot);
        }
        for counter in 0..COUNTERS {
            self.body.op(&[0x03]);
            self.local(0x36, self.counters + counter);
        }
    }

    fn epilogue(&mut self, start: Label) {
        self.leave();
        while let Some((label, body)) = self.subroutines.pop() {
            // The return address goes to a local that no frame mentions.
            let address = self.counters + COUNTERS;
            self.body.place(label);
            self.local(0x3a, address);
            self.block(&body);
            self.local(op::RET, address);
        }
        let end = self.body.here();
        let (name, descriptor) = (self.class.utf8("acc"), self.class.utf8("I"));
        self.body.variables.push((start, end, name, descriptor, self.first + 1));
        self.body.annotations.push(Target::Local(start, end, self.first + 1));
    }

    fn run(mut self, statements: &[Statement]) -> Body {
        let start = self.body.here();
        self.prologue();
        self.new_object(self.name);
        self.body.op(&[op::DUP]);
        self.load();
        self.call(op::INVOKESPECIAL, self.name, "<init>", "(I)V");
        self.body.op(&[0x57]);
        self.block(statements);
        self.epilogue(start);
        self.body
    }

    fn constructor(mut self, constructor: Constructor, statements: &[Statement]) -> Body {
        let start = self.body.here();
        let this = self.locals[0];
        let pending = [UNINITIALIZED_THIS, INT];
        let object = Type::Object(self.class.class("java/lang/Object"));
        let mut handler = None;
        match constructor {
            Constructor::Straight => {
                self.body.op(&[0x2a]);
                self.call(op::INVOKESPECIAL, "java/lang/Object", "<init>", "()V");
            }
            Constructor::TwoSites => {
                let (other, join) = (self.body.label(), self.body.label());
                self.body.op(&[0x1b]);
                self.body.branch(0x99, other);
                self.body.op(&[0x2a]);
                self.call(op::INVOKESPECIAL, self.name, "<init>", "()V");
                self.body.branch(op::GOTO, join);
                self.body.place(other);
                self.body.op(&[0x2a]);
                self.call(op::INVOKESPECIAL, "java/lang/Object", "<init>", "()V");
                self.body.place(join);
                if self.typed() {
                    self.body.frame(other, &pending, &[]);
                    self.body.frame(join, &[this, INT], &[]);
                }
            }
            Constructor::ConditionalArgument => {
                let (other, join) = (self.body.label(), self.body.label());
                self.body.op(&[0x2a]);
                self.body.op(&[0x1b]);
                self.body.branch(0x99, other);
                self.new_object("java/lang/Object");
                self.body.op(&[op::DUP]);
                self.call(op::INVOKESPECIAL, "java/lang/Object", "<init>", "()V");
                self.body.branch(op::GOTO, join);
                self.body.place(other);
                self.body.op(&[0x01]);
                self.body.place(join);
                if self.typed() {
                    self.body.frame(other, &pending, &[UNINITIALIZED_THIS]);
                    self.body.frame(join, &pending, &[UNINITIALIZED_THIS, object]);
                }
                self.call(op::INVOKESPECIAL, self.name, "<init>", "(Ljava/lang/Object;)V");
            }
            Constructor::CaughtBefore => {
                let (from, to, caught) = (self.body.here(), self.body.label(), self.body.label());
                for opcode in [0x04, 0x1b, 0x6c, 0x57] {
                    self.body.op(&[opcode]);
                }
                self.body.place(to);
                self.body.op(&[0x2a]);
                self.call(op::INVOKESPECIAL, "java/lang/Object", "<init>", "()V");
                let catch_type = self.class.class("java/lang/ArithmeticException");
                self.body.rows.push((from, to, caught, catch_type));
                if self.typed() {
                    self.body.frame(to, &pending, &[]);
                    self.body.frame(caught, &pending, &[Type::Object(catch_type)]);
                }
                handler = Some((caught, to));
            }
        }
        self.prologue();
        self.block(statements);
        self.epilogue(start);
        if let Some((caught, to)) = handler {
            self.body.place(caught);
            self.body.op(&[0x57]);
            self.body.branch(op::GOTO, to);
        }
        self.body
    }

    /// Return from the method.
    fn leave(&mut self) {
        if self.first == 0 {
            self.load();
            self.body.op(&[0xac]);
        } else {
            self.body.op(&[0xb1]);
        }
    }

    fn block(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.line += 1;
            let here = self.body.here();
            self.body.lines.push((here, self.line + 10));
            self.statement(statement);
        }
    }

    /// Pushes one bit of the accumulator.
    fn bit(&mut self, mask: u8) {
        self.load();
        self.body.op(&[0x10, mask]);
        self.body.op(&[0x7e]);
    }

    fn throw(&mut self) {
        let new = self.new_object("java/lang/RuntimeException");
        self.body.annotations.push(Target::Offset(0x44, new));
        self.body.op(&[op::DUP]);
        self.call(op::INVOKESPECIAL, "java/lang/RuntimeException", "<init>", "()V");
        self.body.op(&[op::ATHROW]);
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Add(value) => self.increment(self.first + 1, *value),
            Mix => {
                self.load();
                self.body.op(&[0x10, 31]);
                self.body.op(&[0x68]);
                self.local(0x15, self.first);
                self.body.op(&[0x82]);
                self.store();
            }
            Pad(bytes) => (0..*bytes).for_each(|_| self.body.op(&[0])),
            If(condition, then, otherwise) => self.branches(*condition, then, otherwise),
            Loop(count, body) => self.repeat(*count, body),
            TableSwitch(cases) => self.switch(op::TABLESWITCH, cases),
            LookupSwitch(cases) => self.switch(op::LOOKUPSWITCH, cases),
            TryCatch(body, caught) => self.try_catch(body, caught),
            SelfCovering(body) => self.self_covering(body),
            FallIntoHandler(body) => self.fall_into_handler(body),
            HandlerFirst(body) => self.handler_first(body),
            Synchronized(body) => self.synchronized(body),
            NewArray => {
                self.bit(7);
                self.body.op(&[op::NEWARRAY, 10]);
                self.body.op(&[0xbe]);
                self.add();
            }
            MultiArray => self.multi_array(),
            NewConditional => self.new_conditional(),
            NewThrownAway(nested) => self.new_thrown_away(*nested),
            MaybeReturn => {
                let join = self.body.label();
                self.bit(7);
                self.body.branch(0x9a, join);
                self.leave();
                self.join(join, &[]);
            }
            MaybeThrow => {
                let join = self.body.label();
                self.bit(5);
                self.body.branch(0x9a, join);
                self.throw();
                self.join(join, &[]);
            }
            Subroutine(body) if !self.typed() && self.subroutines.is_empty() => self.subroutine(body),
            Subroutine(body) => self.block(body),
            Far(bytes) => {
                let join = self.body.label();
                self.bit(1);
                self.body.branch(0x99, join);
                self.padding(*bytes);
                self.join(join, &[]);
            }
            FarBack(bytes) => self.far_back(*bytes),
        }
    }

    fn branches(&mut self, condition: u8, then: &[Statement], otherwise: &[Statement]) {
        let (other, join) = (self.body.label(), self.body.label());
        self.bit(1 << (condition % 3));
        self.body.branch(0x99 + condition % 6, other);
        self.block(then);
        self.body.branch(op::GOTO, join);
        self.join(other, &[]);
        self.block(otherwise);
        self.join(join, &[]);
    }

    fn try_catch(&mut self, body: &[Statement], caught: &[Statement]) {
        let catch_type = self.class.class("java/lang/RuntimeException");
        let (handler, join) = (self.body.label(), self.body.label());
        let (start, end) = self.range(body);
        self.body.annotations.push(Target::Catch(self.body.rows.len() as u16));
        self.body.rows.push((start, end, handler, catch_type));
        self.body.branch(op::GOTO, join);
        self.join(handler, &[Type::Object(catch_type)]);
        self.local(0x3a, self.scratch());
        self.block(caught);
        self.join(join, &[]);
    }

    fn self_covering(&mut self, body: &[Statement]) {
        let throwable = Type::Object(self.class.class("java/lang/Throwable"));
        let (handler, join) = (self.body.label(), self.body.label());
        let (start, _) = self.range(body);
        self.body.branch(op::GOTO, join);
        self.join(handler, &[throwable]);
        self.local(0x3a, self.scratch());
        let covered = self.body.here();
        self.body.rows.push((start, covered, handler, 0));
        self.increment(self.first + 1, 3);
        self.join(join, &[]);
    }

    fn fall_into_handler(&mut self, body: &[Statement]) {
        let throwable = Type::Object(self.class.class("java/lang/Throwable"));
        let handler = self.body.label();
        let (start, end) = self.range(body);
        self.body.rows.push((start, end, handler, 0));
        self.body.op(&[0x01]);
        self.join(handler, &[throwable]);
        self.body.op(&[0x57]);
    }

    fn handler_first(&mut self, body: &[Statement]) {
        let catch_type = self.class.class("java/lang/RuntimeException");
        let (over, join) = (self.body.label(), self.body.label());
        self.body.branch(op::GOTO, over);
        let handler = self.body.label();
        self.join(handler, &[Type::Object(catch_type)]);
        self.body.op(&[0x57]);
        self.body.branch(op::GOTO, join);
        self.join(over, &[]);
        let (start, end) = self.range(body);
        self.body.rows.push((start, end, handler, catch_type));
        self.join(join, &[]);
    }

    fn synchronized(&mut self, body: &[Statement]) {
        let throwable = Type::Object(self.class.class("java/lang/Throwable"));
        let (handler, join) = (self.body.label(), self.body.label());
        let lock = self.first + 2;
        self.local(0x19, lock);
        self.body.op(&[0xc2]);
        // Returns inside would leave the monitor locked.
        let calm: Vec<Statement> = body
            .iter()
            .filter(|s| matches!(s, Add(_) | Mix | Pad(_) | NewArray | MaybeThrow))
            .cloned()
            .collect();
        let (start, end) = self.range(&calm);
        self.local(0x19, lock);
        self.body.op(&[0xc3]);
        self.body.branch(op::GOTO, join);
        self.join(handler, &[throwable]);
        self.local(0x3a, self.scratch());
        self.local(0x19, lock);
        self.body.op(&[0xc3]);
        let covered = self.body.here();
        self.body.rows.push((start, end, handler, 0));
        self.body.rows.push((handler, covered, handler, 0));
        self.join(join, &[]);
    }

    fn multi_array(&mut self) {
        let index = self.class.class("[[J");
        self.body.op(&[0x05]);
        self.body.op(&[0x06]);
        let [a, b] = index.to_be_bytes();
        self.body.op(&[op::MULTIANEWARRAY, a, b, 2]);
        self.body.op(&[0xbe]);
        self.add();
    }

    fn new_conditional(&mut self) {
        let (other, join) = (self.body.label(), self.body.label());
        let new = self.new_object("java/lang/StringBuilder");
        let object = Type::Uninitialized(new);
        self.body.op(&[op::DUP]);
        self.bit(1);
        self.body.branch(0x99, other);
        self.body.op(&[0x10, 12]);
        self.body.branch(op::GOTO, join);
        self.join(other, &[object, object]);
        self.body.op(&[0x10, 34]);
        self.join(join, &[object, object, INT]);
        self.call(op::INVOKESPECIAL, "java/lang/StringBuilder", "<init>", "(I)V");
        self.call(0xb6, "java/lang/StringBuilder", "capacity", "()I");
        self.add();
    }

    fn new_thrown_away(&mut self, nested: bool) {
        self.new_object("java/lang/StringBuilder");
        self.body.op(&[0x10, 9]);
        if nested {
            self.new_object("java/lang/StringBuilder");
            self.body.op(&[0x10, 8]);
            self.call(op::INVOKESPECIAL, "java/lang/StringBuilder", "<init>", "(I)V");
        }
        self.call(op::INVOKESPECIAL, "java/lang/StringBuilder", "<init>", "(I)V");
    }

    fn subroutine(&mut self, body: &[Statement]) {
        let label = self.body.label();
        self.body.branch(op::JSR, label);
        self.increment(self.first + 1, 1);
        self.body.branch(op::JSR, label);
        // Subroutines must not call each other, nor return from the method with frames unbalanced.
        let calm = body.iter().filter(|s| matches!(s, Add(_) | Mix | Pad(_) | NewArray)).cloned();
        self.subroutines.push((label, calm.collect()));
    }

    fn far_back(&mut self, bytes: u16) {
        let counter = self.counter();
        let head = self.body.label();
        self.join(head, &[]);
        self.padding(bytes);
        self.increment(counter, 1);
        self.local(0x15, counter);
        self.body.op(&[0x05]);
        self.body.branch(0xa1, head);
    }

    /// Bytes that do nothing, a return in between every 10,000: trampolines need code that ends.
    fn padding(&mut self, bytes: u16) {
        let mut left = usize::from(bytes);
        let mut until_return = 5_000;
        while left > 0 {
            if until_return == 0 && left > 100 {
                let before = self.body.size();
                self.statement(&MaybeReturn);
                left -= self.body.size() - before;
                until_return = 10_000;
            }
            self.body.op(&[0]);
            left -= 1;
            until_return = until_return.max(1) - 1;
        }
    }

    fn add(&mut self) {
        self.load();
        self.body.op(&[0x60]);
        self.store();
    }

    fn counter(&mut self) -> u16 {
        let counter = self.next_counter;
        // More loops than counters share the last, which only ends them earlier.
        self.next_counter = (counter + 1).min(self.counters + COUNTERS - 1);
        counter
    }

    fn repeat(&mut self, count: u8, body: &[Statement]) {
        let counter = self.counter();
        let (head, exit) = (self.body.label(), self.body.label());
        self.join(head, &[]);
        self.local(0x15, counter);
        self.body.op(&[0x10, count]);
        self.body.branch(0xa2, exit);
        self.increment(counter, 1);
        self.block(body);
        self.body.branch(op::GOTO, head);
        self.join(exit, &[]);
    }

    fn switch(&mut self, opcode: u8, cases: &[Vec<Statement>]) {
        let join = self.body.label();
        let labels: Vec<Label> = cases.iter().map(|_| self.body.label()).collect();
        self.bit(3);
        let keys = match opcode {
            op::TABLESWITCH => vec![0, cases.len() as i32 - 1],
            _ => (0..cases.len() as i32).collect(),
        };
        self.body.items.push(Item::Switch(opcode, keys, join, labels.clone()));
        for (label, case) in labels.into_iter().zip(cases) {
            self.join(label, &[]);
            self.block(case);
            self.body.branch(op::GOTO, join);
        }
        self.join(join, &[]);
    }

    /// A body that is never empty, and its range.
    fn range(&mut self, body: &[Statement]) -> (Label, Label) {
        let start = self.body.here();
        self.body.op(&[0]);
        self.block(body);
        self.body.op(&[0]);
        (start, self.body.here())
    }
}
