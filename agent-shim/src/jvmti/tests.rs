//! Positions and numbers, compared with the headers of every JDK that is installed.

use super::*;
use std::cell::Cell;
use std::path::PathBuf;

/// The headers of every JDK that is installed.
fn headers() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    homes.extend(std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|e| e.path()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let javac = std::env::split_paths(&path).find_map(|dir| dir.join("javac").canonicalize().ok());
    homes.extend(javac.and_then(|javac| Some(javac.parent()?.parent()?.to_owned())));
    homes.retain(|home| home.join("include/jvmti.h").exists());
    assert!(!homes.is_empty(), "no JDK with include/jvmti.h: set JAVA_HOME");
    homes.into_iter().map(|home| home.join("include")).collect()
}

/// The members of `struct name`, in order: names of functions, or an empty text for what is reserved.
fn members(header: &str, begin: &str) -> Vec<String> {
    let body = header.split(begin).nth(1).unwrap_or_else(|| panic!("no `{begin}`"));
    let body = body.split("\n}").next().unwrap();
    let mut text = String::new();
    for (index, part) in body.split("/*").enumerate() {
        text += if index == 0 { part } else { part.split_once("*/").unwrap().1 };
    }
    let text: String =
        text.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join(" ");
    let name = |member: &str| match member.split_once("JNICALL *") {
        Some((_, rest)) => rest.split(')').next().unwrap().trim().to_owned(),
        None => member.split_whitespace().last().unwrap_or_default().to_owned(),
    };
    text.split(';').filter(|member| !member.trim().is_empty()).map(name).collect()
}

fn check(functions: &[(usize, &str)], members: &[String], what: &str) {
    for (index, name) in functions {
        assert_eq!(members.get(*index).map(String::as_str), Some(*name), "{what}, entry {index}");
    }
}

#[test]
fn every_position_is_that_of_the_headers() {
    for include in headers() {
        let jvmti = std::fs::read_to_string(include.join("jvmti.h")).unwrap();
        let jni = std::fs::read_to_string(include.join("jni.h")).unwrap();
        let what = include.display().to_string();
        let functions = members(&jvmti, "typedef struct jvmtiInterface_1_ {");
        check(JVMTI_FUNCTIONS, &functions, &what);
        check(&[SET_EVENT_NOTIFICATION_MODE], &functions, &what);
        check(JNI_FUNCTIONS, &members(&jni, "struct JNINativeInterface_ {"), &what);
        check(&[(6, "GetEnv")], &members(&jni, "struct JNIInvokeInterface_ {"), &what);

        let capabilities = jvmti.split("} jvmtiCapabilities;").next().unwrap();
        let capabilities = capabilities.rsplit("typedef struct {").next().unwrap();
        let bits: Vec<&str> = capabilities.lines().filter(|line| line.contains(": 1;")).collect();
        for (capability, name) in events::CAPABILITIES {
            match bits.get(*capability as usize) {
                Some(bit) => assert!(bit.contains(&format!(" {name} ")), "{name}: {bits:?}"),
                None => assert_eq!(*capability, Capability::SupportVirtualThreads, "{what}"),
            }
        }

        let callbacks: Vec<&str> = jvmti.split("} jvmtiEventCallbacks;").next().unwrap().lines().collect();
        let start = callbacks.iter().rposition(|line| line.contains("typedef struct {")).unwrap();
        let names: Vec<&str> = callbacks[start..]
            .iter()
            .filter_map(|line| line.trim().strip_suffix(';')?.split(' ').next_back())
            .collect();
        for (event, name) in events::EVENTS {
            let place = *event as usize - 50;
            if place >= names.len() {
                assert_eq!(*event, Event::VirtualThreadEnd, "{what}");
                continue;
            }
            assert_eq!(names[place].to_uppercase(), name.replace('_', ""), "callback {place}");
            assert!(jvmti.contains(&format!("JVMTI_EVENT_{name} = {},", *event as i32)), "{name}");
        }
        let member = std::mem::offset_of!(Callbacks, sampled_object_alloc) / size_of::<usize>();
        assert_eq!((member, size_of::<Callbacks>()), (36, 39 * size_of::<usize>()));
        for (number, name) in heap::KINDS {
            assert!(jvmti.contains(&format!("JVMTI_HEAP_REFERENCE_{name} = {number},")), "{name}");
        }
        for text in [
            "JVMTI_HEAP_FILTER_TAGGED = 0x4,",
            "JVMTI_HEAP_FILTER_UNTAGGED = 0x8,",
            "JVMTI_VISIT_OBJECTS = 0x100,",
            "JVMTI_VISIT_ABORT = 0x8000",
            "JVMTI_CLASS_STATUS_PREPARED = 2,",
        ] {
            assert!(jvmti.contains(text), "{text}");
        }
        let heap_callbacks = jvmti.matches("jvmtiReservedCallback reserved").count() + 5;
        assert_eq!(size_of::<heap::HeapCallbacks>(), heap_callbacks * size_of::<usize>());
        assert!(jvmti.contains("JVMTI_VERSION_9   = 0x30090000"));
        assert!(jvmti.contains("JVMTI_ENABLE = 1"));
    }
}

/// What a JNI environment would have: an exception that is pending, and how often references were deleted.
#[derive(Default)]
struct Thrown {
    pending: Cell<usize>,
    deleted: Cell<usize>,
}

thread_local! {
    static THROWN: Thrown = Thrown::default();
}

unsafe extern "system" fn exception_check(_: Environment) -> u8 {
    THROWN.with(|thrown| u8::from(thrown.pending.get() != 0))
}

unsafe extern "system" fn exception_occurred(_: Environment) -> *mut c_void {
    THROWN.with(|thrown| thrown.pending.get() as *mut c_void)
}

unsafe extern "system" fn exception_clear(_: Environment) {
    THROWN.with(|thrown| thrown.pending.set(0));
}

unsafe extern "system" fn throw(_: Environment, throwable: *mut c_void) -> c_int {
    THROWN.with(|thrown| thrown.pending.set(throwable as usize));
    0
}

unsafe extern "system" fn delete_local_ref(_: Environment, reference: *mut c_void) {
    THROWN.with(|thrown| thrown.deleted.set(thrown.deleted.get() + reference as usize));
}

#[test]
fn what_the_program_has_thrown_is_thrown_again() {
    let mut table = [std::ptr::null::<c_void>(); 235];
    table[13] = throw as *const c_void;
    table[15] = exception_occurred as *const c_void;
    table[17] = exception_clear as *const c_void;
    table[23] = delete_local_ref as *const c_void;
    table[228] = exception_check as *const c_void;
    let mut functions = table.as_ptr();
    // SAFETY: the table has the functions that are called, of their types, and outlives the environment.
    let jni = unsafe { Jni::new(&mut functions) };
    for pending in [0, 7] {
        THROWN.with(|thrown| {
            thrown.pending.set(pending);
            thrown.deleted.set(0);
        });
        let seen = jni.setting_thrown_aside(|| {
            let before = jni.failed();
            // Something that is called throws, and it is dropped.
            THROWN.with(|thrown| thrown.pending.set(9));
            (before, jni.failed())
        });
        assert_eq!(seen, (false, true));
        let after = THROWN.with(|thrown| (thrown.pending.get(), thrown.deleted.get()));
        assert_eq!(after, (pending, pending));
        // A panic changes nothing about that.
        THROWN.with(|thrown| thrown.pending.set(pending));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            jni.setting_thrown_aside(|| std::panic::resume_unwind(Box::new(())));
        }));
        assert!(panicked.is_err());
        assert_eq!(THROWN.with(|thrown| thrown.pending.get()), pending);
    }
}
