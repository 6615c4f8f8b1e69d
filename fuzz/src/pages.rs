//! Pages made by a program, as web servers ask for them.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;
use std::time::Duration;

use model::ReplyBody;
use servers::gateway::{FastCgiGateway, GatewayAddress, GatewayOptions, GeneratedPage};

static GATEWAY: LazyLock<FastCgiGateway> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("plimsoll-fuzz-{}", std::process::id()));
    FastCgiGateway::start(&GatewayOptions { listen: GatewayAddress::Unix(path), workers: 1 })
        .expect("a gateway")
});

/// Tells whether a page might be asked to take long: nothing is found while it does.
fn might_pause(bytes: &[u8]) -> bool {
    bytes.windows(5).any(|name| name == b"wait=" || name == b"lock=")
}

/// Sends a web server's end of a connection to a gateway, which answers or closes.
pub fn fastcgi(bytes: &[u8]) {
    if might_pause(bytes) {
        return;
    }
    let GatewayAddress::Unix(path) = GATEWAY.address() else { return };
    let mut stream = UnixStream::connect(path).expect("the gateway lives");
    // Longer than a page takes whose `wait=` came in two records.
    stream.set_read_timeout(Some(Duration::from_secs(25))).expect("a time above zero");
    // It may close before it has read everything.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let ended = stream.take(64 * ReplyBody::LETTERS_BYTES_MAX).read_to_end(&mut answer);
    assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "no answer, no end");
}

/// Makes pages of variables separated by NUL, and of the same bytes as path and query.
pub fn cgi(bytes: &[u8]) {
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        Some((text(&pair[..at]), text(&pair[at + 1..])))
    });
    if !might_pause(bytes) {
        let mut out = Vec::new();
        servers::gateway::cgi(pairs, &mut out).expect("memory takes everything");
        assert!(out.starts_with(b"Status: ") || out.starts_with(b"Content-Type: "), "{out:?}");
    }
    let mut parts = bytes.splitn(2, |byte| *byte == b'?');
    if let (Some(path), query) = (parts.next(), parts.next().unwrap_or_default()) {
        if let Some(page) = GeneratedPage::find(path, query) {
            assert!(page.body.left() <= ReplyBody::LETTERS_BYTES_MAX as usize);
        }
    }
}
