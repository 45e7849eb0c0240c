//! `instrument jdk-patch`: the JDK's classes for remote calls, rewritten, for programs that run without the native agent.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_artifacts::jdk::Jdk;
use instrument_artifacts::outputs::Outputs;
use instrument_artifacts::runtime;
use instrument_messages::{Listener, usage};
use instrument_rewriter::archive::{self, NewEntry};
use instrument_rewriter::transform::rmi;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The classes of the module, as `--patch-module` takes them.
const MODULE_JAR: &str = "java.rmi.jar";
/// Where the runtime reads for which JDK the patch was made.
const FOR_JDK: &str = "META-INF/instrument/jdk-patch.properties";

const EXAMPLE: &str = "\
Example:
  export JDK_JAVA_OPTIONS=\"$(instrument --quiet jdk-patch --java-home /usr/lib/jvm/jdk-21 -o patch)\"
  java -jar app-instrumented.jar";

/// Rewrite the JDK's own classes for remote calls (RMI), for jars that run without the native agent
///
/// Stubs of remote objects are dynamic proxies, which have no class file: only classes of the JDK's module java.rmi can tell of the calls
/// that they make. `instrument run` rewrites these classes as they load. A jar that was rewritten with --transform rmi and runs under plain
/// java needs them from here: this command reads them from the JDK, writes two jars, and prints the value of the environment variable
/// JDK_JAVA_OPTIONS that makes java use them.
///
/// The patch is for exactly this version of the JDK. Under another one the program warns on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Opts {
    /// Home directory of the JDK that runs the program, or of a runtime that jlink made
    #[arg(long, value_name = "DIR", env = "JAVA_HOME", hide_env_values = true)]
    java_home: PathBuf,

    /// Directory for the two jars; it is created if it is missing
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let jdk = Jdk::open(&opts.java_home)?;
    let mut outputs = Outputs::default();
    outputs.create_directory(&opts.output)?;
    // Programs are started anywhere.
    let directory = opts.output.canonicalize().with_context(|| opts.output.display().to_string())?;
    let (module, runtime) = (directory.join(MODULE_JAR), directory.join(runtime::JAR_NAME));
    let options = java_options(&module, &runtime)?;
    let classes = jdk.classes.iter().map(|class| NewEntry {
        name: format!("{}.class", class.name),
        data: class.bytes.clone(),
        stored: false,
    });
    outputs.file(&module, None, &archive::create(classes.collect())?)?;
    let version = NewEntry {
        name: FOR_JDK.to_owned(),
        data: format!("version={}\n", jdk.version).into_bytes(),
        stored: false,
    };
    outputs.file(&runtime, None, &runtime::jar_with(vec![version])?)?;
    outputs.commit()?;
    talk.note(format_args!(
        "{} classes of Java {} rewritten -> {}",
        jdk.classes.len(),
        jdk.version,
        directory.display()
    ));
    let mut out = std::io::stdout().lock();
    if opts.json {
        let paths = [&module, &runtime].map(|path| path.display().to_string());
        let result = json!({
            "version": jdk.version, "classes": jdk.classes.len(),
            "module_jar": paths[0], "runtime_jar": paths[1], "jdk_java_options": options,
        });
        writeln!(out, "{result}")?;
    } else {
        writeln!(out, "{options}")?;
    }
    Ok(Exit::Done)
}

/// What JDK_JAVA_OPTIONS has to be. The launcher splits it at white space, except within quotes; nothing escapes a quote there.
fn java_options(module: &Path, runtime: &Path) -> Result<String> {
    let name = rmi::MODULE;
    let quote = |path: &Path, option: &str| {
        let path = path.to_str().filter(|path| !path.contains(['"', '\'', ':', '\n', '\r']));
        let path = path.ok_or_else(|| {
            usage("-o: the path of this directory has a quote, a colon or a line break in it, which java options cannot have")
        })?;
        let option = format!("{option}{path}");
        Ok::<_, anyhow::Error>(if option.contains(char::is_whitespace) {
            format!("\"{option}\"")
        } else {
            option
        })
    };
    Ok(format!(
        "{} {} --add-reads={name}=ALL-UNNAMED",
        quote(module, &format!("--patch-module={name}="))?,
        quote(runtime, "-Xbootclasspath/a:")?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_spaces_are_quoted_and_others_refused() {
        let options =
            |directory: &str| java_options(&Path::new(directory).join("m.jar"), Path::new("/r.jar"));
        assert_eq!(
            options("/a b").unwrap(),
            "\"--patch-module=java.rmi=/a b/m.jar\" -Xbootclasspath/a:/r.jar --add-reads=java.rmi=ALL-UNNAMED"
        );
        for directory in ["/a\"b", "/a:b", "/a'b"] {
            assert!(options(directory).is_err(), "{directory}");
        }
    }
}
