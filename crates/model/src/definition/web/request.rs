//! Reading `[[workload.requests]]`: one kind of request.

use std::ops::Range;

use languages::reader::{NamedEntry, TomlTable, ValueError};
use languages::spec::{ValueSpec, choice, flag, line, ratio, text, whole_u32};
use toml::de::DeValue;

use super::body::read_body;
use super::extract::read_extracts;
use super::parameter::{in_order, read_parameters};
use super::placeholders::{RequestText, check_credentials};
use super::reply::{check_reply, reply};
use super::secret::{SecretWords, WrittenValue, read_value};
use super::weight::Weight;
use crate::workload::PATH_MAX;
use crate::{
    BodyEncoding, Limit, LimitMetric, PathPattern, PlacedSecret, Request, Secret, SecretLocation,
    SecretSource, parse_limits,
};

/// Header fields that the protocol itself sends, or that change how a message ends.
const OWN_HEADERS: [&str; 10] = [
    "host",
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The description of limits on one kind.
pub(in crate::definition) const ABOUT_LIMITS: &str =
    "Limits on its response times and errors that a valid load point keeps: `p99<50ms,errors<1%`.";

/// The words for the value of a header field in descriptions.
const WORDS: SecretWords =
    SecretWords { value: "the value", of_file: "; a line break at its end does not count" };

/// Reads the request at `kind` and its weight, and adds its secret parts. The caller checks what involves several
/// requests.
pub(super) fn read_request(
    kind: usize,
    table: &mut TomlTable,
    secrets: &mut Vec<PlacedSecret>,
) -> Option<(Request, Option<Weight>)> {
    table.describe("Request", "One kind of request.");
    let mut values = Values { kind, ..Values::default() };
    let name = table.required("name", "The name in reports; names are all different.", line());
    let about = "Its share of all pages is this divided by the sum of all weights. Only without `pages`, and then in each.";
    let weight = table.optional("weight", about, Weight::spec());
    let method = table.optional("method", "The method; if absent: `GET`.", method());
    let about = "The path with its query; `{id}` stands for the value of the parameter `id`, `{id:5}` for five digits of \
                 it, `{users.name}` for a column of data, `{extract.token}` for a value from an earlier reply. So in \
                 headers and body.";
    let path = table.required("path", about, path());
    let about = "The parameters in path, headers and body, by their names.";
    let parameters = table.optional_table("parameters", about);
    let parameters = parameters.map(|table| read_parameters(table, &mut values)).unwrap_or_default();
    let about = "Header fields besides those of the protocol. Those that look like credentials are redacted.";
    if let Some(headers) = table.optional_table("headers", about) {
        read_headers(headers, &mut values);
    }
    let body_encoding = take_body(table, &mut values);
    let about = "Whether the path is shown although its query looks like a credential; if absent: `false`.";
    if table.optional("disclose-path", about, flag()) == Some(true) {
        values.disclosed.push("path".to_owned());
    }
    let (status, other_statuses) = read_status(table);
    let reply = reply(table);
    let about = "Whether a redirect is a reply like any other, or followed; if absent: `count`.";
    let redirects = table.optional("redirects", about, choice()).unwrap_or_default();
    let about =
        "The values to take from the reply, by the names that they have in later requests: `{extract.NAME}`.";
    let extracts = table.optional_table("extract", about).map(read_extracts).unwrap_or_default();
    let about = "Relative deviation of its share of all requests above which a load point is not valid.";
    let share_gap_max = table.optional("share-gap-max", about, ratio());
    let limits = table.optional("limits", ABOUT_LIMITS, kind_limits()).unwrap_or_default();
    let path = path?;
    let parameters = in_order(table, &path, &values.texts(), parameters)?;
    let method = method.unwrap_or_else(|| "GET".to_owned());
    let mut request = Request {
        name: name?,
        method,
        path,
        parameters,
        headers: values.headers,
        body: values.body,
        body_encoding,
        status,
        other_statuses,
        reply: reply?,
        redirects,
        extracts,
        share_gap_max,
        limits,
        secrets: values.secrets.iter().map(|placed| placed.secret.clone()).collect(),
        disclosed: values.disclosed,
    };
    check_reply(table, &request);
    check_credentials(table, &request);
    values.spans.push((SecretLocation::Path.key(), table.span_of("path")));
    for (secret, value) in request.take_credentials() {
        let span = values.spans.iter().find(|(key, _)| *key == secret.part.key());
        let span = span.map_or_else(|| table.span(), |(_, span)| span.clone());
        values.secrets.push(PlacedSecret { kind, span, secret, value: Some(value) });
    }
    secrets.extend(values.secrets);
    Some((request, weight))
}

fn method() -> ValueSpec<String> {
    line().rule("pattern", "^[A-Z][A-Z-]{0,31}$").and_then(|method| {
        let is_plain = |c: char| c.is_ascii_uppercase() || c == '-';
        if !method.chars().all(is_plain) || method.starts_with('-') || 32 < method.len() {
            let error = ValueError::new(format!("expected a method in capital letters, found `{method}`"));
            return Err(error.hint("write a method such as `POST`"));
        }
        match method.as_str() {
            "CONNECT" => Err(ValueError::new("`CONNECT` opens a tunnel, which cannot be measured")),
            _ => Ok(method),
        }
    })
}

fn path() -> ValueSpec<PathPattern> {
    text().rule("pattern", "^/[!-~]*$").rule("maxLength", PATH_MAX).and_then(|written| {
        let is_visible = |c: char| c.is_ascii_graphic() && c != '#';
        if let Some((at, c)) = written.char_indices().find(|(_, c)| !is_visible(*c)) {
            let error = ValueError::new(format!("`{}` is not allowed in a path", c.escape_default()));
            return Err(error
                .hint("write it percent-encoded, such as `%20` for a space")
                .at(at..at + c.len_utf8()));
        }
        if PATH_MAX < written.len() {
            return Err(ValueError::new(format!(
                "expected at most {PATH_MAX} characters: servers refuse longer ones"
            )));
        }
        written.parse::<PathPattern>().map_err(|error| {
            let at = written.len() - error.rest.len()..written.len();
            ValueError::new(error.problem.trim_end_matches(',')).at(at)
        })
    })
}

/// The values of the parts of a request that may be secret.
#[derive(Default)]
pub(super) struct Values {
    kind: usize,
    headers: Vec<(String, String)>,
    body: String,
    /// Values from the environment or files, and those to be hidden though they do not look like credentials.
    secrets: Vec<PlacedSecret>,
    disclosed: Vec<String>,
    /// The spans of literal values, by their keys.
    spans: Vec<(String, Range<usize>)>,
}

impl Values {
    /// Adds a value from the environment or a file.
    pub(super) fn elsewhere(
        &mut self,
        part: SecretLocation,
        prefix: String,
        source: SecretSource,
        span: Range<usize>,
    ) {
        let secret = Secret { part, prefix, source };
        self.secrets.push(PlacedSecret { kind: self.kind, span, secret, value: None });
    }

    /// Returns the texts that may have placeholders.
    fn texts(&self) -> Vec<RequestText<'_>> {
        let headers = self.headers.iter().map(|(name, value)| RequestText::header(name, value));
        headers.chain([RequestText::body(&self.body)]).collect()
    }

    /// Adds a value as written; returns one that is to be shown, or to be checked for credentials.
    fn written(&mut self, part: SecretLocation, value: WrittenValue, span: Range<usize>) -> Option<String> {
        match value {
            WrittenValue::Elsewhere { prefix, source } => {
                self.elsewhere(part, prefix, source, span);
                None
            }
            WrittenValue::Literal { text, disclose: Some(false) } => {
                let secret = Secret { part, prefix: String::new(), source: SecretSource::Definition };
                self.secrets.push(PlacedSecret { kind: self.kind, span, secret, value: Some(text) });
                None
            }
            WrittenValue::Literal { text, disclose } => {
                if disclose == Some(true) {
                    self.disclosed.push(match &part {
                        SecretLocation::Header(name) => name.clone(),
                        other => other.key(),
                    });
                }
                self.spans.push((part.key(), span));
                Some(text)
            }
        }
    }
}

/// Reads the body and adds the media type that follows from how it is written; returns the encoding of its values.
fn take_body(table: &mut TomlTable, values: &mut Values) -> BodyEncoding {
    let span = table.span_of("body");
    let Some(written) = read_body(table) else { return BodyEncoding::Text };
    let has_type = table.value("headers").and_then(DeValue::as_table).is_some_and(|headers| {
        headers.keys().any(|name| name.get_ref().eq_ignore_ascii_case("content-type"))
    });
    let media_type = written.content_type.filter(|_| !has_type);
    values.headers.extend(media_type.map(|media_type| ("Content-Type".to_owned(), media_type)));
    values.body = values.written(SecretLocation::Body, written.value, span).unwrap_or_default();
    written.encoding
}

/// Reads the status of the right reply, or several.
fn read_status(table: &mut TomlTable) -> (u16, Vec<u16>) {
    let status = || whole_u32(200..=599);
    let one = status().map(|status| vec![status]);
    let statuses = one.or(status().non_empty_list(), |value| matches!(value, DeValue::Array(_)));
    let about = "The status of the right reply, or several that are as right; if absent: 200.";
    let mut statuses = table.optional("status", about, statuses).unwrap_or_default();
    let mut seen = Vec::new();
    statuses.retain(|status| {
        let is_new = !seen.contains(status);
        seen.push(*status);
        is_new
    });
    let mut statuses = statuses.into_iter().map(|status| status as u16);
    (statuses.next().unwrap_or(200), statuses.collect())
}

fn read_headers(mut table: TomlTable, values: &mut Values) {
    let literal = header_value();
    for (name, span, entry) in table.named_entries(&literal) {
        if let Err(error) = check_header_name(name) {
            table.reject(name, error);
            continue;
        }
        let written = match entry {
            NamedEntry::Table(mut inner) => {
                inner.describe("Value", "The source of a value: one of `env`, `file` and `value`.");
                let written = read_value(&mut inner, WORDS, header_value());
                inner.finish();
                written
            }
            NamedEntry::Value(value) => match literal.read(value) {
                Ok(text) => Some(WrittenValue::Literal { text, disclose: None }),
                Err(error) => {
                    table.reject(name, error);
                    None
                }
            },
        };
        let part = SecretLocation::Header(name.to_owned());
        let shown = written.and_then(|written| values.written(part, written, span));
        values.headers.extend(shown.map(|value| (name.to_owned(), value)));
    }
    table.finish();
}

/// Returns the reason why a request cannot have a header field of this name besides its own, if any.
pub fn header_name_fault(name: &str) -> Option<&'static str> {
    if !is_field_name(name) {
        Some("this is not the name of a header field")
    } else if is_own(name) {
        Some("the protocol itself sends this field")
    } else {
        None
    }
}

/// Returns whether a text can be the name of a header field.
pub(super) fn is_field_name(name: &str) -> bool {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(is_token)
}

fn is_own(name: &str) -> bool {
    OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str())
}

fn check_header_name(name: &str) -> Result<(), ValueError> {
    let Some(fault) = header_name_fault(name) else { return Ok(()) };
    if is_own(name) {
        Err(ValueError::new(format!("`{name}` is sent by the protocol itself"))
            .hint("leave it out; `[protocol]` says how connections are used"))
    } else {
        Err(ValueError::new(fault))
    }
}

fn header_value() -> ValueSpec<String> {
    text().and_then(|content| {
        let is_line = content.chars().all(|c| c == '\t' || c == ' ' || c.is_ascii_graphic());
        if content.trim() != content || !is_line {
            return Err(ValueError::new("expected one line of ASCII, without spaces around it"));
        }
        Ok(content)
    })
}

/// Limits on the response times and errors of one kind.
pub(in crate::definition) fn kind_limits() -> ValueSpec<Vec<Limit>> {
    text().and_then(|written| {
        let limits =
            parse_limits(&written).map_err(|error| ValueError::new(error.message).hint(error.hint))?;
        let of_all = |limit: &&Limit| matches!(limit.metric(), LimitMetric::Rate | LimitMetric::Delivered);
        match limits.iter().find(of_all) {
            Some(limit) => {
                let error =
                    ValueError::new(format!("`{limit}` is a limit of all operations, not of one kind"));
                Err(error.hint("give it to the run, by `--limit`"))
            }
            None => Ok(limits),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse::{EVERY_REQUEST_KEY, problems_of_request};
    use crate::{
        Definition, Page, Parameter, ReplyBody, ThinkTime, ValueCount, ValueDistribution, WebDefinition,
        WorkloadSource,
    };

    fn web_of(text: &str) -> WebDefinition {
        Definition::parse("my.toml", text).unwrap().workload.web().unwrap().clone()
    }

    fn requests() -> (Vec<Request>, Vec<Page>) {
        let web = web_of(EVERY_REQUEST_KEY);
        let mean = units::Nanos::from_millis(270);
        assert_eq!(web.think, ThinkTime::Exponential(mean));
        match web.source {
            WorkloadSource::Requests(requests, pages) => (requests, pages),
            WorkloadSource::Filelist(_) => panic!("the definition has requests"),
        }
    }

    #[test]
    fn every_key_of_a_request_is_read() {
        let (requests, pages) = requests();
        let image = Request {
            name: "image".into(),
            path: "/images/{size}/{id:4}.png".parse().unwrap(),
            parameters: vec![
                Parameter {
                    pick: ValueDistribution::Weights(vec![3.0, 1.0]),
                    ..Parameter::texts("size", vec!["small".into(), "large".into()])
                },
                Parameter {
                    pick: ValueDistribution::Zipf(1.0),
                    ..Parameter::numbers("id", 10, ValueCount::Fixed(3))
                },
            ],
            reply: ReplyBody::File(vec![1000, 2000, 3000]),
            share_gap_max: Some(0.1),
            limits: parse_limits("p99<50ms,errors<1%").unwrap(),
            ..Request::file("/", 0)
        };
        assert_eq!(requests[0], image);
        let order = Request {
            name: "order".into(),
            method: "POST".into(),
            path: "/orders?item={item}".parse().unwrap(),
            parameters: vec![Parameter {
                pick: ValueDistribution::Poisson(5.0),
                ..Parameter::numbers("item", 0, ValueCount::SquareRoot(20.0))
            }],
            headers: vec![
                ("Content-Type".into(), "application/json".into()),
                ("X-Trace".into(), "on".into()),
            ],
            body: "{}".into(),
            status: 201,
            reply: ReplyBody::Contains("accepted".into()),
            ..Request::file("/", 0)
        };
        assert_eq!(requests[1], order);
        assert_eq!(requests[2].reply, ReplyBody::Letters { bytes: 1000, markup: false });
        assert_eq!(requests[3].reply, ReplyBody::Letters { bytes: 1024, markup: true });
        let page = |weight, requests: &[u32]| Page { weight, requests: requests.into() };
        assert_eq!(pages, [page(7, &[0, 0, 2]), page(20, &[1, 3])]);
        assert_eq!(requests[0].path_of(4), "/images/large/0011.png");
    }

    fn placed(headers: &str) -> (Request, Vec<PlacedSecret>, String) {
        let text = EVERY_REQUEST_KEY.replacen(
            "headers = { Content-Type = \"application/json\", X-Trace = \"on\" }",
            headers,
            1,
        );
        let web = web_of(&text);
        let WorkloadSource::Requests(requests, _) = web.source else { panic!("requests") };
        (requests[1].clone(), web.secrets, text)
    }

    #[test]
    fn secret_values_appear_only_by_their_source() {
        let (request, secrets, text) = placed(
            "headers = { Authorization = { env = \"TOKEN\", prefix = \"Bearer \" }, X = { file = \"x.txt\" } }",
        );
        let json = serde_json::to_string(&request.secrets).unwrap();
        assert_eq!(
            json,
            r#"[{"part":{"header":"Authorization"},"prefix":"Bearer ","source":{"env":"TOKEN"}},"#.to_owned()
                + r#"{"part":{"header":"X"},"source":{"file":"x.txt"}}]"#
        );
        assert_eq!((request.headers.len(), secrets.len(), secrets[0].kind), (0, 2, 1));
        assert_eq!(&text[secrets[1].span.clone()], "{ file = \"x.txt\" }");
        assert!(secrets.iter().all(|secret| secret.value.is_none()));
    }

    #[test]
    fn literal_credentials_are_taken_out_unless_disclosed() {
        let (request, secrets, text) = placed(
            "headers = { Authorization = \"Bearer abc\", Cookie = { value = \"lang=en\", disclose = true }, \
             X-Own = { value = \"s3cret\", disclose = false }, Accept = \"text/html\" }",
        );
        let headers = [("Accept", "text/html"), ("Cookie", "lang=en")];
        let mut shown = request.headers.clone();
        shown.sort();
        assert_eq!(shown, headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let values: Vec<_> = secrets.iter().map(|one| (one.secret.part.key(), one.value.clone())).collect();
        assert_eq!(
            values,
            [
                ("headers.X-Own".to_owned(), Some("s3cret".to_owned())),
                ("headers.Authorization".to_owned(), Some("Bearer abc".to_owned())),
            ]
        );
        assert_eq!(&text[secrets[1].span.clone()], "\"Bearer abc\"");
        let json = serde_json::to_string(&request).unwrap();
        assert!(!json.contains("abc") && !json.contains("s3cret"), "{json}");
        assert!(!format!("{secrets:?}").contains("abc"), "{secrets:?}");
    }

    #[test]
    fn bodies_paths_and_parameters_can_be_secret() {
        let text = EVERY_REQUEST_KEY
            .replacen("body = \"{}\"", "body = { file = \"login.json\" }", 1)
            .replacen("item={item}\"", "item={item}&api_key=k1&t={t}\"", 1)
            .replacen("pick = \"poisson:5\" }", "pick = \"poisson:5\" }\nparameters.t = { env = \"T\" }", 1);
        let web = web_of(&text);
        let keys: Vec<_> = web.secrets.iter().map(|one| one.secret.part.key()).collect();
        assert_eq!(keys, ["parameters.t", "body", "path"]);
        let WorkloadSource::Requests(requests, _) = web.source else { panic!("requests") };
        assert_eq!(requests[1].path_of(0), "/orders?item=0&api_key=[redacted]&t=[redacted]");
        let open = text.replacen("method = \"POST\"", "method = \"POST\"\ndisclose-path = true", 1);
        assert_eq!(web_of(&open).secrets.len(), 2);
    }

    #[test]
    fn mistakes_in_secrets_have_a_position() {
        let found = problems_of_request([
            ("X-Trace = \"on\"", "X-Trace = { env = \"$TOKEN\" }"),
            ("X-Trace = \"on\"", "X-Trace = { env = \"A\", file = \"b\" }"),
            ("X-Trace = \"on\"", "X-Trace = { value = \"a\", prefix = \"b\" }"),
            ("X-Trace = \"on\"", "X-Trace = { env = \"A\", disclose = true }"),
            ("X-Trace = \"on\"", "X-Trace = { enf = \"A\" }"),
            ("body = \"{}\"", "body = {}"),
            ("pick = \"poisson:5\" }", "pick = \"poisson:5\", env = \"A\" }"),
        ]);
        insta::assert_snapshot!(found, @r#"
        line 28, `"$TOKEN"`: `workload.requests.headers.X-Trace.env` is not valid: expected the name of an environment variable
        line 28, `X-Trace`: `workload.requests.headers.X-Trace` is not valid: expected one of `env`, `file` and `value`
        line 28, `"b"`: `workload.requests.headers.X-Trace.prefix` is not valid: `prefix` is valid only with `env` or `file`
        line 28, `true`: `workload.requests.headers.X-Trace.disclose` is not valid: a value from `env` or `file` is never shown
        line 28, `X-Trace`: `workload.requests.headers.X-Trace` is not valid: expected one of `env`, `file` and `value`
        line 29, `body`: `workload.requests.body` is not valid: expected one of `env`, `file` and `value`
        line 27, `"sqrt(20 * load)"`: `workload.requests.parameters.item.count` is not valid: a value from `env` or `file` is the only one
        "#);
    }

    #[test]
    fn mistakes_in_requests_have_a_position() {
        let found = problems_of_request([
            ("name = \"letters\"", "name = \"order\""),
            ("name = \"letters\"", ""),
            ("\"POST\"", "\"post\""),
            ("\"POST\"", "\"GET /x\""),
            ("\"POST\"", "\"CONNECT\""),
            ("path = \"/dyn\"", "path = \"dyn\""),
            ("path = \"/dyn\"", "path = \"/a b\""),
            ("path = \"/dyn\"", "path = \"/a\\r\\nX: y\""),
            ("path = \"/dyn\"", "path = \"/{a\""),
            ("path = \"/dyn\"", "path = \"/{a}\""),
            ("path = \"/dyn\"", "path = \"/dyn\"\nparameters.a = { count = 5 }"),
            ("X-Trace = \"on\"", "X-Trace = \"on\\r\\nHost: x\""),
            ("X-Trace = \"on\"", "\"X Trace\" = \"on\""),
            ("X-Trace = \"on\"", "Content-Length = \"5\""),
            ("X-Trace = \"on\"", "X-Trace = 5"),
            ("body = \"{}\"", "body = {}"),
            ("status = 201", "status = 100"),
            ("status = 201", "status = 204"),
            ("\"POST\"", "\"HEAD\""),
            ("share-gap-max = 0.1", "share-gap-max = 10"),
            ("p99<50ms", "p99<50"),
            ("p99<50ms", "rate>50"),
        ]);
        insta::assert_snapshot!(found, @r#"
        line 34, `"order"`: `workload.requests.name` is not valid: another request is called `order`
        line 33, `[[workload.requests]]`: `workload.requests.name` is missing: `name` must be given here
        line 25, `"post"`: `workload.requests.method` is not valid: expected a method in capital letters, found `post`
        line 25, `"GET /x"`: `workload.requests.method` is not valid: expected a method in capital letters, found `GET /x`
        line 25, `"CONNECT"`: `workload.requests.method` is not valid: `CONNECT` opens a tunnel, which cannot be measured
        line 35, `dyn`: `workload.requests.path` is not valid: expected a path that begins with `/`
        line 35, ` `: `workload.requests.path` is not valid: ` ` is not allowed in a path
        line 35, `"/a\r\nX: y"`: `workload.requests.path` is not valid: `\r` is not allowed in a path
        line 35, `{a`: `workload.requests.path` is not valid: `{` without `}`
        line 35, `"/{a}"`: `workload.requests.path` is not valid: `{a}` has no values
        line 36, `a`: `workload.requests.parameters.a` is not valid: nothing has `{a}`
        line 28, `"on\r\nHost: x"`: `workload.requests.headers.X-Trace` is not valid: expected one line of ASCII, without spaces around it
        line 28, `"on"`: `workload.requests.headers.X Trace` is not valid: this is not the name of a header field
        line 28, `"5"`: `workload.requests.headers.Content-Length` is not valid: `Content-Length` is sent by the protocol itself
        line 28, `5`: `workload.requests.headers.X-Trace` is not valid: expected a string, found an integer
        line 29, `body`: `workload.requests.body` is not valid: expected one of `env`, `file` and `value`
        line 30, `100`: `workload.requests.status` is not valid: expected a whole number from 200 to 599, found 100
        line 31, `{ contains = "accepted" }`: `workload.requests.reply` is not valid: a reply with this status has no body
        line 31, `{ contains = "accepted" }`: `workload.requests.reply` is not valid: a reply to `HEAD` has no body
        line 21, `10`: `workload.requests.share-gap-max` is not valid: expected a ratio from 0 to 1, found 10
        line 22, `"p99<50,errors<1%"`: `workload.requests.limits` is not valid: expected a time with its unit, found `50` without one
        line 22, `"rate>50,errors<1%"`: `workload.requests.limits` is not valid: `rate>50` is a limit of all operations, not of one kind
        "#);
    }
}
