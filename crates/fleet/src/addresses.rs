//! The addresses of a name that no load goes to, although servers answer there.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use drivers::TargetPolicy;

use crate::family::ExternalServer;

/// The most addresses that are tried.
const TRIED_MAX: usize = 4;

/// Time limit for an address to answer.
const ANSWER_MAX: Duration = Duration::from_millis(200);

/// Time limit for a server to accept a connection before a run begins.
const ACCEPT_MAX: Duration = Duration::from_secs(2);

/// Returns a sentence about the other addresses of a name where a server answers; `None` if there are none. Load goes to
/// one address, whose processes are watched: two servers in one result would be none. `chooses` says how another is chosen.
pub(crate) fn remark(host: &str, loaded: SocketAddr, chooses: &str) -> Option<String> {
    let all = TargetPolicy.resolve(host, loaded.port()).ok()?;
    let others = all.into_iter().filter(|address| address.ip() != loaded.ip()).take(TRIED_MAX);
    let answering: Vec<SocketAddr> =
        others.filter(|address| TcpStream::connect_timeout(address, ANSWER_MAX).is_ok()).collect();
    sentence(host, loaded, &answering, chooses)
}

/// Returns whether a running server accepts a connection at one of its addresses; of one without an address, `true`.
/// Nothing is sent.
pub fn answers(server: &ExternalServer) -> bool {
    let is_socket = matches!(server, ExternalServer::Web(target, _) if target.socket().is_some());
    let Some((host, port)) = server.host_and_port().filter(|_| !is_socket) else { return true };
    let addresses = TargetPolicy.resolve(host, port).unwrap_or_default();
    addresses.iter().take(TRIED_MAX).any(|address| TcpStream::connect_timeout(address, ACCEPT_MAX).is_ok())
}

fn sentence(host: &str, loaded: SocketAddr, others: &[SocketAddr], chooses: &str) -> Option<String> {
    let names: Vec<String> = others.iter().map(|address| address.ip().to_string()).collect();
    let also = match names.len() {
        1 => "another address, which gets none",
        _ => "other addresses, which get none",
    };
    (!names.is_empty()).then(|| {
        let address = loaded.ip();
        let names = names.join(", ");
        format!("all load goes to {address}: `{host}` has {also} ({names}); {chooses}")
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_other_addresses_of_a_name_are_told() {
        let loaded: SocketAddr = "10.0.0.1:80".parse().unwrap();
        let others: Vec<SocketAddr> = ["10.0.0.2:80", "10.0.0.3:80"].map(|one| one.parse().unwrap()).to_vec();
        let told = |others: &[SocketAddr]| sentence("shop", loaded, others, "advice");
        assert_eq!(told(&[]), None);
        assert_eq!(
            told(&others[..1]).unwrap(),
            "all load goes to 10.0.0.1: `shop` has another address, which gets none (10.0.0.2); advice"
        );
        assert_eq!(
            told(&others).unwrap(),
            "all load goes to 10.0.0.1: `shop` has other addresses, which get none (10.0.0.2, 10.0.0.3); advice"
        );
    }

    /// Goal: nothing is said about `localhost`, most of whose servers have one of its two addresses.
    #[test]
    fn addresses_without_a_server_are_not_told() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(remark("localhost", listener.local_addr().unwrap(), "advice"), None);
    }
}
