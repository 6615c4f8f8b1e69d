//! Values with units as people write them: times, sizes, networks, statuses.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use ipnet::IpNet;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use units::Nanos;

use crate::origin::OriginServer;

const TIME_UNITS: &[(&str, f64)] = &[("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3_600e9), ("d", 86_400e9)];

/// Units of 1024 are written with an `i`; `kB` and `MB` are left out because they are ambiguous.
const SIZE_UNITS: &[(&str, f64)] =
    &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1048576.0), ("GiB", 1073741824.0), ("TiB", 1099511627776.0)];

/// The longest time, ten years: a longer one is an error.
const TIME_MAX: f64 = 3_653.0 * 86_400e9;

/// The largest size, 1 PiB: a larger one is an error.
const SIZE_MAX: f64 = (1_u64 << 50) as f64;

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
        let nanos = parse(&text, "a time", TIME_UNITS, "10 s")?;
        if TIME_MAX < nanos {
            return Err(format!("`{text}` is longer than ten years\nhint: write a shorter time"));
        }
        Ok(Time(Nanos(nanos.round() as u64)))
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Size, String> {
        let bytes = parse(&text, "a size", SIZE_UNITS, "256 MiB")?;
        if SIZE_MAX < bytes {
            return Err(format!("`{text}` is more than 1 PiB\nhint: write a smaller size"));
        }
        if bytes.fract() != 0.0 {
            return Err(format!("`{text}` is not a whole number of bytes\nhint: write it in B"));
        }
        Ok(Size(bytes as u64))
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

/// Reads a number and a unit; returns the number of smallest units.
///
/// # Errors
/// A message with a hint.
fn parse(text: &str, what: &str, units: &[(&str, f64)], example: &str) -> Result<f64, String> {
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    let wrong = |found: &str| {
        let names = names.join(", ");
        format!(
            "expected {what}, found {found}\nhint: write a number and a unit, `{example}` for example; units are {names}"
        )
    };
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim_start());
    let number: f64 = number.parse().map_err(|_| wrong(&format!("`{text}`")))?;
    if unit.is_empty() {
        return Err(wrong(&format!("`{text}` without a unit")));
    }
    let found = units.iter().find(|(name, _)| *name == unit);
    found.map(|(_, size)| number * size).ok_or_else(|| wrong(&format!("the unit `{unit}`")))
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

text_schema!(Time, "A time: `10 s`. Units: ms, s, min, h, d.", r"^\s*[0-9.]+\s*(ms|s|min|h|d)\s*$");
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
        for text in ["", "s", "10", "-1 s", "1e3 s", "1.2.3 s", "10 sec", "10 us", "9999 d", "5 MiB"] {
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
            "expected a time, found `10` without a unit\n\
             hint: write a number and a unit, `10 s` for example; units are ms, s, min, h, d"
        );
    }
}
