//! Whose durations are kept from now on: `latency`.

use super::server::Asked;
use crate::classes::load_hook::Added;
use crate::recording::sessions;
use instrument_control::answer::Kept as Answer;
use instrument_control::latency::Kept;
use instrument_control::word::Record;
use instrument_names::word::Word as _;

impl Asked<'_> {
    /// The durations of these methods are kept from now on. No class is rewritten.
    pub(super) fn keep_durations(self, patterns: &[String]) -> Result<Answer, String> {
        let _one_at_a_time = sessions::changing();
        self.profile()?;
        let agent = self.agent.ok_or("nothing is recorded")?;
        let live = agent.live.get().ok_or("nothing is recorded")?;
        let mut kept = Vec::new();
        for list in patterns {
            kept.extend(Kept::list(list)?);
        }
        let recording = self.recording()?;
        let record = recording.get("record").map_or(Ok(Record::Tree), |word| Record::of(word))?;
        Kept::check(&kept, record, agent.hook.records_calls)?;
        let added = agent.hook.keep_durations(kept);
        // Before the first call that is timed: a profile says what it was asked for.
        live.recorder.properties(self.jni, &format!("latency={}\n", added.patterns.join(",")));
        if !added.methods.is_empty() {
            live.recorder.keep_late(self.jni, &added.methods);
        }
        let Added { fitting: methods, other_threshold, patterns, .. } = added;
        Ok(Answer { methods, other_threshold, patterns })
    }
}
