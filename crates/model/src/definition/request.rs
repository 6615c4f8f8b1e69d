//! Reading `[[workload.requests]]`: one kind of request.

use toml::de::DeValue;

use super::parameter::{in_order, read_parameters};
use super::reply::{check_reply, reply};
use super::weight::Weight;
use crate::reader::{Fault, Table, line, ratio, text, whole_u32};
use crate::workload::PATH_MAX;
use crate::{PathPattern, Request};

/// The longest body that is sent: 1 MiB.
const BODY_MAX: usize = 1 << 20;

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

/// Reads a request and its weight. What concerns several requests is checked elsewhere.
pub(super) fn read_request(table: &mut Table) -> Option<(Request, Option<Weight>)> {
    let name = table.required("name", line);
    let weight = table.optional("weight", Weight::read);
    let method = table.optional("method", method);
    let path = table.required("path", path);
    let parameters = table.optional_table("parameters").map(read_parameters).unwrap_or_default();
    let headers = table.optional_table("headers").map(read_headers).unwrap_or_default();
    let body = table.optional("body", body).unwrap_or_default();
    let status = table.optional("status", whole_u32(200..=599)).unwrap_or(200) as u16;
    let reply = reply(table);
    let share_gap_max = table.optional("share-gap-max", ratio);
    let path = path?;
    let parameters = in_order(table, &path, parameters)?;
    let method = method.unwrap_or_else(|| "GET".to_owned());
    let request = Request {
        name: name?,
        method,
        path,
        parameters,
        headers,
        body,
        status,
        reply: reply?,
        share_gap_max,
    };
    check_reply(table, &request);
    Some((request, weight))
}

fn method(value: &DeValue) -> Result<String, Fault> {
    let method = line(value)?;
    let is_plain = |c: char| c.is_ascii_uppercase() || c == '-';
    if !method.chars().all(is_plain) || method.starts_with('-') || 32 < method.len() {
        let fault = Fault::new(format!("expected a method in capital letters, found `{method}`"));
        return Err(fault.hint("write for instance `POST`"));
    }
    match method.as_str() {
        "CONNECT" => Err(Fault::new("`CONNECT` asks for a tunnel, which is no request that can be measured")),
        _ => Ok(method),
    }
}

fn path(value: &DeValue) -> Result<PathPattern, Fault> {
    let written = text(value)?;
    let is_visible = |c: char| c.is_ascii_graphic() && c != '#';
    if let Some((at, c)) = written.char_indices().find(|(_, c)| !is_visible(*c)) {
        let fault = Fault::new(format!("`{}` cannot stand in a path", c.escape_default()));
        return Err(fault
            .hint("write it percent-encoded, such as `%20` for a space")
            .at(at..at + c.len_utf8()));
    }
    if PATH_MAX < written.len() {
        return Err(Fault::new(format!(
            "expected at most {PATH_MAX} characters: servers refuse longer ones"
        )));
    }
    written.parse::<PathPattern>().map_err(|error| {
        let at = written.len() - error.rest.len()..written.len();
        Fault::new(error.problem.trim_end_matches(',')).at(at)
    })
}

fn body(value: &DeValue) -> Result<String, Fault> {
    let body = text(value)?;
    match body.len() {
        0..=BODY_MAX => Ok(body),
        _ => Err(Fault::new(format!("expected at most {BODY_MAX} bytes"))),
    }
}

fn read_headers(mut table: Table) -> Vec<(String, String)> {
    let headers = table.named(|name, value| {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            return Err(Fault::new("this is not the name of a header field"));
        }
        if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            let fault = Fault::new(format!("`{name}` is sent by the protocol itself"));
            return Err(fault.hint("leave it out; `[protocol]` says how connections are used"));
        }
        let content = text(value)?;
        if content.trim() != content
            || !content.chars().all(|c| c == '\t' || c == ' ' || c.is_ascii_graphic())
        {
            return Err(Fault::new("expected one line of ASCII, without spaces around it"));
        }
        Ok(content)
    });
    table.finish();
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse::{EVERY_REQUEST_KEY, problems_of_request};
    use crate::{Count, Definition, Page, Parameter, Pick, ReplyBody, Think, WorkloadSource};

    fn requests() -> (Vec<Request>, Vec<Page>) {
        let definition = Definition::parse("my.toml", EVERY_REQUEST_KEY).unwrap();
        let mean = units::Nanos::from_millis(270);
        assert_eq!(definition.workload.think, Think::Exponential(mean));
        match definition.workload.source {
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
                    pick: Pick::Weights(vec![3.0, 1.0]),
                    ..Parameter::texts("size", vec!["small".into(), "large".into()])
                },
                Parameter { pick: Pick::Zipf(1.0), ..Parameter::numbers("id", 10, Count::Fixed(3)) },
            ],
            reply: ReplyBody::File(vec![1000, 2000, 3000]),
            share_gap_max: Some(0.1),
            ..Request::file("/", 0)
        };
        assert_eq!(requests[0], image);
        let order = Request {
            name: "order".into(),
            method: "POST".into(),
            path: "/orders?item={item}".parse().unwrap(),
            parameters: vec![Parameter {
                pick: Pick::Poisson(5.0),
                ..Parameter::numbers("item", 0, Count::SquareRoot(20.0))
            }],
            headers: vec![
                ("Content-Type".into(), "application/json".into()),
                ("X-Trace".into(), "on".into()),
            ],
            body: "{}".into(),
            status: 201,
            reply: ReplyBody::Contains("accepted".into()),
            share_gap_max: None,
        };
        assert_eq!(requests[1], order);
        assert_eq!(requests[2].reply, ReplyBody::Letters { bytes: 1000, markup: false });
        assert_eq!(requests[3].reply, ReplyBody::Letters { bytes: 1024, markup: true });
        let page = |weight, requests: &[u32]| Page { weight, requests: requests.into() };
        assert_eq!(pages, [page(7, &[0, 0, 2]), page(20, &[1, 3])]);
        assert_eq!(requests[0].path_of(4), "/images/large/0011.png");
    }

    #[test]
    fn mistakes_of_a_request_are_placed() {
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
        ]);
        insta::assert_snapshot!(found, @r#"
        line 34, `"order"`: `workload.requests.name` is not valid: another request is called `order`
        line 33, `[[workload.requests]]`: `workload.requests.name` is missing: `name` must be given here
        line 25, `"post"`: `workload.requests.method` is not valid: expected a method in capital letters, found `post`
        line 25, `"GET /x"`: `workload.requests.method` is not valid: expected a method in capital letters, found `GET /x`
        line 25, `"CONNECT"`: `workload.requests.method` is not valid: `CONNECT` asks for a tunnel, which is no request that can be measured
        line 35, `dyn`: `workload.requests.path` is not valid: expected a path that begins with `/`
        line 35, ` `: `workload.requests.path` is not valid: ` ` cannot stand in a path
        line 35, `"/a\r\nX: y"`: `workload.requests.path` is not valid: `\r` cannot stand in a path
        line 35, `{a`: `workload.requests.path` is not valid: `{` without `}`
        line 35, `"/{a}"`: `workload.requests.path` is not valid: `{a}` has no values
        line 36, `a`: `workload.requests.parameters.a` is not valid: `/dyn` has no `{a}`
        line 28, `"on\r\nHost: x"`: `workload.requests.headers.X-Trace` is not valid: expected one line of ASCII, without spaces around it
        line 28, `"on"`: `workload.requests.headers.X Trace` is not valid: this is not the name of a header field
        line 28, `"5"`: `workload.requests.headers.Content-Length` is not valid: `Content-Length` is sent by the protocol itself
        line 28, `5`: `workload.requests.headers.X-Trace` is not valid: expected a text in quotes, found a whole number
        line 29, `{}`: `workload.requests.body` is not valid: expected a text in quotes, found a table
        line 30, `100`: `workload.requests.status` is not valid: expected a whole number from 200 to 599, found 100
        line 31, `{ contains = "accepted" }`: `workload.requests.reply` is not valid: a reply with this status has no body
        line 31, `{ contains = "accepted" }`: `workload.requests.reply` is not valid: a reply to `HEAD` has no body
        line 21, `10`: `workload.requests.share-gap-max` is not valid: expected a ratio from 0 to 1, found 10
        "#);
    }
}
