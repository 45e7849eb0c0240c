//! `instrument top` on a pseudo terminal, while a program goes on.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject;

/// A busy machine may take its time.
const PATIENCE: Duration = Duration::from_secs(60);
const ROWS: u16 = 20;
const COLUMNS: u16 = 110;

/// A program on a terminal that `script` makes.
struct Screen {
    child: Child,
    keys: ChildStdin,
    bytes: Receiver<Vec<u8>>,
    terminal: vt100::Parser,
}

impl Screen {
    /// `instrument top` of a file or process.
    fn top(target: &str, options: &str, environment: &[(&str, &str)]) -> Result<Screen> {
        Screen::of(&format!("top {options} '{target}'"), environment)
    }

    /// `instrument` with these words, followed by its exit code and by what the terminal does with what is typed.
    fn of(words: &str, environment: &[(&str, &str)]) -> Result<Screen> {
        let binary = subject::instrument()?;
        let line = format!(
            "stty rows {ROWS} cols {COLUMNS}; '{}' {words}; echo code $?; stty -a | grep -o -e '-\\?icanon'",
            binary.display()
        );
        let mut script = Command::new("script");
        script.args(["-qfec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        script.env("TERM", "xterm-256color").env_remove("NO_COLOR").envs(environment.iter().copied());
        let mut child = script.spawn().context("script, of util-linux or bsdutils")?;
        let keys = child.stdin.take().context("stdin")?;
        let mut output = child.stdout.take().context("stdout")?;
        let (sender, bytes) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Ok(Screen { child, keys, bytes, terminal: vt100::Parser::new(ROWS, COLUMNS, 100) })
    }

    fn text(&self) -> String {
        self.terminal.screen().contents()
    }

    /// Waits until the screen is as it has to be.
    fn until(&mut self, what: &str, is_it: impl Fn(&str) -> bool) -> Result<String> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(50)) {
                self.terminal.process(&bytes);
            }
            if is_it(&self.text()) {
                return Ok(self.text());
            }
        }
        anyhow::bail!("{what} is not shown:\n{}", self.text())
    }

    fn press(&mut self, keys: &str) -> Result<()> {
        self.keys.write_all(keys.as_bytes())?;
        Ok(self.keys.flush()?)
    }

    /// Whether any cell has a colour.
    fn is_coloured(&self) -> bool {
        let screen = self.terminal.screen();
        let cells = (0..ROWS).flat_map(|row| (0..COLUMNS).filter_map(move |column| screen.cell(row, column)));
        cells.into_iter().any(|cell| cell.fgcolor() != vt100::Color::Default)
    }

    /// It has ended with this code, and the terminal is as it was: no other screen, and lines are read as lines.
    fn has_ended(&mut self, code: i32) -> Result<()> {
        let words = format!("code {code}");
        self.until(&words, |text| text.contains(&words) && text.contains("icanon"))?;
        let text = self.text();
        ensure!(!text.contains("-icanon"), "{text}");
        ensure!(
            !self.terminal.screen().alternate_screen() && !self.terminal.screen().hide_cursor(),
            "{text}"
        );
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number before a name in a row of the table.
fn calls(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains(name))?;
    line.split_whitespace().next()?.parse().ok()
}

struct Program {
    child: Child,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Program {
    /// A program that calls as often as it is told to. Without a profile it is not recorded.
    fn start(folder: &Path, profile: Option<&Path>) -> Result<Program> {
        let classes = agent::compile(&["Asked.java"], 8, folder)?;
        let mut java = Command::new(Jdk::default_kit()?.home.join("bin/java"));
        if let Some(profile) = profile {
            java.arg(agent::option(&format!("out={},ctl=off", profile.display()))?);
        }
        java.arg("-cp").arg(classes);
        let mut child = java.arg("Asked").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("stdin")?;
        let lines = BufReader::new(child.stdout.take().context("stdout")?).lines();
        let mut program = Program { child, input, lines };
        program.says("ready")?;
        Ok(program)
    }

    fn says(&mut self, words: &str) -> Result<()> {
        let line = self.lines.next().context("it has ended")??;
        ensure!(line == words, "{line}");
        Ok(())
    }

    fn call(&mut self, times: u32) -> Result<()> {
        writeln!(self.input, "call {times}")?;
        self.says(&format!("call {times}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_running_program_is_watched_until_it_ends() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let profile = folder.path().join("asked.iprof");
    let mut program = Program::start(folder.path(), Some(&profile))?;
    program.call(100)?;
    // By its process id.
    let mut screen = Screen::top(&program.child.id().to_string(), "--interval 300ms --sort calls", &[])?;
    let first =
        screen.until("the program", |text| text.contains("running") && text.contains("Asked.leaf"))?;
    ensure!(calls(&first, "Asked.leaf") == Some(100), "{first}");
    ensure!(screen.is_coloured() && screen.terminal.screen().alternate_screen(), "{first}");
    program.call(250)?;
    screen.until("what was added", |text| calls(text, "Asked.leaf") == Some(350))?;
    // Paused, nothing changes, until a refresh is requested.
    screen.press(" ")?;
    screen.until("the pause", |text| text.contains("paused"))?;
    program.call(50)?;
    screen.press("/leaf\r")?;
    let text = screen.until("the filter", |text| text.contains("only \"leaf\" (1 rows)"))?;
    ensure!(calls(&text, "Asked.leaf") == Some(350), "{text}");
    screen.press("u")?;
    let text = screen.until("a refresh", |text| calls(text, "Asked.leaf") == Some(400))?;
    // What was added since the refresh before, in the second column.
    let line = text.lines().find(|line| line.contains("Asked.leaf")).context("a row")?;
    ensure!(line.split_whitespace().nth(1) == Some("50"), "{line}");
    // Both at once would be one key with Alt.
    screen.press("\x1b")?;
    screen.until("all rows", |text| !text.contains("only \"leaf\""))?;
    screen.press("\t")?;
    screen.until("threads", |text| text.lines().any(|line| line.trim_end().ends_with(" main")))?;
    screen.press(" ")?;
    drop(program);
    screen.until("the end", |text| text.contains("ended"))?;
    screen.press("q")?;
    screen.has_ended(0)
}

/// A profile of a program that has ended; without colour; a signal is as good as `q`.
#[test]
fn a_profile_is_shown_without_colour_and_an_interrupt_ends_it() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let profile = folder.path().join("asked.iprof");
    let mut program = Program::start(folder.path(), Some(&profile))?;
    program.call(20)?;
    drop(program);
    let file = profile.display().to_string();
    let mut screen = Screen::top(&file, "", &[("NO_COLOR", "1")])?;
    screen.until("the profile", |text| text.contains("ended") && calls(text, "Asked.leaf") == Some(20))?;
    ensure!(!screen.is_coloured());
    screen.press("\x03")?;
    screen.has_ended(0)?;
    // What is wrong is said on the screen that was there.
    let mut screen = Screen::top(&file, "--resource no-such-resource", &[])?;
    screen.until("the error", |text| text.contains("no-such-resource"))?;
    screen.has_ended(2)
}

/// The recording begins with the screen and ends with it; the program runs on.
#[test]
fn a_program_is_attached_to_for_as_long_as_it_is_watched() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let profile = folder.path().join("asked.iprof");
    let mut program = Program::start(folder.path(), None)?;
    program.call(100)?;
    let words =
        format!("attach {} -o '{}' --top --report 'report --counts'", program.child.id(), profile.display());
    let mut screen = Screen::of(&words, &[])?;
    screen.until("the screen", |text| text.contains("every 1s"))?;
    program.call(30)?;
    screen.until("the calls from then on", |text| calls(text, "Asked.leaf") == Some(30))?;
    screen.press("q")?;
    let text =
        screen.until("the report", |text| text.contains("counts balance") && text.contains("code 0"))?;
    ensure!(text.contains("have their own code again") && calls(&text, "Asked.leaf") == Some(30), "{text}");
    screen.has_ended(0)?;
    // Nothing is recorded any more.
    let size = profile.metadata()?.len();
    program.call(1000)?;
    let counts = subject::call()?.args(["report", "--counts"]).arg(&profile).run_quietly()?.stdout;
    ensure!(
        calls(&String::from_utf8(counts)?, "Asked.leaf") == Some(30) && profile.metadata()?.len() == size
    );
    Ok(())
}
