//! Functions that take text or bytes of a user: whatever they get, they answer. Classes and archives are in
//! `fuzz_replay`.

use instrument_rewriter::archive::{self, Limits, NewEntry};
use instrument_rewriter::class_file::descriptor::{field_slots, method_slots};
use instrument_rewriter::class_file::instruction::{Instructions, Switch, length_at, targets};
use instrument_rewriter::class_file::stack_map_table::{Frames, types};
use instrument_rewriter::class_file::{ClassFile, mutf8};
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, Transforms};
use instrument_rewriter::survey::{Survey, SurveyBuffers};
use instrument_rewriter::text;
use instrument_rewriter::transform::own_calls::Call;
use proptest::prelude::*;
use std::ops::ControlFlow;

proptest! {
    #[test]
    fn any_text(text in "[\\PC\n.#:;\\[()/<>*?$0-9-]{0,60}", other in "(class|method|field| |L[0-9]:|\n|\\PC){0,30}") {
        if let Ok(filter) = Filter::new(&[&text], &[&other]) {
            filter.class(text.as_bytes());
            let _ = filter.method(other.as_bytes(), text.as_bytes(), text.as_bytes());
        }
        if let Ok(region) = Region::parse(&text) {
            region.is_in(other.as_bytes());
        }
        if let Ok(call) = Call::new(&text, &other) {
            prop_assert!(call.with_text(&text).is_ok());
        }
        let sections: String =
            text::sections(&other).map(|section| format!("{}\n{}", section.title, section.body)).collect();
        prop_assert!(sections.trim_end_matches('\n') == other.trim_end_matches('\n'));
        for context in [0, 3] {
            prop_assert!(text::changes(&other, &other, context).is_empty());
            text::changes(&text, &other, context);
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..80), at in 0usize..90) {
        prop_assert!(ClassFile::parse(&bytes).is_err());
        prop_assert!(Survey::of(&bytes, &mut SurveyBuffers::default()).is_err());
        let mut out = Vec::new();
        let mut rewriter = ClassRewriter::new(Transforms::ALL);
        prop_assert!(rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).is_err() && out.is_empty());
        prop_assert!(!mutf8::escape(&bytes).contains(|c: char| c.is_control()));
        method_slots(&bytes);
        field_slots(&bytes);
        let _ = length_at(&bytes, at);
        prop_assert!(targets(&bytes, at).count() <= bytes.len());
        Switch::at(&bytes, at);
        prop_assert!(Instructions::new(&bytes).count() <= bytes.len());
        if let Ok(mut frames) = Frames::new(&bytes) {
            while let Ok(Some(_)) = frames.next() {}
        }
        types(&bytes).count();
        archive::main_attribute(&bytes, "Main-Class");
        prop_assert!(archive::visit_classes("x.jar", &bytes, &Limits::default(), &mut |_| ControlFlow::Continue(())).is_err());
    }

    /// What is made of any entries can be read again, or is refused.
    #[test]
    fn any_entries(entries in prop::collection::vec(("\\PC{0,12}", prop::collection::vec(any::<u8>(), 0..40), any::<bool>()), 0..5)) {
        let named = |(name, data, stored): &(String, Vec<u8>, bool)| NewEntry {
            name: name.clone(),
            data: data.clone(),
            stored: *stored,
        };
        if let Ok(jar) = archive::create(entries.iter().map(named).collect()) {
            for (name, data, _) in &entries {
                let last = entries.iter().rev().find(|entry| entry.0 == *name).map(|entry| &entry.1);
                let read = archive::read_entry("x.jar", &jar, &[name.as_bytes()], &Limits::default());
                let read = read.ok().flatten();
                prop_assert_eq!(read.as_ref(), last, "{} of {} bytes", name, data.len());
            }
        }
    }
}
