//! What a thread does, step by step.

use instrument_trace::{Closes, Event, Frame, Tree, TreeAllocation, TreeConsumer, TreeNode};

/// What a thread does: events at clocks.
///
/// ```
/// # use instrument_testing::Script;
/// // Method 1 calls method 2, which takes 5 ns; 1 takes 18 ns, 13 of them itself.
/// let script = Script::new(1000).enter(1).wait(10).enter(2).wait(5).exit(2).wait(3).exit(1);
/// ```
#[derive(Debug, Clone)]
pub struct Script {
    /// Clock at the beginning.
    pub start: u64,
    /// Clock after the last step.
    pub now: u64,
    /// Events with their clocks.
    pub steps: Vec<(u64, Event)>,
    /// Samples, each behind so many of the steps.
    pub samples: Vec<(usize, u64)>,
}

/// What a tree recorder has after a script.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// Contexts, in the order in which they were met.
    pub tree: Tree,
    /// Frames that are open.
    pub stack: Vec<Frame>,
    /// Objects and arrays made.
    pub allocations: Vec<TreeAllocation>,
    /// Clock at the last event.
    pub last_event: u64,
    /// ns that the recorder took for itself.
    pub pause: u64,
    /// Events dropped.
    pub dropped: u64,
    /// Samples that met no call.
    pub in_no_call: u64,
    /// Links made: number, node and clock.
    pub links: Vec<(u32, u32, u64)>,
}

impl Script {
    /// A thread that begins at a clock.
    pub fn new(start: u64) -> Script {
        Script { start, now: start, steps: Vec::new(), samples: Vec::new() }
    }

    /// Time passes.
    pub fn wait(mut self, ns: u64) -> Script {
        self.now += ns;
        self
    }

    /// Any event.
    pub fn event(mut self, event: Event) -> Script {
        self.steps.push((self.now, event));
        if let Event::Pause(ns) = event {
            self.now += ns;
        }
        self
    }

    /// So many samples meet what the thread is in.
    pub fn samples(mut self, samples: u64) -> Script {
        self.samples.push((self.steps.len(), samples));
        self
    }

    /// A method is entered.
    pub fn enter(self, id: u32) -> Script {
        self.event(Event::Entry(id))
    }

    /// A method returns.
    pub fn exit(self, id: u32) -> Script {
        self.event(Event::Exit(id))
    }

    /// An exception leaves a method.
    pub fn unwind(self, id: u32) -> Script {
        self.event(Event::Unwind(id))
    }

    /// A constructor is entered.
    pub fn construct(self, id: u32) -> Script {
        self.event(Event::ConstructorEntry(id))
    }

    /// A constructor's super() returns.
    pub fn super_returned(self, id: u32) -> Script {
        self.event(Event::SuperReturned(id))
    }

    /// A method catches an exception.
    pub fn caught(self, id: u32) -> Script {
        self.event(Event::Caught(id))
    }

    /// An object or array is made.
    pub fn make(self, class: u32, bytes: u64) -> Script {
        self.event(Event::Made { class, bytes })
    }

    /// What follows runs on behalf of a link.
    pub fn enter_link(self, link: u32) -> Script {
        self.event(Event::LinkEntered(link))
    }

    /// The link's work is done.
    pub fn leave_link(self, link: u32) -> Script {
        self.event(Event::LinkLeft(link))
    }

    /// A link is made.
    pub fn make_link(self, link: u32) -> Script {
        self.event(Event::LinkMade(link))
    }

    /// The recorder takes time for itself.
    pub fn pause(self, ns: u64) -> Script {
        self.event(Event::Pause(ns))
    }

    /// A call: `enter`, what the body does, `exit`.
    pub fn call(self, id: u32, body: impl FnOnce(Script) -> Script) -> Script {
        body(self.enter(id)).exit(id)
    }

    /// The same again and again.
    pub fn times(self, times: u32, body: impl Fn(Script) -> Script) -> Script {
        (0..times).fold(self, |script, _| body(script))
    }

    /// What a tree recorder has in the end.
    pub fn record(&self) -> Recorded {
        self.record_limited(usize::MAX, usize::MAX)
    }

    /// The same with limits: calls above `depth` frames, or that would be one context more than `contexts`, are deeper.
    pub fn record_limited(&self, depth: usize, contexts: usize) -> Recorded {
        self.recorded(depth, contexts, None)
    }

    /// What a recorder with samples has, which times only the calls of the methods `timed`.
    pub fn record_samples(&self, timed: &[u32]) -> Recorded {
        self.recorded(usize::MAX, usize::MAX, Some(timed))
    }

    fn recorded(&self, depth: usize, contexts: usize, timed: Option<&[u32]>) -> Recorded {
        let mut recorded = Recorded { last_event: self.start, ..Recorded::default() };
        recorded.tree.has_samples = timed.is_some();
        let mut recorder =
            Recorder { depth, contexts, timed, is_deep: Vec::new(), recorded, now: self.start };
        let mut samples = self.samples.iter().peekable();
        for (step, &(clock, event)) in self.steps.iter().enumerate() {
            while let Some((_, met)) = samples.next_if(|(behind, _)| *behind <= step) {
                recorder.sample(*met);
            }
            // These do not read the clock.
            let still = matches!(event, Event::Made { .. } | Event::Surplus(..) | Event::Dropped(_));
            recorder.now = if still { recorder.recorded.last_event } else { clock };
            recorder.event(event);
        }
        samples.for_each(|(_, met)| recorder.sample(*met));
        recorder.recorded
    }
}

struct Recorder<'a> {
    depth: usize,
    contexts: usize,
    /// Methods whose calls are timed; none: all are.
    timed: Option<&'a [u32]>,
    /// Of each frame: it is past a limit.
    is_deep: Vec<bool>,
    recorded: Recorded,
    now: u64,
}

impl Recorder<'_> {
    fn sample(&mut self, samples: u64) {
        let node = self.recorded.stack.last().map_or(0, |frame| frame.node);
        match self.recorded.tree.node_mut(node) {
            Some(node) => node.samples += samples,
            None => self.recorded.in_no_call += samples,
        }
    }

    fn event(&mut self, event: Event) {
        let ready = |id: u32| move |f: &Frame| !f.link && f.id == id && !f.pending;
        match event {
            Event::Made { .. } | Event::Surplus(..) | Event::Pause(_) | Event::Dropped(_) => {}
            Event::Later(_) | Event::Unknown(_) => return,
            _ => self.recorded.last_event = self.now,
        }
        match event {
            Event::Entry(id) => self.enter(TreeConsumer::Method(id), false),
            Event::ConstructorEntry(id) => self.enter(TreeConsumer::Method(id), true),
            Event::LinkEntered(link) => self.enter(TreeConsumer::Link(link), false),
            Event::Exit(id) => self.end(TreeConsumer::Method(id), ready(id), |c| &mut c.exits),
            Event::Unwind(id) => self.end(TreeConsumer::Method(id), ready(id), |c| &mut c.unwinds),
            Event::LinkLeft(link) => {
                self.end(TreeConsumer::Link(link), |f| f.link && f.id == link, |c| &mut c.exits);
            }
            Event::SuperReturned(id) => {
                if self.find(TreeConsumer::Method(id), |f| !f.link && f.id == id && f.pending) {
                    self.recorded.stack.last_mut().expect("it was found").pending = false;
                }
            }
            Event::Caught(id) => {
                self.find(TreeConsumer::Method(id), |f| !f.link && f.id == id);
            }
            Event::Surplus(frames, above) => {
                let above = above as usize;
                let first = self.recorded.stack.iter().skip(above).position(|f| f.pending);
                for _ in 0..frames {
                    let later = self.recorded.stack.iter().skip(above).position(|f| f.pending);
                    let Some(at) = later.map(|at| above + at) else { break };
                    // When it failed is not known.
                    self.is_deep[at] = true;
                    self.close(at, |c| &mut c.aborted);
                }
                if let Some(first) = first.filter(|_| frames > 0) {
                    (above + first..self.recorded.stack.len()).for_each(|at| self.move_to_caller(at));
                }
            }
            Event::Made { class, bytes } => {
                let node = self.recorded.stack.last().map_or(0, |f| f.node);
                let all = &mut self.recorded.allocations;
                let known = all.iter().position(|a| (a.node, a.class) == (node, class));
                let at = known.unwrap_or(all.len());
                if known.is_none() {
                    all.push(TreeAllocation { node, class, count: 0, bytes: 0 });
                }
                all[at].count += 1;
                all[at].bytes += bytes;
            }
            Event::LinkMade(link) => {
                let node = self.recorded.stack.last().map_or(0, |f| f.node);
                self.recorded.links.push((link, node, self.now));
            }
            Event::Pause(ns) => {
                self.recorded.pause += ns;
                let timed = self.recorded.stack.iter_mut().filter(|f| f.since != 0);
                timed.for_each(|f| f.since += ns);
                self.recorded.last_event += ns;
            }
            Event::Dropped(events) => self.recorded.dropped += events,
            Event::Gone(frames) => {
                self.close_to(self.recorded.stack.len().saturating_sub(frames as usize));
            }
            Event::Later(_) | Event::Unknown(_) => {}
        }
    }

    fn child(&mut self, parent: u32, consumer: TreeConsumer) -> Option<u32> {
        let nodes = &mut self.recorded.tree.nodes;
        if let Some(at) = nodes.iter().position(|n| (n.parent, n.consumer) == (parent, consumer)) {
            return Some(at as u32 + 1);
        }
        (nodes.len() < self.contexts).then(|| {
            nodes.push(TreeNode::new(consumer, parent));
            nodes.len() as u32
        })
    }

    /// A node without bounds on their number: one for each method at most is made.
    fn deeper(&mut self, consumer: TreeConsumer) -> u32 {
        let contexts = std::mem::replace(&mut self.contexts, usize::MAX);
        let deeper = self.child(0, TreeConsumer::Deeper).unwrap_or(0);
        let node = self.child(deeper, consumer).unwrap_or(0);
        self.contexts = contexts;
        node
    }

    fn enter(&mut self, consumer: TreeConsumer, pending: bool) {
        let (node, deep) = self.context(consumer);
        let (id, link) = match consumer {
            TreeConsumer::Method(id) => (id, false),
            TreeConsumer::Link(link) => (link, true),
            TreeConsumer::Deeper => (0, false),
        };
        let is_timed = self.timed.is_none_or(|timed| !link && timed.contains(&id));
        let since = if deep || !is_timed { 0 } else { self.now };
        self.recorded.stack.push(Frame { id, pending, link, node, since });
        self.is_deep.push(deep);
        let node = &mut self.recorded.tree.nodes[node as usize - 1];
        node.entries += 1;
        node.open += 1;
    }

    /// The call at this place goes on under the one beneath, which was not its caller when it began.
    fn move_to_caller(&mut self, at: usize) {
        let frame = self.recorded.stack[at];
        let consumer = if frame.link { TreeConsumer::Link(frame.id) } else { TreeConsumer::Method(frame.id) };
        let caller = at.checked_sub(1);
        let parent = caller.map_or(0, |caller| self.recorded.stack[caller].node);
        let fits = caller.is_none_or(|caller| !self.is_deep[caller]) && at < self.depth;
        let Some(node) = fits.then(|| self.child(parent, consumer)).flatten() else {
            self.deeper(consumer);
            return;
        };
        if !self.is_deep[at] {
            for (node, change) in [(frame.node, u64::MAX), (node, 1)] {
                let node = &mut self.recorded.tree.nodes[node as usize - 1];
                node.entries = node.entries.wrapping_add(change);
                node.open = node.open.wrapping_add(change);
            }
            self.recorded.stack[at].node = node;
        }
    }

    /// The context of a consumer under the topmost frame, and whether it is past a limit.
    fn context(&mut self, consumer: TreeConsumer) -> (u32, bool) {
        let parent = self.recorded.stack.last().map_or(0, |f| f.node);
        if self.is_deep.last() != Some(&true)
            && self.recorded.stack.len() < self.depth
            && let Some(node) = self.child(parent, consumer)
        {
            return (node, false);
        }
        (self.deeper(consumer), true)
    }

    fn close(&mut self, at: usize, column: impl Fn(&mut Closes) -> &mut u64) {
        let frame = self.recorded.stack.remove(at);
        let node = &mut self.recorded.tree.nodes[frame.node as usize - 1];
        node.open -= 1;
        *column(&mut node.closes) += 1;
        if !self.is_deep.remove(at) && frame.since != 0 {
            node.timed += u64::from(self.timed.is_some());
            let ns = self.now - frame.since;
            node.ns += ns;
            node.min = node.min.min(ns);
            node.max = node.max.max(ns);
            node.sum_squares += (ns as f64) * (ns as f64);
        }
    }

    /// Closes all above the topmost frame that fits; false: none does, and the event is unmatched.
    fn find(&mut self, consumer: TreeConsumer, fits: impl Fn(&Frame) -> bool) -> bool {
        let Some(at) = self.recorded.stack.iter().rposition(fits) else {
            let (node, _) = self.context(consumer);
            self.recorded.tree.nodes[node as usize - 1].unmatched += 1;
            return false;
        };
        self.close_to(at + 1);
        true
    }

    /// Closes all frames but so many.
    fn close_to(&mut self, frames: usize) {
        while self.recorded.stack.len() > frames {
            let top = self.recorded.stack.len() - 1;
            if self.recorded.stack[top].pending {
                self.close(top, |c| &mut c.aborted);
            } else {
                self.close(top, |c| &mut c.unclosed);
            }
        }
    }

    fn end(
        &mut self,
        consumer: TreeConsumer,
        fits: impl Fn(&Frame) -> bool,
        column: impl Fn(&mut Closes) -> &mut u64,
    ) {
        if self.find(consumer, fits) {
            self.close(self.recorded.stack.len() - 1, column);
        }
    }
}
