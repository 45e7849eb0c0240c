//! Single objects, by their ids.

use super::answer::reason;
use super::server::Asked;
use crate::heap;
use crate::heap_dump::{ObjectLifetimes, Tracked};
use instrument_control::answer::{Made, ObjectDetails};
use instrument_rewriter::class_file::mutf8;

impl Asked<'_> {
    pub(super) fn object(self, id: i64) -> Result<ObjectDetails, String> {
        let object = self.find(id)?;
        let monitor = self.one_monitor(&object)?;
        let bytes = self.jvmti.object_size(&object).map_err(reason)?;
        let made =
            heap::object(id).map(|(_, thread, context)| Made { thread, context, stack: self.stack(context) });
        Ok(ObjectDetails { object: monitor.object.clone(), bytes, monitor, made })
    }

    /// The methods of a context, the innermost first.
    fn stack(self, context: u32) -> Vec<String> {
        let Some(agent) = self.agent else { return Vec::new() };
        let Some(biographies) = ObjectLifetimes::of(&agent.hook, self.jni) else { return Vec::new() };
        let text = |bytes: &[u8]| mutf8::escape(bytes).replace('/', ".");
        let name = |id| {
            let method = biographies.method(id)?;
            Some(format!("{}.{}", text(&method.class), text(&method.name)))
        };
        let chain = biographies.chain(self.jni, context).into_iter();
        chain.map(|id| name(id).unwrap_or_else(|| format!("#{id}"))).collect()
    }
}
