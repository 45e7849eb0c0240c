//! Labels of processes: which service and which build they are of, from options or the environment.

use instrument_analysis::export::parquet::labels::{self, Labels, Sources};

/// A label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    key: String,
    value: String,
}

/// The variables in which CI services and build tools tell what is built, the first that is set: a commit rather than a number.
const BUILDS: [&str; 11] = [
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "GIT_COMMIT",
    "BUILDKITE_COMMIT",
    "CIRCLE_SHA1",
    "BITBUCKET_COMMIT",
    "BUILD_SOURCEVERSION",
    "TRAVIS_COMMIT",
    "DRONE_COMMIT_SHA",
    "BUILD_VCS_NUMBER",
    "SEMAPHORE_GIT_SHA",
];

/// What a label is called here that OpenTelemetry has another name for (its semantic conventions, service attributes).
const NAMES: [(&str, &str); 2] = [("service.name", "service"), ("service.version", "build")];

/// `service=shop`.
///
/// # Errors
/// There is no `=`, or nothing before it.
pub(crate) fn parse(text: &str) -> Result<Label, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok(Label { key: key.to_owned(), value: value.to_owned() }),
        _ => Err("a label is written KEY=VALUE".to_owned()),
    }
}

/// The labels that were given, and those of the environment.
pub(crate) fn sources(given: &[Label], variable: impl Fn(&str) -> Option<String>) -> Sources {
    let given = given.iter().map(|label| (label.key.clone(), label.value.clone()));
    Sources { given: given.collect(), otherwise: environment(variable) }
}

/// The labels of a process that is started here, as an option of the agent; what is not given is taken from the environment.
#[cfg(processes)]
pub(crate) fn option(given: &[Label], variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let Sources { given, otherwise: mut all } = sources(given, variable);
    all.extend(given);
    (!all.is_empty()).then(|| labels::text(&all))
}

fn environment(variable: impl Fn(&str) -> Option<String>) -> Labels {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let mut all = Labels::new();
    if let Some(build) = BUILDS.iter().find_map(|name| set(name)) {
        all.insert("build".to_owned(), build);
    }
    for (key, value) in labels::read(&set("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default()) {
        let name =
            NAMES.iter().find(|(theirs, _)| *theirs == key).map_or(key, |(_, ours)| (*ours).to_owned());
        all.insert(name, value);
    }
    if let Some(service) = set("OTEL_SERVICE_NAME") {
        all.insert("service".to_owned(), service);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_comes_before_the_environment() {
        let of = |given: &[&str], environment: &[(&str, &str)]| {
            let given: Vec<Label> = given.iter().map(|text| parse(text).unwrap()).collect();
            let known = |name: &str| {
                environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            option(&given, known).unwrap_or_default()
        };
        let ci = [("GITHUB_SHA", "c0ffee"), ("GIT_COMMIT", "beef"), ("OTEL_SERVICE_NAME", "")];
        assert_eq!(of(&[], &[]), "");
        assert_eq!(of(&["a=b=c", "d="], &ci), "a=b%3Dc,build=c0ffee,d=");
        let attributes = "service.name=shop, service.version=1.2%2C3,team=%zz%C3%BC,=x,none";
        let otel = [("OTEL_RESOURCE_ATTRIBUTES", attributes), ci[0]];
        assert_eq!(of(&[], &otel), "build=1.2%2C3,service=shop,team=%25zz\u{fc}");
        assert_eq!(
            of(&["service=till"], &[otel[0], ("OTEL_SERVICE_NAME", "desk")]),
            "build=1.2%2C3,service=till,team=%25zz\u{fc}"
        );
        assert!(parse("x").is_err() && parse("=x").is_err());
    }
}
