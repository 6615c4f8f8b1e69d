//! Trials of what was made: installed, run as an ordinary user, and removed.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;
use units::{Clock, Nanos, RealClock};

use super::booted::BootedSystem;
use super::files::{CONFIGURATION, UNITS};
use super::image;
use super::name_server::{KNOWN_NAME, NameServer};
use super::trial_root::{TrialRoot, TrialUser, expect};
use crate::namespace::NetworkNamespace;
use crate::shell::{output, run};

/// The account of the ordinary user.
const GUEST: &str = "guest";

/// A name that is listed in the file of hosts.
const LISTED_NAME: &str = "listed.plimsoll.test";

/// Exit codes of a run that took place. A machine that does other things meanwhile may spoil its verdict.
const RAN: [i32; 2] = [0, 3];

/// A short run of a benchmark that starts its own server.
const SHORT: &str = "plimsoll run one-object --load 1,2 --ramp-up 0 --settle 0 --duration 2 --ramp-down 0";

/// Beginnings of lines about files that change with every package that is installed and removed, or while a system runs.
const UNSTABLE: [&str; 12] = [
    "home/guest",
    "var/lib/dpkg/",
    "var/lib/apt/",
    "var/cache/apt/",
    "var/log/dpkg.log",
    "var/log/apt/",
    "var/log/journal/",
    "var/lib/systemd/",
    "etc/passwd-",
    "etc/group-",
    "etc/shadow-",
    "etc/gshadow-",
];

/// The units of the package.
const UNITS_OF_SERVICE: [&str; 2] = ["plimsoll-accelerator.service", "plimsoll-accelerator.socket"];

/// The times of a package.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DebianTimes {
    /// From the package to the installed program.
    pub(super) installed: Nanos,
    /// From the package to the report of a quick run.
    pub(super) reported: Nanos,
}

/// Tries a package in a Debian that has nothing else, as `name`, and removes it without a trace.
///
/// # Errors
/// A command does not do what is expected; the error has all that it printed.
pub(super) fn debian(root: &TrialRoot, package: &Path, name: &str) -> Result<DebianTimes> {
    let guest = guest(root)?;
    let before = traces(root)?;
    let clock = RealClock::start();
    install(root, package, |words| root.command(&TrialUser::root(), words))?;
    let installed = clock.now();
    let told = expect(&mut root.command(&guest, &["plimsoll", "run", "webstone-2.0.1", "--quick"]), &RAN)?;
    let reported = clock.now();
    let runs = root.path.join(&guest.folder[1..]).join("runs");
    let has_report = files_in(&runs)?.iter().any(|name| name.ends_with(".html"));
    ensure!(has_report, "no report in {}:\n{told}", runs.display());
    try_without_home(root, &guest)?;
    try_service(root)?;
    try_documents(root, name)?;
    expect(&mut root.command(&TrialUser::root(), &["apt-get", "purge", "-y", "-qq", name]), &[0])?;
    require_same(root, name, &before)?;
    Ok(DebianTimes { installed, reported })
}

/// Tries the service of a package in a system that systemd has booted: its units are verified, it is enabled, started with
/// systemd's sockets, reloaded, restarted by an upgrade, and stopped and gone when the package is removed; returns systemd's
/// rating of the unit's exposure, from 0 to 10.
///
/// # Errors
/// As for [`debian`].
pub(super) fn service(root: &TrialRoot, package: &Path, name: &str) -> Result<String> {
    expect(&mut root.online(&["apt-get", "update", "-qq"]), &[0])?;
    let words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "systemd"];
    expect(&mut root.online(&words), &[0])?;
    let system = BootedSystem::boot(root)?;
    let before = traces(root)?;
    install(root, package, |words| system.command(words))?;
    let [service, socket] = UNITS_OF_SERVICE;
    let said = expect(&mut system.command(&["systemd-analyze", "verify", service, socket]), &[0])?;
    ensure!(!said.contains("plimsoll"), "`systemd-analyze verify` warns:\n{said}");
    let words =
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", &format!("/{UNITS}/{service}")];
    let rated = expect(&mut system.command(&words), &[0])?;
    let rating = rating(&rated).with_context(|| format!("no rating in:\n{rated}"))?;
    let idle = expect(&mut system.command(&["systemctl", "is-active", service]), &[3])?;
    ensure!(idle.trim() == "inactive", "the service is {} before it is enabled", idle.trim());
    expect(&mut system.command(&["systemctl", "enable", "--now", socket, service]), &[0])?;
    for action in ["reload", "restart"] {
        expect(&mut system.command(&["systemctl", action, service]), &[0])
            .with_context(|| journal(&system, service))?;
    }
    let process = || expect(&mut system.command(&["systemctl", "show", "--property=MainPID", service]), &[0]);
    let old = process()?;
    install(root, package, |words| system.command(&[words, &["--reinstall"]].concat()))?;
    ensure!(process()? != old, "an upgrade does not restart the service");
    expect(&mut system.command(&["systemctl", "is-active", service, socket]), &[0])
        .with_context(|| journal(&system, service))?;
    expect(&mut system.command(&["apt-get", "purge", "-y", "-qq", name]), &[0])?;
    require_same(root, name, &before)?;
    system.stop()?;
    Ok(rating)
}

/// Returns what the service has said, for a message.
fn journal(system: &BootedSystem, service: &str) -> String {
    expect(&mut system.command(&["journalctl", "--no-pager", "--boot", "--unit", service]), &[0])
        .unwrap_or_else(|error| error.to_string())
}

/// Returns the rating in what `systemd-analyze security` prints: `3.2`.
fn rating(printed: &str) -> Option<String> {
    let line = printed.lines().find(|line| line.contains("Overall exposure level for "))?;
    Some(line.split(": ").nth(1)?.split(' ').next()?.to_owned())
}

/// Makes the account of the ordinary user, unless it is there.
fn guest(root: &TrialRoot) -> Result<TrialUser> {
    let home = format!("/home/{GUEST}");
    let there = root.path.join(&home[1..]);
    if !there.exists() {
        expect(&mut root.command(&TrialUser::root(), &["useradd", "--create-home", GUEST]), &[0])?;
    }
    let accounts = fs::read_to_string(root.path.join("etc/passwd"))?;
    let line = accounts.lines().find_map(|line| line.strip_prefix(GUEST)?.strip_prefix(":x:"));
    let id = line.and_then(|line| line.split(':').next()).and_then(|id| id.parse().ok());
    let id = id.context("`useradd` has made no account")?;
    Ok(TrialUser { id, folder: home.clone(), home })
}

/// Installs a package with a command that is made from words.
fn install(root: &TrialRoot, package: &Path, command: impl FnOnce(&[&str]) -> Command) -> Result<()> {
    let file = package.file_name().context("a package has a name")?;
    // systemd has an empty `/tmp` of its own.
    let copy = root.path.join("var/tmp").join(file);
    fs::copy(package, &copy)?;
    let inside = format!("/var/tmp/{}", file.to_string_lossy());
    let words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", &inside];
    let installed = expect(&mut command(&words), &[0]);
    fs::remove_file(copy)?;
    installed.map(drop)
}

/// Requires what was there before a package was installed, and nothing else.
fn require_same(root: &TrialRoot, name: &str, before: &BTreeSet<String>) -> Result<()> {
    let after = traces(root)?;
    let left: Vec<_> = after.symmetric_difference(before).cloned().collect();
    ensure!(left.is_empty(), "`apt-get purge {name}` leaves traces:\n{}", left.join("\n"));
    Ok(())
}

fn traces(root: &TrialRoot) -> Result<BTreeSet<String>> {
    root.listing(|line| !UNSTABLE.iter().any(|beginning| line.starts_with(beginning)))
}

/// Runs where neither the home nor the current folder can be written.
fn try_without_home(root: &TrialRoot, guest: &TrialUser) -> Result<()> {
    let nowhere = TrialUser { home: "/nonexistent".to_owned(), folder: "/".to_owned(), ..guest.clone() };
    let words = format!("{SHORT} --out /tmp/short.plim");
    expect(&mut root.command(&nowhere, &words.split(' ').collect::<Vec<_>>()), &RAN)?;
    for name in files_in(&root.path.join("tmp"))?.iter().filter(|name| name.starts_with("short.")) {
        fs::remove_file(root.path.join("tmp").join(name))?;
    }
    let said = expect(&mut root.command(&nowhere, &SHORT.split(' ').collect::<Vec<_>>()), &[2, 4])?;
    ensure!(said.contains("hint: "), "a run in a folder that cannot be written has no remedy:\n{said}");
    Ok(())
}

/// Checks the configuration of the service as its user. Without systemd this is all that there is to it.
fn try_service(root: &TrialRoot) -> Result<()> {
    let words = ["plimsoll-accelerator", "--check", "--config", &format!("/{CONFIGURATION}")];
    let service = expect(&mut root.command(&TrialUser::root(), &["id", "--user", "plimsoll"]), &[0])?;
    let id = service.trim().parse().context("`id` printed no number")?;
    let user = TrialUser { id, home: "/nonexistent".to_owned(), folder: "/".to_owned() };
    let said = expect(&mut root.command(&user, &words), &[0])?;
    ensure!(said.contains("The configuration is valid."), "{said}");
    Ok(())
}

/// Checks that manual pages, completions and licenses are there.
fn try_documents(root: &TrialRoot, name: &str) -> Result<()> {
    let pages = output(Command::new("zcat").arg(root.path.join("usr/share/man/man1/plimsoll-run.1.gz")))?;
    ensure!(pages.contains(".TH plimsoll-run"), "`plimsoll-run.1` is no manual page");
    let syntax = "usr/share/bash-completion/completions/plimsoll";
    run(Command::new("bash").args(["-n"]).arg(root.path.join(syntax)))?;
    let licenses = fs::read_to_string(root.path.join("usr/share/doc").join(name).join("copyright"))?;
    for part in ["tokio", "ring", "rustls", "Apache License", "MIT License"] {
        ensure!(licenses.contains(part), "the licenses lack `{part}`");
    }
    Ok(())
}

/// Tries the archive of static programs in a root with nothing but it: names are found in the file of hosts and by asking a
/// name server.
///
/// # Errors
/// As for [`debian`].
pub(super) fn static_archive(archive: &Path, network: &NetworkNamespace) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = TrialRoot { path: folder.path().to_owned(), network };
    let programs = root.path.join("usr");
    fs::create_dir(&programs)?;
    run(Command::new("tar").args(["--strip-components=1", "-xzf"]).arg(archive).arg("-C").arg(&programs))?;
    root.prepare()?;
    let nobody = nobody(&root)?;
    fs::create_dir_all(root.path.join("etc"))?;
    fs::write(root.path.join("etc/hosts"), format!("127.0.0.1 {LISTED_NAME}\n"))?;
    fs::write(root.path.join("etc/resolv.conf"), "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n")?;
    expect(&mut root.command(&nobody, &["plimsoll-accelerator", "--version"]), &[0])?;
    let words = format!("{SHORT} --out short.plim");
    expect(&mut root.command(&nobody, &words.split(' ').collect::<Vec<_>>()), &RAN)?;
    let _names = NameServer::start(network)?;
    let mut server = ReadyServer::start(&root, &nobody)?;
    for name in [LISTED_NAME, KNOWN_NAME] {
        let told = load(&root, &nobody, name, server.port, &RAN)?;
        ensure!(told.contains(".plim"), "a run of `{name}` left no record:\n{told}");
    }
    let told = load(&root, &nobody, "unknown.plimsoll.test", server.port, &[2, 4])?;
    ensure!(told.contains("unknown.plimsoll.test"), "the unknown name is not in the message:\n{told}");
    server.stop()
}

/// Loads a page of a server by its name for a moment.
fn load(root: &TrialRoot, user: &TrialUser, name: &str, port: u16, codes: &[i32]) -> Result<String> {
    let url = format!("http://{name}:{port}/one.html");
    let out = format!("{name}.plim");
    let mut words = vec!["plimsoll", "run", &url, "-c", "1", "--check", "status"];
    words.extend(["--ramp-up", "0", "--settle", "0", "--duration", "2", "--ramp-down", "0", "--out", &out]);
    expect(&mut root.command(user, &words), codes)
}

/// A built-in web server in a root, at a port of its own.
struct ReadyServer {
    process: Child,
    port: u16,
}

impl ReadyServer {
    fn start(root: &TrialRoot, user: &TrialUser) -> Result<ReadyServer> {
        let mut start = root.command(user, &["plimsoll", "serve", "web", "one-object"]);
        let mut process = start.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("the output is piped")?).read_line(&mut line)?;
        let port = line.rsplit(':').find_map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        });
        match port {
            Some(port) => Ok(ReadyServer { process, port }),
            None => {
                process.kill()?;
                bail!("the server is not ready: `{}`", line.trim())
            }
        }
    }

    /// Stops it by closing its input, and waits.
    fn stop(&mut self) -> Result<()> {
        drop(self.process.stdin.take());
        let status = self.process.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

impl Drop for ReadyServer {
    fn drop(&mut self) {
        // It has ended already, unless something failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Makes a folder for a user without an account.
fn nobody(root: &TrialRoot) -> Result<TrialUser> {
    const ID: u32 = 65_534;
    let folder = root.path.join("work");
    fs::create_dir_all(&folder)?;
    chown(&folder, Some(ID), Some(ID))?;
    fs::set_permissions(&root.path, Permissions::from_mode(0o755))?;
    Ok(TrialUser { id: ID, home: "/nonexistent".to_owned(), folder: "/work".to_owned() })
}

/// Unpacks an image and runs what it starts, as it starts it.
///
/// # Errors
/// As for [`debian`].
pub(super) fn image(archive: &Path, network: &NetworkNamespace) -> Result<()> {
    let folder: TempDir = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    let root = TrialRoot { path: folder.path().to_owned(), network };
    let image = image::unpack(archive, &root.path)?;
    root.prepare()?;
    let id = image.user.split(':').next().and_then(|id| id.parse().ok());
    let id = id.with_context(|| format!("`{}` is no number of a user", image.user))?;
    let user = TrialUser { id, home: image.folder.clone(), folder: image.folder.clone() };
    let arguments: Vec<&str> = SHORT.split(' ').skip(1).collect();
    let words: Vec<&str> = image.entrypoint.iter().map(String::as_str).chain(arguments).collect();
    let mut start = root.command(&user, &words);
    let variables = image.environment.iter().filter_map(|variable| variable.split_once('='));
    start.envs(variables.filter(|(name, _)| *name != "PATH"));
    let told = expect(&mut start, &RAN)?;
    let runs = root.path.join(image.folder.trim_start_matches('/')).join("runs");
    let has_report = files_in(&runs)?.iter().any(|name| name.ends_with(".html"));
    ensure!(has_report, "no report in {}:\n{told}", runs.display());
    expect(&mut root.command(&user, &["/usr/bin/plimsoll-accelerator", "--version"]), &[0]).map(drop)
}

fn files_in(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rating_of_a_unit_is_a_number() {
        let printed =
            "✗ UMask=  0.1\n\n→ Overall exposure level for plimsoll-accelerator.service: 3.2 OK :-)\n";
        assert_eq!(rating(printed).as_deref(), Some("3.2"));
        assert_eq!(rating("Failed to load unit\n"), None);
    }

    /// What a program under trial leaves behind is not excused by being below a folder of the package manager's.
    #[test]
    fn only_records_of_the_package_manager_are_unstable() {
        let is_unstable = |line: &str| UNSTABLE.iter().any(|beginning| line.starts_with(beginning));
        assert!(is_unstable("var/lib/dpkg/status 3f"));
        for line in
            ["etc/passwd 3f", "var/log/plimsoll d 755 0:0", "etc/plimsoll d 755 0:0", "home d 755 0:0"]
        {
            assert!(!is_unstable(line), "{line}");
        }
    }
}
