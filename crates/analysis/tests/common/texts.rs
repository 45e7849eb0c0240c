//! Any bytes as a text input, for the property test and the fuzz target.

use instrument_analysis::Arcflow;
use instrument_analysis::export::chrome::Chrome;
use instrument_analysis::export::firefox::Firefox;
use instrument_analysis::export::perfetto::Perfetto;
use instrument_analysis::export::timeline::{Axis, lay_out};
use instrument_analysis::export::{Figure, call_tree, folded, pprof, speedscope, tau};
use instrument_analysis::input;
use std::io;

/// What can be read can be written in every format, and a call tree is read again as it was written. False: it cannot be read.
pub(crate) fn round_trip(bytes: &[u8]) -> bool {
    let Ok(input::Input { model, .. }) = input::read(bytes) else { return false };
    let bytes = written(&model);
    let again = input::read(&bytes[..]).expect("what was written can be read").model;
    assert_eq!(written(&again), bytes);
    let figure = Figure::first(&model);
    folded::write(&model, figure, &mut io::sink()).expect("a sink takes everything");
    speedscope::write(&model, figure, &mut io::sink()).expect("a sink takes everything");
    pprof::write(&model, &[], &mut io::sink()).expect("a sink takes everything");
    lay_out(&model, figure, &mut Chrome::new(io::sink())).expect("a sink takes everything");
    lay_out(&model, figure, &mut Perfetto::new(io::sink())).expect("a sink takes everything");
    lay_out(&model, figure, &mut Firefox::new(io::sink(), Axis::Time)).expect("a sink takes everything");
    if !model.resources().is_empty() {
        tau::write(&model, tau::Rows::Contexts, |_| Ok(io::sink())).expect("a sink takes everything");
    }
    true
}

fn written(model: &Arcflow) -> Vec<u8> {
    let mut bytes = Vec::new();
    call_tree::write(model, &mut bytes).expect("memory takes everything");
    bytes
}
