//! The benchmarks of file servers with the real binary: they load all CPUs and flush to the disk, so that other tests would be
//! slow beside them.

#[path = "../cli/support/mod.rs"]
mod support;

mod captured_mixes;
mod disk_faults;
mod exports;
mod netbench;
mod samba;
mod share_faults;
mod shares;
