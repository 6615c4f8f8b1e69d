//! The accelerator process: started, administered, killed.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use http_lite::{ResponseReader, fetch_blocking};
use http1::RequestMethod;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::client_connection::{ClientConnection, ReadPace};
use super::fixture::{Fixture, OBJECTS, ObjectClass, class};
use super::origin::TAGS;

/// Maximum number of checks whether the origin is reachable again, and the pause between them.
const LOOKS_MAX: u32 = 500;
const PAUSE: Duration = Duration::from_millis(20);

/// Time limit of an admin command.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The most bytes of its response.
const RESPONSE_BYTES_MAX: usize = 1 << 20;

/// The token of the admin interface.
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The accelerator process with its files. It is killed when dropped.
pub(super) struct AcceleratorProcess {
    plimsoll: PathBuf,
    folder: PathBuf,
    origin: SocketAddr,
    address: SocketAddr,
    admin: SocketAddr,
    child: Child,
    n_purges: u64,
    n_reloads: u64,
    /// Number of reloads requested from earlier processes.
    n_reloads_before: u64,
    n_kills: u64,
    n_restarts: u64,
}

impl AcceleratorProcess {
    /// Starts it in front of an origin; its files are in `folder`.
    pub(super) fn start(plimsoll: &Path, folder: &Path, origin: SocketAddr) -> Result<AcceleratorProcess> {
        let [address, admin] = free_addresses()?;
        std::fs::write(folder.join("token"), TOKEN)?;
        std::fs::write(folder.join("accelerator.toml"), config(address, admin, origin, 0))?;
        let child = spawn(plimsoll, folder)?;
        Ok(AcceleratorProcess {
            plimsoll: plimsoll.to_owned(),
            folder: folder.to_owned(),
            origin,
            address,
            admin,
            child,
            n_purges: 0,
            n_reloads: 0,
            n_reloads_before: 0,
            n_kills: 0,
            n_restarts: 0,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Kills it at any moment, and restarts it.
    pub(super) fn kill_and_start(&mut self) -> Result<()> {
        self.check_alive()?;
        self.n_kills += 1;
        self.n_reloads_before = self.n_reloads;
        self.child.kill()?;
        self.child.wait()?;
        self.child = spawn(&self.plimsoll, &self.folder)?;
        Ok(())
    }

    /// Makes it reload its configuration, with a changed limit.
    pub(super) fn reload(&mut self) -> Result<()> {
        self.n_reloads += 1;
        let text = config(self.address, self.admin, self.origin, self.n_reloads);
        std::fs::write(self.folder.join("accelerator.toml"), text)?;
        Ok(kill_process(Pid::from_child(&self.child), Signal::HUP)?)
    }

    /// Purges objects, selected by the command number. After that, no older version is acceptable.
    pub(super) fn purge(&mut self, fixture: &Fixture, n: u64) -> Result<()> {
        self.n_purges += 1;
        let base = format!("http://{}/o/", self.address);
        let number = (n * 7919 % u64::from(OBJECTS)) as u32;
        let is_lasting = |id: u32| class(id) == ObjectClass::Lasting;
        let (order, versions) = match n % 20 {
            0 => (json!({ "all": true }), fixture.versions(|_| true)),
            1..=4 => {
                let start = (number / 10).to_string();
                let order = json!({ "prefix": format!("{base}{start}") });
                (order, fixture.versions(|id| id.to_string().starts_with(&start)))
            }
            5..=8 => {
                let tag = number % TAGS;
                let order = json!({ "tag": format!("g{tag}") });
                (order, fixture.versions(|id| is_lasting(id) && id % TAGS == tag))
            }
            9..=10 => {
                let end = format!("{}", number % 100);
                let order = json!({ "pattern": format!("{base}*{end}") });
                (
                    order,
                    fixture.versions(|id| id.to_string().len() > end.len() && id.to_string().ends_with(&end)),
                )
            }
            // After a soft purge a stale response may be used while it is revalidated.
            11 => (json!({ "url": format!("{base}{number}"), "soft": true }), Vec::new()),
            _ => (json!({ "url": format!("{base}{number}") }), fixture.versions(|id| id == number)),
        };
        self.ask("POST", "/purge", &order.to_string())?;
        fixture.raise_floors(&versions);
        Ok(())
    }

    /// Sends a query or command to the admin interface; returns the response.
    fn ask(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n{body}",
            self.admin,
            body.len()
        );
        let method = RequestMethod::from_name(method.as_bytes());
        let mut response = ResponseReader::new(method, RESPONSE_BYTES_MAX);
        fetch_blocking(&[self.admin], request.as_bytes(), &mut response, TIMEOUT)?;
        let status = response.head().map_or(0, |head| head.status);
        let reply = String::from_utf8_lossy(response.body()).into_owned();
        ensure!(status == 200, "`{path}` of `{body}` was answered with {status}: `{reply}`");
        Ok(reply)
    }

    /// Returns one of its metrics since the start of the process; `name` is without the common prefix, with
    /// labels.
    pub(super) fn figure(&self, name: &str) -> Result<u64> {
        let page = self.ask("GET", "/metrics", "")?;
        figure(&page, name).with_context(|| format!("no `{name}` in `{page}`"))
    }

    /// Waits until the origin is reachable again.
    pub(super) fn wait_for_origin(&mut self) -> Result<()> {
        self.n_restarts += 1;
        for _ in 0..LOOKS_MAX {
            let mut connection = ClientConnection::open(self.address)?;
            if let Ok(Some(reply)) = connection.perform("GET", "/health/0", "", ReadPace::Usual)
                && reply.status == 200
            {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        anyhow::bail!("the origin does not become reachable again")
    }

    /// Fails if the process has ended.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        let ended = self.child.try_wait()?;
        ensure!(ended.is_none(), "the accelerator ended: {ended:?}: {}", said(&self.folder));
        Ok(())
    }

    /// Fails if a thread panicked, or if reloads are missing; the last one may be pending.
    pub(super) fn check_conduct(&self) -> Result<()> {
        let said = said(&self.folder);
        ensure!(!said.contains("panicked at"), "a thread of the accelerator panicked: {said}");
        let ordered = self.n_reloads - self.n_reloads_before;
        let done = self.figure("reloads_total")?;
        ensure!(ordered <= done + 1, "{done} of {ordered} reloads were done: {said}");
        Ok(())
    }

    pub(super) fn resident_bytes(&self) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no `VmRSS`")?;
        let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kib * 1024)
    }

    /// Returns the numbers of purges, reloads, restarts of the origin, and kills.
    pub(super) fn commands(&self) -> String {
        let AcceleratorProcess { n_purges, n_reloads, n_restarts, n_kills, .. } = self;
        format!("{n_purges}, {n_reloads}, {n_restarts}, {n_kills}")
    }
}

impl Drop for AcceleratorProcess {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the program and waits until it listens.
fn spawn(plimsoll: &Path, folder: &Path) -> Result<Child> {
    let errors = std::fs::File::options().create(true).append(true).open(folder.join("stderr"))?;
    let mut command = Command::new(plimsoll);
    command.args(["--json", "accelerate", "--config"]).arg(folder.join("accelerator.toml"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors).spawn()?;
    let output = child.stdout.take().context("no standard output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    if !line.contains("\"ready\"") {
        let status = child.wait()?;
        anyhow::bail!("the accelerator did not start ({status}): {}", said(folder));
    }
    Ok(child)
}

/// Returns the standard error of this process and earlier ones.
fn said(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("stderr")).unwrap_or_default()
}

/// Parses a metric from the metrics page.
fn figure(page: &str, name: &str) -> Option<u64> {
    let name = format!("plimsoll_accelerator_{name} ");
    page.lines().find_map(|line| line.strip_prefix(&name))?.trim().parse().ok()
}

fn free_addresses() -> Result<[SocketAddr; 2]> {
    let any = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let one = any()?;
    let other = any()?;
    Ok([one.local_addr()?, other.local_addr()?])
}

/// Little memory, so that many objects are evicted, and a disk; `n` makes the configuration differ from the
/// previous one.
fn config(address: SocketAddr, admin: SocketAddr, origin: SocketAddr, n: u64) -> String {
    format!(
        r#"workers = 2

[limits]
idle-timeout = "{idle} s"

[[listen]]
address = "{address}"

[[origin.server]]
url = "http://{origin}"

[origin.health]
trial-after = "200 ms"

[memory]
size = "24 MiB"

[disk]
folder = "copies"
size = "128 MiB"

[admin]
listen = "{admin}"
token-file = "token"
"#,
        idle = 60 + n % 2,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_found_by_name_and_labels() {
        let page = "# TYPE plimsoll_accelerator_reloads_total counter\n\
                    plimsoll_accelerator_disk_operations_total{operation=\"read\"} 17\n\
                    plimsoll_accelerator_reloads_total 3\n";
        assert_eq!(figure(page, "reloads_total"), Some(3));
        assert_eq!(figure(page, "disk_operations_total{operation=\"read\"}"), Some(17));
        assert_eq!(figure(page, "disk_operations_total"), None);
    }
}
