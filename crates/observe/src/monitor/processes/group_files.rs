//! The counters of control groups that hold a group of processes alone.

use std::path::PathBuf;

use model::Reading;

use crate::cgroup::{CgroupVersion, ControllerFiles};
use crate::kernel_file::KernelFile;
use crate::monitor::Parse;
use crate::monitor::kernel::group::{V1_FILES, V2_FILES};

/// The open files of control groups, with their parsers.
#[derive(Debug, Default)]
pub(super) struct GroupFiles {
    files: Vec<(PathBuf, Option<KernelFile>, Parse)>,
}

impl GroupFiles {
    /// Opens the files of these groups.
    pub(super) fn open(groups: &[ControllerFiles]) -> GroupFiles {
        let files = paths(groups).into_iter().map(|(path, parse)| {
            let file = KernelFile::open(&path).ok();
            (path, file, parse)
        });
        GroupFiles { files: files.filter(|(_, file, _)| file.is_some()).collect() }
    }

    /// Reads the counters as those of the group named `label`, except those that `into` has already. The first hierarchy that
    /// counts something is taken. A group that was made again has new files.
    pub(super) fn read(&mut self, label: &str, buffer: &mut Vec<u8>, into: &mut Vec<Reading>) {
        for (path, file, parse) in &mut self.files {
            if file.as_ref().is_none_or(|file| file.short_text().is_none()) {
                *file = KernelFile::open(&*path).ok();
            }
            let Some(text) = file.as_ref().and_then(|file| file.text_in(buffer)) else { continue };
            let mut readings = Vec::new();
            parse(&text, &mut readings);
            for mut reading in readings {
                reading.instance = label.to_owned();
                let is_known = |known: &Reading| {
                    (known.counter, &known.instance) == (reading.counter, &reading.instance)
                };
                if !into.iter().any(is_known) {
                    into.push(reading);
                }
            }
        }
    }
}

/// Returns the files of groups and their parsers.
fn paths(groups: &[ControllerFiles]) -> Vec<(PathBuf, Parse)> {
    let files = groups.iter().flat_map(|files| {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use model::Counter;

    use super::*;
    use crate::cgroup::Controller;

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
        let paths_of = |groups: &[ControllerFiles]| -> Vec<String> {
            paths(groups).iter().map(|(path, _)| path.display().to_string()).collect()
        };
        let cpu = ["/c/g/cpuacct.usage", "/c/g/cpuacct.stat", "/c/g/cpu.stat"];
        let memory = [
            "/m/g/memory.usage_in_bytes",
            "/m/g/memory.limit_in_bytes",
            "/m/g/memory.failcnt",
            "/m/g/memory.stat",
        ];
        assert_eq!(paths_of(&v1), [&cpu[..], &memory].concat());
        assert_eq!(paths_of(&[files(CgroupVersion::V2, &Controller::ALL, "/u/g")]).len(), V2_FILES.len());
        assert_eq!(paths_of(&[]).len(), 0);
    }

    /// Goal: where version 1 and version 2 both count CPU time, it is counted once, and under the group's name.
    #[test]
    fn each_counter_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, file: &str, text: &str| {
            fs::create_dir_all(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join(file), text).unwrap();
        };
        make("one", "cpuacct.usage", "7000000\n");
        make("two", "cpu.stat", "usage_usec 9000\nnr_throttled 3\n");
        let group = |version, name: &str| ControllerFiles {
            version,
            controllers: vec![Controller::Cpuacct],
            directory: folder.path().join(name),
        };
        let mut files = GroupFiles::open(&[group(CgroupVersion::V1, "one"), group(CgroupVersion::V2, "two")]);
        let mut readings = Vec::new();
        files.read("unit=a.service", &mut Vec::new(), &mut readings);
        let expected = [(Counter::SutCpu, 7_000), (Counter::SutThrottledPeriods, 3)];
        let expected = expected.map(|(counter, value)| Reading::of(counter, "unit=a.service", value));
        assert_eq!(readings, expected);
    }
}
