//! `run --subclasses-of`: which classes of a class path are to be recorded, for an agent that sees one class after the other.

use crate::class_path::Places;
use anyhow::Result;
use instrument_verifier::hierarchy::ClassPath;
use instrument_verifier::jdk::Jdk;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// The classes of a class path that are one of `above`, or extend or implement one, also by way of classes of the JDK.
///
/// # Errors
/// An archive or directory that cannot be read.
pub fn below(class_path: &[String], jdk: Option<Arc<Jdk>>, above: &[String]) -> Result<BTreeSet<Box<[u8]>>> {
    let mut places = Places::new(jdk);
    for address in class_path {
        places.add_all(address)?;
    }
    let wanted: HashSet<Vec<u8>> = above.iter().map(|name| name.replace('.', "/").into_bytes()).collect();
    let is_below = |class: &[u8]| {
        let mut open: Vec<Box<[u8]>> = vec![class.into()];
        let mut seen: HashSet<Box<[u8]>> = HashSet::new();
        while let Some(name) = open.pop() {
            if wanted.contains(&*name) {
                return true;
            }
            if let Some(class) = places.find(&name).filter(|_| seen.insert(name)) {
                open.extend(class.super_class.iter().chain(&class.interfaces).cloned());
            }
        }
        false
    };
    Ok(places.names().filter(|name| is_below(name)).cloned().collect())
}
