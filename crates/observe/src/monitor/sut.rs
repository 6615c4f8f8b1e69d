//! The data that a monitor needs about a system under test.

use super::fetch::PageUrl;
use super::kernel::Parse;
use super::kernel::group::{V1_FILES, V2_FILES};
use super::service::StatusKind;
use crate::cgroup::{CgroupVersion, Controller, ControllerFiles};

/// A system under test as seen by monitors: names and ids only, so that any thread can use it.
///
/// Without a control group it is valid for the processes that run now: it must be created again after a
/// reset.
#[derive(Debug, Clone, Default)]
pub struct MonitoredSut {
    /// Its control group; empty without one.
    pub group: Vec<ControllerFiles>,
    /// The started processes.
    pub leaders: Vec<u32>,
    /// The TCP ports that it listens on.
    pub ports: Vec<u16>,
    /// Its status page, if it has a readable one.
    pub status: Option<StatusPage>,
}

/// The status page of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusPage {
    /// Its format.
    pub kind: StatusKind,
    /// Its URL.
    pub url: PageUrl,
    /// The maximum number of connections of the server, if the page does not state it.
    pub connections_max: Option<u64>,
}

impl MonitoredSut {
    /// Returns the files of the group and their parsers.
    pub(super) fn group_files(&self) -> Vec<(std::path::PathBuf, Parse)> {
        let files = self.group.iter().flat_map(|files| {
            let wanted: Vec<(&str, Parse)> = match files.version {
                CgroupVersion::V1 => {
                    let ours = V1_FILES.iter().filter(|(of, ..)| files.controllers.contains(of));
                    ours.map(|(_, name, parse)| (*name, *parse)).collect()
                }
                CgroupVersion::V2 => V2_FILES.to_vec(),
            };
            wanted.into_iter().map(|(name, parse)| (files.directory.join(name), parse))
        });
        files.collect()
    }

    /// Returns the directory whose process list is that of the group.
    pub fn group_directory(&self) -> Option<&std::path::Path> {
        let files = self.group.iter().find(|files| files.controllers.contains(&Controller::Cpuacct))?;
        Some(&files.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_the_directory_of_their_controller() {
        let files = |version, controllers: &[Controller], directory: &str| ControllerFiles {
            version,
            controllers: controllers.to_vec(),
            directory: directory.into(),
        };
        let v1 = [
            files(CgroupVersion::V1, &[Controller::Cpu, Controller::Cpuacct], "/c/g"),
            files(CgroupVersion::V1, &[Controller::Memory], "/m/g"),
        ];
        let sut = MonitoredSut { group: v1.to_vec(), ..MonitoredSut::default() };
        let paths: Vec<String> =
            sut.group_files().iter().map(|(path, _)| path.display().to_string()).collect();
        let cpu = ["/c/g/cpuacct.usage", "/c/g/cpuacct.stat", "/c/g/cpu.stat"];
        let memory = [
            "/m/g/memory.usage_in_bytes",
            "/m/g/memory.limit_in_bytes",
            "/m/g/memory.failcnt",
            "/m/g/memory.stat",
        ];
        assert_eq!(paths, [&cpu[..], &memory].concat());
        assert_eq!(sut.group_directory().unwrap(), std::path::Path::new("/c/g"));
        let group = vec![files(CgroupVersion::V2, &Controller::ALL, "/u/g")];
        assert_eq!(MonitoredSut { group, ..MonitoredSut::default() }.group_files().len(), V2_FILES.len());
        assert_eq!(MonitoredSut::default().group_files().len(), 0);
    }
}
