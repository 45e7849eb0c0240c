//! Command line over environment over instrument.toml over default, for every option.

use crate::common::{Dir, Run, empty_class, finish};
use serde_json::{Value, json};

/// Each option: its key in the summary, its default, and a value for the file, the environment and the command line.
fn options() -> Vec<(&'static str, Value, [&'static str; 3], [Value; 3])> {
    vec![
        (
            "include",
            json!([]),
            ["[\"a.**\", \"x.Y\"]", "b.**", "c.**"],
            [json!(["a.**", "x.Y"]), json!(["b.**"]), json!(["c.**"])],
        ),
        (
            "exclude",
            json!([]),
            ["[\"a.**\"]", "b.**:x.Y", "c.**"],
            [json!(["a.**"]), json!(["b.**:x.Y"]), json!(["c.**"])],
        ),
        (
            "subclasses-of",
            json!([]),
            ["[\"a.A\"]", "b.B,c.C", "d.D"],
            [json!(["a.A"]), json!(["b.B", "c.C"]), json!(["d.D"])],
        ),
        (
            "transform",
            json!(["method-events", "thread-links", "waits"]),
            ["[\"allocation\"]", "method-events,allocation", "allocation,method-events"],
            [
                json!(["allocation"]),
                json!(["method-events", "allocation"]),
                json!(["allocation", "method-events"]),
            ],
        ),
        (
            "library-calls",
            json!("none"),
            ["\"all\"", "top-level", "none"],
            [json!("all"), json!("top-level"), json!("none")],
        ),
        ("native", json!(false), ["true", "no", "yes"], [json!(true), json!(false), json!(true)]),
        (
            "large-methods",
            json!("leave"),
            ["\"wrap\"", "leave", "wrap"],
            [json!("wrap"), json!("leave"), json!("wrap")],
        ),
        ("ids", Value::Null, ["\"i.1\"", "i.2", "i.3"], [json!("i.1"), json!("i.2"), json!("i.3")]),
        (
            "runtime",
            json!("embed"),
            ["\"none\"", "classpath", "embed"],
            [json!("none"), json!("classpath"), json!("embed")],
        ),
        (
            "record",
            json!("tree"),
            ["\"trace\"", "counts", "tree"],
            [json!("trace"), json!("counts"), json!("tree")],
        ),
        (
            "timing",
            json!("samples"),
            ["\"every:64\"", "every:8", "all"],
            [json!("every:64"), json!("every:8"), json!("all")],
        ),
        (
            "root",
            json!([]),
            ["[\"a.B#run\"]", "b.**:x.Y", "c.C#run(I)"],
            [json!(["a.B#run"]), json!(["b.**:x.Y"]), json!(["c.C#run(I)"])],
        ),
        ("account", Value::Null, ["\"one\"", "two", "three"], [json!("one"), json!("two"), json!("three")]),
        ("strict", json!(false), ["true", "no", "yes"], [json!(true), json!(false), json!(true)]),
        ("strip-signatures", json!(false), ["true", "0", "true"], [json!(true), json!(false), json!(true)]),
        ("level", json!(6), ["1", "9", "12"], [json!(1), json!(9), json!(12)]),
        ("jobs", Value::Null, ["3", "4", "5"], [json!(3), json!(4), json!(5)]),
    ]
}

fn dir() -> Dir {
    let dir = Dir::new();
    dir.write("Foo.class", empty_class("Foo"));
    dir
}

fn run(dir: &Dir, arguments: &[String], environment: &[(String, &str)]) -> Run {
    let mut all = vec!["Foo.class".to_owned(), "--json".to_owned()];
    all.extend_from_slice(arguments);
    let mut command = dir.command(&all);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    finish(command.output().unwrap())
}

#[test]
fn the_stronger_source_wins() {
    let dir = dir();
    let in_effect = |key: &str, arguments: &[String], environment: &[(String, &str)]| {
        run(&dir, arguments, environment).expect(0).json()["options"][key.replace('-', "_")].clone()
    };
    for (key, default, [in_file, in_environment, on_line], [file_value, environment_value, line_value]) in
        options()
    {
        let variable = [(format!("INSTRUMENT_{}", key.to_uppercase().replace('-', "_")), in_environment)];
        let flag = [format!("--{key}={on_line}")];
        if key == "jobs" {
            assert!(in_effect(key, &[], &[]).as_u64().unwrap() >= 1);
        } else {
            assert_eq!(in_effect(key, &[], &[]), default, "{key}: default");
        }
        assert_eq!(in_effect(key, &[], &variable), environment_value, "{key}: environment over default");
        assert_eq!(in_effect(key, &flag, &[]), line_value, "{key}: command line over default");
        dir.write("instrument.toml", format!("{key} = {in_file}\n"));
        if key == "strip-signatures" {
            // Not from a file that nobody named.
            std::fs::rename(dir.path("instrument.toml"), dir.path("named.toml")).unwrap();
        }
        let named = [("INSTRUMENT_CONFIG".to_owned(), "named.toml")];
        let named = if key == "strip-signatures" { &named[..] } else { &[] };
        let variable = [&variable[..], named].concat();
        assert_eq!(in_effect(key, &[], named), file_value, "{key}: file over default");
        assert_eq!(in_effect(key, &[], &variable), environment_value, "{key}: environment over file");
        assert_eq!(in_effect(key, &flag, named), line_value, "{key}: command line over file");
        assert_eq!(
            in_effect(key, &flag, &variable),
            line_value,
            "{key}: command line over environment and file"
        );
        let _ = std::fs::remove_file(dir.path("instrument.toml"));
    }
}

/// `instrument.toml` of the working directory came with somebody's sources.
#[test]
fn a_configuration_that_nobody_named_is_not_trusted() {
    let dir = dir();
    let outside = Dir::new();
    outside.write("precious", "precious");
    std::os::unix::fs::symlink(outside.path(""), dir.path("link")).unwrap();
    std::os::unix::fs::symlink(outside.path("not-there"), dir.path("dangling")).unwrap();
    let absolute = outside.path("new").display().to_string();
    for (line, place, reason) in [
        ("report = \"../precious\"", 10, "../precious leads out of its directory"),
        ("report = \"a/../../precious\"", 10, "leads out of its directory"),
        ("report = \"link/new\"", 10, "leads out of its directory"),
        ("report = \"dangling\"", 10, "leads out of its directory"),
        ("ids = \"link/precious\"", 7, "leads out of its directory"),
        (&format!("ids = \"{absolute}\""), 7, "leads out of its directory"),
        ("strip-signatures = true", 20, "strip-signatures removes the signatures of signed archives"),
    ] {
        dir.write("instrument.toml", format!("\n{line}\n"));
        let place = format!("instrument.toml:2:{place}: ");
        run(&dir, &[], &[]).says(2, &[&place, reason, "if you trust it, --config instrument.toml reads it"]);
    }
    assert_eq!(std::fs::read_dir(outside.path("")).unwrap().count(), 1);

    dir.write("target/x", "");
    dir.write("instrument.toml", "report = \"target/report\"\nstrip-signatures = false\n");
    run(&dir, &[], &[]).expect(0).says(0, &["options are read from instrument.toml"]);
    assert!(std::fs::read_to_string(dir.path("target/report")).unwrap().starts_with("{\"kind\":\"class\""));
    // Its own report is replaced, and nothing else.
    run(&dir, &[], &[]).expect(0);
    for arguments in [vec![], vec!["--report=precious".to_owned()]] {
        dir.write("instrument.toml", "report = \"precious\"\n");
        dir.write("precious", "precious");
        run(&dir, &arguments, &[])
            .says(2, &["--account precious: this file exists and is not such an account"]);
        assert_eq!(std::fs::read_to_string(dir.path("precious")).unwrap(), "precious");
    }
    dir.write("precious", "");
    run(&dir, &[], &[]).expect(0);
}

#[test]
fn flags_can_be_taken_back_and_repeated() {
    let dir = dir();
    dir.write("instrument.toml", "strict = true\n");
    let options = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
        run(&dir, &arguments, &[]).expect(0).json()["options"].clone()
    };
    assert_eq!(options(&["--strict=false"])["strict"], false);
    assert_eq!(options(&["--strict", "-v"])["strict"], true, "--strict takes no separate word");
    assert_eq!(options(&["--include", "**", "--include", "Foo*"])["include"], json!(["**", "Foo*"]));
    assert_eq!(options(&["-j7"])["jobs"], 7);
}

#[test]
fn a_configuration_may_be_named_and_its_paths_are_its_own() {
    let dir = dir();
    dir.write("conf/x.toml", "ids = \"methods.ids\"\n");
    dir.write("instrument.toml", "bogus = 1\n");
    let named = run(&dir, &["--config=conf/x.toml".into()], &[]).expect(0);
    assert_eq!(named.json()["options"]["ids"], "conf/methods.ids");
    assert!(dir.path("conf/methods.ids").is_file());
    let by_environment = run(&dir, &[], &[("INSTRUMENT_CONFIG".into(), "conf/x.toml")]).expect(0);
    assert_eq!(by_environment.json()["options"]["ids"], "conf/methods.ids");
    run(&dir, &[], &[]).says(2, &["instrument.toml:1:1: unknown field `bogus`", "strip-signatures"]);
    run(&dir, &["--config=missing.toml".into()], &[]).says(2, &["missing.toml: No such file"]);
}

#[test]
fn bad_values_are_wrong_usage_wherever_they_come_from() {
    let dir = dir();
    let variable = |name: &str, value| vec![(name.to_owned(), value)];
    for (arguments, environment, part) in [
        (vec!["--include=a..b"], vec![], "bad pattern `a..b`: a package name is empty"),
        (vec![], variable("INSTRUMENT_EXCLUDE", "a.B#"), "bad pattern `a.B#`: there is no method name"),
        (vec!["--subclasses-of=a.*"], vec![], "names of classes, not `a.*`"),
        (vec!["--transform=bogus"], vec![], "method-events"),
        (vec!["--record=bogus"], vec![], "trace"),
        (vec!["--timing=every:0"], vec![], "`every:0` is not `samples`, `none`, `auto`, `all` or `every:N`"),
        (vec!["--timing=every:4", "--record=trace"], vec![], "--timing every:4 is for --record tree"),
        (vec!["--timing=all", "--record=counts"], vec![], "--timing all is for --record tree"),
        (vec!["--timing=none"], vec![], "--timing none is for --record counts"),
        (
            vec!["--large-methods=wrap", "--transform=allocation"],
            vec![],
            "method-events records, and it is not among",
        ),
        (
            vec!["--large-methods=wrap", "--transform=method-events,bytecodes"],
            vec![],
            "wrap and --transform bytecodes exclude each other",
        ),
        (vec!["--native", "--transform=allocation"], vec![], "--native is about calls which method-events"),
        (vec!["--root=a.B#"], vec![], "--root: bad pattern `a.B#`"),
        (vec!["--region=B"], vec![], "neither a method nor a line"),
        (vec!["--region=a.B#m,a.B#m"], vec![], "a.B#m is given twice"),
        (vec![], variable("INSTRUMENT_REGION", "a.B:7-3"), "the last line lies in front of the first"),
        (vec!["--level", "0"], vec![], "a level of compression is 1 to 12"),
        (vec!["-j0"], vec![], "invalid value '0' for '--jobs <N>'"),
        (vec!["-j9999"], vec![], "not a number from 1 to 1024"),
        (vec![], variable("INSTRUMENT_STRICT", "maybe"), "maybe"),
        (vec!["--runtime=bogus"], vec![], "classpath"),
    ] {
        let arguments: Vec<String> = arguments.into_iter().map(String::from).collect();
        let run = run(&dir, &arguments, &environment).expect(2);
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
        assert!(!dir.path("Foo-instrumented.class").exists());
    }
}

/// The keys of the schema are those that the file may have, and what it says of their values is so.
#[test]
fn the_schema_is_that_of_the_file() {
    let dir = Dir::new();
    let schema: Value = serde_json::from_str(&dir.line("config --schema").expect(0).stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["additionalProperties"], false);
    let properties = schema["properties"].as_object().unwrap();
    let check = |line: &str| {
        dir.write("x.toml", format!("{line}\n"));
        dir.line("config x.toml")
    };
    let refusal = check("bogus = 1").expect(2).stderr;
    let mut known: Vec<&str> = refusal.split('`').skip(3).step_by(2).collect();
    known.sort_unstable();
    let mut keys: Vec<&str> = properties.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, known);
    // What other options ask for.
    let more = |key: &str| if key == "propagate" { "remote = [\"http\"]\n" } else { "" };
    for (key, property) in properties {
        assert!(property["description"].as_str().is_some_and(|text| text.len() > 10), "{key}");
        let is_list = property["type"] == "array";
        let one = if is_list { &property["items"] } else { property };
        let values: Vec<Value> = match (one["type"].as_str().unwrap(), one["oneOf"].as_array()) {
            ("boolean", _) => vec![json!(true), json!(false)],
            ("integer", _) => vec![one["minimum"].clone(), one["maximum"].clone()],
            (_, Some(words)) => words.iter().map(|word| word["const"].clone()).collect(),
            _ => vec![json!(match key.as_str() {
                "timing" => "every:64",
                "latency" => "com.acme.Shop#sell:50ms",
                "region" => "com.acme.Shop:12-17",
                _ => "com.acme.Shop",
            })],
        };
        for value in values {
            let value = if is_list { json!([value]) } else { value };
            let said = check(&format!("{}{key} = {value}", more(key)));
            // Whether it goes with the defaults of others is no matter of a schema.
            let reason = said.stderr.lines().next().unwrap_or_default();
            assert!(said.code == 0 || reason.contains(": --"), "{key} = {value}: {reason}");
        }
        let wrong = check(&format!("{key} = {{}}"));
        assert_eq!(wrong.code, 2, "{key}");
    }
}

#[test]
fn options_that_do_not_go_together_have_their_place() {
    let dir = dir();
    for (text, place, reason) in [
        ("strict = true\npropagate = true\n", "x.toml:2:1: ", "--propagate is for requests by HTTP"),
        ("record = \"trace\"\ntiming = \"all\"\n", "x.toml:2:1: ", "--timing all is for"),
        ("jobs = 2000\n", "x.toml:1:1: ", "2000 threads are too many"),
        ("subclasses-of = [\"a.*\"]\n", "x.toml:1:1: ", "names of classes, not `a.*`"),
        ("transform = []\n", "x.toml:1:1: ", "the list is empty"),
    ] {
        dir.write("x.toml", text);
        dir.line("config x.toml").says(2, &[place, reason]);
        run(&dir, &["--config=x.toml".into()], &[]).says(2, &[place, reason]);
    }
    // The command line can be right or wrong, whatever the file says.
    dir.write("x.toml", "propagate = true\n");
    run(&dir, &["--config=x.toml".into(), "--remote=http".into()], &[]).expect(0);
    let wrong = run(&dir, &["--config=x.toml".into(), "--remote=http".into(), "--jobs=2000".into()], &[]);
    assert!(wrong.code == 2 && !wrong.stderr.contains("x.toml"), "{}", wrong.stderr);
    dir.line("config nothing.toml").says(2, &["nothing.toml: there is no such file"]);
    dir.line("config").says(2, &["instrument.toml: there is no such file"]);
}
