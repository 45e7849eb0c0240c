//! What recording costs, as the recorder measured it: the properties `calibration.*`.

use crate::facts::Copy;

/// What recording costs, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Calibration {
    /// Part of the cost of one call's probes that falls into the call's own time.
    pub inner: f64,
    /// Part that falls into its caller's time.
    pub outer: f64,
    /// How much inner + outer differed between rounds: half the distance between the quartiles; 0 if the file does not say.
    pub spread: f64,
    /// Compiled and undisturbed rounds that the figures come from; `None` if the file does not say.
    pub rounds: Option<u64>,
    /// How many of those the recorder needs to trust its figures; `None` if the file does not say, as older ones do not.
    pub least_rounds: Option<u64>,
    /// Cost of one reading of the clock.
    pub clock: Option<f64>,
    /// Like `inner`, for a call that is counted but not timed.
    pub inner_untimed: Option<f64>,
    /// Like `outer`, for a call that is counted but not timed.
    pub outer_untimed: Option<f64>,
    /// What `inner_untimed` and `outer_untimed` together are beside calls that do little, more, and most; `None` if the file does not
    /// say. Files of recorders that measured two of them have the middle of both between.
    pub beside: Option<[Beside; 3]>,
    /// Cost of one allocation event.
    pub allocation: Option<f64>,
    /// Before the program began; under the agent, when it had run for a while.
    pub start: Option<Phase>,
    /// When the program ended.
    pub end: Option<Phase>,
    /// What the probes of a call add to readings of the thread's CPU time, if those are recorded.
    pub cpu: Option<CpuCost>,
}

/// One of the measurements that a calibration consists of, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Phase {
    /// See [`Calibration::inner`].
    pub inner: f64,
    /// See [`Calibration::outer`].
    pub outer: f64,
    /// See [`Calibration::spread`].
    pub spread: f64,
    /// See [`Calibration::rounds`].
    pub rounds: u64,
}

/// What an untimed call's probes cost in a loop of calls that do some work, in ns: processors do a part of a probe's work beside that.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Beside {
    /// What such a call takes without probes.
    pub call: f64,
    /// What its probes cost.
    pub cost: f64,
}

/// What the probes of a call cost in CPU time of the thread, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuCost {
    /// Part that falls into the call's own CPU time.
    pub inner: f64,
    /// Part that falls into its caller's.
    pub outer: f64,
}

impl Calibration {
    /// Whether the recorder measured as many rounds as it needs. False also for files that do not say how many it needs and have
    /// fewer than [`LEAST_ROUNDS`]; true for those that say nothing about rounds.
    pub fn is_sufficient(&self) -> bool {
        self.rounds.is_none_or(|rounds| rounds >= self.least_rounds.unwrap_or(LEAST_ROUNDS))
    }

    /// The phases that were measured.
    pub fn phases(&self) -> impl Iterator<Item = Phase> {
        [self.start, self.end].into_iter().flatten()
    }
}

/// The least number of rounds for files of recorders that did not write their own.
pub const LEAST_ROUNDS: u64 = 20;

impl Copy {
    /// What recording cost; `None` unless the file has both inner and outer.
    pub fn calibration(&self) -> Option<Calibration> {
        let ns = |key: &str| self.number(&format!("calibration.{key}")).filter(|ns: &f64| ns.is_finite());
        let phase = |name: &str| {
            Some(Phase {
                inner: ns(&format!("{name}.inner"))?,
                outer: ns(&format!("{name}.outer"))?,
                spread: ns(&format!("{name}.spread")).unwrap_or(0.0),
                rounds: self.number(&format!("calibration.{name}.rounds"))?,
            })
        };
        let beside = |kind: &str| {
            let cost = ns(&format!("outer.untimed{kind}"))? + ns("inner.untimed")?;
            Some(Beside { call: ns(&format!("call{kind}"))?, cost })
        };
        let beside = || {
            let (little, most) = (beside("")?, beside(".long")?);
            let between =
                || Beside { call: (little.call + most.call) / 2.0, cost: (little.cost + most.cost) / 2.0 };
            Some([little, beside(".middle").unwrap_or_else(between), most])
        };
        let cpu = || Some(CpuCost { inner: ns("cpu.inner")?, outer: ns("cpu.outer")? });
        Some(Calibration {
            inner: ns("inner")?,
            outer: ns("outer")?,
            spread: ns("spread").unwrap_or(0.0),
            rounds: self.number("calibration.rounds"),
            least_rounds: self.number("calibration.rounds.least"),
            clock: ns("clock"),
            inner_untimed: ns("inner.untimed"),
            outer_untimed: ns("outer.untimed"),
            beside: beside(),
            allocation: ns("allocation"),
            start: phase("start"),
            end: phase("end"),
            cpu: cpu(),
        })
    }
}
