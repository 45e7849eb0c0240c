//! The figures of the heap by class, by site, or by context.

use instrument_trace::{Thread, ThreadKind};

use super::Process;
use super::object_lifetimes::Figures;
use crate::hash::HashMap;

/// What a row of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    #[default]
    Class,
    /// A class, and the method that made its objects.
    Site,
    /// A class, and the method that made its objects with its callers.
    Context,
}

/// A row: which objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// The class, as Java writes it.
    pub class: String,
    /// The method that made them, and its callers if the table is by context, innermost first; empty if nothing is
    /// known.
    pub methods: Vec<String>,
}

/// A question to a name.
pub type Wants<'a> = Option<&'a dyn Fn(&str) -> bool>;

/// Which objects count.
#[derive(Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Those of these classes.
    pub class: Wants<'a>,
    /// Those made in these methods; by context, in these or in what they called.
    pub method: Wants<'a>,
}

impl Filter<'_> {
    /// Whether objects of this class do that were made in these methods.
    pub fn wants(&self, class: &str, methods: &[String]) -> bool {
        self.class.is_none_or(|wants| wants(class))
            && self.method.is_none_or(|wants| methods.iter().any(|name| wants(name)))
    }

    /// Whether all do.
    pub fn is_all(&self) -> bool {
        self.class.is_none() && self.method.is_none()
    }
}

/// A table: rows with different names.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The rows, those with most bytes first.
    pub rows: Vec<(Row, Figures)>,
    /// The sum of all rows.
    pub total: Figures,
    /// Objects were followed: it is known which of them are live.
    pub is_followed: bool,
    /// Bytes are known.
    pub has_bytes: bool,
}

/// Where objects were made.
#[derive(Clone, Copy)]
enum At<'a> {
    /// In a method, or nobody knows.
    Method(Option<u32>),
    /// In a node of a thread's tree.
    Node(&'a Thread, u32),
    /// In a context.
    Context(u32),
}

/// Adds up what several processes tell.
pub fn table(processes: &[Process<'_>], by: By, filter: &Filter<'_>) -> Table {
    let mut adding = Adding { by, filter, table: Table::default(), places: HashMap::default() };
    for process in processes {
        adding.process(process);
    }
    let mut table = adding.table;
    let most = |figures: &Figures| (figures.bytes, figures.objects);
    table.rows.sort_by(|a, b| most(&b.1).cmp(&most(&a.1)).then_with(|| a.0.cmp(&b.0)));
    table
}

struct Adding<'a> {
    by: By,
    filter: &'a Filter<'a>,
    table: Table,
    places: HashMap<Row, usize>,
}

impl Adding<'_> {
    fn process(&mut self, process: &Process<'_>) {
        // Names are made once for each class and place.
        let mut known = HashMap::default();
        if let Some(biographies) = process.biographies {
            (self.table.is_followed, self.table.has_bytes) = (true, true);
            for (key, figures) in &biographies.groups {
                if (process.threads)(key.copy, key.thread) {
                    let place = *known.entry((key.copy, key.class, key.context)).or_insert_with(|| {
                        self.place(process, key.copy, key.class, At::Context(key.context))
                    });
                    self.add(place, figures);
                }
            }
            return;
        }
        for thread in &process.profile.threads {
            let ordinal = if thread.kind == ThreadKind::Thread { thread.ordinal } else { 0 };
            if !(process.threads)(thread.copy, ordinal) {
                continue;
            }
            self.table.has_bytes |= thread.tree.is_some();
            let nodes = thread
                .tree_allocations
                .iter()
                .map(|made| (made.class, At::Node(thread, made.node), made.count, made.bytes));
            let methods = thread.allocations.iter().filter(|_| thread.tree.is_none());
            let methods = methods.map(|made| (made.class, At::Method(made.method), made.count, 0));
            for (class, at, objects, bytes) in nodes.chain(methods) {
                let place = self.place(process, thread.copy, class, at);
                self.add(place, &Figures { objects, bytes, ..Figures::default() });
            }
        }
    }

    fn add(&mut self, place: Option<usize>, figures: &Figures) {
        let Some(place) = place else { return };
        self.table.rows[place].1.merge(figures);
        self.table.total.merge(figures);
    }

    /// The index of a row; `None`: it is not wanted.
    fn place(&mut self, process: &Process<'_>, copy: u32, class: u32, at: At<'_>) -> Option<usize> {
        let class = process.class(copy, class);
        let name = |id| (process.methods)(copy, id);
        let mut methods = match (self.by, at) {
            (By::Class, _) if self.filter.method.is_none() => Vec::new(),
            (_, At::Method(id)) => id.map(name).into_iter().collect(),
            (_, At::Context(context)) => process.makers(&class, copy, context),
            (_, At::Node(thread, number)) => {
                let node = |number| thread.tree.as_ref().and_then(|tree| tree.node(number));
                let nodes = std::iter::successors(node(number), |at| node(at.parent));
                nodes.filter_map(|at| at.consumer.method()).map(name).collect()
            }
        };
        if self.by != By::Context {
            methods.truncate(1);
        }
        if !self.filter.wants(&class, &methods) {
            return None;
        }
        if self.by == By::Class {
            methods.clear();
        }
        let row = Row { class, methods };
        let rows = &mut self.table.rows;
        Some(*self.places.entry(row).or_insert_with_key(|row| {
            rows.push((row.clone(), Figures::default()));
            rows.len() - 1
        }))
    }
}
