//! What can be asked: see the table in [`super`].

use serde::Deserialize;
use std::path::PathBuf;

/// A request, without its version.
#[derive(Debug, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Request {
    Status {},
    Threads {
        #[serde(default)]
        stacks: usize,
    },
    Thread {
        #[serde(default)]
        id: Option<i64>,
        #[serde(default)]
        name: Option<String>,
    },
    Classes {
        #[serde(default)]
        pattern: Option<String>,
        #[serde(default)]
        instances: bool,
    },
    Class {
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        id: Option<i64>,
    },
    Object {
        id: i64,
    },
    Monitors {},
    Monitor {
        id: i64,
    },
    Snapshot {
        file: PathBuf,
    },
    Reset {},
    HeapDump {
        file: PathBuf,
    },
    Pause {},
    Resume {},
    Gc {},
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_names_and_only_their_own_members() {
        let parse = |text: &str| serde_json::from_str::<Request>(text).map_err(|error| error.to_string());
        assert!(matches!(parse(r#"{"request":"threads","stacks":3}"#), Ok(Request::Threads { stacks: 3 })));
        assert!(matches!(parse(r#"{"request":"gc"}"#), Ok(Request::Gc {})));
        for (text, reason) in [
            (r#"{"request":"dump"}"#, "unknown variant `dump`"),
            (r#"{"request":"monitor"}"#, "missing field `id`"),
            (r#"{"request":"gc","now":1}"#, "unknown field `now`"),
            (r#"{"id":1}"#, "missing field `request`"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
