//! The tools: what clients are told of them, and which question each asks.

use anyhow::Result;
use serde_json::{Value, json};

use crate::answer::Room;
use crate::arguments::{Argument, Given, Shape, schema};
use crate::files::Files;
use crate::processes::{difference, remote_calls};
use crate::question::{
    DEPTH, Question, callers_callees, hot_methods, leak_suspects, monitors, objects, summary, tree,
};

const FILES: Argument = Argument::new(
    "files",
    Shape::Texts,
    "Which files, by path, name or number from 1 on; without it all of them, added up.",
);
const ROWS: Argument =
    Argument::new("rows", Shape::Number(1, 100), "At most so many rows, the largest first; 20 if not given.");
const THREAD: Argument = Argument::new(
    "thread",
    Shape::Text,
    "Only threads, or pools of threads, of this name; * and ? are wildcards.",
);
const OWN: Argument = Argument::new(
    "own",
    Shape::Text,
    "Only the program's own code: auto, or a pattern such as com.acme.**; what it called in libraries is part of it.",
);
const RESOURCE: Argument = Argument::new(
    "resource",
    Shape::Text,
    "Which figure: running, waiting, wall, cpu, allocations, bytes, live, live-bytes, contended, .., as far as recorded.",
);
const METHOD: Argument = Argument::new(
    "method",
    Shape::Text,
    "Only methods that fit: a name as an answer shows it, com.acme.**, Shop#price, Shop.price(int).",
);
const SORT: Argument =
    Argument::new("sort", Shape::Word(&["base", "cum", "calls", "name"]), "The order; base if not given.");
const CLASS: Argument = Argument::new(
    "class",
    Shape::Text,
    "Only objects of classes that fit: com.acme.Foo, byte[], com.acme.**.",
);

/// A tool.
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: &'static str,
    title: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    ask: fn(&Question<'_>) -> Result<Value>,
}

pub(crate) static ALL: [Tool; 9] = [
    Tool {
        name: "summary",
        title: "Summary of the profiles",
        about: "Which program ran, when and how long, whether times are corrected, whether counts balance, and the methods that took most. \
                Ask this first.",
        arguments: &[FILES, ROWS],
        ask: summary,
    },
    Tool {
        name: "hot_methods",
        title: "Methods that consume most",
        about: "Methods with their calls, what each consumed itself (base) and with all that it called (cum).",
        arguments: &[FILES, OWN, THREAD, METHOD, RESOURCE, SORT, ROWS],
        ask: hot_methods,
    },
    Tool {
        name: "callers_callees",
        title: "Callers and callees of a method",
        about: "A method with those who called it (parents) and those it called (children): calls, base and cum of each.",
        arguments: &[METHOD.required(), FILES, OWN, THREAD, RESOURCE, ROWS],
        ask: callers_callees,
    },
    Tool {
        name: "tree",
        title: "Calling context tree",
        about: "Contexts as a tree: who called whom, and what that consumed. With `method`, from these methods down, all their calls merged, \
                and their callers in a tree of their own.",
        arguments: &[
            METHOD,
            Argument::new(
                "within",
                Shape::Texts,
                "With method: only its calls made within these methods, the outermost first, at any depth: a context and what is below it.",
            ),
            FILES,
            OWN,
            THREAD,
            RESOURCE,
            Argument::new("depth", Shape::Number(1, DEPTH), "At most so many levels; 30 if not given."),
            ROWS,
        ],
        ask: tree,
    },
    Tool {
        name: "difference",
        title: "Difference of two profiles",
        about: "What changed between runs before and after, by method and by context: calls, base, cum. A change that lies within the errors \
                of times is marked; several runs of each side tell more.",
        arguments: &[
            Argument::new(
                "before",
                Shape::Texts,
                "Files of the side before; not needed if the server has two files.",
            ),
            Argument::new("after", Shape::Texts, "Files of the side after."),
            METHOD,
            RESOURCE,
            SORT,
            ROWS,
        ],
        ask: difference,
    },
    Tool {
        name: "objects",
        title: "Objects that were allocated",
        about: "Objects and bytes that were allocated, by class, by class and method, or with its callers; what is live at the end.",
        arguments: &[
            Argument::new(
                "by",
                Shape::Word(&["class", "site", "context"]),
                "What a row is; class if not given.",
            ),
            Argument::new("live", Shape::Flag, "Only what is live at the end, most bytes first."),
            CLASS,
            METHOD,
            THREAD,
            FILES,
            ROWS,
        ],
        ask: objects,
    },
    Tool {
        name: "leak_suspects",
        title: "Leak suspects",
        about: "What grows from collection to collection, the reason why it is suspected, and what holds it. `verdict` is `undetermined` if \
                the profile cannot tell.",
        arguments: &[CLASS, METHOD, FILES, ROWS],
        ask: leak_suspects,
    },
    Tool {
        name: "monitors",
        title: "Monitors and waits",
        about: "What threads waited for: which monitor or lock, who held it, who waited for whom, and where in the program.",
        arguments: &[FILES, OWN, THREAD, ROWS],
        ask: monitors,
    },
    Tool {
        name: "remote_calls",
        title: "Remote calls",
        about: "Remote calls between the processes of the files: by client, server and method, or the slowest single ones with all calls \
                within them, at both ends.",
        arguments: &[
            Argument::new(
                "by",
                Shape::Word(&["service", "call"]),
                "Added up, or single ones; service if not given.",
            ),
            FILES,
            ROWS,
        ],
        ask: remote_calls,
    },
];

impl Tool {
    /// What a client is told.
    pub(crate) fn description(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": schema(self.arguments),
            "annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
        })
    }

    /// The answer to a call.
    ///
    /// # Errors
    /// What is wrong with the question, or why the files do not answer it.
    pub(crate) fn call(&self, arguments: &Value, files: &Files, room: &Room) -> Result<Value> {
        let given = Given::new(arguments, self.arguments)?;
        (self.ask)(&Question { given, files, room })
    }
}
