//! The agent: a thin JVMTI library that rewrites classes as they load.
//!
//! ```text
//! java -agentpath:libinstrument_agent.so=out=/tmp/,include=com.acme.** -jar app.jar
//! ```
//!
//! 1. [`Agent_OnLoad`](exports::Agent_OnLoad) reads the [options], puts the Java runtime on the boot path (class data sharing stays on), and waits.
//! 2. When the virtual machine is initialised, the load hook is turned on, and classes of the JDK that are loaded already are sent
//!    through it again, if the user asked for them.
//! 3. Every class that the rules and the filter let through is numbered and rewritten as `instrument rewrite` does it: same
//!    class, same options, same ids, same bytes. The part of the id map that is new goes to the recorder before the class can run.
//!
//! With `early=on` classes are rewritten from the first one on: [`early`](classes::early). With `armed` none is before somebody asks for it: [`armed`](recording::armed).
//!
//! Whatever is wrong is said on standard error, and the program runs on, as if there were no agent. The recorder is the Java one; what
//! else the virtual machine tells has modules beside [`classes::load_hook`]: threads and their waits are [`events::monitors`]; requests of users to the
//! running program are `ctl`.

#![cfg(unix)]
#![deny(unsafe_op_in_unsafe_fn)]

mod classes;
#[cfg(target_os = "linux")]
mod ctl;
mod events;
pub mod exports;
mod heap;
mod heap_dump;
mod jvmti;
mod options;
mod recording;
#[cfg(target_os = "linux")]
mod sampling;
mod talk;
