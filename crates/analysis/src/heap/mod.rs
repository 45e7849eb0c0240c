//! The heap: which objects were made where, how long they lived, and which of them should have died.
//!
//! | module | |
//! |---|---|
//! | [`biographies`] | the biographies of a profile, added up by thread, context and class |
//! | [`histogram`] | how long objects lived |
//! | [`coverage`] | what the recording holds, and what it does not |
//! | [`table`] | figures by class, by site (a class made in a method), or by context |
//! | [`leaks`] | what grows and grows |
//! | [`query`] | which objects of which profiles a report is about |
//!
//! Figures come from biographies where there are any, else from counts, which know neither deaths nor, unless a tree
//! was recorded, bytes. Only collections find objects to be gone: an object that is there to the end may be garbage
//! that no collection looked at. So *live* is an upper bound, and what was made after the last collection is told
//! apart.

pub mod coverage;
pub mod histogram;
mod leak_groups;
pub mod leaks;
pub mod object_lifetimes;
pub mod query;
pub mod table;

use instrument_trace::Profile;

use crate::load::MethodNames;
use instrument_names::signature::java_class;
use object_lifetimes::ObjectLifetimes;

/// A profile, with what only the caller knows.
pub struct Process<'a> {
    pub profile: &'a Profile,
    /// Its biographies, if there are any.
    pub biographies: Option<&'a ObjectLifetimes>,
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

    /// The methods that are responsible for an object made in a context, innermost first: objects are followed from
    /// `Object.<init>` on, which their own constructors call.
    fn makers(&self, class: &str, copy: u32, context: u32) -> Vec<String> {
        let mut chain = self.chain(copy, context);
        let own = own_constructors(class, &chain);
        chain.drain(..own);
        chain
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

/// How many of the innermost methods construct the object itself: constructors of its superclasses, and its own, which
/// may call one another. A constructor that is there again makes another object.
fn own_constructors(class: &str, chain: &[String]) -> usize {
    let own = format!("{class}.<init>(");
    let constructors = chain.iter().take_while(|name| name.contains(".<init>(")).count();
    let Some(first) = chain[..constructors].iter().position(|name| name.starts_with(&own)) else { return 0 };
    let mut count = first;
    while count < constructors
        && chain[count].starts_with(&own)
        && !chain[first..count].contains(&chain[count])
    {
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_constructs_an_object_did_not_ask_for_it() {
        for (chain, count) in [
            ("", 0),
            ("p.A.make()V", 0),
            ("p.C.<init>()V p.A.make()V", 1),
            ("p.Base.<init>()V p.C.<init>()V p.A.make()V", 2),
            // this(..) within, and another object that makes this one.
            ("p.C.<init>(I)V p.C.<init>()V p.A.make()V", 2),
            ("p.C.<init>()V p.C.<init>()V p.A.make()V", 1),
            ("p.C.<init>()V p.D.<init>()V p.A.make()V", 1),
            // Made by reflection in the constructor of another, and one whose constructor is not known.
            ("p.D.<init>()V p.A.make()V p.C.<init>()V", 0),
            ("p.D.<init>()V p.A.make()V", 0),
            ("p.C2.<init>()V p.A.make()V", 0),
            // Nothing is known of what called it.
            ("p.C.<init>()V", 1),
            ("p.C.<init>(I)V p.C.<init>()V", 2),
        ] {
            let chain: Vec<_> = chain.split_whitespace().map(str::to_owned).collect();
            assert_eq!(own_constructors("p.C", &chain), count, "{chain:?}");
        }
    }
}
