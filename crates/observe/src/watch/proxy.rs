//! Programs that listen on a published port and pass connections on to a container.

use std::net::SocketAddr;

use super::command_line::{argument, command_line, program};

/// The program that docker starts for each published port, and its arguments that name the container's end.
///
/// Source: docker-proxy(1), `docker-proxy -proto tcp -host-ip IP -host-port N -container-ip IP -container-port N`.
const DOCKER_PROXY: &str = "docker-proxy";
const ADDRESS: &str = "-container-ip";
const PORT: &str = "-container-port";

/// Returns the container's end of a published port if this process is the proxy for it.
pub(super) fn published_by(pid: u32) -> Option<SocketAddr> {
    published(&command_line(pid)?)
}

/// Returns the container's end of a published port if this is the command line of the proxy for it.
pub(crate) fn published(command: &str) -> Option<SocketAddr> {
    let value = |name| argument(command, name);
    let address = || Some(SocketAddr::new(value(ADDRESS)?.parse().ok()?, value(PORT)?.parse().ok()?));
    (program(command) == Some(DOCKER_PROXY)).then(address)?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from docker.
    #[test]
    fn the_containers_end_is_read_from_the_command_line() {
        let line = "/usr/bin/docker-proxy\0-proto\0tcp\0-host-ip\x000.0.0.0\0-host-port\08080\0-container-ip\0\
                    172.17.0.2\0-container-port\080\0-use-listen-fd\0";
        assert_eq!(published(line), Some("172.17.0.2:80".parse().unwrap()));
        assert_eq!(published(&line.replace("docker-proxy", "nginx")), None);
        assert_eq!(published(&line.replace("-container-port", "-x")), None);
        assert_eq!(published(""), None);
    }
}
