//! CPUs that a server and the load generator share: who used them, and whether anything was left.

/// The use of CPUs that a server without an allowance and the load generator share. All in CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedCpus {
    /// The number of CPUs.
    pub n: f64,
    /// The use by the load threads.
    pub generator: f64,
    /// The use for the server: all that is neither the generator's nor, where the server is watched, that of other
    /// programs. The kernel's work for the network belongs to it, which is in no account of a process.
    pub server: f64,
    /// The unused part.
    pub idle: f64,
}

impl SharedCpus {
    /// Returns whether the CPUs are full: server and generator use at least this share of them together. The rest is idle,
    /// or used by other programs.
    pub fn are_full(&self, share: f64) -> bool {
        share * self.n <= self.server + self.generator
    }

    /// Returns the share that the server used of what the generator left to it, from 0 to 1; 0 if that is nothing.
    ///
    /// S ÷ (N − G), with S the use by the server, N the number of CPUs, G the use by the generator.
    pub fn server_share(&self) -> f64 {
        let left = self.n - self.generator;
        if 0.0 < left { (self.server / left).min(1.0) } else { 0.0 }
    }
}
