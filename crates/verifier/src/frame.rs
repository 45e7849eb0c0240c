//! Type states (JVMS 4.10.1.4): the current one, which instructions change, and those of a StackMapTable.

use crate::fault::{Check, Problem, Rule};
use crate::hierarchy::Universe;
use crate::types::{Names, Type};

/// The types of local variables and operand stack at one place.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// As many as `max_locals`.
    pub locals: Vec<Type>,
    /// From bottom to top.
    pub stack: Vec<Type>,
    /// A local variable is `this`, not initialised.
    pub this_uninitialized: bool,
    /// Changes with the locals or the flag.
    pub version: u64,
    max_stack: usize,
}

impl Frame {
    /// Empty, with this size.
    pub fn reset(&mut self, max_locals: u16, max_stack: u16) {
        self.locals.clear();
        self.locals.resize(usize::from(max_locals), Type::TOP);
        self.stack.clear();
        self.max_stack = usize::from(max_stack);
        self.this_uninitialized = false;
        self.version += 1;
    }

    /// How deep the stack may be.
    pub fn max_stack(&self) -> usize {
        self.max_stack
    }

    /// Whether the stack has room for one more.
    pub fn has_room(&self) -> bool {
        self.stack.len() < self.max_stack
    }

    /// Puts a type of one slot onto the stack.
    #[inline]
    pub fn push(&mut self, of: Type) -> Check {
        if self.stack.len() >= self.max_stack {
            return Err(self.overflow());
        }
        self.stack.push(of);
        Ok(())
    }

    /// Puts a type onto the stack, with its upper half if it has one.
    #[inline]
    pub fn push_whole(&mut self, of: Type) -> Check {
        if of.is_category_2() {
            if self.stack.len() + 2 > self.max_stack {
                return Err(self.overflow());
            }
            self.stack.push(of);
            self.stack.push(of.upper());
            return Ok(());
        }
        self.push(of)
    }

    #[cold]
    fn overflow(&self) -> Box<Problem> {
        Problem::new(Rule::StackOverflow, format!("max_stack is {}", self.max_stack))
    }

    /// Takes whatever is on top.
    #[inline]
    pub fn pop_any(&mut self) -> Check<Type> {
        match self.stack.pop() {
            Some(of) => Ok(of),
            None => Err(Problem::new(Rule::StackUnderflow, "")),
        }
    }

    /// Takes a type of one slot.
    #[inline]
    pub fn pop(&mut self, expected: Type, universe: &mut Universe<'_>) -> Check<Type> {
        let Some(&top) = self.stack.last() else { return Err(Problem::new(Rule::StackUnderflow, "")) };
        if top == expected || universe.is_assignable(expected, top, false) {
            self.stack.pop();
            return Ok(top);
        }
        Err(self.wrong_top(&universe.names.words(expected), &universe.names))
    }

    /// Takes a type, with its upper half if it has one.
    #[inline]
    pub fn pop_whole(&mut self, expected: Type, universe: &mut Universe<'_>) -> Check<Type> {
        if expected.is_category_2() {
            self.pop(expected.upper(), universe)?;
        }
        self.pop(expected, universe)
    }

    /// Takes a type that `fits`.
    #[inline]
    pub fn pop_if(&mut self, fits: impl Fn(Type) -> bool, expected: &str, names: &Names) -> Check<Type> {
        match self.stack.last() {
            Some(&top) if fits(top) => {
                self.stack.pop();
                Ok(top)
            }
            Some(_) => Err(self.wrong_top(expected, names)),
            None => Err(Problem::new(Rule::StackUnderflow, "")),
        }
    }

    #[cold]
    fn wrong_top(&self, expected: &str, names: &Names) -> Box<Problem> {
        let top = self.stack.last().map_or(String::new(), |&top| names.words(top));
        Problem::new(Rule::StackType, "").instead(
            format!("{expected} on top of the stack"),
            format!("{top}; {}", self.view().words(names)),
        )
    }

    /// The type of a local variable that `fits`.
    #[inline]
    pub fn local(
        &self,
        index: usize,
        fits: impl Fn(Type) -> bool,
        expected: &str,
        names: &Names,
    ) -> Check<Type> {
        match self.locals.get(index) {
            Some(&of) if fits(of) => Ok(of),
            Some(&of) => Err(Problem::new(Rule::LocalType, format!("local variable {index}"))
                .instead(expected, format!("{}; {}", names.words(of), self.view().words(names)))),
            None => Err(self.no_local(index)),
        }
    }

    #[cold]
    fn no_local(&self, index: usize) -> Box<Problem> {
        Problem::new(Rule::LocalIndex, format!("local variable {index}, max_locals is {}", self.locals.len()))
    }

    /// Sets a local variable; a half of a type of two slots that it overwrites makes the other half unusable.
    #[inline]
    pub fn set_local(&mut self, index: usize, of: Type) -> Check {
        let last = index + usize::from(of.is_category_2());
        if last >= self.locals.len() {
            return Err(self.no_local(last));
        }
        if self.locals[index].is_category_2_upper() {
            self.locals[index - 1] = Type::TOP;
        }
        if self.locals[last].is_category_2() {
            self.locals[last + 1] = Type::TOP;
        }
        self.locals[index] = of;
        if last > index {
            self.locals[last] = of.upper();
        }
        self.version += 1;
        Ok(())
    }

    /// After the call of its constructor, an object is of this type wherever it is.
    pub fn initialize(&mut self, object: Type, of: Type) {
        for place in self.locals.iter_mut().chain(&mut self.stack) {
            if *place == object {
                *place = of;
            }
        }
        if object == Type::UNINITIALIZED_THIS {
            self.this_uninitialized = false;
        }
        self.version += 1;
    }

    /// Becomes what a stack map frame says.
    pub fn become_view(&mut self, view: View<'_>) {
        let (set, unset) = self.locals.split_at_mut(view.locals.len());
        set.copy_from_slice(view.locals);
        unset.fill(Type::TOP);
        self.stack.clear();
        self.stack.extend_from_slice(view.stack);
        self.this_uninitialized = view.this_uninitialized;
        self.version += 1;
    }

    /// As a view.
    pub fn view(&self) -> View<'_> {
        View { locals: &self.locals, stack: &self.stack, this_uninitialized: self.this_uninitialized }
    }
}

/// A type state that lies elsewhere. Locals behind the last are `TOP`.
#[derive(Debug, Clone, Copy)]
pub struct View<'f> {
    /// Local variables.
    pub locals: &'f [Type],
    /// The operand stack, from bottom to top.
    pub stack: &'f [Type],
    /// A local variable is `this`, not initialised.
    pub this_uninitialized: bool,
}

impl View<'_> {
    /// In words.
    pub fn words(&self, names: &Names) -> String {
        let used = self.locals.iter().rposition(|&of| of != Type::TOP).map_or(0, |last| last + 1);
        let part = |types: &[Type]| if types.is_empty() { "none".into() } else { names.list(types) };
        format!("locals: {}; stack: {}", part(&self.locals[..used]), part(self.stack))
    }
}
