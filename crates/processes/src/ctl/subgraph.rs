//! What is rewritten of a program of which only what the roots can call is recorded, in sentences.

use instrument_control::answer::Subgraph;
use instrument_messages::Listener;

/// What is rewritten of the program.
pub fn say(subgraph: &Subgraph, listener: &dyn Listener) {
    let Subgraph { classes, rewritten_classes, methods, callbacks, hull_classes, hull_methods } = subgraph;
    listener.note(format_args!(
        "methods rewritten: {methods}, of {rewritten_classes} classes ({classes} are loaded); {callbacks} of them are callbacks"
    ));
    if methods < hull_methods {
        listener.note(format_args!(
            "the roots can call up to {hull_methods} methods of {hull_classes} classes: more are rewritten as those before them are called"
        ));
    }
}
