//! How many connections there are, from whom, and whether there may be one more.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::settings::Limits;

/// Counts the connections of all workers that last longer than one look.
#[derive(Debug, Default)]
pub(super) struct Census {
    connections: AtomicUsize,
    /// How many there are from each address; kept only while that is limited.
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection that counts, until it is dropped.
#[derive(Debug)]
pub(super) struct Admission {
    census: Arc<Census>,
    counted_for: Option<IpAddr>,
}

impl Census {
    /// Counts a connection.
    ///
    /// # Errors
    /// The name of the limit that it would exceed.
    pub(super) fn admit(
        self: &Arc<Self>,
        client: IpAddr,
        limits: &Limits,
    ) -> Result<Admission, &'static str> {
        // Counted first: dropping it takes it back.
        let mut admission = Admission { census: Arc::clone(self), counted_for: None };
        if limits.connections_max <= self.connections.fetch_add(1, Ordering::Relaxed) {
            return Err("connections-max");
        }
        if let Some(most) = limits.connections_per_address {
            let party = party(client);
            let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            let count = by_address.entry(party).or_default();
            if most <= *count {
                return Err("connections-per-address");
            }
            *count += 1;
            admission.counted_for = Some(party);
        }
        Ok(admission)
    }
}

/// Returns what counts as one client: an IPv4 address, or the /64 network of an IPv6 address, which is what one household
/// or machine is given.
fn party(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.census.connections.fetch_sub(1, Ordering::Relaxed);
        let Some(party) = self.counted_for else { return };
        let mut by_address = self.census.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = by_address.get_mut(&party) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&party);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(connections_max: usize, connections_per_address: Option<usize>) -> Limits {
        Limits { connections_max, connections_per_address, ..Limits::default() }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn places_are_given_back() {
        let (census, limits) = (Arc::new(Census::default()), limits(2, None));
        let one = census.admit(address("192.0.2.1"), &limits).unwrap();
        let _other = census.admit(address("192.0.2.1"), &limits).unwrap();
        for _ in 0..3 {
            assert_eq!(census.admit(address("192.0.2.2"), &limits).unwrap_err(), "connections-max");
        }
        drop(one);
        assert!(census.admit(address("192.0.2.2"), &limits).is_ok());
    }

    #[test]
    fn one_client_cannot_take_all_places() {
        let (census, limits) = (Arc::new(Census::default()), limits(100, Some(1)));
        let one = census.admit(address("192.0.2.1"), &limits).unwrap();
        let refused = |from| census.admit(address(from), &limits).err();
        assert_eq!(refused("192.0.2.1"), Some("connections-per-address"));
        assert_eq!(refused("::ffff:192.0.2.1"), Some("connections-per-address"));
        assert_eq!(refused("192.0.2.2"), None);
        drop(one);
        assert_eq!(refused("192.0.2.1"), None);
        let _six = census.admit(address("2001:db8::1"), &limits).unwrap();
        assert_eq!(refused("2001:db8::ffff:1"), Some("connections-per-address"));
        assert_eq!(refused("2001:db8:0:1::1"), None);
        drop(_six);
        assert!(census.by_address.lock().unwrap().is_empty());
    }
}
