//! Queueing disciplines: drops, requeues and backlog of interfaces.

use std::collections::BTreeMap;
use std::io;

use model::{Counter, Reading};
use rustix::net::netdevice::index_to_name;

use crate::netlink::{Socket, attribute, u32_at};

/// Source: Linux, include/uapi/linux/rtnetlink.h and gen_stats.h.
const GET_QDISC: u16 = 38;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;
/// Size of `struct tcmsg`, which forms a request and the start of an answer; all zero means any.
const HEADER_BYTES: usize = 20;

/// Reads the disciplines by interface. If several are stacked, the largest number counts: outer ones repeat
/// the counts of inner ones, or do not count at all.
pub(super) fn read(socket: &mut Socket, into: &mut Vec<Reading>) -> io::Result<()> {
    let mut interfaces: BTreeMap<u32, QueueStats> = BTreeMap::new();
    socket.dump(GET_QDISC, &[0; HEADER_BYTES], |payload| {
        if let Some((interface, queue)) = parse(payload) {
            let largest = interfaces.entry(interface).or_default();
            largest.backlog = largest.backlog.max(queue.backlog);
            largest.drops = largest.drops.max(queue.drops);
            largest.overlimits = largest.overlimits.max(queue.overlimits);
        }
    })?;
    for (interface, queue) in interfaces {
        // The interface may have disappeared in the meantime.
        let Ok(name) = index_to_name(&*socket, interface) else { continue };
        into.push(Reading::of(Counter::QueueDrops, &*name, u64::from(queue.drops)));
        into.push(Reading::of(Counter::QueueOverlimits, &*name, u64::from(queue.overlimits)));
        into.push(Reading::of(Counter::QueueBacklog, name, u64::from(queue.backlog)));
    }
    Ok(())
}

/// The counters of one discipline.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueStats {
    backlog: u32,
    drops: u32,
    overlimits: u32,
}

/// Parses the index of an interface and its discipline; `None` if it never queues packets.
pub(super) fn parse(payload: &[u8]) -> Option<(u32, QueueStats)> {
    let interface = u32_at(payload, 4)?;
    let rest = payload.get(HEADER_BYTES..)?;
    if attribute(rest, TCA_KIND)? == b"noqueue\0" {
        return None;
    }
    // `struct gnet_stats_queue`: length in packets, in bytes, drops, requeues, overlimits.
    let numbers = attribute(attribute(rest, TCA_STATS2)?, TCA_STATS_QUEUE)?;
    let queue = QueueStats {
        backlog: u32_at(numbers, 4)?,
        drops: u32_at(numbers, 8)?,
        overlimits: u32_at(numbers, 16)?,
    };
    Some((interface, queue))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::testing::attribute_bytes;

    fn answer(kind: &[u8], numbers: [u32; 5]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..8].copy_from_slice(&3u32.to_ne_bytes());
        bytes.extend(attribute_bytes(TCA_KIND, kind));
        let numbers = numbers.map(u32::to_ne_bytes).concat();
        bytes.extend(attribute_bytes(TCA_STATS2, &attribute_bytes(TCA_STATS_QUEUE, &numbers)));
        bytes
    }

    #[test]
    fn queue_counters_are_parsed_from_attributes() {
        let queue = QueueStats { backlog: 1514, drops: 7, overlimits: 9 };
        assert_eq!(parse(&answer(b"tbf\0", [1, 1514, 7, 0, 9])), Some((3, queue)));
        assert_eq!(parse(&answer(b"noqueue\0", [0; 5])), None);
        assert_eq!(parse(&[0; HEADER_BYTES]), None);
    }
}
