//! The times that a server states in the field `Server-Timing`.
//!
//! Source: W3C, Server Timing, section 3: `queue;dur=0.041, service;dur=1.25`, in milliseconds.

use http1::headers;
use units::Nanos;

/// The times that a server states; one that it leaves out is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ServerTimes {
    /// The time in the queue.
    pub(super) queue: Option<Nanos>,
    /// The time of service.
    pub(super) service: Option<Nanos>,
}

impl ServerTimes {
    /// Reads the times in a head; `None` if one of them has a duration that is none.
    pub(super) fn of_head(head: &[u8]) -> Option<ServerTimes> {
        let mut times = ServerTimes::default();
        let fields = headers(head).filter(|(name, _)| name.eq_ignore_ascii_case(b"server-timing"));
        for metric in fields.flat_map(|(_, value)| split_unquoted(value, b',')) {
            let mut parts = split_unquoted(metric, b';').map(<[u8]>::trim_ascii);
            let time = match parts.next() {
                Some(b"queue") => &mut times.queue,
                Some(b"service") => &mut times.service,
                _ => continue,
            };
            if let Some(text) = parts.find_map(duration_text) {
                *time = Some(duration(text)?);
            }
        }
        Some(times)
    }
}

/// Returns the value of a parameter `dur`.
fn duration_text(parameter: &[u8]) -> Option<&[u8]> {
    let equals = parameter.iter().position(|byte| *byte == b'=')?;
    let (name, value) = parameter.split_at(equals);
    name.trim_ascii().eq_ignore_ascii_case(b"dur").then(|| value[1..].trim_ascii())
}

/// Reads milliseconds, which may be quoted.
fn duration(text: &[u8]) -> Option<Nanos> {
    let text = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text);
    let milliseconds: f64 = str::from_utf8(text).ok()?.parse().ok()?;
    (milliseconds.is_finite() && 0.0 <= milliseconds).then(|| Nanos::from_secs_f64(milliseconds / 1e3))
}

/// Splits at a separator outside of quoted strings, in which a backslash escapes the next byte.
fn split_unquoted(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    text.split(move |byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ => return !is_quoted && *byte == separator,
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(fields: &str) -> Option<[Option<u64>; 2]> {
        let times = ServerTimes::of_head(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n").as_bytes())?;
        Some([times.queue, times.service].map(|time| Some(time?.0)))
    }

    #[test]
    fn times_are_milliseconds_with_a_fraction() {
        let both = Some([Some(41_000), Some(1_250_001)]);
        for fields in [
            "Server-Timing: queue;dur=0.041, service;dur=1.250001",
            "server-timing: service; dur = 1.250001 ,queue ;DUR=\"0.041\"",
            "Server-Timing: queue;dur=0.041\r\nA: b\r\nServer-Timing: service;desc=\"a, queue;dur=7\";dur=1.250001",
            "Server-Timing: db;dur=9, service;desc=\"\\\",\";dur=1.250001;dur=5, queue;dur=.041, cache",
        ] {
            assert_eq!(times(fields), both, "{fields}");
        }
    }

    /// A time that is absent is unknown, never 0; 0 is 0.
    #[test]
    fn a_time_that_is_not_stated_is_not_known() {
        assert_eq!(times("Server: x"), Some([None, None]));
        assert_eq!(times("Server-Timing: queue, service;desc=x"), Some([None, None]));
        assert_eq!(times("Server-Timing: Queue;dur=1, total;dur=2"), Some([None, None]));
        assert_eq!(times("Server-Timing: service;dur=0"), Some([None, Some(0)]));
    }

    #[test]
    fn a_duration_that_is_none_is_a_fault() {
        for wrong in ["-1", "nan", "inf", "1ms", "", "\"1"] {
            assert_eq!(times(&format!("Server-Timing: queue;dur={wrong}")), None, "{wrong}");
        }
    }
}
