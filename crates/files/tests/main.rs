//! The file-server workload: the Disk Mix on a server of the tests, load files, and the one of dbench.

mod captured;
mod disk_mix;
mod load_files;
mod share;
