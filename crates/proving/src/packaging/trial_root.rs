//! Root file systems in which commands are tried.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::namespace::NetworkNamespace;
use crate::shell::{line, output};

/// Enters a root file system: device files, shared memory and processes are mounted, then the command starts as a user.
/// The mounts are in a namespace of their own and end with the command.
const ENTER: &str = r#"
set -e
root=$1 folder=$2 user=$3
shift 3
mount --bind /dev "$root/dev"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t proc proc "$root/proc"
exec unshare --root="$root" --wd="$folder" --setgid="$user" --setuid="$user" "$@"
"#;

/// Folders of a root for which mounts are made.
const MOUNT_POINTS: [&str; 2] = ["dev", "proc"];

/// A root file system with a network that has the loopback interface alone.
pub(super) struct TrialRoot<'a> {
    pub(super) path: PathBuf,
    pub(super) network: &'a NetworkNamespace,
}

/// A user in a root, and what it finds there.
#[derive(Debug, Clone)]
pub(super) struct TrialUser {
    /// The ids of the user and of its group.
    pub(super) id: u32,
    pub(super) home: String,
    pub(super) folder: String,
}

impl TrialUser {
    /// Returns root.
    pub(super) fn root() -> TrialUser {
        TrialUser { id: 0, home: "/root".to_owned(), folder: "/".to_owned() }
    }
}

impl TrialRoot<'_> {
    /// Makes the folders that have to be there in a root without a system.
    ///
    /// # Errors
    /// They cannot be made.
    pub(super) fn prepare(&self) -> Result<()> {
        MOUNT_POINTS.iter().try_for_each(|name| Ok(fs::create_dir_all(self.path.join(name))?))
    }

    /// Returns a command in the root, without the network of the machine.
    pub(super) fn command(&self, user: &TrialUser, words: &[&str]) -> Command {
        let [first, rest @ ..] = self.network.prefix();
        let mut command = Command::new(first);
        command.args(rest).arg("unshare");
        self.enter(command, user, words)
    }

    /// Returns a command of root in the root file system that may use the network of the machine, to download packages.
    pub(super) fn online(&self, words: &[&str]) -> Command {
        self.enter(Command::new("unshare"), &TrialUser::root(), words)
    }

    /// Adds words to `unshare`.
    fn enter(&self, mut command: Command, user: &TrialUser, words: &[&str]) -> Command {
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh"]);
        command.arg(&self.path).arg(&user.folder).arg(user.id.to_string()).args(words);
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("HOME", &user.home).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        command
    }

    /// Returns all files with their kind, mode, owner, content and the target of links, except for some.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn listing(&self, is_kept: impl Fn(&str) -> bool) -> Result<BTreeSet<String>> {
        let find = || {
            let mut find = Command::new("find");
            find.args([".", "-xdev"]).current_dir(&self.path);
            find
        };
        let attributes = output(find().args(["-printf", r"%P %y %m %U:%G %l\n"]))?;
        let contents = output(find().args(["-type", "f", "-exec", "sha256sum", "{}", "+"]))?;
        let contents = contents.lines().filter_map(|line| {
            let (digest, path) = line.split_once("  ./")?;
            Some(format!("{path} {digest}"))
        });
        let lines = attributes.lines().map(str::to_owned).chain(contents);
        Ok(lines.filter(|line| is_kept(line)).collect())
    }
}

/// Ends with the expected code, or fails with all that the command printed; returns its standard output and error.
///
/// # Errors
/// The command cannot be started, or ends with another code.
pub(super) fn expect(command: &mut Command, codes: &[i32]) -> Result<String> {
    let ended = command.output().with_context(|| format!("cannot start `{}`", line(command)))?;
    let printed = [ended.stdout, ended.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let words = command.get_args().map(|word| word.to_string_lossy()).collect::<Vec<_>>();
    let words = words.iter().skip_while(|word| *word != "sh").skip(7).cloned().collect::<Vec<_>>().join(" ");
    ensure!(
        ended.status.code().is_some_and(|code| codes.contains(&code)),
        "`{words}` ended with {}:\n{printed}",
        ended.status
    );
    Ok(printed)
}

/// Makes a root file system with the smallest Debian of the machine's release.
///
/// # Errors
/// `debootstrap` fails, as without a network.
pub(super) fn debian(path: &Path) -> Result<()> {
    let release = fs::read_to_string("/etc/os-release").context("/etc/os-release")?;
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let name = name.context("/etc/os-release has no VERSION_CODENAME: packages are tried on Debian")?;
    let from = format!("Codename: {name}");
    let mirrors = output(Command::new("apt-get").args(["indextargets", "--format", "$(REPO_URI)", &from]))?;
    let mut make = Command::new("debootstrap");
    make.args(["--variant=minbase", name]).arg(path).args(mirrors.lines().next());
    output(&mut make).map(drop)
}
