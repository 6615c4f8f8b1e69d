//! Limits on the number of client connections, in total and per address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::settings::ClientLimits;
use crate::message::DisconnectReason;

/// A limiter of concurrent client connections of all workers; those that end on the fast path do not count.
#[derive(Debug, Default)]
pub(super) struct ConnectionLimiter {
    connections: AtomicUsize,
    /// The number of connections from each address; kept only while it is limited.
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// A permit for one connection, returned to the limiter when it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    connection_limiter: Arc<ConnectionLimiter>,
    counted_for: Option<IpAddr>,
}

impl ConnectionLimiter {
    /// Takes a permit for a connection.
    ///
    /// # Errors
    /// The limit that the connection would exceed.
    pub(super) fn acquire(
        self: &Arc<Self>,
        client: IpAddr,
        limits: &ClientLimits,
    ) -> Result<ConnectionPermit, DisconnectReason> {
        // Counted first: dropping the permit takes it back.
        let mut permit = ConnectionPermit { connection_limiter: Arc::clone(self), counted_for: None };
        if limits.connections_max <= self.connections.fetch_add(1, Ordering::Relaxed) {
            return Err(DisconnectReason::ConnectionsMax);
        }
        if let Some(most) = limits.connections_per_address {
            let client_network = client_network(client);
            let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            let count = by_address.entry(client_network).or_default();
            if most <= *count {
                return Err(DisconnectReason::ConnectionsPerAddress);
            }
            *count += 1;
            permit.counted_for = Some(client_network);
        }
        Ok(permit)
    }
}

/// Returns what counts as one client: an IPv4 address, or the /64 network of an IPv6 address, which is what one
/// household or machine is given.
fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.connection_limiter.connections.fetch_sub(1, Ordering::Relaxed);
        let Some(client_network) = self.counted_for else { return };
        let mut by_address =
            self.connection_limiter.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = by_address.get_mut(&client_network) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&client_network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(connections_max: usize, connections_per_address: Option<usize>) -> ClientLimits {
        ClientLimits { connections_max, connections_per_address, ..ClientLimits::default() }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn permits_are_returned() {
        let connection_limiter = Arc::new(ConnectionLimiter::default());
        let limits = limits(2, None);
        let one = connection_limiter.acquire(address("192.0.2.1"), &limits).unwrap();
        let _other = connection_limiter.acquire(address("192.0.2.1"), &limits).unwrap();
        for _ in 0..3 {
            assert_eq!(
                connection_limiter.acquire(address("192.0.2.2"), &limits).unwrap_err(),
                DisconnectReason::ConnectionsMax
            );
        }
        drop(one);
        assert!(connection_limiter.acquire(address("192.0.2.2"), &limits).is_ok());
    }

    #[test]
    fn one_address_cannot_take_all_connections() {
        let connection_limiter = Arc::new(ConnectionLimiter::default());
        let limits = limits(100, Some(1));
        let one = connection_limiter.acquire(address("192.0.2.1"), &limits).unwrap();
        let refused = |from| connection_limiter.acquire(address(from), &limits).err();
        assert_eq!(refused("192.0.2.1"), Some(DisconnectReason::ConnectionsPerAddress));
        assert_eq!(refused("::ffff:192.0.2.1"), Some(DisconnectReason::ConnectionsPerAddress));
        assert_eq!(refused("192.0.2.2"), None);
        drop(one);
        assert_eq!(refused("192.0.2.1"), None);
        let _six = connection_limiter.acquire(address("2001:db8::1"), &limits).unwrap();
        assert_eq!(refused("2001:db8::ffff:1"), Some(DisconnectReason::ConnectionsPerAddress));
        assert_eq!(refused("2001:db8:0:1::1"), None);
        drop(_six);
        assert!(connection_limiter.by_address.lock().unwrap().is_empty());
    }
}
