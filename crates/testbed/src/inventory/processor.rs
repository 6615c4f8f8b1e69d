//! The processors.

use std::collections::BTreeSet;
use std::path::Path;

use model::FactSection;

use super::section as make_section;
use crate::system_file::read;

/// What `/proc/cpuinfo` tells.
#[derive(Debug, Default, PartialEq, Eq)]
struct CpuInfo {
    model: Option<String>,
    threads: usize,
    /// Pairs of socket and core; empty on machines that do not tell.
    cores: BTreeSet<(String, String)>,
    /// Whether the processor says that it runs below a hypervisor.
    is_virtual: bool,
}

/// Returns what is known about the processors.
pub fn section() -> FactSection {
    let info = parse_cpuinfo(&read("/proc/cpuinfo").unwrap_or_default());
    let sockets: BTreeSet<&String> = info.cores.iter().map(|(socket, _)| socket).collect();
    let count = |n: usize| (0 < n).then(|| n.to_string());
    let governors = governors();
    let caches = caches(Path::new("/sys/devices/system/cpu/cpu0/cache"));
    make_section(
        "Processor",
        [
            ("model", info.model.clone()),
            ("sockets", count(sockets.len())),
            ("cores", count(info.cores.len())),
            ("logical processors", count(info.threads)),
            ("caches", (!caches.is_empty()).then(|| caches.join(", "))),
            ("frequency governor", (!governors.is_empty()).then(|| governors.join(", "))),
            ("virtualization", virtualization(info.is_virtual)),
        ],
    )
}

/// Returns the processor's name; `None` if the machine does not tell.
pub fn model_name() -> Option<String> {
    parse_cpuinfo(&read("/proc/cpuinfo")?).model
}

/// Returns the frequency governors in use, each once; empty where frequency is not the kernel's affair.
pub fn governors() -> Vec<String> {
    let Ok(policies) = std::fs::read_dir("/sys/devices/system/cpu/cpufreq") else { return Vec::new() };
    let names = policies.filter_map(|policy| read(policy.ok()?.path().join("scaling_governor")));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Reads `/proc/cpuinfo`: one paragraph per logical processor. On ARM there is no name and no core; the part
/// number stands for the name.
fn parse_cpuinfo(text: &str) -> CpuInfo {
    let mut info = CpuInfo::default();
    for paragraph in text.split("\n\n") {
        let value = |key: &str| {
            let fields = paragraph.lines().filter_map(|line| line.split_once(':'));
            fields.into_iter().find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
        };
        if value("processor").is_none() {
            continue;
        }
        info.threads += 1;
        info.model = info.model.or_else(|| value("model name")).or_else(|| value("CPU part"));
        info.cores.extend(value("physical id").zip(value("core id")));
        info.is_virtual |=
            value("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    }
    info
}

/// Returns the caches that a CPU sees, `L1d 48K` and so on.
fn caches(directory: &Path) -> Vec<String> {
    let one = |index: usize| {
        let directory = directory.join(format!("index{index}"));
        let kind = match read(directory.join("type"))?.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        Some(format!("L{}{kind} {}", read(directory.join("level"))?, read(directory.join("size"))?))
    };
    (0..8).map_while(one).collect()
}

/// Returns by whom the machine is made up, if it is.
fn virtualization(says_so: bool) -> Option<String> {
    let vendor = read("/sys/class/dmi/id/sys_vendor");
    let product = read("/sys/class/dmi/id/product_name");
    let container = Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists();
    let mut words = Vec::new();
    if says_so {
        words.push("virtual machine".to_owned());
        words.extend(vendor.into_iter().chain(product));
    }
    if container {
        words.push("in a container".to_owned());
    }
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_of_one_core_are_one_core() {
        let thread = |number: u32| {
            format!(
                "processor\t: {number}\nmodel name\t: Xeon  E5\nphysical id\t: 0\ncore id\t\t: 3\nflags\t\t: fpu hypervisor\n"
            )
        };
        let info = parse_cpuinfo(&format!("{}\n{}\n", thread(0), thread(1)));
        assert_eq!((info.threads, info.cores.len(), info.is_virtual), (2, 1, true));
        assert_eq!(info.model.as_deref(), Some("Xeon  E5"));
    }

    /// Recorded from an ARM server, shortened: the last paragraph is not a processor.
    #[test]
    fn a_machine_that_tells_little_gives_little() {
        let text = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n\nRevision\t: 2\n";
        let info = parse_cpuinfo(text);
        assert_eq!((info.threads, info.cores.len(), info.is_virtual), (1, 0, false));
        assert_eq!(info.model.as_deref(), Some("0xd0c"));
        assert_eq!(parse_cpuinfo(""), CpuInfo::default());
    }
}
