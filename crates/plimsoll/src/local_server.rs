//! The question whether a running server is on this machine.

use drivers::TargetPolicy;

/// Returns whether a server is on this machine, by its host and port; also in a container or another network namespace on
/// it, as far as this user can see. Nothing is sent.
pub(crate) fn is_here(host: &str, port: u16) -> bool {
    let addresses = TargetPolicy.resolve(host, port).unwrap_or_default();
    addresses.first().is_some_and(|address| observe::is_here(address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_here_and_foreign_ones_are_not() {
        for here in ["127.0.0.1", "127.0.0.2", "[::1]"] {
            assert!(is_here(here, 8080), "{here}");
        }
        // The address is reserved for documents.
        assert!(!is_here("192.0.2.1", 80));
    }
}
