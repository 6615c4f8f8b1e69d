//! Fetching of metrics pages with one GET over plain HTTP, within limits. Blocking: for dedicated threads.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use http_lite::{ClientError, ResponseReader, fetch_blocking};
use http1::RequestMethod;
use languages::{HttpUrl, HttpUrlError, UrlScheme, foreign_text};
use model::{ForbiddenObserver, check_observer};

/// The URL of a page: `http://HOST[:PORT]/PATH?QUERY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageUrl {
    text: String,
    parts: HttpUrl,
}

/// A text that is not the URL of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageUrlError {
    /// It is not a URL.
    #[error(transparent)]
    Url(#[from] HttpUrlError),
    /// It is not one of plain HTTP.
    #[error("expected a URL that begins with `http://`")]
    Scheme,
}

/// A reason why a page was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum PageFetchError {
    /// The host has no address.
    #[error("`{address}`: {error}")]
    Name {
        /// Host and port.
        address: String,
        /// The failure of the resolver.
        error: io::Error,
    },
    /// An address of the host is forbidden.
    #[error(transparent)]
    Forbidden(#[from] ForbiddenObserver),
    /// The server refused.
    #[error("the server answered with status {0}, expected 200")]
    Status(u16),
    /// No complete response arrived.
    #[error("{}", foreign_text(&.0.to_string()))]
    Response(#[from] ClientError),
}

/// Limits of a fetch.
#[derive(Debug, Clone, Copy)]
pub struct FetchLimits {
    /// From connecting to the last byte; name resolution is not limited by it.
    pub time: Duration,
    /// Maximum size of the body, in bytes.
    pub bytes: usize,
}

impl PageUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// The URL is not one of plain HTTP.
    pub fn parse(url: &str) -> Result<PageUrl, PageUrlError> {
        let parts: HttpUrl = url.parse()?;
        match parts.scheme {
            Some(UrlScheme::Http) => Ok(PageUrl { text: url.to_owned(), parts }),
            Some(UrlScheme::Https) | None => Err(PageUrlError::Scheme),
        }
    }

    /// Returns path and query, as in a request.
    fn target(&self) -> &str {
        if self.parts.target.is_empty() { "/" } else { &self.parts.target }
    }

    /// Resolves the host and checks its addresses. A name without addresses may get some before the page is
    /// fetched; they are checked then.
    ///
    /// # Errors
    /// An address is forbidden.
    pub fn check(&self) -> Result<(), ForbiddenObserver> {
        let addresses = self.parts.address().to_socket_addrs();
        check_observer(&addresses.map_or_else(|_| Vec::new(), Iterator::collect::<Vec<_>>))
    }

    /// Returns the URL as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Fetches the page over a new connection.
    ///
    /// # Errors
    /// The page does not arrive completely, within the limits and with status 200.
    pub fn fetch(&self, limits: FetchLimits) -> Result<String, PageFetchError> {
        let address = self.parts.address();
        let addresses: Vec<SocketAddr> = match address.to_socket_addrs() {
            Ok(addresses) => addresses.collect(),
            Err(error) => return Err(PageFetchError::Name { address, error }),
        };
        // The checked addresses are used for the connection: the name is resolved once.
        check_observer(&addresses)?;
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nAccept: text/plain\r\nConnection: close\r\n\r\n",
            self.target(),
            self.parts.authority()
        );
        let mut response = ResponseReader::new(RequestMethod::Get, limits.bytes);
        let fetched = fetch_blocking(&addresses, request.as_bytes(), &mut response, limits.time);
        if let Some(head) = response.head().filter(|head| head.status != 200) {
            return Err(PageFetchError::Status(head.status));
        }
        fetched?;
        Ok(String::from_utf8_lossy(response.body()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    const LIMITS: FetchLimits = FetchLimits { time: Duration::from_secs(10), bytes: 100 };

    /// Fetches a page from a server that answers with these pieces and closes the connection; also returns
    /// the request.
    fn check(pieces: &[&str]) -> (Result<String, PageFetchError>, String) {
        let answer: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/status?auto", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                asked.extend(byte);
            }
            // The client may have closed already.
            let _ = answer.iter().try_for_each(|piece| stream.write_all(piece.as_bytes()));
            String::from_utf8(asked).unwrap()
        });
        let page = PageUrl::parse(&url).unwrap().fetch(LIMITS);
        (page, server.join().unwrap())
    }

    #[test]
    fn a_page_comes_in_pieces_and_in_every_framing() {
        let (page, asked) = check(&["HTTP/1.1 200 OK\r\nContent-", "Length: 5\r\n\r\nhe", "llo and more"]);
        assert_eq!(page.unwrap(), "hello");
        assert!(asked.starts_with("GET /status?auto HTTP/1.1\r\nHost: 127.0.0.1:"), "{asked}");
        assert!(asked.contains("\r\nConnection: close\r\n"), "{asked}");
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(check(&[chunked, "2\r\nhe\r\n3\r\nll", "o\r\n0\r\n\r\n"]).0.unwrap(), "hello");
        assert_eq!(check(&["HTTP/1.0 200 OK\r\n\r\nhello"]).0.unwrap(), "hello");
    }

    #[test]
    fn incomplete_pages_are_errors() {
        let long = "HTTP/1.0 200 OK\r\n\r\n0123456789012345678901234567890123456789012345678901234567890\
                    1234567890123456789012345678901234567890";
        for (pieces, said) in [
            (&["HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"][..], "status 503"),
            (&["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"][..], "3 bytes missing"),
            (&["HTTP/1.1 200 OK\r\nCont"][..], "before the response was complete"),
            (&["SSH-2.0-OpenSSH_9.2\r\n"][..], "version"),
            (&[long][..], "exceeds 100 bytes"),
        ] {
            let error = check(pieces).0.unwrap_err().to_string();
            assert!(error.contains(said), "{pieces:?}: {error}");
        }
    }

    #[test]
    fn interim_responses_are_skipped() {
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(check(&["HTTP/1.1 100 Continue\r\n\r\n", &interim.repeat(30), page]).0.unwrap(), "hello");
        assert_eq!(check(&[&format!("{interim}{page}")]).0.unwrap(), "hello");
        let error = check(&[&interim.repeat(5000)]).0.unwrap_err().to_string();
        assert_eq!(error, "no final response after 65536 bytes of interim responses");
        let error = check(&["HTTP/1.1 101 Switching Protocols\r\n\r\n"]).0.unwrap_err().to_string();
        assert_eq!(error, "the server answered with status 101, expected 200");
    }

    #[test]
    fn cloud_metadata_addresses_are_forbidden() {
        for host in ["169.254.169.254", "2852039166", "0xa9fea9fe", "[::ffff:169.254.169.254]", "[fe80::1]"] {
            let page = PageUrl::parse(&format!("http://{host}/metrics")).unwrap();
            assert!(page.check().is_err(), "{host}");
            let error = page.fetch(LIMITS).unwrap_err().to_string();
            assert!(error.starts_with("no connection is made to `"), "{host}: {error}");
        }
        let public = PageUrl::parse("http://134744072/metrics").unwrap();
        assert_eq!(public.check(), Ok(()));
    }

    #[test]
    fn a_server_that_never_answers_times_out() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let limits = FetchLimits { time: Duration::from_millis(20), ..LIMITS };
        let error = PageUrl::parse(&url).unwrap().fetch(limits).unwrap_err().to_string();
        assert_eq!(error, "no complete response within 20 ms");
    }

    #[test]
    fn urls_are_parsed() {
        for (url, address, target) in [
            ("http://sut:9100/metrics", "sut:9100", "/metrics"),
            ("http://sut", "sut:80", "/"),
            ("http://sut?auto", "sut:80", "/?auto"),
            ("http://[::1]:9/a:b", "[::1]:9", "/a:b"),
            ("http://[::1]/a", "[::1]:80", "/a"),
        ] {
            let parsed = PageUrl::parse(url).unwrap();
            let found = (parsed.parts.address(), parsed.target(), parsed.as_str());
            assert_eq!(found, (address.to_owned(), target, url));
        }
        for url in
            ["https://sut/", "sut:80", "http://", "http:///x", "http://:80/", "http://a:b/", "http://a@b/"]
        {
            assert!(PageUrl::parse(url).is_err(), "{url}");
        }
        assert!(PageUrl::parse("http://a/b\r\nX: y").is_err());
        assert!(PageUrl::parse("http://a/b c").is_err());
    }
}
