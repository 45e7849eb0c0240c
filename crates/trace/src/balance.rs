//! The balance of calls: entries = exits + unwinds + aborted + unclosed + open.

use crate::method::Method;
use crate::profile::Profile;
use crate::thread::Thread;
use crate::tree::TreeConsumer;

/// A method or context whose calls do not balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imbalance {
    /// Index in [`Profile::threads`].
    pub thread: usize,
    /// Method id; the number of a link, if that is the consumer.
    pub id: u32,
    /// Node of the thread's tree; 0: it has none.
    pub node: u32,
    /// Whose counts they are; `None`: of all methods of the thread.
    pub consumer: Option<TreeConsumer>,
    /// The counts.
    pub method: Method,
}

impl Profile {
    /// Methods whose calls do not balance in some thread, and such contexts, where there is a tree. An event that was being
    /// written when the process ended is no violation: see [`Profile::in_flight`].
    pub fn imbalances(&self) -> Vec<Imbalance> {
        self.unbalanced().into_iter().filter(|i| !self.is_in_flight(i)).collect()
    }

    /// Events that were being written when the process ended: at most one for each thread.
    pub fn in_flight(&self) -> usize {
        self.unbalanced().iter().filter(|i| self.is_in_flight(i)).count()
    }

    fn unbalanced(&self) -> Vec<Imbalance> {
        let threads = self.threads.iter().enumerate().filter(|(_, t)| !t.in_transition);
        let mut unbalanced = Vec::new();
        for (thread, t) in threads {
            unbalanced.extend(t.unbalanced().map(|(node, consumer, method)| {
                let id = match consumer {
                    Some(TreeConsumer::Method(id) | TreeConsumer::Link(id)) => id,
                    Some(TreeConsumer::Deeper) | None => 0,
                };
                Imbalance { thread, id, node, consumer, method }
            }));
        }
        unbalanced
    }

    fn is_in_flight(&self, imbalance: &Imbalance) -> bool {
        let top = self.threads[imbalance.thread].stack.last();
        let is_top = |frame: &crate::Frame| {
            if imbalance.node == 0 { frame.id == imbalance.id } else { frame.node == imbalance.node }
        };
        imbalance.consumer.is_some() && imbalance.method.balance() == -1 && top.is_some_and(is_top)
    }
}

impl Thread {
    /// The counts of all methods, if more or fewer calls returned than they have.
    fn excess(&self) -> Option<(u32, Option<TreeConsumer>, Method)> {
        let mut sum = Method::default();
        self.methods.values().for_each(|method| sum.add(method));
        sum.closes.exits = self.exits.filter(|_| self.excess_exits != 0)?;
        Some((0, None, sum))
    }

    fn unbalanced(&self) -> impl Iterator<Item = (u32, Option<TreeConsumer>, Method)> {
        let nodes = self.tree.iter().flat_map(|tree| &tree.nodes).zip(1..);
        let nodes = nodes.map(|(node, number)| (number, Some(node.consumer), node.counts()));
        // The methods of a tree are sums over its nodes.
        let methods = self.methods.iter().filter(|_| self.tree.is_none());
        let methods = methods.map(|(&id, &method)| (0, Some(TreeConsumer::Method(id)), method));
        nodes.chain(methods).filter(|(.., method)| method.balance() != 0).chain(self.excess())
    }
}
