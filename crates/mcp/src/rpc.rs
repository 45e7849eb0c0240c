//! JSON-RPC 2.0 over lines: a message is one line of JSON, as the stdio transport of the Model Context Protocol has it.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

use crate::answer::clipped;

/// The largest message that is read, in bytes.
const LARGEST_MESSAGE: u64 = 1 << 20;
/// The longest id that is sent back, in bytes as JSON.
const LONGEST_ID: usize = 256;
/// Letters of a reason; it may name what came from outside.
const REASON: usize = 1000;

/// Codes of JSON-RPC 2.0, section 5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Parse = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    reason: String,
}

impl Failure {
    /// `reason` may hold anything.
    pub(crate) fn new(code: Code, reason: &str) -> Failure {
        Failure { code, reason: clipped(reason, REASON) }
    }
}

/// A request that wants an answer.
pub(crate) struct Request<'a> {
    /// Its method.
    pub(crate) method: &'a str,
    /// Its parameters; null if there are none.
    pub(crate) params: &'a Value,
    /// Bytes that an answer has besides its result.
    pub(crate) envelope: usize,
}

/// What gives the result of a request.
type Handle<'a> = &'a dyn Fn(&Request<'_>) -> Result<Value, Failure>;

/// Reads messages and answers requests until the input ends.
///
/// # Errors
/// The input or the output failed.
pub(crate) fn serve(input: &mut dyn BufRead, out: &mut dyn Write, handle: Handle<'_>) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut *input).take(LARGEST_MESSAGE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let answer = if read as u64 == LARGEST_MESSAGE && !line.ends_with(b"\n") {
            skip_line(input)?;
            Some(failed(&Value::Null, &Failure::new(Code::InvalidRequest, "a message has at most 1 MiB")))
        } else if line.iter().all(u8::is_ascii_whitespace) {
            None
        } else {
            answer(&line, handle)
        };
        if let Some(answer) = answer {
            let mut text = answer.to_string();
            text.push('\n');
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
}

/// Leaves out what is left of a line.
fn skip_line(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let (used, ends) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        input.consume(used);
        if ends {
            return Ok(());
        }
    }
}

/// The answer to a line; none: nothing in it wants one.
fn answer(line: &[u8], handle: Handle<'_>) -> Option<Value> {
    match serde_json::from_slice(line) {
        Err(error) => Some(failed(&Value::Null, &Failure::new(Code::Parse, &format!("no JSON: {error}")))),
        // Version 2025-03-26 of the protocol has batches.
        Ok(Value::Array(messages)) if !messages.is_empty() => {
            let answers: Vec<_> = messages.iter().filter_map(|message| one(message, handle)).collect();
            (!answers.is_empty()).then_some(Value::Array(answers))
        }
        Ok(message) => one(&message, handle),
    }
}

/// The answer to a message.
fn one(message: &Value, handle: Handle<'_>) -> Option<Value> {
    let invalid = |id: &Value, reason| Some(failed(id, &Failure::new(Code::InvalidRequest, reason)));
    let Some(members) = message.as_object() else {
        return invalid(&Value::Null, "a message is a JSON object");
    };
    let id = members.get("id");
    let is_known = |id: &&Value| (id.is_string() || id.is_number()) && id.to_string().len() <= LONGEST_ID;
    let known = id.filter(is_known);
    let Some(method) = members.get("method") else {
        // We ask nothing, so an answer is to nobody.
        let is_answer = members.contains_key("result") || members.contains_key("error");
        return if is_answer { None } else { invalid(known.unwrap_or(&Value::Null), "there is no method") };
    };
    if id.is_some() && known.is_none() {
        return invalid(&Value::Null, "an id is a text of at most 256 bytes, or a number");
    }
    if members.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return invalid(known.unwrap_or(&Value::Null), "`jsonrpc` has to be \"2.0\"");
    }
    let Some(method) = method.as_str() else {
        return invalid(known.unwrap_or(&Value::Null), "a method is a text");
    };
    // Notifications tell nothing that matters here: every question is answered before the next one is read.
    let id = known?;
    let params = members.get("params").unwrap_or(&Value::Null);
    if !matches!(params, Value::Null | Value::Object(_)) {
        return Some(failed(id, &Failure::new(Code::InvalidParams, "`params` has to be an object")));
    }
    let envelope = done(id, Value::Null).to_string().len() - "null".len() + "\n".len();
    Some(match handle(&Request { method, params, envelope }) {
        Ok(result) => done(id, result),
        Err(failure) => failed(id, &failure),
    })
}

fn done(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn failed(id: &Value, failure: &Failure) -> Value {
    let error = json!({"code": failure.code as i32, "message": failure.reason});
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes of the answers to some lines, 0 for a result.
    fn codes(input: &str) -> Vec<i64> {
        let handle = |request: &Request<'_>| match request.method {
            "ping" => Ok(json!({})),
            other => Err(Failure::new(Code::MethodNotFound, other)),
        };
        let mut out = Vec::new();
        serve(&mut input.as_bytes(), &mut out, &handle).unwrap();
        let answers = String::from_utf8(out).unwrap();
        let code = |line: &str| {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(answer["jsonrpc"], "2.0", "{line}");
            if answer.get("result").is_some() { 0 } else { answer["error"]["code"].as_i64().unwrap() }
        };
        answers.lines().map(code).collect()
    }

    #[test]
    fn each_request_has_one_answer_and_notifications_have_none() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(codes(&format!("{ping}\n\n{ping}")), [0, 0], "the last line may lack its end");
        assert!(codes(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).is_empty());
        assert!(codes(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).is_empty());
        assert_eq!(codes(r#"{"jsonrpc":"2.0","id":"a","method":"resources/list"}"#), [-32601]);
        assert_eq!(codes(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#), [-32602]);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for line in ["7", "[]", r#"{"jsonrpc":"2.0","id":1}"#, r#"{"id":1,"method":"ping"}"#] {
            assert_eq!(codes(line), [-32600], "{line}");
        }
        for id in ["null", "[1]", "{}", "true", &format!("\"{}\"", "i".repeat(300))] {
            assert_eq!(codes(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)), [-32600], "{id}");
        }
        assert_eq!(codes("{\n\u{7f}\n"), [-32700, -32700]);
        let deep = "[".repeat(100_000);
        assert_eq!(codes(&deep), [-32700]);
    }

    #[test]
    fn a_long_line_is_refused_and_the_next_one_answered() {
        let long = "x".repeat(3 << 20);
        assert_eq!(codes(&format!("{long}\n{}", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)), [-32600, 0]);
        assert_eq!(codes(&long), [-32600]);
    }

    #[test]
    fn a_batch_has_a_batch_of_answers() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
        let handle = |_: &Request<'_>| Ok(json!({}));
        let Some(Value::Array(answers)) = answer(format!("[{ping},{notification},7]").as_bytes(), &handle)
        else {
            panic!("no batch");
        };
        assert_eq!(answers.len(), 2);
        assert!(answer(format!("[{notification}]").as_bytes(), &handle).is_none());
    }
}
