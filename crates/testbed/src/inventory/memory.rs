//! Memory, its pages, swap, and how it is divided between nodes.

use units::Bytes;

use super::tree::{Found, Tree, Unread, joined, keyed};
use super::{Reader, each, one, smbios};

const EDAC: &str = "/sys/devices/system/edac/mc";
const HUGE_PAGES: &str = "/sys/kernel/mm/hugepages";
const NODES: &str = "/sys/devices/system/node";
const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage";

pub(super) const READERS: &[Reader] = &[
    one("numa.nodes", |tree| tree.text(format!("{NODES}/online"))),
    each("numa.cpus", |tree, node| tree.text(format!("{NODES}/{node}/cpulist"))),
    each("numa.memory", |tree, node| node_memory(&tree.text(format!("{NODES}/{node}/meminfo"))?)),
    each("numa.distance", |tree, node| tree.text(format!("{NODES}/{node}/distance"))),
    one("memory.total", |tree| meminfo(tree, "MemTotal")),
    one("memory.available", |tree| meminfo(tree, "MemAvailable")),
    one("memory.installed", smbios::memory_installed),
    one("memory.modules", smbios::memory_modules),
    one("memory.slots", smbios::memory_slots),
    one("memory.maximum", smbios::memory_maximum),
    one("memory.error-correction", smbios::memory_error_correction),
    one("memory.module-serials", smbios::memory_serials),
    one("memory.controllers", controllers),
    one("memory.errors", errors),
    one("memory.page-size", |_| Ok(Bytes(rustix::param::page_size() as u64).to_string())),
    one("memory.huge-page-size", |tree| meminfo(tree, "Hugepagesize")),
    one("memory.huge-pages", huge_pages),
    one("memory.transparent", |tree| Ok(chosen(&tree.text(format!("{TRANSPARENT}/enabled"))?))),
    one("memory.transparent-defrag", |tree| Ok(chosen(&tree.text(format!("{TRANSPARENT}/defrag"))?))),
    one("memory.transparent-shmem", |tree| Ok(chosen(&tree.text(format!("{TRANSPARENT}/shmem_enabled"))?))),
    one("memory.same-page-merging", |tree| Ok(merging(&tree.text("/sys/kernel/mm/ksm/run")?))),
    one("memory.swap", |tree| meminfo(tree, "SwapTotal")),
    one("memory.swap-devices", |tree| Ok(swap_devices(&tree.text("/proc/swaps")?))),
    one("memory.zswap", |tree| tree.text("/sys/module/zswap/parameters/enabled").map(|on| yes(&on))),
    one("memory.commit-limit", |tree| meminfo(tree, "CommitLimit")),
];

/// Returns the nodes.
pub fn nodes(tree: &Tree) -> Vec<String> {
    let mut names = tree.names(NODES);
    names.retain(|name| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok()));
    names
}

fn meminfo(tree: &Tree, key: &str) -> Found {
    let size = parse_memory(&tree.text("/proc/meminfo")?, key);
    size.map(|bytes| bytes.to_string()).ok_or(Unread::because("the kernel does not tell"))
}

/// Reads one line of `/proc/meminfo`, whose `kB` are 1024 bytes.
fn parse_memory(meminfo: &str, key: &str) -> Option<Bytes> {
    let number = keyed(meminfo, key)?.strip_suffix("kB")?.trim();
    Some(Bytes(number.parse::<u64>().ok()? * 1024))
}

/// Lines begin with the node: `Node 0 MemTotal:  16384 kB`.
fn node_memory(meminfo: &str) -> Found {
    let total =
        meminfo.lines().find_map(|line| parse_memory(line.trim_start_matches(|c| c != 'M'), "MemTotal"));
    total.map(|bytes| bytes.to_string()).ok_or(Unread::because("the kernel does not tell"))
}

/// Returns the word in brackets: of `always [madvise] never` the second.
pub fn chosen(choices: &str) -> String {
    let words = choices.split_ascii_whitespace();
    let word = words.into_iter().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    word.unwrap_or(choices).to_owned()
}

fn merging(run: &str) -> String {
    if run == "1" { "on" } else { "off" }.to_owned()
}

/// Parameters of modules are `Y` and `N`.
pub fn yes(parameter: &str) -> String {
    if ["Y", "1"].contains(&parameter) { "on" } else { "off" }.to_owned()
}

/// Lists huge pages by their sizes: `0 × 2048kB, 4 × 1048576kB`.
fn huge_pages(tree: &Tree) -> Found {
    let pool = |name: &String| {
        let n = tree.text(format!("{HUGE_PAGES}/{name}/nr_hugepages")).ok()?;
        Some(format!("{n} × {}", name.strip_prefix("hugepages-")?))
    };
    let pools: Vec<String> = tree.names(HUGE_PAGES).iter().filter_map(pool).collect();
    joined(&pools, "the kernel has none")
}

/// Lists the lines of `/proc/swaps` behind its head: name, kind, size in KiB.
fn swap_devices(swaps: &str) -> String {
    let device = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, kind, kib, ..] = words[..] else { return None };
        Some(format!("{name} ({kind}, {})", Bytes(kib.parse::<u64>().ok()? << 10)))
    };
    let devices: Vec<String> = swaps.lines().skip(1).filter_map(device).collect();
    if devices.is_empty() { "none".to_owned() } else { devices.join(", ") }
}

fn controllers(tree: &Tree) -> Found {
    let name = |mc: &String| tree.text(format!("{EDAC}/{mc}/mc_name")).ok();
    let names: Vec<String> = tree.names(EDAC).iter().filter_map(name).collect();
    joined(&names, "the kernel watches none")
}

fn errors(tree: &Tree) -> Found {
    let counts = |file: &str| -> Vec<u64> {
        let count = |mc: &String| tree.number(format!("{EDAC}/{mc}/{file}")).ok();
        tree.names(EDAC).iter().filter_map(count).collect()
    };
    let (corrected, not) = (counts("ce_count"), counts("ue_count"));
    match corrected.is_empty() {
        true => Err(Unread::because("the kernel watches no memory controller")),
        false => {
            let (corrected, not): (u64, u64) = (corrected.iter().sum(), not.iter().sum());
            Ok(format!("{corrected} corrected, {not} not"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::fake;
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
    fn a_choice_is_the_word_in_brackets() {
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
        fake::with(&files, |tree| {
            assert_eq!(huge_pages(tree).unwrap(), "0 × 1048576kB, 512 × 2048kB");
            assert_eq!(controllers(tree).unwrap(), "Skylake Socket#0 IMC#0");
            assert_eq!(errors(tree).unwrap(), "3 corrected, 0 not");
            assert_eq!(nodes(tree), ["node0"]);
        });
        let swaps = "Filename\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/vda5   partition\t1048576\t0\t-2\n";
        assert_eq!(swap_devices(swaps), "/dev/vda5 (partition, 1.0 GiB)");
        assert_eq!(swap_devices("Filename\tType"), "none");
    }
}
