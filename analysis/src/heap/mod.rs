//! The heap: which objects were made where, how long they lived, and which of them should have died.
//!
//! | module | |
//! |---|---|
//! | [`biographies`] | the biographies of a profile, added up by thread, context and class |
//! | [`histogram`] | how long objects lived |
//! | [`table`] | figures by class, by site (a class made in a method), or by context |
//! | [`leaks`] | what grows and grows |
//!
//! Figures come from biographies where there are any, else from counts, which know neither deaths nor, unless a tree was recorded,
//! bytes. Only collections find objects to be gone: an object that is there to the end may be garbage that no collection looked
//! at. So *live* is an upper bound, and what was made after the last collection is told apart.

pub mod biographies;
pub mod histogram;
pub mod leaks;
pub mod table;

use instrument_trace::Profile;

use crate::load::MethodNames;
use crate::signature::java_class;
use biographies::Biographies;

/// A profile, with what only the caller knows.
pub struct Process<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Its biographies, if there are any.
    pub biographies: Option<&'a Biographies>,
    /// Names of methods.
    pub methods: MethodNames<'a>,
    /// Names of classes by copy of the runtime and number, as `Class.getName()` gives them.
    pub classes: &'a dyn Fn(u32, u32) -> String,
    /// Which threads count, by copy of the runtime and ordinal; 0 is those that ended, or are unknown.
    pub threads: &'a dyn Fn(u32, u32) -> bool,
}

impl Process<'_> {
    /// The name of a class as Java writes it.
    fn class(&self, copy: u32, number: u32) -> String {
        java_class(&(self.classes)(copy, number)).into_owned()
    }

    /// The methods of a context, innermost first.
    fn chain(&self, copy: u32, context: u32) -> Vec<String> {
        let Some(contexts) = self.profile.copies.get(&copy).map(|copy| &copy.contexts) else {
            return Vec::new();
        };
        let name = |consumer: instrument_trace::TreeConsumer| {
            consumer.method().map_or_else(|| "(deeper)".to_owned(), |id| (self.methods)(copy, id))
        };
        contexts.chain(context).map(name).collect()
    }
}
