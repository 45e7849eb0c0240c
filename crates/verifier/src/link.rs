//! What a JVM checks of the superclass and the superinterfaces when it defines a class (JVMS 5.3.5, 5.4.5).

use crate::fault::{Check, Problem, Rule};
use crate::hierarchy::{Summary, Universe, flags};
use crate::types::{NameId, java_name};
use std::sync::Arc;

/// Checks the supers of the universe's current class. Of those that are not known, the best is assumed.
pub fn check(class: &Arc<Summary>, this: NameId, universe: &mut Universe<'_>) -> Check {
    circle(this, universe)?;
    if let Some(name) = &class.super_class {
        let id = universe.names.id(name);
        match universe.class(id).map(|(above, _)| above.clone()) {
            None => universe.assume(id),
            Some(above) => super_class(class, &above)?,
        }
    }
    for name in &class.interfaces {
        let id = universe.names.id(name);
        match universe.class(id).map(|(above, _)| above.clone()) {
            None => universe.assume(id),
            Some(above) if !above.is_interface() => {
                return Err(Problem::new(Rule::InterfaceIsClass, java_name(name)));
            }
            Some(above) => is_permitted(class, &above)?,
        }
    }
    final_methods(class, this, universe)
}

fn super_class(class: &Summary, above: &Summary) -> Check {
    if above.is_interface() {
        return Err(Problem::new(Rule::SuperIsInterface, java_name(&above.name)));
    }
    if above.flags & flags::FINAL != 0 {
        return Err(Problem::new(Rule::SuperIsFinal, java_name(&above.name)));
    }
    is_permitted(class, above)
}

/// A sealed class lists who may extend it (JVMS 4.7.31); a class that is not public is seen in its package only.
fn is_permitted(class: &Summary, above: &Summary) -> Check {
    if above.permitted.as_ref().is_some_and(|permitted| !permitted.contains(&class.name)) {
        return Err(Problem::new(Rule::NotPermitted, java_name(&above.name)));
    }
    if above.flags & flags::PUBLIC == 0 && above.package() != class.package() {
        return Err(Problem::new(Rule::SuperAccess, java_name(&above.name)));
    }
    Ok(())
}

/// No class is above itself.
fn circle(this: NameId, universe: &mut Universe<'_>) -> Check {
    universe.begin_round();
    let mut open = vec![this];
    while let Some(id) = open.pop() {
        let Some(class) = universe.class(id).map(|(class, _)| class.clone()) else { continue };
        for name in class.super_class.iter().chain(&class.interfaces) {
            let above = universe.names.id(name);
            if above == this {
                return Err(Problem::new(Rule::Circularity, java_name(&class.name)));
            }
            if universe.visit(above) {
                open.push(above);
            }
        }
    }
    Ok(())
}

/// JVMS 5.4.5: final methods are not overridden.
fn final_methods(class: &Summary, this: NameId, universe: &mut Universe<'_>) -> Check {
    const FREE: u16 = flags::STATIC | flags::PRIVATE;
    for above in universe.supers(this) {
        let Some((above, _)) = universe.class(above) else {
            universe.assume(above);
            break;
        };
        for &(key, above_flags) in above.methods() {
            if above_flags & flags::FINAL == 0 || above_flags & FREE != 0 {
                continue;
            }
            let is_seen =
                above_flags & (flags::PUBLIC | flags::PROTECTED) != 0 || above.package() == class.package();
            if is_seen && class.method(key).is_some_and(|own| own & FREE == 0) {
                return Err(Problem::new(Rule::FinalMethod, format!("one of {}", java_name(&above.name))));
            }
        }
    }
    Ok(())
}
