//! Disks, devices built from them, and relevant file systems.

use std::path::Path;

use units::Bytes;

use super::machine_files::{FieldValue, MachineFiles, Unavailable};
use super::memory::chosen;
use super::{FieldReader, each, one};

/// Sector size in which the kernel reports disk sizes, whatever the block size. Source: Linux,
/// Documentation/block/stat.rst.
const SECTOR_BYTES: u64 = 512;

/// File systems stored on other machines.
const REMOTE: &[&str] = &["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "fuse.sshfs", "glusterfs", "lustre"];

pub(super) const READERS: &[FieldReader] = &[
    each("disk.model", |files, disk| of(files, disk, "device/model")),
    each("disk.vendor", |files, disk| of(files, disk, "device/vendor")),
    each("disk.firmware", |files, disk| {
        of(files, disk, "device/firmware_rev").or_else(|_| of(files, disk, "device/rev"))
    }),
    each("disk.serial", |files, disk| {
        of(files, disk, "device/serial").or_else(|_| of(files, disk, "serial"))
    }),
    each("disk.size", size),
    each("disk.kind", kind),
    each("disk.attachment", attachment),
    each("disk.scheduler", |files, disk| Ok(chosen(&of(files, disk, "queue/scheduler")?))),
    each("disk.queue", |files, disk| Ok(of(files, disk, "queue/nr_requests")? + " requests")),
    each("disk.device-queue", |files, disk| of(files, disk, "device/queue_depth")),
    each("disk.hardware-queues", hardware_queues),
    each("disk.write-cache", |files, disk| of(files, disk, "queue/write_cache")),
    each("disk.read-ahead", |files, disk| Ok(of(files, disk, "queue/read_ahead_kb")? + " KiB")),
    each("disk.blocks", blocks),
    each("disk.request-max", |files, disk| Ok(of(files, disk, "queue/max_sectors_kb")? + " KiB")),
    each("disk.discard", discard),
    each("disk.affinity", |files, disk| of(files, disk, "queue/rq_affinity")),
    each("disk.write-throttling", |files, disk| Ok(of(files, disk, "queue/wbt_lat_usec")? + " µs")),
    each("disk.polling", |files, disk| of(files, disk, "queue/io_poll")),
    one("storage.raid", |files| raid(&files.text("/proc/mdstat")?)),
    one("storage.mappings", mappings),
    one("filesystem.root", |files| Ok(mounts(files)?.of(Path::new("/"))?.text())),
    one("filesystem.temporary", |files| Ok(mounts(files)?.of(Path::new("/tmp"))?.text())),
    one("filesystem.files", |files| place(files, files.input.files.as_deref())),
    one("filesystem.work", |files| place(files, files.input.work.as_deref())),
    one("filesystem.run-file", |files| place(files, files.input.run_file.as_deref())),
    one("filesystem.disks", |files| mounts(files)?.list(|mount| mount.source.starts_with("/dev/"))),
    one("filesystem.remote", |files| mounts(files)?.list(|mount| REMOTE.contains(&mount.kind.as_str()))),
];

/// Returns the disks, except those backed by files or memory and those without a size.
pub(super) fn disks(files: &MachineFiles) -> Vec<String> {
    let is_made_up =
        |name: &str| ["loop", "ram", "zram", "sr", "fd"].iter().any(|kind| name.starts_with(kind));
    let has_size =
        |name: &str| files.number(format!("/sys/block/{name}/size")).is_ok_and(|sectors| 0 < sectors);
    let mut names = files.names("/sys/block");
    names.retain(|name| !is_made_up(name) && has_size(name));
    names
}

fn of(files: &MachineFiles, disk: &str, file: &str) -> FieldValue {
    files.text(format!("/sys/block/{disk}/{file}"))
}

fn size(files: &MachineFiles, disk: &str) -> FieldValue {
    let sectors = files.number(format!("/sys/block/{disk}/size"))?;
    Ok(Bytes(sectors.saturating_mul(SECTOR_BYTES)).to_string())
}

fn kind(files: &MachineFiles, disk: &str) -> FieldValue {
    Ok(if of(files, disk, "queue/rotational")? == "0" { "non-rotational" } else { "rotational, as reported" }
        .to_owned())
}

/// Determines the attachment of a disk from its position in the device tree.
fn attachment(files: &MachineFiles, disk: &str) -> FieldValue {
    let target = files.link(&format!("/sys/block/{disk}"))?;
    let signs = [
        ("/virtual/", "virtual device of the kernel"),
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
    known.map(|(_, name)| (*name).to_owned()).ok_or(Unavailable::because("not recognized in the device tree"))
}

fn hardware_queues(files: &MachineFiles, disk: &str) -> FieldValue {
    match files.names(&format!("/sys/block/{disk}/mq")).len() {
        0 => Err(Unavailable::Absent),
        n => Ok(n.to_string()),
    }
}

fn blocks(files: &MachineFiles, disk: &str) -> FieldValue {
    let physical = of(files, disk, "queue/physical_block_size")?;
    Ok(format!("{}, {physical} bytes", of(files, disk, "queue/logical_block_size")?))
}

fn discard(files: &MachineFiles, disk: &str) -> FieldValue {
    Ok(if of(files, disk, "queue/discard_max_bytes")? == "0" { "no" } else { "yes" }.to_owned())
}

/// Lists the arrays of `/proc/mdstat`: `md0 : active raid1 sdb1[1] sda1[0]`.
fn raid(mdstat: &str) -> FieldValue {
    let arrays = mdstat.lines().filter(|line| line.starts_with("md"));
    let arrays: Vec<String> = arrays.map(|line| line.replacen(" :", ":", 1)).collect();
    Ok(if arrays.is_empty() { "none".to_owned() } else { arrays.join("; ") })
}

fn mappings(files: &MachineFiles) -> FieldValue {
    let name = |disk: &String| files.text(format!("/sys/block/{disk}/dm/name")).ok();
    let names: Vec<String> = files.names("/sys/block").iter().filter_map(name).collect();
    Ok(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}

/// A mounted file system.
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

/// Mounted file systems, in the order of mounting.
struct Mounts(Vec<Mount>);

fn mounts(files: &MachineFiles) -> Result<Mounts, Unavailable> {
    files.text("/proc/mounts").map(|text| Mounts(parse_mounts(&text)))
}

/// Parses lines `source place kind options 0 0`, in which blanks are `\040`.
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
    /// Returns the file system of a path: the deepest mount point, and the last of several on one mount
    /// point.
    fn of(&self, path: &Path) -> Result<&Mount, Unavailable> {
        let holding = self.0.iter().filter(|mount| path.starts_with(&mount.place));
        let deepest = holding.max_by_key(|mount| Path::new(&mount.place).components().count());
        deepest.ok_or(Unavailable::because("no file system is mounted there"))
    }

    fn list(&self, is_wanted: impl Fn(&Mount) -> bool) -> FieldValue {
        let texts: Vec<String> = self.0.iter().filter(|mount| is_wanted(mount)).map(Mount::text).collect();
        if texts.is_empty() { Err(Unavailable::because("none is mounted")) } else { Ok(texts.join("; ")) }
    }
}

fn place(files: &MachineFiles, path: Option<&Path>) -> FieldValue {
    let path = path.ok_or(Unavailable::because("no path was given"))?;
    Ok(mounts(files)?.of(path)?.text())
}

#[cfg(test)]
mod tests {
    use super::super::InventoryInput;
    use super::super::machine_files::testing;
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
    fn disks_are_real_devices_with_a_size() {
        testing::with(FILES, |files| {
            assert_eq!(disks(files), ["dm-0", "vda"]);
            assert_eq!(size(files, "vda").unwrap(), "256.0 GiB");
            assert_eq!(kind(files, "vda").unwrap(), "rotational, as reported");
            assert_eq!(attachment(files, "vda").unwrap(), "virtio");
            assert_eq!(hardware_queues(files, "vda").unwrap(), "1");
            assert_eq!(blocks(files, "vda").unwrap(), "512, 4096 bytes");
            assert_eq!(
                (discard(files, "vda").unwrap(), mappings(files).unwrap()),
                ("yes".into(), "vg0-root".into())
            );
            assert_eq!(of(files, "vda", "device/model"), Err(Unavailable::Absent));
            assert_eq!(hardware_queues(files, "dm-0"), Err(Unavailable::Absent));
        });
    }

    #[test]
    fn a_path_is_on_the_deepest_and_last_mount() {
        let input = InventoryInput {
            files: Some("/dev/shm/x".into()),
            run_file: Some("/dev/shmx/r.plim".into()),
            ..InventoryInput::default()
        };
        testing::with_asked(FILES, &input, |files| {
            assert_eq!(place(files, input.files.as_deref()).unwrap(), "tmpfs at /dev/shm, tmpfs, rw,size=1k");
            assert_eq!(place(files, input.run_file.as_deref()).unwrap(), "ext4 at /, /dev/vda, rw,relatime");
            assert!(place(files, None).is_err());
            let mounts = mounts(files).unwrap();
            let remote = mounts.list(|mount| REMOTE.contains(&mount.kind.as_str()));
            assert_eq!(remote.unwrap(), "nfs4 at /mnt/my files, nas:/x, ro");
            assert!(mounts.list(|_| false).is_err());
        });
    }

    #[test]
    fn arrays_are_listed_by_kernel_name() {
        let mdstat = "Personalities : [raid1]\nmd0 : active raid1 sdb1[1] sda1[0]\n      1 blocks\n\nunused devices: <none>\n";
        assert_eq!(raid(mdstat).unwrap(), "md0: active raid1 sdb1[1] sda1[0]");
        assert_eq!(raid("Personalities :\nunused devices: <none>").unwrap(), "none");
    }
}
