//! What a budget does where the calibration says that recording took more than there was.

use std::error::Error;
use std::fs;

use instrument_analysis::advice::{Advice, Spent};
use instrument_analysis::arcs::Arcs;
use instrument_analysis::correction::Correction;
use instrument_analysis::session::{Request, Session};
use instrument_names::id_map::gz;
use instrument_testing::{Script, Writer};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const IDS: &str = "instrument ids 1\nclass a/Shop Shop.java\n1 main ([Ljava/lang/String;)V 9 1 0000000000000000\n\
                   2 work ()V 1 2 0000000000000000\n3 get ()I 1 3 0000000000000000\n";

/// `main` calls `work` so often, 10 µs each, and `get` 20,000 times a call of `work` while that is not excluded, 10 ns each.
fn at(works: u32, recorded: u32) -> Result<Session> {
    with([35.0, 161.0], works, recorded)
}

fn with([inner, outer]: [f64; 2], works: u32, recorded: u32) -> Result<Session> {
    let get = |s: Script| s.enter(3).wait(8).exit(3).wait(2);
    let work = |s: Script, gets: u32| s.enter(2).wait(10_000).times(gets, get).exit(2);
    let script = Script::new(1000).enter(1).times(recorded, |s| work(s, 20_000));
    let script = script.times(works - recorded, |s| work(s, 0)).exit(1);
    let mut writer = Writer::new();
    writer.id_map(&gz::compress(IDS.as_bytes()));
    writer.tree("main", &script);
    writer.property("record", "tree").property("timing", "sampled:32").clocks(0, 5000);
    writer.calibrated(inner, outer);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a.iprof");
    fs::write(&file, writer.finish())?;
    Ok(Session::read(&Request { files: vec![file], ..Request::default() })?)
}

fn advice(earlier: &Session, now: &Session, cpu_ns: Option<[f64; 2]>) -> Result<Advice> {
    let [before, after] = cpu_ns.map_or([None; 2], |both| both.map(Some));
    let arcs = [earlier, now].map(|session| Arcs::new(&session.model));
    let [earlier, spent] = [Spent::of(earlier, &arcs[0], before)?, Spent::of(now, &arcs[1], after)?];
    Ok(Advice::between(now, &arcs[1], 5.0, &earlier, &spent))
}

#[test]
fn calls_are_left_out_though_their_cost_is_only_known_to_be_high() -> Result<()> {
    let [early, late] = [at(2, 2)?, at(4, 4)?];
    let refused = Advice::of(&late, &Arcs::new(&late.model), 5.0).unwrap_err().to_string();
    assert!(refused.contains("its calibration says that recording took"), "{refused}");
    let advice = advice(&early, &late, None)?;
    let left_out: Vec<_> = advice.leave_out.iter().map(|one| (one.pattern.as_str(), one.calls)).collect();
    assert_eq!(left_out, [("a.Shop.get()", 80_000)]);
    // Two calls of work and 40,000 of get took 420 µs, of which a tenth is taken for the program's.
    assert!((advice.running_ns - 42_000.0).abs() < 100.0, "{}", advice.running_ns);
    assert!(
        advice.is_estimate && advice.recorded.percent > 800.0 && advice.is_within,
        "{:?}",
        advice.recorded
    );
    Ok(())
}

#[test]
fn what_was_left_out_before_costs_nothing_more() -> Result<()> {
    // The last 10 calls of work took 100 µs.
    let advice = advice(&at(4, 4)?, &at(14, 4)?, None)?;
    assert_eq!(advice.leave_out, []);
    assert!(advice.running_ns > 99_800.0 && advice.recorded.percent < 0.2, "{:?}", advice.recorded);
    Ok(())
}

#[test]
fn waiting_for_a_processor_is_no_running_time() -> Result<()> {
    // Of the 420 µs between the two others had 320.
    let advice = advice(&at(2, 2)?, &at(4, 4)?, Some([100_000.0, 200_000.0]))?;
    assert_eq!(advice.leave_out.len(), 1);
    assert!((advice.running_ns - 10_000.0).abs() < 100.0, "{}", advice.running_ns);
    // The same where the cost is known: of 200 µs, 40,000 calls took 2 ns each.
    let known = [2, 4].map(|works| with([1.0, 1.0], works, works));
    let [early, late] = known.map(|session| session.map(|session| (Arcs::new(&session.model), session)));
    let [(early_arcs, early), (arcs, late)] = [early?, late?];
    let running = |cpu_ns: [f64; 2]| -> Result<f64> {
        let early = Spent::of(&early, &early_arcs, Some(cpu_ns[0]))?;
        let spent = Spent::of(&late, &arcs, Some(cpu_ns[1]))?;
        Ok(Advice::between(&late, &arcs, 5.0, &early, &spent).running_ns)
    };
    let [quiet, loaded] = [running([0.0, 1e9])?, running([0.0, 200_000.0])?];
    assert!((quiet - 340_000.0).abs() < 100.0 && (loaded - 120_000.0).abs() < 100.0, "{quiet} {loaded}");
    Ok(())
}

#[test]
fn a_correction_that_leaves_next_to_nothing_is_an_estimate() -> Result<()> {
    // 12 ns of recording a call where it took 10.5: not enough to refuse the correction.
    let [early, late] = [with([5.5, 6.5], 2, 2)?, with([5.5, 6.5], 4, 4)?];
    assert_eq!(late.model.correction, Correction::Applied);
    let found = advice(&early, &late, None)?;
    let left_out: Vec<_> = found.leave_out.iter().map(|one| one.pattern.as_str()).collect();
    assert!(found.is_estimate && left_out == ["a.Shop.get()"], "{left_out:?}");
    assert!((found.running_ns - 42_000.0).abs() < 100.0, "{}", found.running_ns);
    let refused = Advice::of(&late, &Arcs::new(&late.model), 5.0).unwrap_err().to_string();
    assert!(refused.contains("% of the time that was measured, so nearly nothing is left"), "{refused}");
    // Without these calls it goes on, though nothing is left of the time before.
    let found = advice(&late, &with([5.5, 6.5], 14, 4)?, None)?;
    assert!(
        !found.is_estimate && found.leave_out.is_empty() && found.running_ns > 99_800.0,
        "{}",
        found.running_ns
    );
    Ok(())
}
