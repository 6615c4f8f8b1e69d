//! The command line.

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;

use accelerator::config::ConfigOverrides;
use accelerator::origin::{OriginAddressError, OriginServer};
use clap::{Args, Parser};
use languages::parse_bytes;
use units::Bytes;

/// The smallest cache memory that is accepted.
const MEMORY_MIN: Bytes = Bytes(1 << 20);

/// Run a caching reverse proxy in front of a web server
///
/// `plimsoll-accelerator --origin http://127.0.0.1:8080 --listen 0.0.0.0:80` stores only what RFC 9111 allows a shared
/// cache to store. All other settings are in a configuration file, which is reloaded on SIGHUP. SIGTERM and SIGINT
/// finish the requests in flight before stopping; SIGUSR1 reopens the access log; SIGUSR2 starts the program anew, which
/// takes over without a refused connection. `plimsoll accelerate` does the same.
#[derive(Debug, Parser)]
#[command(version)]
pub struct ProgramArguments {
    /// Print one line of JSON with the addresses on standard output once it is listening
    #[arg(long)]
    pub json: bool,
    /// The arguments that `plimsoll accelerate` has too.
    #[command(flatten)]
    pub accelerate: AccelerateArguments,
}

/// Arguments of `accelerate`.
#[derive(Debug, Args)]
pub struct AccelerateArguments {
    /// Origin server: `http://127.0.0.1:8080`; may be repeated, requests are then distributed in turn
    #[arg(long, value_name = "URL", value_parser = origin, required_unless_present = "config")]
    pub origin: Vec<OriginServer>,
    /// Address to listen on, `127.0.0.1:8000` by default; port 0 picks a free port; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Vec<SocketAddr>,
    /// Cache memory, overhead included: `1 GiB`; 256 MiB by default
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<Bytes>,
    /// Number of worker threads; by default one per CPU
    #[arg(long, value_name = "N")]
    pub workers: Option<NonZeroU16>,
    /// Address of the admin interface with status, metrics and purge: `127.0.0.1:8079`
    #[arg(long, value_name = "ADDRESS")]
    pub admin: Option<SocketAddr>,
    /// Configuration file (TOML); other arguments override it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Control socket at which a new process with this argument takes over the listening sockets
    #[arg(long, value_name = "FILE")]
    pub upgrade_socket: Option<PathBuf>,
    /// Check the configuration and exit
    #[arg(long)]
    pub check: bool,
}

impl AccelerateArguments {
    /// Returns the arguments that replace or supplement the configuration.
    pub(crate) fn overrides(&self) -> ConfigOverrides {
        ConfigOverrides {
            file: self.config.clone(),
            origins: self.origin.clone(),
            listens: self.listen.clone(),
            memory: self.memory,
            workers: self.workers,
            admin: self.admin,
            upgrade_socket: self.upgrade_socket.clone(),
        }
    }
}

fn origin(text: &str) -> Result<OriginServer, OriginAddressError> {
    text.parse()
}

fn memory(text: &str) -> Result<Bytes, String> {
    let size = parse_bytes(text).map_err(|error| format!("{}\nhint: {}", error.message, error.hint))?;
    if size < MEMORY_MIN { Err(format!("expected at least {MEMORY_MIN}")) } else { Ok(size) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        ProgramArguments::command().debug_assert();
    }

    #[test]
    fn cache_memory_is_a_size_of_at_least_1_mib() {
        assert_eq!(memory("1 GiB"), Ok(Bytes(1 << 30)));
        assert_eq!(memory("1023 KiB").unwrap_err(), format!("expected at least {MEMORY_MIN}"));
        assert!(memory("5").unwrap_err().contains("hint: "));
    }
}
