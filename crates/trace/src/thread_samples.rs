//! What a sampler has noted of a thread beside the samples of its contexts.

use crate::format::{SIGNAL_TAKEN, USER_ONLY};

/// What makes samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleSource {
    /// A perf event of the software clock.
    #[default]
    Perf,
    /// A POSIX timer on the CPU clock of the thread.
    Timer,
    /// A thread of the recorder that looks at the others.
    Thread,
    /// One that this reader does not know, by its number.
    Other(u32),
}

/// The samples of a thread, or of a sum of ended ones, that no context has, and what all of them stand for: the CPU time of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadSamples {
    /// ns of CPU time between two samples, as was asked for.
    pub period_ns: u64,
    /// What made them.
    pub source: SampleSource,
    /// Samples meet the thread only in user code: CPU time that they leave is the kernel's.
    pub user_only: bool,
    /// Another handler had the signal at the end: samples are missing, and nobody knows which.
    pub signal_taken: bool,
    /// The squares of what each sample counts for, added up; 0: each counts for one.
    pub squares: u64,
    /// CPU time of the thread since its first event, ns.
    pub cpu_ns: u64,
    /// Samples that met the recorder's probes.
    pub in_probes: u64,
    /// Samples that met no recorded call.
    pub in_no_call: u64,
    /// Samples of which it is not known what they met.
    pub unattributed: u64,
    /// Of the samples of contexts, those that met the virtual machine's own code.
    pub in_vm: u64,
    /// CPU time of the sampler itself, ns.
    pub handler_ns: u64,
}

impl SampleSource {
    fn new(number: u32) -> SampleSource {
        match number {
            1 => SampleSource::Perf,
            2 => SampleSource::Timer,
            3 => SampleSource::Thread,
            other => SampleSource::Other(other),
        }
    }

    fn number(self) -> u32 {
        match self {
            SampleSource::Perf => 1,
            SampleSource::Timer => 2,
            SampleSource::Thread => 3,
            SampleSource::Other(other) => other,
        }
    }
}

impl ThreadSamples {
    /// From words of the header, and the body.
    pub(crate) fn decode(header: [u64; 3], body: [u64; 8]) -> ThreadSamples {
        let [period_ns, source_flags, squares] = header;
        let [_, cpu_ns, in_probes, in_no_call, unattributed, in_vm, handler_ns, _] = body;
        let has = |flag: u32| (source_flags >> 32) as u32 & flag != 0;
        ThreadSamples {
            period_ns,
            source: SampleSource::new(source_flags as u32),
            user_only: has(USER_ONLY),
            signal_taken: has(SIGNAL_TAKEN),
            squares,
            cpu_ns,
            in_probes,
            in_no_call,
            unattributed,
            in_vm,
            handler_ns,
        }
    }

    /// Words of the header, and the body.
    #[doc(hidden)]
    pub fn encode(&self) -> ([u64; 3], [u64; 8]) {
        let flag = |is: bool, flag: u32| if is { u64::from(flag) } else { 0 };
        let flags = flag(self.user_only, USER_ONLY) | flag(self.signal_taken, SIGNAL_TAKEN);
        let ThreadSamples { cpu_ns, in_probes, in_no_call, unattributed, in_vm, handler_ns, .. } = *self;
        (
            [self.period_ns, flags << 32 | u64::from(self.source.number()), self.squares],
            [0, cpu_ns, in_probes, in_no_call, unattributed, in_vm, handler_ns, 0],
        )
    }

    /// Samples that no context has.
    pub fn outside(&self) -> u64 {
        self.in_probes.saturating_add(self.in_no_call).saturating_add(self.unattributed)
    }

    /// Adds the figures of another thread. What made the samples and how often is as it was, unless nothing is known of that here.
    pub fn add(&mut self, other: &ThreadSamples) {
        if self.period_ns == 0 {
            (self.period_ns, self.source, self.user_only) = (other.period_ns, other.source, other.user_only);
        }
        self.signal_taken |= other.signal_taken;
        self.each(other, u64::saturating_add);
    }

    /// Takes the figures of an earlier moment away.
    pub fn subtract(&mut self, earlier: &ThreadSamples) {
        self.each(earlier, u64::saturating_sub);
    }

    fn each(&mut self, other: &ThreadSamples, change: fn(u64, u64) -> u64) {
        for (figure, by) in [
            (&mut self.squares, other.squares),
            (&mut self.cpu_ns, other.cpu_ns),
            (&mut self.in_probes, other.in_probes),
            (&mut self.in_no_call, other.in_no_call),
            (&mut self.unattributed, other.unattributed),
            (&mut self.in_vm, other.in_vm),
            (&mut self.handler_ns, other.handler_ns),
        ] {
            *figure = change(*figure, by);
        }
    }
}
