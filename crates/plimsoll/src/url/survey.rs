//! The survey: what a server answers to each URL, and the check of later replies that follows from it.

use drivers::web::{FetchedReply, Target};
use languages::{REDACTED, without_credentials};
use model::{ReplyBody, Secrets};
use units::Bytes;

use super::page::PageUrl;
use super::request::{RequestParts, UrlBody};
use super::value::quoted;
use crate::exit::{Exit, Failure};
use crate::url_arguments::ReplyComparison;

/// The shortest value of a field that is looked for in a reply, in bytes: shorter ones occur in any path.
const SENT_BYTES_MIN: usize = 4;

/// The check of a page's replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplyCheck {
    /// The status of the right reply.
    pub status: u16,
    /// The body of the right reply.
    pub reply: ExpectedReply,
    /// The reason, for people.
    pub reason: String,
    /// Length of the first reply's body, in bytes.
    pub body_bytes: u64,
}

/// The body of the right reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExpectedReply {
    /// None.
    Empty,
    /// That of the first reply, until the page changes.
    Seen,
    /// That of the first reply.
    Same,
    /// Any.
    Any,
    /// Any of this content type, in lower case.
    ContentType(String),
    /// Any of this length, in bytes.
    Length(u64),
}

impl ExpectedReply {
    /// Returns it in the terms of a workload.
    pub(super) fn body(&self) -> ReplyBody {
        match self {
            ExpectedReply::Empty => ReplyBody::Empty,
            ExpectedReply::Seen => ReplyBody::Seen,
            ExpectedReply::Same => ReplyBody::Same,
            ExpectedReply::Any => ReplyBody::Any,
            ExpectedReply::ContentType(expected) => ReplyBody::ContentType(expected.clone()),
            ExpectedReply::Length(length) => ReplyBody::Length { least: *length, most: *length },
        }
    }

    /// Returns it as a definition has it.
    pub(super) fn toml(&self) -> String {
        match self {
            ExpectedReply::Empty => quoted("empty"),
            ExpectedReply::Seen => quoted("seen"),
            ExpectedReply::Same => quoted("same"),
            ExpectedReply::Any => quoted("any"),
            ExpectedReply::ContentType(expected) => format!("{{ content-type = {} }}", quoted(expected)),
            ExpectedReply::Length(length) => {
                format!("{{ length-min = {length}, length-max = {length} }}")
            }
        }
    }

    /// Returns a sentence about what is checked.
    pub(super) fn described(&self) -> &'static str {
        match self {
            ExpectedReply::Seen => "every body is compared with the first, until the page changes.",
            ExpectedReply::Same => "every body is compared with the first.",
            ExpectedReply::Empty => "the status is checked.",
            ExpectedReply::Any => "only the status is checked.",
            ExpectedReply::Length(_) => "status and length are checked.",
            ExpectedReply::ContentType(_) => "status and content type are checked, bodies are not compared.",
        }
    }
}

/// A page with its replies, all of the same request.
pub(super) struct SurveyedPage<'a> {
    /// The server.
    pub target: &'a Target,
    /// The page.
    pub page: &'a PageUrl,
    /// The parts of the request besides its URL.
    pub parts: &'a RequestParts,
    /// The values in the request that are stored nowhere.
    pub secrets: &'a Secrets,
    /// The comparison that the user asks for; `None` for the one that the replies suggest.
    pub comparison: Option<ReplyComparison>,
    /// The replies; not empty.
    pub replies: &'a [FetchedReply],
}

impl SurveyedPage<'_> {
    /// Returns the check of later replies: what the user wants, or equal bodies as long as the page does not change if these
    /// were equal, otherwise status and content type.
    ///
    /// # Errors
    /// A reply is a redirect, an error, or has another status than the one before; or the user wants to be compared what
    /// differs already.
    pub(super) fn check(&self) -> Result<ReplyCheck, Failure> {
        let Some(first) = self.replies.first() else {
            return Err(Failure::new(Exit::Internal, "a page was not fetched"));
        };
        if let Some(wrong) = self.replies.iter().find(|reply| !(200..300).contains(&reply.status)) {
            return Err(self.refusal(wrong));
        }
        if let Some(other) = self.replies.iter().find(|reply| reply.status != first.status) {
            let error = format!("{} has status {}, and then {}", self.request(), first.status, other.status);
            return Err(Failure::new(Exit::Testbed, error)
                .hint("a definition (docs/definitions.md) can describe requests whose replies change"));
        }
        let check = |reply: ExpectedReply, reason: String| ReplyCheck {
            status: first.status,
            reply,
            reason,
            body_bytes: first.body_bytes,
        };
        if self.parts.method == "HEAD" || matches!(first.status, 204 | 205) {
            return Ok(check(ExpectedReply::Empty, "it has no body".to_owned()));
        }
        let is_same =
            |one: &FetchedReply| (one.body_bytes, one.body_digest) == (first.body_bytes, first.body_digest);
        if let Some(comparison) = self.comparison {
            let reply = self.compared(comparison, first)?;
            return Ok(check(reply, "as `--check` says".to_owned()));
        }
        let n = self.replies.len();
        let asks = |(name, _): &(String, _)| name.eq_ignore_ascii_case("accept-encoding");
        let is_unasked = first.is_encoded && !self.parts.headers.iter().any(asks);
        if self.replies.iter().all(is_same) && !is_unasked {
            let reason = format!("{n} replies had the same {}", Bytes(first.body_bytes));
            return Ok(check(ExpectedReply::Seen, reason));
        }
        let why = if is_unasked {
            "bodies are encoded although the request did not ask for it".to_owned()
        } else {
            format!("{n} replies had different bodies")
        };
        let types = self.replies.iter().map(|reply| reply.content_type.as_ref());
        Ok(
            match first
                .content_type
                .as_ref()
                .filter(|expected| types.into_iter().all(|one| one == Some(*expected)))
            {
                Some(expected) => check(ExpectedReply::ContentType(expected.clone()), why),
                None => check(ExpectedReply::Any, format!("{why}, and no common content type")),
            },
        )
    }

    /// Returns the body of the right reply where the user says what is compared.
    fn compared(&self, comparison: ReplyComparison, first: &FetchedReply) -> Result<ExpectedReply, Failure> {
        let differ = |what: &str| {
            let error = format!("{} has replies of different {what}", self.request());
            Failure::new(Exit::Testbed, error).hint("relax the check: `--check status`")
        };
        match comparison {
            ReplyComparison::Status => Ok(ExpectedReply::Any),
            ReplyComparison::Length => {
                let length = first.body_bytes;
                if self.replies.iter().all(|reply| reply.body_bytes == length) {
                    Ok(ExpectedReply::Length(length))
                } else {
                    Err(differ("lengths"))
                }
            }
            ReplyComparison::Body => {
                if self.replies.iter().all(|reply| reply.body_digest == first.body_digest) {
                    Ok(ExpectedReply::Same)
                } else {
                    Err(differ("bodies"))
                }
            }
        }
    }

    fn request(&self) -> String {
        format!("{} {}", self.parts.method, self.url())
    }

    fn url(&self) -> String {
        format!("{}{}", self.target, &self.page.path[1..])
    }

    fn refusal(&self, reply: &FetchedReply) -> Failure {
        let status = reply.status;
        if let (300..400, Some(location)) = (status, &reply.location) {
            let location = self.shown_location(location);
            let error = format!("{} is redirected ({status}) to `{location}`", self.request());
            return Failure::new(Exit::Testbed, error).hint(self.redirect_hint(&location));
        }
        let failure = Failure::new(Exit::Testbed, format!("{} has status {status}", self.request()));
        let hint = match status {
            400 | 401 | 403 if reply.lacks_identity => {
                "the server asks for a client certificate: `--cert FILE --key FILE` provides one"
            }
            400 if !self.target.secure => {
                "check the request; if the server uses TLS on this port, write `https://`"
            }
            401 | 403 => "send a credential: `-H 'Authorization: Bearer {env:TOKEN}'`",
            304 => {
                "the request asks whether the page has changed: leave out `If-None-Match` and `If-Modified-Since`"
            }
            404 | 410 => {
                "check the spelling of the path; to measure this reply on purpose, set `status` in a definition"
            }
            405 => "give the method that the page expects: `-X POST`",
            429 | 503 => {
                "the server already refuses or limits requests; raise its limits, or wait until it is ready"
            }
            500.. => "see the server's log; to measure this reply on purpose, set `status` in a definition",
            _ => "to measure this reply on purpose, set `status` in a definition (docs/definitions.md)",
        };
        failure.hint(hint)
    }

    /// Returns where a redirect leads, without its parameters, which may name a session, and without what the request sent.
    fn shown_location(&self, location: &str) -> String {
        let parameters = location.find([';', '?', '#']).unwrap_or(location.len());
        let (place, parameters) = location.split_at(parameters);
        let mut place = without_credentials(&self.secrets.redact_from(place));
        if let Some(UrlBody::Given { text, .. }) = &self.parts.body {
            let fields = text.split('&').filter_map(|field| field.split_once('='));
            for (_, value) in fields.filter(|(_, value)| SENT_BYTES_MIN <= value.len()) {
                place = place.replace(value, REDACTED);
            }
        }
        match parameters.chars().next() {
            Some(mark) => format!("{place}{mark}…"),
            None => place,
        }
    }

    fn redirect_hint(&self, location: &str) -> String {
        let is_path = location.starts_with('/') && !location.starts_with("//");
        let url = if is_path { format!("{}{}", self.target, &location[1..]) } else { location.to_owned() };
        if url.contains("://") {
            format!("request the page that it leads to: `{url}`")
        } else {
            "request the page that it leads to".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_of(replies: &[FetchedReply]) -> Result<ReplyCheck, String> {
        check_by(None, replies)
    }

    fn check_by(comparison: Option<ReplyComparison>, replies: &[FetchedReply]) -> Result<ReplyCheck, String> {
        let target: Target = "http://h:8080/".parse().unwrap();
        let page = PageUrl { target: target.clone(), path: "/docs?a=1".to_owned(), values: Vec::new() };
        let parts = RequestParts { method: "GET".to_owned(), headers: Vec::new(), body: None };
        let secrets = Secrets::default();
        let surveyed = SurveyedPage {
            target: &target,
            page: &page,
            parts: &parts,
            secrets: &secrets,
            comparison,
            replies,
        };
        surveyed.check().map_err(|failure| failure.message().to_owned())
    }

    fn reply(status: u16, content_type: Option<&str>, body: u64) -> FetchedReply {
        FetchedReply {
            status,
            content_type: content_type.map(str::to_owned),
            body_bytes: 615,
            body_digest: body,
            ..FetchedReply::default()
        }
    }

    fn reply_of(replies: &[FetchedReply]) -> String {
        check_of(replies).unwrap().reply.toml()
    }

    #[test]
    fn equal_bodies_stay_equal_and_others_have_a_content_type() {
        let html = |body| reply(200, Some("text/html"), body);
        assert_eq!(reply_of(&[html(1), html(1), html(1)]), "\"seen\"");
        assert_eq!(reply_of(&[html(1), html(1), html(2)]), "{ content-type = \"text/html\" }");
        assert_eq!(reply_of(&[html(1), html(2), reply(200, None, 3)]), "\"any\"");
        assert_eq!(reply_of(&[html(1), reply(200, Some("text/plain"), 2)]), "\"any\"");
        assert_eq!(reply_of(&[reply(204, None, 0)]), "\"empty\"");
        assert_eq!(check_of(&[reply(201, None, 1)]).unwrap().status, 201);
        let encoded = FetchedReply { is_encoded: true, ..html(1) };
        assert_eq!(reply_of(&[encoded.clone(), encoded]), "{ content-type = \"text/html\" }");
    }

    #[test]
    fn the_user_says_what_is_compared() {
        use ReplyComparison::{Body, Length, Status};
        let html = |body, length| FetchedReply { body_bytes: length, ..reply(200, Some("text/html"), body) };
        let by = |comparison, replies: &[FetchedReply]| {
            check_by(Some(comparison), replies).map(|check| check.reply.toml())
        };
        let length = "{ length-min = 37, length-max = 37 }";
        let cases = [
            ([html(1, 37), html(1, 37)], ["\"same\"", length, "\"any\""]),
            (
                [html(1, 37), html(2, 37)],
                ["GET http://h:8080/docs?a=1 has replies of different bodies", length, "\"any\""],
            ),
            (
                [html(1, 37), html(2, 38)],
                [
                    "GET http://h:8080/docs?a=1 has replies of different bodies",
                    "GET http://h:8080/docs?a=1 has replies of different lengths",
                    "\"any\"",
                ],
            ),
        ];
        for (replies, expected) in cases {
            let found = [Body, Length, Status].map(|one| by(one, &replies).unwrap_or_else(|error| error));
            assert_eq!(found, expected);
        }
        let empty = by(Body, &[reply(204, None, 0)]);
        assert_eq!(empty.as_deref(), Ok("\"empty\""), "a reply without a body");
    }

    /// Goal: what the request sent, and the session that the server gave, are not printed where it repeats them.
    #[test]
    fn a_redirect_is_shown_without_values() {
        let target: Target = "http://h:8080/".parse().unwrap();
        let page = PageUrl { target: target.clone(), path: "/".to_owned(), values: Vec::new() };
        let body = Some(UrlBody::Given { variable: "A".to_owned(), text: "user=me&pin=4711".to_owned() });
        let parts = RequestParts { method: "POST".to_owned(), headers: Vec::new(), body };
        let secrets = Secrets::default();
        let surveyed = SurveyedPage {
            target: &target,
            page: &page,
            parts: &parts,
            secrets: &secrets,
            comparison: None,
            replies: &[],
        };
        for (location, expected) in [
            ("/docs/", "/docs/"),
            ("/done?pin=4711", "/done?…"),
            ("/done;jsessionid=8F2A?a=1", "/done;…"),
            ("/pins/4711/", "/pins/[redacted]/"),
            ("https://me:word@h/login#x", "https://[redacted]@h/login#…"),
        ] {
            assert_eq!(surveyed.shown_location(location), expected);
        }
    }

    #[test]
    fn redirects_and_errors_are_refused() {
        let found = FetchedReply { location: Some("/docs/".into()), ..reply(301, None, 0) };
        assert_eq!(
            check_of(&[found]).unwrap_err(),
            "GET http://h:8080/docs?a=1 is redirected (301) to `/docs/`"
        );
        assert_eq!(
            check_of(&[reply(404, None, 0)]).unwrap_err(),
            "GET http://h:8080/docs?a=1 has status 404"
        );
        let changing = [reply(200, None, 0), reply(202, None, 0)];
        assert_eq!(
            check_of(&changing).unwrap_err(),
            "GET http://h:8080/docs?a=1 has status 200, and then 202"
        );
    }
}
