//! `/proc/diskstats`: whole disks, and devices built from them.

use model::{Counter, Reading};

/// The sector size in which the kernel counts, whatever the device has.
///
/// Source: Linux, Documentation/block/stat.rst.
const SECTOR_BYTES: u64 = 512;

const MICROS_PER_MILLI: u64 = 1000;

/// The columns after a device's name, with their factors.
///
/// Source: Linux, Documentation/admin-guide/iostats.rst, fields 1, 3, 4, 5, 7, 8, 10, 11.
const COLUMNS: [(usize, Counter, u64); 8] = [
    (0, Counter::DiskReads, 1),
    (2, Counter::DiskReadBytes, SECTOR_BYTES),
    (3, Counter::DiskReadTime, MICROS_PER_MILLI),
    (4, Counter::DiskWrites, 1),
    (6, Counter::DiskWriteBytes, SECTOR_BYTES),
    (7, Counter::DiskWriteTime, MICROS_PER_MILLI),
    (9, Counter::DiskBusy, MICROS_PER_MILLI),
    (10, Counter::DiskQueueTime, MICROS_PER_MILLI),
];

/// Parses `diskstats`. Left out are partitions, whose disk is counted, memory-backed disks, and devices that
/// were never used, such as free loop devices.
pub(crate) fn parse(text: &str, into: &mut Vec<Reading>) {
    let mut disk = "";
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace().skip(2);
        let Some(name) = fields.next() else { continue };
        if is_partition(name, disk) {
            continue;
        }
        // The partitions of a disk follow it.
        disk = name;
        let numbers: Vec<u64> = fields.map_while(|field| field.parse().ok()).take(11).collect();
        let was_used = numbers.iter().any(|number| *number != 0);
        if numbers.len() == 11 && was_used && !is_memory(name) {
            let readings = COLUMNS.iter().map(|(column, counter, scale)| {
                Reading::of(*counter, name, numbers[*column].saturating_mul(*scale))
            });
            into.extend(readings);
        }
    }
}

fn is_memory(name: &str) -> bool {
    name.starts_with("ram") || name.starts_with("zram")
}

/// Returns whether a name is that of a partition: `sda1` of `sda`, `nvme0n1p1` of `nvme0n1`.
pub(crate) fn is_partition(name: &str, disk: &str) -> bool {
    let Some(rest) = name.strip_prefix(disk).filter(|_| !disk.is_empty()) else { return false };
    let number =
        if disk.ends_with(|c: char| c.is_ascii_digit()) { rest.strip_prefix('p') } else { Some(rest) };
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use Counter::*;

    #[test]
    fn used_whole_disks_are_parsed() {
        let text = "   1       0 ram0 5 0 5 5 0 0 0 0 0 5 5 0 0 0 0 0 0\n\
                    \x20  7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
                    \x20254       0 vda 6485068 251498 303240018 11212003 756894 601168 247182544 1832333 2 526584 13153637 476653 40 192809720 96762 112562 12537\n\
                    \x20254       1 vda1 6485000 0 303240000 11212000 756890 0 247182540 1832330 0 526580 13153630\n\
                    \x20254      16 vdb 1 2 3\n";
        check(
            parse,
            text,
            &[
                (DiskReads, "vda", 6_485_068),
                (DiskReadBytes, "vda", 155_258_889_216),
                (DiskReadTime, "vda", 11_212_003_000),
                (DiskWrites, "vda", 756_894),
                (DiskWriteBytes, "vda", 126_557_462_528),
                (DiskWriteTime, "vda", 1_832_333_000),
                (DiskBusy, "vda", 526_584_000),
                (DiskQueueTime, "vda", 13_153_637_000),
            ],
        );
    }

    #[test]
    fn partitions_are_recognized_by_name() {
        for (name, disk, expected) in [
            ("sda1", "sda", true),
            ("nvme0n1p2", "nvme0n1", true),
            ("mmcblk0p1", "mmcblk0", true),
            ("sdaa", "sda", false),
            ("nvme0n10", "nvme0n1", false),
            ("dm-10", "dm-1", false),
            ("loop1", "loop0", false),
            ("mmcblk0boot0", "mmcblk0", false),
            ("sda", "", false),
            ("7", "", false),
        ] {
            assert_eq!(is_partition(name, disk), expected, "{name} of {disk}");
        }
    }
}
