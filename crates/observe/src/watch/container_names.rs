//! Names of containers, without asking their engines: from the files that docker and nerdctl keep, which root may read,
//! and from the command lines of the supervisors of podman's containers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::command_line::{argument, command_line, program};
use super::selector::begins_id;
use crate::kernel_file;
use crate::process::all_pids;

/// Docker's folder with a folder for each container, named by its id; in each, the file that has its name after a slash.
const DOCKER: &str = "var/lib/docker/containers";
const DOCKER_FILE: &str = "config.v2.json";

/// The folder of nerdctl: in `HASH/names/NAMESPACE`, each file with the name of a container has its id.
///
/// Source: nerdctl, docs/dir.md.
const NERDCTL: &str = "var/lib/nerdctl";

/// The program that supervises a container of podman, and its arguments with id and name. Source: conmon(8).
const CONMON: &str = "conmon";
const ID: &str = "-c";
const NAME: &str = "-n";

/// Returns whether a user who writes `text` means the container with this id: one of those with that name, whose ids are
/// `named`, or, where there is none, one whose id begins so.
pub(crate) fn is_meant(text: &str, named: &BTreeSet<String>, id: &str) -> bool {
    if named.is_empty() { begins_id(text, id) } else { named.contains(id) }
}

/// Returns the ids of the containers with this name; empty if there is none, or this user may not read it.
pub(super) fn ids_of(name: &str) -> BTreeSet<String> {
    let root = Path::new("/");
    let commands = all_pids().into_iter().filter_map(command_line);
    let id = |command: String| {
        supervised_by(&command).filter(|(found, _)| *found == name).map(|(_, id)| id.to_owned())
    };
    let supervised = commands.filter_map(id);
    of_docker(root, name).into_iter().chain(of_nerdctl(root, name)).chain(supervised).collect()
}

fn of_docker(root: &Path, name: &str) -> Vec<String> {
    let entry = format!("\"Name\":\"/{name}\"");
    let has_name =
        |path: &PathBuf| kernel_file::read(path.join(DOCKER_FILE)).is_some_and(|text| text.contains(&entry));
    let folders = entries(root.join(DOCKER)).into_iter().filter(has_name);
    folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
}

fn of_nerdctl(root: &Path, name: &str) -> Vec<String> {
    let stores = entries(root.join(NERDCTL)).into_iter();
    let namespaces = stores.flat_map(|store| entries(store.join("names")));
    namespaces.filter_map(|namespace| kernel_file::read(namespace.join(name))).collect()
}

fn entries(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Returns the name and the id of the container in the command line of a supervisor.
pub(crate) fn supervised_by(command: &str) -> Option<(&str, &str)> {
    let names = || argument(command, NAME).zip(argument(command, ID));
    (program(command) == Some(CONMON)).then(names)?
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const WEB: &str = "3f2a9c1d5e6b7a8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";
    const SHOP: &str = "7788a0b1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f5061728394a5b6c7d";

    /// As docker writes it; a volume has a name, too.
    #[test]
    fn names_of_docker_are_read_from_its_files() {
        let root = tempfile::tempdir().unwrap();
        for (id, name) in [(WEB, "web"), (SHOP, "webshop")] {
            let folder = root.path().join(DOCKER).join(id);
            fs::create_dir_all(&folder).unwrap();
            let text = format!(
                r#"{{"State":{{"Running":true,"Pid":10}},"ID":"{id}","Name":"/{name}","RestartPolicy":{{"Name":"no"}},
                "MountPoints":{{"/data":{{"Name":"data","Driver":"local"}}}}}}"#
            );
            fs::write(folder.join(DOCKER_FILE), text).unwrap();
        }
        assert_eq!(of_docker(root.path(), "web"), [WEB]);
        assert_eq!(of_docker(root.path(), "webshop"), [SHOP]);
        assert_eq!(of_docker(root.path(), "data"), [""; 0]);
        assert_eq!(of_docker(&root.path().join("none"), "web"), [""; 0]);
    }

    #[test]
    fn names_of_nerdctl_are_read_from_its_files() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(NERDCTL).join("1935db59/names/default");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("web"), WEB).unwrap();
        assert_eq!(of_nerdctl(root.path(), "web"), [WEB]);
        assert_eq!(of_nerdctl(root.path(), "we"), [""; 0]);
        assert_eq!(of_nerdctl(root.path(), ".."), [""; 0]);
    }

    /// As podman starts it.
    #[test]
    fn names_of_podman_are_read_from_the_supervisors() {
        let line = format!(
            "/usr/bin/conmon\0--api-version\x001\0-c\0{WEB}\0-u\0{WEB}\0-r\0/usr/bin/crun\0-p\0/run/pidfile\0-n\0web\0\
             --exit-dir\0/run/exits\0"
        );
        assert_eq!(supervised_by(&line), Some(("web", WEB)));
        assert_eq!(supervised_by(&line.replace("conmon", "nginx")), None);
        assert_eq!(supervised_by(&line.replace("-c\0", "-x\0")), None);
        assert_eq!(supervised_by(""), None);
    }

    #[test]
    fn an_id_is_meant_where_no_container_has_the_name() {
        let none = BTreeSet::new();
        let named = BTreeSet::from([SHOP.to_owned()]);
        assert!(is_meant("3f2a9c", &none, WEB) && !is_meant("3f2", &none, WEB));
        assert!(is_meant("3f2a9c", &named, SHOP) && !is_meant("3f2a9c", &named, WEB));
    }

    #[test]
    fn no_container_here_has_a_name_that_nobody_gave() {
        assert_eq!(ids_of("no-such-container-of-plimsoll"), BTreeSet::new());
    }
}
