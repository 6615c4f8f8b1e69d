//! Required Debian packages.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};

use anyhow::{Result, ensure};

use crate::shell::output;

/// The script that Debian packages ask whether they may start their services.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// A required file, and the package that contains it.
///
/// A file is a path, or a name that is searched in program directories; `*` at its end stands for a version.
pub type RequiredPackage = (&'static str, &'static str);

/// Requirements of the tests: servers by recipe, their page programs, accelerators, Python as another kind of
/// server, Node and Go for application servers and the cache test suite, slow networks, a captured mix of file operations, load agents
/// through ssh.
pub const REQUIRED_PACKAGES: [RequiredPackage; 38] = [
    ("cc", "gcc"),
    ("nginx", "nginx-light"),
    ("apache2", "apache2"),
    ("/usr/lib/apache2/modules/mod_wsgi.so", "libapache2-mod-wsgi-py3"),
    ("caddy", "caddy"),
    ("lighttpd", "lighttpd"),
    ("/usr/lib/lighttpd/mod_openssl.so", "lighttpd-mod-openssl"),
    ("fcgiwrap", "fcgiwrap"),
    ("php", "php-cli"),
    ("php-fpm*", "php-fpm"),
    ("varnishd", "varnish"),
    ("traffic_server", "trafficserver"),
    ("haproxy", "haproxy"),
    ("squid", "squid"),
    ("/usr/bin/python3", "python3"),
    ("gunicorn", "gunicorn"),
    ("node", "nodejs"),
    ("go", "golang-go"),
    ("tc", "iproute2"),
    ("nft", "nftables"),
    ("/usr/lib/postgresql/15/bin/postgres", "postgresql-15"),
    ("psql", "postgresql-client-15"),
    ("pgbouncer", "pgbouncer"),
    ("mariadbd", "mariadb-server"),
    ("mariadb", "mariadb-client"),
    ("smbd", "samba"),
    ("smbclient", "smbclient"),
    ("ganesha.nfsd", "nfs-ganesha"),
    ("/usr/share/doc/nfs-ganesha-vfs/copyright", "nfs-ganesha-vfs"),
    ("/usr/share/doc/nfs-ganesha-mem/copyright", "nfs-ganesha-mem"),
    ("nfs-cp", "libnfs-utils"),
    ("rpcbind", "rpcbind"),
    ("/usr/lib/dovecot/imap", "dovecot-imapd"),
    ("/usr/lib/dovecot/pop3", "dovecot-pop3d"),
    ("/usr/lib/dovecot/lmtp", "dovecot-lmtpd"),
    ("/usr/lib/postfix/sbin/master", "postfix"),
    ("/usr/share/dbench/client.txt", "dbench"),
    ("/usr/sbin/sshd", "openssh-server"),
];

/// The package that PostgreSQL's servers depend on: it brings the configuration of new clusters, and creates none.
const CLUSTER_COMMON: &str = "postgresql-common";

/// The folder of additions to that configuration. Source: Debian's `/etc/postgresql-common/createcluster.conf`.
const CLUSTER_ADDITIONS: &str = "/etc/postgresql-common/createcluster.d";

/// Answers to questions of packages: Postfix gets no configuration of its own, so that it cannot be started by mistake.
const ANSWERS: &str = "postfix postfix/main_mailer_type select No configuration";

/// Installs the packages of missing files if we are root; otherwise prints what to install.
///
/// No service is started by the installation, no port used, and no cluster of databases created.
///
/// # Errors
/// As for [`begin_installation`] and [`Installation::finish`].
pub fn install(needed: &'static [RequiredPackage]) -> Result<()> {
    begin_installation(needed)?.finish()
}

/// An installation of packages beside other work.
#[must_use]
pub struct Installation(Option<JoinHandle<Result<()>>>);

impl Installation {
    /// Waits until all packages are installed.
    ///
    /// # Errors
    /// The installation failed, or a file is still missing.
    pub fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), |thread| thread.join().expect("the thread only runs apt-get"))
    }
}

/// Begins to install the packages of missing files.
///
/// # Errors
/// Packages are missing, and this user is not root or has no `apt-get`.
pub fn begin_installation(needed: &'static [RequiredPackage]) -> Result<Installation> {
    let packages = missing(needed, &folders());
    if packages.is_empty() {
        return Ok(Installation(None));
    }
    let list = packages.join(" ");
    let able = rustix::process::geteuid().is_root() && exists("apt-get", &folders());
    ensure!(
        able,
        "missing: {list}\nhint: run this as root, which installs them without services and clusters of their own"
    );
    println!("Installing {list}.");
    Ok(Installation(Some(thread::spawn(move || install_all(needed, &packages)))))
}

fn install_all(needed: &[RequiredPackage], packages: &[&str]) -> Result<()> {
    let _policy = ServicePolicy::put(Path::new(POLICY))?;
    if packages.contains(&"postfix") {
        output(Command::new("sh").args(["-c", r#"echo "$1" | debconf-set-selections"#, "sh", ANSWERS]))?;
    }
    let has_cluster = packages.iter().any(|package| creates_cluster(package));
    let _no_cluster = has_cluster.then(NoCluster::prepare).transpose()?;
    apt_install(packages)?;
    let packages = missing(needed, &folders());
    ensure!(packages.is_empty(), "installed, but without the expected files: {}", packages.join(", "));
    Ok(())
}

/// Returns whether a package is a server of PostgreSQL: `postgresql-15`.
fn creates_cluster(package: &str) -> bool {
    package.strip_prefix("postgresql-").is_some_and(|version| version.parse::<u32>().is_ok())
}

/// Installs packages; none of this machine is removed for them, such as another mail server.
fn apt_install(packages: &[&str]) -> Result<()> {
    let install =
        || output(apt(&["install", "-qq", "--no-install-recommends", "--no-remove"]).args(packages));
    if install().is_err() {
        // The package lists are missing or out of date.
        output(&mut apt(&["update", "-qq"]))?;
        install()?;
    }
    Ok(())
}

fn apt(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(["-y"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn missing(needed: &[RequiredPackage], folders: &[PathBuf]) -> Vec<&'static str> {
    let missing = needed.iter().filter(|(file, _)| !exists(file, folders));
    missing.map(|(_, package)| *package).collect()
}

/// Returns directories of programs, including those searched only by root.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]).collect()
}

fn exists(file: &str, folders: &[PathBuf]) -> bool {
    if Path::new(file).is_absolute() {
        return Path::new(file).is_file();
    }
    match file.strip_suffix('*') {
        Some(start) => folders.iter().any(|folder| has_one_of(folder, start)),
        None => folders.iter().any(|folder| folder.join(file).is_file()),
    }
}

fn has_one_of(folder: &Path, start: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(start))
}

/// Forbids packages to start services as long as it lives, unless the machine has a policy of its own.
struct ServicePolicy(Option<PathBuf>);

impl ServicePolicy {
    fn put(path: &Path) -> Result<ServicePolicy> {
        if path.exists() {
            return Ok(ServicePolicy(None));
        }
        // 101: the action is forbidden. The script has no effect if we ended without removing it.
        let text = format!(
            "#!/bin/sh\n# Made by `cargo xtask`; to be removed.\n[ -d /proc/{} ] && exit 101\nexit 0\n",
            std::process::id()
        );
        fs::write(path, text)?;
        let policy = ServicePolicy(Some(path.to_owned()));
        fs::set_permissions(path, Permissions::from_mode(0o755))?;
        Ok(policy)
    }
}

impl Drop for ServicePolicy {
    fn drop(&mut self) {
        if let Some(path) = &self.0
            && let Err(error) = fs::remove_file(path)
        {
            eprintln!("warning: `{}` stays: {error}", path.display());
        }
    }
}

/// Keeps packages of PostgreSQL from creating a cluster as long as it lives. Existing clusters are not touched, and the
/// machine's own configuration is not edited.
struct NoCluster(PathBuf);

impl NoCluster {
    fn prepare() -> Result<NoCluster> {
        apt_install(&[CLUSTER_COMMON])?;
        NoCluster::put(Path::new(CLUSTER_ADDITIONS))
    }

    fn put(additions: &Path) -> Result<NoCluster> {
        fs::create_dir_all(additions)?;
        // The last file counts.
        let path = additions.join("zz-plimsoll.conf");
        fs::write(&path, "# Made by `cargo xtask`; to be removed.\ncreate_main_cluster = false\n")?;
        Ok(NoCluster(path))
    }
}

impl Drop for NoCluster {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            eprintln!("warning: `{}` stays: {error}", self.0.display());
        }
        // It stays if it has files of others.
        let _ = self.0.parent().map(fs::remove_dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_by_path_and_by_the_start_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("php-fpm8.2"), "").unwrap();
        let needed = [
            ("php-fpm*", "php-fpm"),
            ("php-fpm", "other"),
            ("php-cgi*", "php-cgi"),
            ("/proc/self/stat", "kernel"),
            ("/no/such.so", "module"),
        ];
        assert_eq!(missing(&needed, &[folder.path().to_owned()]), ["other", "php-cgi", "module"]);
    }

    #[test]
    fn services_are_forbidden_only_while_packages_are_installed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy-rc.d");
        let policy = ServicePolicy::put(&path).unwrap();
        assert_eq!(Command::new(&path).status().unwrap().code(), Some(101));
        drop(policy);
        assert!(!path.exists());
    }

    #[test]
    fn an_existing_policy_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy-rc.d");
        fs::write(&path, "its own").unwrap();
        drop(ServicePolicy::put(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "its own");
    }

    #[test]
    fn clusters_are_forbidden_only_while_packages_are_installed() {
        let folder = tempfile::tempdir().unwrap();
        let additions = folder.path().join("createcluster.d");
        for of_machine in [&[][..], &["own.conf"]] {
            let files = || {
                let entries = fs::read_dir(&additions).into_iter().flatten().flatten();
                let mut names: Vec<_> =
                    entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
                names.sort();
                names
            };
            for name in of_machine {
                fs::create_dir_all(&additions).unwrap();
                fs::write(additions.join(name), "").unwrap();
            }
            let none = NoCluster::put(&additions).unwrap();
            assert_eq!(files(), [of_machine, &["zz-plimsoll.conf"]].concat());
            let text = fs::read_to_string(additions.join("zz-plimsoll.conf")).unwrap();
            assert!(text.contains("\ncreate_main_cluster = false\n"), "{text}");
            drop(none);
            assert_eq!(files(), of_machine);
            assert_eq!(additions.exists(), !of_machine.is_empty());
        }
        assert!(creates_cluster("postgresql-15") && !creates_cluster("postgresql-client-15"));
    }
}
