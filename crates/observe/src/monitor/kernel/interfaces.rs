//! `/proc/net/dev`: traffic by network interface. Also link speeds.

use model::{Counter, Reading};

/// Parses `net/dev`: after the name eight receive columns, then eight transmit columns.
///
/// Interfaces that never had any traffic are left out.
pub(crate) fn parse(text: &str, into: &mut Vec<Reading>) {
    for line in text.lines() {
        let Some((name, rest)) = line.rsplit_once(':') else { continue };
        let numbers: Vec<u64> = rest.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
        let &[
            received_bytes,
            received,
            errors,
            drops,
            _,
            _,
            _,
            _,
            sent_bytes,
            sent,
            sent_errors,
            sent_drops,
            ..,
        ] = &numbers[..]
        else {
            continue;
        };
        if received == 0 && sent == 0 {
            continue;
        }
        let values = [
            (Counter::NetReceivedBytes, received_bytes),
            (Counter::NetReceivedPackets, received),
            (Counter::NetSentBytes, sent_bytes),
            (Counter::NetSentPackets, sent),
            (Counter::NetErrors, errors.saturating_add(sent_errors)),
            (Counter::NetDrops, drops.saturating_add(sent_drops)),
        ];
        into.extend(values.map(|(counter, value)| Reading::of(counter, name.trim(), value)));
    }
}

/// Parses `speed` of one interface: Mbit/s; −1, or an error, if it has none.
pub(crate) fn parse_speed(interface: &str, text: &str, into: &mut Vec<Reading>) {
    let mbits = text.trim().parse::<u64>().ok().filter(|mbits| *mbits != 0);
    into.extend(
        mbits.map(|mbits| Reading::of(Counter::NetSpeed, interface, mbits.saturating_mul(1_000_000))),
    );
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use Counter::*;

    const HEAD: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
";

    #[test]
    fn both_directions_are_parsed_and_their_errors_added() {
        let text = format!(
            "{HEAD}    lo: 1000 10    0 5    0     0          0         0 1000 10    0    0    0     0       0          0\n\
             \x20 ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n\
             \x20 eth0:369355154   14446    1    2    9     9          9         9   844860    9135    3    4    9     9       9          9\n\
             \x20 eth1: 1 2 3\n"
        );
        check(
            parse,
            &text,
            &[
                (NetReceivedBytes, "lo", 1000),
                (NetReceivedPackets, "lo", 10),
                (NetSentBytes, "lo", 1000),
                (NetSentPackets, "lo", 10),
                (NetErrors, "lo", 0),
                (NetDrops, "lo", 5),
                (NetReceivedBytes, "eth0", 369_355_154),
                (NetReceivedPackets, "eth0", 14_446),
                (NetSentBytes, "eth0", 844_860),
                (NetSentPackets, "eth0", 9135),
                (NetErrors, "eth0", 4),
                (NetDrops, "eth0", 6),
            ],
        );
    }

    #[test]
    fn a_speed_that_is_not_known_is_left_out() {
        let read = |text: &str, into: &mut Vec<Reading>| parse_speed("eth0", text, into);
        check(read, "10000\n", &[(NetSpeed, "eth0", 10_000_000_000)]);
        check(read, "-1\n", &[]);
        check(read, "0\n", &[]);
    }
}
