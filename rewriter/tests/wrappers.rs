//! Members that a class gets: wrappers of native methods and of methods without room for probes, exports of a module.
//! What comes out is compared as text with `tests/wrappers` (`BLESS=1` writes it anew).

use crate::common::classes::{class, code, hooks, implementing, instructions, listing, nops, with_entries};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::region::Region;
use instrument_rewriter::remote_methods::RemoteIndex;
use instrument_rewriter::rewrite::{
    Choice, ClassRewriter, LargeMethods, MethodEvent, Note, Outcome, Reason, Transforms, module_info, natives,
};
use instrument_rewriter::text;
use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method};
use std::path::Path;
use std::sync::Arc;

const NATIVES: &[u8] = include_bytes!("wrappers/Natives.class");
const MODULE: &[u8] = include_bytes!("wrappers/module-info.class");
const METHOD_EVENTS: Transforms = Transforms { method_events: true, ..Transforms::NONE };

/// A run of `nop` is one line.
fn without_nops(text: &str) -> String {
    text.lines().filter(|line| !line.ends_with(" nop")).map(|line| format!("{line}\n")).collect()
}

fn is_as_committed(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrappers").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let expected = std::fs::read_to_string(&file).expect("BLESS=1 writes the expected text");
    assert!(text == expected, "{name}:\n{}", text::diff(&expected, text));
}

fn wrap(bytes: &[u8]) -> Result<u16, Reason> {
    let mut out = b"before".to_vec();
    let result = natives::wrap(bytes, |_, _| true, &mut out);
    assert_eq!(out == b"before", !matches!(result, Ok(1..)), "{result:?}");
    result
}

/// The class with other access flags of itself.
fn with_class_flags(bytes: &[u8], change: impl Fn(u16) -> u16) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = ClassFile::parse(&bytes).unwrap().pool.end();
    let flags = change(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    bytes[at..at + 2].copy_from_slice(&flags.to_be_bytes());
    bytes
}

/// The class with these access flags of one method.
fn with_method_flags(bytes: &[u8], name: &str, flags: u16) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let class = ClassFile::parse(bytes).unwrap();
    let mut methods = class.methods();
    while let Some(method) = methods.next().unwrap() {
        if method.name(&class.pool).unwrap() == name.as_bytes() {
            changed[method.span.start..][..2].copy_from_slice(&flags.to_be_bytes());
        }
    }
    assert_ne!(changed, bytes, "no method {name}");
    changed
}

fn count_methods(bytes: &[u8]) -> usize {
    let class = ClassFile::parse(bytes).unwrap();
    let mut methods = class.methods();
    std::iter::from_fn(|| methods.next().unwrap()).count()
}

#[test]
fn native_methods_get_wrappers() {
    let mut out = b"before".to_vec();
    assert_eq!(natives::wrap(NATIVES, |_, _| true, &mut out), Ok(7));
    let out = out.strip_prefix(b"before").expect("what was there stays");
    is_as_committed("Natives.wrapped.txt", &listing(out));
    // What the wrappers call is there; a second wrapper would call the first one's native method.
    assert_eq!(wrap(out), Err(Reason::AlreadyInstrumented));
    assert!(natives::is_wrapped(b"instrument$native$sum") && !natives::is_wrapped(b"native$sum"));
}

#[test]
fn only_native_methods_that_are_wanted_get_wrappers() {
    let mut out = Vec::new();
    let wanted = |name: &[u8], descriptor: &[u8]| name == b"twice" && descriptor == b"()J";
    assert_eq!(natives::wrap(NATIVES, wanted, &mut out), Ok(1));
    let wrappers = listing(&out).matches("instrument$native$").count();
    assert_eq!((count_methods(&out), wrappers), (count_methods(NATIVES) + 1, 5), "{}", listing(&out));
    assert_eq!(natives::wrap(NATIVES, |_, _| false, &mut out), Ok(0));
    let mut asked = Vec::new();
    let ask = |name: &[u8], _: &[u8]| {
        asked.push(String::from_utf8(name.to_vec()).unwrap());
        false
    };
    natives::wrap(NATIVES, ask, &mut Vec::new()).unwrap();
    assert_eq!(asked, ["sum", "none", "rate", "text", "many", "half", "twice"]);
}

#[test]
fn native_methods_stay_in_classes_that_cannot_change() {
    let with = |from: &[u8; 4], to: &[u8; 4]| -> Vec<u8> {
        let at = NATIVES.windows(4).position(|four| four == from).unwrap();
        [&NATIVES[..at], to, &NATIVES[at + 4..]].concat()
    };
    assert_eq!(wrap(&NATIVES[..100]), Err(Reason::NotAClass));
    assert_eq!(wrap(&with(&[0, 0, 0, 52], &[0, 0, 0, 200])), Err(Reason::UnsupportedVersion));
    assert_eq!(
        wrap(&with_class_flags(NATIVES, |flags| flags | 0x0200)),
        Err(Reason::BadCode),
        "an interface"
    );
    // A native method with code, and one that is abstract as well, which the JVM refuses.
    assert_eq!(wrap(&with_method_flags(NATIVES, "own", 0x0100)), Err(Reason::BadCode));
    let abstract_too = |name: &[u8], _: &[u8]| name == b"twice";
    let bytes = with_method_flags(NATIVES, "twice", 0x0500);
    assert_eq!(natives::wrap(&bytes, abstract_too, &mut Vec::new()), Ok(0));
    // Constructors are never native for long: the JVM refuses the class.
    let bytes = with_method_flags(NATIVES, "<init>", 0x0100);
    assert_eq!(natives::wrap(&bytes, |name, _| name == b"<init>", &mut Vec::new()), Ok(0));
    // Names by which native code is found.
    for (finder, refused) in
        [("com/sun/jna/Native", true), ("org/bridj/BridJ", true), ("com/sun/jna/Other", false)]
    {
        let expected = if refused { Err(Reason::NativeByReflection) } else { Ok(7) };
        assert_eq!(wrap(&with_text(NATIVES, finder)), expected, "{finder}");
    }
}

/// The class with one more Utf8 entry at the end of the pool.
fn with_text(bytes: &[u8], text: &str) -> Vec<u8> {
    with_entries(bytes, &[&[&[1], &(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()])
}

/// The class after its large methods got wrappers, and what is told of it.
fn wrapped(bytes: &[u8], transforms: Transforms) -> (Outcome, Vec<u8>, Vec<(u16, MethodEvent)>) {
    let mut rewriter = ClassRewriter::new(transforms);
    rewriter.set_large_methods(LargeMethods::Wrap);
    let mut out = Vec::new();
    let outcome =
        rewriter.rewrite(bytes, |method| Choice::Rewrite(7 + u32::from(method.index)), &mut out).unwrap();
    let events = rewriter.reports().iter().map(|report| (report.index, report.event)).collect();
    (outcome, out, events)
}

const PUBLIC: u16 = 1;
const STATIC_SYNCHRONIZED: u16 = 0x28;
const RETURN: u8 = 177;

#[test]
fn methods_without_room_get_wrappers() {
    let lines = [(5, 90), (0, 70), (9, 60)];
    let methods = [
        (PUBLIC, "a", "(IJLA;[DF)D", code(2, 7, &nops(65_530, &[14, 175]), &lines)),
        (STATIC_SYNCHRONIZED, "b", "()V", code(0, 0, &nops(65_534, &[RETURN]), &[])),
        // It fits.
        (PUBLIC, "c", "()V", code(0, 1, &[RETURN], &[])),
        // The stack cannot get any deeper.
        (PUBLIC | 0x0800, "d", "(J)J", code(u16::MAX, 3, &[31, 173], &[])),
    ];
    // Both names are taken.
    let taken = [
        "x$instrument$body",
        "$instrument$body1",
        "$instrument$body3",
        "$instrument$bodyx",
        "instrument$body2",
    ];
    let (outcome, out, events) = wrapped(&class(52, 0x21, &taken, &methods), METHOD_EVENTS);
    assert_eq!(outcome, Outcome::Rewritten);
    is_as_committed("Large.wrapped.txt", &without_nops(&listing(&out)));
    let wrapped = MethodEvent::Rewritten(Note::Wrapped);
    assert_eq!(events, [(0, wrapped), (1, wrapped), (3, wrapped)]);
}

#[test]
fn a_body_without_room_for_other_transforms_is_as_it_was() {
    let body = |count| nops(count, &[4, 188, 10, 87, RETURN]);
    let transforms = Transforms { allocation: true, ..METHOD_EVENTS };
    let of = |count| {
        let methods = [(PUBLIC, "a", "()V", code(1, 1, &body(count), &[]))];
        let (outcome, out, events) = wrapped(&class(52, 0x21, &[], &methods), transforms);
        assert_eq!(outcome, Outcome::Rewritten);
        (without_nops(&listing(&out)), events)
    };
    let (text, events) = of(65_528);
    assert_eq!(events, [(0, MethodEvent::Rewritten(Note::WrappedBare))]);
    is_as_committed("Bare.wrapped.txt", &text);
    assert!(!text.contains("HeapProxy"), "{text}");
    let (text, events) = of(65_520);
    assert_eq!(events[0], (0, MethodEvent::Rewritten(Note::Wrapped)));
    assert_eq!(text.matches(": invokestatic instrument/runtime/HeapProxy.ArrayAlloc").count(), 1, "{text}");
}

#[test]
fn methods_that_cannot_move_stay() {
    let large = |name, descriptor| (PUBLIC, name, descriptor, code(1, 2, &nops(65_534, &[RETURN]), &[]));
    let left = (Outcome::Unchanged, Vec::new(), vec![(0, MethodEvent::Skipped(Reason::MethodTooLarge))]);
    let plain = [large("a", "()V")];
    assert_eq!(wrapped(&class(51, 0x0601, &[], &plain), METHOD_EVENTS), left, "an interface");
    let (outcome, out, _) = wrapped(&class(52, 0x0601, &[], &plain), METHOD_EVENTS);
    assert_eq!(outcome, Outcome::Rewritten);
    assert!(listing(&out).contains("InterfaceMethodref A.a$instrument$body:()V"), "an interface of Java 8");
    // A class may have private methods in every version.
    assert_eq!(wrapped(&class(51, 0x21, &[], &plain), METHOD_EVENTS).0, Outcome::Rewritten);
    for asks in ["getCallerClass", "Ljdk/internal/reflect/CallerSensitive;", "Lsun/reflect/CallerSensitive;"]
    {
        assert_eq!(wrapped(&class(52, 0x21, &[asks], &plain), METHOD_EVENTS), left, "{asks}");
    }
    for transforms in
        [Transforms { bytecodes: true, ..METHOD_EVENTS }, Transforms { lines: true, ..METHOD_EVENTS }]
    {
        assert_eq!(wrapped(&class(52, 0x21, &[], &plain), transforms).2, left.2, "{transforms:?}");
    }
    let initializer = [(8, "<clinit>", "()V", code(0, 0, &nops(65_534, &[RETURN]), &[]))];
    assert_eq!(wrapped(&class(52, 0x21, &[], &initializer), METHOD_EVENTS), left);
    // Nobody has asked for wrappers.
    let mut rewriter = ClassRewriter::new(METHOD_EVENTS);
    let outcome =
        rewriter.rewrite(&class(52, 0x21, &[], &plain), |_| Choice::Rewrite(7), &mut Vec::new()).unwrap();
    assert_eq!(outcome, Outcome::Unchanged);
}

#[derive(Debug)]
struct AtEntry;

impl InsertCalls for AtEntry {
    fn insert(&self, _: &Method<'_>, calls: &mut Calls<'_>) {
        calls.at_entry(Call::new("Hooks", "entered").unwrap()).unwrap();
    }
}

#[test]
fn a_wrapper_tells_of_the_call_and_the_body_of_what_happens_in_it() {
    const DESCRIPTOR: &str = "(Ljava/lang/Object;)V";
    // Line 5 ends where an instruction of the wrapper ends as well.
    let body = nops(65_500, &[RETURN]);
    let methods = [(PUBLIC, "park", DESCRIPTOR, code(2, 2, &body, &[(0, 5), (1, 6)]))];
    let bytes = class(52, 0x21, &[], &methods);
    let bytes = implementing(&bytes, "java/util/concurrent/locks/LockSupport", "Service");
    let declared = [(0x401, "park", DESCRIPTOR, code(0, 2, &[RETURN], &[]))];
    let service = implementing(&class(52, 0x601, &[], &declared), "Service", "java/rmi/Remote");
    let mut index = RemoteIndex::default();
    for class in [&service, &bytes] {
        index.add(&ClassFile::parse(class).unwrap()).unwrap();
    }
    let remote_methods = Some(Arc::new(index.resolve().expect("a remote interface")));

    let transforms = Transforms { parks: true, rmi: true, ..METHOD_EVENTS };
    let region = Region::parse("java.util.concurrent.locks.LockSupport:5").unwrap();
    let mut rewriter = ClassRewriter::with_regions(transforms, Arc::new([region]));
    rewriter.set_large_methods(LargeMethods::Wrap);
    rewriter.set_remote_methods(remote_methods);
    rewriter.insert_calls(Some(Arc::new(AtEntry)));
    let mut out = Vec::new();
    let outcome = rewriter.rewrite(&bytes, |_| Choice::Rewrite(7), &mut out).unwrap();
    assert_eq!(outcome, Outcome::Rewritten, "{:?}", rewriter.reports());
    let (wrapper, body) = (format!("park:{DESCRIPTOR}"), format!("park$instrument$body:{DESCRIPTOR}"));
    let of_call =
        ["methodEntry", "remoteEntered", "remoteReturns", "methodExit", "remoteThrows", "methodUnwind"];
    assert_eq!(hooks(&out, &wrapper), of_call);
    assert_eq!(hooks(&out, &body), ["parking", "begin", "end", "parked", "left"]);
    let own = |method: &str| {
        instructions(&out, method).iter().filter(|text| text.contains("Hooks.entered")).count()
    };
    assert_eq!((own(&wrapper), own(&body)), (0, 1));
    assert_eq!(rewriter.region_reports().len(), 1);
    assert_eq!(rewriter.region_reports()[0].outcome, Ok(0));
}

#[test]
fn code_that_cannot_be_read_gets_no_wrapper() {
    let of = |info: Vec<u8>| {
        let bytes = class(52, 0x21, &["StackMapTable"], &[(PUBLIC, "a", "()V", info)]);
        wrapped(&bytes, Transforms { array_allocation: true, ..METHOD_EVENTS })
    };
    // The StackMapTable, of a name behind that of the method and its descriptor, is cut off.
    let with_frames = |count: usize| {
        let mut info = code(1, 1, &nops(count, &[4, 188, 10, 87, RETURN]), &[]);
        info.truncate(info.len() - 2);
        info.extend([0, 1, 0, 9, 0, 0, 0, 2, 0, 7]);
        info
    };
    let left = |reason| (Outcome::Unchanged, Vec::new(), vec![(0, MethodEvent::Skipped(reason))]);
    assert_eq!(of(with_frames(100)), left(Reason::BadStackMap));
    assert_eq!(of(with_frames(65_520)), left(Reason::MethodTooLarge));
    // The other transforms have no room, either: nobody reads the frames.
    let (outcome, _, events) = of(with_frames(65_529));
    assert_eq!((outcome, events), (Outcome::Rewritten, vec![(0, MethodEvent::Rewritten(Note::WrappedBare))]));
}

#[test]
fn a_module_exports_the_runtime() {
    let mut out = b"before".to_vec();
    assert!(module_info::add_exported_package(MODULE, &mut out));
    let out = out.strip_prefix(b"before").expect("what was there stays");
    is_as_committed("module-info.exporting.txt", &listing(out));
    let mut again = Vec::new();
    assert!(!module_info::add_exported_package(out, &mut again) && again.is_empty(), "it has the package");
}

#[test]
fn a_module_requires_the_runtime() {
    let mut out = b"before".to_vec();
    assert!(module_info::add_requires(MODULE, &mut out));
    let out = out.strip_prefix(b"before").expect("what was there stays");
    is_as_committed("module-info.requiring.txt", &listing(out));
    let mut again = Vec::new();
    assert!(!module_info::add_requires(out, &mut again) && again.is_empty(), "it requires the module");
}

#[test]
fn hashes_of_other_modules_are_found_and_taken_away() {
    let bytes = include_bytes!("wrappers/module-info.hashes.class");
    let of = |bytes: &[u8]| module_info::hashes(&ClassFile::parse(bytes).unwrap());
    let found = module_info::Hashes { by: "a".to_owned(), of: vec!["b".to_owned()] };
    assert_eq!((of(bytes), of(MODULE)), (Some(found), None));
    let mut out = Vec::new();
    assert!(!module_info::without_hashes(MODULE, &mut out) && out.is_empty());
    assert!(module_info::without_hashes(bytes, &mut out));
    let (before, after) = (listing(bytes), listing(&out));
    let kept: Vec<&str> = before.lines().filter(|line| !line.starts_with("  ModuleHashes")).collect();
    assert_eq!(after.lines().collect::<Vec<_>>(), kept);
}
