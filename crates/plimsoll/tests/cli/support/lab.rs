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

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
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
        ended(&command.timeout(PATIENCE).output().unwrap())
    }

    /// Runs a command line of a shell to its end; `$plimsoll` in it is the binary.
    pub fn shell(&self, line: &str) -> Ended {
        let mut command = Command::new("bash");
        self.prepare(&mut command);
        command.args(["-c", line]).env("plimsoll", env!("CARGO_BIN_EXE_plimsoll"));
        ended(&assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap())
    }

    /// Starts a command that goes on running.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::new(command.spawn().unwrap())
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

fn ended(output: &std::process::Output) -> Ended {
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ended {
    #[track_caller]
    pub fn expect(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Expects a run that is valid, or spoilt by nothing but what else this machine does: its generator had to wait, or
    /// came to few operations.
    #[track_caller]
    pub fn expect_run(self) -> Ended {
        let is_noise =
            |line: &str| line.contains("(rule `generator-") || line.contains("(rule `operations`)");
        let mut reasons = self.stdout.lines().filter(|line| line.contains("(rule `"));
        assert!(
            matches!(self.code, Some(0 | 3)) && reasons.all(is_noise),
            "{}\n{}",
            self.stderr,
            self.stdout
        );
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
