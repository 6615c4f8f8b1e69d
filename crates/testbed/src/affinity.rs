//! Affinity and priority of threads.

use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};

/// Pins the calling thread, and threads and processes it starts later, to `cpus`.
///
/// # Errors
/// None of the CPUs exists, or the thread may use none of them.
pub fn pin_current_thread(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| (**cpu as usize) < CpuSet::MAX_CPU) {
        set.set(*cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Lowers the priority of the calling thread relative to all others, including those of this process, by
/// raising its nice value by `by`.
///
/// # Errors
/// The system does not allow it.
pub fn lower_priority(by: i32) -> io::Result<()> {
    let thread = Some(rustix::thread::gettid());
    let now = rustix::process::getpriority_process(thread)?;
    Ok(rustix::process::setpriority_process(thread, now + by)?)
}

#[cfg(test)]
mod tests {
    use observe::available_cpus;

    use super::*;

    #[test]
    fn a_pinned_thread_runs_only_on_its_cpu() {
        let cpu = *available_cpus().last().unwrap();
        let pinned = std::thread::spawn(move || {
            pin_current_thread(&[cpu]).unwrap();
            available_cpus()
        });
        assert_eq!(pinned.join().unwrap(), [cpu]);
        assert!(pin_current_thread(&[1023]).is_err());
    }
}
