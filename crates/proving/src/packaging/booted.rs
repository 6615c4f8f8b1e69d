//! A system that systemd has booted in a container, for trials of a service.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use units::{Clock, Nanos, RealClock};

use super::trial_root::TrialRoot;

/// How long systemd may take to boot or to halt.
const BOOT_TIME_MAX: Nanos = Nanos::from_secs(60);

/// How often it is asked.
const INTERVAL: Duration = Duration::from_millis(200);

/// A booted system, with the loopback interface as its only network. Dropping it kills it.
pub(super) struct BootedSystem {
    container: Child,
    /// The process id of its systemd, here.
    leader: String,
}

impl BootedSystem {
    /// Boots the system in a root, and waits until it runs.
    ///
    /// # Errors
    /// `systemd-nspawn` fails, or the system takes too long.
    pub(super) fn boot(root: &TrialRoot) -> Result<BootedSystem> {
        let mut boot = Command::new("systemd-nspawn");
        boot.args([
            "--quiet",
            "--boot",
            "--private-network",
            "--register=no",
            "--keep-unit",
            "--console=pipe",
        ]);
        // The accelerator takes the sockets of systemd by this call, which containers do not permit by default.
        boot.arg("--system-call-filter=pidfd_getfd");
        boot.arg(format!("--machine=plimsoll-{}", std::process::id())).arg("--directory").arg(&root.path);
        boot.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let container = boot.spawn().context("cannot start `systemd-nspawn`")?;
        let mut system = BootedSystem { container, leader: String::new() };
        let clock = RealClock::start();
        while !system.is_running()? {
            ensure!(clock.now() < BOOT_TIME_MAX, "systemd has not booted within {BOOT_TIME_MAX}");
            thread::sleep(INTERVAL);
        }
        Ok(system)
    }

    /// Returns whether it has booted; finds its first process.
    fn is_running(&mut self) -> Result<bool> {
        if let Some(status) = self.container.try_wait()? {
            bail!("`systemd-nspawn` ended with {status}");
        }
        let id = self.container.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let Some(leader) = children.split_whitespace().next() else { return Ok(false) };
        leader.clone_into(&mut self.leader);
        let asked = self.command(&["systemctl", "is-system-running"]).output()?;
        // Units that a container cannot have are no obstacle.
        Ok(["running", "degraded"].contains(&String::from_utf8_lossy(&asked.stdout).trim()))
    }

    /// Returns a command of root in the system.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.leader, "--all"]).args(words);
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("HOME", "/root").env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        command
    }

    /// Halts it, and waits.
    ///
    /// # Errors
    /// It takes too long.
    pub(super) fn stop(mut self) -> Result<()> {
        self.command(&["systemctl", "poweroff"]).output()?;
        let clock = RealClock::start();
        while self.container.try_wait()?.is_none() {
            ensure!(clock.now() < BOOT_TIME_MAX, "systemd has not halted within {BOOT_TIME_MAX}");
            thread::sleep(INTERVAL);
        }
        Ok(())
    }
}

impl Drop for BootedSystem {
    fn drop(&mut self) {
        // It has ended already, unless something failed.
        let _ = self.container.kill();
        let _ = self.container.wait();
    }
}
