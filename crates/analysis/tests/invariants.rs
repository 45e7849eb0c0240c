//! The four invariants of arcflow, on trees of every shape, recursion included.

use instrument_analysis::arcs::Arcs;
use instrument_analysis::invariants::check;
use instrument_analysis::{Arcflow, Kind, NodeId, Resource};
use proptest::prelude::*;

/// A tree: node i + 1 is a child of one of the nodes before it; few consumers, so that they meet themselves again.
fn trees() -> impl Strategy<Value = Arcflow> {
    let node = (any::<prop::sample::Index>(), 0..4u8, 0..1000u64, 0..100_000u32, 0..50u32);
    prop::collection::vec(node, 0..120).prop_map(|nodes| {
        let resource = |name: &str, unit: &str| Resource { name: name.into(), unit: unit.into() };
        let mut model = Arcflow::new(vec![resource("wall", "ns"), resource("allocations", "")]);
        for (parent, consumer, n, wall, allocations) in nodes {
            let parent = NodeId(parent.index(model.nodes().len()) as u32);
            let consumer = model.consumer(["a", "b", "c", "d"][consumer as usize]);
            let child = model.child(parent, Kind::Method, consumer);
            model.meet(child, n);
            model.base_mut(child)[0] += f64::from(wall);
            model.base_mut(child)[1] += f64::from(allocations);
        }
        model
    })
}

/// self(cum) by its definition: contexts that have no context of the same consumer above them.
fn topmost_cum(model: &Arcflow, name: &str) -> f64 {
    let cum = model.cum();
    let is = |id: NodeId| model.name(model.node(id).consumer) == name;
    let topmost = |&i: &u32| {
        let mut above = NodeId(i);
        is(above) && {
            while above != Arcflow::ROOT {
                above = model.node(above).parent;
                if is(above) {
                    return false;
                }
            }
            true
        }
    };
    (0..model.nodes().len() as u32).filter(topmost).map(|i| cum[i as usize * 2]).sum()
}

proptest! {
    #[test]
    fn all_four_hold_for_every_tree(model in trees()) {
        let arcs = Arcs::new(&model);
        let checked = check(&model, &arcs);
        prop_assert_eq!(&checked.violations, &[]);
        prop_assert_eq!(checked.consumers, arcs.functions().len());
        for id in arcs.ids() {
            let name = model.name(arcs.function(id).consumer);
            prop_assert_eq!(arcs.self_cum(id)[0], topmost_cum(&model, name));
            // No callee is given less than nothing.
            for &arc in arcs.children(id) {
                prop_assert!(arcs.child_cum(arc)[0] >= 0.0);
            }
        }
    }
}

/// The check must be able to fail: a model's arcs are held against another model's.
#[test]
fn a_wrong_figure_is_a_violation() {
    let mut model = Arcflow::new(vec![Resource { name: "wall".into(), unit: "ns".into() }]);
    let a = model.consumer("a");
    let node = model.child(Arcflow::ROOT, Kind::Method, a);
    model.base_mut(node)[0] = f64::NAN;
    let checked = check(&model, &Arcs::new(&model));
    assert!(checked.violations.len() >= 3);
    assert!(
        checked.violations[0].to_string().contains("Sum(child(cum)) of wall is NaN"),
        "{}",
        checked.violations[0]
    );
}
