//! Signed archives: refused, or stripped of their signatures, and left alone if nothing changes.

use std::path::Path;
use std::process::Command;

use instrument_rewriter::archive::{Options, Unread};

use crate::archive::build::{Entry, class_bytes, deflated, entry, extra, zip};
use crate::archive::fake::{MARK, Marker, mark, run_with, runtime};
use crate::archive::inspect::{TempFile, entries, find, tools_accept};

const MANIFEST: &str = "Manifest-Version: 1.0\r\nMain-Class: a.A\r\n\r\n\
    Name: a/A.class\r\nSHA-256-Digest: 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\r\n\r\n\
    Name: a/\r\nSealed: true\r\nSHA-256-Digest: abc\r\n def\r\n\r\n";
const STRIPPED: &str = "Manifest-Version: 1.0\r\nMain-Class: a.A\r\n\r\nName: a/\r\nSealed: true\r\n\r\n";

fn signed() -> Vec<u8> {
    zip([
        Entry { local_extra: extra(0xCAFE, b""), ..entry("META-INF/", "") },
        deflated("META-INF/MANIFEST.MF", MANIFEST),
        deflated("META-INF/ME.SF", "Signature-Version: 1.0\r\n\r\n"),
        deflated("META-INF/ME.RSA", [1u8, 2, 3]),
        deflated("META-INF/services/x.SF", "kept"),
        deflated("a/A.class", class_bytes(1, 500)),
        entry("META-INF/SIG-LATE", "late"),
    ])
}

fn strip() -> Options {
    Options { strip_signatures: true, ..Options::default() }
}

#[test]
fn refused_by_name_with_the_way_out() {
    let error = mark("x.jar", &signed()).unwrap_err();
    assert_eq!((error.at.as_str(), error.kind.code()), ("x.jar", "signed"));
    let text = error.to_string();
    assert!(text.contains("--strip-signatures") && text.contains("META-INF/ME.SF"), "{text}");

    let app = zip([entry("BOOT-INF/lib/s.jar", signed())]);
    let error = mark("app.jar", &app).unwrap_err();
    assert_eq!((error.at.as_str(), error.kind.code()), ("app.jar!BOOT-INF/lib/s.jar", "signed"));

    let mut marker = Marker { wants: |_| false, extra: runtime(), ..Marker::default() };
    let error = run_with("x.jar", &signed(), &mut marker, &Options::default()).unwrap_err();
    assert_eq!(error.kind.code(), "signed", "new entries are a change too");
}

#[test]
fn untouched_signed_archives_stay_signed() {
    for options in [Options::default(), strip()] {
        let mut marker = Marker { wants: |_| false, ..Marker::default() };
        let (out, outcome) = run_with("x.jar", &signed(), &mut marker, &options).unwrap();
        assert!(out == signed() && outcome.signatures_removed.is_empty());
        // The class beside the nested archive changes, the one within does not.
        let app = zip([entry("lib/s.jar", signed()), deflated("B.class", class_bytes(2, 100))]);
        let mut marker = Marker { wants: |at| !at.contains("s.jar"), ..Marker::default() };
        let (out, outcome) = run_with("app.jar", &app, &mut marker, &options).unwrap();
        assert_eq!(entries(&out)[0].content, signed());
        assert_eq!((outcome.rewritten, outcome.signatures_removed.len()), (1, 0));
    }
}

#[test]
fn stripped() {
    let input = signed();
    let mut marker = Marker { extra: runtime(), ..Marker::default() };
    let (out, outcome) = run_with("x.jar", &input, &mut marker, &strip()).unwrap();
    let seen = entries(&out);
    let names: Vec<_> = seen.iter().map(|e| e.name()).collect();
    assert_eq!(
        names,
        [
            "META-INF/",
            "META-INF/MANIFEST.MF",
            "META-INF/services/x.SF",
            "a/A.class",
            "instrument/runtime/ProfilerRuntime.class",
            "META-INF/instrument/ids"
        ]
    );
    assert_eq!(String::from_utf8_lossy(&find(&seen, "META-INF/MANIFEST.MF").content), STRIPPED);
    assert!(find(&seen, "a/A.class").content.ends_with(MARK));
    let removed = ["MANIFEST.MF", "ME.SF", "ME.RSA", "SIG-LATE"].map(|name| format!("x.jar!META-INF/{name}"));
    assert_eq!(outcome.signatures_removed, removed);
    assert_eq!((outcome.entries, outcome.copied, outcome.added), (7, 2, 2));
    tools_accept(&input, &out);

    let app =
        zip([entry("BOOT-INF/lib/s.jar", &input), deflated("BOOT-INF/classes/B.class", class_bytes(2, 100))]);
    let (out, outcome) = run_with("app.jar", &app, &mut Marker::default(), &strip()).unwrap();
    let nested = entries(&entries(&out)[0].content);
    assert_eq!(nested.len(), 4);
    assert_eq!(outcome.signatures_removed[1], "app.jar!BOOT-INF/lib/s.jar!META-INF/ME.SF");
}

#[test]
fn a_manifest_that_cannot_be_read_is_named() {
    let input = zip([
        Entry { flags: 1, ..deflated("META-INF/MANIFEST.MF", MANIFEST) },
        deflated("META-INF/ME.SF", "x"),
        deflated("a/A.class", class_bytes(1, 500)),
    ]);
    let (_, outcome) = run_with("x.jar", &input, &mut Marker::default(), &strip()).unwrap();
    assert_eq!(outcome.skipped[0].at, "x.jar!META-INF/MANIFEST.MF");
    assert_eq!(outcome.skipped[0].reason, Unread::Encrypted);
}

/// Signed by the JDK's own tool; afterwards the same tool finds no signature and no complaint.
#[test]
fn jarsigner_agrees() {
    let jar = TempFile::new(
        ".jar",
        &zip([
            deflated("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n"),
            deflated("a/A.class", class_bytes(1, 500)),
            deflated("text.txt", "hello"),
        ]),
    );
    let keys = TempFile::new(".p12", b"");
    std::fs::remove_file(keys.path()).unwrap();
    let run = |tool: &str, args: &[&str], files: &[&Path]| -> Option<String> {
        let Ok(done) = Command::new(tool).args(args).args(files).output() else {
            eprintln!("skipped: {tool} is not installed");
            return None;
        };
        Some(String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
    };
    let make = ["-genkeypair", "-alias", "me", "-keyalg", "RSA", "-dname", "CN=x", "-storepass", "secret"];
    if run("keytool", &[&make[..], &["-keystore"]].concat(), &[keys.path()]).is_none() {
        return;
    }
    let store = keys.path().to_str().unwrap();
    let path = jar.path().to_str().unwrap();
    if run("jarsigner", &["-keystore", store, "-storepass", "secret", path, "me"], &[]).is_none() {
        return;
    }
    let verify = |jar: &TempFile| run("jarsigner", &["-verify", jar.path().to_str().unwrap()], &[]).unwrap();
    assert!(verify(&jar).contains("jar verified"), "{}", verify(&jar));

    let input = std::fs::read(jar.path()).unwrap();
    assert_eq!(mark("s.jar", &input).unwrap_err().kind.code(), "signed");
    let (out, outcome) = run_with("s.jar", &input, &mut Marker::default(), &strip()).unwrap();
    assert_eq!(outcome.signatures_removed.len(), 3);
    let out = TempFile::new(".jar", &out);
    assert!(verify(&out).contains("jar is unsigned"), "{}", verify(&out));
}

#[test]
fn a_manifest_without_digests_keeps_its_bytes() {
    let plain = "Manifest-Version: 1.0\r\nMain-Class: a.A\r\n\r\n";
    let input = zip([
        deflated("META-INF/MANIFEST.MF", plain),
        deflated("META-INF/ME.SF", "x"),
        deflated("a/A.class", class_bytes(1, 500)),
    ]);
    let (out, outcome) = run_with("x.jar", &input, &mut Marker::default(), &strip()).unwrap();
    assert_eq!(outcome.signatures_removed, ["x.jar!META-INF/ME.SF"]);
    let manifest_end = entries(&input)[1].start;
    assert_eq!(input[..manifest_end], out[..manifest_end]);
}
