//! The scene of a case: its network, its control groups, the server and its neighbors; all of it ends with the value.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;
use testbed::{ControlGroup, DiskLimits, ResourceLimits};
use units::{Clock, Nanos, RealClock};

use super::case::{RunMode, SampleCase};
use super::network::CaseNetwork;
use super::server::{ListenPlace, ServerDraft, ServerProgram};
use super::setting::{LOAD_CPU, SERVER_CPU, Setting};

/// The longest that a server may take until it listens.
const READY_MAX: Nanos = Nanos::from_secs(30);

/// The part of a CPU that a noisy neighbor uses.
const NEIGHBOR_CPUS: f64 = 0.15;

/// A running scene. Fields are dropped in this order: programs before the network and the folder that they use.
pub(super) struct CaseScene {
    group: Option<ControlGroup>,
    /// Groups of others: services behind the server, and neighbors.
    others: Vec<ControlGroup>,
    /// The groups that crowd a CPU.
    crowd: Vec<ControlGroup>,
    children: Vec<Child>,
    /// The network.
    pub network: CaseNetwork,
    folder: TempDir,
    /// The port of the server.
    port: u16,
    /// The process that serves: of a back end, if there is one.
    pid: u32,
}

impl CaseScene {
    /// Sets the scene, and starts the server unless a recipe does.
    pub(super) fn begin(case: &SampleCase, setting: &Setting, plimsoll: &Path) -> Result<CaseScene> {
        let folder = tempfile::tempdir()?;
        // Servers give up the rights of root.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
        let network = CaseNetwork::make(case, setting)?;
        let mut scene = CaseScene {
            group: None,
            others: Vec::new(),
            crowd: Vec::new(),
            children: Vec::new(),
            network,
            folder,
            port: 0,
            pid: 0,
        };
        if case.mode != RunMode::Recipe {
            scene.start_server(case, setting, plimsoll)?;
        }
        scene.crowd(setting)?;
        if case.has_neighbor {
            let neighbor = scene.burn(SERVER_CPU, Some(NEIGHBOR_CPUS))?;
            scene.others.push(neighbor);
        }
        Ok(scene)
    }

    /// Replaces the throttles of a running server: those on its resources, on its network, and on the generator.
    pub(super) fn switch(&mut self, before: &Setting, next: &Setting) -> Result<()> {
        self.crowd.clear();
        let limits = limits(next, self.folder.path())?;
        self.group.as_mut().context("a server that was started here has a group")?.change_limits(&limits)?;
        self.network.switch(before, next)?;
        self.crowd(next)
    }

    /// Crowds the CPUs of server and generator.
    fn crowd(&mut self, setting: &Setting) -> Result<()> {
        for (cpu, n) in [(SERVER_CPU, setting.crowd), (LOAD_CPU, setting.generator_crowd)] {
            for _ in 0..n {
                let group = self.burn(cpu, None)?;
                self.crowd.push(group);
            }
        }
        Ok(())
    }

    /// Returns the path of a file in the scene's folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the URL of the server.
    pub(super) fn url(&self) -> String {
        format!("http://{}:{}/", self.network.host, self.port)
    }

    /// Returns what `--watch` is given: the control group, or a process of the server.
    pub(super) fn watched(&self, is_told: bool) -> String {
        let group = self
            .group
            .as_ref()
            .filter(|_| is_told)
            .and_then(|group| group.controller_files().into_iter().next());
        match group.and_then(|files| Some(files.directory.file_name()?.to_string_lossy().into_owned())) {
            Some(name) => format!("cgroup=/{name}"),
            None => format!("pid={}", self.pid),
        }
    }

    fn start_server(&mut self, case: &SampleCase, setting: &Setting, plimsoll: &Path) -> Result<()> {
        let ports = free_ports()?;
        self.port = ports[0];
        fs::write(self.path("lock"), "")?;
        fs::set_permissions(self.path("lock"), Permissions::from_mode(0o666))?;
        let draft = ServerDraft {
            kind: case.server,
            setting,
            folder: self.folder.path(),
            host: &self.network.host,
            ports,
            plimsoll,
        };
        let programs = draft.programs()?;
        self.group = Some(group(&limits(setting, self.folder.path())?)?);
        for program in &programs {
            self.start(program)?;
        }
        Ok(())
    }

    fn start(&mut self, program: &ServerProgram) -> Result<()> {
        let prefix = self.network.server_prefix();
        let first = prefix.first().map_or(program.program.as_path(), |word| Path::new(word));
        if !program.is_own {
            self.others.push(group(&ResourceLimits { cpus: vec![SERVER_CPU], ..ResourceLimits::default() })?);
        }
        let of_it = if program.is_own { self.group.as_ref() } else { self.others.last() };
        let mut command = of_it.context("a server has a group")?.command(first);
        if !prefix.is_empty() {
            command.args(&prefix[1..]).arg(&program.program);
        }
        let log = fs::File::create(self.path("output.log"))?;
        // The built-in server ends with its standard input.
        command.args(&program.arguments).stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().with_context(|| program.program.display().to_string())?;
        let pid = child.id();
        self.children.push(child);
        self.wait(program, pid)?;
        if program.is_own && (self.pid == 0) {
            self.pid = pid;
        }
        Ok(())
    }

    /// Waits until a program listens, which is read from the kernel: a request would be one of those that are counted.
    fn wait(&mut self, program: &ServerProgram, pid: u32) -> Result<()> {
        let clock = RealClock::start();
        while !is_listening(pid, &program.listens) {
            let ended = self.children.last_mut().context("it was started")?.try_wait()?;
            let log = || fs::read_to_string(self.folder.path().join("output.log")).unwrap_or_default();
            if let Some(status) = ended {
                bail!("`{}` ended with {status}: {}", program.program.display(), log());
            }
            ensure!(clock.now() < READY_MAX, "`{}` does not listen: {}", program.program.display(), log());
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Runs an endless loop on a CPU, in a group of its own, with which it ends.
    fn burn(&mut self, cpu: u32, quota: Option<f64>) -> Result<ControlGroup> {
        let group = group(&ResourceLimits { cpus: vec![cpu], quota, ..ResourceLimits::default() })?;
        let mut command = group.command(Path::new("sh"));
        self.children.push(command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn()?);
        Ok(group)
    }
}

impl Drop for CaseScene {
    fn drop(&mut self) {
        // Groups end all their processes.
        self.crowd.clear();
        self.others.clear();
        self.group = None;
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn group(limits: &ResourceLimits) -> Result<ControlGroup> {
    let group = ControlGroup::create(limits)?;
    ensure!(group.enforced_limits() == *limits, "this machine does not enforce {limits:?}");
    Ok(group)
}

fn limits(setting: &Setting, folder: &Path) -> Result<ResourceLimits> {
    let is_disk_limited = setting.reads.or(setting.read_kib).is_some();
    let disk = if is_disk_limited {
        Some(DiskLimits {
            device: observe::disk_of(folder).context("the folder is on no disk")?,
            reads: setting.reads,
            read_bytes: setting.read_kib.map(|kib| kib << 10),
            ..DiskLimits::default()
        })
    } else {
        None
    };
    Ok(ResourceLimits {
        cpus: setting.cpus.clone(),
        quota: setting.quota,
        memory: setting.memory.map(|mib| mib << 20),
        disk,
    })
}

/// Returns two free ports.
fn free_ports() -> Result<[u16; 2]> {
    let listeners = [TcpListener::bind(("0.0.0.0", 0))?, TcpListener::bind(("0.0.0.0", 0))?];
    Ok([listeners[0].local_addr()?.port(), listeners[1].local_addr()?.port()])
}

/// Returns whether somebody listens in the network namespace of a process.
fn is_listening(pid: u32, place: &ListenPlace) -> bool {
    match place {
        ListenPlace::Socket(path) => path.exists(),
        ListenPlace::Port(port) => observe::is_listening(pid, *port),
    }
}
