//! A client's request, with all that decisions about it need.

use std::hash::{DefaultHasher, Hash, Hasher};

use cache_policy::{
    Key, RequestDirectives, RequestField, RequestMeta, names_of_connection, passed_through, request_field,
};
use http1::{HeaderLines, LinesIter, RequestMethod};

use super::error_page::LocalError;
use super::settings::ExchangeSettings;
use crate::message::{ClientRequest, ProxyReason};

/// A client's request with its cache key.
#[derive(Debug)]
pub(super) struct CacheRequest {
    /// The request as the frontend passed it on.
    pub client_request: ClientRequest,
    /// The metadata that the policy reads.
    pub meta: RequestMeta,
    /// The cache key; that of the root for a request about the whole server (`OPTIONS *`).
    pub key: Key,
}

impl CacheRequest {
    /// Reads a request; refuses requests without a key, and methods that a gateway must not serve: CONNECT opens
    /// tunnels, and TRACE reveals to scripts the fields that browsers hide from them.
    pub(super) fn read(
        mut client_request: ClientRequest,
        settings: &ExchangeSettings,
    ) -> Result<CacheRequest, LocalError> {
        if matches!(&client_request.method_name[..], b"CONNECT" | b"TRACE") {
            return Err(LocalError::new(405, ProxyReason::Method));
        }
        remove_connection_fields(&mut client_request.lines);
        let meta = RequestMeta::read(
            &client_request.method_name,
            client_request.lines.iter(),
            client_request.has_body,
        );
        let is_about_server = meta.method == RequestMethod::Options && client_request.target == b"*";
        let target = if is_about_server { b"/" } else { &client_request.target[..] };
        let default = settings.default_host.as_deref().unwrap_or_default().as_bytes();
        let authority =
            if client_request.authority.is_empty() { default } else { &client_request.authority[..] };
        match Key::new(client_request.scheme, authority, target, settings.policy.dot_segments) {
            Ok(key) => Ok(CacheRequest { client_request, meta, key }),
            Err(why) => Err(LocalError { status: why.status(), reason: why.into() }),
        }
    }

    /// Turns the request into a background GET for the same key: other wishes of the client do not count.
    pub(super) fn into_background_get(mut self) -> CacheRequest {
        self.client_request.method_name = b"GET".to_vec();
        ["cache-control", "pragma"].iter().for_each(|name| self.client_request.lines.remove(name));
        self.meta.method = RequestMethod::Get;
        self.meta.directives = RequestDirectives::default();
        (self.meta.has_range, self.meta.has_condition) = (false, false);
        self
    }

    /// Returns the header lines.
    pub(super) fn lines(&self) -> LinesIter<'_> {
        self.client_request.lines.iter()
    }

    /// Returns whether it is a HEAD request, whose response has no body.
    pub(super) fn is_head(&self) -> bool {
        self.meta.method == RequestMethod::Head
    }

    /// Returns the target to send to the origin: that of the key.
    pub(super) fn target(&self) -> &str {
        if self.client_request.target == b"*" { "*" } else { self.key.target() }
    }

    /// Returns the host to send to the origin, with its port unless that is the scheme's default.
    pub(super) fn authority(&self) -> &str {
        self.key.origin().split_once("//").map_or("", |(_, authority)| authority)
    }

    /// Returns the hash of the key; the same on all threads and after a restart of the same build.
    pub(super) fn key_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key.as_str().hash(&mut hasher);
        hasher.finish()
    }

    /// Returns whether the request has passed this cache before, so that forwarding it would never end.
    pub(super) fn is_loop(&self, name: &str) -> bool {
        passed_through(self.lines(), name)
    }

    /// Returns whether the request may be collapsed with others: wait for, or lead the fetch of, a response that all
    /// of them share.
    ///
    /// False if it carries credentials or forbids storing: then most likely there is nothing to share. False if it
    /// demands a response from the origin, because a fetch begun earlier does not count as one.
    pub(super) fn can_collapse(&self, settings: &ExchangeSettings) -> bool {
        let directives = &self.meta.directives;
        let demands_news = settings.policy.is_obeying_clients && directives.no_cache;
        let is_uncollapsed = self.meta.has_authorization || directives.no_store || demands_news;
        self.meta.method == RequestMethod::Get && !is_uncollapsed
    }

    /// Returns the value of `Max-Forwards` of an OPTIONS request (RFC 9110 §7.6.2); `None` if absent.
    pub(super) fn max_forwards(&self) -> Option<u64> {
        if self.meta.method != RequestMethod::Options {
            return None;
        }
        std::str::from_utf8(self.client_request.lines.get("max-forwards")?).ok()?.parse().ok()
    }
}

/// Removes the fields that `Connection` names: the origin does not get them (RFC 9110 §7.6.1), so they must not
/// select a variant either.
///
/// Fields that are always connection-specific stay: they tell what the client wants of the connection.
fn remove_connection_fields(lines: &mut HeaderLines) {
    let names = names_of_connection(lines.iter());
    let is_left = |name: &&String| request_field(name.as_bytes()) != RequestField::Connection;
    names.iter().filter(is_left).for_each(|name| lines.remove(name));
}

#[cfg(test)]
mod tests {
    use cache_policy::KeyRefused;

    use super::super::test_support::{client_request, get};
    use super::*;

    fn read(client_request: ClientRequest) -> Result<CacheRequest, LocalError> {
        CacheRequest::read(client_request, &ExchangeSettings::default())
    }

    #[test]
    fn the_origin_gets_the_normalized_target_and_host() {
        let request =
            read(ClientRequest { authority: b"Example.ORG:80".to_vec(), ..get("/a/../b%7e?q") }).unwrap();
        assert_eq!((request.authority(), request.target()), ("example.org", "/b~?q"));
    }

    #[test]
    fn options_asterisk_keeps_its_target() {
        let request = read(client_request("OPTIONS", "*", &[])).unwrap();
        assert_eq!((request.key.target(), request.target()), ("/", "*"));
        assert_eq!(
            read(get("*")).unwrap_err(),
            LocalError { status: 400, reason: KeyRefused::TargetForm.into() }
        );
    }

    #[test]
    fn connect_and_trace_are_refused() {
        for method in ["CONNECT", "TRACE"] {
            let refused = LocalError::new(405, ProxyReason::Method);
            assert_eq!(read(client_request(method, "/", &[])).unwrap_err(), refused, "{method}");
        }
    }

    #[test]
    fn a_request_without_host_gets_the_default_host_or_is_refused() {
        let nameless = ClientRequest { authority: Vec::new(), ..get("/") };
        assert_eq!(
            read(nameless.clone()).unwrap_err(),
            LocalError { status: 400, reason: KeyRefused::EmptyHost.into() }
        );
        let settings = ExchangeSettings { default_host: Some("a.example".to_owned()), ..Default::default() };
        assert_eq!(CacheRequest::read(nameless, &settings).unwrap().key.as_str(), "http://a.example/");
    }

    #[test]
    fn authorized_or_no_cache_requests_are_not_collapsed() {
        let can_collapse = |method: &str, lines: &[(&str, &str)]| {
            read(client_request(method, "/", lines)).unwrap().can_collapse(&ExchangeSettings::default())
        };
        assert!(can_collapse("GET", &[]) && can_collapse("GET", &[("Range", "bytes=0-1")]));
        assert!(!can_collapse("HEAD", &[]));
        for line in [("Authorization", "x"), ("Cache-Control", "no-store"), ("Cache-Control", "no-cache")] {
            assert!(!can_collapse("GET", &[line]), "{line:?}");
        }
    }
}
