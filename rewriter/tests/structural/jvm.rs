//! Links and runs classes in a real JVM with every class verified, and compares what they print.

use super::assembler::{Body, ClassBuilder};
use super::corpus::java_home;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Links every class of the list, then calls `static int run(int)` if there is one; one line per result.
/// With the runtime's stand-in on the path, every entry must have been left again.
const HARNESS: &str = r#"
import java.lang.reflect.*;
import java.net.*;
import java.nio.file.*;

public class Harness {
    static long balance(Class<?> runtime) throws Exception {
        if (runtime == null) return 0;
        long sum = 0;
        String[] up = {"methodEntry", "constructorEntry"}, down = {"methodExit", "methodUnwind"};
        for (String name : up) sum += runtime.getField(name).getInt(null);
        for (String name : down) sum -= runtime.getField(name).getInt(null);
        Class<?> regions = runtime.getClassLoader().loadClass("instrument.runtime.Regions");
        sum += regions.getField("begin").getInt(null);
        sum -= regions.getField("end").getInt(null) + regions.getField("left").getInt(null);
        return sum;
    }
    public static void main(String[] args) throws Exception {
        Path folder = Paths.get(args[0]);
        URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()});
        Class<?> runtime = null;
        if (Files.exists(folder.resolve("instrument/runtime/ProfilerRuntime.class")))
            runtime = Class.forName("instrument.runtime.ProfilerRuntime", true, loader);
        for (String name : Files.readAllLines(folder.resolve("classes.txt"))) {
            Method run = null;
            try {
                Class<?> c = Class.forName(name, false, loader);
                for (Method m : c.getDeclaredMethods()) if (m.getName().equals("run")) run = m;
                System.out.println(name + " links");
            } catch (Throwable t) {
                System.out.println(name + " " + t);
                continue;
            }
            for (int x = -3; run != null && x < 9; x++) {
                String result;
                try {
                    result = "" + run.invoke(null, x);
                } catch (InvocationTargetException e) {
                    result = e.getCause().getClass().getName();
                }
                System.out.println(name + " " + x + " -> " + result);
                if (balance(runtime) != 0) {
                    System.out.println(name + " " + x + ": " + balance(runtime) + " frames were not left");
                    return;
                }
            }
        }
        if (runtime != null && runtime.getField("methodEntry").getInt(null) == 0
                && loader.loadClass("instrument.runtime.HeapProxy").getField("ObjectAlloc").getInt(null) == 0
                && loader.loadClass("instrument.runtime.Regions").getField("end").getInt(null) == 0)
            System.out.println("nothing was recorded");
    }
}
"#;

/// Runs are over before a good compiler or a parallel collector pays.
const SHORT_RUN: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// Whether there is a JDK.
pub(crate) fn available() -> bool {
    java_home().is_some_and(|home| home.join("bin/javac").exists())
}

fn counter(class: &str, methods: &[&str], descriptor: &str) -> Vec<u8> {
    let mut builder = ClassBuilder::new(class, 49);
    for method in methods {
        builder.static_field(method, "I");
        let field = builder.field_ref(class, method, "I");
        let mut body = Body::new(2, 1);
        body.op2(0xb2, field);
        body.op(&[0x04]);
        body.op(&[0x60]);
        body.op2(0xb3, field);
        body.op(&[0xb1]);
        builder.method(9, method, descriptor, &body).unwrap_or_else(|error| panic!("{error}"));
    }
    builder.build()
}

/// What the JVM prints about `classes`. With `runtime` the stand-in for the runtime is there, too.
pub(crate) fn run(folder: &Path, classes: &[(String, Vec<u8>)], runtime: bool) -> String {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(format!("{name}.class"));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{error}"));
        }
        std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{error}"));
    };
    for (name, bytes) in classes {
        write(name, bytes);
    }
    if runtime {
        let events = [
            "methodEntry",
            "constructorEntry",
            "methodExit",
            "methodUnwind",
            "superReturned",
            "exceptionCaught",
        ];
        let profiler = "instrument/runtime/ProfilerRuntime";
        write(profiler, &counter(profiler, &events, "(I)V"));
        let regions = "instrument/runtime/Regions";
        write(regions, &counter(regions, &["begin", "end", "left"], "(I)V"));
        let heap = "instrument/runtime/HeapProxy";
        write(
            heap,
            &counter(
                heap,
                &["ArrayAlloc", "MultiArrayAlloc", "ObjectAlloc", "CloneAlloc"],
                "(Ljava/lang/Object;)V",
            ),
        );
    }
    let names: Vec<&str> = classes.iter().map(|(name, _)| name.as_str()).collect();
    std::fs::write(folder.join("classes.txt"), names.join("\n")).unwrap_or_else(|error| panic!("{error}"));
    let mut java = tool("java");
    java.args(SHORT_RUN).arg("-cp").arg(harness()).arg("Harness").arg(folder);
    let output = java.output();
    let output = output.unwrap_or_else(|error| panic!("{error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn tool(name: &str) -> Command {
    Command::new(java_home().map(|home| home.join("bin").join(name)).unwrap_or_default())
}

/// The folder of the compiled harness: it is compiled once, and run several times.
fn harness() -> &'static Path {
    static COMPILED: OnceLock<TempDir> = OnceLock::new();
    let folder = COMPILED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let source = folder.path().join("Harness.java");
        std::fs::write(&source, HARNESS).unwrap_or_else(|error| panic!("{error}"));
        let mut javac = tool("javac");
        javac.args(SHORT_RUN.map(|flag| format!("-J{flag}"))).arg("-d").arg(folder.path()).arg(&source);
        let output = javac.output().unwrap_or_else(|error| panic!("{error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder
    });
    folder.path()
}
