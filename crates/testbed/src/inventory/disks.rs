//! Disks, what is made of them, and the file systems that matter.

use std::path::Path;

use units::Bytes;

use super::memory::chosen;
use super::tree::{Found, Tree, Unread};
use super::{Reader, each, one};

/// Sizes of disks are in sectors of this, whatever their blocks. Source: Linux, Documentation/block/stat.rst.
const SECTOR_BYTES: u64 = 512;

/// File systems whose files are on another machine.
const REMOTE: &[&str] = &["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "fuse.sshfs", "glusterfs", "lustre"];

pub(super) const READERS: &[Reader] = &[
    each("disk.model", |tree, disk| of(tree, disk, "device/model")),
    each("disk.vendor", |tree, disk| of(tree, disk, "device/vendor")),
    each("disk.firmware", |tree, disk| {
        of(tree, disk, "device/firmware_rev").or_else(|_| of(tree, disk, "device/rev"))
    }),
    each("disk.serial", |tree, disk| of(tree, disk, "device/serial").or_else(|_| of(tree, disk, "serial"))),
    each("disk.size", size),
    each("disk.kind", kind),
    each("disk.attachment", attachment),
    each("disk.scheduler", |tree, disk| Ok(chosen(&of(tree, disk, "queue/scheduler")?))),
    each("disk.queue", |tree, disk| Ok(of(tree, disk, "queue/nr_requests")? + " requests")),
    each("disk.device-queue", |tree, disk| of(tree, disk, "device/queue_depth")),
    each("disk.hardware-queues", hardware_queues),
    each("disk.write-cache", |tree, disk| of(tree, disk, "queue/write_cache")),
    each("disk.read-ahead", |tree, disk| Ok(of(tree, disk, "queue/read_ahead_kb")? + " KiB")),
    each("disk.blocks", blocks),
    each("disk.request-max", |tree, disk| Ok(of(tree, disk, "queue/max_sectors_kb")? + " KiB")),
    each("disk.discard", discard),
    each("disk.affinity", |tree, disk| of(tree, disk, "queue/rq_affinity")),
    each("disk.write-throttling", |tree, disk| Ok(of(tree, disk, "queue/wbt_lat_usec")? + " µs")),
    each("disk.polling", |tree, disk| of(tree, disk, "queue/io_poll")),
    one("storage.raid", |tree| raid(&tree.text("/proc/mdstat")?)),
    one("storage.mappings", mappings),
    one("filesystem.root", |tree| Ok(mounts(tree)?.of(Path::new("/"))?.text())),
    one("filesystem.temporary", |tree| Ok(mounts(tree)?.of(Path::new("/tmp"))?.text())),
    one("filesystem.files", |tree| place(tree, tree.asked.files.as_deref())),
    one("filesystem.work", |tree| place(tree, tree.asked.work.as_deref())),
    one("filesystem.run-file", |tree| place(tree, tree.asked.run_file.as_deref())),
    one("filesystem.disks", |tree| mounts(tree)?.list(|mount| mount.source.starts_with("/dev/"))),
    one("filesystem.remote", |tree| mounts(tree)?.list(|mount| REMOTE.contains(&mount.kind.as_str()))),
];

/// Returns the disks, without those that are made up of files or memory and those that have no size.
pub fn disks(tree: &Tree) -> Vec<String> {
    let is_made_up =
        |name: &str| ["loop", "ram", "zram", "sr", "fd"].iter().any(|kind| name.starts_with(kind));
    let has_size =
        |name: &str| tree.number(format!("/sys/block/{name}/size")).is_ok_and(|sectors| 0 < sectors);
    let mut names = tree.names("/sys/block");
    names.retain(|name| !is_made_up(name) && has_size(name));
    names
}

fn of(tree: &Tree, disk: &str, file: &str) -> Found {
    tree.text(format!("/sys/block/{disk}/{file}"))
}

fn size(tree: &Tree, disk: &str) -> Found {
    let sectors = tree.number(format!("/sys/block/{disk}/size"))?;
    Ok(Bytes(sectors.saturating_mul(SECTOR_BYTES)).to_string())
}

fn kind(tree: &Tree, disk: &str) -> Found {
    Ok(if of(tree, disk, "queue/rotational")? == "0" { "does not rotate" } else { "rotates, as it says" }
        .to_owned())
}

/// Says by what a disk is attached, from its place in the tree of devices.
fn attachment(tree: &Tree, disk: &str) -> Found {
    let target = tree.link(&format!("/sys/block/{disk}"))?;
    let signs = [
        ("/virtual/", "made by the kernel"),
        ("/nvme", "NVMe"),
        ("/virtio", "virtio"),
        ("/vbd-", "Xen"),
        ("/vmbus", "Hyper-V"),
        ("/usb", "USB"),
        ("/ata", "SATA"),
        ("/host", "SCSI or SAS"),
        ("/mmc", "SD or eMMC"),
    ];
    let known = signs.iter().find(|(sign, _)| target.contains(sign));
    known.map(|(_, name)| (*name).to_owned()).ok_or(Unread::because("not known by its place"))
}

fn hardware_queues(tree: &Tree, disk: &str) -> Found {
    match tree.names(&format!("/sys/block/{disk}/mq")).len() {
        0 => Err(Unread::Absent),
        n => Ok(n.to_string()),
    }
}

fn blocks(tree: &Tree, disk: &str) -> Found {
    let physical = of(tree, disk, "queue/physical_block_size")?;
    Ok(format!("{}, {physical} bytes", of(tree, disk, "queue/logical_block_size")?))
}

fn discard(tree: &Tree, disk: &str) -> Found {
    Ok(if of(tree, disk, "queue/discard_max_bytes")? == "0" { "no" } else { "yes" }.to_owned())
}

/// Lists the arrays of `/proc/mdstat`: `md0 : active raid1 sdb1[1] sda1[0]`.
fn raid(mdstat: &str) -> Found {
    let arrays = mdstat.lines().filter(|line| line.starts_with("md"));
    let arrays: Vec<String> = arrays.map(|line| line.replacen(" :", ":", 1)).collect();
    Ok(if arrays.is_empty() { "none".to_owned() } else { arrays.join("; ") })
}

fn mappings(tree: &Tree) -> Found {
    let name = |disk: &String| tree.text(format!("/sys/block/{disk}/dm/name")).ok();
    let names: Vec<String> = tree.names("/sys/block").iter().filter_map(name).collect();
    Ok(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}

/// A file system where it is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    source: String,
    place: String,
    kind: String,
    options: String,
}

impl Mount {
    fn text(&self) -> String {
        format!("{} at {}, {}, {}", self.kind, self.place, self.source, self.options)
    }
}

/// What is mounted, in the order in which it was.
struct Mounts(Vec<Mount>);

fn mounts(tree: &Tree) -> Result<Mounts, Unread> {
    tree.text("/proc/mounts").map(|text| Mounts(parse_mounts(&text)))
}

/// Reads lines `source place kind options 0 0`, in which blanks are `\040`.
fn parse_mounts(text: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let plain = |word: &str| word.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
        let words: Vec<&str> = line.split(' ').collect();
        let [source, place, kind, options, ..] = words[..] else { return None };
        Some(Mount { source: plain(source), place: plain(place), kind: kind.into(), options: options.into() })
    };
    text.lines().filter_map(mount).collect()
}

impl Mounts {
    /// Returns the file system that a path is on: the deepest, of several in one place the last.
    fn of(&self, path: &Path) -> Result<&Mount, Unread> {
        let holding = self.0.iter().filter(|mount| path.starts_with(&mount.place));
        let deepest = holding.max_by_key(|mount| Path::new(&mount.place).components().count());
        deepest.ok_or(Unread::because("nothing is mounted there"))
    }

    fn list(&self, is_wanted: impl Fn(&Mount) -> bool) -> Found {
        let texts: Vec<String> = self.0.iter().filter(|mount| is_wanted(mount)).map(Mount::text).collect();
        match texts.is_empty() {
            true => Err(Unread::because("none is mounted")),
            false => Ok(texts.join("; ")),
        }
    }
}

fn place(tree: &Tree, path: Option<&Path>) -> Found {
    let path = path.ok_or(Unread::because("nothing was to be read or written there"))?;
    Ok(mounts(tree)?.of(path)?.text())
}

#[cfg(test)]
mod tests {
    use super::super::InventoryInput;
    use super::super::tree::fake;
    use super::*;

    const FILES: &[(&str, &str)] = &[
        ("/sys/devices/pci0000:00/virtio1/block/vda/size", "536870912\n"),
        ("/sys/devices/pci0000:00/virtio1/block/vda/serial", "overlayblk"),
        ("/sys/devices/pci0000:00/virtio1/block/vda/queue/scheduler", "none [mq-deadline] kyber bfq \n"),
        ("/sys/devices/pci0000:00/virtio1/block/vda/queue/rotational", "1\n"),
        ("/sys/devices/pci0000:00/virtio1/block/vda/queue/nr_requests", "256\n"),
        ("/sys/devices/pci0000:00/virtio1/block/vda/queue/discard_max_bytes", "1073741824\n"),
        ("/sys/devices/pci0000:00/virtio1/block/vda/queue/logical_block_size", "512\n"),
        ("/sys/devices/pci0000:00/virtio1/block/vda/queue/physical_block_size", "4096\n"),
        ("/sys/devices/pci0000:00/virtio1/block/vda/mq/0/cpu_list", "0\n"),
        ("/sys/block/vda", "→../devices/pci0000:00/virtio1/block/vda"),
        ("/sys/block/loop0/size", "100\n"),
        ("/sys/block/sdb/size", "0\n"),
        ("/sys/block/dm-0/size", "100\n"),
        ("/sys/block/dm-0/dm/name", "vg0-root\n"),
        (
            "/proc/mounts",
            "proc /proc proc rw 0 0\n/dev/vda / ext4 rw,relatime 0 0\ntmpfs /dev/shm tmpfs rw 0 0\n\
             nas:/x /mnt/my\\040files nfs4 ro 0 0\ntmpfs /dev/shm tmpfs rw,size=1k 0 0\n",
        ),
    ];

    #[test]
    fn disks_are_those_with_a_size_that_are_not_made_up() {
        fake::with(FILES, |tree| {
            assert_eq!(disks(tree), ["dm-0", "vda"]);
            assert_eq!(size(tree, "vda").unwrap(), "256.0 GiB");
            assert_eq!(kind(tree, "vda").unwrap(), "rotates, as it says");
            assert_eq!(attachment(tree, "vda").unwrap(), "virtio");
            assert_eq!(hardware_queues(tree, "vda").unwrap(), "1");
            assert_eq!(blocks(tree, "vda").unwrap(), "512, 4096 bytes");
            assert_eq!(
                (discard(tree, "vda").unwrap(), mappings(tree).unwrap()),
                ("yes".into(), "vg0-root".into())
            );
            assert_eq!(of(tree, "vda", "device/model"), Err(Unread::Absent));
            assert_eq!(hardware_queues(tree, "dm-0"), Err(Unread::Absent));
        });
    }

    #[test]
    fn a_path_is_on_the_deepest_mount_and_the_last_there() {
        let asked = InventoryInput {
            files: Some("/dev/shm/x".into()),
            run_file: Some("/dev/shmx/r.plim".into()),
            ..InventoryInput::default()
        };
        fake::with_asked(FILES, &asked, |tree| {
            assert_eq!(place(tree, asked.files.as_deref()).unwrap(), "tmpfs at /dev/shm, tmpfs, rw,size=1k");
            assert_eq!(place(tree, asked.run_file.as_deref()).unwrap(), "ext4 at /, /dev/vda, rw,relatime");
            assert!(place(tree, None).is_err());
            let mounts = mounts(tree).unwrap();
            let remote = mounts.list(|mount| REMOTE.contains(&mount.kind.as_str()));
            assert_eq!(remote.unwrap(), "nfs4 at /mnt/my files, nas:/x, ro");
            assert!(mounts.list(|_| false).is_err());
        });
    }

    #[test]
    fn arrays_are_listed_as_the_kernel_names_them() {
        let mdstat = "Personalities : [raid1]\nmd0 : active raid1 sdb1[1] sda1[0]\n      1 blocks\n\nunused devices: <none>\n";
        assert_eq!(raid(mdstat).unwrap(), "md0: active raid1 sdb1[1] sda1[0]");
        assert_eq!(raid("Personalities :\nunused devices: <none>").unwrap(), "none");
    }
}
