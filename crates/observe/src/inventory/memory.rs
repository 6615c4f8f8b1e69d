//! Memory, pages, swap, and NUMA nodes.

use units::Bytes;

use super::machine_files::{FieldValue, MachineFiles, Unavailable, joined, keyed};
use super::{FieldReader, each, one, smbios};

const EDAC: &str = "/sys/devices/system/edac/mc";
const HUGE_PAGES: &str = "/sys/kernel/mm/hugepages";
const NODES: &str = "/sys/devices/system/node";
const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage";

pub(super) const READERS: &[FieldReader] = &[
    one("numa.nodes", |files| files.text(format!("{NODES}/online"))),
    each("numa.cpus", |files, node| files.text(format!("{NODES}/{node}/cpulist"))),
    each("numa.memory", |files, node| node_memory(&files.text(format!("{NODES}/{node}/meminfo"))?)),
    each("numa.distance", |files, node| files.text(format!("{NODES}/{node}/distance"))),
    one("memory.total", |files| meminfo(files, "MemTotal")),
    one("memory.available", |files| meminfo(files, "MemAvailable")),
    one("memory.installed", smbios::memory_installed),
    one("memory.modules", smbios::memory_modules),
    one("memory.slots", smbios::memory_slots),
    one("memory.maximum", smbios::memory_maximum),
    one("memory.error-correction", smbios::memory_error_correction),
    one("memory.module-serials", smbios::memory_serials),
    one("memory.controllers", controllers),
    one("memory.errors", errors),
    one("memory.page-size", |_| Ok(Bytes(rustix::param::page_size() as u64).to_string())),
    one("memory.huge-page-size", |files| meminfo(files, "Hugepagesize")),
    one("memory.huge-pages", huge_pages),
    one("memory.transparent", |files| Ok(chosen(&files.text(format!("{TRANSPARENT}/enabled"))?))),
    one("memory.transparent-defrag", |files| Ok(chosen(&files.text(format!("{TRANSPARENT}/defrag"))?))),
    one("memory.transparent-shmem", |files| Ok(chosen(&files.text(format!("{TRANSPARENT}/shmem_enabled"))?))),
    one("memory.same-page-merging", |files| Ok(merging(&files.text("/sys/kernel/mm/ksm/run")?))),
    one("memory.swap", |files| meminfo(files, "SwapTotal")),
    one("memory.swap-devices", |files| Ok(swap_devices(&files.text("/proc/swaps")?))),
    one("memory.zswap", |files| files.text("/sys/module/zswap/parameters/enabled").map(|on| yes(&on))),
    one("memory.commit-limit", |files| meminfo(files, "CommitLimit")),
];

/// Returns the NUMA nodes.
pub(super) fn nodes(files: &MachineFiles) -> Vec<String> {
    let mut names = files.names(NODES);
    names.retain(|name| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok()));
    names
}

fn meminfo(files: &MachineFiles, key: &str) -> FieldValue {
    let size = parse_memory(&files.text("/proc/meminfo")?, key);
    size.map(|bytes| bytes.to_string()).ok_or(Unavailable::because("not reported by the kernel"))
}

/// Parses one line of `/proc/meminfo`, whose `kB` are 1024 bytes.
fn parse_memory(meminfo: &str, key: &str) -> Option<Bytes> {
    let number = keyed(meminfo, key)?.strip_suffix("kB")?.trim();
    Some(Bytes(number.parse::<u64>().ok()? * 1024))
}

/// Parses lines that begin with the node: `Node 0 MemTotal:  16384 kB`.
fn node_memory(meminfo: &str) -> FieldValue {
    let total =
        meminfo.lines().find_map(|line| parse_memory(line.trim_start_matches(|c| c != 'M'), "MemTotal"));
    total.map(|bytes| bytes.to_string()).ok_or(Unavailable::because("not reported by the kernel"))
}

/// Returns the word in brackets: `madvise` in `always [madvise] never`.
pub(super) fn chosen(choices: &str) -> String {
    let words = choices.split_ascii_whitespace();
    let word = words.into_iter().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    word.unwrap_or(choices).to_owned()
}

fn merging(run: &str) -> String {
    if run == "1" { "on" } else { "off" }.to_owned()
}

/// Converts a module parameter, `Y` or `N`.
pub(super) fn yes(parameter: &str) -> String {
    if ["Y", "1"].contains(&parameter) { "on" } else { "off" }.to_owned()
}

/// Lists huge pages by size: `0 × 2048kB, 4 × 1048576kB`.
fn huge_pages(files: &MachineFiles) -> FieldValue {
    let pool = |name: &String| {
        let n = files.text(format!("{HUGE_PAGES}/{name}/nr_hugepages")).ok()?;
        Some(format!("{n} × {}", name.strip_prefix("hugepages-")?))
    };
    let pools: Vec<String> = files.names(HUGE_PAGES).iter().filter_map(pool).collect();
    joined(&pools, "not supported by the kernel")
}

/// Lists the lines of `/proc/swaps` after its header: name, kind, size in KiB.
fn swap_devices(swaps: &str) -> String {
    let device = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, kind, kib, ..] = words[..] else { return None };
        Some(format!("{name} ({kind}, {})", Bytes(kib.parse::<u64>().ok()? << 10)))
    };
    let devices: Vec<String> = swaps.lines().skip(1).filter_map(device).collect();
    if devices.is_empty() { "none".to_owned() } else { devices.join(", ") }
}

fn controllers(files: &MachineFiles) -> FieldValue {
    let name = |mc: &String| files.text(format!("{EDAC}/{mc}/mc_name")).ok();
    let names: Vec<String> = files.names(EDAC).iter().filter_map(name).collect();
    joined(&names, "none monitored by the kernel")
}

fn errors(files: &MachineFiles) -> FieldValue {
    let counts = |file: &str| -> Vec<u64> {
        let count = |mc: &String| files.number(format!("{EDAC}/{mc}/{file}")).ok();
        files.names(EDAC).iter().filter_map(count).collect()
    };
    let corrected = counts("ce_count");
    let not = counts("ue_count");
    if corrected.is_empty() {
        Err(Unavailable::because("no memory controller is monitored by the kernel"))
    } else {
        let corrected: u64 = corrected.iter().sum();
        let not: u64 = not.iter().sum();
        Ok(format!("{corrected} corrected, {not} not"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
    use super::*;

    #[test]
    fn sizes_are_in_kib() {
        let meminfo = "MemTotal:       16384 kB\nMemTotalX: 1 kB\n";
        assert_eq!(parse_memory(meminfo, "MemTotal"), Some(Bytes(16384 * 1024)));
        assert_eq!(parse_memory(meminfo, "Mem"), None);
        let node = "Node 0 MemTotal:       16384 kB\nNode 0 MemFree: 5 kB\n";
        assert_eq!(node_memory(node).unwrap(), "16.0 MiB");
        assert!(node_memory("Node 0 MemFree: 5 kB").is_err());
    }

    #[test]
    fn the_selected_choice_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("none"), "none");
    }

    #[test]
    fn pools_swap_and_errors_are_listed() {
        let files = [
            ("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n"),
            ("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n"),
            ("/sys/devices/system/edac/mc/mc0/mc_name", "Skylake Socket#0 IMC#0\n"),
            ("/sys/devices/system/edac/mc/mc0/ce_count", "3\n"),
            ("/sys/devices/system/edac/mc/mc0/ue_count", "0\n"),
            ("/sys/devices/system/edac/mc/power/x", ""),
            ("/sys/devices/system/node/node0/x", ""),
            ("/sys/devices/system/node/power/x", ""),
        ];
        testing::with(&files, |files| {
            assert_eq!(huge_pages(files).unwrap(), "0 × 1048576kB, 512 × 2048kB");
            assert_eq!(controllers(files).unwrap(), "Skylake Socket#0 IMC#0");
            assert_eq!(errors(files).unwrap(), "3 corrected, 0 not");
            assert_eq!(nodes(files), ["node0"]);
        });
        let swaps = "Filename\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/vda5   partition\t1048576\t0\t-2\n";
        assert_eq!(swap_devices(swaps), "/dev/vda5 (partition, 1.0 GiB)");
        assert_eq!(swap_devices("Filename\tType"), "none");
    }
}
