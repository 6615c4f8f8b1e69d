//! CGI/1.1 (RFC 3875): request variables in, response out.

use std::ffi::OsString;
use std::io::{self, Write};

use super::page::GeneratedPage;
use super::page_delay::PageLock;

/// The most bytes of a response that are generated before they are written.
const PIECE_BYTES: usize = 64 * 1024;

/// Answers the one request that the environment of a CGI process describes.
///
/// A page can be told to wait, but not to hold a lock: the processes of a CGI program share nothing. Pass the
/// whole environment and an unbuffered output: a small page takes one write.
///
/// # Errors
///
/// The error of the output.
pub fn cgi(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut variables = Variables::default();
    for (name, value) in environment {
        variables.set(name.as_encoded_bytes(), value.as_encoded_bytes());
    }
    let mut page = variables.page().without_lock();
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

/// The request variables that a page depends on.
#[derive(Debug, Default)]
pub(super) struct Variables {
    method: Vec<u8>,
    /// Path and query as the client sent them: not part of CGI/1.1, but every web server passes it.
    uri: Vec<u8>,
    script: Vec<u8>,
    path_info: Vec<u8>,
    query: Vec<u8>,
}

impl Variables {
    /// Stores a variable if a page depends on it.
    pub(super) fn set(&mut self, name: &[u8], value: &[u8]) {
        let slot = match name {
            b"REQUEST_METHOD" => &mut self.method,
            b"REQUEST_URI" => &mut self.uri,
            b"SCRIPT_NAME" => &mut self.script,
            b"PATH_INFO" => &mut self.path_info,
            b"QUERY_STRING" => &mut self.query,
            _ => return,
        };
        value.clone_into(slot);
    }

    /// Returns the page that the variables ask for.
    ///
    /// The path is that of `REQUEST_URI`, since `SCRIPT_NAME` is the name under which the web server was
    /// configured to run the program; without `REQUEST_URI` the path is `SCRIPT_NAME` followed by
    /// `PATH_INFO`.
    pub(super) fn page(&self) -> GeneratedPage {
        if self.uri.is_empty() {
            let path = [&self.script[..], &self.path_info].concat();
            return GeneratedPage::answer(&self.method, &path, &self.query);
        }
        let end = self.uri.iter().position(|byte| *byte == b'?').unwrap_or(self.uri.len());
        GeneratedPage::answer(&self.method, &self.uri[..end], &self.query)
    }
}

/// Returns the head of a CGI response: the `Status` field, then the others.
pub(super) fn head(page: &GeneratedPage) -> Vec<u8> {
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
    fn variables_select_the_page() {
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
    fn request_uri_takes_precedence_over_script_name() {
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
    fn bad_requests_get_404_or_405() {
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
    fn wait_is_accepted_and_lock_is_refused() {
        let ask = |query| {
            transcript(&[("REQUEST_METHOD", "GET"), ("SCRIPT_NAME", "/dyn"), ("QUERY_STRING", query)])
        };
        let clock = RealClock::start();
        assert!(ask("size=8&wait=20").ends_with("\n\nASEROBDH"));
        assert!(Nanos::from_millis(20) <= clock.now());
        let refused = ask("size=8&lock=10000");
        assert!(refused.starts_with("Status: 400 Bad Request\nContent-Length: 75\n"), "{refused}");
        assert!(
            refused.ends_with(
                "\n\nexpected no `lock=MS`, because the processes of this program share nothing\n"
            )
        );
    }

    /// Goal: memory does not grow with the page. Method: the output checks the size of each write.
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
