//! Networks of peers in CIDR notation, `address/prefix`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use thiserror::Error;

/// A network: all addresses with the same prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network {
    address: IpAddr,
    /// The length of the prefix in bits; at most as many as the address has.
    prefix: u8,
}

/// The error for a text that is not a network.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected an address or a network, `10.0.0.0/8` for example, found `{0}`")]
pub struct NetworkParseError(String);

impl Network {
    /// Returns whether an address belongs to the network; an IPv4 address mapped into IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                agree(own.to_bits().into(), other.to_bits().into(), u32::from(self.prefix) + 96)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => agree(own.to_bits(), other.to_bits(), self.prefix.into()),
            _ => false,
        }
    }
}

/// Returns whether two numbers agree in their `n` highest bits of 128.
fn agree(a: u128, b: u128, n: u32) -> bool {
    (a ^ b).leading_zeros() >= n
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Network {
        let address = address.to_canonical();
        Network { address, prefix: if address.is_ipv4() { 32 } else { 128 } }
    }
}

impl FromStr for Network {
    type Err = NetworkParseError;

    fn from_str(text: &str) -> Result<Network, NetworkParseError> {
        let wrong = || NetworkParseError(text.to_owned());
        let Some((address, prefix)) = text.split_once('/') else {
            return text.parse().map(|address: IpAddr| Network::from(address)).map_err(|_| wrong());
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let is_decimal = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix: u8 = prefix.parse().ok().filter(|_| is_decimal).ok_or_else(wrong)?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        if prefix > bits { Err(wrong()) } else { Ok(Network { address, prefix }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_addresses_with_their_prefix() {
        let cases = [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.2", false),
            ("10.1.2.3/32", "::ffff:10.1.2.3", true),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "::1", false),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false),
            ("::/0", "2001:db8::1", true),
            ("::1", "::1", true),
        ];
        for (network, address, expected) in cases {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.contains(address.parse().unwrap()), expected, "{network} {address}");
        }
    }

    #[test]
    fn invalid_networks_are_refused_with_their_text() {
        for text in
            ["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "10.0.0.0/+8", "host", "10.0.0.0/8/8"]
        {
            let error = text.parse::<Network>().unwrap_err();
            assert_eq!(error, NetworkParseError(text.to_owned()));
        }
    }
}
