//! CGI/1.1 (RFC 3875): what the web server says of a request, and the form of the answer.

use std::ffi::OsString;
use std::io::{self, Write};

use super::page::Page;
use super::pause::PageLock;

/// The most bytes of an answer that are made before they are written.
const PIECE_BYTES: usize = 64 * 1024;

/// Answers the one request that the environment of a CGI process describes.
///
/// A page can be told to wait, but not to hold a lock: who would hold it are other processes, which share nothing.
/// Pass the whole environment and an unbuffered output: a small page takes one write.
///
/// # Errors
///
/// What writing came upon.
pub fn cgi(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut variables = Variables::default();
    for (name, value) in environment {
        variables.set(name.as_encoded_bytes(), value.as_encoded_bytes());
    }
    let mut page = variables.page().of_lone_process();
    PageLock::default().pause_thread(page.pause);
    let mut piece = head(&page);
    loop {
        page.body.append(&mut piece, PIECE_BYTES);
        if piece.is_empty() {
            return out.flush();
        }
        out.write_all(&piece)?;
        piece.clear();
    }
}

/// The variables that a page depends on.
#[derive(Debug, Default)]
pub(super) struct Variables {
    method: Vec<u8>,
    /// Path and query as the client sent them: not part of CGI/1.1, but every web server says it.
    uri: Vec<u8>,
    script: Vec<u8>,
    path_info: Vec<u8>,
    query: Vec<u8>,
}

impl Variables {
    /// Takes note of a variable, if it matters.
    pub(super) fn set(&mut self, name: &[u8], value: &[u8]) {
        let place = match name {
            b"REQUEST_METHOD" => &mut self.method,
            b"REQUEST_URI" => &mut self.uri,
            b"SCRIPT_NAME" => &mut self.script,
            b"PATH_INFO" => &mut self.path_info,
            b"QUERY_STRING" => &mut self.query,
            _ => return,
        };
        value.clone_into(place);
    }

    /// Returns the answer.
    ///
    /// The path is that of `REQUEST_URI`, since `SCRIPT_NAME` is what the web server has been told to
    /// call the program; only without it the path is `SCRIPT_NAME` and `PATH_INFO`.
    pub(super) fn page(&self) -> Page {
        if self.uri.is_empty() {
            let path = [&self.script[..], &self.path_info].concat();
            return Page::answer(&self.method, &path, &self.query);
        }
        let end = self.uri.iter().position(|byte| *byte == b'?').unwrap_or(self.uri.len());
        Page::answer(&self.method, &self.uri[..end], &self.query)
    }
}

/// Returns the head of an answer as CGI has it: a field for the status, then the others.
pub(super) fn head(page: &Page) -> Vec<u8> {
    let mut head = format!(
        "Status: {} {}\r\nContent-Length: {}\r\n",
        page.status,
        http1::reason_phrase(page.status),
        page.body.left()
    )
    .into_bytes();
    for (name, value) in page.fields() {
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            head.extend_from_slice(part);
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}

#[cfg(test)]
mod tests {
    use units::{Clock, Nanos, RealClock};

    use super::*;

    /// Runs the program with these variables and returns what it wrote.
    fn transcript(variables: &[(&str, &str)]) -> String {
        let environment = variables.iter().map(|(name, value)| (name.into(), value.into()));
        let mut out = Vec::new();
        cgi(environment, &mut out).unwrap();
        String::from_utf8(out).unwrap().replace('\r', "")
    }

    #[test]
    fn a_page_is_made_from_the_variables() {
        let found = transcript(&[
            ("GATEWAY_INTERFACE", "CGI/1.1"),
            ("REQUEST_METHOD", "GET"),
            ("SCRIPT_NAME", "/dyn"),
            ("QUERY_STRING", "size=8&seed=1"),
        ]);
        assert_eq!(
            found,
            "Status: 200 OK\nContent-Length: 8\nContent-Type: text/plain\nCache-Control: no-store\n\nQMZRHLAJ"
        );
    }

    #[test]
    fn the_uri_says_the_path_where_there_is_one() {
        let found = transcript(&[
            ("REQUEST_METHOD", "GET"),
            ("SCRIPT_NAME", "/plimsoll-cgi"),
            ("REQUEST_URI", "/cgi-bin/simple?size=64"),
            ("QUERY_STRING", "size=64"),
        ]);
        assert_eq!(
            found,
            "Status: 200 OK\nContent-Length: 64\nContent-Type: text/html\nCache-Control: no-store\n\n\
             <!DOCTYPE html><title>Made by a program</title><p>ASEROBDHGMPMRI"
        );
        let parts = [("REQUEST_METHOD", "GET"), ("SCRIPT_NAME", "/cgi-bin"), ("PATH_INFO", "/simple")];
        assert!(transcript(&parts).starts_with("Status: 200 OK\nContent-Length: 1024\n"));
    }

    #[test]
    fn refusals_have_their_status() {
        let found = transcript(&[
            ("REQUEST_METHOD", "GET"),
            ("SCRIPT_NAME", "/file.dyn-send"),
            ("QUERY_STRING", "size=many"),
        ]);
        assert_eq!(
            found,
            "Status: 400 Bad Request\nContent-Length: 75\nContent-Type: text/plain\nCache-Control: no-store\n\n\
             expected `size=N` with N from 1 to 10485760 and `seed=S` with S below 2^64\n"
        );
        assert!(transcript(&[]).starts_with("Status: 404 Not Found\n"));
        let head = transcript(&[("REQUEST_METHOD", "HEAD"), ("SCRIPT_NAME", "/dyn")]);
        assert!(head.starts_with("Status: 405 Method Not Allowed\n") && head.contains("\nAllow: GET\n"));
    }

    #[test]
    fn a_page_can_wait_but_not_hold_a_lock() {
        let ask = |query| {
            transcript(&[("REQUEST_METHOD", "GET"), ("SCRIPT_NAME", "/dyn"), ("QUERY_STRING", query)])
        };
        let clock = RealClock::start();
        assert!(ask("size=8&wait=20").ends_with("\n\nASEROBDH"));
        assert!(Nanos::from_millis(20) <= clock.now());
        let refused = ask("size=8&lock=10000");
        assert!(refused.starts_with("Status: 400 Bad Request\nContent-Length: 71\n"), "{refused}");
        assert!(
            refused.ends_with("\n\nexpected no `lock=MS`, for the processes of this program share nothing\n")
        );
    }

    /// Goal: memory does not grow with the page. Method: the output looks at the size of each write.
    #[test]
    fn large_pages_are_written_in_pieces() {
        struct Pieces(Vec<usize>);
        impl Write for Pieces {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.push(bytes.len());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let variables =
            [("REQUEST_METHOD", "GET"), ("SCRIPT_NAME", "/dyn"), ("QUERY_STRING", "size=10485760")];
        let mut out = Pieces(Vec::new());
        cgi(variables.map(|(name, value)| (name.into(), value.into())), &mut out).unwrap();
        assert!(out.0.iter().all(|bytes| *bytes <= 2 * PIECE_BYTES));
        assert!(10_485_760 < out.0.iter().sum::<usize>());
    }
}
