//! A folder of its own for each test, and the real binary run in it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::Running;

/// No command of these tests takes this long, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// A folder in which commands run, and where everything that they write stays.
pub struct Lab {
    folder: TempDir,
}

/// Rules that a run breaks on a machine that is busy with something else: its generator had to wait, its users began late,
/// or it came to few operations, or stood still and then caught up. Every other rule speaks of the run itself.
const NOISE: [&str; 6] = [
    "generator-busy",
    "generator-run-queue",
    "generator-lateness",
    "user-time",
    "operations",
    "phase-boundary",
];

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Where it ran.
    pub folder: PathBuf,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Lab {
    /// Servers that give up root's rights can enter it.
    pub fn new() -> Lab {
        let open = Permissions::from_mode(0o755);
        Lab { folder: tempfile::Builder::new().permissions(open).tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The binary with arguments, in this folder and with no settings of the machine's user.
    pub fn command(&self, arguments: &[&str]) -> Command {
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

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = assert_cmd::Command::from_std(self.command(arguments));
        self.ended(&command.timeout(PATIENCE).output().unwrap())
    }

    /// Runs what [`Lab::command`] made to its end.
    pub fn end(&self, command: Command) -> Ended {
        self.ended(&assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap())
    }

    /// Runs a command line of a shell to its end; `$plimsoll` in it is the binary.
    pub fn shell(&self, line: &str) -> Ended {
        let mut command = Command::new("bash");
        self.prepare(&mut command);
        command.args(["-c", line]).env("plimsoll", env!("CARGO_BIN_EXE_plimsoll"));
        self.ended(&assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap())
    }

    fn ended(&self, output: &std::process::Output) -> Ended {
        Ended {
            folder: self.folder.path().to_owned(),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Starts a command that goes on running.
    ///
    /// It hears signals as from a terminal: a job in the background of a script, as tests can be, has some ignored, and
    /// its children as well.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let plain = self.command(arguments);
        let mut command = Command::new("env");
        self.prepare(&mut command);
        command.arg("--default-signal=HUP,INT,QUIT").arg(plain.get_program()).args(plain.get_args());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::new(command.spawn().unwrap(), self.folder.path())
    }

    /// Starts a built-in web server and returns it with its address.
    pub fn serve(&self, arguments: &[&str]) -> (Running, String) {
        let server = self.start(&[&["serve", "web"], arguments].concat());
        let line = server.line_of_stdout();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = ready["ready"]["address"].as_str().unwrap().to_owned();
        (server, address)
    }

    /// Returns the report of a run as JSON.
    pub fn report(&self, run: &Path) -> Value {
        let run = run.to_str().unwrap();
        self.run(&["report", run, "--format", "json"]).expect(0).json()
    }

    /// Returns a fact about the machines that a run has written down.
    pub fn fact(&self, run: &Path, section: &str, name: &str) -> Option<String> {
        let report = self.report(run);
        let sections = report["testbed"]["sections"].as_array()?;
        let section = sections.iter().find(|one| one["title"] == section)?;
        let fact = section["facts"].as_array()?.iter().find(|fact| fact["name"] == name)?;
        Some(fact["value"].as_str()?.to_owned())
    }
}

impl Ended {
    #[track_caller]
    pub fn expect(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Expects whole runs that are valid, or invalid for what else this machine does and for nothing else.
    #[track_caller]
    pub fn expect_run(self) -> Ended {
        self.assert_run();
        self
    }

    /// The same of a command that is looked at further.
    #[track_caller]
    pub fn assert_run(&self) {
        self.assert_run_or(&[]);
    }

    /// The same where the run may break these rules as well: it is too short for them, or made to break them.
    #[track_caller]
    pub fn assert_run_or(&self, rules: &[&str]) {
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

    /// Expects a whole run that is invalid for what else this machine does, and for nothing else.
    #[track_caller]
    pub fn assert_run_is_noise(&self) {
        self.assert_run();
        let verdicts = self.verdicts();
        assert!(verdicts.iter().any(|verdict| verdict.state != "valid"), "{verdicts:?}");
    }

    /// Returns the verdicts on the runs that a command made: it names their files last, or in its JSON.
    #[track_caller]
    fn verdicts(&self) -> Vec<Verdict> {
        let files: Vec<String> = match self.stdout.starts_with('{') {
            true => vec![self.json()["files"]["run"].as_str().expect("the name of the run file").to_owned()],
            false => self.stdout.lines().filter(|line| line.ends_with(".plim")).map(str::to_owned).collect(),
        };
        assert!(!files.is_empty(), "no run file is named:\n{}\n{}", self.stdout, self.stderr);
        files.iter().map(|file| Verdict::of(&self.folder, file)).collect()
    }

    /// Expects a run that came to its end, whatever the verdict: where the question is whether there can be one.
    #[track_caller]
    pub fn expect_measured(self) -> Ended {
        assert!(self.last_line().ends_with(".plim"), "{}\n{}", self.stderr, self.stdout);
        assert!(!self.stderr.contains("error:"), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Ended {
        assert!(self.stderr.contains(text), "`{text}` expected in:\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub fn prints(self, text: &str) -> Ended {
        assert!(self.stdout.contains(text), "`{text}` expected in:\n{}", self.stdout);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("standard output is not JSON: {error}\n{}", self.stdout))
    }

    pub fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}

/// The verdict on a run, by its report.
#[derive(Debug)]
pub struct Verdict {
    pub state: String,
    /// The rules that it broke.
    pub rules: Vec<String>,
    /// The longest time for which a load point delivered nothing of what it offered, taken together; in s.
    undelivered_s: f64,
    ending: Value,
}

/// A busy machine can stop everything for so long, in s. Of a phase of one second that is more than the rule on what was
/// delivered allows.
const STANDSTILL_MAX: f64 = 0.2;

impl Verdict {
    /// Reads the verdict on a run file in a folder.
    #[track_caller]
    pub fn of(folder: &Path, run: &str) -> Verdict {
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

    /// Expects a whole run that is valid, or breaks only these rules and those that a busy machine makes it break.
    #[track_caller]
    pub fn assert_noise_or(&self, rules: &[&str]) {
        assert_eq!(self.ending["kind"], "complete", "{self:?}");
        assert!(["valid", "invalid"].contains(&self.state.as_str()), "{self:?}");
        assert_eq!(self.state == "valid", self.rules.is_empty(), "{self:?}");
        // A generator that is late delivers less than it should.
        let is_late = self.rules.iter().any(|rule| rule == "generator-lateness");
        let is_known = |rule: &String| match rule.as_str() {
            "delivered" => is_late || self.undelivered_s < STANDSTILL_MAX || rules.contains(&"delivered"),
            rule => NOISE.contains(&rule) || rules.contains(&rule),
        };
        assert!(self.rules.iter().all(is_known), "{self:?}");
    }
}

/// Returns the letters with which a line begins.
fn first_word(line: &str) -> &str {
    line.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default()
}
