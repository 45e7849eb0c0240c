//! What of the heap is recorded, and what is not, in words: properties of the profile and a line of the account, so that nobody takes a
//! part for the whole. The table in [`super`] says the same for those who change this code.

use crate::options::{Heap, Options};
use serde_json::json;

/// Two sentences.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Coverage {
    recorded: String,
    not_seen: String,
}

impl Coverage {
    /// Of a run with these options; none: objects are not recorded. `attached`: the program ran before the agent came.
    pub(crate) fn of(options: &Options, attached: bool) -> Option<Coverage> {
        let heap = options.heap.as_ref()?;
        let classes = classes(heap);
        let before = match (options.early, attached) {
            (true, _) => "",
            (_, false) => "; what the JVM makes before its initialisation ends",
            (_, true) => "; what was made before the agent was loaded",
        };
        if heap.all {
            let late =
                if attached { ", and about 0.5 MiB that each running thread allocates next" } else { "" };
            return Some(Coverage {
                recorded: format!("all allocations of the JVM (JVMTI SampledObjectAlloc), {classes}"),
                not_seen: format!(
                    "allocations that the JIT compiler removes (escape analysis){before}{late}"
                ),
            });
        }
        let jdk = match options.jdk_filter {
            None => "classes of the JDK",
            Some(_) => {
                "classes of the JDK that --include does not name, and all of java.lang, java.nio and jdk.internal"
            }
        };
        let machine = match heap.biographies {
            true => {
                ", and those of the JVM and of native code (reported only as far as their code is not compiled)"
            }
            false => ", the JVM and native code",
        };
        Some(Coverage {
            recorded: format!(
                "objects by their constructors, arrays and clones by the code that makes them, {classes}"
            ),
            not_seen: format!(
                "arrays and clones that {jdk}, hidden classes{machine} make; Unsafe.allocateInstance{before}. --heap-all records them"
            ),
        })
    }

    /// As settings of the recorder, which writes them into the profile: lines of KEY=VALUE.
    pub(crate) fn settings(&self) -> String {
        format!("heap.recorded={}\nheap.not-seen={}\n", self.recorded, self.not_seen)
    }

    /// As a line of the account.
    pub(crate) fn line(&self) -> String {
        json!({"kind": "heap", "recorded": self.recorded, "not_seen": self.not_seen}).to_string() + "\n"
    }
}

/// `of every class`, or of which.
fn classes(heap: &Heap) -> String {
    let [include, exclude] = &heap.patterns;
    let list = |patterns: &[String]| patterns.join(", ").replace(':', ", ");
    let included = match include.is_empty() {
        true => "of every class".to_owned(),
        false => format!("of the classes {}", list(include)),
    };
    if exclude.is_empty() { included } else { format!("{included} but {}", list(exclude)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &str, attached: bool) -> Option<Coverage> {
        Coverage::of(&Options::parse(options).unwrap(), attached)
    }

    #[test]
    fn what_is_recorded_and_what_is_not_depends_on_the_options() {
        assert_eq!(of("", false), None);
        let plain = of("heap=counts", false).unwrap();
        assert!(plain.recorded.ends_with("code that makes them, of every class"), "{plain:?}");
        assert!(plain.not_seen.starts_with("arrays and clones that classes of the JDK, hidden"), "{plain:?}");
        assert!(plain.not_seen.contains("allocateInstance; what the JVM makes before"), "{plain:?}");
        let chosen =
            of("heap=objects,include=java.util.**:a.**,heap-include=int[]:b.*,heap-exclude=b.C", true);
        let chosen = chosen.unwrap();
        assert!(chosen.recorded.ends_with("of the classes int[], b.* but b.C"), "{chosen:?}");
        assert!(chosen.not_seen.contains("the JDK that --include does not name"), "{chosen:?}");
        assert!(chosen.not_seen.contains("before the agent was loaded"), "{chosen:?}");
        let all = of("heap=counts,heap-all=on", false).unwrap();
        assert!(all.recorded.starts_with("all allocations of the JVM"), "{all:?}");
        assert!(all.not_seen.contains("escape analysis") && !all.not_seen.contains("JDK"), "{all:?}");
        assert!(all.line().starts_with("{\"kind\":\"heap\",\"not_seen\":\"") && all.line().ends_with("}\n"));
    }
}
