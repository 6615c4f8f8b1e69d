//! The PROXY protocol, versions 1 and 2: the client address as told by a proxy in front of this one.
//!
//! A peer that may send the header decides which client address is logged, counted and forwarded to the origin. So it
//! is read only on listeners that enable it, only from peers that are trusted, and there every connection must begin
//! with it.
//!
//! | version | begins with | ends | longest |
//! |---|---|---|---|
//! | 1 | `PROXY ` | with its CR LF | 107 bytes |
//! | 2 | 12 bytes that no other protocol begins with | where its length says | 16 + 65,535 bytes; here [`PROXY_HEADER_BYTES_MAX`] |
//!
//! Source: "The PROXY protocol, versions 1 & 2", HAProxy Technologies; sections 2.1 and 2.2.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use http1::ParseStatus;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};
use units::Nanos;

/// The longest header of version 1, with its line end (section 2.1).
const LINE_BYTES_MAX: usize = 107;

/// The longest header that is accepted: room for what proxies add about the client's certificate.
pub const PROXY_HEADER_BYTES_MAX: usize = 4 * 1024;

const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

/// The length of signature, command, family and length of version 2.
const FIXED_BYTES: usize = 16;

/// A parsed header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyHeader {
    /// The client that connected to the proxy; `None` if the proxy connected for itself, or does not say.
    pub source: Option<SocketAddr>,
}

/// The error for bytes that are not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProxyError {
    /// They begin like neither version.
    #[error("connection does not begin with a PROXY protocol header")]
    Signature,
    /// The line of version 1 has no end.
    #[error("PROXY header of version 1 has no line end within 107 bytes")]
    LineTooLong,
    /// A part of the line of version 1 is wrong.
    #[error("PROXY header of version 1 has a wrong {0}")]
    Line(&'static str),
    /// The command of version 2, or the version itself, is unknown.
    #[error("PROXY header has version and command {0:#04x}, expected 0x20 or 0x21")]
    Command(u8),
    /// The family or the protocol of version 2 is unknown.
    #[error("PROXY header of version 2 has an unknown family and protocol {0:#04x}")]
    Family(u8),
    /// Version 2 announces fewer bytes than its addresses take.
    #[error("PROXY header of version 2 has {found} bytes of addresses, expected {expected}")]
    TooShort {
        /// Bytes announced.
        found: usize,
        /// Bytes that the family's addresses take.
        expected: usize,
    },
    /// Version 2 announces more bytes than are accepted.
    #[error("PROXY header of version 2 announces {0} bytes, more than are accepted")]
    TooLong(usize),
}

/// The reason for which a connection of a trusted peer has no header.
#[derive(Debug, Error)]
pub enum ProxyFailure {
    /// It begins with something else.
    #[error(transparent)]
    Refused(#[from] ProxyError),
    /// The connection ended before the header did.
    #[error("connection ended within the PROXY header")]
    Truncated,
    /// The header was not there in time.
    #[error("PROXY header did not arrive within the time limit")]
    TimedOut,
    /// Reading failed.
    #[error("PROXY header could not be read: {0}")]
    Io(#[from] io::Error),
}

/// Parses the header at the start of `bytes`; the client's own bytes follow it.
///
/// Call again with the same bytes and more after a [`ParseStatus::Partial`].
///
/// # Errors
///
/// Bytes that are not a header, or a header that no version defines: the connection is to be closed (section 2).
pub fn parse_proxy_header(bytes: &[u8]) -> Result<ParseStatus<ProxyHeader>, ProxyError> {
    const LINE_START: &[u8] = b"PROXY ";
    let begins = |start: &[u8]| {
        let length = bytes.len().min(start.len());
        bytes[..length] == start[..length]
    };
    if begins(SIGNATURE) {
        parse_binary(bytes)
    } else if begins(LINE_START) {
        parse_line(bytes)
    } else {
        Err(ProxyError::Signature)
    }
}

/// Reads the header that begins a connection. `input` holds the bytes read so far, and afterwards those that follow
/// the header. Returns the client that connected to the proxy, see [`ProxyHeader::source`].
///
/// # Errors
///
/// No header within `time_max`, or a wrong one: the connection is to be closed without a response.
pub async fn read_proxy_header<S>(
    stream: &mut S,
    input: &mut Vec<u8>,
    time_max: Nanos,
) -> Result<Option<SocketAddr>, ProxyFailure>
where
    S: AsyncRead + Unpin,
{
    let reading = async {
        loop {
            if let ParseStatus::Complete { head, length } = parse_proxy_header(input)? {
                input.drain(..length);
                return Ok(head.source);
            }
            if stream.read_buf(input).await? == 0 {
                return Err(ProxyFailure::Truncated);
            }
        }
    };
    let within = tokio::time::timeout(Duration::from_nanos(time_max.0), reading);
    within.await.unwrap_or(Err(ProxyFailure::TimedOut))
}

/// Parses version 1: `PROXY TCP4 192.0.2.1 198.51.100.1 4711 443`.
fn parse_line(bytes: &[u8]) -> Result<ParseStatus<ProxyHeader>, ProxyError> {
    let window = &bytes[..bytes.len().min(LINE_BYTES_MAX)];
    let Some(end) = window.windows(2).position(|pair| pair == b"\r\n") else {
        let is_full = window.len() == LINE_BYTES_MAX;
        return if is_full { Err(ProxyError::LineTooLong) } else { Ok(ParseStatus::Partial) };
    };
    let line = std::str::from_utf8(&window[..end]).map_err(|_| ProxyError::Line("character"))?;
    let mut words = line.split(' ').skip(1);
    let source = match words.next() {
        Some("TCP4") => Some(addresses::<Ipv4Addr>(words)?),
        Some("TCP6") => Some(addresses::<Ipv6Addr>(words)?),
        // The rest of the line is to be ignored.
        Some("UNKNOWN") => None,
        _ => return Err(ProxyError::Line("protocol")),
    };
    Ok(ParseStatus::Complete { head: ProxyHeader { source }, length: end + 2 })
}

/// Reads two addresses and two ports, and returns the first of each.
fn addresses<'a, A>(mut words: impl Iterator<Item = &'a str>) -> Result<SocketAddr, ProxyError>
where
    A: FromStr + Into<IpAddr>,
{
    let mut address =
        |part| words.next().and_then(|word| word.parse::<A>().ok()).ok_or(ProxyError::Line(part));
    let source = address("source address")?;
    let _ = address("destination address")?;
    let mut port = |part| words.next().and_then(parse_port).ok_or(ProxyError::Line(part));
    let source_port = port("source port")?;
    let _ = port("destination port")?;
    match words.next() {
        None => Ok(SocketAddr::new(source.into(), source_port)),
        Some(_) => Err(ProxyError::Line("number of words")),
    }
}

/// Reads a decimal number without leading zeros (section 2.1).
fn parse_port(word: &str) -> Option<u16> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit()) && (word == "0" || !word.starts_with('0'));
    if is_plain { word.parse().ok() } else { None }
}

/// Parses version 2. The extensions (TLVs) after the addresses are skipped.
fn parse_binary(bytes: &[u8]) -> Result<ParseStatus<ProxyHeader>, ProxyError> {
    let Some((fixed, rest)) = bytes.split_first_chunk::<FIXED_BYTES>() else {
        return Ok(ParseStatus::Partial);
    };
    let [.., command, family, high, low] = *fixed;
    let announced = usize::from(u16::from_be_bytes([high, low]));
    let is_proxied = match command {
        0x20 => false,
        0x21 => true,
        other => return Err(ProxyError::Command(other)),
    };
    if PROXY_HEADER_BYTES_MAX - FIXED_BYTES < announced {
        return Err(ProxyError::TooLong(announced));
    }
    let Some(block) = rest.get(..announced) else {
        return Ok(ParseStatus::Partial);
    };
    // The addresses of the proxy's own connections mean nothing (section 2.2).
    let source = if is_proxied { source_of(family, block)? } else { None };
    Ok(ParseStatus::Complete { head: ProxyHeader { source }, length: FIXED_BYTES + announced })
}

/// Reads the source from an address block: both addresses, then both ports.
fn source_of(family: u8, block: &[u8]) -> Result<Option<SocketAddr>, ProxyError> {
    let too_short = |expected| ProxyError::TooShort { found: block.len(), expected };
    match family {
        // TCP over IPv4 and IPv6.
        0x11 => {
            let block = block.first_chunk::<12>().ok_or(too_short(12))?;
            let [a, b, c, d, _, _, _, _, high, low, _, _] = *block;
            Ok(Some(SocketAddr::from(([a, b, c, d], u16::from_be_bytes([high, low])))))
        }
        0x21 => {
            let block = block.first_chunk::<36>().ok_or(too_short(36))?;
            let mut address = [0; 16];
            address.copy_from_slice(&block[..16]);
            Ok(Some(SocketAddr::from((address, u16::from_be_bytes([block[32], block[33]])))))
        }
        // Unspecified; datagrams; Unix sockets: no address of a client.
        0x00 | 0x12 | 0x22 => Ok(None),
        0x31 | 0x32 if block.len() < 216 => Err(too_short(216)),
        0x31 | 0x32 => Ok(None),
        other => Err(ProxyError::Family(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the source of a header and the number of bytes that follow it, as text.
    fn parsed(bytes: &[u8]) -> Result<String, ProxyError> {
        Ok(match parse_proxy_header(bytes)? {
            ParseStatus::Partial => "partial".into(),
            ParseStatus::Complete { head, length } => {
                let source = head.source.map_or("unknown".into(), |source| source.to_string());
                format!("{source} +{}", bytes.len() - length)
            }
        })
    }

    /// A header of version 2.
    fn binary(command: u8, family: u8, block: &[u8]) -> Vec<u8> {
        let length = u16::try_from(block.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, block].concat()
    }

    /// The block of TCP over IPv4 from 192.0.2.1:4711.
    const BLOCK4: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 1, 0x12, 0x67, 1, 187];

    fn block6() -> Vec<u8> {
        let address = |text: &str| text.parse::<Ipv6Addr>().unwrap().octets();
        [&address("2001:db8::1")[..], &address("2001:db8::2"), &[0x12, 0x67, 1, 187]].concat()
    }

    #[test]
    fn version_1_headers_name_the_client() {
        let cases = [
            ("PROXY TCP4 192.0.2.1 198.51.100.1 4711 443\r\nGET", "192.0.2.1:4711 +3"),
            ("PROXY TCP4 255.255.255.255 255.255.255.255 65535 0\r\n", "255.255.255.255:65535 +0"),
            ("PROXY TCP6 2001:db8::1 2001:db8::2 4711 443\r\n", "[2001:db8::1]:4711 +0"),
            ("PROXY UNKNOWN\r\n", "unknown +0"),
            ("PROXY UNKNOWN ffff::1 whatever it is\r\nG", "unknown +1"),
        ];
        for (text, expected) in cases {
            assert_eq!(parsed(text.as_bytes()).as_deref(), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn version_2_headers_name_the_client_and_tlvs_are_skipped() {
        let cases = [
            (binary(0x21, 0x11, &BLOCK4), "192.0.2.1:4711 +0"),
            (binary(0x21, 0x11, &[&BLOCK4[..], &[0x04, 0, 1, 0]].concat()), "192.0.2.1:4711 +0"),
            ([binary(0x21, 0x11, &BLOCK4), b"GET".to_vec()].concat(), "192.0.2.1:4711 +3"),
            (binary(0x21, 0x21, &block6()), "[2001:db8::1]:4711 +0"),
            (binary(0x20, 0x00, b""), "unknown +0"),
            (binary(0x20, 0x11, &BLOCK4), "unknown +0"),
            (binary(0x20, 0xff, b"whatever"), "unknown +0"),
            (binary(0x21, 0x00, b"abc"), "unknown +0"),
            (binary(0x21, 0x12, &BLOCK4), "unknown +0"),
            (binary(0x21, 0x31, &[0; 216]), "unknown +0"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(parsed(&bytes).as_deref(), Ok(expected), "{bytes:?}");
        }
    }

    #[test]
    fn every_prefix_of_a_header_is_partial() {
        let line = b"PROXY TCP4 192.0.2.1 198.51.100.1 4711 443\r\n".to_vec();
        for whole in [line, binary(0x21, 0x11, &BLOCK4), binary(0x21, 0x21, &block6())] {
            for end in 0..whole.len() {
                assert_eq!(parsed(&whole[..end]).as_deref(), Ok("partial"), "{end} of {whole:?}");
            }
        }
    }

    #[test]
    fn invalid_version_1_headers_are_refused() {
        let cases = [
            ("PROXY TCP5 192.0.2.1 198.51.100.1 1 2\r\n", "protocol"),
            ("PROXY tcp4 192.0.2.1 198.51.100.1 1 2\r\n", "protocol"),
            ("PROXY \r\n", "protocol"),
            ("PROXY  TCP4 192.0.2.1 198.51.100.1 1 2\r\n", "protocol"),
            ("PROXY TCP4 2001:db8::1 198.51.100.1 1 2\r\n", "source address"),
            ("PROXY TCP4 192.0.2.01 198.51.100.1 1 2\r\n", "source address"),
            ("PROXY TCP6 192.0.2.1 198.51.100.1 1 2\r\n", "source address"),
            ("PROXY TCP4 192.0.2.1 example.org 1 2\r\n", "destination address"),
            ("PROXY TCP4 192.0.2.1 198.51.100.1\r\n", "source port"),
            ("PROXY TCP4 192.0.2.1 198.51.100.1 65536 2\r\n", "source port"),
            ("PROXY TCP4 192.0.2.1 198.51.100.1 +1 2\r\n", "source port"),
            ("PROXY TCP4 192.0.2.1 198.51.100.1 01 2\r\n", "source port"),
            ("PROXY TCP4 192.0.2.1 198.51.100.1 1 \r\n", "destination port"),
            ("PROXY TCP4 192.0.2.1 198.51.100.1 1 2 3\r\n", "number of words"),
            ("PROXY TCP4 192.0.2.1 198.51.100.1 1 2 \r\n", "number of words"),
            ("PROXY TCP4 192.0.2.1 198.51.100.1 1 2\nGET / HTTP/1.1\r\n", "destination port"),
        ];
        for (text, part) in cases {
            assert_eq!(parsed(text.as_bytes()), Err(ProxyError::Line(part)), "{text:?}");
        }
        assert_eq!(parsed(b"PROXY UNKNOWN \xff\r\n"), Err(ProxyError::Line("character")));
        let endless = [&b"PROXY UNKNOWN "[..], &[b'x'; 200]].concat();
        assert_eq!(parsed(&endless), Err(ProxyError::LineTooLong));
        assert_eq!(parsed(&endless[..106]).as_deref(), Ok("partial"));
    }

    #[test]
    fn other_input_is_refused_at_the_first_differing_byte() {
        for text in
            ["G", "GET / HTTP/1.1\r\n", "PROXy", "PROXYX", "proxy TCP4", "\r\nGET", "\r\n\r\n\0\r\nQUIT\r"]
        {
            assert_eq!(parsed(text.as_bytes()), Err(ProxyError::Signature), "{text:?}");
        }
    }

    #[test]
    fn invalid_version_2_headers_are_refused() {
        let cases = [
            (binary(0x11, 0x11, &BLOCK4), ProxyError::Command(0x11)),
            (binary(0x22, 0x11, &BLOCK4), ProxyError::Command(0x22)),
            (binary(0x21, 0x13, &BLOCK4), ProxyError::Family(0x13)),
            (binary(0x21, 0x41, &BLOCK4), ProxyError::Family(0x41)),
            (binary(0x21, 0x11, &BLOCK4[..11]), ProxyError::TooShort { found: 11, expected: 12 }),
            (binary(0x21, 0x21, &BLOCK4), ProxyError::TooShort { found: 12, expected: 36 }),
            (binary(0x21, 0x31, &[0; 215]), ProxyError::TooShort { found: 215, expected: 216 }),
            (binary(0x21, 0x11, &[0; 4081]), ProxyError::TooLong(4081)),
        ];
        for (bytes, error) in cases {
            assert_eq!(parsed(&bytes), Err(error));
        }
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn input_before_and_after_the_header_is_preserved() {
        run(async {
            let mut rest: &[u8] = b"2.0.2.1 198.51.100.1 4711 443\r\nGET / HTTP/1.1\r\n";
            let mut input = b"PROXY TCP4 19".to_vec();
            let source = read_proxy_header(&mut rest, &mut input, Nanos::from_secs(10)).await.unwrap();
            assert_eq!(source.map(|source| source.to_string()).as_deref(), Some("192.0.2.1:4711"));
            let all = [&input[..], rest].concat();
            assert_eq!(all, b"GET / HTTP/1.1\r\n");
        });
    }

    #[test]
    fn a_truncated_or_missing_header_is_a_failure() {
        run(async {
            let time_max = Nanos::from_millis(20);
            let mut cut: &[u8] = b"PROXY TCP4 ";
            let failure = read_proxy_header(&mut cut, &mut Vec::new(), time_max).await;
            assert!(matches!(failure, Err(ProxyFailure::Truncated)), "{failure:?}");
            let (mut silent, _held) = tokio::io::duplex(16);
            let failure = read_proxy_header(&mut silent, &mut Vec::new(), time_max).await;
            assert!(matches!(failure, Err(ProxyFailure::TimedOut)), "{failure:?}");
        });
    }
}
