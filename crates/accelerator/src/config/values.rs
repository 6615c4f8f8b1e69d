//! The values of keys: times, sizes, numbers, files, addresses, networks, statuses.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use cache_policy::Heuristic;
use ipnet::IpNet;
use languages::reader::ValueError;
use languages::spec::{ValueSpec, above_zero, ratio, text, time_up_to, whole, whole_u32};
use serde_json::json;
use units::{Nanos, Ratio};

use crate::origin::{OriginAddressError, OriginServer};

/// The longest time, ten years: a longer one is an error.
const TIME_MAX: Nanos = Nanos::from_secs(3_653 * 86_400);

/// Times: `10 s`.
pub(super) fn time() -> ValueSpec<Nanos> {
    time_up_to(TIME_MAX).named("Time", "A time: `10 s`, `1m30s`. Units: ns, us, ms, s, m or min, h, d.")
}

/// Time limits: zero does not mean that there is none.
pub(super) fn time_limit() -> ValueSpec<Nanos> {
    time().and_then(|time| above_zero(time).map_err(|error| error.hint("leave it out for the default")))
}

/// Sizes in bytes: `256 MiB`.
pub(super) fn size() -> ValueSpec<u64> {
    languages::spec::size()
        .named("Size", "A size: `256 MiB`. Units: B, KiB, MiB, GiB, TiB, in steps of 1024.")
        .and_then(|size| Ok(size.0))
}

/// Sizes in bytes that fit memory.
pub(super) fn memory_size() -> ValueSpec<usize> {
    size().and_then(|size| Ok(usize::try_from(size).unwrap_or(usize::MAX)))
}

/// Whole numbers from a least one.
pub(super) fn number(least: u32) -> ValueSpec<u32> {
    whole_u32(least..=u32::MAX)
}

/// Whole numbers from 1 to 65535.
pub(super) fn small_count() -> ValueSpec<u64> {
    whole(1..=u16::MAX.into())
}

/// Whole numbers from 1.
pub(super) fn count() -> ValueSpec<u64> {
    whole(1..=u64::MAX)
}

/// Whole numbers from 1 that fit memory.
pub(super) fn memory_count() -> ValueSpec<usize> {
    count().and_then(|count| Ok(usize::try_from(count).unwrap_or(usize::MAX)))
}

/// Fractions above 0 of at most a tenth.
pub(super) fn fraction() -> ValueSpec<Ratio> {
    let schema = || json!({ "type": "number", "exclusiveMinimum": 0, "maximum": Heuristic::FRACTION_MAX.0 });
    let ratio = ratio();
    let fraction = ValueSpec::new(schema, move |value| ratio.read(value));
    fraction.named("Fraction", "A fraction of at most a tenth.").and_then(|fraction| {
        let most = Heuristic::FRACTION_MAX.0;
        if 0.0 < fraction && fraction <= most {
            Ok(Ratio(fraction))
        } else {
            Err(ValueError::new(format!("expected a number above 0 and up to {most}, found {fraction}")))
        }
    })
}

/// Names of files and folders.
pub(super) fn path() -> ValueSpec<PathBuf> {
    text().and_then(|path| Ok(path.into()))
}

/// Addresses with a port.
pub(super) fn address() -> ValueSpec<SocketAddr> {
    text().and_then(|text| {
        text.parse().map_err(|_| {
            ValueError::new(format!("expected an IP address and a port, found `{text}`"))
                .hint("write it like `127.0.0.1:8000`, `0.0.0.0:80` or `[::]:80`")
        })
    })
}

/// Origin servers, by their URL.
pub(super) fn server() -> ValueSpec<OriginServer> {
    text()
        .named("Url", "An origin server, by its URL: `http://127.0.0.1:8080`.")
        .and_then(|text| text.parse().map_err(|error: OriginAddressError| ValueError::new(error.to_string())))
}

/// Networks and addresses.
pub(super) fn peers() -> ValueSpec<IpNet> {
    text()
        .named("Peers", "Peers: an address or a network, `10.0.0.0/8`.")
        .and_then(|text| parse_network(&text).map_err(|error| ValueError::new(error.to_string())))
}

/// Names as in `Via`: letters, digits and `-._`.
pub(super) fn token() -> ValueSpec<String> {
    text().and_then(|name| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if !name.is_empty() && name.bytes().all(is_plain) {
            Ok(name)
        } else {
            Err(ValueError::new(format!("expected letters, digits and `-._`, found `{name}`")))
        }
    })
}

/// Hosts, with or without a port.
pub(super) fn host() -> ValueSpec<String> {
    text().and_then(|host| {
        if is_host(&host) {
            Ok(host)
        } else {
            Err(ValueError::new(format!("expected `host` or `host:port`, found `{host}`")))
        }
    })
}

/// Hosts without a port.
pub(super) fn host_name() -> ValueSpec<String> {
    text().and_then(|name| {
        if is_host(&name) && !name.contains(':') {
            Ok(name)
        } else {
            Err(ValueError::new(format!("expected names without a port, found `{name}`")))
        }
    })
}

fn is_host(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte))
}

/// Statuses: one, or a range of them.
pub(super) fn statuses() -> ValueSpec<RangeInclusive<u16>> {
    let pattern = r"^\s*[1-5][0-9]{2}\s*(-\s*[1-5][0-9]{2}\s*)?$";
    text().rule("pattern", pattern).named("Statuses", "One status or a range of them: `200-399`.").and_then(
        |text| {
            parse_statuses(&text).ok_or_else(|| {
                ValueError::new(format!(
                    "expected a status or a range of statuses, `200-399` for example, found `{text}`"
                ))
            })
        },
    )
}

fn parse_statuses(text: &str) -> Option<RangeInclusive<u16>> {
    let status = |text: &str| text.trim().parse().ok().filter(|status| (100..600).contains(status));
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let first = status(first)?;
    let last = status(last)?;
    (first <= last).then_some(first..=last)
}

/// Reads a status as a key: `404`.
pub(super) fn status(text: &str) -> Result<u16, ValueError> {
    let status = text.parse().ok().filter(|status| (200..600).contains(status));
    status.ok_or_else(|| ValueError::new(format!("expected a status from 200 to 599, found `{text}`")))
}

/// A text that is neither a network nor an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an address or a network, `10.0.0.0/8` for example, found `{0}`")]
pub struct CidrError(String);

/// Parses a network in CIDR notation, or an address; an IPv4 address mapped into IPv6 is one of IPv4.
///
/// # Errors
/// If the text is neither.
pub fn parse_network(text: &str) -> Result<IpNet, CidrError> {
    network(text).ok_or_else(|| CidrError(text.to_owned()))
}

fn network(text: &str) -> Option<IpNet> {
    let Some((address, prefix)) = text.split_once('/') else {
        return Some(text.parse::<IpAddr>().ok()?.to_canonical().into());
    };
    let is_decimal = prefix.bytes().all(|byte| byte.is_ascii_digit());
    IpNet::new(address.parse().ok()?, prefix.parse().ok().filter(|_| is_decimal)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_addresses_with_their_prefix() {
        for (text, address, expected) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.1.2.3/8", "10.255.0.1", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.2", false),
            ("::ffff:10.1.2.3", "10.1.2.3", true),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "::1", false),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false),
            ("::/0", "2001:db8::1", true),
            ("::1", "::1", true),
        ] {
            let network = parse_network(text).unwrap();
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(network.contains(&address), expected, "{text} {address}");
        }
    }

    #[test]
    fn invalid_networks_are_refused_with_their_text() {
        for text in
            ["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "10.0.0.0/+8", "host", "10.0.0.0/8/8"]
        {
            let expected = "expected an address or a network, `10.0.0.0/8` for example, found";
            assert_eq!(parse_network(text).unwrap_err().to_string(), format!("{expected} `{text}`"));
        }
    }

    #[test]
    fn statuses_are_one_or_a_range() {
        assert_eq!(parse_statuses("200-399"), Some(200..=399));
        assert_eq!(parse_statuses(" 200 - 399 "), Some(200..=399));
        assert_eq!(parse_statuses("204"), Some(204..=204));
        for text in ["", "99", "600", "399-200", "2xx", "200-", "-200"] {
            assert_eq!(parse_statuses(text), None, "{text}");
        }
    }
}
