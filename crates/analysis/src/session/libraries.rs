//! Which classes are those of libraries, by their names.

/// How classes begin that are in libraries, frameworks, and what starts tests: where a main class lies among them it says nothing about
/// the program.
const LIBRARIES: &[&str] = &[
    "ch.qos.logback.",
    "com.fasterxml.",
    "com.google.common.",
    "com.mysql.",
    "com.sun.",
    "com.zaxxer.",
    "groovy.",
    "io.micrometer.",
    "io.netty.",
    "io.quarkus.",
    "io.undertow.",
    "jakarta.",
    "java.",
    "javax.",
    "jdk.",
    "junit.",
    "kotlin.",
    "kotlinx.",
    "net.bytebuddy.",
    "org.apache.",
    "org.assertj.",
    "org.codehaus.",
    "org.eclipse.",
    "org.gradle.",
    "org.h2.",
    "org.hamcrest.",
    "org.hibernate.",
    "org.jboss.",
    "org.junit.",
    "org.mockito.",
    "org.objectweb.asm.",
    "org.openjdk.jmh.",
    "org.opentest4j.",
    "org.postgresql.",
    "org.slf4j.",
    "org.springframework.",
    "org.testng.",
    "reactor.",
    "scala.",
    "sun.",
    "worker.org.gradle.",
];
/// Whether a method, or a class, is that of a library.
pub(super) fn is_of_library(name: &str) -> bool {
    LIBRARIES.iter().any(|library| name.starts_with(library))
}
