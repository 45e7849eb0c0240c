//! `pause` and `resume`.

use super::server::Asked;
use crate::classes::in_hook::InHook;
use crate::classes::retransform::{each_loaded, send};
use crate::recording::sessions;
use instrument_control::answer::{Paused, Standstill};
use std::time::Instant;

impl Asked<'_> {
    /// Recording pauses; `bare`: and classes have their own bytes meanwhile. Calls that began before run on in the code that they began in, so
    /// their ends are told of.
    pub(super) fn pause(self, bare: bool) -> Result<Paused, String> {
        let _one_at_a_time = sessions::changing();
        let hook = &self.recorded()?.hook;
        if bare && hook.subgraph().is_some() {
            return Err("--bare and --subgraph do not go together: pause without --bare".to_owned());
        }
        let mut paused = self.set_paused(true)?;
        if bare && !hook.is_bare() {
            hook.be_bare(true);
            self.change_all(&mut paused)?;
        }
        Ok(paused)
    }

    /// Recording resumes, once all probes are there again.
    pub(super) fn resume(self) -> Result<Paused, String> {
        let _one_at_a_time = sessions::changing();
        let hook = &self.recorded()?.hook;
        let mut rewritten = Paused::default();
        if hook.is_bare() {
            hook.be_bare(false);
            // Who was inside a moment ago may have left a class as it is.
            InHook::wait_for_none(sessions::TO_LEAVE);
            self.change_all(&mut rewritten)?;
        }
        let Paused { classes, refused, ns, .. } = rewritten;
        Ok(Paused { classes, refused, ns, ..self.set_paused(false)? })
    }

    fn set_paused(self, on: bool) -> Result<Paused, String> {
        let was_on = self.recording()?.get("recording").is_some_and(|state| state == "paused");
        if !self.methods.pause(self.jni, on) {
            return Err("the recorder does not answer".to_owned());
        }
        let mut after = self.recording()?;
        let number = |key: &str| after.get(key).and_then(|number| number.parse().ok());
        let (pauses, paused_ns) = (number("pauses"), number("paused.ns"));
        let recording = after.remove("recording");
        Ok(Paused { recording, changed: was_on != on, pauses, paused_ns, ..Paused::default() })
    }

    /// Sends the classes with new bytes through the load hook once more.
    fn change_all(self, told: &mut Paused) -> Result<(), String> {
        let agent = self.recorded()?;
        let start = Instant::now();
        let names = agent.hook.rewritten();
        let mut classes = Vec::new();
        each_loaded(self.jvmti, self.jni, |class, name| {
            if names.contains(name.as_bytes()) && self.jvmti.is_modifiable(class) {
                classes.extend(self.jni.global(class));
            }
        });
        let mut stood = Standstill::default();
        send(self.jvmti, &classes, &mut stood);
        told.refused = stood.refused as u64;
        let changed = if agent.hook.is_bare() { classes.len() - stood.refused } else { stood.classes };
        told.classes = changed as u64;
        told.ns = start.elapsed().as_nanos() as u64;
        classes.into_iter().for_each(|class| self.jni.forget_global(class));
        Ok(())
    }
}
