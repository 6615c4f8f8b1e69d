//! What a monitor has to know of a system under test.

use crate::cgroup::{Controller, Place, Version};
use crate::recipe::StatusKind;

use super::fetch::PageUrl;
use super::kernel::Parse;
use super::kernel::group::{V1_FILES, V2_FILES};

/// Where a system under test can be watched: names and numbers, so that any thread can do it.
///
/// Without a control group it is that of the processes that run now: it has to be taken again after a reset.
#[derive(Debug, Clone, Default)]
pub struct WatchedSut {
    /// Its control group; empty without one.
    pub(crate) group: Vec<Place>,
    /// The processes that were started.
    pub(crate) leaders: Vec<u32>,
    /// The TCP ports at which it takes connections.
    pub(crate) ports: Vec<u16>,
    /// The page on which it tells about itself, if it has one that can be read.
    pub(crate) status: Option<StatusPage>,
}

/// A page on which a server tells about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusPage {
    /// How it is to be read.
    pub kind: StatusKind,
    /// Where it is.
    pub url: PageUrl,
    /// Connections that the server can have, where the page does not say it.
    pub connections_max: Option<u64>,
}

impl WatchedSut {
    /// Returns the files of the group and what reads each.
    pub(super) fn group_files(&self) -> Vec<(std::path::PathBuf, Parse)> {
        let files = self.group.iter().flat_map(|place| {
            let wanted: Vec<(&str, Parse)> = match place.version {
                Version::V1 => {
                    let ours = V1_FILES.iter().filter(|(of, ..)| place.controllers.contains(of));
                    ours.map(|(_, name, parse)| (*name, *parse)).collect()
                }
                Version::V2 => V2_FILES.to_vec(),
            };
            wanted.into_iter().map(|(name, parse)| (place.directory.join(name), parse))
        });
        files.collect()
    }

    /// Returns the directory whose list of processes is that of the group.
    pub(crate) fn group_directory(&self) -> Option<&std::path::Path> {
        let place = self.group.iter().find(|place| place.controllers.contains(&Controller::Cpuacct))?;
        Some(&place.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_looked_for_where_their_controller_is() {
        let place = |version, controllers: &[Controller], directory: &str| Place {
            version,
            controllers: controllers.to_vec(),
            directory: directory.into(),
        };
        let v1 = [
            place(Version::V1, &[Controller::Cpu, Controller::Cpuacct], "/c/g"),
            place(Version::V1, &[Controller::Memory], "/m/g"),
        ];
        let sut = WatchedSut { group: v1.to_vec(), ..WatchedSut::default() };
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
        let group = vec![place(Version::V2, &Controller::ALL, "/u/g")];
        assert_eq!(WatchedSut { group, ..WatchedSut::default() }.group_files().len(), V2_FILES.len());
        assert_eq!(WatchedSut::default().group_files().len(), 0);
    }
}
