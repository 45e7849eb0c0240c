//! The contexts of a model, for tests that know all of them.

use std::collections::BTreeMap;

use instrument_analysis::{Arcflow, NodeId};

/// n and base of a resource by context; names are joined by blanks.
pub(crate) fn contexts(model: &Arcflow, resource: &str) -> BTreeMap<String, (u64, f64)> {
    let r = model.resource(resource).unwrap_or_else(|| panic!("no {resource}"));
    let mut paths = vec![String::new()];
    let mut contexts = BTreeMap::new();
    for (i, node) in model.nodes().iter().enumerate().skip(1) {
        let path = format!("{} {}", paths[node.parent.0 as usize], model.name(node.consumer));
        contexts.insert(path.trim().to_owned(), (node.n, model.base(NodeId(i as u32))[r]));
        paths.push(path);
    }
    contexts
}

/// That its contexts are these, each with n and base of a resource.
#[track_caller]
pub(crate) fn expect(model: &Arcflow, resource: &str, expected: &[(&str, u64, f64)]) {
    let expected = expected.iter().map(|&(path, n, base)| (path.to_owned(), (n, base)));
    assert_eq!(contexts(model, resource), expected.collect());
}
