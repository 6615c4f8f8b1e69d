//! The processors: what they are, how they are made up, how fast they run, and what the kernel does about their bugs.

use std::collections::BTreeSet;

use super::tree::{Found, Tree, Unread, joined, keyed};
use super::{Reader, each, one, smbios};
use crate::system_file::read;

const CPUS: &str = "/sys/devices/system/cpu";
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

/// Options of the kernel's command line that concern mitigations, by their beginnings.
/// Source: Linux, Documentation/admin-guide/kernel-parameters.txt.
const MITIGATION_OPTIONS: &[&str] = &[
    "mitigations=",
    "spectre_v2",
    "nospectre",
    "spec_store_bypass",
    "nospec_store",
    "pti=",
    "nopti",
    "kpti=",
    "l1tf=",
    "mds=",
    "tsx",
    "retbleed=",
    "mmio_stale_data=",
    "gather_data_sampling=",
    "reg_file_data_sampling=",
    "spec_rstack_overflow=",
    "srbds=",
    "kvm.nx_huge_pages",
    "spectre_bhi=",
    "indirect_target_selection=",
    "vmscape=",
];

pub(super) const READERS: &[Reader] = &[
    one("processor.model", |tree| info(tree)?.model.ok_or(NOT_TOLD)),
    one("processor.vendor", |tree| first_of(tree, &["vendor_id", "CPU implementer"])),
    one("processor.signature", signature),
    one("processor.microcode", |tree| first_of(tree, &["microcode"])),
    one("processor.socket", smbios::processor_sockets),
    one("processor.rated-speed", smbios::processor_speed),
    one("processor.sockets", |tree| count(info(tree)?.sockets())),
    one("processor.cores", |tree| count(info(tree)?.cores.len())),
    one("processor.threads", |tree| count(info(tree)?.threads)),
    one("processor.siblings", |tree| cpu0(tree, "topology/thread_siblings_list")),
    one("processor.die", |tree| cpu0(tree, "topology/die_cpus_list")),
    one("processor.smt", |tree| tree.text(format!("{CPUS}/smt/control"))),
    one("processor.online", |tree| tree.text(format!("{CPUS}/online"))),
    one("processor.offline", |tree| none_if_empty(tree.text(format!("{CPUS}/offline")))),
    one("processor.isolated", |tree| none_if_empty(tree.text(format!("{CPUS}/isolated")))),
    one("processor.nohz-full", |tree| none_if_empty(tree.text(format!("{CPUS}/nohz_full")))),
    one("processor.l1d", |tree| cache(tree, "1", &["Data", "Unified"])),
    one("processor.l1i", |tree| cache(tree, "1", &["Instruction"])),
    one("processor.l2", |tree| cache(tree, "2", &["Unified", "Data"])),
    one("processor.l3", |tree| cache(tree, "3", &["Unified"])),
    one("processor.cache-line", cache_line),
    one("processor.frequency", |tree| Ok(first_of(tree, &["cpu MHz"])? + " MHz")),
    one("processor.frequency-base", |tree| megahertz(tree, "base_frequency")),
    one("processor.frequency-min", |tree| megahertz(tree, "cpuinfo_min_freq")),
    one("processor.frequency-max", |tree| megahertz(tree, "cpuinfo_max_freq")),
    one("processor.governor", |tree| {
        joined(&governors_of(tree), "frequency is not the kernel's affair here")
    }),
    one("processor.scaling-driver", |tree| cpu0(tree, "cpufreq/scaling_driver")),
    one("processor.energy-preference", |tree| cpu0(tree, "cpufreq/energy_performance_preference")),
    one("processor.turbo", turbo),
    one("processor.pstate", pstate),
    one("processor.idle-driver", |tree| tree.text(format!("{CPUS}/cpuidle/current_driver"))),
    one("processor.idle-governor", |tree| tree.text(format!("{CPUS}/cpuidle/current_governor"))),
    one("processor.idle-states", idle_states),
    one("processor.address-sizes", |tree| first_of(tree, &["address sizes"])),
    one("processor.bogomips", |tree| first_of(tree, &["bogomips", "BogoMIPS"])),
    one("processor.flags", |tree| first_of(tree, &["flags", "Features"])),
    one("processor.bugs", |tree| first_of(tree, &["bugs"])),
    each("mitigation.state", |tree, name| tree.text(format!("{VULNERABILITIES}/{name}"))),
    one("mitigation.command-line", mitigation_options),
];

const NOT_TOLD: Unread = Unread::Because(std::borrow::Cow::Borrowed("the processor does not tell"));

/// What `/proc/cpuinfo` tells.
#[derive(Debug, Default, PartialEq, Eq)]
struct CpuInfo {
    model: Option<String>,
    threads: usize,
    /// Pairs of socket and core; empty on machines that do not tell.
    cores: BTreeSet<(String, String)>,
}

impl CpuInfo {
    fn sockets(&self) -> usize {
        self.cores.iter().map(|(socket, _)| socket).collect::<BTreeSet<_>>().len()
    }
}

fn info(tree: &Tree) -> Result<CpuInfo, Unread> {
    tree.text("/proc/cpuinfo").map(|text| parse_cpuinfo(&text))
}

/// Returns the processor's name; `None` if the machine does not tell.
pub fn model_name() -> Option<String> {
    parse_cpuinfo(&read("/proc/cpuinfo")?).model
}

/// Returns the frequency governors in use, each once; empty where frequency is not the kernel's affair.
pub fn governors() -> Vec<String> {
    governors_of(&Tree::of_this_machine(&super::InventoryInput::default()))
}

fn governors_of(tree: &Tree) -> Vec<String> {
    let policies = tree.names("/sys/devices/system/cpu/cpufreq").into_iter();
    let names =
        policies.filter_map(|policy| tree.text(format!("{CPUS}/cpufreq/{policy}/scaling_governor")).ok());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Reads `/proc/cpuinfo`: one paragraph per logical processor. On ARM there is no name and no core; the part
/// number stands for the name.
fn parse_cpuinfo(text: &str) -> CpuInfo {
    let mut info = CpuInfo::default();
    for paragraph in text.split("\n\n").filter(|paragraph| keyed(paragraph, "processor").is_some()) {
        let value = |key: &str| keyed(paragraph, key).map(str::to_owned);
        info.threads += 1;
        info.model = info.model.or_else(|| value("model name")).or_else(|| value("CPU part"));
        info.cores.extend(value("physical id").zip(value("core id")));
    }
    info
}

/// Returns whether the first processor has a flag.
pub fn has_flag(cpuinfo: &str, flag: &str) -> bool {
    keyed(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|one| one == flag))
}

/// Returns the first of several keys that the first processor has.
fn first_of(tree: &Tree, keys: &[&str]) -> Found {
    let text = tree.text("/proc/cpuinfo")?;
    let value = keys.iter().find_map(|key| keyed(&text, key)).filter(|value| !value.is_empty());
    value.map(str::to_owned).ok_or(NOT_TOLD)
}

fn signature(tree: &Tree) -> Found {
    let text = tree.text("/proc/cpuinfo")?;
    let keys = [
        ("cpu family", "family"),
        ("model", "model"),
        ("stepping", "stepping"),
        ("CPU architecture", "architecture"),
        ("CPU variant", "variant"),
        ("CPU part", "part"),
        ("CPU revision", "revision"),
    ];
    let known = keys.iter().filter_map(|(key, name)| Some(format!("{name} {}", keyed(&text, key)?)));
    joined(&known.collect::<Vec<_>>(), "the processor does not tell")
}

fn count(n: usize) -> Found {
    if n == 0 { Err(NOT_TOLD) } else { Ok(n.to_string()) }
}

fn cpu0(tree: &Tree, file: &str) -> Found {
    tree.text(format!("{CPUS}/cpu0/{file}"))
}

/// The kernel writes an empty list where it has none to name.
fn none_if_empty(list: Found) -> Found {
    match list {
        Err(Unread::Empty) => Ok("none".to_owned()),
        Ok(list) if list == "(null)" => Ok("none".to_owned()),
        other => other,
    }
}

/// Describes a cache that CPU 0 sees: `48K, 12 ways, of CPUs 0`.
fn cache(tree: &Tree, level: &str, kinds: &[&str]) -> Found {
    let directory = format!("{CPUS}/cpu0/cache");
    for index in tree.names(&directory) {
        let file = |name: &str| tree.text(format!("{directory}/{index}/{name}"));
        let is_wanted = file("level").is_ok_and(|found| found == level)
            && file("type").is_ok_and(|kind| kinds.contains(&kind.as_str()));
        if is_wanted {
            let ways = file("ways_of_associativity").map(|ways| format!(", {ways} ways"));
            let shared = file("shared_cpu_list").map(|cpus| format!(", of CPUs {cpus}"));
            return Ok(file("size")? + &ways.unwrap_or_default() + &shared.unwrap_or_default());
        }
    }
    Err(Unread::because("the kernel knows of none"))
}

fn cache_line(tree: &Tree) -> Found {
    Ok(tree.text(format!("{CPUS}/cpu0/cache/index0/coherency_line_size"))? + " bytes")
}

fn megahertz(tree: &Tree, file: &str) -> Found {
    let kilohertz = tree.number(format!("{CPUS}/cpu0/cpufreq/{file}"))?;
    Ok(format!("{} MHz", kilohertz / 1000))
}

fn turbo(tree: &Tree) -> Found {
    let on = |on: bool| if on { "on" } else { "off" }.to_owned();
    match tree.text(format!("{CPUS}/intel_pstate/no_turbo")) {
        Ok(no_turbo) => Ok(on(no_turbo == "0")),
        Err(_) => Ok(on(tree.text(format!("{CPUS}/cpufreq/boost"))? == "1")),
    }
}

fn pstate(tree: &Tree) -> Found {
    let of = |driver: &str| Ok(format!("{driver}: {}", tree.text(format!("{CPUS}/{driver}/status"))?));
    of("intel_pstate").or_else(|_: Unread| of("amd_pstate"))
}

fn idle_states(tree: &Tree) -> Found {
    let directory = format!("{CPUS}/cpu0/cpuidle");
    let state = |name: &String| {
        let title = tree.text(format!("{directory}/{name}/name")).ok()?;
        let is_off = tree.text(format!("{directory}/{name}/disable")).is_ok_and(|off| off != "0");
        Some(if is_off { format!("{title} (disabled)") } else { title })
    };
    let states: Vec<String> = tree.names(&directory).iter().filter_map(state).collect();
    joined(&states, "the kernel knows of none")
}

/// Returns the names of the vulnerabilities that the kernel knows.
pub fn vulnerabilities(tree: &Tree) -> Vec<String> {
    tree.names(VULNERABILITIES)
}

fn mitigation_options(tree: &Tree) -> Found {
    let line = tree.text("/proc/cmdline")?;
    let is_one = |word: &&str| MITIGATION_OPTIONS.iter().any(|option| word.starts_with(option));
    let words: Vec<&str> = line.split_ascii_whitespace().filter(is_one).collect();
    Ok(if words.is_empty() { "nothing".to_owned() } else { words.join(" ") })
}

#[cfg(test)]
mod tests {
    use super::super::tree::fake;
    use super::*;

    #[test]
    fn two_threads_of_one_core_are_one_core() {
        let thread = |number: u32| {
            format!(
                "processor\t: {number}\nmodel name\t: Xeon  E5\nphysical id\t: 0\ncore id\t\t: 3\nflags\t\t: fpu hypervisor\n"
            )
        };
        let text = format!("{}\n{}\n", thread(0), thread(1));
        let info = parse_cpuinfo(&text);
        assert_eq!((info.threads, info.cores.len(), info.sockets()), (2, 1, 1));
        assert_eq!(info.model.as_deref(), Some("Xeon  E5"));
        assert!(has_flag(&text, "hypervisor") && !has_flag(&text, "fp"));
    }

    /// Recorded from an ARM server, shortened: the last paragraph is not a processor.
    #[test]
    fn a_machine_that_tells_little_gives_little() {
        let text = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n\nRevision\t: 2\n";
        let info = parse_cpuinfo(text);
        assert_eq!((info.threads, info.cores.len()), (1, 0));
        assert_eq!(info.model.as_deref(), Some("0xd0c"));
        assert_eq!(parse_cpuinfo(""), CpuInfo::default());
        fake::with(&[("/proc/cpuinfo", text)], |tree| {
            assert_eq!(signature(tree).unwrap(), "part 0xd0c");
            assert_eq!(first_of(tree, &["bogomips", "BogoMIPS"]).unwrap(), "50.00");
            assert_eq!(first_of(tree, &["microcode"]), Err(NOT_TOLD));
        });
    }

    #[test]
    fn caches_frequencies_and_idle_states_are_described() {
        let files = [
            ("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "64\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index3/level", "3\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index3/type", "Unified\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index3/ways_of_associativity", "16\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "0-15\n"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2300000\n"),
            ("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"),
            ("/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n"),
            ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("/sys/devices/system/cpu/intel_pstate/status", "active\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n"),
            ("/sys/devices/system/cpu/isolated", "\n"),
        ];
        fake::with(&files, |tree| {
            assert_eq!(cache(tree, "1", &["Data"]).unwrap(), "48K");
            assert_eq!(cache(tree, "3", &["Unified"]).unwrap(), "32768K, 16 ways, of CPUs 0-15");
            assert!(cache(tree, "2", &["Unified"]).is_err());
            assert_eq!(cache_line(tree).unwrap(), "64 bytes");
            assert_eq!(megahertz(tree, "base_frequency").unwrap(), "2300 MHz");
            assert_eq!(governors_of(tree), ["performance"]);
            assert_eq!(
                (turbo(tree).unwrap(), pstate(tree).unwrap()),
                ("off".into(), "intel_pstate: active".into())
            );
            assert_eq!(idle_states(tree).unwrap(), "POLL, C6 (disabled)");
            assert_eq!(none_if_empty(tree.text("/sys/devices/system/cpu/isolated")).unwrap(), "none");
        });
    }

    #[test]
    fn options_about_mitigations_are_picked_from_the_command_line() {
        let line = |text| fake::with(&[("/proc/cmdline", text)], mitigation_options);
        assert_eq!(line("quiet mitigations=off nopti root=/dev/vda\n").unwrap(), "mitigations=off nopti");
        assert_eq!(line("quiet").unwrap(), "nothing");
    }
}
