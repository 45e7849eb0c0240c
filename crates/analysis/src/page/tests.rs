use super::*;
use crate::model;
use crate::uncertainty::companions;

fn resource(name: &str) -> model::Resource {
    model::Resource { name: name.to_owned(), unit: "ns".to_owned() }
}

/// A chain of contexts, outermost first, each with its bases.
fn chain(resources: Vec<model::Resource>, bases: &[(&str, &[f64])]) -> Arcflow {
    let mut model = Arcflow::new(resources);
    let mut at = Arcflow::ROOT;
    for (name, base) in bases {
        let consumer = model.consumer(name);
        at = model.child(at, Kind::Method, consumer);
        model.meet(at, 1);
        model.add_base(at, base);
    }
    model
}

fn columns(page: &Page) -> HashMap<String, Vec<u64>> {
    let (mut all, mut at) = (HashMap::new(), page.columns.iter());
    let mut number = || {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = *at.next().unwrap();
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    };
    for column in page.header["columns"].as_array().unwrap() {
        let values = (0..page.header["contexts"].as_u64().unwrap()).map(|_| number()).collect();
        all.insert(column["name"].as_str().unwrap().to_owned(), values);
    }
    all
}

/// Of what `b` has, `a` has all; of what `c` has, `b` passes on to `a` what it has from its own calls.
#[test]
fn an_arc_says_what_belongs_to_the_caller_and_what_to_the_callee() {
    let mut model = chain(vec![resource("wall")], &[("a", &[1.0]), ("b", &[2.0]), ("c", &[4.0])]);
    // `b` calls itself, so the cum of the inner one belongs to the arc's callee no more.
    let consumer = model.consumer("b");
    let inner = model.child(NodeId(3), Kind::Method, consumer);
    model.meet(inner, 1);
    model.add_base(inner, &[8.0]);
    let arcs = Arcs::new(&model);
    let rows = arcs_of(&arcs, &[0]);
    let mut different = 0;
    for row in rows.as_array().unwrap() {
        let parent = FunctionId(row[0].as_u64().unwrap() as u32);
        let arc = arcs.children(parent).iter().find(|&&id| arcs.arc(id).child.0 == row[1]).copied().unwrap();
        assert_eq!(row[4], machine::list(arcs.parent_cum(arc), &[0]), "{row}");
        assert_eq!(row[5], machine::list(arcs.child_cum(arc), &[0]), "{row}");
        different += usize::from(row[4] != row[5]);
    }
    assert!(different > 0, "{rows}");
}

#[test]
fn parts_have_the_error_of_the_whole_and_are_hidden_by_themselves() {
    let mut resources = vec![resource("wall"), resource("running"), resource("waiting")];
    resources.extend(companions("wall", "ns"));
    let bases: [(&str, &[f64]); 2] =
        [("a", &[100.0, 95.0, 5.0, 10.0, 10.0, 0.0, 0.0]), ("b", &[50.0, 50.0, 0.0, 20.0, 0.0, 0.0, 0.0])];
    let model = chain(resources, &bases);
    let page = Page::new(&About::default(), &model, &HashMap::new(), 10).unwrap();
    let columns = columns(&page);
    assert_eq!(columns["wall error"], [0, 10, 20]);
    assert_eq!(columns["wall total error"], [10, 10, 0]);
    assert_eq!(columns["wall hidden"], [0, 0, 0]);
    // Five are within ten: in the whole they are not seen to be.
    assert_eq!(columns["waiting hidden"], [2, 3, 0]);
    assert!(!columns.contains_key("waiting error") && !columns.contains_key("running error"));
    assert_eq!(page.header["resources"][0]["error_of"], Value::Null);
    assert_eq!(page.header["resources"][2]["error_of"], "wall");
}

#[test]
fn what_no_sample_met_has_a_bound() {
    let resources = vec![resource("running"), resource("waiting"), resource("samples")];
    let model = chain(resources, &[("a", &[0.0, 0.0, 0.0]), ("b", &[400.0, 0.0, 100.0])]);
    let page = Page::new(&About::default(), &model, &HashMap::new(), 10).unwrap();
    // 3.7 % of all, as Wilson has it for none of 100.
    let bound = page.header["resources"][0]["unmet"].as_f64().unwrap();
    assert!((bound / 400.0 - 0.037).abs() < 0.0005, "{bound}");
    assert_eq!(page.header["resources"][1]["unmet"], Value::Null);
    let timed = chain(vec![resource("running")], &[("a", &[0.0])]);
    let page = Page::new(&About::default(), &timed, &HashMap::new(), 10).unwrap();
    assert_eq!(page.header["resources"][0]["unmet"], Value::Null);
}

#[test]
fn another_resource_has_errors_of_its_own_beside_thread_time() {
    let mut resources = vec![resource("wall"), resource("running"), resource("waiting"), resource("bytes")];
    resources.extend(companions("bytes", "ns"));
    let model = chain(resources, &[("a", &[9.0, 9.0, 0.0, 8.0, 3.0, 3.0, 0.0, 0.0])]);
    let page = Page::new(&About::default(), &model, &HashMap::new(), 10).unwrap();
    assert_eq!(columns(&page)["bytes error"], [0, 3]);
}

#[test]
fn a_page_has_as_many_contexts_as_it_has_room_for() {
    // All with the same cum.
    let model = chain(
        vec![resource("wall")],
        &[("a", &[0.0]), ("b", &[0.0]), ("c", &[0.0]), ("d", &[0.0]), ("e", &[7.0])],
    );
    let page = Page::new(&About::default(), &model, &HashMap::new(), 3).unwrap();
    assert_eq!(page.left_out(), Some(LeftOut { contexts: 3, share: 1.0 }));
    // The root, two of them, and one for those that are left out; no figure is lost.
    assert_eq!(page.header["contexts"], 4);
    assert_eq!(columns(&page)["wall"], [0, 0, 0, 14]);
}

#[test]
fn all_contexts_are_there_where_there_is_room() {
    let model = chain(vec![resource("wall")], &[("a", &[1.0]), ("b", &[2.0]), ("c", &[4.0])]);
    let left_out = |most| Page::new(&About::default(), &model, &HashMap::new(), most).unwrap().left_out();
    assert_eq!([left_out(4), left_out(5)], [None; 2]);
    assert_eq!(left_out(3), Some(LeftOut { contexts: 1, share: 4.0 / 7.0 }));
}

/// Whoever has much of one resource stays, and what is left out is said by the largest share.
#[test]
fn what_consumed_least_of_every_resource_is_left_out() {
    let mut model = Arcflow::new(vec![resource("wall"), resource("bytes")]);
    for (name, base) in [("a", [1.0, 0.0]), ("b", [99.0, 0.0]), ("c", [0.0, 50.0])] {
        let consumer = model.consumer(name);
        let at = model.child(Arcflow::ROOT, Kind::Method, consumer);
        model.meet(at, 1);
        model.add_base(at, &base);
    }
    let page = Page::new(&About::default(), &model, &HashMap::new(), 3).unwrap();
    assert_eq!(page.left_out(), Some(LeftOut { contexts: 1, share: 0.01 }));
    assert_eq!(columns(&page)["bytes"].iter().sum::<u64>(), 100, "50, as a signed number");
}

#[test]
fn consumers_and_arcs_have_their_own_figures_and_those_of_all_below() {
    let model = chain(vec![resource("wall")], &[("a", &[1.0]), ("b", &[2.0]), ("c", &[4.0])]);
    let page = Page::new(&About::default(), &model, &HashMap::new(), 10).unwrap();
    let functions = page.header["functions"].as_array().unwrap();
    let row = |name: &str| functions.iter().find(|row| row["name"] == name).unwrap();
    for (name, base, cum) in [("a", 1, 7), ("b", 2, 6), ("c", 4, 4)] {
        assert_eq!((&row(name)["base"][0], &row(name)["cum"][0]), (&json!(base), &json!(cum)), "{name}");
        assert_eq!(row(name)["label"], Value::Null, "a label like the name is not there twice");
    }
    let place = |name: &str| functions.iter().position(|row| row["name"] == name).unwrap();
    let arcs = page.header["arcs"].as_array().unwrap();
    let arc = arcs.iter().find(|arc| arc[1] == place("b")).unwrap();
    assert_eq!(arc[3], json!([2]));
}

/// Companions of a resource are in no list: numbers of resources are those of the page.
#[test]
fn resources_are_numbered_without_those_that_accompany_others() {
    let mut resources = vec![resource("bytes")];
    resources.extend(companions("bytes", "ns"));
    resources.extend([resource("wall"), resource("running"), resource("waiting")]);
    let count = resources.len();
    let base: Vec<f64> = (0..count).map(|r| f64::from(u32::from(r == 0 || r + 3 >= count))).collect();
    let model = chain(resources, &[("a", &base)]);
    let page = Page::new(&About::default(), &model, &HashMap::new(), 10).unwrap();
    let names: Vec<_> = page.header["resources"].as_array().unwrap().iter().map(|r| &r["name"]).collect();
    assert_eq!(names, ["bytes", "wall", "running", "waiting"]);
    assert_eq!(page.header["first"], 2);
    let figures: Vec<usize> = (0..count).collect();
    let page = page.with_overview(json!({"methods": [[1, figures]]}));
    let expected = json!([0, count - 3, count - 2, count - 1]);
    assert_eq!(page.header["overview"]["methods"][0][1], expected);
}

#[test]
fn figures_may_be_negative_and_broken() {
    let page = |base: f64| {
        let model = chain(vec![resource("wall")], &[("a", &[base])]);
        Page::new(&About::default(), &model, &HashMap::new(), 10).unwrap()
    };
    assert_eq!(columns(&page(-3.0))["wall"], [0, 5]);
    assert_eq!(columns(&page(3.0))["wall"], [0, 6]);
    let broken = page(0.5);
    assert_eq!(broken.header["columns"].as_array().unwrap().last().unwrap()["encoding"], "float");
    // The last two bytes of 0 and of 0.5, lowest first.
    assert!(broken.columns.ends_with(&[0, 0xe0, 0, 0x3f]), "{:?}", broken.columns);
}
