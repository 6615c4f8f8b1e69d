//! The file system that is mounted at a path.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::kernel_file;

/// The mounts of this process (proc_pid_mountinfo(5)).
const MOUNTS: &str = "/proc/self/mountinfo";

/// The file system that a path is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedFileSystem {
    /// The directory where it is mounted.
    pub place: PathBuf,
    /// Its type: `ext4`.
    pub kind: String,
    /// The device, or what the file system has in its place: `/dev/vda1`, `//server/share`.
    pub source: String,
    /// The options of the mount and of the file system: `rw,relatime`.
    pub options: String,
}

/// Returns the file system that a file or directory is on; `None` if it does not exist, or the kernel does not say.
pub fn mounted_file_system(path: &Path) -> Option<MountedFileSystem> {
    let path = path.canonicalize().ok()?;
    mount_of(&kernel_file::read(MOUNTS)?, &path)
}

/// Finds the mount of an absolute path without symbolic links: the deepest, and of several at one place the last.
fn mount_of(mounts: &str, path: &Path) -> Option<MountedFileSystem> {
    let above = mounts.lines().filter_map(mount).filter(|mount| path.starts_with(&mount.place));
    above.max_by_key(|mount| mount.place.components().count())
}

/// Reads a line: `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
fn mount(line: &str) -> Option<MountedFileSystem> {
    let (of_mount, of_system) = line.split_once(" - ")?;
    let mut of_mount = of_mount.split(' ').skip(4);
    let place = PathBuf::from(std::ffi::OsString::from_vec(unescaped(of_mount.next()?)));
    let mount_options = of_mount.next()?;
    let mut of_system = of_system.split(' ');
    let kind = of_system.next()?.to_owned();
    let source = String::from_utf8_lossy(&unescaped(of_system.next()?)).into_owned();
    let system_options = of_system.next().unwrap_or_default();
    let mut options: Vec<&str> = mount_options.split(',').collect();
    for option in system_options.split(',').filter(|option| !option.is_empty()) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    Some(MountedFileSystem { place, kind, source, options: options.join(",") })
}

/// Returns a word of the table with its spaces, tabs, line ends and backslashes, which are written as octal numbers.
fn unescaped(word: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let octal =
            behind.get(..3).and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        match octal.filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTED: &str = "\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro
30 22 0:40 / /mnt rw - tmpfs tmpfs rw,size=1024k
31 22 0:41 / /mnt/my\\040files rw,nosuid - cifs //server/a\\134b rw,vers=3.1.1,cache=strict
32 22 0:42 / /mnt/my\\040files rw,noexec master:3 - cifs //server/b rw,vers=2.1
33 broken
";

    #[test]
    fn the_deepest_mount_above_a_path_is_its_file_system() {
        let found = |path: &str| {
            mount_of(MOUNTED, Path::new(path))
                .map(|MountedFileSystem { place, kind, source, options }| {
                    format!("{} {kind} {source} {options}", place.display())
                })
                .unwrap_or_default()
        };
        let paths = ["/home/x", "/mnt/other", "/mnt/my files/deep/er", "/mntx"].map(found);
        assert_eq!(
            paths,
            [
                "/ ext4 /dev/vda1 rw,relatime,errors=remount-ro",
                "/mnt tmpfs tmpfs rw,size=1024k",
                "/mnt/my files cifs //server/b rw,noexec,vers=2.1",
                "/ ext4 /dev/vda1 rw,relatime,errors=remount-ro",
            ]
        );
        assert_eq!(mount(MOUNTED.lines().nth(2).unwrap()).unwrap().source, r"//server/a\b");
        assert_eq!(mount_of("", Path::new("/")), None);
    }

    #[test]
    fn this_machine_says_what_is_mounted() {
        let root = mounted_file_system(Path::new("/")).unwrap();
        assert!(!root.kind.is_empty() && root.options.starts_with('r'), "{root:?}");
        assert_eq!(mounted_file_system(Path::new("/no/such/place")), None);
    }
}
