//! `--values`: statements as calls of their own, through two layers around a real database; the agent and rewritten classes, on real
//! virtual machines.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use instrument_tests::jre;
use instrument_tests::machine::Jdk;
use instrument_tests::subject;
use instrument_tests::values::{
    Figures, Program, by_value, machines, profile, table, values, without_methods,
};

/// Statements of `Shop` by the method that runs them: entries, exits, unwinds.
const STATEMENTS: &str = "
again > SQL update item set price = price + ? where id = ?                              10 10 0
batches > SQL (batch of different statements)                                           1 1 0
batches > SQL delete from log where id = ?                                              2 2 0
batches > SQL delete from log where text = ?                                            3 3 0
calls > SQL call abs(?)                                                                 1 1 0
caught > SQL select ?                                                                   3 3 0
caught > SQL select nothing from item where id = ?                                      3 0 3
<init> > SQL select name from item                                                      1 1 0
fails > SQL select nothing from item where id = ?                                       1 0 1
fill > SQL create table if not exists item (id int primary key, name varchar(?), price int default ?) 1 1 0
fill > SQL create table if not exists log (id int auto_increment primary key, text varchar(?)) 1 1 0
fill > SQL insert into item values (?, ?, ?)                                            10 10 0
keys > SQL insert into log (text) values (?)                                            9 9 0
lists > SQL select count(*) from item where id in (?)                                   3 3 0
name > SQL select name from item where id = ?                                           1008 1008 0
names > SQL select id from item where id < ?                                            1 1 0
unknown > SQL (text not known)                                                          2 2 0
";

fn expected() -> BTreeMap<String, Figures> {
    table(STATEMENTS)
}

const OPTIONS: &str = "transform=method-events:thread-links:waits:jdbc,include=Shop:Shop$**:Passing**";

fn shop() -> Result<Program> {
    Program::with_layers("Shop", &["h2"])
}

#[test]
fn each_statement_is_a_call_of_the_method_that_runs_it() -> Result<()> {
    let program = shop()?;
    let machines = machines()?;
    for jre in &machines {
        let outcome = program.run_agent(jre, OPTIONS, &[])?;
        ensure!(outcome.stdout == "5\n42122\ndone\n", "{}", outcome.stdout);
        assert_eq!(values(&profile(&outcome)?)?, expected(), "Java {}", jre.version);
    }
    for (jre, mode) in jre::each(&machines, &["record=counts", "record=trace", "timing=every:4", "cpu=true"])
    {
        let outcome = program.run_agent(&jre, &format!("{OPTIONS},{mode}"), &[])?;
        assert_eq!(by_value(&outcome)?, without_methods(expected()), "Java {} {mode}", jre.version);
    }
    Ok(())
}

/// With the driver rewritten, too: what it runs by itself is part of the program's statement.
#[test]
fn rewritten_classes_tell_the_same_and_so_does_a_rewritten_driver() -> Result<()> {
    let program = shop()?;
    for jre in jre::turn(machines()?) {
        let of_classes = program.run_rewritten(&jre, &["--values", "jdbc"], &[])?;
        let of_driver = program.run_agent(&jre, "transform=method-events:jdbc", &[])?;
        for outcome in [of_classes, of_driver] {
            assert_eq!(values(&profile(&outcome)?)?, expected(), "Java {}", jre.version);
        }
    }
    Ok(())
}

#[test]
fn values_beyond_the_bound_are_one() -> Result<()> {
    let program = shop()?;
    let jre = jre::newest()?;
    let outcome = program.run_agent(&jre, &format!("{OPTIONS},most-values=5"), &["10"])?;
    let found = by_value(&outcome)?;
    let of_columns = |name: &str| found.get(&format!("SQL {name}")).copied();
    assert_eq!(of_columns("select id as c0 from item"), Some([2, 2, 0]));
    assert_eq!(of_columns("select id as c1 from item"), Some([2, 2, 0]));
    assert_eq!(of_columns("select id as c2 from item"), None);
    assert_eq!(of_columns(""), Some([16, 16, 0]), "(others): {found:?}");
    assert_eq!(values(&profile(&outcome)?)?["columns > SQL (others)"], [16, 16, 0]);
    // The usual bound.
    let outcome = program.run_agent(&jre, OPTIONS, &["1100"])?;
    let found = values(&profile(&outcome)?)?;
    assert_eq!(found["columns > SQL (others)"], [2 * 103, 2 * 103, 0]);
    assert_eq!(found.len(), 1001);
    Ok(())
}

/// Statements of `Postgres` by the method that runs them.
const POSTGRES: &str = "
texts > SQL select name from item where id = ?                                          3 3 0
prepared > SQL select name from item where price > ? and id < ?                         8 8 0
batch > SQL insert into item values (?, ?)                                              1 1 0
updates > SQL update item set price = ? where id = ?                                    2 2 0
fails > SQL select nothing from item where id = ?                                       1 0 1
one > SQL select name from item where id = ?                                            20 20 0
";

/// A pool, a driver around a driver, and that of PostgreSQL, with and without their own classes rewritten. What they run by themselves, such as
/// the test whether a connection is alive, is below their own methods.
#[test]
fn each_statement_is_one_through_a_pool_and_two_drivers() -> Result<()> {
    let program = Program::with_layers("Postgres", &["postgresql", "hikaricp", "slf4j-api"])?;
    let expected = table(POSTGRES);
    for jre in jre::turn(machines()?) {
        let options = "transform=method-events:thread-links:waits:jdbc";
        let own =
            program.run_agent(&jre, &format!("{options},include=Postgres:Postgres$**:Passing**"), &[])?;
        let all = program.run_agent(&jre, options, &[])?;
        let rewritten = program.run_rewritten(&jre, &["--values", "jdbc"], &[])?;
        for outcome in [own, all, rewritten] {
            // The server saw three rows of one batch.
            ensure!(outcome.stdout == "42703\n37\n", "{}", outcome.stdout);
            let mut found = values(&profile(&outcome)?)?;
            found.retain(|path, _| !path.starts_with("isValid > "));
            assert_eq!(found, expected, "Java {}", jre.version);
        }
    }
    Ok(())
}

#[test]
fn reports_show_statements_as_they_show_methods() -> Result<()> {
    let program = shop()?;
    let class_path = format!("{}:{}", program.classes.display(), program.jars[0].display());
    let instrument = |arguments: &[&str]| {
        let output =
            subject::call().unwrap().current_dir(program.work.path()).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let java = Jdk::default_kit().unwrap().tool("java").get_program().to_str().unwrap().to_owned();
    let command = [
        &["run", "--values", "jdbc", "--include", "Shop*", "--out", "shop.iprof", "--", &java][..],
        &["-cp", &class_path, "Shop"],
    ]
    .concat();
    let (code, _, errors) = instrument(&command);
    assert_eq!(code, Some(0), "{errors}");
    let text = "SQL select name from item where id = ?";
    let has_line = |report: &str, calls: &str| {
        report.lines().any(|line| line.contains(text) && line.split_whitespace().next() == Some(calls))
    };
    let (_, tree, _) = instrument(&["xtree", "--prune", "0", "shop.iprof"]);
    assert!(has_line(&tree, "7") && has_line(&tree, "1000"), "{tree}");
    let (_, methods, _) = instrument(&["xprof", "shop.iprof"]);
    assert!(has_line(&methods, "1008"), "{methods}");
    let (_, statistics, _) = instrument(&["stats", "shop.iprof"]);
    assert!(statistics.contains(text), "{statistics}");
    let (_, callers, _) = instrument(&["xarc", "--method", text, "shop.iprof"]);
    assert!(callers.contains(text) && callers.contains("Shop.name"), "{callers}");
    let (_, folded, _) = instrument(&["export", "--format", "folded", "shop.iprof"]);
    assert!(folded.contains("Shop.name") && folded.contains(text), "{folded}");
    // Texts have other ids in every run, and the same names.
    let (code, gate, errors) = instrument(&["gate", "learn", "shop.iprof", "-o", "shop.gate"]);
    assert_eq!(code, Some(0), "{gate}{errors}");
    let (code, gate, errors) = instrument(&["gate", "check", "shop.gate", "shop.iprof"]);
    assert_eq!(code, Some(0), "{gate}{errors}");
    let written = std::fs::read_to_string(program.work.path().join("shop.gate")).unwrap();
    assert!(written.contains(text), "{written}");

    let refused = ["run", "--values", "jdbc", "--transform", "thread-links", "--", &java, "-version"];
    let (code, _, errors) = instrument(&refused);
    assert_eq!(code, Some(2));
    assert!(errors.contains("--values jdbc is about calls"), "{errors}");
    Ok(())
}
