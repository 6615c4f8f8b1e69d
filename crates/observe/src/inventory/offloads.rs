//! Offloads of interfaces, such as segmentation; queried over generic netlink, as by `ethtool`.

use std::collections::BTreeMap;
use std::io;

use rustix::net::netlink::GENERIC;

use super::machine_files::Unavailable;
use crate::netlink::{Socket, attribute, attributes, u16_at};

/// Source: Linux, include/uapi/linux/genetlink.h.
const CONTROLLER: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;

/// Source: Linux, include/uapi/linux/ethtool_netlink.h.
const GET_FEATURES: u8 = 11;
const FEATURES_HEADER: u16 = 1;
const FEATURES_CHANGEABLE: u16 = 2;
const FEATURES_ACTIVE: u16 = 4;
const HEADER_DEVICE_NAME: u16 = 2;
const BITSET_LIST_ONLY: u16 = 1;
const BITSET_BITS: u16 = 3;
const BITS_BIT: u16 = 1;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

/// Size of `struct genlmsghdr`: command, version, two reserved bytes.
const HEADER_BYTES: usize = 4;

/// The offloads of one interface, by kernel name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Offloads {
    /// Those that are on.
    pub on: Vec<String>,
    /// Those that can be on.
    pub off: Vec<String>,
}

/// Queries the kernel for the offloads of all interfaces.
pub(super) fn ask() -> Result<BTreeMap<String, Offloads>, Unavailable> {
    let mut socket = Socket::open(Some(GENERIC))?;
    let family = ethtool_family(&mut socket)?.ok_or(Unavailable::because("not reported by the kernel"))?;
    let mut found = BTreeMap::new();
    socket.dump(family, &request(GET_FEATURES), |payload| found.extend(parse(payload)))?;
    Ok(found)
}

fn request(command: u8) -> [u8; HEADER_BYTES] {
    [command, 1, 0, 0]
}

fn ethtool_family(socket: &mut Socket) -> io::Result<Option<u16>> {
    let mut family = None;
    socket.dump(CONTROLLER, &request(GET_FAMILY), |payload| family = family.or(parse_family(payload)))?;
    Ok(family)
}

/// Returns the id of a message family, if it is that of `ethtool`.
fn parse_family(payload: &[u8]) -> Option<u16> {
    let rest = payload.get(HEADER_BYTES..)?;
    let name = attribute(rest, FAMILY_NAME)?;
    (name == b"ethtool\0").then(|| u16_at(attribute(rest, FAMILY_ID)?, 0)).flatten()
}

/// Parses the name of an interface and its offloads.
fn parse(payload: &[u8]) -> Option<(String, Offloads)> {
    let rest = payload.get(HEADER_BYTES..)?;
    let name = text(attribute(attribute(rest, FEATURES_HEADER)?, HEADER_DEVICE_NAME)?);
    let on = names(attribute(rest, FEATURES_ACTIVE)?);
    let mut off = names(attribute(rest, FEATURES_CHANGEABLE)?);
    off.retain(|name| !on.contains(name));
    Some((name, Offloads { on, off }))
}

/// Returns the names of the bits that are set, sorted. A bit set lists either these bits, or all bits with a
/// mark.
fn names(bitset: &[u8]) -> Vec<String> {
    let is_list = attribute(bitset, BITSET_LIST_ONLY).is_some();
    let bits = attributes(attribute(bitset, BITSET_BITS).unwrap_or_default());
    let bits = bits.filter(|(kind, _)| *kind == BITS_BIT).map(|(_, bit)| bit);
    let set = bits.filter(|bit| is_list || attribute(bit, BIT_VALUE).is_some());
    let mut names: Vec<String> = set.filter_map(|bit| attribute(bit, BIT_NAME).map(text)).collect();
    names.sort();
    names
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::netlink::testing::attribute_bytes;

    fn bit(name: &str, is_set: bool) -> Vec<u8> {
        let mut inner = attribute_bytes(BIT_NAME, format!("{name}\0").as_bytes());
        inner.extend(if is_set { attribute_bytes(BIT_VALUE, &[]) } else { Vec::new() });
        attribute_bytes(0x8000 | BITS_BIT, &inner)
    }

    fn answer() -> Vec<u8> {
        let active = [
            attribute_bytes(BITSET_LIST_ONLY, &[]),
            attribute_bytes(BITSET_BITS, &[bit("rx-gro", false), bit("loopback", false)].concat()),
        ];
        let changeable = attribute_bytes(
            BITSET_BITS,
            &[bit("rx-gro", true), bit("rx-lro", true), bit("tx-x", false)].concat(),
        );
        [
            vec![GET_FEATURES, 1, 0, 0],
            attribute_bytes(FEATURES_HEADER, &attribute_bytes(HEADER_DEVICE_NAME, b"eth0\0")),
            attribute_bytes(FEATURES_CHANGEABLE, &changeable),
            attribute_bytes(FEATURES_ACTIVE, &active.concat()),
        ]
        .concat()
    }

    #[test]
    fn active_and_available_offloads_are_parsed() {
        let (name, offloads) = parse(&answer()).unwrap();
        assert_eq!(name, "eth0");
        assert_eq!(
            offloads,
            Offloads { on: vec!["loopback".into(), "rx-gro".into()], off: vec!["rx-lro".into()] }
        );
        let family = [
            vec![1, 2, 0, 0],
            attribute_bytes(FAMILY_NAME, b"ethtool\0"),
            attribute_bytes(FAMILY_ID, &21u16.to_ne_bytes()),
        ];
        assert_eq!(parse_family(&family.concat()), Some(21));
        let other = [
            vec![1, 2, 0, 0],
            attribute_bytes(FAMILY_NAME, b"nlctrl\0"),
            attribute_bytes(FAMILY_ID, &[16, 0]),
        ];
        assert_eq!(parse_family(&other.concat()), None);
    }

    /// Goal: this machine's kernel is supported. A kernel without `ethtool` messages (before 5.6) is
    /// reported.
    #[test]
    fn the_loopback_interface_has_offloads() {
        match ask() {
            Ok(found) => assert!(found.get("lo").is_none_or(|lo| !lo.on.is_empty()), "{found:?}"),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_parsed_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..200) {
            let mut bytes = bytes;
            bytes.splice(0..0, answer().into_iter().take(at));
            parse(&bytes);
            parse_family(&bytes);
        }
    }
}
