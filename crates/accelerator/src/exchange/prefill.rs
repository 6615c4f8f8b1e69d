//! Filling of the store before clients ask.

use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

use cache_policy::Scheme;
use http1::HeaderLines;

use super::handle::Exchange;
use super::response::{Response, ResponseBody};
use crate::message::{ClientRequest, ClientVersion, HandlingReason, NoBody, ProxyReason, ResponsePath};

/// The result of a prefill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrefillReport {
    /// The number of URLs that are stored now, or were already.
    pub stored: usize,
    /// The number of URLs whose response was not stored.
    pub passed: usize,
    /// The URLs that failed, with the reason.
    pub failed: Vec<(String, HandlingReason)>,
}

impl Exchange {
    /// Fetches URLs one after the other, as a client without directives would.
    ///
    /// URLs are absolute, with scheme and host as clients will use them: `http://example.org/a`.
    pub async fn prefill(self: &Rc<Self>, urls: &[String]) -> PrefillReport {
        let mut prefilled = PrefillReport::default();
        for url in urls {
            match self.fill(url).await {
                Ok(ResponsePath::Pass) => prefilled.passed += 1,
                Ok(_) => prefilled.stored += 1,
                Err(reason) => prefilled.failed.push((url.clone(), reason)),
            }
        }
        prefilled
    }

    async fn fill(self: &Rc<Self>, url: &str) -> Result<ResponsePath, HandlingReason> {
        let response = self.handle(request(url).ok_or(ProxyReason::Url)?, NoBody).await;
        let handling = response.handling;
        if handling.path == ResponsePath::Error {
            return Err(handling.reason);
        }
        drain(response).await.map_err(|()| ProxyReason::Incomplete)?;
        Ok(handling.path)
    }
}

/// Reads a body to its end.
async fn drain(response: Response) -> Result<(), ()> {
    if let ResponseBody::Stream(mut stream) = response.body {
        while stream.next().await.map_err(|_| ())?.is_some() {}
    }
    Ok(())
}

/// Makes the request for a URL; `None` if it is not valid.
fn request(url: &str) -> Option<ClientRequest> {
    let schemes = [("http://", Scheme::Http), ("https://", Scheme::Https)];
    let (rest, scheme) =
        schemes.iter().find_map(|(text, scheme)| Some((url.strip_prefix(text)?, *scheme)))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    let target = target.split('#').next().unwrap_or_default();
    let slash = if target.starts_with('/') { "" } else { "/" };
    Some(ClientRequest {
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
    fn prefill_urls_become_client_requests() {
        for (url, authority, target) in
            [("http://a", "a", "/"), ("http://a:81/b?c#d", "a:81", "/b?c"), ("https://a?b", "a", "/?b")]
        {
            let client_request = request(url).unwrap();
            assert_eq!(
                (&client_request.authority[..], &client_request.target[..]),
                (authority.as_bytes(), target.as_bytes())
            );
        }
        assert_eq!(request("https://a/").unwrap().scheme, Scheme::Https);
        for none in ["", "a", "/b", "ftp://a/"] {
            assert_eq!(request(none), None, "{none}");
        }
    }
}
