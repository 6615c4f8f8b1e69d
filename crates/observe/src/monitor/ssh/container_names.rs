//! Names of containers on another machine, and the ports that they publish: from the same files and command lines as on
//! this one.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::watch::{published, supervised_by};

/// The commands that print what names containers: of docker the name in each container's file and nothing else of it,
/// because these have settings, too; of nerdctl the files that are called like the containers; of podman the command lines
/// of its supervisors. Docker's and nerdctl's files can be read by root alone.
pub(super) const NAME_COMMANDS: &str = "\
LC_ALL=C grep -so '\"Name\":\"/[^\"]*\"' /var/lib/docker/containers/*/config.v2.json /dev/null </dev/null
LC_ALL=C grep -s '' /var/lib/nerdctl/*/names/*/* /dev/null </dev/null
set -- $(LC_ALL=C grep -sl '^conmon$' /proc/[0-9]*/comm /dev/null </dev/null | LC_ALL=C sed 's/comm$/cmdline/')
LC_ALL=C grep -sa '' \"$@\" /dev/null </dev/null
";

/// The commands that print which container is behind a port that docker publishes: the command lines of its proxies, and
/// the addresses of its containers, which only root may read.
pub(super) const PROXY_COMMANDS: &str = "\
set -- $(LC_ALL=C grep -sl '^docker-proxy$' /proc/[0-9]*/comm /dev/null </dev/null | LC_ALL=C sed 's/comm$/cmdline/')
case \"$#\" in
0) ;;
*) LC_ALL=C grep -sa '' \"$@\" /dev/null </dev/null
LC_ALL=C grep -so '\"IPAddress\":\"[^\"]*\"' /var/lib/docker/containers/*/config.v2.json /dev/null </dev/null ;;
esac
";

/// The folders in these paths.
const DOCKER: &str = "/var/lib/docker/containers/";
const DOCKER_NAME: &str = "config.v2.json:\"Name\":\"/";
const DOCKER_ADDRESS: &str = "config.v2.json:\"IPAddress\":\"";
const NERDCTL: &str = "/var/lib/nerdctl/";

/// The containers of a machine by their names.
#[derive(Debug, Default)]
pub(super) struct ContainerNames {
    ids: BTreeMap<String, BTreeSet<String>>,
    /// The ids of containers by their addresses.
    addresses: BTreeMap<IpAddr, BTreeSet<String>>,
    /// Command lines of supervisors and proxies, by their processes.
    commands: BTreeMap<u32, String>,
}

impl ContainerNames {
    /// Takes a line about a file of docker or nerdctl; others are left out.
    pub(super) fn take_line(&mut self, line: &str) {
        if let Some((address, id)) = of_docker(line, DOCKER_ADDRESS) {
            // One that has been stopped has none.
            let ids = address.parse().ok().map(|address| self.addresses.entry(address).or_default());
            ids.into_iter().for_each(|ids| _ = ids.insert(id.to_owned()));
        } else if let Some((name, id)) = of_docker(line, DOCKER_NAME).or_else(|| of_nerdctl(line)) {
            self.ids.entry(name.to_owned()).or_default().insert(id.to_owned());
        }
    }

    /// Takes a line of the command line of a process; arguments may have several.
    pub(super) fn take_command(&mut self, pid: u32, text: &str) {
        self.commands.entry(pid).or_default().extend([text, "\n"]);
    }

    /// Returns the ids of the containers with this name; empty if there is none, or that account may not read it.
    pub(super) fn ids_of(&self, name: &str) -> BTreeSet<String> {
        let supervised = self.commands.values().filter_map(|command| supervised_by(command));
        let supervised = supervised.filter(|(found, _)| *found == name).map(|(_, id)| id.to_owned());
        self.ids.get(name).into_iter().flatten().cloned().chain(supervised).collect()
    }

    /// Returns the ids of the containers behind this process if it is the proxy for a published port; empty if that account
    /// may not read them.
    pub(super) fn published_by(&self, pid: u32) -> Option<BTreeSet<String>> {
        let behind = published(self.commands.get(&pid)?)?;
        Some(self.addresses.get(&behind.ip()).cloned().unwrap_or_default())
    }
}

/// Returns the value and the id in `/var/lib/docker/containers/ID/config.v2.json:"Name":"/web"`.
fn of_docker<'a>(line: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
    let (id, rest) = line.strip_prefix(DOCKER)?.split_once('/')?;
    Some((rest.strip_prefix(key)?.strip_suffix('"')?, id))
}

/// Returns the name and the id in `/var/lib/nerdctl/HASH/names/NAMESPACE/web:ID`.
fn of_nerdctl(line: &str) -> Option<(&str, &str)> {
    let (path, id) = line.strip_prefix(NERDCTL)?.split_once(':')?;
    let mut parts = path.split('/').skip(1);
    let name = (parts.next()? == "names").then(|| parts.nth(1))??;
    Some((name, id.trim_end()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::super::process_view::of_process;
    use super::*;

    const WEB: &str = "3f2a9c1d5e6b7a8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";
    const SHOP: &str = "7788a0b1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f5061728394a5b6c7d";

    fn names_in(printed: &str) -> ContainerNames {
        let mut names = ContainerNames::default();
        for line in printed.lines() {
            match of_process(line) {
                Some((pid, "cmdline", text)) => names.take_command(pid, text),
                _ => names.take_line(line),
            }
        }
        names
    }

    #[track_caller]
    fn check(names: &ContainerNames, name: &str, ids: &[&str]) {
        assert_eq!(names.ids_of(name).into_iter().collect::<Vec<_>>(), ids, "{name}: {names:?}");
    }

    /// As docker, nerdctl and podman write them.
    #[test]
    fn names_are_read_from_files_and_supervisors() {
        let names = names_in(&format!(
            "/var/lib/docker/containers/{WEB}/config.v2.json:\"Name\":\"/web\"\n\
             /var/lib/docker/containers/{SHOP}/config.v2.json:\"Name\":\"/webshop\"\n\
             /var/lib/docker/containers/{SHOP}/hostconfig.json:\"Name\":\"/web\"\n\
             /var/lib/nerdctl/1935db59/names/default/cache:{SHOP}\n\
             /var/lib/nerdctl/1935db59/volumes/default/data:{SHOP}\n\
             /var/lib/nerdctl/1935db59:{SHOP}\n\
             /proc/10/cmdline:/usr/bin/conmon\0--api-version\x001\0-c\0{WEB}\0-u\0{WEB}\0-n\0db\0--exit-dir\0/run/exits\0\n\
             /proc/11/cmdline:/usr/bin/conmon\0-c\0{WEB}\0--log-tag\0of two\n\
             /proc/11/cmdline:lines\0-n\0log\0\n\
             /proc/12/cmdline:/usr/bin/nginx\0-c\0{WEB}\0-n\0db2\0\n"
        ));
        check(&names, "web", &[WEB]);
        check(&names, "webshop", &[SHOP]);
        check(&names, "cache", &[SHOP]);
        check(&names, "db", &[WEB]);
        check(&names, "log", &[WEB]);
        for name in ["data", "db2", "names", "", "we"] {
            check(&names, name, &[]);
        }
    }

    /// As docker writes them; a container that was stopped has no address.
    #[test]
    fn containers_are_found_behind_published_ports() {
        let proxy = "-proto\0tcp\0-host-ip\x000.0.0.0\0-host-port\08080\0-container-ip\x00172.17.0.2\0-container-port\080\0";
        let names = names_in(&format!(
            "/proc/20/cmdline:/usr/bin/docker-proxy\0{proxy}\n\
             /proc/21/cmdline:/usr/bin/docker-proxy\0{}\n\
             /proc/22/cmdline:/usr/sbin/nginx\0{proxy}\n\
             /var/lib/docker/containers/{WEB}/config.v2.json:\"IPAddress\":\"172.17.0.2\"\n\
             /var/lib/docker/containers/{WEB}/config.v2.json:\"Name\":\"/web\"\n\
             /var/lib/docker/containers/{SHOP}/config.v2.json:\"IPAddress\":\"\"\n",
            proxy.replace("172.17.0.2", "172.17.0.9")
        ));
        assert_eq!(names.published_by(20), Some([WEB.to_owned()].into()));
        assert_eq!(names.published_by(21), Some(BTreeSet::new()), "its container is not known");
        assert_eq!(names.published_by(22), None);
        check(&names, "web", &[WEB]);
    }

    /// A shell that is called like another program, with its arguments, until its input ends.
    fn standing_in(root: &Path, name: &str, arguments: &[&str]) -> Child {
        let program = root.join(name);
        let script = root.join("script");
        symlink("/bin/sh", &program).unwrap();
        fs::write(&script, "echo started; read go\n").unwrap();
        let mut process = Command::new(&program)
            .arg(&script)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut started = [0; 8];
        process.stdout.as_mut().unwrap().read_exact(&mut started).unwrap();
        process
    }

    /// Returns the names in what a shell prints beside this process, with the files of another root.
    fn printed_beside(mut process: Child, root: &Path, commands: &str) -> ContainerNames {
        let commands = commands.replace("/var/lib", root.to_str().unwrap());
        let printed = Command::new("sh").args(["-c", &commands]).output().unwrap().stdout;
        drop(process.stdin.take());
        process.wait().unwrap();
        let printed = String::from_utf8(printed).unwrap().replace(root.to_str().unwrap(), "/var/lib");
        assert!(!printed.contains("hunter2"), "{printed}");
        names_in(&printed)
    }

    /// Writes the files of a container of docker, which has settings, too.
    fn write_docker(root: &Path) {
        let docker = root.join("docker/containers").join(WEB);
        fs::create_dir_all(&docker).unwrap();
        let config = format!(
            r#"{{"ID":"{WEB}","Config":{{"Env":["PASSWORD=hunter2"]}},"Name":"/web","MountPoints":{{"/data":{{"Name":"data"}}}},"NetworkSettings":{{"Networks":{{"bridge":{{"IPAddress":"172.17.0.2","IPPrefixLen":16}}}}}}}}"#
        );
        fs::write(docker.join("config.v2.json"), config).unwrap();
    }

    /// Goal: a shell prints the files and the command lines.
    #[test]
    fn a_shell_prints_the_names() {
        let root = tempfile::tempdir().unwrap();
        write_docker(root.path());
        let nerdctl = root.path().join("nerdctl/1935db59/names/default");
        fs::create_dir_all(&nerdctl).unwrap();
        fs::write(nerdctl.join("cache"), SHOP).unwrap();
        let name = format!("plimsoll-test-{}", std::process::id());
        let supervisor = standing_in(root.path(), "conmon", &["-c", WEB, "-n", &name]);
        let names = printed_beside(supervisor, root.path(), NAME_COMMANDS);
        check(&names, "web", &[WEB]);
        check(&names, "cache", &[SHOP]);
        check(&names, "data", &[]);
        check(&names, &name, &[WEB]);
    }

    /// The same of a port that docker publishes.
    #[test]
    fn a_shell_prints_what_is_behind_a_published_port() {
        let root = tempfile::tempdir().unwrap();
        write_docker(root.path());
        let arguments = ["-host-port", "8080", "-container-ip", "172.17.0.2", "-container-port", "80"];
        let proxy = standing_in(root.path(), "docker-proxy", &arguments);
        let pid = proxy.id();
        let names = printed_beside(proxy, root.path(), PROXY_COMMANDS);
        assert_eq!(names.published_by(pid), Some([WEB.to_owned()].into()), "{names:?}");
        assert_eq!(names.published_by(std::process::id()), None);
    }
}
