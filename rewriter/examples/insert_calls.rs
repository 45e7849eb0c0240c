//! A transform of one's own: every method tells its name when it is entered and before it returns.
//!
//! `cargo run -p instrument-rewriter --example insert_calls -- IN.class OUT.class com/acme/Hooks`: the class
//! `com.acme.Hooks` has `public static void entered(String method)` and `returns(String method)`.

use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, Outcome, Transforms};
use instrument_rewriter::transform::own_calls::{BadCall, Call, Calls, InsertCalls, Method};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

/// The two calls, without their argument.
#[derive(Debug)]
struct Tell {
    entered: Call,
    returns: Call,
}

impl InsertCalls for Tell {
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        let named = |call: &Call| call.clone().with_name(method.name);
        // A name is never longer than a constant can be: it is one.
        if let (Ok(entered), Ok(returns)) = (named(&self.entered), named(&self.returns)) {
            // A constant can be passed everywhere.
            let _ = calls.at_entry(entered);
            let _ = calls.before_returns(&returns);
        }
    }
}

/// The class with the calls, and a line for each method that was left as it is.
fn tell(class: &[u8], hooks: &str) -> Result<(Vec<u8>, Vec<String>), Box<dyn Error>> {
    let call = |name: &str| -> Result<Call, BadCall> { Call::new(hooks, name) };
    let mut rewriter = ClassRewriter::new(Transforms::NONE);
    rewriter.insert_calls(Some(Arc::new(Tell { entered: call("entered")?, returns: call("returns")? })));
    // Classes that the JVM refuses stay refused.
    rewriter.leave_invalid();
    let mut out = Vec::new();
    // No transform of the crate is chosen, so nothing uses the ids.
    let outcome = rewriter.rewrite(class, |_| Choice::Rewrite(1), &mut out)?;
    let mut left = Vec::new();
    for report in rewriter.reports() {
        if let MethodEvent::Skipped(reason) = report.event {
            left.push(format!("method {}: {}", report.index, reason.explanation()));
        }
    }
    match outcome {
        Outcome::Rewritten => {}
        Outcome::Unchanged => out.extend_from_slice(class),
        Outcome::Skipped(reason) => return Err(reason.explanation().into()),
    }
    Ok((out, left))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, hooks] = &arguments[..] else {
        eprintln!("usage: insert_calls IN.class OUT.class com/acme/Hooks");
        return ExitCode::from(2);
    };
    let done = || -> Result<Vec<String>, Box<dyn Error>> {
        let (class, left) = tell(&std::fs::read(input)?, hooks)?;
        std::fs::write(output, class)?;
        Ok(left)
    };
    match done() {
        Ok(left) => {
            left.iter().for_each(|line| eprintln!("{input}: left as it is: {line}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{input}: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const GREETER: &[u8] = include_bytes!("Greeter.class");
    const HOOKS: &str = "package com.acme; public class Hooks {
        public static void entered(String method) { System.out.println(\"> \" + method); }
        public static void returns(String method) { System.out.println(\"< \" + method); }
    }";

    /// The rewritten class passes the JVM's verifier, does what it did, and tells of it; also of a method that throws,
    /// which does not return.
    #[test]
    fn the_program_tells_what_it_does() {
        let (class, left) = tell(GREETER, "com/acme/Hooks").unwrap();
        assert_eq!(left, [""; 0]);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("Greeter.class"), class).unwrap();
        std::fs::write(path("Hooks.java"), HOOKS).unwrap();
        let run = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).current_dir(folder.path()).output();
            let output =
                output.unwrap_or_else(|error| panic!("{program}: {error}; a JDK has to be on the PATH"));
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
            (output.status.success(), text(&output.stdout), text(&output.stderr))
        };
        let compiled = run("javac", &["-d", ".", "Hooks.java"]);
        assert!(compiled.0, "{}", compiled.2);
        let (succeeds, said, errors) = run("java", &["-Xverify:all", "-cp", ".", "Greeter", "Ada", "Alan"]);
        assert!(succeeds, "{errors}");
        let expected = "> main\n> <init>\n< <init>\n> greet\nHello, Ada\nHello, Alan\n< greet\n2\n< main\n";
        assert_eq!(said, expected);
        let (succeeds, said, errors) = run("java", &["-Xverify:all", "-cp", ".", "Greeter", ""]);
        assert!(!succeeds && errors.contains("IllegalArgumentException: nobody"), "{errors}");
        assert_eq!(said, "> main\n> <init>\n< <init>\n> greet\n");
    }

    #[test]
    fn what_is_no_class_and_no_name_is_an_error() {
        let error = tell(&GREETER[..99], "a/B").unwrap_err().to_string();
        assert_eq!(error, "class file is truncated at offset 0xa (constant_pool)");
        assert!(tell(GREETER, "a.B").unwrap_err().to_string().starts_with("`a.B` is no class name"));
    }
}
