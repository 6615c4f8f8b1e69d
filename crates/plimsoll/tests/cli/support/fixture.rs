//! A directory for each test, and the real binary run in it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use testkit::noise;

use super::RunningCommand;

/// Timeout of a command; none of these tests takes this long, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(180);

/// A directory in which commands run and to which they write.
pub(crate) struct Fixture {
    folder: TempDir,
}

/// The result of a command that has exited.
#[derive(Debug)]
pub(crate) struct ExitedCommand {
    /// The directory in which it ran.
    pub folder: PathBuf,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Fixture {
    /// Creates the directory; servers that drop root privileges can enter it.
    pub(crate) fn new() -> Fixture {
        let open = Permissions::from_mode(0o755);
        Fixture { folder: tempfile::Builder::new().permissions(open).tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns a command that runs the binary in this directory, without the user's settings.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        self.prepare(&mut command);
        command.args(arguments);
        command
    }

    fn prepare(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("TZ", "UTC")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE");
    }

    /// Runs the binary and waits for it.
    pub(crate) fn run(&self, arguments: &[&str]) -> ExitedCommand {
        self.end(self.command(arguments))
    }

    /// Runs a command of [`Fixture::command`] and waits for it.
    pub(crate) fn end(&self, command: Command) -> ExitedCommand {
        let output = output(command);
        ExitedCommand {
            folder: self.folder.path().to_owned(),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a shell command line and waits for it; `$plimsoll` is the binary.
    pub(crate) fn shell(&self, line: &str) -> ExitedCommand {
        let mut command = Command::new("bash");
        self.prepare(&mut command);
        command.args(["-c", line]).env("plimsoll", env!("CARGO_BIN_EXE_plimsoll"));
        self.end(command)
    }

    /// Starts the binary in the background.
    ///
    /// Its signal handlers are reset: background jobs of a script, as tests may be, ignore some signals, and so do their
    /// children.
    pub(crate) fn start(&self, arguments: &[&str]) -> RunningCommand {
        self.start_with(arguments, &[])
    }

    /// Does the same with further environment variables.
    pub(crate) fn start_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> RunningCommand {
        let plain = self.command(arguments);
        let mut command = Command::new("env");
        self.prepare(&mut command);
        command.arg("--default-signal=HUP,INT,QUIT").arg(plain.get_program()).args(plain.get_args());
        command.envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        RunningCommand::new(command.spawn().unwrap(), self.folder.path())
    }

    /// Starts a built-in web server and returns it with its address.
    pub(crate) fn serve(&self, arguments: &[&str]) -> (RunningCommand, String) {
        let server = self.start(&[&["serve", "web"], arguments].concat());
        let address = server.address();
        (server, address)
    }

    /// Returns the report of a run as JSON.
    pub(crate) fn report(&self, run: &Path) -> Value {
        let run = run.to_str().unwrap();
        self.run(&["report", run, "--format", "json"]).expect(0).json()
    }

    /// Returns a fact about the machines from a run's report.
    pub(crate) fn fact(&self, run: &Path, section: &str, name: &str) -> Option<String> {
        let report = self.report(run);
        let sections = report["testbed"]["sections"].as_array()?;
        let section = sections.iter().find(|one| one["title"] == section)?;
        let fact = section["facts"].as_array()?.iter().find(|fact| fact["name"] == name)?;
        Some(fact["value"].as_str()?.to_owned())
    }
}

/// Runs a command without input and waits for it, for [`TIMEOUT`] at most.
fn output(mut command: Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output = ended.recv_timeout(TIMEOUT).unwrap_or_else(|_| {
        let _ = kill_process(pid, Signal::KILL);
        panic!("{command:?} has not ended in {TIMEOUT:?}")
    });
    output.unwrap()
}

impl ExitedCommand {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> ExitedCommand {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Expects complete runs that are valid, or invalid only because the machine is busy.
    #[track_caller]
    pub(crate) fn expect_run(self) -> ExitedCommand {
        self.assert_run();
        self
    }

    /// Does the same without consuming the result.
    #[track_caller]
    pub(crate) fn assert_run(&self) {
        self.assert_run_or(&[]);
    }

    /// Does the same, and also allows violations of `rules`, because the run is too short or made to violate them.
    #[track_caller]
    pub(crate) fn assert_run_or(&self, rules: &[&str]) {
        let verdicts = self.verdicts();
        verdicts.iter().for_each(|verdict| verdict.assert_noise_or(rules));
        let shown = format!("{verdicts:?}\nstdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        let all_valid = verdicts.iter().all(|verdict| verdict.state == "valid");
        assert_eq!(self.code, Some(if all_valid { 0 } else { 3 }), "{shown}");
        if !self.stdout.starts_with('{') {
            let mut states: Vec<String> =
                verdicts.iter().map(|verdict| verdict.state.to_uppercase()).collect();
            let words =
                self.stdout.lines().map(first_word).filter(|word| ["VALID", "INVALID"].contains(word));
            let mut words: Vec<&str> = words.collect();
            states.sort();
            words.sort_unstable();
            assert_eq!(words, states, "{shown}");
        }
    }

    /// Expects a complete run that is invalid only because the machine is busy.
    #[track_caller]
    pub(crate) fn assert_run_is_noise(&self) {
        self.assert_run();
        let verdicts = self.verdicts();
        assert!(verdicts.iter().any(|verdict| verdict.state != "valid"), "{verdicts:?}");
    }

    /// Returns the verdicts on the runs of a command, which prints the names of the run files last, or in its JSON.
    #[track_caller]
    fn verdicts(&self) -> Vec<Verdict> {
        let files: Vec<String> = if self.stdout.starts_with('{') {
            vec![self.json()["files"]["run"].as_str().expect("the name of the run file").to_owned()]
        } else {
            self.stdout.lines().filter(|line| line.ends_with(".plim")).map(str::to_owned).collect()
        };
        assert!(!files.is_empty(), "no run file is named:\n{}\n{}", self.stdout, self.stderr);
        files.iter().map(|file| Verdict::of(&self.folder, file)).collect()
    }

    /// Expects a complete run with any verdict.
    #[track_caller]
    pub(crate) fn expect_measured(self) -> ExitedCommand {
        assert!(self.last_line().ends_with(".plim"), "{}\n{}", self.stderr, self.stdout);
        assert!(!self.stderr.contains("error:"), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn expect_stderr(self, text: &str) -> ExitedCommand {
        assert!(self.stderr.contains(text), "`{text}` expected in:\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn expect_stdout(self, text: &str) -> ExitedCommand {
        assert!(self.stdout.contains(text), "`{text}` expected in:\n{}", self.stdout);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("standard output is not JSON: {error}\n{}", self.stdout))
    }

    pub(crate) fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}

/// The verdict on a run, from its report.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub state: String,
    /// The rules that were violated.
    pub rules: Vec<String>,
    /// The longest time for which a load point delivered nothing of what it offered, taken together; in s.
    undelivered_s: f64,
    ending: Value,
}

/// A busy machine can stop everything for so long, in s: the tests of this program, of which several run at a time, have
/// stopped a server for 0.25 s. Of a phase of one second that is more than the rule on what was delivered allows.
const STANDSTILL_MAX: f64 = 0.4;

impl Verdict {
    /// Reads the verdict on a run file in a directory.
    #[track_caller]
    pub(crate) fn of(folder: &Path, run: &str) -> Verdict {
        let mut report = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        let output = report.current_dir(folder).args(["report", run, "--format", "json"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("no report of `{run}`: {error}\n{}", String::from_utf8_lossy(&output.stderr))
        });
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let reasons = report["verdict"]["reasons"].as_array().expect("reasons");
        let undelivered = |point: &Value| {
            let ratio = point["delivered_ratio"].as_f64().unwrap_or(1.0);
            (1.0 - ratio) * point["steady_s"].as_f64().expect("the length of the steady phase")
        };
        let points = report["load_points"].as_array().expect("load points").iter();
        Verdict {
            undelivered_s: points.map(undelivered).fold(0.0, f64::max),
            state: text(&report["verdict"]["state"]),
            rules: reasons.iter().map(|reason| text(&reason["rule"])).collect(),
            ending: report["ending"].clone(),
        }
    }

    /// Expects a complete run that is valid, or violates only `rules` and the rules that a busy machine may violate; the
    /// test command counts the latter.
    #[track_caller]
    pub(crate) fn assert_noise_or(&self, rules: &[&str]) {
        assert_eq!(self.ending["kind"], "complete", "{self:?}");
        assert!(["valid", "invalid"].contains(&self.state.as_str()), "{self:?}");
        assert_eq!(self.state == "valid", self.rules.is_empty(), "{self:?}");
        // A late generator delivers less than the offered rate, and so does a server whose CPUs others have.
        let is_late = self
            .rules
            .iter()
            .any(|rule| ["generator-lateness", noise::OTHER_PROGRAMS].contains(&rule.as_str()));
        let is_known = |rule: &String| match rule.as_str() {
            "delivered" => is_late || self.undelivered_s < STANDSTILL_MAX || rules.contains(&"delivered"),
            rule => noise::RULES.contains(&rule) || rules.contains(&rule),
        };
        assert!(self.rules.iter().all(is_known), "{self:?}");
        if self.rules.iter().any(|rule| !rules.contains(&rule.as_str())) {
            noise::note_accepted(&self.rules);
        }
    }
}

/// Returns the first word of a line.
fn first_word(line: &str) -> &str {
    line.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default()
}
