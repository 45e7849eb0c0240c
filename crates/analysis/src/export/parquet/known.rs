//! What the rows of several processes have in common: their methods, and which contexts have a row.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Files, Folder, Rows};
use crate::context_key::ContextKey;
use crate::hash::HashMap;
use crate::model::{Arcflow, Kind};
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

/// The methods of the contexts of a model.
pub(super) struct OfContexts {
    /// By node: which of the keys, from 1; 0: it is no context.
    pub(super) of_node: Vec<u32>,
    /// Of each method, link and what is past a limit.
    pub(super) keys: Vec<ContextKey>,
}

impl OfContexts {
    /// The key of the method of a node.
    pub(super) fn key(&self, node: usize) -> Option<ContextKey> {
        (self.of_node[node] as usize).checked_sub(1).map(|at| self.keys[at])
    }
}

/// What a partition has rows of already, or will have.
#[derive(Default)]
pub(super) struct Known {
    pub(super) contexts: HashMap<ContextKey, ()>,
    /// Places in `all` by name.
    methods: BTreeMap<Kind, HashMap<String, u32>>,
    all: Vec<Method>,
    /// The id maps of the last profiles, the methods that they have, and how many profiles that are.
    maps: Option<(Arc<IdMaps>, Vec<u32>, u64)>,
}

impl Known {
    pub(super) fn method(&mut self, kind: Kind, name: &str, profiles: &[ProfileFile]) -> &Method {
        let place = self.place(kind, name, profiles);
        &self.all[place as usize]
    }

    fn place(&mut self, kind: Kind, name: &str, profiles: &[ProfileFile]) -> u32 {
        let of_kind = self.methods.entry(kind).or_default();
        if let Some(&place) = of_kind.get(name) {
            return place;
        }
        let place = self.all.len() as u32;
        let key = ContextKey::ROOT.exact_child(kind, name);
        let origin = profiles.iter().find_map(|file| file.names.origin(name)?.path(name));
        self.all.push(Method { key, origin, known: 0 });
        of_kind.insert(name.to_owned(), place);
        place
    }

    /// Counts the methods of the id maps of a profile, each once. Profiles of one build share their maps, so these are
    /// read once.
    pub(super) fn id_maps(&mut self, file: &ProfileFile, profiles: &[ProfileFile]) {
        let maps = file.names.id_maps();
        if let Some((of, _, count)) = &mut self.maps
            && Arc::ptr_eq(of, maps)
        {
            *count += 1;
            return;
        }
        self.count();
        // Their origins are those that the first profile knows.
        let places = maps.methods().map(|name| self.place(Kind::Method, name, profiles));
        let mut places: Vec<u32> = places.collect();
        places.sort_unstable();
        places.dedup();
        self.maps = Some((maps.clone(), places, 1));
    }

    /// Counts the methods of the last id maps.
    fn count(&mut self) {
        let Some((_, places, count)) = self.maps.take() else { return };
        places.into_iter().for_each(|place| self.all[place as usize].known += count);
    }

    /// The methods of a model's contexts.
    pub(super) fn of_contexts(&mut self, model: &Arcflow, profiles: &[ProfileFile]) -> OfContexts {
        let mut of_contexts =
            OfContexts { of_node: Vec::with_capacity(model.nodes().len()), keys: Vec::new() };
        // By consumer, for each kind.
        let mut known: [Vec<u32>; 3] = Default::default();
        for node in model.nodes() {
            let of_kind = match node.kind {
                Kind::Method => 0,
                Kind::Link => 1,
                Kind::Deeper => 2,
                Kind::Root | Kind::Process | Kind::Thread => {
                    of_contexts.of_node.push(0);
                    continue;
                }
            };
            let (of_kind, consumer) = (&mut known[of_kind], node.consumer.0 as usize);
            if of_kind.len() <= consumer {
                of_kind.resize(consumer + 1, 0);
            }
            if of_kind[consumer] == 0 {
                of_contexts.keys.push(self.method(node.kind, model.name(node.consumer), profiles).key);
                of_kind[consumer] = of_contexts.keys.len() as u32;
            }
            of_contexts.of_node.push(of_kind[consumer]);
        }
        of_contexts
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
            methods.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            for (name, place) in &methods {
                let Method { key, origin, known } = &self.all[*place as usize];
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
