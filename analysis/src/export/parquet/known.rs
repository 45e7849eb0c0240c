//! What the rows of several processes have in common: their methods, and which contexts have a row.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::{Files, Folder, Rows};
use crate::context_key::ContextKey;
use crate::model::{Arcflow, HashMap, Kind, Node};
use crate::session::names::IdMaps;
use crate::session::{Error, ProfileFile};
use crate::stable_name::stable;
use instrument_names::signature::parts;

/// A row of the table of methods.
pub(super) struct Method {
    pub(super) key: ContextKey,
    origin: Option<(String, u32)>,
    /// So many processes have it in their id map.
    known: u64,
}

/// What a partition has rows of already, or will have.
#[derive(Default)]
pub(super) struct Known {
    pub(super) contexts: HashMap<ContextKey, ()>,
    methods: BTreeMap<Kind, HashMap<String, Method>>,
    /// The id maps of the last profiles, which so many of them have.
    maps: Option<(Arc<IdMaps>, u64)>,
}

impl Known {
    pub(super) fn method(&mut self, kind: Kind, name: &str, profiles: &[ProfileFile]) -> &mut Method {
        let of_kind = self.methods.entry(kind).or_default();
        if !of_kind.contains_key(name) {
            let key = ContextKey::ROOT.exact_child(kind, name);
            let origin = profiles.iter().find_map(|file| file.names.origin(name)?.path(name));
            of_kind.insert(name.to_owned(), Method { key, origin, known: 0 });
        }
        of_kind.get_mut(name).expect("a method that was put there")
    }

    /// Counts the methods of the id maps of a profile, each once. Profiles of one build share their maps, so these are read once.
    pub(super) fn id_maps(&mut self, file: &ProfileFile, profiles: &[ProfileFile]) {
        let maps = file.names.id_maps();
        if let Some((of, count)) = &mut self.maps
            && Arc::ptr_eq(of, maps)
        {
            *count += 1;
            return;
        }
        self.count();
        // Their origins are those that the first profile knows.
        for name in maps.methods() {
            self.method(Kind::Method, name, profiles);
        }
        self.maps = Some((maps.clone(), 1));
    }

    /// Counts the methods of the last id maps.
    fn count(&mut self) {
        let Some((maps, count)) = self.maps.take() else { return };
        for name in maps.methods().collect::<HashSet<_>>() {
            self.method(Kind::Method, name, &[]).known += count;
        }
    }

    /// The keys of the methods of a model's contexts, by node; none: it is no context.
    pub(super) fn keys(&mut self, model: &Arcflow, profiles: &[ProfileFile]) -> Vec<Option<ContextKey>> {
        let mut known: HashMap<_, ContextKey> = HashMap::default();
        let of_node = |node: &Node| {
            is_context(node.kind).then(|| {
                *known
                    .entry((node.kind, node.consumer))
                    .or_insert_with(|| self.method(node.kind, model.name(node.consumer), profiles).key)
            })
        };
        model.nodes().iter().map(of_node).collect()
    }

    /// Writes the methods.
    pub(super) fn rows<F: Folder>(
        mut self,
        rows: &mut Rows<F::File>,
        files: &mut Files<'_, F>,
    ) -> Result<(), Error> {
        self.count();
        for (kind, methods) in self.methods {
            let mut methods: Vec<_> = methods.into_iter().collect();
            methods.sort_by(|a, b| a.0.cmp(&b.0));
            for (name, Method { key, origin, known }) in &methods {
                let class = Some(parts(name).0).filter(|class| !class.is_empty());
                let line = origin.as_ref().map(|origin| u64::from(origin.1)).filter(|&line| line > 0);
                let stable_name = stable(name);
                let row = [
                    (*key).into(),
                    name.into(),
                    (&*stable_name).into(),
                    kind.word().into(),
                    class.filter(|_| kind == Kind::Method).into(),
                    origin.as_ref().map(|origin| &origin.0).into(),
                    line.into(),
                    (*known).into(),
                ];
                rows.push(&row, files)?;
            }
        }
        Ok(())
    }
}

/// Whether a node is a context, and no process or thread.
pub(super) fn is_context(kind: Kind) -> bool {
    matches!(kind, Kind::Method | Kind::Link | Kind::Deeper)
}
