//! Calibrations that cannot be trusted: times are not corrected by them, and every report can say why.

use std::slice;

use instrument_analysis::correction::{Correction, EVIDENCE, MOST_SPREAD};
use instrument_analysis::load::{Options, Process, load};
use instrument_analysis::report::{self, Format};
use instrument_analysis::{Arcflow, NodeId};
use instrument_testing::{Script, Writer};
use instrument_trace::Profile;

/// m1 calls m2 `calls` times, `ns` each with what its probes take inside, and as much outside.
fn program(calls: u32, ns: u64) -> Writer {
    let leaf = |s: Script| s.enter(2).wait(ns).exit(2).wait(ns);
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).enter(1).wait(500).times(calls, leaf).exit(1));
    writer
}

fn model(profiles: &mut [Profile]) -> Arcflow {
    let names = |_: u32, id: u32| format!("m{id}");
    let processes = profiles.iter_mut().zip(1..);
    let mut processes: Vec<_> =
        processes.map(|(profile, i)| Process::new(profile, format!("p{i}"), &names)).collect();
    load(&mut processes, &Options::default()).model
}

fn with(mut writer: Writer, properties: &[(&str, &str)]) -> Profile {
    for (key, value) in properties {
        writer.property(&format!("calibration.{key}"), value);
    }
    Profile::parse(&writer.finish()).unwrap()
}

const GOOD: [(&str, &str); 4] = [("inner", "20"), ("outer", "20"), ("rounds", "500"), ("rounds.least", "20")];

#[track_caller]
fn refused(profile: Profile, cause: &str, reason: &str) {
    let model = model(&mut [profile]);
    let Correction::Refused(refusal) = &model.correction else { panic!("{:?}", model.correction) };
    assert_eq!((refusal.cause, &*refusal.process), (cause, "p1"));
    assert!(refusal.reason.contains(reason), "{}", refusal.reason);
    let line = model.correction.line().unwrap();
    assert!(line.starts_with("TIMES ARE NOT CORRECTED") && line.contains(reason), "{line}");
    // The time as measured under its own name, and nothing under the other.
    assert_eq!(model.resource("wall"), None);
    let raw = model.resource("wall-raw").unwrap();
    let all: f64 = model.ids().map(|id: NodeId| model.base(id)[raw]).sum();
    assert!(all > 0.0);
    assert!(model.resources().iter().all(|r| !r.name.contains("noise")), "{:?}", model.resources());
    let options = report::Options { format: Format::Json, ..Default::default() };
    let mut documents = [const { Vec::new() }; 3];
    report::xtree::write(&mut documents[0], &model, &options).unwrap();
    report::stats::write(&mut documents[1], &model, &Default::default(), &options).unwrap();
    report::diff::write(&mut documents[2], slice::from_ref(&model), slice::from_ref(&model), &options)
        .unwrap();
    for document in documents {
        let json: serde_json::Value = serde_json::from_slice(&document).unwrap();
        let correction = if json["report"] == "diff" { &json["correction"][1] } else { &json["correction"] };
        assert_eq!(
            (&correction["state"], &correction["cause"]),
            (&"refused".into(), &cause.into()),
            "{json}"
        );
    }
}

#[test]
fn a_good_calibration_is_used() {
    let model = model(&mut [with(program(2000, 21), &GOOD)]);
    assert_eq!(model.correction, Correction::Applied);
    assert_eq!(
        (model.correction.line(), model.correction.json().unwrap()["state"].as_str()),
        (None, Some("applied"))
    );
    let total = |name: &str| model.cum()[model.resource(name).unwrap()];
    assert_eq!(total("wall-raw") - total("wall"), 2000.0 * 40.0 + 20.0);
}

#[test]
fn too_few_rounds_are_refused() {
    let few = |rounds: &'static str| {
        with(
            program(2000, 21),
            &[("inner", "20"), ("outer", "20"), ("rounds", rounds), ("rounds.least", "30")],
        )
    };
    refused(few("29"), "too-few-rounds", "29 undisturbed rounds and needs 30");
    refused(few("1"), "too-few-rounds", "1 undisturbed round and needs 30");
    refused(few("0"), "too-few-rounds", "no undisturbed round and needs 30");
    assert_eq!(model(&mut [few("30")]).correction, Correction::Applied);
    // A recorder that does not say how many it needs.
    let old = |rounds| with(program(2000, 21), &[("inner", "20"), ("outer", "20"), ("rounds", rounds)]);
    refused(old("1"), "too-few-rounds", "needs 20");
    assert_eq!(model(&mut [old("20")]).correction, Correction::Applied);
}

#[test]
fn scattered_rounds_are_refused() {
    let spread = |ns: f64| {
        let ns = ns.to_string();
        with(program(2000, 21), &[&GOOD[..], &[("spread", &*ns)]].concat())
    };
    refused(
        spread(40.0 * MOST_SPREAD + 1.0),
        "scattered-rounds",
        "differ by 11 ns, the probes of a call cost 40 ns",
    );
    assert_eq!(model(&mut [spread(40.0 * MOST_SPREAD)]).correction, Correction::Applied);
}

/// 20 + 20 ns a call were taken; calibration says 35 + 161, as a disturbed one does.
#[test]
fn more_than_the_calls_took_is_refused() {
    let high = [("inner", "35"), ("outer", "161"), ("rounds", "500")];
    refused(
        with(program(2000, 20), &high),
        "implausible",
        "probes take 196 ns a call, but 2001 calls took 40 ns each",
    );
    // Inside alone: the callees are short, the callers are not.
    refused(
        with(program(2000, 20), &[("inner", "35"), ("outer", "1")]),
        "implausible",
        "probes take 35 ns a call",
    );
    // Few calls are no evidence one by one. All of them together are.
    let few = EVIDENCE as u32 / 2;
    refused(with(program(few, 20), &high), "implausible", "% of the time that was measured");
    // An estimate is no evidence. All of them together are, where they are beyond what calls differ from place to place.
    let sampled = || {
        let mut sampled = program(2000, 20);
        sampled.property("timing", "sampled:32");
        sampled
    };
    refused(with(sampled(), &high), "implausible", "% of the time that was measured");
    let near = [("inner", "20"), ("outer", "28"), ("rounds", "500")];
    assert_eq!(model(&mut [with(sampled(), &near)]).correction, Correction::Applied);
}

/// A program of nothing but tiny calls has an overhead of nearly all that it takes. That is no reason to refuse.
#[test]
fn a_high_overhead_can_be_true() {
    let model = model(&mut [with(program(100_000, 21), &GOOD)]);
    assert_eq!(model.correction, Correction::Applied);
    let total = |name: &str| model.cum()[model.resource(name).unwrap()];
    assert!(total("wall") < 0.05 * total("wall-raw"));
}

#[test]
fn without_a_calibration_times_are_as_measured() {
    refused(with(program(10, 500), &[]), "not-calibrated", "no calibration");
    refused(with(program(10, 500), &[("rounds", "0")]), "not-calibrated", "no calibration");
}

/// Whatever the calibration says: a run of 2 s, by a clock that was so many ns ahead at its end.
#[test]
fn a_clock_that_is_far_off_is_refused() {
    let run = |drift: i64| {
        let mut run = program(2000, 21);
        run.clocks(0, 2_000_001_000).property("clock.drift", drift);
        with(run, &GOOD)
    };
    for drift in [1_795_903_098_000_000_000, -1_795_903_098_000_000_000, 21_000_000, -21_000_000] {
        refused(run(drift), "clock", "off at the end of 2.000 s");
    }
    for drift in [0, 19_000_000, -19_000_000] {
        assert_eq!(model(&mut [run(drift)]).correction, Correction::Applied, "{drift}");
    }
}

/// Corrected and uncorrected times do not add up.
#[test]
fn one_bad_process_is_enough() {
    let bad = with(program(2000, 21), &[("inner", "20"), ("outer", "20"), ("rounds", "1")]);
    let model = model(&mut [with(program(2000, 21), &GOOD), bad]);
    let Correction::Refused(refusal) = &model.correction else { panic!("{:?}", model.correction) };
    assert_eq!(refusal.process, "p2");
    assert_eq!(model.resource("wall"), None);
    // Parts of it say so, too.
    let merged = model.merged(instrument_analysis::Kind::Thread);
    assert_eq!(merged.correction, model.correction);
    assert_eq!(merged.with_resources(&[0]).correction, model.correction);
}
