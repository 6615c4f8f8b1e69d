//! Names of containers on another machine: from the same files and command lines as on this one.

use std::collections::{BTreeMap, BTreeSet};

use crate::watch::supervised_by;

/// The commands that print what names containers: of docker the name in each container's file and nothing else of it,
/// because these have settings, too; of nerdctl the files that are called like the containers; of podman the command lines
/// of its supervisors. Docker's and nerdctl's files can be read by root alone.
pub(super) const NAME_COMMANDS: &str = "\
LC_ALL=C grep -so '\"Name\":\"/[^\"]*\"' /var/lib/docker/containers/*/config.v2.json /dev/null </dev/null
LC_ALL=C grep -s '' /var/lib/nerdctl/*/names/*/* /dev/null </dev/null
set -- $(LC_ALL=C grep -sl '^conmon$' /proc/[0-9]*/comm /dev/null </dev/null | LC_ALL=C sed 's/comm$/cmdline/')
LC_ALL=C grep -sa '' \"$@\" /dev/null </dev/null
";

/// The folders in these paths.
const DOCKER: &str = "/var/lib/docker/containers/";
const DOCKER_NAME: &str = "config.v2.json:\"Name\":\"/";
const NERDCTL: &str = "/var/lib/nerdctl/";

/// The containers of a machine by their names.
#[derive(Debug, Default)]
pub(super) struct ContainerNames {
    ids: BTreeMap<String, BTreeSet<String>>,
    /// Command lines of supervisors, by their processes.
    commands: BTreeMap<u32, String>,
}

impl ContainerNames {
    /// Takes a line about a file of docker or nerdctl; others are left out.
    pub(super) fn take_line(&mut self, line: &str) {
        if let Some((name, id)) = of_docker(line).or_else(|| of_nerdctl(line)) {
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
}

/// Returns the name and the id in `/var/lib/docker/containers/ID/config.v2.json:"Name":"/web"`.
fn of_docker(line: &str) -> Option<(&str, &str)> {
    let (id, rest) = line.strip_prefix(DOCKER)?.split_once('/')?;
    Some((rest.strip_prefix(DOCKER_NAME)?.strip_suffix('"')?, id))
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
    use std::os::unix::fs::symlink;
    use std::process::{Command, Stdio};

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

    /// Goal: a shell prints the files and the command lines. The files are those of another root, and the supervisor is a
    /// shell that is called like one.
    #[test]
    fn a_shell_prints_the_names() {
        let root = tempfile::tempdir().unwrap();
        let docker = root.path().join("docker/containers").join(WEB);
        let nerdctl = root.path().join("nerdctl/1935db59/names/default");
        fs::create_dir_all(&docker).unwrap();
        fs::create_dir_all(&nerdctl).unwrap();
        let config = format!(
            r#"{{"ID":"{WEB}","Config":{{"Env":["PASSWORD=hunter2"]}},"Name":"/web","MountPoints":{{"/data":{{"Name":"data"}}}}}}"#
        );
        fs::write(docker.join("config.v2.json"), config).unwrap();
        fs::write(nerdctl.join("cache"), SHOP).unwrap();
        let (conmon, script) = (root.path().join("conmon"), root.path().join("script"));
        symlink("/bin/sh", &conmon).unwrap();
        fs::write(&script, "echo started; read go\n").unwrap();
        let name = format!("plimsoll-test-{}", std::process::id());
        let mut supervisor = Command::new(&conmon)
            .args([script.to_str().unwrap(), "-c", WEB, "-n", &name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut started = [0; 8];
        std::io::Read::read_exact(supervisor.stdout.as_mut().unwrap(), &mut started).unwrap();
        let commands = NAME_COMMANDS.replace("/var/lib", root.path().to_str().unwrap());
        let printed = Command::new("sh").args(["-c", &commands]).output().unwrap().stdout;
        drop(supervisor.stdin.take());
        supervisor.wait().unwrap();
        let printed = String::from_utf8(printed).unwrap().replace(root.path().to_str().unwrap(), "/var/lib");
        assert!(!printed.contains("hunter2"), "{printed}");
        let names = names_in(&printed);
        check(&names, "web", &[WEB]);
        check(&names, "cache", &[SHOP]);
        check(&names, "data", &[]);
        check(&names, &name, &[WEB]);
    }
}
