//! Places for connections that are meant for another: of `--resolve` and `--connect-to`.

use std::str::FromStr;

use languages::is_host;

use crate::argument_error::ArgumentError;

/// A place for connections that are meant for another: of `--resolve` and `--connect-to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConnectToArgument {
    /// Host and port of the target; `None` for any.
    pub from: (Option<String>, Option<u16>),
    /// Host and port to connect to; `None` for those of the target.
    pub to: (Option<String>, Option<u16>),
}

impl ConnectToArgument {
    /// Reads `HOST:PORT:ADDRESS`, as curl's `--resolve` has it; an IPv6 address may stand without brackets.
    pub(crate) fn resolve(text: &str) -> Result<ConnectToArgument, ArgumentError> {
        let form = "`HOST:PORT:ADDRESS`, such as `shop.example:443:127.0.0.1`";
        let expected = || ArgumentError::expected(form);
        let (host, rest) = split_host(text).ok_or_else(expected)?;
        let (port, address) = rest.split_once(':').ok_or_else(expected)?;
        if address.contains(',') {
            return Err(ArgumentError::expected(format!("{form}, with one address: all load goes there")));
        }
        let address = address.trim_start_matches('[').trim_end_matches(']');
        let address: std::net::IpAddr = address.parse().map_err(|_| expected())?;
        let address = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
        let from = (Some(host.ok_or_else(expected)?), Some(read_port(port)?.ok_or_else(expected)?));
        Ok(ConnectToArgument { from, to: (Some(address), None) })
    }

    /// Returns whether it is for this host and port.
    pub(crate) fn matches(&self, (host, port): (&str, u16)) -> bool {
        let (own_host, own_port) = &self.from;
        own_host.as_ref().is_none_or(|own| own.eq_ignore_ascii_case(host))
            && own_port.is_none_or(|own| own == port)
    }
}

impl FromStr for ConnectToArgument {
    type Err = ArgumentError;

    /// Reads `HOST:PORT:HOST:PORT`, as curl's `--connect-to` has it: what is empty is any, or that of the target.
    fn from_str(text: &str) -> Result<ConnectToArgument, ArgumentError> {
        let expected =
            || ArgumentError::expected("`HOST:PORT:HOST:PORT`, such as `shop.example:80:127.0.0.1:8080`");
        let (from_host, rest) = split_host(text).ok_or_else(expected)?;
        let (from_port, rest) = rest.split_once(':').ok_or_else(expected)?;
        let (to_host, to_port) = split_host(rest).ok_or_else(expected)?;
        Ok(ConnectToArgument { from: (from_host, read_port(from_port)?), to: (to_host, read_port(to_port)?) })
    }
}

impl std::fmt::Display for ConnectToArgument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = |(host, port): &(Option<String>, Option<u16>)| {
            let port = port.map_or_else(String::new, |port| port.to_string());
            format!("{}:{port}", host.as_deref().unwrap_or_default())
        };
        write!(f, "{}:{}", place(&self.from), place(&self.to))
    }
}

/// Splits off a host, perhaps an address in brackets, and the colon behind it; an empty host is `None`.
fn split_host(text: &str) -> Option<(Option<String>, &str)> {
    let end = if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':')? };
    let (host, rest) = text.split_at(end);
    let rest = rest.strip_prefix(':')?;
    match host {
        "" => Some((None, rest)),
        host => is_host(host).then(|| (Some(host.to_owned()), rest)),
    }
}

fn read_port(text: &str) -> Result<Option<u16>, ArgumentError> {
    match text {
        "" => Ok(None),
        text => match text.parse() {
            Ok(0) | Err(_) => Err(ArgumentError::expected("a port from 1 to 65535")),
            Ok(port) => Ok(Some(port)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_as_they_are_read() {
        for text in ["a:80:b:81", "::[::1]:", "[::1]:80::81"] {
            assert_eq!(text.parse::<ConnectToArgument>().unwrap().to_string(), text);
        }
        let resolved = ConnectToArgument::resolve("a:80:::1").unwrap();
        assert_eq!(resolved.to_string().parse(), Ok(resolved), "as `--connect-to`");
    }
}
