//! Classes: which are rewritten, how they load, and what the agent knows of them.

pub(crate) mod account;
pub(crate) mod early;
pub(crate) mod hidden;
pub(crate) mod in_hook;
pub(crate) mod load_event;
pub(crate) mod load_hook;
pub(crate) mod loaders;
pub(crate) mod method_ids;
pub(crate) mod native_methods;
pub(crate) mod other_agents;
pub(crate) mod own_probes;
pub(crate) mod retransform;
pub(crate) mod rules;
pub(crate) mod runtime_classes;
pub(crate) mod subgraph;
pub(crate) mod unrewritten;
