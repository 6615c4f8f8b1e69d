//! `fleet-faults`: what happens between load agents and their controller, at full length: interruptions of 30 s, a silence of
//! 60 s, a way that is too slow.

use anyhow::{Result, ensure};
use proving::packages::{RequiredPackage, install};
use proving::shell::{cargo, run, say};

const NEEDED: [RequiredPackage; 3] =
    [("/usr/sbin/sshd", "openssh-server"), ("nft", "nftables"), ("ip", "iproute2")];

/// Runs the tests of these faults, one after another: each has a network of its own, and all have the same CPUs.
///
/// # Errors
/// One of them fails, or this user may not make networks.
pub(crate) fn perform() -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "only root can make the networks of these tests");
    install(&NEEDED)?;
    let tests =
        ["test", "--package", "plimsoll", "--test", "cli", "agent_faults::", "--", "--test-threads", "1"];
    run(say(cargo(&tests).env("PLIMSOLL_FULL_LENGTH", "1")))
}
