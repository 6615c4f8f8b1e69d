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

/// Parts of lines about files that change with every package that is installed and removed, and with time.
const UNSTABLE: [&str; 9] = [
    "home/guest",
    "var/lib/dpkg/",
    "var/lib/apt/",
    "var/cache/apt/",
    "var/log/dpkg.log",
    "var/log/apt/",
    "etc/passwd-",
    "etc/group-",
    "etc/shadow-",
];

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
    install(root, package)?;
    let installed = clock.now();
    let told = expect(&mut root.command(&guest, &["plimsoll", "run", "webstone-2.0.1", "--quick"]), &RAN)?;
    let reported = clock.now();
    let runs = root.path.join(&guest.folder[1..]).join("runs");
    let has_report = files_in(&runs)?.iter().any(|name| name.ends_with(".html"));
    ensure!(has_report, "no report in {}:\n{told}", runs.display());
    try_without_home(root, &guest)?;
    try_service(root)?;
    try_documents(root, name)?;
    remove(root, name, &before)?;
    Ok(DebianTimes { installed, reported })
}

/// Tries a package where systemd is installed: its unit is verified, enabled, and gone when the package is removed; returns
/// systemd's rating of the unit's exposure, from 0 to 10.
///
/// # Errors
/// As for [`debian`].
pub(super) fn units(root: &TrialRoot, package: &Path, name: &str) -> Result<String> {
    guest(root)?;
    expect(&mut root.online(&["apt-get", "update", "-qq"]), &[0])?;
    let words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "systemd"];
    expect(&mut root.online(&words), &[0])?;
    let before = traces(root)?;
    install(root, package)?;
    let unit = format!("/{UNITS}/plimsoll-accelerator.service");
    let socket = format!("/{UNITS}/plimsoll-accelerator.socket");
    let said =
        expect(&mut root.command(&TrialUser::root(), &["systemd-analyze", "verify", &unit, &socket]), &[0])?;
    ensure!(!said.contains("plimsoll"), "`systemd-analyze verify` warns:\n{said}");
    let words = ["systemd-analyze", "security", "--offline=yes", "--no-pager", &unit];
    let rated = expect(&mut root.command(&TrialUser::root(), &words), &[0])?;
    let rating =
        rated.lines().find_map(|line| line.split_once("Overall exposure level for ")?.1.split(": ").nth(1));
    let rating = rating.with_context(|| format!("no rating in:\n{rated}"))?.trim().to_owned();
    let enable = ["systemctl", "enable", "plimsoll-accelerator.service", "plimsoll-accelerator.socket"];
    expect(&mut root.command(&TrialUser::root(), &enable), &[0])?;
    let link = root.path.join("etc/systemd/system/multi-user.target.wants/plimsoll-accelerator.service");
    ensure!(link.is_symlink(), "the service was not enabled");
    remove(root, name, &before)?;
    Ok(rating)
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

fn install(root: &TrialRoot, package: &Path) -> Result<()> {
    let file = package.file_name().context("a package has a name")?;
    let copy = root.path.join("tmp").join(file);
    fs::copy(package, &copy)?;
    let inside = format!("/tmp/{}", file.to_string_lossy());
    let words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", &inside];
    let installed = expect(&mut root.command(&TrialUser::root(), &words), &[0]);
    fs::remove_file(copy)?;
    installed.map(drop)
}

/// Purges a package; what was there before has to be there again, and nothing else.
fn remove(root: &TrialRoot, name: &str, before: &BTreeSet<String>) -> Result<()> {
    expect(&mut root.command(&TrialUser::root(), &["apt-get", "purge", "-y", "-qq", name]), &[0])?;
    let after = traces(root)?;
    let left: Vec<_> = after.symmetric_difference(before).cloned().collect();
    ensure!(left.is_empty(), "`apt-get purge {name}` leaves traces:\n{}", left.join("\n"));
    Ok(())
}

fn traces(root: &TrialRoot) -> Result<BTreeSet<String>> {
    root.listing(|line| !UNSTABLE.iter().any(|part| line.starts_with(part)))
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
    let url = format!("http://{name}:{port}/file.html");
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
