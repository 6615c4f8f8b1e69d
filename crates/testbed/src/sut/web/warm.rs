//! Cache warm-up of an accelerator before load begins, so that every load point finds it in the same state.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use http1::{
    BodyReader, ChunkError, HeadError, ParseStatus, RequestMethod, TruncatedBody, parse_final_response,
};
use model::FileSet;

use super::probe::ProbeError;

/// Size of one read of a response.
const BUFFER_BYTES: usize = 256 * 1024;

/// A file that a server does not serve.
#[derive(Debug)]
pub(super) struct NotServed {
    /// Its path.
    pub path: String,
    /// The reason.
    pub reason: FetchError,
}

/// A reason why a file was not fetched.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    /// No connection.
    #[error(transparent)]
    Connect(#[from] ProbeError),
    /// The connection failed.
    #[error(transparent)]
    Connection(#[from] io::Error),
    /// The connection ended before a response.
    #[error("it closed the connection before the end of a head")]
    NoHead,
    /// The response violates the protocol.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// Another status than 200.
    #[error("status {0}")]
    Status(u16),
    /// The body violates the protocol.
    #[error(transparent)]
    Body(#[from] ChunkError),
    /// The connection ended before the end of the body.
    #[error(transparent)]
    Truncated(#[from] TruncatedBody),
}

/// Requests every file once, over connections from `connect`, which are reused if the server keeps them.
/// `host` is the `Host` of the load: none over HTTP/1.0. Stops when `stop` is set.
///
/// # Errors
/// The first file that is not answered with status 200, and the problem.
pub(super) fn fetch_all<S: Read + Write>(
    files: &FileSet,
    host: Option<&str>,
    stop: &AtomicBool,
    connect: impl Fn() -> Result<S, ProbeError>,
) -> Result<(), NotServed> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut kept = None;
    for file in files.files.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
        let fetched = match kept.take() {
            Some(stream) => Ok(stream),
            None => connect().map_err(FetchError::from),
        };
        let fetched = fetched.and_then(|stream| fetch(stream, &file.path, host, &mut buffer));
        kept = fetched.map_err(|reason| NotServed { path: file.path.clone(), reason })?;
    }
    Ok(())
}

/// Requests one file and reads the response to its end; returns the connection if it can be reused.
fn fetch<S: Read + Write>(
    mut stream: S,
    path: &str,
    host: Option<&str>,
    buffer: &mut [u8],
) -> Result<Option<S>, FetchError> {
    let request = match host {
        Some(host) => format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        None => format!("GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
    };
    stream.write_all(request.as_bytes())?;
    let mut filled = 0;
    let (head, length) = loop {
        let n = stream.read(&mut buffer[filled..])?;
        if n == 0 {
            return Err(FetchError::NoHead);
        }
        filled += n;
        match parse_final_response(&buffer[..filled], RequestMethod::Get)? {
            ParseStatus::Partial => {}
            ParseStatus::Complete { head, length } => break (head.head, length),
        }
    };
    if head.status != 200 {
        return Err(FetchError::Status(head.status));
    }
    let mut body = BodyReader::of_response(head.framing);
    let mut rest = length..filled;
    while !body.is_done() {
        if rest.is_empty() {
            let n = stream.read(buffer)?;
            if n == 0 {
                body.end_of_input()?;
                return Ok(None);
            }
            rest = 0..n;
        }
        let decoded = body.read(&buffer[rest.clone()])?;
        rest.start += decoded.consumed;
    }
    Ok(head.keep_alive.then_some(stream))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use model::SetFile;

    use super::*;

    /// A connection with scripted responses that records its requests.
    struct Scripted<'a> {
        replies: &'a [u8],
        asked: &'a RefCell<String>,
    }

    impl Read for Scripted<'_> {
        /// Reads one byte at a time, so that heads and bodies arrive in pieces, and nothing before a request.
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = into.len().min(1);
            self.replies.read(&mut into[..n])
        }
    }

    impl Write for Scripted<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.asked.borrow_mut().push_str(&String::from_utf8_lossy(bytes));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn warm(connections: &[&str], host: Option<&str>) -> (Result<(), NotServed>, String) {
        let file = |path: &str| SetFile { object: 0, path: path.to_owned(), bytes: 5 };
        let files = FileSet { content_seed: 1, files: vec![file("/a"), file("/b")] };
        let asked = RefCell::new(String::new());
        let rest = RefCell::new(connections.iter());
        let warmed = fetch_all(&files, host, &AtomicBool::new(false), || {
            let none = || ProbeError::Connect(io::Error::other("no more connections"));
            let replies = rest.borrow_mut().next().ok_or_else(none)?;
            Ok(Scripted { replies: replies.as_bytes(), asked: &asked })
        });
        (warmed, asked.into_inner())
    }

    #[test]
    fn every_file_is_requested_on_as_few_connections_as_possible() {
        let five = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345";
        let (warmed, asked) = warm(&[&five.repeat(2)], Some("h:1"));
        warmed.unwrap();
        assert_eq!(asked, "GET /a HTTP/1.1\r\nHost: h:1\r\n\r\nGET /b HTTP/1.1\r\nHost: h:1\r\n\r\n");
        let closing = "HTTP/1.0 200 OK\r\n\r\n12345";
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n";
        let (warmed, asked) = warm(&[closing, chunked], None);
        warmed.unwrap();
        assert!(asked.starts_with("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), "{asked}");
    }

    #[test]
    fn failed_files_are_named() {
        let five = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345";
        for (connections, path, why) in [
            (&["HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"][..], "/a", "status 502"),
            (&[five], "/b", "before the end of a head"),
            (&[&five[..five.len() - 1]], "/a", "1 bytes missing"),
            (&[], "/a", "no more connections"),
        ] {
            let error = warm(connections, None).0.unwrap_err();
            assert!(error.path == path && error.reason.to_string().contains(why), "{error:?}");
        }
    }
}
