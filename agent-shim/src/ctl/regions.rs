//! Which code regions are timed from now on: `region`.

use super::server::Asked;
use crate::classes::retransform::{loaded, retransform_all};
use crate::recording::sessions;
use instrument_control::answer::Timed;
use instrument_rewriter::region::Region;
use std::time::Instant;

impl Asked<'_> {
    /// These regions are timed, or not any more: one retransformation of their classes.
    pub(super) fn change_regions(self, added: bool, regions: &[String]) -> Result<Timed, String> {
        let _one_at_a_time = sessions::changing();
        self.profile()?;
        let agent = self.agent.ok_or("nothing is recorded")?;
        let live = agent.live.get().ok_or("nothing is recorded")?;
        if agent.hook.subgraph().is_some() {
            let pid = std::process::id();
            return Err(format!(
                "regions and --subgraph do not go together: `instrument ctl {pid} stop` ends this recording, and `instrument attach {pid}` without --subgraph begins one that can time regions"
            ));
        }
        if agent.hook.is_bare() {
            return Err(format!(
                "classes have their own code in this pause: `instrument ctl {} resume` ends it",
                std::process::id()
            ));
        }
        let regions =
            regions.iter().map(|text| Region::parse(text).map_err(|error| format!("{text}: {error}")));
        let regions = regions.collect::<Result<Vec<Region>, String>>()?;
        let start = Instant::now();
        agent.hook.change_regions(added, &regions)?;
        if added {
            let name = |region: &Region| format!("region.{}={}\n", region.number, region.name);
            live.recorder.properties(self.jni, &regions.iter().map(name).collect::<String>());
        }
        let wanted = |name: &str| regions.iter().any(|region| region.is_in(name.as_bytes()));
        let classes = loaded(agent, live, self.jvmti, self.jni, wanted);
        let count = classes.len() as u64;
        if count > 0 {
            retransform_all(self.jvmti, self.jni, classes);
        }
        Ok(Timed {
            regions: agent.hook.timed_regions(),
            classes: count,
            faults: if added { agent.hook.region_faults(&regions) } else { Vec::new() },
            ns: start.elapsed().as_nanos() as u64,
        })
    }
}
