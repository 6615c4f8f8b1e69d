//! Values with units as people write them: times, sizes, networks, statuses.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use ipnet::IpNet;
use languages::{QuantityError, parse_bytes, parse_time_up_to};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use units::Nanos;

use crate::origin::OriginServer;

/// The longest time, ten years: a longer one is an error.
const TIME_MAX: Nanos = Nanos::from_secs(3_653 * 86_400);

/// A time: `10 s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Time(pub Nanos);

/// A size: `256 MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Size(pub u64);

/// An origin server, by its URL: `http://127.0.0.1:8080`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Url(#[schemars(with = "String")] pub OriginServer);

/// Peers: an address or a network, `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Peers(#[schemars(with = "String")] pub IpNet);

/// One status or a range of them: `200-399`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Statuses(pub RangeInclusive<u16>);

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Time, String> {
        parse_time_up_to(&text, TIME_MAX).map(Time).map_err(with_hint)
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Size, String> {
        parse_bytes(&text).map(|size| Size(size.0)).map_err(with_hint)
    }
}

impl TryFrom<String> for Url {
    type Error = String;

    fn try_from(text: String) -> Result<Url, String> {
        text.parse().map(Url).map_err(|error: crate::origin::OriginAddressError| error.to_string())
    }
}

impl TryFrom<String> for Peers {
    type Error = String;

    fn try_from(text: String) -> Result<Peers, String> {
        network(&text).map(Peers).ok_or_else(|| {
            format!("expected an address or a network, `10.0.0.0/8` for example, found `{text}`")
        })
    }
}

/// Parses a network in CIDR notation, or an address; an IPv4 address mapped into IPv6 is one of IPv4.
fn network(text: &str) -> Option<IpNet> {
    let Some((address, prefix)) = text.split_once('/') else {
        return Some(text.parse::<IpAddr>().ok()?.to_canonical().into());
    };
    let is_decimal = prefix.bytes().all(|byte| byte.is_ascii_digit());
    IpNet::new(address.parse().ok()?, prefix.parse().ok().filter(|_| is_decimal)?).ok()
}

impl TryFrom<String> for Statuses {
    type Error = String;

    fn try_from(text: String) -> Result<Statuses, String> {
        let status = |text: &str| text.trim().parse().ok().filter(|status| (100..600).contains(status));
        let (first, last) = text.split_once('-').unwrap_or((&text, &text));
        match (status(first), status(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Statuses(first..=last)),
            _ => Err(format!(
                "expected a status or a range of statuses, `200-399` for example, found `{text}`"
            )),
        }
    }
}

/// Returns a message with its hint on a line of its own.
fn with_hint(error: QuantityError) -> String {
    format!("{}\nhint: {}", error.message, error.hint)
}

/// Adds the format of a text to the schema.
macro_rules! text_schema {
    ($type:ident, $about:literal, $pattern:literal) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $about, "type": "string", "pattern": $pattern })
            }
        }
    };
}

text_schema!(
    Time,
    "A time: `10 s`, `1m30s`. Units: ns, us, ms, s, m or min, h, d.",
    r"^\s*([0-9.]+\s*(ns|us|µs|ms|s|m|min|h|d)\s*)+$"
);
text_schema!(
    Size,
    "A size: `256 MiB`. Units: B, KiB, MiB, GiB, TiB, in steps of 1024.",
    r"^\s*[0-9.]+\s*(B|KiB|MiB|GiB|TiB)\s*$"
);
text_schema!(
    Statuses,
    "One status or a range of them: `200-399`.",
    r"^\s*[1-5][0-9]{2}\s*(-\s*[1-5][0-9]{2}\s*)?$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_parsed() {
        let time = |text: &str| Time::try_from(text.to_owned()).map(|time| time.0);
        for (text, nanos) in [
            ("250ms", Nanos::from_millis(250)),
            ("10 s", Nanos::from_secs(10)),
            ("1.5 min", Nanos::from_secs(90)),
            (" 2 d ", Nanos::from_secs(172_800)),
            ("0 s", Nanos::ZERO),
            ("1m30s", Nanos::from_secs(90)),
            ("250 us", Nanos::from_micros(250)),
        ] {
            assert_eq!(time(text), Ok(nanos), "{text}");
        }
        assert_eq!(Size::try_from("1.5 KiB".to_owned()), Ok(Size(1536)));
        assert_eq!(Statuses::try_from("200-399".to_owned()), Ok(Statuses(200..=399)));
        assert_eq!(Statuses::try_from("204".to_owned()), Ok(Statuses(204..=204)));
    }

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
            let network = Peers::try_from(text.to_owned()).unwrap().0;
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
            assert_eq!(Peers::try_from(text.to_owned()), Err(format!("{expected} `{text}`")));
        }
    }

    #[test]
    fn invalid_quantities_are_refused_with_a_message() {
        for text in ["", "s", "10", "-1 s", "1e3 s", "1.2.3 s", "10 sec", "9999 d", "5 MiB"] {
            assert!(Time::try_from(text.to_owned()).is_err(), "{text}");
        }
        for text in ["0.3 B", "5 MB", "5", "9999999 TiB", "-5 B"] {
            assert!(Size::try_from(text.to_owned()).is_err(), "{text}");
        }
        for text in ["", "99", "600", "399-200", "2xx", "200-", "-200"] {
            assert!(Statuses::try_from(text.to_owned()).is_err(), "{text}");
        }
        assert_eq!(
            Time::try_from("10".to_owned()).unwrap_err(),
            "expected a time with its unit, found `10` without one\n\
             hint: write a number and a unit, such as `600 s`; units are ns, us, ms, s, m, min, h, d"
        );
    }
}
