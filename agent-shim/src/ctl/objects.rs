//! Single objects, by their ids.

use super::answer::{Asked, reason};
use serde_json::Value;

impl Asked<'_> {
    pub(super) fn object(self, id: i64) -> Result<Value, String> {
        let object = self.find(id)?;
        let mut all = self.one_monitor(&object)?;
        let monitor = all.clone();
        let bytes = self.jvmti.size_of(&object).map_err(reason)?;
        all.as_object_mut().into_iter().for_each(|all| all.retain(|key, _| key == "id" || key == "class"));
        all["bytes"] = bytes.into();
        all["monitor"] = monitor;
        Ok(all)
    }
}
