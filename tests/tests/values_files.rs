//! `--values files`: files that are opened, copied, moved and deleted as calls of their own, on real virtual machines.

use anyhow::{Result, ensure};
use instrument_tests::jre;
use instrument_tests::values::{Program, by_value, machines, profile, table, values, without_methods};

/// Files of `Disk` by the method that opens them: entries, exits, unwinds.
const FILES: &str = r"
streams > FILE write data/part-?.csv                                                    10 10 0
streams > FILE read data/part-?.csv                                                     5 5 0
readers > FILE write data/a?b?.txt                                                      3 3 0
readers > FILE read data/a?b?.txt                                                       2 2 0
random > FILE write data/random                                                         4 4 0
random > FILE read data/random                                                          2 2 0
reads > FILE read data/part-?.csv                                                       12 12 0
writes > FILE write data/out.txt                                                        9 9 0
channels > FILE write data/channel                                                      3 3 0
channels > FILE read data/channel                                                       2 2 0
moves > FILE copy data/part-?.csv                                                       3 3 0
moves > FILE move data/copy-?.csv                                                       3 3 0
moves > FILE delete data/part-?.csv                                                     6 6 0
missing > FILE read missing/?                                                           3 0 3
missing > FILE write data/found                                                         3 3 0
missing > FILE delete missing                                                           2 1 1
own > FILE (path not known)                                                             2 1 1
constructed > FILE write data/found                                                     1 1 0
<init> > FILE write data/journal-?                                                      2 2 0
<init> > FILE write nowhere/journal-?                                                   1 0 1
hostile > FILE read missing/a%1B[?J%0Ab c/%202E%D800x                                   1 0 1
hostile > FILE read missing/LONG ..                                                     1 0 1
hostile > FILE read missing/?/?.tmp                                                     1 0 1
hostile > FILE read missing/C:\\Temp\\?                                                 1 0 1
leaves > FILE read missing/all                                                          1 0 1
";

fn expected() -> std::collections::BTreeMap<String, [u64; 3]> {
    table(&FILES.replace("LONG", &"x".repeat(400 - "missing/".len())))
}

const OPTIONS: &str = "transform=method-events:thread-links:waits:files,include=Disk:Disk$**";

#[test]
fn each_file_is_a_call_of_the_method_that_opens_it() -> Result<()> {
    let program = Program::compile("Disk", &[], |source| source)?;
    let machines = machines()?;
    for jre in &machines {
        let outcome = program.run_agent(jre, OPTIONS, &[])?;
        ensure!(outcome.stdout == "8\n0\nnull\n....\nleft\ndone\n", "{}", outcome.stdout);
        assert_eq!(values(&profile(&outcome)?)?, expected(), "Java {}", jre.version);
    }
    for (jre, mode) in jre::each(&machines, &["record=counts", "record=trace", "cpu=true"]) {
        let outcome = program.run_agent(&jre, &format!("{OPTIONS},{mode}"), &[])?;
        assert_eq!(by_value(&outcome)?, without_methods(expected()), "Java {} {mode}", jre.version);
    }
    Ok(())
}

#[test]
fn rewritten_classes_tell_the_same() -> Result<()> {
    let program = Program::compile("Disk", &[], |source| source)?;
    for jre in jre::turn(machines()?) {
        let options = ["--values", "files", "--library-calls", "top-level"];
        let outcome = program.run_rewritten(&jre, &options, &[])?;
        assert_eq!(values(&profile(&outcome)?)?, expected(), "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn files_beyond_the_bound_are_one() -> Result<()> {
    let program = Program::compile("Disk", &[], |source| source)?;
    let outcome = program.run_agent(&jre::newest()?, &format!("{OPTIONS},most-values=5"), &["9"])?;
    let found = values(&profile(&outcome)?)?;
    assert_eq!(found["many > FILE write data/aae"], [2, 2, 0]);
    assert_eq!(found["many > FILE (others)"], [8, 8, 0]);
    assert_eq!(found.len(), 6, "{found:?}");
    Ok(())
}
