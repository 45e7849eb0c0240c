//! Single objects, by their ids.

use super::answer::{Asked, reason};
use crate::heap;
use crate::heap_dump::{Biographies, Tracked};
use instrument_rewriter::class_file::mutf8;
use serde_json::{Value, json};

impl Asked<'_> {
    pub(super) fn object(self, id: i64) -> Result<Value, String> {
        let object = self.find(id)?;
        let mut all = self.one_monitor(&object)?;
        let monitor = all.clone();
        let bytes = self.jvmti.object_size(&object).map_err(reason)?;
        all.as_object_mut().into_iter().for_each(|all| all.retain(|key, _| key == "id" || key == "class"));
        all["bytes"] = bytes.into();
        all["monitor"] = monitor;
        if let Some((_, thread, context)) = heap::object(id) {
            all["made"] = json!({ "thread": thread, "context": context, "stack": self.stack(context) });
        }
        Ok(all)
    }

    /// The methods of a context, the innermost first.
    fn stack(self, context: u32) -> Vec<String> {
        let Some(biographies) = Biographies::of(&self.agent.hook, self.jni) else { return Vec::new() };
        let text = |bytes: &[u8]| mutf8::escape(bytes).replace('/', ".");
        let name = |id| {
            let method = biographies.method(id)?;
            Some(format!("{}.{}", text(&method.class), text(&method.name)))
        };
        let chain = biographies.chain(self.jni, context).into_iter();
        chain.map(|id| name(id).unwrap_or_else(|| format!("#{id}"))).collect()
    }
}
