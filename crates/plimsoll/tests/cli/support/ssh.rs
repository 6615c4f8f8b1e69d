//! A server of `ssh` of a test's own, by which its load agents are reached.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::by_hand::{ManualServer, wait_for};
use super::fixture::Fixture;
use super::website::free_port;

/// A server of `ssh` in a fixture, with a client that knows its key and is let in by one of its own.
pub(crate) struct SshServer {
    _daemon: ManualServer,
    /// The port on which it listens.
    pub port: u16,
    /// The directory in which programs are found there.
    programs: PathBuf,
}

impl SshServer {
    /// Starts one that listens on an address, by a command that `command_for` makes of its program. Its shells have a path to
    /// a directory of the fixture.
    pub(crate) fn start(
        fixture: &Fixture,
        address: &str,
        command_for: impl FnOnce(&str) -> Command,
    ) -> SshServer {
        let folder = fixture.path("ssh");
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::create_dir_all("/run/sshd").unwrap();
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        for key in ["host", "user"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)]).status();
            assert!(made.unwrap().success());
        }
        fs::copy(folder.join("user.pub"), folder.join("authorized")).unwrap();
        let port = free_port();
        let host_key = fs::read_to_string(folder.join("host.pub")).unwrap();
        fs::write(folder.join("known"), format!("[{address}]:{port} {host_key}")).unwrap();
        let server = format!(
            "Port {port}\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nPidFile none\n\
             SetEnv PATH={}:/usr/bin:/bin\n",
            path("host"),
            path("authorized"),
            path("bin"),
        );
        fs::write(folder.join("sshd_config"), server).unwrap();
        let client = format!(
            "Host *\nPort {port}\nIdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile none\n",
            path("user"),
            path("known"),
        );
        fs::write(folder.join("config"), client).unwrap();
        // The program that the controller finds as `ssh` has the client's settings.
        fs::create_dir_all(fixture.path("path")).unwrap();
        let wrapper = fixture.path("path/ssh");
        fs::write(&wrapper, format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", path("config"))).unwrap();
        fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).unwrap();
        let daemon = command_for("/usr/sbin/sshd")
            .args(["-D", "-e", "-f", &path("sshd_config")])
            .stderr(Stdio::null())
            .spawn()
            .expect("openssh-server is installed");
        let daemon = ManualServer(daemon);
        wait_for("ssh", || std::net::TcpStream::connect((address, port)).is_ok());
        SshServer { _daemon: daemon, port, programs: folder.join("bin") }
    }

    /// Delays all that goes to an agent and comes from it by 50 ms.
    pub(crate) fn slow_down(fixture: &Fixture) {
        SshServer::relay(fixture, (65_536, 0.05), (65_536, 0.05));
    }

    /// Lets through so many bytes of an agent in a second.
    pub(crate) fn throttle(fixture: &Fixture, bytes_per_s: u32) {
        SshServer::relay(fixture, (65_536, 0.0), (100, 100.0 / f64::from(bytes_per_s)));
    }

    /// Puts a relay in front of the client: of what goes to an agent, and of what comes from it, each piece of at most so many
    /// bytes takes so many seconds.
    fn relay(fixture: &Fixture, to_agent: (u32, f64), from_agent: (u32, f64)) {
        let relay = format!(
            "#!/usr/bin/python3
import os, subprocess, sys, threading, time
pipe = subprocess.PIPE
ssh = subprocess.Popen(['/usr/bin/ssh', '-F', '{}', *sys.argv[1:]], stdin=pipe, stdout=pipe)
def relay(source, sink, size, seconds):
    while data := os.read(source, size):
        time.sleep(seconds)
        sink.write(data)
        sink.flush()
    sink.close()
threading.Thread(target=relay, args=(0, ssh.stdin, {}, {}), daemon=True).start()
relay(ssh.stdout.fileno(), sys.stdout.buffer, {}, {})
",
            fixture.path("ssh/config").display(),
            to_agent.0,
            to_agent.1,
            from_agent.0,
            from_agent.1,
        );
        fs::write(fixture.path("path/ssh"), relay).unwrap();
    }

    /// Puts this program, or a script in its place, where shells find it.
    pub(crate) fn install(&self, script: Option<&str>) {
        let place = self.programs.join("plimsoll");
        drop(fs::remove_file(&place));
        match script {
            None => symlink(env!("CARGO_BIN_EXE_plimsoll"), place).unwrap(),
            Some(script) => {
                fs::write(&place, script).unwrap();
                fs::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
            }
        }
    }

    /// Returns the search path by which a controller finds the client of this server.
    pub(crate) fn search_path(fixture: &Fixture) -> String {
        format!("{}:{}", fixture.path("path").display(), std::env::var("PATH").unwrap())
    }
}
