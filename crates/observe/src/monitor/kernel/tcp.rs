//! `/proc/net/snmp`, `netstat` and `sockstat`: TCP of a network namespace.

use model::{Counter, Reading};

/// The columns of `snmp` that are used.
const SNMP: [(&str, Counter); 5] = [
    ("ActiveOpens", Counter::TcpActiveOpens),
    ("PassiveOpens", Counter::TcpPassiveOpens),
    ("OutSegs", Counter::TcpSegmentsSent),
    ("RetransSegs", Counter::TcpRetransmits),
    ("OutRsts", Counter::TcpResetsSent),
];

/// The columns of `netstat` that are used.
const NETSTAT: [(&str, Counter); 3] = [
    ("ListenOverflows", Counter::ListenOverflows),
    ("ListenDrops", Counter::ListenDrops),
    ("TCPSynRetrans", Counter::TcpSynRetransmits),
];

/// The columns of `sockstat` that are used. Sockets in use are those of IPv4; those in TIME-WAIT are of both
/// versions.
const SOCKETS: [(&str, Counter); 2] = [("inuse", Counter::TcpInUse), ("tw", Counter::TcpTimeWait)];

/// Parses `snmp`: for each protocol a line of names and one of numbers.
pub(super) fn parse_snmp(text: &str, into: &mut Vec<Reading>) {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    two_lines(lines.next(), lines.next(), &SNMP, into);
}

/// Parses `netstat`, which has the same form.
pub(super) fn parse_netstat(text: &str, into: &mut Vec<Reading>) {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    two_lines(lines.next(), lines.next(), &NETSTAT, into);
}

/// Parses `sockstat`: names and numbers in turn.
pub(super) fn parse_sockets(text: &str, into: &mut Vec<Reading>) {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("TCP:")) else { return };
    let mut words = line.split_ascii_whitespace();
    while let (Some(name), Some(number)) = (words.next(), words.next()) {
        push(name, number, &SOCKETS, into);
    }
}

fn two_lines(
    names: Option<&str>,
    numbers: Option<&str>,
    wanted: &[(&str, Counter)],
    into: &mut Vec<Reading>,
) {
    let (Some(names), Some(numbers)) = (names, numbers) else { return };
    for (name, number) in names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace()) {
        push(name, number, wanted, into);
    }
}

fn push(name: &str, number: &str, wanted: &[(&str, Counter)], into: &mut Vec<Reading>) {
    let Some((_, counter)) = wanted.iter().find(|(wanted, _)| *wanted == name) else { return };
    into.extend(number.parse().ok().map(|number| Reading::new(*counter, number)));
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use Counter::*;

    #[test]
    fn names_and_numbers_are_in_two_lines() {
        let text = "Ip: Forwarding DefaultTTL OutSegs\nIp: 2 64 1\n\
                    Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n\
                    Tcp: 1 200 120000 -1 43249538 41111731 2135560 1111427 20 638123765 638082709 157668 0 2955803 0\n\
                    Udp: InDatagrams\nUdp: 961\n";
        check(
            parse_snmp,
            text,
            &[
                (TcpActiveOpens, "", 43_249_538),
                (TcpPassiveOpens, "", 41_111_731),
                (TcpSegmentsSent, "", 638_082_709),
                (TcpRetransmits, "", 157_668),
                (TcpResetsSent, "", 2_955_803),
            ],
        );
        let text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPSynRetrans\nTcpExt: 1 2 3 4\nIpExt: InNoRoutes\nIpExt: 0\n";
        check(
            parse_netstat,
            text,
            &[(ListenOverflows, "", 2), (ListenDrops, "", 3), (TcpSynRetransmits, "", 4)],
        );
        check(parse_netstat, "TcpExt: ListenDrops\n", &[]);
    }

    #[test]
    fn sockets_are_name_number_pairs() {
        let text = "sockets: used 56\nTCP: inuse 23 orphan 0 tw 14109 alloc 32 mem 8\nUDP: inuse 0 mem 0\n";
        check(parse_sockets, text, &[(TcpInUse, "", 23), (TcpTimeWait, "", 14_109)]);
        check(parse_sockets, "TCP: inuse", &[]);
    }
}
