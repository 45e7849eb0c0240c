//! What rows of a timeline did in a window, as a model.

use instrument_trace::{LinkKind, TreeConsumer};

use super::{RESOURCE, Row, Timeline};
use crate::export::trace::{frame_name, link_kinds};
use crate::hash::HashMap;
use crate::model::{Arcflow, Kind, NodeId, Resource, Window};
use crate::session::{Error, ProfileFile};
use crate::trace_index::account::Part;

impl Timeline {
    /// What rows did from one moment on and before another: their contexts with the calls that began or were open, and
    /// [`RESOURCE`]. Rows without a trace have nothing.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn model(&self, files: &[ProfileFile], rows: &[usize], window: (u64, u64)) -> Result<Arcflow, Error> {
        let mut model = Arcflow::new(vec![Resource { name: RESOURCE.into(), unit: "ns".into() }]);
        model.window = Some(Window { begin: window.0, length: window.1.saturating_sub(window.0) });
        for &number in rows {
            let Some(row) = self.rows.get(number) else { continue };
            let Some((file, thread, index)) = self.trace(files, row) else { continue };
            let clocks = (self.clock(row, window.0), self.clock(row, window.1));
            let part = index.window(file.source(), thread, clocks).map_err(Error::profile(&file.path))?;
            self.add(&mut model, files, row, &part);
        }
        let origins = files.iter().flat_map(|file| file.names.origins());
        model.origins = model.origins_of(origins);
        Ok(model)
    }

    fn add(&self, model: &mut Arcflow, files: &[ProfileFile], row: &Row, part: &Part) {
        let Some((file, thread, index)) = self.trace(files, row) else { return };
        let mut above = Arcflow::ROOT;
        if self.processes.len() > 1 {
            let consumer = model.consumer(&self.processes[row.process].label);
            above = model.child(above, Kind::Process, consumer);
        }
        let consumer = model.consumer(&row.name);
        let above = model.child(above, Kind::Thread, consumer);
        model.meet(above, 1);
        let mut placing = Placing {
            contexts: index.contexts(),
            names: Names::new(file, thread.copy),
            places: HashMap::default(),
            above,
        };
        for sum in &part.sums {
            let place = placing.place(model, sum.node);
            model.meet(place, sum.calls);
            model.base_mut(place)[0] += sum.ns as f64;
        }
        for &(node, calls) in &part.open {
            let place = placing.place(model, node);
            model.meet(place, calls);
        }
    }
}

/// Names of the frames of threads.
pub(super) struct Names<'a> {
    file: &'a ProfileFile,
    copy: u32,
    links: std::collections::HashMap<(u32, u32), LinkKind>,
}

impl<'a> Names<'a> {
    pub(super) fn new(file: &'a ProfileFile, copy: u32) -> Names<'a> {
        Names { file, copy, links: link_kinds(&file.profile) }
    }

    pub(super) fn of(&self, consumer: TreeConsumer) -> String {
        let methods = |copy, id| self.file.names.method(copy, id);
        frame_name(&self.file.profile, &methods, &self.links, self.copy, consumer)
    }
}

/// Where contexts of a trace are in a model.
struct Placing<'a> {
    contexts: &'a crate::replay::Contexts,
    names: Names<'a>,
    places: HashMap<u32, NodeId>,
    above: NodeId,
}

impl Placing<'_> {
    fn place(&mut self, model: &mut Arcflow, node: u32) -> NodeId {
        let mut way = Vec::new();
        let mut at = node;
        let mut place = loop {
            match self.places.get(&at) {
                _ if at == 0 => break self.above,
                Some(&known) => break known,
                None => way.push(at),
            }
            at = self.contexts.parent(at);
        };
        for node in way.into_iter().rev() {
            let consumer = self.contexts.consumer(node);
            let kind = match consumer {
                TreeConsumer::Method(_) => Kind::Method,
                TreeConsumer::Link(_) => Kind::Link,
                TreeConsumer::Deeper => Kind::Deeper,
            };
            let name = model.consumer(&self.names.of(consumer));
            place = model.child(place, kind, name);
            self.places.insert(node, place);
        }
        place
    }
}
