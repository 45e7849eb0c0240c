//! What is rewritten of a program of which only what the roots can call is recorded, in sentences.

use instrument_control::answer::Subgraph;
use instrument_messages::Listener;
use instrument_names::printable::printable;

/// The most methods that are named.
const NAMED: usize = 5;

/// What is rewritten of the program, and what is not known.
pub fn say(subgraph: &Subgraph, listener: &dyn Listener) {
    let Subgraph { classes, rewritten_classes, methods, callbacks, hull_classes, hull_methods, reflective } =
        subgraph;
    listener.note(format_args!(
        "methods rewritten: {methods}, of {rewritten_classes} classes ({classes} are loaded); {callbacks} of them are callbacks"
    ));
    if methods < hull_methods {
        listener.note(format_args!(
            "the roots can call up to {hull_methods} methods of {hull_classes} classes: more are rewritten as those before them are called"
        ));
    }
    if !reflective.is_empty() {
        let named = reflective.iter().take(NAMED).map(|name| printable(name)).collect::<Vec<_>>().join(", ");
        let more = if reflective.len() > NAMED {
            format!(" and {} more", reflective.len() - NAMED)
        } else {
            String::new()
        };
        listener.warn(format_args!(
            "not followed: calls by reflection in {named}{more}; what only they call is not recorded (without --subgraph it is)"
        ));
    }
}
