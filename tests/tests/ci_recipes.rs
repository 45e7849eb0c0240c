//! The recipes of `docs/ci`, as a reader copies them: each fits the schema of its service, as far as that has one, and its commands are run in a clone of a repository whose branch calls more than its
//! gate allows. What needs the service itself is named, and is not run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_rewriter::archive::{NewEntry, create};
use instrument_tests::machine::{Jdk, Run, root};
use instrument_tests::{agent, readers, subject};
use serde_json::Value;
use tempfile::TempDir;

const GATE: &str = "[[budget]]\nmethod = \"Orders$Connection#prepareStatement\"\ncalls = \"<= 1\"\n";
/// What the recipes have in their variables, but for the build.
const JAR: &str = "target/app.jar";
/// In the place of Maven: the jar is there already.
const BUILD: &str = "sh build.sh";

/// A clone of a repository: its branch is checked out, and `origin/main` is what it began with.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new() -> Result<Project> {
        let project = Project { folder: tempfile::tempdir()? };
        let origin = project.at("origin");
        let sources = origin.join("src/main/java");
        fs::create_dir_all(&sources)?;
        git(&origin, &["init", "-q", "-b", "main"])?;
        let before = fs::read_to_string(root().join("docs/examples/Orders.java"))?;
        let after =
            before.replace("return 100 + number;", "return connection.prepareStatement(\"x\").length();");
        ensure!(before != after, "the example has changed");
        fs::write(origin.join("app.gate"), GATE)?;
        fs::write(origin.join("build.sh"), "mkdir -p target && cp built.jar target/app.jar\n")?;
        fs::write(origin.join(".gitignore"), "target\nbase\n")?;
        for (source, subject) in [(before, "before"), (after, "after")] {
            fs::write(sources.join("Orders.java"), source)?;
            fs::write(origin.join("built.jar"), jar(&sources, &project.at(subject))?)?;
            git(&origin, &["add", "."])?;
            git(&origin, &["commit", "-q", "-m", subject])?;
            if subject == "before" {
                git(&origin, &["checkout", "-q", "-b", "change"])?;
            }
        }
        git(project.folder.path(), &["clone", "-q", "-b", "change", "origin", "work"])?;
        // As a release that was installed and cached by an earlier run.
        for prefix in ["work/.instrument", "home/.local/instrument", "home/.cache/instrument-0.1.0"] {
            fs::create_dir_all(project.at(prefix).join("bin"))?;
            symlink(subject::instrument()?.canonicalize()?, project.at(prefix).join("bin/instrument"))?;
        }
        // In the place of what talks to a service, which refuses it: they write down what they are asked for.
        fs::create_dir(project.at("stand-ins"))?;
        for name in ["curl", "gh"] {
            let script = format!(
                "#!/bin/sh\nprintf '%s ' {name} \"$@\" >>'{}'\nexit 22\n",
                project.at("requests").display()
            );
            fs::write(project.at("stand-ins").join(name), script)?;
            fs::set_permissions(project.at("stand-ins").join(name), fs::Permissions::from_mode(0o755))?;
        }
        Ok(project)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a script as the service would; returns its exit code and all that it said.
    fn run(&self, shell: &[&str], script: &str, more: &[(String, String)]) -> Result<(i32, String)> {
        let added = fs::read_to_string(self.at("path")).unwrap_or_default();
        let jdk = Jdk::default_kit()?.home.join("bin");
        let folders = added.lines().map(PathBuf::from).chain([self.at("stand-ins"), jdk]);
        let path =
            std::env::join_paths(folders.chain(std::env::split_paths("/usr/local/bin:/usr/bin:/bin")))?;
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(script).current_dir(self.at("work")).env_clear().env("PATH", path);
        command.env("HOME", self.at("home")).env("INSTRUMENT_AGENT", agent::library()?);
        command.env("GITHUB_PATH", self.at("path")).env("GITHUB_STEP_SUMMARY", self.at("summary"));
        command.envs(more.iter().map(|(name, value)| (name, value)));
        let output = command.capture()?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.code().context("killed")?, String::from_utf8_lossy(&said).into_owned()))
    }

    /// The same of one that must succeed.
    fn succeeds(&self, shell: &[&str], script: &str, more: &[(String, String)]) -> Result<()> {
        let (code, said) = self.run(shell, script, more)?;
        ensure!(code == 0, "{script}\nexit code {code}: {said}");
        Ok(())
    }

    /// The same of the verdict: the gate is broken, and the console says by whom.
    fn fails(&self, shell: &[&str], script: &str, more: &[(String, String)]) -> Result<()> {
        let (code, said) = self.run(shell, script, more)?;
        let finding = "`Orders$OrderService#list` calls `Orders$Connection#prepareStatement` 51 times; at most 1 is allowed";
        ensure!(code == 1 && said.contains(finding), "{script}\nexit code {code}: {said}");
        Ok(())
    }

    fn made(&self, name: &str, parts: &[&str]) -> Result<()> {
        let text = fs::read_to_string(self.at("work").join(name)).with_context(|| name.to_owned())?;
        for part in parts {
            ensure!(
                text.contains(part),
                "{name} has no {part}:\n{}",
                text.lines().take(40).collect::<Vec<_>>().join("\n")
            );
        }
        Ok(())
    }

    /// The file of findings fits the schema of SARIF, and names the line of the culprit.
    fn made_sarif(&self) -> Result<()> {
        let schema = readers::sarif_schema()?;
        // Its patterns are those of JavaScript from before `u`.
        let old = ["--regex-variant", "nonunicode", "--schemafile"].map(OsStr::new);
        let document =
            readers::fits(&self.at("work/gate.sarif"), &[&old[..], &[schema.as_os_str()]].concat())?;
        let place = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        let file = "src/main/java/Orders.java";
        ensure!(place["artifactLocation"]["uri"] == file, "{place}");
        let source = fs::read_to_string(self.at("work").join(file))?;
        let line = 1 + source
            .lines()
            .position(|line| line.contains("prepareStatement(\"x\")"))
            .context("no line")?;
        ensure!(place["region"]["startLine"] == line, "{place}, not line {line}");
        Ok(())
    }
}

fn git(folder: &Path, words: &[&str]) -> Result<()> {
    let settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    Command::new("git").arg("-C").arg(folder).args(settings).args(words).run_quietly()?;
    Ok(())
}

/// The jar of the example.
fn jar(sources: &Path, classes: &Path) -> Result<Vec<u8>> {
    let mut javac = Jdk::default_kit()?.tool("javac");
    javac
        .args(["--release", "11", "-g", "-d"])
        .arg(classes)
        .arg(sources.join("Orders.java"))
        .run_quietly()?;
    let entry = |name: String, data: Vec<u8>| NewEntry { name, data, stored: true };
    let manifest = "Manifest-Version: 1.0\r\nMain-Class: Orders\r\n\r\n";
    let mut entries = vec![entry("META-INF/MANIFEST.MF".to_owned(), manifest.into())];
    for file in fs::read_dir(classes)? {
        let file = file?;
        entries.push(entry(file.file_name().to_string_lossy().into_owned(), fs::read(file.path())?));
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(create(entries)?)
}

fn recipe(name: &str) -> PathBuf {
    root().join("docs/ci").join(name)
}

/// A recipe in YAML that fits the schema of its service.
fn of_service(name: &str, schema: &str) -> Result<Value> {
    readers::fits(&recipe(name), &["--builtin-schema", schema].map(OsStr::new))
}

/// Variables of a recipe, with another build; nothing of the service is put in for them.
fn variables(of_recipe: &[(String, String)]) -> Result<Vec<(String, String)>> {
    let version = |value: &String| {
        value
            .replace("${INSTRUMENT}", env!("CARGO_PKG_VERSION"))
            .replace("$INSTRUMENT", env!("CARGO_PKG_VERSION"))
    };
    let all: Vec<_> = of_recipe
        .iter()
        .map(|(name, value)| (name, version(value)))
        .filter(|(name, value)| *name != "PATH" && !value.contains('$'))
        .map(|(name, value)| (name.clone(), if name == "BUILD" { BUILD.to_owned() } else { value }))
        .collect();
    let value = |name: &str| all.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    ensure!(value("BUILD") == Some(BUILD) && value("JAR") == Some(JAR), "{all:?}");
    let version = format!("/instrument-{}-linux-x86_64.tar.gz", env!("CARGO_PKG_VERSION"));
    ensure!(value("RELEASE").is_some_and(|release| release.ends_with(&version)), "another release: {all:?}");
    Ok(all)
}

fn pairs(object: &Value) -> Vec<(String, String)> {
    let pairs = object.as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

#[test]
fn github() -> Result<()> {
    let project = Project::new()?;
    let workflow = of_service("github.yml", "vendor.github-workflows")?;
    let variables = variables(&pairs(&workflow["env"]))?;
    let steps = workflow["jobs"]["instrument"]["steps"].as_array().context("no steps")?;
    let mut left = Vec::new();
    let mut ran = Vec::new();
    for step in steps {
        let Some(script) = step["run"].as_str() else {
            left.push(
                step["uses"]
                    .as_str()
                    .context("neither `run` nor `uses`")?
                    .split('@')
                    .next()
                    .unwrap_or_default(),
            );
            continue;
        };
        let name = step["name"].as_str().context("no name")?;
        if step["if"].as_str().is_some_and(|condition| condition.contains("cache-hit")) {
            left.push(name);
            continue;
        }
        let of_step = [("BASE", "main"), ("NUMBER", "7"), ("GH_TOKEN", "x")];
        let of_step = of_step.into_iter().filter(|(name, _)| step["env"].get(name).is_some());
        let of_step = of_step.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let more: Vec<_> = variables.iter().cloned().chain(of_step).collect();
        match name {
            "Verdict" => project.fails(&["bash", "-ec"], script, &more)?,
            // What the service refuses is not the verdict.
            _ if step["continue-on-error"] == true => _ = project.run(&["bash", "-ec"], script, &more)?,
            _ => project.succeeds(&["bash", "-ec"], script, &more)?,
        }
        ran.push(name);
    }
    ensure!(
        ran == ["Path", "Build", "Record", "Page", "Findings", "Differences", "Comment", "Verdict"],
        "{ran:?}"
    );
    let needs_github = [
        "actions/checkout",
        "actions/setup-java",
        "actions/cache",
        "Install",
        "github/codeql-action/upload-sarif",
        "actions/upload-artifact",
    ];
    ensure!(left == needs_github, "{left:?}");
    project.made("profile.html", &["</html>"])?;
    project.made("diff.md", &["### Bytecode: 1 class changed", "Orders$Item.price"])?;
    project.made("../summary", &["### Gate `app` failed: 1 finding"])?;
    project.made("../requests", &["issues/7/comments", "gh pr comment 7 --body-file comment.md"])?;
    project.made("comment.md", &["<!-- instrument -->\n### "])?;
    project.made_sarif()
}

#[test]
fn gitlab() -> Result<()> {
    let project = Project::new()?;
    let jobs = of_service("gitlab.yml", "vendor.gitlab-ci")?;
    let job = &jobs["instrument"];
    let mut variables = variables(&pairs(&job["variables"]))?;
    let of_service = [
        ("CI_MERGE_REQUEST_IID", "7"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_API_V4_URL", "https://gitlab.example.com/api/v4"),
    ];
    variables.extend(of_service.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let commands = |key: &str| -> Result<Vec<&str>> {
        let list = job[key].as_array().with_context(|| format!("no {key}"))?;
        list.iter().map(|line| line.as_str().context("no text")).collect()
    };
    // All of them in one shell, until one fails.
    let script = [commands("before_script")?, commands("script")?].concat().join("\n");
    let shell = ["bash", "-eo", "pipefail", "-c"];
    project.fails(&shell, &script, &variables)?;
    project.made("profile.html", &["</html>"])?;
    project.made("diff.md", &["### Bytecode: 1 class changed"])?;
    project.made("gate.xml", &["<testcase", "failures=\"1\""])?;
    // The release was in the cache: what fetches it was not run.
    ensure!(!project.at("requests").exists(), "a release was fetched");
    // The next pipeline finds the clone, without what git does not know.
    git(&project.at("work"), &["clean", "-ffdxq", "-e", ".instrument"])?;
    project.fails(&shell, &script, &variables)?;

    let comment = &jobs["instrument-comment"];
    ensure!(comment["allow_failure"] == true && comment["needs"][0] == "instrument", "{comment}");
    let token = [("CI_MERGE_REQUEST_PROJECT_ID", "12"), ("COMMENT_TOKEN", "secret")];
    variables.extend(token.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let (code, said) =
        project.run(&shell, comment["script"][0].as_str().context("no script")?, &variables)?;
    ensure!(code == 22, "{said}");
    project.made(
        "../requests",
        &["PRIVATE-TOKEN: secret --data-urlencode body@diff.md https://gitlab.example.com/api/v4/projects/12/merge_requests/7/notes "],
    )
}

#[test]
fn jenkins() -> Result<()> {
    let project = Project::new()?;
    let text = fs::read_to_string(recipe("Jenkinsfile"))?;
    let environment = text.split("environment {").nth(1).and_then(|rest| rest.split("\n    }").next());
    let lines = environment.context("no environment")?.lines().filter_map(|line| line.split_once(" = "));
    let pairs: Vec<_> = lines
        .map(|(name, value)| (name.trim().to_owned(), value.trim_matches(['\'', '"']).to_owned()))
        .collect();
    let mut variables = variables(&pairs)?;
    variables.push(("CHANGE_TARGET".to_owned(), "main".to_owned()));
    fs::write(project.at("path"), format!("{}\n", project.at("home/.cache/instrument-0.1.0/bin").display()))?;
    let mut stages = Vec::new();
    for stage in text.split("stage('").skip(1) {
        let (name, rest) = stage.split_once('\'').context("no name")?;
        let script =
            rest.split("sh '''").nth(1).and_then(|rest| rest.split("'''").next()).context("no script")?;
        match name {
            "Gate" => project.fails(&["sh", "-xec"], script, &variables)?,
            _ => project.succeeds(&["sh", "-xec"], script, &variables)?,
        }
        stages.push(name);
    }
    ensure!(stages == ["Install", "Record", "Differences", "Gate"], "{stages:?}");
    // The release was there; and what is not a command is named here.
    ensure!(!project.at("requests").exists(), "a release was fetched");
    let steps = [
        "pullRequest.comment(readFile('diff.md'))",
        "testResults: 'gate.xml'",
        "sarif(pattern: 'gate.sarif')",
    ];
    ensure!(steps.iter().all(|step| text.contains(step)), "{text}");
    project.made("profile.html", &["</html>"])?;
    project.made("diff.md", &["### Bytecode: 1 class changed"])?;
    project.made("gate.xml", &["<testcase", "failures=\"1\""])?;
    project.made_sarif()
}

/// The workflow that publishes a release, and the schema that editors take for `instrument.toml`.
#[test]
fn the_release_workflow_and_the_schema_of_options_are_sound() -> Result<()> {
    let release = root().join(".github/workflows/release.yml");
    let workflow = readers::fits(&release, &["--builtin-schema", "vendor.github-workflows"].map(OsStr::new))?;
    ensure!(workflow["jobs"]["publish"]["needs"].is_array(), "{}", workflow["jobs"]["publish"]);

    let work = tempfile::tempdir()?;
    let (schema, file) = (work.path().join("schema.json"), work.path().join("x.toml"));
    fs::write(&schema, subject::call()?.args(["config", "--schema"]).run_quietly()?.stdout)?;
    readers::fits(&schema, &["--check-metaschema".as_ref()])?;
    let judge = |text: &str| -> Result<Value> {
        fs::write(&file, text)?;
        readers::fits(&file, &["--schemafile".as_ref(), schema.as_os_str()])
    };
    judge("include = [\"com.acme.**\"]\nrecord = \"tree\"\njobs = 4\nlevel = 12\nstrict = true\n")?;
    for wrong in
        ["bogus = 1", "record = \"tre\"", "jobs = 0", "level = 13", "transform = [\"x\"]", "strict = 1"]
    {
        ensure!(judge(wrong).is_err(), "{wrong}");
    }
    Ok(())
}
