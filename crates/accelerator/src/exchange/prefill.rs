//! The store filled before anybody asks.

use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

use super::handle::Exchange;
use crate::message::{ClientVersion, HeaderLines, HitPath, Inbound, NoBody, Reply, ReplyBody};
use crate::policy::Scheme;

/// What came of a request to fill the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefilled {
    /// How many URLs are stored now, or were already.
    pub stored: usize,
    /// How many the origin has answered with what is not stored.
    pub passed: usize,
    /// Those that failed, with the name of the reason.
    pub failed: Vec<(String, &'static str)>,
}

impl Exchange {
    /// Asks for URLs one after the other, as a client without any wishes would, so that those who come later find them.
    ///
    /// URLs are absolute, such as `http://example.org/a`: scheme and host as clients will use them.
    pub async fn prefill(self: &Rc<Self>, urls: &[String]) -> Prefilled {
        let mut prefilled = Prefilled::default();
        for url in urls {
            match self.fill(url).await {
                Ok(HitPath::Pass) => prefilled.passed += 1,
                Ok(_) => prefilled.stored += 1,
                Err(reason) => prefilled.failed.push((url.clone(), reason)),
            }
        }
        prefilled
    }

    async fn fill(self: &Rc<Self>, url: &str) -> Result<HitPath, &'static str> {
        let reply = self.handle(request(url).ok_or("url")?, NoBody).await;
        let handling = reply.handling;
        if handling.path == HitPath::Error {
            return Err(handling.reason);
        }
        drain(reply).await.map_err(|()| "incomplete")?;
        Ok(handling.path)
    }
}

/// Reads a body to its end.
async fn drain(reply: Reply) -> Result<(), ()> {
    if let ReplyBody::Stream(mut stream) = reply.body {
        while stream.next().await.map_err(|_| ())?.is_some() {}
    }
    Ok(())
}

/// Makes the request for a URL; `None` if it is none.
fn request(url: &str) -> Option<Inbound> {
    let schemes = [("http://", Scheme::Http), ("https://", Scheme::Https)];
    let (rest, scheme) =
        schemes.iter().find_map(|(text, scheme)| Some((url.strip_prefix(text)?, *scheme)))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    let target = target.split('#').next().unwrap_or_default();
    let slash = if target.starts_with('/') { "" } else { "/" };
    Some(Inbound {
        method_name: b"GET".to_vec(),
        scheme,
        authority: authority.as_bytes().to_vec(),
        target: format!("{slash}{target}").into_bytes(),
        lines: HeaderLines::new(),
        version: ClientVersion::Http11,
        client: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        has_body: false,
        content_length: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_become_requests_as_clients_send_them() {
        for (url, authority, target) in
            [("http://a", "a", "/"), ("http://a:81/b?c#d", "a:81", "/b?c"), ("https://a?b", "a", "/?b")]
        {
            let inbound = request(url).unwrap();
            assert_eq!(
                (&inbound.authority[..], &inbound.target[..]),
                (authority.as_bytes(), target.as_bytes())
            );
        }
        assert_eq!(request("https://a/").unwrap().scheme, Scheme::Https);
        for none in ["", "a", "/b", "ftp://a/"] {
            assert_eq!(request(none), None, "{none}");
        }
    }
}
