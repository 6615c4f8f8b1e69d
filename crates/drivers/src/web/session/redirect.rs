//! The request that follows a redirect.

use super::SessionContext;
use super::compose::Composer;
use super::cookies::CookieJar;
use super::origin::Url;
use crate::web::composed_request::RequestParts;
use crate::web::missing_value::BadRedirect;
use units::Nanos;

/// Header fields that describe a body, and go with it.
const CONTENT_FIELDS: [&str; 5] =
    ["content-type", "content-encoding", "content-language", "content-location", "content-disposition"];

/// A request on its way through redirects.
pub(super) struct RedirectHop {
    pub(super) url: Url,
    method: String,
    has_body: bool,
}

impl RedirectHop {
    /// The request as it is first sent.
    pub(super) fn first(parts: &RequestParts, session: &SessionContext) -> RedirectHop {
        let url = Url { origin: session.origin.clone(), path: parts.path.clone() };
        RedirectHop { url, method: parts.method.clone(), has_body: !parts.body.is_empty() }
    }

    /// Follows a redirect with this status to a `Location`.
    pub(super) fn follow(
        &mut self,
        status: u16,
        location: &[u8],
        session: &SessionContext,
    ) -> Result<(), BadRedirect> {
        let url = self.url.resolve(location).ok_or(BadRedirect::NoUrl)?;
        if self.url.origin.secure && !url.origin.secure {
            return Err(BadRedirect::LosesEncryption);
        }
        // 303 asks for another request, and after 301 and 302 all clients turn POST into GET (RFC 9110 §15.4).
        let becomes_get = match status {
            303 => self.method != "HEAD",
            301 | 302 => self.method == "POST",
            _ => false,
        };
        if becomes_get {
            self.method = "GET".to_owned();
            self.has_body = false;
        }
        self.url = url;
        if self.has_body && self.is_elsewhere(session) {
            return Err(BadRedirect::BodyElsewhere);
        }
        Ok(())
    }

    /// Returns whether it goes to another origin than the target's.
    pub(super) fn is_elsewhere(&self, session: &SessionContext) -> bool {
        self.url.origin != session.origin
    }

    /// Returns the parts of the request, from those of the first and the user's cookies.
    pub(super) fn parts(
        &self,
        first: &RequestParts,
        composer: &Composer,
        session: &SessionContext,
        cookies: &CookieJar,
        now: Nanos,
    ) -> RequestParts {
        let is_elsewhere = self.is_elsewhere(session);
        let mut headers = if is_elsewhere { composer.public_headers() } else { first.headers.clone() };
        if !self.has_body {
            let describes_body =
                |name: &str| CONTENT_FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field));
            headers.retain(|(name, _)| first.body.is_empty() || !describes_body(name));
        }
        let body = if self.has_body { first.body.clone() } else { String::new() };
        let mut parts =
            RequestParts { method: self.method.clone(), path: self.url.path.clone(), headers, body };
        if !is_elsewhere && let Some(cookies) = cookies.field(&parts.path, self.url.origin.secure, now) {
            parts.add_cookies(cookies);
        }
        parts
    }
}
