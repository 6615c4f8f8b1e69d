//! Processors: model, topology, frequency, and mitigations.

use std::collections::BTreeSet;

use super::machine_files::{FieldValue, MachineFiles, Unavailable, joined, keyed};
use super::{FieldReader, each, one, smbios};
use crate::kernel_file::read;

const CPUS: &str = "/sys/devices/system/cpu";
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

/// Prefixes of kernel command-line options that concern mitigations. Source: Linux,
/// Documentation/admin-guide/kernel-parameters.txt.
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

pub(super) const READERS: &[FieldReader] = &[
    one("processor.model", |files| info(files)?.model.ok_or(NOT_REPORTED)),
    one("processor.vendor", |files| first_of(files, &["vendor_id", "CPU implementer"])),
    one("processor.signature", signature),
    one("processor.microcode", |files| first_of(files, &["microcode"])),
    one("processor.socket", smbios::processor_sockets),
    one("processor.rated-speed", smbios::processor_speed),
    one("processor.sockets", |files| count(info(files)?.sockets())),
    one("processor.cores", |files| count(info(files)?.cores.len())),
    one("processor.threads", |files| count(info(files)?.threads)),
    one("processor.siblings", |files| cpu0(files, "topology/thread_siblings_list")),
    one("processor.die", |files| cpu0(files, "topology/die_cpus_list")),
    one("processor.smt", |files| files.text(format!("{CPUS}/smt/control"))),
    one("processor.online", |files| files.text(format!("{CPUS}/online"))),
    one("processor.offline", |files| none_if_empty(files.text(format!("{CPUS}/offline")))),
    one("processor.isolated", |files| none_if_empty(files.text(format!("{CPUS}/isolated")))),
    one("processor.nohz-full", |files| none_if_empty(files.text(format!("{CPUS}/nohz_full")))),
    one("processor.l1d", |files| cache(files, "1", &["Data", "Unified"])),
    one("processor.l1i", |files| cache(files, "1", &["Instruction"])),
    one("processor.l2", |files| cache(files, "2", &["Unified", "Data"])),
    one("processor.l3", |files| cache(files, "3", &["Unified"])),
    one("processor.cache-line", cache_line),
    one("processor.frequency", |files| Ok(first_of(files, &["cpu MHz"])? + " MHz")),
    one("processor.frequency-base", |files| megahertz(files, "base_frequency")),
    one("processor.frequency-min", |files| megahertz(files, "cpuinfo_min_freq")),
    one("processor.frequency-max", |files| megahertz(files, "cpuinfo_max_freq")),
    one("processor.governor", |files| {
        joined(&governors_of(files), "frequency is not controlled by this kernel")
    }),
    one("processor.scaling-driver", |files| cpu0(files, "cpufreq/scaling_driver")),
    one("processor.energy-preference", |files| cpu0(files, "cpufreq/energy_performance_preference")),
    one("processor.turbo", turbo),
    one("processor.pstate", pstate),
    one("processor.idle-driver", |files| files.text(format!("{CPUS}/cpuidle/current_driver"))),
    one("processor.idle-governor", |files| files.text(format!("{CPUS}/cpuidle/current_governor"))),
    one("processor.idle-states", idle_states),
    one("processor.address-sizes", |files| first_of(files, &["address sizes"])),
    one("processor.bogomips", |files| first_of(files, &["bogomips", "BogoMIPS"])),
    one("processor.flags", |files| first_of(files, &["flags", "Features"])),
    one("processor.bugs", |files| first_of(files, &["bugs"])),
    each("mitigation.state", |files, name| files.text(format!("{VULNERABILITIES}/{name}"))),
    one("mitigation.command-line", mitigation_options),
];

const NOT_REPORTED: Unavailable =
    Unavailable::Because(std::borrow::Cow::Borrowed("not reported by the processor"));

/// The data of `/proc/cpuinfo`.
#[derive(Debug, Default, PartialEq, Eq)]
struct CpuInfo {
    model: Option<String>,
    threads: usize,
    /// Pairs of socket and core; empty on machines that do not report them.
    cores: BTreeSet<(String, String)>,
}

impl CpuInfo {
    fn sockets(&self) -> usize {
        self.cores.iter().map(|(socket, _)| socket).collect::<BTreeSet<_>>().len()
    }
}

fn info(files: &MachineFiles) -> Result<CpuInfo, Unavailable> {
    files.text("/proc/cpuinfo").map(|text| parse_cpuinfo(&text))
}

/// Returns the processor's name; `None` if it is not reported.
pub fn model_name() -> Option<String> {
    parse_cpuinfo(&read("/proc/cpuinfo")?).model
}

/// Returns the frequency governors in use, without duplicates; empty if the kernel does not control the
/// frequency.
pub(crate) fn governors() -> Vec<String> {
    governors_of(&MachineFiles::of_this_machine(&super::InventoryInput::default()))
}

fn governors_of(files: &MachineFiles) -> Vec<String> {
    let policies = files.names("/sys/devices/system/cpu/cpufreq").into_iter();
    let names =
        policies.filter_map(|policy| files.text(format!("{CPUS}/cpufreq/{policy}/scaling_governor")).ok());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Parses `/proc/cpuinfo`: one paragraph per logical processor. On ARM there is no name and no core; the part
/// number replaces the name.
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
pub(super) fn has_flag(cpuinfo: &str, flag: &str) -> bool {
    keyed(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|one| one == flag))
}

/// Returns the first of several keys that the first processor has.
fn first_of(files: &MachineFiles, keys: &[&str]) -> FieldValue {
    let text = files.text("/proc/cpuinfo")?;
    let value = keys.iter().find_map(|key| keyed(&text, key)).filter(|value| !value.is_empty());
    value.map(str::to_owned).ok_or(NOT_REPORTED)
}

fn signature(files: &MachineFiles) -> FieldValue {
    let text = files.text("/proc/cpuinfo")?;
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
    joined(&known.collect::<Vec<_>>(), "not reported by the processor")
}

fn count(n: usize) -> FieldValue {
    if n == 0 { Err(NOT_REPORTED) } else { Ok(n.to_string()) }
}

fn cpu0(files: &MachineFiles, file: &str) -> FieldValue {
    files.text(format!("{CPUS}/cpu0/{file}"))
}

/// Replaces an empty list, which the kernel writes if there are none.
fn none_if_empty(list: FieldValue) -> FieldValue {
    match list {
        Err(Unavailable::Empty) => Ok("none".to_owned()),
        Ok(list) if list == "(null)" => Ok("none".to_owned()),
        other => other,
    }
}

/// Describes a cache of CPU 0: `48K, 12 ways, of CPUs 0`.
fn cache(files: &MachineFiles, level: &str, kinds: &[&str]) -> FieldValue {
    let directory = format!("{CPUS}/cpu0/cache");
    for index in files.names(&directory) {
        let file = |name: &str| files.text(format!("{directory}/{index}/{name}"));
        let is_wanted = file("level").is_ok_and(|found| found == level)
            && file("type").is_ok_and(|kind| kinds.contains(&kind.as_str()));
        if is_wanted {
            let ways = file("ways_of_associativity").map(|ways| format!(", {ways} ways"));
            let shared = file("shared_cpu_list").map(|cpus| format!(", of CPUs {cpus}"));
            return Ok(file("size")? + &ways.unwrap_or_default() + &shared.unwrap_or_default());
        }
    }
    Err(Unavailable::because("none known to the kernel"))
}

fn cache_line(files: &MachineFiles) -> FieldValue {
    Ok(files.text(format!("{CPUS}/cpu0/cache/index0/coherency_line_size"))? + " bytes")
}

fn megahertz(files: &MachineFiles, file: &str) -> FieldValue {
    let kilohertz = files.number(format!("{CPUS}/cpu0/cpufreq/{file}"))?;
    Ok(format!("{} MHz", kilohertz / 1000))
}

fn turbo(files: &MachineFiles) -> FieldValue {
    let on = |on: bool| if on { "on" } else { "off" }.to_owned();
    match files.text(format!("{CPUS}/intel_pstate/no_turbo")) {
        Ok(no_turbo) => Ok(on(no_turbo == "0")),
        Err(_) => Ok(on(files.text(format!("{CPUS}/cpufreq/boost"))? == "1")),
    }
}

fn pstate(files: &MachineFiles) -> FieldValue {
    let of = |driver: &str| Ok(format!("{driver}: {}", files.text(format!("{CPUS}/{driver}/status"))?));
    of("intel_pstate").or_else(|_: Unavailable| of("amd_pstate"))
}

fn idle_states(files: &MachineFiles) -> FieldValue {
    let directory = format!("{CPUS}/cpu0/cpuidle");
    let state = |name: &String| {
        let title = files.text(format!("{directory}/{name}/name")).ok()?;
        let is_off = files.text(format!("{directory}/{name}/disable")).is_ok_and(|off| off != "0");
        Some(if is_off { format!("{title} (disabled)") } else { title })
    };
    let states: Vec<String> = files.names(&directory).iter().filter_map(state).collect();
    joined(&states, "none known to the kernel")
}

/// Returns the names of the vulnerabilities known to the kernel.
pub(super) fn vulnerabilities(files: &MachineFiles) -> Vec<String> {
    files.names(VULNERABILITIES)
}

fn mitigation_options(files: &MachineFiles) -> FieldValue {
    let line = files.text("/proc/cmdline")?;
    let is_one = |word: &&str| MITIGATION_OPTIONS.iter().any(|option| word.starts_with(option));
    let words: Vec<&str> = line.split_ascii_whitespace().filter(is_one).collect();
    Ok(if words.is_empty() { "nothing".to_owned() } else { words.join(" ") })
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
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

    /// Recorded on an ARM server, shortened: the last paragraph is not a processor.
    #[test]
    fn missing_fields_are_unavailable() {
        let text = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n\nRevision\t: 2\n";
        let info = parse_cpuinfo(text);
        assert_eq!((info.threads, info.cores.len()), (1, 0));
        assert_eq!(info.model.as_deref(), Some("0xd0c"));
        assert_eq!(parse_cpuinfo(""), CpuInfo::default());
        testing::with(&[("/proc/cpuinfo", text)], |files| {
            assert_eq!(signature(files).unwrap(), "part 0xd0c");
            assert_eq!(first_of(files, &["bogomips", "BogoMIPS"]).unwrap(), "50.00");
            assert_eq!(first_of(files, &["microcode"]), Err(NOT_REPORTED));
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
        testing::with(&files, |files| {
            assert_eq!(cache(files, "1", &["Data"]).unwrap(), "48K");
            assert_eq!(cache(files, "3", &["Unified"]).unwrap(), "32768K, 16 ways, of CPUs 0-15");
            assert!(cache(files, "2", &["Unified"]).is_err());
            assert_eq!(cache_line(files).unwrap(), "64 bytes");
            assert_eq!(megahertz(files, "base_frequency").unwrap(), "2300 MHz");
            assert_eq!(governors_of(files), ["performance"]);
            assert_eq!(
                (turbo(files).unwrap(), pstate(files).unwrap()),
                ("off".into(), "intel_pstate: active".into())
            );
            assert_eq!(idle_states(files).unwrap(), "POLL, C6 (disabled)");
            assert_eq!(none_if_empty(files.text("/sys/devices/system/cpu/isolated")).unwrap(), "none");
        });
    }

    #[test]
    fn mitigation_options_are_selected_from_the_command_line() {
        let line = |text| testing::with(&[("/proc/cmdline", text)], mitigation_options);
        assert_eq!(line("quiet mitigations=off nopti root=/dev/vda\n").unwrap(), "mitigations=off nopti");
        assert_eq!(line("quiet").unwrap(), "nothing");
    }
}
