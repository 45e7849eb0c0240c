//! Processes that call each other, as one process: what a server did for a call stands below the context that made it
//! ([`crate::merge`]), so a sum over thousands of such programs is one over equal keys, as it is of single processes.
//!
//! The remote method is a context, `remote NAME`, and what was done for it stands below. Processes and threads that lie
//! within are left out: they are in no key.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::figures::Process;
use super::inputs::{BUILD, Input, Inputs, SERVICE};
use super::known::Known;
use super::labels::{Labels, Sources};
use super::place::Partition;
use super::process;
use super::schema::{PROCESSES, VALUES};
use super::{Files, Folder, Written, remote};
use crate::hash::HashMap;
use crate::load::{ContextCalls, pools, thread_rows};
use crate::merge::{Processes, View};
use crate::model::{Arcflow, Kind, NodeId};
use crate::session::{Error, ProfileFile, Request, Session};
use crate::uncertainty::accompanies;

/// Threads of calls that nobody is known to have made.
const SERVING: &str = "(remote calls)";

/// Writes profiles of programs that call each other as one process of a dataset. `view` is of all of them.
///
/// # Errors
/// As those of [`super::write`], and of matching the calls.
pub fn write_together<F: Folder>(
    paths: &[PathBuf],
    labels: &Sources,
    internals: bool,
    folder: &mut F,
) -> Result<Written, Error> {
    let inputs = Inputs::read(paths, labels)?;
    let files = inputs.all.iter().map(|input| input.path.clone()).collect();
    let request =
        Request { files, since: vec![PathBuf::from("start")], contexts: true, ..Request::default() };
    let mut processes = Processes::open(&request)?;
    let view = View { roots: Vec::new(), is_server: false, internals };
    let (mut session, _) = processes.tree(&request, &view, true)?;
    let mut messages = inputs.messages;
    messages.append(&mut processes.messages);
    messages.append(&mut session.messages);
    let input = one(&inputs.all, processes.files.iter());
    (session.model, session.contexts) = as_one(&session, &processes, &input);
    session.profiles = std::mem::take(&mut processes.files);

    let mut files = Files { folder, batch: &inputs.batch };
    let mut known = Known::default();
    let mut tables = process::Tables::new(|table| files.table(table, &input.partition));
    let mut rows = files.table(&PROCESSES, &input.partition);
    let process = Process::new(session);
    process::rows(&process, &input, &mut known, &mut tables, &mut files)?;
    process::process_row(&process.session, &input, &mut rows, &mut files)?;
    known.rows(&mut tables.methods, &mut files)?;
    let values = tables.finish(&mut files)?;
    // All ends of calls are those of this one process.
    let mut session = process.session;
    let ends: Vec<&Input> = session.profiles.iter().map(|_| &input).collect();
    let calling: Vec<_> = session.profiles.drain(..).collect();
    remote::rows(std::slice::from_ref(&input), &ends, &calling, &mut files)?;
    rows.finish(&mut files)?;
    Ok(Written { processes: 1, values, messages })
}

/// The one process: with the labels that all have in common.
fn one<'a>(all: &[Input], mut files: impl Iterator<Item = &'a ProfileFile>) -> Input {
    let mut labels: Labels = all.first().map(|input| input.labels.clone()).unwrap_or_default();
    labels.retain(|key, value| all.iter().all(|input| input.labels.get(key) == Some(value)));
    let start = files.by_ref().map(|file| file.profile.start_ms).min().unwrap_or(0);
    let services = all.iter().map(|input| input.partition.service.as_str());
    let mut services: Vec<&str> = services.collect();
    services.dedup();
    labels.entry(SERVICE.into()).or_insert_with(|| services.join("+"));
    let mut hash = Sha256::new_with_prefix("together");
    all.iter().for_each(|input| hash.update(input.key));
    let hash: [u8; 32] = hash.finalize().into();
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    let partition = Partition::new(&labels[SERVICE], labels.get(BUILD).map(String::as_str), start);
    Input { path: all[0].path.clone(), key, labels, partition, has_remote_calls: true, content: hash }
}

/// The tree of all processes as that of one, with the figures that datasets have columns for.
fn as_one(session: &Session, processes: &Processes, input: &Input) -> (Arcflow, Vec<ContextCalls>) {
    let model = &session.model;
    let mut rows: HashMap<(&str, String), String> = HashMap::default();
    for (file, label) in processes.files.iter().zip(&processes.labels) {
        let methods = |copy, id| file.names.method(copy, id);
        let single = thread_rows::single(&file.profile);
        rows.extend(
            single.into_iter().zip(pools(&file.profile, &methods)).map(|(of, pool)| ((&**label, of), pool)),
        );
    }
    let has_column = |name: &str| name == "unwinds" || VALUES.position(&name.replace('-', "_")).is_some();
    let kept: Vec<usize> = (0..model.resources().len())
        .filter(|&r| accompanies(&model.resources()[r]) || has_column(&model.resources()[r].name))
        .collect();
    let mut one = model.emptied_with(kept.iter().map(|&r| model.resources()[r].clone()).collect());
    let process = child(&mut one, Arcflow::ROOT, Kind::Process, &input.labels[SERVICE]);
    one.meet(process, 1);
    let mut places = vec![Arcflow::ROOT; model.nodes().len()];
    let mut contexts = Vec::new();
    for (i, node) in model.nodes().iter().enumerate().skip(1) {
        let (above, name) = (places[node.parent.0 as usize], model.name(node.consumer));
        places[i] = match node.kind {
            Kind::Process if node.parent == Arcflow::ROOT => process,
            Kind::Thread if above == process => {
                let label = model.name(model.node(node.parent).consumer);
                let pool = rows.get(&(label, name.to_owned())).map_or(name, String::as_str);
                let at = child(&mut one, process, Kind::Thread, pool);
                one.meet(at, node.n);
                at
            }
            Kind::Root | Kind::Process | Kind::Thread => above,
            Kind::Link | Kind::Deeper | Kind::Method => {
                let above =
                    if above == process { child(&mut one, process, Kind::Thread, SERVING) } else { above };
                let at = child(&mut one, above, node.kind, name);
                one.meet(at, node.n);
                if contexts.len() <= at.0 as usize {
                    contexts.resize(at.0 as usize + 1, ContextCalls::default());
                }
                if let Some(of) = session.contexts.get(i) {
                    contexts[at.0 as usize].add(of);
                }
                at
            }
        };
        let base = model.base(NodeId(i as u32));
        for (to, &from) in one.base_mut(places[i]).iter_mut().zip(&kept) {
            *to += base[from];
        }
    }
    (one, contexts)
}

fn child(model: &mut Arcflow, below: NodeId, kind: Kind, name: &str) -> NodeId {
    let consumer = model.consumer(name);
    model.child(below, kind, consumer)
}
