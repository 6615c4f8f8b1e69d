//! Readiness checks of web servers: one file is requested.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};

use languages::foreign_bytes;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::recipe::WebVariant;
use crate::sut::certificate::Certificate;
use crate::sut::ready::connect;

/// Maximum length of a status line.
const STATUS_LINE_BYTES_MAX: u64 = 512;

/// A reason why a web server does not serve a file.
#[derive(Debug, thiserror::Error)]
pub(in crate::sut) enum ProbeError {
    /// No connection.
    #[error(transparent)]
    Connect(#[from] io::Error),
    /// Its certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    /// The TLS handshake failed.
    #[error("TLS handshake: {0}")]
    Handshake(io::Error),
    /// HTTP/2 was not agreed on.
    #[error("it did not select HTTP/2 in the TLS handshake")]
    NoHttp2,
    /// The connection failed before a response.
    #[error("`GET {path}`: {source}")]
    Exchange {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// Another status than 200, or no HTTP.
    #[error("`GET {path}` was answered with `{line}`")]
    Answer {
        /// The file.
        path: String,
        /// The first line of the response.
        line: String,
    },
}

/// Checks that a server answers a request for a file with status 200, over the transport of its variant.
///
/// # Errors
/// Its answer, or the reason why there is none.
pub(super) fn probe(
    address: SocketAddr,
    variant: WebVariant,
    path: &str,
    certificate: Option<&Certificate>,
) -> Result<(), ProbeError> {
    let certificate = certificate.filter(|_| variant.is_tls());
    if let Some(certificate) = certificate.filter(|_| variant == WebVariant::Http2) {
        agree_http2(address, certificate)?;
    }
    get(address, path, certificate)
}

/// Connects over TLS.
///
/// # Errors
/// No connection, or the certificate cannot be used.
pub(super) fn connect_tls(
    address: SocketAddr,
    trusted: &Certificate,
) -> Result<StreamOwned<ClientConnection, TcpStream>, ProbeError> {
    Ok(StreamOwned::new(tls_client(trusted, &[])?, connect(address)?))
}

/// Requests a file, over TLS if there is a certificate to trust; an answer other than status 200 is an error.
fn get(address: SocketAddr, path: &str, trusted: Option<&Certificate>) -> Result<(), ProbeError> {
    let line = match trusted {
        None => exchange(connect(address)?, path),
        Some(certificate) => exchange(connect_tls(address, certificate)?, path),
    };
    let path = path.to_owned();
    match line {
        Ok(line) if line.starts_with("HTTP/1.") && line.split(' ').nth(1) == Some("200") => Ok(()),
        Ok(line) => Err(ProbeError::Answer { path, line }),
        Err(source) => Err(ProbeError::Exchange { path, source }),
    }
}

/// Sends a request and returns the first line of the response. It includes a host, although HTTP/1.0 does not
/// require one: a proxy forwards it to programs that do.
fn exchange(mut stream: impl Read + Write, path: &str) -> io::Result<String> {
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes())?;
    let mut line = Vec::new();
    BufReader::new(stream.take(STATUS_LINE_BYTES_MAX)).read_until(b'\n', &mut line)?;
    Ok(foreign_bytes(line.trim_ascii_end()))
}

/// Performs a TLS handshake and checks that the server selects HTTP/2.
fn agree_http2(address: SocketAddr, trusted: &Certificate) -> Result<(), ProbeError> {
    let mut stream = connect(address)?;
    let mut client = tls_client(trusted, &[b"h2"])?;
    client.complete_io(&mut stream).map_err(ProbeError::Handshake)?;
    match client.alpn_protocol() {
        Some(b"h2") => Ok(()),
        _ => Err(ProbeError::NoHttp2),
    }
}

fn tls_client(trusted: &Certificate, protocols: &[&[u8]]) -> Result<ClientConnection, rustls::Error> {
    let name = ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST));
    ClientConnection::new(trusted.client_config(protocols)?, name)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn answer(reply: &'static str) -> Result<(), ProbeError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 64];
            let length = stream.read(&mut asked).unwrap();
            stream.write_all(reply.as_bytes()).unwrap();
            asked[..length].to_vec()
        });
        let result = get(address, "/file.html", None);
        assert_eq!(server.join().unwrap(), b"GET /file.html HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
        result
    }

    #[test]
    fn only_status_200_means_ready() {
        answer("HTTP/1.1 200 OK\r\n\r\n").unwrap();
        answer("HTTP/1.0 200\r\n\r\n").unwrap();
        for reply in ["HTTP/1.1 404 Not Found\r\n\r\n", "HTTP/1.1 2000 x\r\n", "SSH-2.0\r\n", ""] {
            assert!(answer(reply).is_err(), "{reply}");
        }
    }
}
