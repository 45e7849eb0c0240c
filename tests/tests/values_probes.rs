//! `--probes` and `--values` at the same calls: what rules name is called within the value in front of a call, and outside of it behind it.

use anyhow::{Result, ensure};
use instrument_tests::machine::root;
use instrument_tests::subject;
use instrument_tests::values::{Program, calls, finish, machines, table};
use instrument_trace::Profile;

/// What the called methods say.
const SAID: &str = "\
before java.sql.Statement.executeQuery(String) select 0
after java.sql.Statement.executeQuery(String) select 0true
before java.sql.Statement.executeQuery(String) select 1
after java.sql.Statement.executeQuery(String) select 1true
before java.sql.Statement.executeQuery(String) select nothing
thrown
before java.sql.Connection.prepareStatement(String, int, int) select cast(? as int)
after java.sql.Connection.prepareStatement(String, int, int) select cast(? as int)true
ran java.sql.PreparedStatement.executeQuery()true
before java.nio.file.Files.writeString(Path, CharSequence, OpenOption[]) file-1
after java.nio.file.Files.writeString(Path, CharSequence, OpenOption[]) file-1true
before java.io.FileInputStream.<init>(String) file-1
after java.io.FileInputStream.<init>(String) file-1true
before java.nio.file.Files.readString(Path) file-1
after java.nio.file.Files.readString(Path) file-1true
text
";

/// Values, and the called methods, by their callers.
const CALLS: &str = "
texts > SQL select ?                                                                    2 2 0
SQL select ? > before                                                                   2 2 0
texts > SQL select nothing                                                              1 0 1
SQL select nothing > before                                                             1 1 0
texts > after                                                                           2 2 0
prepared > before                                                                       1 1 0
prepared > after                                                                        1 1 0
prepared > SQL select cast(? as int)                                                    1 1 0
prepared > ran                                                                          1 1 0
files > FILE write file-?                                                               1 1 0
FILE write file-? > before                                                              1 1 0
files > FILE read file-?                                                                2 2 0
FILE read file-? > before                                                               2 2 0
files > after                                                                           3 3 0
";

#[test]
fn own_calls_and_values_are_both_told_of() -> Result<()> {
    let program = Program::with_others("Probed", &["h2"], &["Told"])?;
    let rules = root().join("tests/java/values/probes.toml").display().to_string();
    let options = ["--probes", &rules, "--transform", "method-events", "--values", "jdbc,files"];
    let rewritten = program.work.path().join("rewritten");
    subject::rewrite(&program.classes, &rewritten, &options)?;
    for jre in instrument_tests::jre::turn(machines()?) {
        let at_run_time = program.work.path().join(format!("{}.iprof", jre.version));
        let mut run = subject::call()?;
        run.arg("run").args(options).args(["--include", "Probed:Told", "--out"]).arg(&at_run_time).arg("--");
        let java = program.java(&jre, &program.classes, &[], &[])?;
        run.current_dir(program.work.path()).arg(java.get_program()).args(java.get_args());
        let output = run.output()?;
        let (said, errors) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        ensure!(output.status.success() && said == SAID, "Java {}: {said}{errors}", jre.version);
        ensure!(errors.contains("probe 'in front of a text': 2 places in 1 method"), "{errors}");

        let statically = finish(program.java(&jre, &rewritten, &[], &[])?)?;
        ensure!(statically.stdout == SAID, "Java {}: {}", jre.version, statically.stdout);
        let of_rewritten = statically.profile().next().expect("a profile");
        for path in [&at_run_time, &of_rewritten] {
            let profile = Profile::parse(&std::fs::read(path)?)?;
            ensure!(profile.damage.is_empty() && profile.imbalances().is_empty(), "{:?}", profile.damage);
            let wanted = |name: &str| {
                ["SQL ", "FILE "].iter().any(|kind| name.starts_with(kind))
                    || ["before", "after", "ran"].contains(&name)
            };
            assert_eq!(calls(&profile, wanted)?, table(CALLS), "Java {}", jre.version);
        }
    }
    Ok(())
}
