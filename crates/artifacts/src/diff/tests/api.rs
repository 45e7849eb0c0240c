//! Tests of the verdicts on APIs.

use super::super::api::Judgement;
use super::{diff, lines_of, rows_of};
use crate::diff::Form;
use crate::diff::markdown::Page;
use instrument_verifier::hierarchy::flags::{
    ABSTRACT, ENUM, FINAL, INTERFACE, PRIVATE, PROTECTED, PUBLIC, STATIC,
};

/// A class file. `header`: its name, its superclass and its interfaces; a member: its name and its descriptor.
fn class(flags: u16, header: &str, members: &[(u16, &str)]) -> Vec<u8> {
    let (mut pool, mut last) = (Vec::new(), 0u16);
    let mut text = |text: &str| {
        last += 1;
        pool.extend([&[1][..], &(text.len() as u16).to_be_bytes(), text.as_bytes()].concat());
        last
    };
    let names: Vec<u16> = header.split(' ').map(&mut text).collect();
    let mut of_kind = [Vec::new(), Vec::new()];
    for (flags, member) in members {
        let (name, descriptor) = member.split_once(' ').unwrap();
        let entry = [*flags, text(name), text(descriptor), 0];
        of_kind[usize::from(descriptor.starts_with('('))].push(entry);
    }
    let first = last + 1;
    for name in &names {
        pool.extend([&[7][..], &name.to_be_bytes()].concat());
    }
    let count = names.len() as u16;
    let mut body = vec![flags, first, first + 1, count - 2];
    body.extend(first + 2..first + count);
    for members in of_kind {
        body.push(members.len() as u16);
        body.extend(members.concat());
    }
    body.push(0);
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 55];
    bytes.extend((first + count).to_be_bytes());
    bytes.extend(pool);
    bytes.extend(body.into_iter().flat_map(u16::to_be_bytes));
    bytes
}

/// Class files as entries of an archive.
fn entries(classes: &[Vec<u8>]) -> Vec<(&str, &[u8])> {
    ["0.class", "1.class", "2.class"].into_iter().zip(classes.iter().map(Vec::as_slice)).collect()
}

/// The rows of what differs between two sides.
fn rows(before: &[Vec<u8>], after: &[Vec<u8>]) -> Vec<String> {
    rows_of(&diff(&entries(before), &entries(after), |options| options.form = Form::Json).1)
}

const OBJECT: &str = "A java/lang/Object";

#[test]
fn abstract_breaks_who_could_make_objects_or_extend() {
    let becomes_abstract = |flags: u16, constructor: u16| {
        let of = |more: u16| {
            class(flags | more, OBJECT, &[(constructor, "<init> ()V"), (PUBLIC | more, "price ()I")])
        };
        rows(&[of(0)], &[of(ABSTRACT)])
    };
    assert_eq!(becomes_abstract(PUBLIC, PUBLIC), ["class B is abstract", "method B is abstract"]);
    assert_eq!(becomes_abstract(PUBLIC, PROTECTED), ["class C", "method B is abstract"]);
    assert_eq!(becomes_abstract(PUBLIC, PRIVATE), ["class C", "method C"]);
    assert_eq!(becomes_abstract(PUBLIC | ENUM, PRIVATE), ["class C", "method C"]);
}

#[test]
fn a_private_field_hides_an_inherited_one() {
    let base = class(PUBLIC, "Base java/lang/Object", &[(PUBLIC, "f I")]);
    let sub = |fields: &[(u16, &str)]| vec![base.clone(), class(PUBLIC, "Sub Base", fields)];
    assert_eq!(rows(&sub(&[]), &sub(&[(PRIVATE, "f I")])), ["class B inherits Base.f is less accessible"]);
    assert_eq!(
        rows(&sub(&[]), &sub(&[(PRIVATE, "f J")])),
        ["class S inherits Base.f is hidden by another field"]
    );
    assert_eq!(rows(&sub(&[(PRIVATE, "f I")]), &sub(&[])), [""; 0]);
    let alone = |access: u16| [class(PUBLIC, OBJECT, &[(access, "f I")])];
    assert_eq!(rows(&alone(PUBLIC), &alone(PRIVATE)), ["field B is less accessible"]);
    assert_eq!(rows(&alone(PRIVATE), &[class(PUBLIC, OBJECT, &[])]), [""; 0]);
}

#[test]
fn a_field_of_an_interface_comes_before_that_of_the_superclass() {
    let base = |of_field: u16| class(PUBLIC, "Base java/lang/Object", &[(of_field, "F I")]);
    let constants = class(
        PUBLIC | INTERFACE | ABSTRACT,
        "Constants java/lang/Object",
        &[(PUBLIC | STATIC | FINAL, "F I")],
    );
    let implements = |of_field: u16| {
        let sides = ["Sub Base", "Sub Base Constants"]
            .map(|header| [base(of_field), constants.clone(), class(PUBLIC, header, &[])]);
        rows(&sides[0], &sides[1])
    };
    assert_eq!(
        implements(PUBLIC),
        ["class B inherits Base.F is static or no longer, is final, is ambiguous"]
    );
    assert_eq!(implements(PUBLIC | STATIC), ["class B inherits Base.F is final, is ambiguous"]);
    assert_eq!(implements(PUBLIC | STATIC | FINAL), ["class S inherits Base.F is ambiguous"]);
}

#[test]
fn final_breaks_sources_that_hide_a_static_method() {
    let becomes_final = |of_class: u16, of_method: u16| {
        let of = |more: u16| {
            [class(of_class, OBJECT, &[(PUBLIC, "<init> ()V"), (PUBLIC | of_method | more, "price ()I")])]
        };
        rows(&of(0), &of(FINAL))
    };
    assert_eq!(becomes_final(PUBLIC, STATIC), ["method S is final"]);
    assert_eq!(becomes_final(PUBLIC | FINAL, STATIC), ["method C"]);
    assert_eq!(becomes_final(PUBLIC, 0), ["method B is final"]);
}

#[test]
fn members_of_a_removed_class_have_its_verdict_and_are_not_counted() {
    let gone = class(PUBLIC, OBJECT, &[(PUBLIC, "f I"), (PUBLIC, "price ()I")]);
    let lost = ["class B is gone", "field B its class is gone", "method B its class is gone"];
    assert_eq!(rows(std::slice::from_ref(&gone), &[]), lost);
    assert_eq!(rows(&[], std::slice::from_ref(&gone)), ["class C", "field C", "method C"]);
    let page = diff(&[("A.class", &gone)], &[], |options| options.form = Form::Markdown).1;
    assert!(page.contains("1 change breaks compiled code and sources, 0 more"), "{page}");
}

#[test]
fn says_that_it_found_no_jdk() {
    let judged = |has_jdk| Judgement { changes: Vec::new(), has_jdk };
    let page = |has_jdk| Page::new(["a", "b"]).text(Some(&judged(has_jdk)));
    assert!(page(false).contains("\nJDK classes not found: exceptions and inherited members"));
    assert!(!page(true).contains("JDK classes"));
    assert_eq!(judged(false).json()["jdk_classes_found"], false);
    let (_, printed) = diff(&[], &[], |options| options.form = Form::Json);
    let found = crate::class_path::jdk_on_path().is_some();
    assert_eq!(lines_of(&printed)[0]["api"]["jdk_classes_found"], found);
}
