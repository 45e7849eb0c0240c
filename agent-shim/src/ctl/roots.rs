//! More roots, or fewer, while the recording goes on: `root` and `remove`.

use super::server::Asked;
use crate::classes::subgraph::{Subgraph, change};
use crate::recording::agent::AGENT;
use crate::recording::agent::Agent;
use crate::recording::agent::Live;
use crate::recording::recorder::Action;
use crate::recording::sessions;
use instrument_control::answer::Rooted;
use instrument_control::keys;
use std::time::Duration;

impl<'a> Asked<'a> {
    /// These methods are roots from now on.
    pub(super) fn add_roots(self, methods: &[String]) -> Result<Rooted, String> {
        let _one_at_a_time = sessions::changing();
        let (agent, live, subgraph) = self.followed()?;
        let patterns = agent.hook.add_roots(methods)?;
        let done = change::add(agent, live, subgraph, (self.jvmti, self.jni), patterns.clone());
        let ids = agent.hook.ids_of(&patterns);
        live.recorder.selection_change(self.jni, Action::AddRoots, &ids, methods);
        let mut unmatched = agent.hook.unfitted();
        unmatched.retain(|(key, root)| key == keys::ROOT && methods.contains(root));
        Ok(rooted(agent, subgraph, 0, unmatched, done.time))
    }

    /// These roots are none any more. What is open beneath them runs out, and what was recorded stays.
    pub(super) fn remove_roots(self, methods: &[String]) -> Result<Rooted, String> {
        let _one_at_a_time = sessions::changing();
        let (agent, live, subgraph) = self.followed()?;
        let removed = agent.hook.remove_roots(methods)?;
        live.recorder.selection_change(self.jni, Action::RemoveRoots, &removed.ids, methods);
        live.recorder.remove_roots(self.jni, &removed.ids);
        let done = change::remove(agent, live, subgraph, (self.jvmti, self.jni), &removed.places);
        // A class that was on its way may have told of them once more.
        live.recorder.remove_roots(self.jni, &removed.ids);
        Ok(rooted(agent, subgraph, done.restored, Vec::new(), done.time))
    }

    /// The recording, if its roots can change.
    fn followed(self) -> Result<(&'a Agent, &'a Live, &'a Subgraph), String> {
        self.profile()?;
        let agent = self.recorded()?;
        let is_current = AGENT.get().is_some_and(|current| std::ptr::eq(current, agent));
        let live = agent.live.get().filter(|_| is_current).ok_or("the recording has ended")?;
        let pid = std::process::id();
        let subgraph = agent.hook.subgraph().ok_or_else(|| {
            format!("roots can change only while what they call is followed, and this recording has no --subgraph: `instrument ctl {pid} stop` ends it, and `instrument attach {pid} --root METHOD --subgraph` begins one that can")
        })?;
        Ok((agent, live, subgraph))
    }
}

fn rooted(
    agent: &Agent,
    subgraph: &Subgraph,
    restored: usize,
    unmatched: Vec<(String, String)>,
    time: Duration,
) -> Rooted {
    Rooted {
        roots: agent.hook.roots(),
        subgraph: subgraph.answer(),
        restored: restored as u64,
        unmatched,
        ns: time.as_nanos() as u64,
    }
}
