//! The question whether a running server is on this machine.

use drivers::TargetPolicy;
use drivers::web::Target;

/// Returns whether a server is on this machine, also in a container or another network namespace on it, as far as this
/// user can see. Nothing is sent.
pub(crate) fn is_here(target: &Target) -> bool {
    let addresses = TargetPolicy.resolve(&target.host, target.port).unwrap_or_default();
    addresses.first().is_some_and(|address| observe::is_here(address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_here_and_foreign_ones_are_not() {
        let is_here = |target: &str| is_here(&target.parse().unwrap());
        for here in ["http://127.0.0.1/", "http://127.0.0.2:8080/", "http://[::1]:8080/"] {
            assert!(is_here(here), "{here}");
        }
        // The address is reserved for documents.
        assert!(!is_here("http://192.0.2.1/"));
    }
}
