//! Entries of the access log.

use std::io::Write;
use std::net::SocketAddr;

use units::{Nanos, WallTime};

use super::time::TimestampCache;
use crate::message::{ClientVersion, RequestHandling};

/// The format of the access log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// The NCSA common log format.
    Common,
    /// The combined format: the same with `Referer` and `User-Agent`, as Apache and nginx write it.
    #[default]
    Combined,
    /// A JSON object per line, with all fields.
    Json,
}

/// An entry of the access log: a request that has been answered.
#[derive(Debug, Clone, Copy)]
pub struct LogEntry<'a> {
    /// The client's address.
    pub client: SocketAddr,
    /// The time at which the response was complete.
    pub time: WallTime,
    /// The method's name.
    pub method: &'a [u8],
    /// The requested host, with its port if given; may be empty.
    pub authority: &'a [u8],
    /// Path and query as sent.
    pub target: &'a [u8],
    /// The version of the client.
    pub version: ClientVersion,
    /// The value of `Referer`.
    pub referer: Option<&'a [u8]>,
    /// The value of `User-Agent`.
    pub user_agent: Option<&'a [u8]>,
    /// The status of the response.
    pub status: u16,
    /// Bytes of the response's body that were sent.
    pub body_bytes: u64,
    /// The time from the end of the request's head to the last byte of the response.
    pub duration: Nanos,
    /// The handling of the request.
    pub handling: RequestHandling,
}

impl LogEntry<'_> {
    /// Appends the line, with its end.
    pub(super) fn write(&self, form: LogFormat, stamp: &mut TimestampCache, out: &mut Vec<u8>) {
        match form {
            LogFormat::Common => self.write_common(stamp, out),
            LogFormat::Combined => {
                self.write_common(stamp, out);
                for value in [self.referer, self.user_agent] {
                    out.extend_from_slice(b" \"");
                    write_escaped(value.unwrap_or(b"-"), out);
                    out.push(b'"');
                }
            }
            LogFormat::Json => self.write_json(stamp, out),
        }
        out.push(b'\n');
    }

    fn write_common(&self, stamp: &mut TimestampCache, out: &mut Vec<u8>) {
        // Writing to memory does not fail.
        let _ = write!(out, "{} - - [{}] \"", self.client.ip().to_canonical(), stamp.common(self.time));
        write_escaped(self.method, out);
        out.push(b' ');
        write_escaped(self.target, out);
        let _ = write!(out, " {}\" {} ", self.version.as_str(), self.status);
        let _ = if self.body_bytes == 0 { write!(out, "-") } else { write!(out, "{}", self.body_bytes) };
    }

    fn write_json(&self, stamp: &mut TimestampCache, out: &mut Vec<u8>) {
        let _ = write!(
            out,
            r#"{{"time":"{}","client":"{}""#,
            stamp.iso(self.time),
            self.client.ip().to_canonical()
        );
        write_member("method", Some(self.method), out);
        write_member("host", Some(self.authority), out);
        write_member("target", Some(self.target), out);
        let _ = write!(
            out,
            r#","protocol":"{}","status":{},"body_bytes":{},"duration_ms":{:.3},"path":"{}","reason":"{}""#,
            self.version.as_str(),
            self.status,
            self.body_bytes,
            self.duration.as_millis_f64(),
            self.handling.path.name(),
            self.handling.reason.name(),
        );
        if let Some(time) = self.handling.origin_time {
            let _ = write!(out, r#","origin_ms":{:.3}"#, time.as_millis_f64());
        }
        write_member("referer", self.referer, out);
        write_member("user_agent", self.user_agent, out);
        out.push(b'}');
    }
}

/// Writes bytes so that they stay within their quotes and their line, as nginx does.
fn write_escaped(value: &[u8], out: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            b'"' | b'\\' | 0..0x20 | 0x7f.. => {
                let _ = write!(out, "\\x{byte:02X}");
            }
            _ => out.push(byte),
        }
    }
}

/// Writes a member of a JSON object, preceded by a comma, if there is a value. Bytes that are not UTF-8 are replaced.
fn write_member(name: &str, value: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(value) = value else { return };
    let _ = write!(out, r#","{name}":"#);
    let _ = serde_json::to_writer(out, &String::from_utf8_lossy(value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ProxyReason, ResponsePath};

    fn entry() -> LogEntry<'static> {
        LogEntry {
            client: "192.0.2.7:4711".parse().unwrap(),
            time: WallTime(784_111_777_123),
            method: b"GET",
            authority: b"example.com",
            target: b"/a?b=\"c\"",
            version: ClientVersion::Http11,
            referer: None,
            user_agent: Some(b"curl/8\n\xff"),
            status: 200,
            body_bytes: 5_125,
            duration: Nanos::from_micros(1_234),
            handling: RequestHandling {
                path: ResponsePath::Memory,
                reason: ProxyReason::Fresh.into(),
                origin_time: Some(Nanos::from_millis(40)),
            },
        }
    }

    fn line(entry: &LogEntry<'_>, form: LogFormat) -> String {
        let mut out = Vec::new();
        entry.write(form, &mut TimestampCache::default(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_common_format_matches_other_servers() {
        let expected =
            "192.0.2.7 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=\\x22c\\x22 HTTP/1.1\" 200 5125\n";
        assert_eq!(line(&entry(), LogFormat::Common), expected);
        let nothing = LogEntry { body_bytes: 0, status: 304, ..entry() };
        assert!(line(&nothing, LogFormat::Common).ends_with(" 304 -\n"));
    }

    #[test]
    fn the_combined_format_adds_two_fields_and_escapes_line_ends() {
        assert!(line(&entry(), LogFormat::Combined).ends_with(" 200 5125 \"-\" \"curl/8\\x0A\\xFF\"\n"));
    }

    #[test]
    fn the_json_format_has_every_field() {
        let json: serde_json::Value = serde_json::from_str(&line(&entry(), LogFormat::Json)).unwrap();
        let expected = serde_json::json!({
            "time": "1994-11-06T08:49:37.123Z",
            "client": "192.0.2.7",
            "method": "GET",
            "host": "example.com",
            "target": "/a?b=\"c\"",
            "protocol": "HTTP/1.1",
            "status": 200,
            "body_bytes": 5125,
            "duration_ms": 1.234,
            "path": "memory",
            "reason": "fresh",
            "origin_ms": 40.0,
            "user_agent": "curl/8\n\u{fffd}",
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn an_ipv4_mapped_address_is_written_as_ipv4() {
        let mapped = LogEntry { client: "[::ffff:192.0.2.7]:1".parse().unwrap(), ..entry() };
        assert!(line(&mapped, LogFormat::Common).starts_with("192.0.2.7 - - "));
    }
}
