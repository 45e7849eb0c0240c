//! Which methods are recorded from now on: `exclude` and `include`.

use super::server::Asked;
use crate::classes::retransform::{loaded, retransform_all};
use crate::recording::recorder::Action;
use instrument_control::answer::Selected;
use instrument_names::pattern::Pattern;
use std::time::Instant;

impl Asked<'_> {
    /// Methods that fit lose their probes, or get them back: one retransformation of their classes.
    pub(super) fn select(self, excluded: bool, methods: &[String]) -> Result<Selected, String> {
        self.profile()?;
        let agent = self.agent.ok_or("nothing is recorded")?;
        let live = agent.live.get().ok_or("nothing is recorded")?;
        let mut patterns = Vec::new();
        for list in methods {
            patterns.extend(Pattern::list(list).map_err(|error| error.to_string())?);
        }
        let texts: Vec<String> = patterns.iter().map(|pattern| pattern.text().to_owned()).collect();
        let start = Instant::now();
        let changed = agent.hook.change(excluded, patterns)?;
        let action = if excluded { Action::Exclude } else { Action::Include };
        let write = || live.recorder.selection_change(self.jni, action, &changed.ids, &texts);
        // Calls that are missing are missing from then on at the earliest, and all are there from then on at the latest.
        if excluded {
            write();
        }
        if !changed.classes.is_empty() {
            let wanted = |name: &str| changed.classes.contains(name.as_bytes());
            retransform_all(self.jvmti, self.jni, loaded(agent, live, self.jvmti, self.jni, wanted));
        }
        if !excluded {
            write();
        }
        Ok(Selected {
            methods: changed.ids.len() as u64,
            classes: changed.classes.len() as u64,
            roots: changed.roots as u64,
            ns: start.elapsed().as_nanos() as u64,
        })
    }
}
