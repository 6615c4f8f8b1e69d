//! NFS-Ganesha for versions 3 and 4.1, on the server's CPU, in a network of its own: with version 3 it registers with the port
//! mapper of its network. The other client is a program of its own, so that it is optimized as Plimsoll is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::cases::NfsCall;
use super::{CLIENTS, FileCosts};
use crate::bench::process::{BackgroundProcess, measure, pinned_in};
use crate::bench::site::Site;
use crate::bench::{LOAD_CPU, SERVER_CPU};
use crate::build::executable_named;
use crate::namespace::NetworkNamespace;
use crate::shell::{cargo, root};

/// The package of the other client, and its program.
const PEER_PACKAGE: &str = "crates/proving/peers/nfs3/Cargo.toml";
const PEER_PROGRAM: &str = "nfs3-peer";

/// The size of each file: that of a short run of `file-micro`.
const FILE_BYTES: u64 = 8 << 20;

/// Queries of the load file between an open and a close.
const QUERIES: usize = 10_000;

/// The line of the log with which the server is ready.
const READY: &str = "NFS SERVER INITIALIZED";

/// Starts the port mapper where its socket is nobody else's.
const PORT_MAPPER: &str = "mount -t tmpfs none /run && exec rpcbind -f -i";

/// A running server with the other client; both end when it is dropped, the server first.
pub(super) struct Ganesha {
    _server: BackgroundProcess,
    _port_mapper: BackgroundProcess,
    network: NetworkNamespace,
    folder: TempDir,
    peer: PathBuf,
}

impl Ganesha {
    /// Builds the other client, and starts a server with an empty export.
    pub(super) fn start() -> Result<Ganesha> {
        let peer = build_peer()?;
        let network = NetworkNamespace::make().context("a network of its own, which only root may make")?;
        let folder = tempfile::Builder::new().prefix("plimsoll-bench-").tempdir_in("/var/tmp")?;
        ["export", "recovery"].iter().try_for_each(|name| fs::create_dir(folder.path().join(name)))?;
        let [configuration, log] = ["ganesha.conf", "log"].map(|name| folder.path().join(name));
        fs::write(&configuration, configuration_text(folder.path()))?;
        let mut command = Command::new("ip");
        command.args(["netns", "exec", network.name(), "sh", "-c", PORT_MAPPER]).stdin(Stdio::null());
        let mut port_mapper = BackgroundProcess::start(&mut command)?;
        let process = port_mapper.0.id();
        let sockets = format!("/proc/{process}/net/tcp");
        port_mapper.wait_until(|| fs::read_to_string(&sockets).is_ok_and(|table| listens_on(&table, 111)))?;
        // The same folder `/run`, too: the port mapper's socket is there.
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={process}")).args(["--net", "--mount", "taskset", "-c", SERVER_CPU]);
        command.args(["ganesha.nfsd", "-F", "-N", "NIV_EVENT", "-f"]).arg(&configuration);
        command.arg("-L").arg(&log).arg("-p").arg(folder.path().join("pid")).stdin(Stdio::null());
        let mut server = BackgroundProcess::start(&mut command)?;
        server.wait_until(|| fs::read_to_string(&log).is_ok_and(|text| text.contains(READY)))?;
        Ok(Ganesha { _server: server, _port_mapper: port_mapper, network, folder, peer })
    }

    /// Returns the network of the server.
    pub(super) fn network(&self) -> &NetworkNamespace {
        &self.network
    }

    /// Takes a turn of the other client.
    pub(super) fn take_peer(&self, call: NfsCall, site: &Site, seconds: u32) -> Result<FileCosts> {
        let mut command = pinned_in(Some(&self.network), LOAD_CPU, &self.peer);
        command.arg(self.folder.path().join("export")).arg(call.name());
        command.args([CLIENTS.to_string(), seconds.to_string(), FILE_BYTES.to_string()]);
        let ended = measure(command.current_dir(site.folder()), site.folder(), Duration::ZERO)?;
        let error = || fs::read_to_string(site.path("stderr")).unwrap_or_default();
        ensure!(ended.code == Some(0), "it ended with {:?}: {}", ended.code, error());
        let printed = numbers(&ended.output).with_context(|| format!("it printed {}", ended.output))?;
        let (n_calls, cpu_s) = printed;
        Ok(FileCosts {
            process_us: 1e6 * ended.cpu_s / n_calls,
            load_us: 1e6 * cpu_s / n_calls,
            rate: n_calls / f64::from(seconds),
            megabytes: f64::NAN,
        })
    }
}

/// The export for `--target`.
pub(super) const TARGET: &str = "nfs://127.0.0.1:2049/plimsoll";

/// Writes the load file of queries about an open file, and returns its path.
pub(super) fn write_queries(site: &Site) -> Result<PathBuf> {
    let path = site.path("queries.txt");
    let query = "QUERY_FILE_INFORMATION 1 258 NT_STATUS_OK\n".repeat(QUERIES);
    let open =
        "Mkdir \"\\clients\" NT_STATUS_OK\nNTCreateX \"\\clients\\client1.dat\" 0x40 0x5 1 NT_STATUS_OK\n";
    fs::write(&path, format!("{open}{query}Close 1 NT_STATUS_OK\n"))?;
    Ok(path)
}

fn build_peer() -> Result<PathBuf> {
    let mut build =
        cargo(&["build", "--release", "--locked", "--manifest-path", PEER_PACKAGE, "--target-dir"]);
    build.arg(root().join("target/peers"));
    executable_named(build, PEER_PROGRAM)
}

fn configuration_text(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "NFS_CORE_PARAM {{ Protocols = 3, 4; NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = false;
  Enable_RQUOTA = false; Enable_UDP = false; }}
NFSv4 {{ Graceless = true; RecoveryRoot = {folder}/recovery; Minor_Versions = 0, 1, 2; }}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT {{ Export_Id = 1; Path = {folder}/export; Pseudo = /plimsoll; Protocols = 3, 4; Transports = TCP;
  Access_Type = RW; Squash = No_Root_Squash; SecType = sys; FSAL {{ Name = VFS; }} }}\n"
    )
}

/// Returns whether a socket listens on a port, by the kernel's table of sockets. Source: proc(5): the second field ends with the
/// port, and the fourth is the state, 0A of those that listen.
fn listens_on(table: &str, port: u16) -> bool {
    let port = format!(":{port:04X}");
    table.lines().any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.get(1).is_some_and(|address| address.ends_with(&port)) && fields.get(3) == Some(&"0A")
    })
}

/// Reads the number of calls and their CPU time in s.
fn numbers(output: &str) -> Option<(f64, f64)> {
    let (n_calls, cpu_s) = output.trim().split_once(' ')?;
    Some((n_calls.parse().ok()?, cpu_s.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_mapper_is_seen_once_it_listens() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr\n";
        let line =
            |state| format!("{head}   0: 00000000:006F 00000000:0000 {state} 00000000:00000000 00:00\n");
        assert!(listens_on(&line("0A"), 111));
        assert!(!listens_on(&line("01"), 111) && !listens_on(&line("0A"), 112) && !listens_on(head, 111));
    }

    #[test]
    fn calls_and_their_time_are_read() {
        assert_eq!(numbers("1280 0.25\n"), Some((1280.0, 0.25)));
        assert_eq!(numbers("1280"), None);
    }
}
