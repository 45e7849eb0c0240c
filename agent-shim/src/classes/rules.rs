//! Which classes the agent looks at at all, by their loader and name. What it looks at, the user's filter decides.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use instrument_rewriter::library::jdk;

/// Who loads a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The boot or platform loader, or a tool of the JDK by its name.
    Jdk,
    /// Any other loader.
    Program,
}

impl Origin {
    /// `jdk_loader`: it is the boot loader or the platform loader.
    pub(crate) fn of(jdk_loader: bool, class: &[u8]) -> Origin {
        const TOOLS: [&[u8]; 6] =
            [b"java/", b"jdk/", b"sun/", b"com/sun/tools/", b"com/sun/source/", b"com/sun/jdi/"];
        if jdk_loader || TOOLS.iter().any(|prefix| class.starts_with(prefix)) {
            Origin::Jdk
        } else {
            Origin::Program
        }
    }
}

/// The first version of Java that has virtual threads (19 and 20 have them as a preview).
const VIRTUAL_THREADS: u32 = 19;
static HAS_VIRTUAL_THREADS: AtomicBool = AtomicBool::new(false);

/// Which version of Java this is. Before the first class is asked about.
pub(crate) fn set_version(feature: u32) {
    HAS_VIRTUAL_THREADS.store(feature >= VIRTUAL_THREADS, Relaxed);
}

/// Whether a class of the JDK runs virtual threads, where there are any: with probes in it, a program can stand still.
pub(crate) fn runs_virtual_threads(class: &[u8]) -> bool {
    HAS_VIRTUAL_THREADS.load(Relaxed) && jdk::runs_virtual_threads(class)
}

/// The launcher of Spring Boot archives: it loads the classes of the program and of its libraries from jars within the jar, and is neither.
/// Of the contexts of a start, six in ten were its own.
pub(crate) const LAUNCHER: &str = "org.springframework.boot.loader.**";

/// Whether a class is part of it.
pub(crate) fn is_launcher(class: &[u8]) -> bool {
    class.starts_with(b"org/springframework/boot/loader/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_is_known_by_its_package() {
        let pattern = &instrument_names::pattern::Pattern::list(LAUNCHER).unwrap()[0];
        for (class, is_it) in [
            ("org/springframework/boot/loader/launch/JarLauncher", true),
            ("org/springframework/boot/loader/Launcher", true),
            ("org/springframework/boot/SpringApplication", false),
        ] {
            assert_eq!(is_launcher(class.as_bytes()), is_it, "{class}");
            assert_eq!(
                pattern.class(class.as_bytes()) == instrument_names::pattern::Fit::All,
                is_it,
                "{class}"
            );
        }
    }

    #[test]
    fn origin_is_by_loader_and_by_the_names_of_tools() {
        assert_eq!(Origin::of(true, b"com/acme/Foo"), Origin::Jdk);
        assert_eq!(Origin::of(false, b"com/sun/tools/javac/Main"), Origin::Jdk);
        assert_eq!(Origin::of(false, b"com/sun/mail/smtp/Transport"), Origin::Program);
        assert_eq!(Origin::of(false, b"javax/servlet/Servlet"), Origin::Program);
    }
}
