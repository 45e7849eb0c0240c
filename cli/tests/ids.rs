//! `instrument ids`: the same map from a file, packed, in an archive, in a directory.

use crate::common::Dir;
use instrument_names::id_map::{ENTRY_NAME, gz};
use serde_json::json;

const MAP: &str = "instrument ids 1\n\
    class com/acme/Foo Foo.java\n\
    1 <init> ()V 3 1 00000000000000aa\n\
    17 run (I)V 12 9 00000000000000bb\n\
    class com/acme/\\u4e2d -\n\
    18 x\\u001b ()V 0 0 00000000000000cc\n";

#[test]
fn a_map_is_listed_and_looked_up_wherever_it_lies() {
    let dir = Dir::new();
    dir.write("ids", MAP);
    let packed = gz::compress(MAP.as_bytes());
    dir.write("ids.gz", &packed);
    dir.write(&format!("classes/{ENTRY_NAME}"), &packed);
    dir.jar("app.jar", &[("x.txt", b"x"), (ENTRY_NAME, &packed)]);
    dir.jar("shop.war", &[(&format!("WEB-INF/classes/{ENTRY_NAME}"), &packed)]);
    let mut script = b"#!/bin/sh\nexec java -jar $0\n".to_vec();
    script.extend(dir.read("app.jar"));
    dir.write("app", script);
    for file in ["ids", "ids.gz", "classes", "app.jar", "shop.war", "app"] {
        let all = dir.line(&format!("ids {file}")).expect(0).stdout;
        assert_eq!(
            all,
            "1\tcom/acme/Foo#<init>()V\tFoo.java:3\n17\tcom/acme/Foo#run(I)V\tFoo.java:12\n18\tcom/acme/\u{4e2d}#x\\u001b()V\n",
            "{file}"
        );
        let one = dir.line(&format!("ids {file} 17")).expect(0).stdout;
        assert_eq!(one, "17\tcom/acme/Foo#run(I)V\tFoo.java:12\n");
    }
}

#[test]
fn patterns_and_json() {
    let dir = Dir::new();
    dir.write("ids", MAP);
    let lines = |line: &str| dir.line(line).expect(0).stdout.lines().count();
    assert_eq!(lines("ids ids com.acme.Foo#*"), 2);
    assert_eq!(lines("ids ids com/acme/Foo#run(I)V 18"), 2);
    assert_eq!(lines("ids ids **#<init>"), 1);
    let run = dir.line("ids ids 17 --json").expect(0);
    let expected = json!({"id": 17, "class": "com/acme/Foo", "method": "run", "descriptor": "(I)V",
        "source": "Foo.java", "line": 12, "flags": 9, "library_call": false, "fingerprint": "00000000000000bb"});
    assert_eq!(run.json(), expected);
    let calls = format!("{MAP}class java/util/List -\n19 size ()I 0 10000 0000000000000000\n");
    dir.write("calls", calls);
    assert_eq!(dir.line("ids calls 19").expect(0).stdout, "19\tjava/util/List#size()I\tcalls of it\n");
    assert_eq!(dir.line("ids calls 19 --json").expect(0).json()["library_call"], json!(true));
    dir.line("ids ids 2 com.acme.Foo").says(1, &["warning: ids: nothing fits 2"]);
    dir.line("ids ids a.B#").says(2, &["bad pattern `a.B#`"]);
    dir.line("ids ids 99999999999").says(2, &["too large"]);
}

#[test]
fn what_holds_no_map_is_an_error() {
    let dir = Dir::new();
    dir.jar("plain.jar", &[("x.txt", b"x")]);
    dir.write("text", "hello\n");
    dir.write("classes/x", "");
    dir.write("bad", "instrument ids 1\n1 run ()V 0 0 0000000000000000\n");
    dir.write("torn.gz", &gz::compress(MAP.as_bytes())[..40]);
    dir.write("torn.jar", &dir.read("plain.jar")[..60]);
    for (file, part) in [
        ("plain.jar", "plain.jar: no META-INF/instrument/ids.gz in this archive"),
        ("text", "text:1: not an id map"),
        ("classes", "in this directory: it is not instrumented"),
        ("bad", "bad:2: a method before the first class"),
        ("torn.gz", "torn.gz: damaged gzip data"),
        ("torn.jar", "torn.jar: "),
        ("missing", "missing: No such file"),
    ] {
        dir.line(&format!("ids {file}")).says(1, &["error: ", part]);
    }
}
