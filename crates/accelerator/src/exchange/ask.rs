//! A request with all that decisions about it need.

use std::hash::{DefaultHasher, Hash, Hasher};

use http1::RequestMethod;

use super::error_page::Fault;
use super::settings::ExchangeSettings;
use crate::message::{HeaderLines, Inbound, LinesIter};
use crate::policy::{
    Key, Request, RequestDirectives, RequestField, names_of_connection, passed_through, request_field,
};

/// A request that has a key.
#[derive(Debug)]
pub(super) struct Ask {
    /// The request as the front gave it.
    pub inbound: Inbound,
    /// What policy reads of it.
    pub request: Request,
    /// What it is about; that of the root if it is about the whole server (`OPTIONS *`).
    pub key: Key,
}

impl Ask {
    /// Reads a request; refuses what has no key, and methods that are not for gateways: tunnels, and echoes, which tell
    /// scripts what browsers keep from them.
    pub fn read(mut inbound: Inbound, settings: &ExchangeSettings) -> Result<Ask, Fault> {
        if matches!(&inbound.method_name[..], b"CONNECT" | b"TRACE") {
            return Err(Fault { status: 405, reason: "method" });
        }
        end_what_the_connection_names(&mut inbound.lines);
        let request = Request::read(&inbound.method_name, inbound.lines.iter(), inbound.has_body);
        let is_about_server = request.method == RequestMethod::Options && inbound.target == b"*";
        let target = if is_about_server { b"/" } else { &inbound.target[..] };
        let default = settings.default_host.as_deref().unwrap_or_default().as_bytes();
        let authority = if inbound.authority.is_empty() { default } else { &inbound.authority[..] };
        match Key::new(inbound.scheme, authority, target, settings.policy.dot_segments) {
            Ok(key) => Ok(Ask { inbound, request, key }),
            Err(why) => Err(Fault { status: why.status(), reason: why.name() }),
        }
    }

    /// Makes it a GET of our own for the same: what the client wants besides does not count.
    pub fn into_own(mut self) -> Ask {
        self.inbound.method_name = b"GET".to_vec();
        ["cache-control", "pragma"].iter().for_each(|name| self.inbound.lines.remove(name));
        self.request.method = RequestMethod::Get;
        self.request.directives = RequestDirectives::default();
        (self.request.has_range, self.request.has_condition) = (false, false);
        self
    }

    /// Returns its header lines.
    pub fn lines(&self) -> LinesIter<'_> {
        self.inbound.lines.iter()
    }

    /// Tells whether it is a HEAD, whose reply has no body.
    pub fn is_head(&self) -> bool {
        self.request.method == RequestMethod::Head
    }

    /// Returns the target as the origin is to get it: as the key has it.
    pub fn target(&self) -> &str {
        if self.inbound.target == b"*" { "*" } else { self.key.target() }
    }

    /// Returns the host as the origin is to get it, with its port if that is not the scheme's own.
    pub fn authority(&self) -> &str {
        self.key.origin().split_once("//").map_or("", |(_, authority)| authority)
    }

    /// Returns the hash of its key; the same on all threads and after a restart of the same build.
    pub fn key_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key.as_str().hash(&mut hasher);
        hasher.finish()
    }

    /// Tells whether it has been here before, so that forwarding it would never end.
    pub fn is_loop(&self, name: &str) -> bool {
        passed_through(self.lines(), name)
    }

    /// Tells whether it may wait for, and lead others to, a response that all of them share.
    ///
    /// Not if it says who asks or that its response is not to be kept: then most likely there is nothing to share. Not
    /// if it demands an answer of the origin's own, which one that was asked for before is not.
    pub fn is_sociable(&self, settings: &ExchangeSettings) -> bool {
        let directives = &self.request.directives;
        let demands_news = settings.policy.is_obeying_clients && directives.no_cache;
        let is_own = self.request.has_authorization || directives.no_store || demands_news;
        self.request.method == RequestMethod::Get && !is_own
    }

    /// Returns how many more gateways an OPTIONS may pass (RFC 9110 §7.6.2); `None` if it does not say.
    pub fn forwards_left(&self) -> Option<u64> {
        if self.request.method != RequestMethod::Options {
            return None;
        }
        std::str::from_utf8(self.inbound.lines.get("max-forwards")?).ok()?.parse().ok()
    }
}

/// Removes the lines that `Connection` names: the origin does not get them (RFC 9110 §7.6.1), so they must not say either
/// for whom its response is.
///
/// Those that always end here stay: they tell what the client wants of the connection.
fn end_what_the_connection_names(lines: &mut HeaderLines) {
    let names = names_of_connection(lines.iter());
    let is_left = |name: &&String| request_field(name.as_bytes()) != RequestField::Connection;
    names.iter().filter(is_left).for_each(|name| lines.remove(name));
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{get, inbound};
    use super::*;

    fn read(inbound: Inbound) -> Result<Ask, Fault> {
        Ask::read(inbound, &ExchangeSettings::default())
    }

    #[test]
    fn the_origin_gets_what_the_key_says() {
        let ask = read(Inbound { authority: b"Example.ORG:80".to_vec(), ..get("/a/../b%7e?q") }).unwrap();
        assert_eq!((ask.authority(), ask.target()), ("example.org", "/b~?q"));
    }

    #[test]
    fn a_question_about_the_server_is_about_no_path() {
        let ask = read(inbound("OPTIONS", "*", &[])).unwrap();
        assert_eq!((ask.key.target(), ask.target()), ("/", "*"));
        assert_eq!(read(get("*")).unwrap_err(), Fault { status: 400, reason: "target-form" });
    }

    #[test]
    fn tunnels_and_echoes_are_refused() {
        for method in ["CONNECT", "TRACE"] {
            let refused = Fault { status: 405, reason: "method" };
            assert_eq!(read(inbound(method, "/", &[])).unwrap_err(), refused, "{method}");
        }
    }

    #[test]
    fn a_request_without_host_is_for_the_default_one_or_refused() {
        let nameless = Inbound { authority: Vec::new(), ..get("/") };
        assert_eq!(read(nameless.clone()).unwrap_err(), Fault { status: 400, reason: "empty-host" });
        let settings = ExchangeSettings { default_host: Some("a.example".to_owned()), ..Default::default() };
        assert_eq!(Ask::read(nameless, &settings).unwrap().key.as_str(), "http://a.example/");
    }

    #[test]
    fn who_says_who_asks_or_wants_news_goes_alone() {
        let is_sociable = |method: &str, lines: &[(&str, &str)]| {
            read(inbound(method, "/", lines)).unwrap().is_sociable(&ExchangeSettings::default())
        };
        assert!(is_sociable("GET", &[]) && is_sociable("GET", &[("Range", "bytes=0-1")]));
        assert!(!is_sociable("HEAD", &[]));
        for line in [("Authorization", "x"), ("Cache-Control", "no-store"), ("Cache-Control", "no-cache")] {
            assert!(!is_sociable("GET", &[line]), "{line:?}");
        }
    }
}
