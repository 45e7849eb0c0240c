//! Which resources a model has, and where they are: as many as its profiles have recorded.

use super::{Process, samples};
use crate::correction::{self, Correction};
use crate::model::Resource;
use crate::thread_time::{self, RUNNING, WAITING, WALL};
use crate::uncertainty::companions;
use instrument_trace::Profile;

/// Indices of the resources.
pub(super) struct Columns {
    /// `wall`, if times are corrected.
    pub(super) wall: Option<usize>,
    /// `wall-raw`, if there are times.
    pub(super) raw: Option<usize>,
    /// `cpu`, with its noise, if CPU time is corrected.
    pub(super) cpu: Option<[usize; 3]>,
    pub(super) cpu_raw: Option<usize>,
    pub(super) allocations: usize,
    pub(super) bytes: Option<usize>,
    /// If executed instructions were counted.
    pub(super) bytecodes: Option<usize>,
    pub(super) live: Option<(usize, usize)>,
    pub(super) unwinds: usize,
    /// Of `running` and `waiting`.
    pub(super) parts: Option<(usize, usize)>,
    /// Of `contended` and `object-wait`.
    pub(super) waits: Option<(usize, usize)>,
    /// If times are samples.
    pub(super) samples: Option<samples::Columns>,
    /// Of base, and of cum.
    pub(super) noise: Option<(usize, usize)>,
    pub(super) variance: Option<(usize, usize)>,
}

/// The resources so far, in the order of their indices.
#[derive(Default)]
struct Resources(Vec<Resource>);

impl Resources {
    /// The index of a new one, if it is wanted.
    fn add(&mut self, name: &str, unit: &str, wanted: bool) -> Option<usize> {
        wanted.then(|| {
            self.0.push(Resource { name: name.into(), unit: unit.into() });
            self.0.len() - 1
        })
    }
}

pub(super) fn resources(processes: &[Process<'_>], correction: &Correction) -> (Vec<Resource>, Columns) {
    let threads = || processes.iter().flat_map(|p| &p.profile.threads);
    let with_samples = || processes.iter().filter(|process| samples::are_in(process.profile));
    let timed = || processes.iter().filter(|process| !samples::are_in(process.profile));
    let trees = || timed().flat_map(|p| &p.profile.threads).filter_map(|t| t.tree.as_ref());
    let has_times = trees().next().is_some();
    let corrected = *correction == Correction::Applied;
    let mut resources = Resources::default();
    let mut add = |name: &str, unit: &str, wanted: bool| resources.add(name, unit, wanted);
    let knows_waits = |process: &Process<'_>| process.waits.is_some() || process.blocks.is_some();
    let has_samples = with_samples().next().is_some();
    // Of one kind: see `Session`.
    let event = with_samples().find_map(|process| process.profile.sampled_event());
    let (sampled, unit) =
        event.map_or((RUNNING, "ns"), |event| (event, if event == WALL { "ns" } else { "" }));
    let of_samples = add(sampled, unit, has_samples);
    let waiting_beside = add(WAITING, "ns", with_samples().any(knows_waits));
    let of_samples = of_samples.zip(add("samples", "", has_samples)).zip(add("probes", unit, has_samples));
    // The whole stands in front of its parts.
    let wall = add("wall", "ns", corrected);
    let uncorrected = add("wall-raw", "ns", has_times && !corrected);
    let has_waits = processes.iter().any(|process| process.waits.is_some());
    // Running time is either that of samples, or what is left of the thread's.
    let has_parts = has_times && !has_samples && timed().any(knows_waits);
    let [running, waiting] = thread_time::parts(corrected).map(|name| add(name, "ns", has_parts));
    let raw = uncorrected.or_else(|| add("wall-raw", "ns", has_times));
    let has_cpu = trees().any(|tree| tree.cpu);
    let cpu_corrected = corrected && has_cpu && processes.iter().all(|p| cpu_is_known(p.profile));
    let cpu = add("cpu", "ns", cpu_corrected);
    let cpu_raw = add("cpu-raw", "ns", has_cpu);
    let allocations = add("allocations", "", true).unwrap_or_default();
    let is_followed = processes.iter().any(|process| process.biographies.is_some());
    let bytes = add("bytes", "bytes", threads().any(|thread| thread.tree.is_some()) || is_followed);
    let has_bytecodes = threads().any(|t| t.methods.values().any(|method| method.bytecodes > 0));
    let bytecodes = add("bytecodes", "", has_bytecodes);
    let live = add("live", "", is_followed).zip(add("live-bytes", "bytes", is_followed));
    let unwinds = add("unwinds", "", true).unwrap_or_default();
    let waits = add("contended", "ns", has_waits).zip(add("object-wait", "ns", has_waits));
    let [noise, cum_noise, variance, cum_variance] =
        companions(if corrected { "wall" } else { "wall-raw" }, "ns");
    let noise = add(&noise.name, &noise.unit, corrected);
    let cum_noise = add(&cum_noise.name, &cum_noise.unit, corrected);
    let [base, cum, ..] = companions(sampled, unit);
    let doubt = add(&base.name, &base.unit, has_samples).zip(add(&cum.name, &cum.unit, has_samples));
    let samples = of_samples.zip(doubt).map(|(((running, samples), probes), noise)| samples::Columns {
        running,
        waiting: waiting_beside,
        samples,
        probes,
        noise,
    });
    let sampled = trees().any(|tree| tree.sampled);
    let variance = add(&variance.name, &variance.unit, sampled);
    let cum_variance = add(&cum_variance.name, &cum_variance.unit, sampled);
    let (variance, parts) = (variance.zip(cum_variance), running.zip(waiting));
    let noise = noise.zip(cum_noise);
    let [base, cum, ..] = companions("cpu", "ns");
    let (base, cum) = (add(&base.name, &base.unit, cpu_corrected), add(&cum.name, &cum.unit, cpu_corrected));
    let cpu = cpu.zip(base).zip(cum).map(|((cpu, base), cum)| [cpu, base, cum]);
    let columns = Columns {
        wall,
        raw,
        cpu,
        cpu_raw,
        allocations,
        bytes,
        bytecodes,
        live,
        unwinds,
        parts,
        waits,
        samples,
        noise,
        variance,
    };
    (resources.0, columns)
}

/// All are corrected or none: what is added up has to be the same.
pub(super) fn correction(processes: &[Process<'_>]) -> Correction {
    // Nothing is taken out of samples.
    let timed = || processes.iter().filter(|process| !samples::are_in(process.profile));
    let refusal = timed().find_map(|p| correction::refusal(p.profile, &p.name));
    match refusal {
        Some(refusal) => Correction::Refused(refusal),
        None if timed().any(|p| p.profile.threads.iter().any(|t| t.tree.is_some())) => Correction::Applied,
        None => Correction::None,
    }
}

/// Whether what probes cost in CPU time is known of every thread of which CPU time was recorded.
fn cpu_is_known(profile: &Profile) -> bool {
    profile.threads.iter().all(|thread| match &thread.tree {
        Some(tree) if tree.cpu => {
            !tree.sampled && correction::cost(profile, thread).is_some_and(|cost| cost.cpu.is_some())
        }
        _ => true,
    })
}
