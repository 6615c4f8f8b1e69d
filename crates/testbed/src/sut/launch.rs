//! Launching of programs: on their CPUs, in their control group, as leader of a process group.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use languages::foreign_text;
use observe::format_cpu_list;

use super::SutError;
use super::account::Account;
use super::values::BACKLOG;
use crate::affinity::pin_current_thread;
use crate::cgroup::ControlGroup;
use crate::owned_resources::{self, OwnedResourceEntry};
use crate::recipe::{ProgramRecipe, RequiredFile};

/// The data needed to start a program, and to restart it.
#[derive(Debug)]
pub(super) struct LaunchSpec {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, with placeholders replaced.
    pub arguments: Vec<String>,
    /// Additional environment variables, with placeholders replaced.
    pub environment: BTreeMap<String, String>,
    /// The account that it runs under, if another than that of this process, and the folder it starts in.
    pub account: Option<(Account, PathBuf)>,
    /// A group that may pass through the folders above that one.
    pub passing_group: u32,
    /// Whether it leads a session of its own, beside its process group.
    pub own_session: bool,
    /// Its CPUs; empty for all.
    pub cpus: Vec<u32>,
    /// The file for its output.
    pub output_log: PathBuf,
    /// Whether standard output is read instead of logged.
    pub announces: bool,
    /// Path of a Unix socket to create and pass as its standard input, if any.
    pub inherited_socket: Option<PathBuf>,
}

impl LaunchSpec {
    /// Starts the program.
    ///
    /// The starting thread pins itself first and then ends: a child inherits the CPUs of the thread that
    /// forked it, so the server never runs on another CPU, and no thread has to be pinned back.
    pub(super) fn start(
        &self,
        group: Option<&ControlGroup>,
    ) -> Result<(Child, OwnedResourceEntry), SutError> {
        let spawned = || {
            std::thread::scope(|scope| {
                let starter = scope.spawn(|| {
                    if !self.cpus.is_empty() {
                        pin_current_thread(&self.cpus)?;
                    }
                    self.command(group)?.spawn()
                });
                starter.join().unwrap_or_else(|_| Err(io::Error::other("the starting thread panicked")))
            })
        };
        owned_resources::start(true, spawned).map_err(|source| SutError::NotStarted {
            program: self.program.display().to_string(),
            cpus: if self.cpus.is_empty() {
                "of this process".to_owned()
            } else {
                format_cpu_list(&self.cpus)
            },
            source,
        })
    }

    /// Standard input stays open as long as this process lives: a server that watches it ends when this
    /// process is killed.
    fn command(&self, group: Option<&ControlGroup>) -> io::Result<Command> {
        let log = File::options().create(true).append(true).open(&self.output_log)?;
        // Each of these programs is replaced by the next. `setsid` is, since it does not lead a process group.
        let mut programs: Vec<OsString> = Vec::new();
        if self.own_session {
            programs.push("setsid".into());
        }
        if let Some((account, _)) = &self.account {
            programs.extend(["setpriv".into(), format!("--reuid={}", account.uid).into()]);
            programs.push(format!("--regid={}", account.gid).into());
            programs.push(format!("--groups={},{}", account.gid, self.passing_group).into());
            programs.push("--".into());
        }
        programs.push(self.program.clone().into());
        // The control group is entered first, because only root may.
        let first = Path::new(&programs[0]);
        let mut command = group.map_or_else(|| Command::new(first), |group| group.command(first));
        command.args(&programs[1..]);
        if let Some((_, folder)) = &self.account {
            command.current_dir(folder);
        }
        let output = if self.announces { Stdio::piped() } else { Stdio::from(log.try_clone()?) };
        let input = match &self.inherited_socket {
            Some(path) => Stdio::from(OwnedFd::from(listen_at(path)?)),
            None => Stdio::piped(),
        };
        command.args(&self.arguments).envs(&self.environment);
        if !self.own_session {
            command.process_group(0);
        }
        command.stdin(input).stdout(output).stderr(log);
        Ok(command)
    }

    /// Returns the command as typed in a shell; this program itself by its name, without its folder.
    pub(super) fn command_line(&self) -> String {
        let plain = |text: &str| {
            !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "'\"\\$;&|<>(){}*?".contains(c))
        };
        let quote = |text: &str| {
            if plain(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
        };
        // Where a user keeps this program itself is nobody's business.
        let is_own = fs::read_link("/proc/self/exe").is_ok_and(|own| own == self.program);
        let name = self.program.file_name().filter(|_| is_own);
        let program = name.unwrap_or(self.program.as_os_str()).to_string_lossy();
        let words = std::iter::once(&*program).chain(self.arguments.iter().map(String::as_str));
        words.map(quote).collect::<Vec<_>>().join(" ")
    }
}

/// Creates a Unix socket with the longest backlog that the kernel allows.
fn listen_at(path: &Path) -> io::Result<UnixListener> {
    // Removes the one from before a restart.
    let _ = fs::remove_file(path);
    let listener = UnixListener::bind(path)?;
    rustix::net::listen(&listener, BACKLOG.cast_signed())?;
    Ok(listener)
}

/// Directories searched in addition to the user's search path, which often lacks the `sbin`s.
const USUAL_DIRECTORIES: [&str; 4] = ["/usr/local/sbin", "/usr/sbin", "/usr/local/bin", "/usr/bin"];

/// Finds a program: names in `search_path` and the usual directories, paths unchanged; the first that exists.
/// It may be `plimsoll` itself.
pub(super) fn find_program(
    title: &str,
    recipe: &ProgramRecipe,
    plimsoll: &Path,
    search_path: &[PathBuf],
) -> Result<PathBuf, SutError> {
    let usual = USUAL_DIRECTORIES.map(PathBuf::from);
    let directories = [search_path, &usual].concat();
    let plimsoll = plimsoll.to_string_lossy();
    let find: Vec<String> = recipe.find.iter().map(|one| one.replace("{plimsoll}", &plimsoll)).collect();
    let found = find.iter().find_map(|candidate| locate(candidate, &directories));
    found.ok_or_else(|| SutError::not_installed(title, &find, recipe.install.as_deref()))
}

/// Checks that a file which a gateway needs is installed.
///
/// # Errors
/// It is not installed; the error contains the command that installs it.
pub(super) fn check_installed(need: &RequiredFile) -> Result<(), SutError> {
    if need.find.iter().any(|path| Path::new(path).exists()) {
        return Ok(());
    }
    Err(SutError::not_installed(&need.title, &need.find, need.install.as_deref()))
}

fn locate(candidate: &str, directories: &[PathBuf]) -> Option<PathBuf> {
    if candidate.contains('/') {
        return std::path::absolute(candidate).ok().filter(|path| is_program(path));
    }
    directories.iter().map(|directory| directory.join(candidate)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Asks a program for its version; returns the first line on either output.
pub(super) fn version_of(program: &Path, recipe: &ProgramRecipe) -> Option<String> {
    if recipe.version.is_empty() {
        return None;
    }
    let output = Command::new(program).args(&recipe.version).stdin(Stdio::null()).output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&said).into_owned();
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(foreign_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_searched_on_the_path_and_paths_are_not() {
        let directories = [PathBuf::from("/nowhere"), "/bin".into()];
        assert_eq!(locate("sh", &directories), Some("/bin/sh".into()));
        assert_eq!(locate("/bin/sh", &[]), Some("/bin/sh".into()));
        assert_eq!(locate("sh", &["/nowhere".into()]), None);
        assert_eq!(locate("/etc/passwd", &[]), None, "not executable");
    }

    #[test]
    fn a_command_line_is_quoted_for_a_shell() {
        let launch = LaunchSpec {
            program: "/usr/sbin/nginx".into(),
            arguments: vec!["-g".into(), "daemon off;".into(), "it's".into(), "-p".into(), "/x".into()],
            environment: BTreeMap::new(),
            account: None,
            passing_group: 0,
            own_session: false,
            cpus: Vec::new(),
            output_log: "/dev/null".into(),
            announces: false,
            inherited_socket: None,
        };
        assert_eq!(launch.command_line(), r"/usr/sbin/nginx -g 'daemon off;' 'it'\''s' -p /x");
        let own = fs::read_link("/proc/self/exe").unwrap();
        let name = own.file_name().unwrap().to_string_lossy().into_owned();
        let itself = LaunchSpec { program: own, arguments: vec!["serve".into()], ..launch };
        assert_eq!(itself.command_line(), format!("{name} serve"));
    }
}
