//! The order in which CPUs are added to a server whose number of CPUs grows from pass to pass.

use crate::cpu_list::parse_cpu_list;
use crate::kernel_file;

/// Returns CPUs in the order in which a growing group takes them: one hardware thread of every core first,
/// then their siblings. If the cores are unknown, the order is unchanged.
pub fn by_core(cpus: &[u32]) -> Vec<u32> {
    order(cpus, siblings)
}

/// Returns the hardware threads of a CPU's core, including itself; only itself if the kernel does not report
/// them.
fn siblings(cpu: u32) -> Vec<u32> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let listed = kernel_file::read(path).and_then(|text| parse_cpu_list(&text).ok());
    listed.unwrap_or_else(|| vec![cpu])
}

/// Sorts CPUs by their rank among their siblings; a stable sort.
fn order(cpus: &[u32], siblings: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let place = |cpu: &u32| {
        let core = siblings(*cpu);
        // Only available siblings count.
        let core = core.iter().filter(|sibling| cpus.contains(sibling));
        core.take_while(|sibling| *sibling != cpu).count()
    };
    let mut ordered = cpus.to_vec();
    ordered.sort_by_cached_key(place);
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_come_before_their_second_threads() {
        // The two ways in which kernels number four cores with two threads each.
        let pairs = |cpu: u32| vec![cpu / 2 * 2, cpu / 2 * 2 + 1];
        let halves = |cpu: u32| vec![cpu % 4, cpu % 4 + 4];
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(order(&all, pairs), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(order(&all, halves), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_core_with_one_available_thread_counts_as_a_core() {
        let pairs = |cpu: u32| vec![cpu / 2 * 2, cpu / 2 * 2 + 1];
        assert_eq!(order(&[1, 2, 3], pairs), [1, 2, 3]);
        assert_eq!(order(&[], pairs), [0_u32; 0]);
    }

    #[test]
    fn every_cpu_of_this_machine_is_ordered() {
        let available = crate::available_cpus();
        let mut ordered = by_core(&available);
        ordered.sort_unstable();
        assert_eq!(ordered, available);
    }
}
