//! Readiness checks of a server.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use languages::foreign_bytes;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use serde::Deserialize;

use super::certificate::Certificate;

/// Time limit of one attempt.
pub(super) const ATTEMPT_MAX: Duration = Duration::from_secs(2);

/// Maximum length of a status line.
const STATUS_LINE_BYTES_MAX: u64 = 512;

/// The line by which a server announces itself.
#[derive(Deserialize)]
struct Announcement {
    ready: ReadyAt,
}

#[derive(Deserialize)]
struct ReadyAt {
    address: SocketAddr,
}

/// Reads a server's standard output on a separate thread until it ends, so that the server never blocks;
/// sends the first announcement.
pub(super) fn listen(output: ChildStdout) -> Receiver<SocketAddr> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        if let Some(address) = lines.find_map(|line| announced(&line)) {
            // The receiver is gone if the server was given up in the meantime.
            let _ = sender.send(address);
        }
        lines.for_each(drop);
    });
    receiver
}

/// Returns the address that a line announces, if any.
fn announced(line: &str) -> Option<SocketAddr> {
    Some(serde_json::from_str::<Announcement>(line).ok()?.ready.address)
}

/// Returns the length of a log in bytes; 0 if there is none.
pub(super) fn length(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |meta| meta.len())
}

/// Checks that a log has a line with a text, after its first `from` bytes.
pub(super) fn logged(log: &Path, from: u64, text: &str) -> Result<(), String> {
    let read = || {
        let mut file = File::open(log)?;
        file.seek(SeekFrom::Start(from))?;
        let mut lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
        Ok(lines.any(|line| String::from_utf8_lossy(&line).contains(text)))
    };
    match read() {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("it did not log `{text}`")),
        Err(error) => Err(std::io::Error::to_string(&error)),
    }
}

/// Connects; returns the problem on failure.
pub(super) fn connect(address: SocketAddr) -> Result<TcpStream, String> {
    let connect = || {
        let stream = TcpStream::connect_timeout(&address, ATTEMPT_MAX)?;
        stream.set_read_timeout(Some(ATTEMPT_MAX))?;
        stream.set_write_timeout(Some(ATTEMPT_MAX))?;
        Ok(stream)
    };
    connect().map_err(|error: std::io::Error| error.to_string())
}

/// Connects over TLS; returns the problem on failure.
pub(super) fn connect_tls(
    address: SocketAddr,
    trusted: &Certificate,
) -> Result<StreamOwned<ClientConnection, TcpStream>, String> {
    Ok(StreamOwned::new(tls_client(trusted, &[])?, connect(address)?))
}

/// Requests a file, over TLS if there is a certificate to trust; returns the answer if it is not status 200.
pub(super) fn get(address: SocketAddr, path: &str, trusted: Option<&Certificate>) -> Result<(), String> {
    let line = match trusted {
        None => exchange(connect(address)?, path),
        Some(certificate) => exchange(connect_tls(address, certificate)?, path),
    };
    match line {
        Ok(line) if line.starts_with("HTTP/1.") && line.split(' ').nth(1) == Some("200") => Ok(()),
        Ok(line) => Err(format!("`GET {path}` was answered with `{line}`")),
        Err(error) => Err(format!("`GET {path}`: {error}")),
    }
}

/// Sends a request and returns the first line of the response. It includes a host, although HTTP/1.0 does not
/// require one: a proxy forwards it to programs that do.
fn exchange(mut stream: impl Read + Write, path: &str) -> std::io::Result<String> {
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes())?;
    let mut line = Vec::new();
    BufReader::new(stream.take(STATUS_LINE_BYTES_MAX)).read_until(b'\n', &mut line)?;
    Ok(foreign_bytes(line.trim_ascii_end()))
}

/// Performs a TLS handshake and checks that the server selects HTTP/2; returns the problem on failure.
pub(super) fn agree_http2(address: SocketAddr, trusted: &Certificate) -> Result<(), String> {
    let mut stream = connect(address)?;
    let mut client = tls_client(trusted, &[b"h2"])?;
    client.complete_io(&mut stream).map_err(|error| format!("TLS handshake: {error}"))?;
    match client.alpn_protocol() {
        Some(b"h2") => Ok(()),
        _ => Err("it did not select HTTP/2 in the TLS handshake".into()),
    }
}

fn tls_client(trusted: &Certificate, protocols: &[&[u8]]) -> Result<ClientConnection, String> {
    let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
    let config = trusted.client_config(protocols).map_err(|error| error.to_string())?;
    ClientConnection::new(config, name).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn only_valid_announcements_are_accepted() {
        let address = announced(r#"{"ready": {"address": "127.0.0.1:4711", "more": 1}}"#);
        assert_eq!(address, Some("127.0.0.1:4711".parse().unwrap()));
        for line in ["", "listening", r#"{"ready": true}"#, r#"{"ready": {"address": "x"}}"#] {
            assert_eq!(announced(line), None, "{line}");
        }
    }

    fn answer(reply: &'static str) -> Result<(), String> {
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
        assert_eq!(answer("HTTP/1.1 200 OK\r\n\r\n"), Ok(()));
        assert_eq!(answer("HTTP/1.0 200\r\n\r\n"), Ok(()));
        for reply in ["HTTP/1.1 404 Not Found\r\n\r\n", "HTTP/1.1 2000 x\r\n", "SSH-2.0\r\n", ""] {
            assert!(answer(reply).is_err(), "{reply}");
        }
    }
}
