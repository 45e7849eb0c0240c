//! What OpenTelemetry calls a resource: the process that spans and profiles are of.
//!
//! The keys are those of its semantic conventions for services, processes, hosts and SDKs.

use instrument_trace::Profile;

/// The value of an attribute.
#[derive(PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(u64),
}

/// The attributes of a process that is called so. All processes of a program have the same `service.name`; what tells
/// them apart are `process.pid` and `service.instance.id`.
pub(super) fn attributes(profile: &Profile, program: &str) -> Vec<(&'static str, Value)> {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut attributes = vec![("service.name", text(program)), ("process.pid", Value::Number(profile.pid))];
    if profile.nonce != 0 {
        attributes.push(("service.instance.id", Value::Text(format!("{:016x}", profile.nonce))));
    }
    let property = |key: &str| profile.copies.values().find_map(|copy| copy.properties.get(key));
    let properties = [
        ("host.name", "host"),
        ("os.description", "os"),
        ("process.runtime.name", "java.vm.name"),
        ("process.runtime.version", "java.version"),
        ("process.runtime.description", "java.vm.version"),
        ("process.working_directory", "directory"),
    ];
    attributes.extend(properties.into_iter().filter_map(|(key, from)| Some((key, text(property(from)?)))));
    attributes.push(("telemetry.sdk.name", text("instrument")));
    attributes.push(("telemetry.sdk.language", text("java")));
    attributes.push(("telemetry.sdk.version", text(env!("CARGO_PKG_VERSION"))));
    attributes
}
