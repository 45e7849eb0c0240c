//! Reading without rewriting.

use std::ops::ControlFlow;

use instrument_rewriter::archive::{Limits, read_entry, visit_classes, visit_reached_classes};

use crate::archive::build::{Entry, class_bytes, deflated, entry, zip};

fn app() -> Vec<u8> {
    let lib = zip([deflated("l/L.class", class_bytes(1, 100)), entry("t.txt", "inner")]);
    zip([
        deflated("a/A.class", class_bytes(2, 100)),
        deflated("lib/l.jar", &lib),
        entry("t.txt", "outer"),
        entry("t.txt", "outer, later"),
        entry("D.class/", class_bytes(3, 50)),
        Entry { method: Some(12), ..entry("bz.class", "x") },
    ])
}

#[test]
fn classes_in_archive_order_until_it_breaks() {
    let mut seen = Vec::new();
    let skipped = visit_classes("x.war", &app(), &Limits::default(), &mut |class| {
        seen.push((class.at.to_string(), class.bytes.to_vec()));
        ControlFlow::Continue(())
    })
    .unwrap();
    let expected = [
        ("x.war!a/A.class", class_bytes(2, 100)),
        ("x.war!lib/l.jar!l/L.class", class_bytes(1, 100)),
        ("x.war!D.class/", class_bytes(3, 50)),
    ]
    .map(|(at, bytes)| (at.to_owned(), bytes));
    assert_eq!(seen, expected);
    assert_eq!(skipped.len(), 1);
    assert_eq!(
        (skipped[0].at.as_str(), skipped[0].reason.reason().as_str()),
        ("x.war!bz.class", "compression-method")
    );

    let mut count = 0;
    visit_classes("x", &app(), &Limits::default(), &mut |_| {
        count += 1;
        if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(count, 2);
}

#[test]
fn what_no_class_loader_reaches_is_left_out_on_request() {
    let damaged = Entry { method: Some(8), ..entry("launcher/Main.class", [0xff; 20]) };
    let war = zip([damaged, deflated("WEB-INF/classes/a/A.class", class_bytes(2, 100))]);
    let mut seen = Vec::new();
    let mut visit = |class: instrument_rewriter::archive::Class<'_>| {
        seen.push(class.at.to_string());
        ControlFlow::Continue(())
    };
    assert!(visit_classes("x.war", &war, &Limits::default(), &mut visit).is_err());
    let skipped = visit_reached_classes("x.war", &war, &Limits::default(), &mut visit).unwrap();
    assert_eq!(seen, ["x.war!WEB-INF/classes/a/A.class"]);
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0].reason.reason().as_str(), "outside-class-path");
}

#[test]
fn one_entry_by_path() {
    let app = app();
    let read = |path: &[&[u8]]| read_entry("x.jar", &app, path, &Limits::default());
    assert_eq!(read(&[b"t.txt"]).unwrap().as_deref(), Some(&b"outer, later"[..]));
    assert_eq!(read(&[b"lib/l.jar", b"t.txt"]).unwrap().as_deref(), Some(&b"inner"[..]));
    assert_eq!(read(&[b"lib/l.jar", b"none"]).unwrap(), None);
    assert_eq!(read(&[b"none", b"t.txt"]).unwrap(), None);
    assert_eq!(read(&[]).unwrap().as_deref(), Some(&app[..]));
    assert_eq!(read(&[b"t.txt", b"x"]).unwrap_err().at, "x.jar!t.txt");
    assert_eq!(read(&[b"bz.class"]).unwrap_err().at, "x.jar!bz.class");
}
