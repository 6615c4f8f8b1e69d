//! The file-server workload: the Disk Mix on a server of the tests.

mod disk_mix;
mod share;
