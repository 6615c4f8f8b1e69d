//! Reading `[[workload.requests]]`: one kind of request, its parameters and the reply that is right.

use toml::de::DeValue;

use super::reader::{Fault, Table};
use super::values::{bytes, line, list, one_of, ratio, text, whole, whole_u32};
use super::weight::Weight;
use crate::{Count, Parameter, PathPattern, Pick, ReplyBody, Request};

/// Replies that are said with one word.
const REPLIES: &[(&str, ReplyBody)] =
    &[("empty", ReplyBody::Empty), ("seen", ReplyBody::Seen), ("any", ReplyBody::Any)];

/// The largest page made of letters that the programs of web servers make: 10 MiB.
const LETTERS_MAX: u64 = 10 << 20;

/// The smallest HTML page made of letters: its beginning takes most of it.
const HTML_LETTERS_MIN: u64 = 64;

/// The longest path pattern, text to be found in a reply, and body that is sent.
const PATH_MAX: usize = 2000;
const CONTAINS_MAX: usize = 4096;
const BODY_MAX: usize = 1 << 20;

/// The largest factor of a count that grows with the load, and the largest count.
const FACTOR_MAX: f64 = 1e9;
const COUNT_MAX: u64 = 1 << 53;

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
    let reply = match table.value("reply") {
        Some(DeValue::Table(_)) => table.required_table("reply").and_then(read_reply),
        _ => table.required("reply", one_of(REPLIES)),
    };
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

fn read_parameters(mut table: Table) -> Vec<(Parameter, Table)> {
    let inner = table.named_tables();
    table.finish();
    let read = |(name, mut inner): (&str, _)| Some((read_parameter(name, &mut inner)?, inner));
    inner.into_iter().filter_map(read).collect()
}

fn read_parameter(name: &str, table: &mut Table) -> Option<Parameter> {
    let texts = table.optional("values", list(value));
    let first = table.optional("from", whole(0..=i64::MAX as u64));
    let count = table.optional("count", count);
    let pick = table.optional("pick", pick).unwrap_or(Pick::Uniform);
    if texts.is_some() {
        for key in ["from", "count"].into_iter().filter(|key| table.value(key).is_some()) {
            table.reject(key, Fault::new("expected either `values` or `from` and `count`, found both"));
        }
    } else if table.value("count").is_none() && table.value("values").is_none() {
        table.reject(
            "count",
            Fault::new("expected `count`, a number of values, or `values`, a list of texts"),
        );
    }
    let parameter = match texts {
        Some(texts) => Parameter::texts(name, texts),
        None => Parameter::numbers(name, first.unwrap_or(0), count?),
    };
    let parameter = Parameter { pick, ..parameter };
    if let Err(error) = parameter.check(1.0) {
        table.reject("pick", Fault::new(error.to_string()));
    }
    Some(parameter)
}

/// Reads one of several values; it may be empty.
fn value(value: &DeValue) -> Result<String, Fault> {
    let value = text(value)?;
    match value.chars().all(|c| c.is_ascii_graphic() && !"#{}".contains(c)) && value.len() <= PATH_MAX {
        true => Ok(value),
        false => Err(Fault::new(format!("`{value}` cannot stand in a path"))),
    }
}

fn pick(value: &DeValue) -> Result<Pick, Fault> {
    text(value)?.parse::<Pick>().map_err(|error| Fault::new(error.to_string()))
}

/// Reads `100` or `"sqrt(20 * load)"`.
fn count(value: &DeValue) -> Result<Count, Fault> {
    let DeValue::String(written) = value else {
        return whole(1..=COUNT_MAX)(value).map(Count::Fixed);
    };
    let inside = written.trim().strip_prefix("sqrt(").and_then(|rest| rest.strip_suffix(')'));
    let factor = inside.and_then(|inside| match inside.split_once('*') {
        Some((factor, load)) => factor.trim().parse::<f64>().ok().filter(|_| load.trim() == "load"),
        None => Some(1.0).filter(|_| inside.trim() == "load"),
    });
    match factor.filter(|factor| 0.0 < *factor && *factor <= FACTOR_MAX) {
        Some(factor) => Ok(Count::SquareRoot(factor)),
        None => {
            Err(Fault::new(format!("expected a number, or one that grows with the load, found `{written}`"))
                .hint("write `100` or `\"sqrt(20 * load)\"`"))
        }
    }
}

fn read_reply(mut table: Table) -> Option<ReplyBody> {
    let is_list = matches!(table.value("file"), Some(DeValue::Array(_)));
    let file = match is_list {
        true => table.optional("file", list(bytes)),
        false => table.optional("file", bytes).map(|bytes| vec![bytes]),
    };
    let letters = table.optional("letters", whole(1..=LETTERS_MAX));
    let html_letters = table.optional("html-letters", whole(HTML_LETTERS_MIN..=LETTERS_MAX));
    let contains = table.optional("contains", contains);
    let given: Vec<&str> = table.keys().collect();
    if given.len() != 1 {
        let fault = Fault::new("expected one of `file`, `letters`, `html-letters` and `contains`");
        table.reject(given.get(1).copied().unwrap_or("file"), fault);
    }
    table.finish();
    let file = file.map(ReplyBody::File);
    let letters = letters.map(|bytes| ReplyBody::Letters { bytes, markup: false });
    let html_letters = html_letters.map(|bytes| ReplyBody::Letters { bytes, markup: true });
    file.or(letters).or(html_letters).or(contains.map(ReplyBody::Contains))
}

fn contains(value: &DeValue) -> Result<String, Fault> {
    let found = text(value)?;
    match found.len() {
        0 => Err(Fault::new("expected a text that the reply contains, found an empty one")
            .hint("write `reply = \"any\"` if it may be anything")),
        1..=CONTAINS_MAX => Ok(found),
        _ => Err(Fault::new(format!("expected at most {CONTAINS_MAX} bytes"))),
    }
}

/// Brings parameters into the order of their placeholders. `None`, reported, if one is without the other, or one
/// grows that may not.
fn in_order(
    table: &Table,
    path: &PathPattern,
    mut parameters: Vec<(Parameter, Table)>,
) -> Option<Vec<Parameter>> {
    let mut ordered = Vec::new();
    for name in path.names() {
        let Some(place) = parameters.iter().position(|(parameter, _)| parameter.name == *name) else {
            if !table.has_inside("parameters", name) {
                let fault = Fault::new(format!("`{{{name}}}` has no values"));
                table.reject("path", fault.hint(format!("add `parameters.{name} = {{ count = 100 }}`")));
            }
            continue;
        };
        let (parameter, inner) = parameters.swap_remove(place);
        if !ordered.is_empty() && matches!(parameter.count, Count::SquareRoot(_)) {
            let fault = Fault::new("only the first parameter of a path may grow with the load");
            inner.reject("count", fault.hint("so that files keep their numbers; put it first in the path"));
        }
        ordered.push(parameter);
        inner.finish();
    }
    for (parameter, inner) in parameters {
        let hint = format!("write `{{{}}}` where its value belongs in the path", parameter.name);
        inner.reject_all(Fault::new(format!("`{path}` has no `{{{}}}`", parameter.name)).hint(hint));
        inner.finish();
    }
    (ordered.len() == path.names().len()).then_some(ordered)
}

/// Checks what the right reply is against the rest of the request.
fn check_reply(table: &Table, request: &Request) {
    let has_no_body = matches!(request.status, 204 | 304) || request.method == "HEAD";
    if has_no_body && !matches!(request.reply, ReplyBody::Empty | ReplyBody::Any) {
        let why = if request.method == "HEAD" { "a reply to `HEAD`" } else { "a reply with this status" };
        table.reject("reply", Fault::new(format!("{why} has no body")).hint("write `reply = \"empty\"`"));
    }
    if let ReplyBody::File(sizes) = &request.reply
        && 1 < sizes.len()
    {
        let n_sizes = sizes.len();
        let fault = match request.parameters.last().map(|parameter| (parameter.count, &parameter.name)) {
            Some((Count::Fixed(values), _)) if values == n_sizes as u64 => return,
            Some((Count::Fixed(values), name)) => format!("{n_sizes} sizes for {values} values of `{name}`"),
            Some((Count::SquareRoot(_), name)) => {
                format!("{n_sizes} sizes, but `{name}` grows with the load")
            }
            None => format!("{n_sizes} sizes for one file"),
        };
        let hint = "give one size for all, or one for each value of the last parameter in the path";
        table.reject("reply", Fault::new(fault).hint(hint));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse::{EVERY_REQUEST_KEY, problem_of};
    use crate::{Definition, Page, Think, WorkloadSource};

    fn requests() -> (Vec<Request>, Vec<Page>) {
        let definition = Definition::parse("my.toml", EVERY_REQUEST_KEY).unwrap();
        let mean = units::Nanos::from_millis(270);
        assert_eq!(definition.workload.think, Think::Exponential(mean));
        match definition.workload.source {
            WorkloadSource::Requests(requests, pages) => (requests, pages),
            WorkloadSource::Filelist(_) => panic!("the definition has requests"),
        }
    }

    fn problems<const N: usize>(slips: [(&str, &str); N]) -> String {
        slips.map(|(piece, slip)| problem_of(EVERY_REQUEST_KEY, piece, slip)).join("\n")
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
        let found = problems([
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

    #[test]
    fn mistakes_of_parameters_are_placed() {
        let found = problems([
            ("{ from = 10, count = 3, pick = \"zipf:1\" }", "5"),
            ("{ from = 10, count = 3, pick = \"zipf:1\" }", "{}"),
            ("from = 10, count = 3", "count = 0"),
            ("from = 10, count = 3", "from = -1, count = 3"),
            ("from = 10, count = 3", "count = 3, values = [\"a\"]"),
            ("from = 10, count = 3", "count = \"sqrt(20 * users)\""),
            ("from = 10, count = 3", "count = \"sqrt(-1 * load)\""),
            ("from = 10, count = 3", "count = \"sqrt(load)\""),
            ("from = 10, count = 3", "count = 4"),
            ("from = 10, count = 3", "count = 99_999_999"),
            ("count = 3, pick = \"zipf:1\"", "count = 3, pick = \"normal\""),
            ("count = 3, pick = \"zipf:1\"", "count = 3, kick = 1"),
            ("weights:3,1", "weights:3,1,1"),
            ("[\"small\", \"large\"]", "[]"),
            ("[\"small\", \"large\"]", "[\"small\", \"a b\"]"),
            ("[\"small\", \"large\"]", "[\"small\", 5]"),
            ("[\"small\", \"large\"]", "[\"small\", \"small\"]"),
            ("[\"small\", \"large\"]", "[\"small\", \"..\"]"),
            ("[\"small\", \"large\"]", "[\"small\", \"a?b\"]"),
        ]);
        insta::assert_snapshot!(found, @r#"
        line 19, `5`: `workload.requests.parameters.id` is not valid: expected a table, found a whole number
        line 19, `id`: `workload.requests.parameters.id.count` is not valid: expected `count`, a number of values, or `values`, a list of texts
        line 19, `0`: `workload.requests.parameters.id.count` is not valid: expected a whole number from 1 to 9007199254740992, found 0
        line 19, `-1`: `workload.requests.parameters.id.from` is not valid: expected a whole number from 0 to 9223372036854775807, found -1
        line 19, `3`: `workload.requests.parameters.id.count` is not valid: expected either `values` or `from` and `count`, found both
        line 19, `"sqrt(20 * users)"`: `workload.requests.parameters.id.count` is not valid: expected a number, or one that grows with the load, found `sqrt(20 * users)`
        line 19, `"sqrt(-1 * load)"`: `workload.requests.parameters.id.count` is not valid: expected a number, or one that grows with the load, found `sqrt(-1 * load)`
        line 19, `"sqrt(load)"`: `workload.requests.parameters.id.count` is not valid: only the first parameter of a path may grow with the load
        line 20, `{ file = [1000, 2000, 3000] }`: `workload.requests.reply` is not valid: 3 sizes for 4 values of `id`
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: 199999998 files; there may be at most 10000000
        line 19, `"normal"`: `workload.requests.parameters.id.pick` is not valid: expected `uniform`, `zipf:1.0`, `poisson:5` or `weights:3,2,1`, found `normal`
        line 19, `kick`: unknown key `kick` in `workload.requests.parameters.id`: not a key of a definition
        line 18, `"weights:3,1,1"`: `workload.requests.parameters.size.pick` is not valid: 3 weights for 2 values
        line 18, `[]`: `workload.requests.parameters.size.values` is not valid: expected a list, found an empty one
        line 18, `["small", "a b"]`: `workload.requests.parameters.size.values` is not valid: `a b` cannot stand in a path
        line 18, `["small", 5]`: `workload.requests.parameters.size.values` is not valid: expected a text in quotes, found a whole number
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: two files have the path `/images/small/0010.png`
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: `/images/../0010.png` is no path of a file: expected the path of a file, without empty parts, `.` and `..`
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: `/images/a?b/0010.png` is no path of a file: has characters that a plain path has not
        "#);
    }

    #[test]
    fn mistakes_of_replies_and_pages_are_placed() {
        let found = problems([
            ("{ file = [1000, 2000, 3000] }", "{ file = [1000, 2000] }"),
            ("{ file = [1000, 2000, 3000] }", "{ file = -1 }"),
            ("{ file = [1000, 2000, 3000] }", "{ file = [1, \"2\", 3] }"),
            ("{ letters = 1000 }", "\"eny\""),
            ("{ letters = 1000 }", "{ letters = 0 }"),
            ("{ letters = 1000 }", "{ letters = 1, file = 1 }"),
            ("{ letters = 1000 }", "{}"),
            ("{ letters = 1000 }", "{ bytes = 5 }"),
            ("{ letters = 1000 }", "{ file = [1, 2] }"),
            ("{ html-letters = 1024 }", "{ html-letters = 63 }"),
            ("{ contains = \"accepted\" }", "{ contains = \"\" }"),
            ("weight = 0.7", "weight = 0"),
            ("weight = 0.7", "weight = 1e3"),
            ("weight = 0.7", ""),
            ("\"image\", \"letters\"]", "\"image\", \"leters\"]"),
            ("[\"image\", \"image\", \"letters\"]", "[]"),
            ("name = \"letters\"", "name = \"letters\"\nweight = 5"),
        ]);
        insta::assert_snapshot!(found, @r#"
        line 20, `{ file = [1000, 2000] }`: `workload.requests.reply` is not valid: 2 sizes for 3 values of `id`
        line 20, `-1`: `workload.requests.reply.file` is not valid: expected a whole number from 0 to 1099511627776, found -1
        line 20, `[1, "2", 3]`: `workload.requests.reply.file` is not valid: expected a whole number from 0 to 1099511627776, found a text
        line 36, `"eny"`: `workload.requests.reply` is not valid: expected `empty` or `seen` or `any`, found `eny`
        line 36, `0`: `workload.requests.reply.letters` is not valid: expected a whole number from 1 to 10485760, found 0
        line 36, `1`: `workload.requests.reply.letters` is not valid: expected one of `file`, `letters`, `html-letters` and `contains`
        line 36, `reply`: `workload.requests.reply.file` is not valid: expected one of `file`, `letters`, `html-letters` and `contains`
        line 36, `bytes`: unknown key `bytes` in `workload.requests.reply`: not a key of a definition
        line 36, `{ file = [1, 2] }`: `workload.requests.reply` is not valid: 2 sizes for one file
        line 41, `63`: `workload.requests.reply.html-letters` is not valid: expected a whole number from 64 to 10485760, found 63
        line 31, `""`: `workload.requests.reply.contains` is not valid: expected a text that the reply contains, found an empty one
        line 44, `0`: `workload.pages.weight` is not valid: expected a number above 0 and up to 1000000000, found 0
        line 44, `1e3`: `workload.pages.weight` is not valid: expected a number above 0 and up to 1000000000, found 1e3
        line 43, `[[workload.pages]]`: `workload.pages.weight` is missing: `weight` must be given here
        line 45, `["image", "image", "leters"]`: `workload.pages.requests` is not valid: no request is called `leters`
        line 45, `[]`: `workload.pages.requests` is not valid: expected a list, found an empty one
        line 35, `5`: `workload.requests.weight` is not valid: the weights stand at `[[workload.pages]]`
        "#);
    }

    #[test]
    fn without_pages_every_request_has_a_weight() {
        let (start, rest) = EVERY_REQUEST_KEY.split_once("[[workload.pages]]").unwrap();
        let text = format!("{start}{}", &rest[rest.find("[protocol]").unwrap()..]);
        let found = Definition::parse("my.toml", &text).unwrap_err();
        assert_eq!(found.problems.len(), 4);
        let first = text.replacen("name = \"image\"", "name = \"image\"\nweight = 1", 1);
        assert_eq!(Definition::parse("my.toml", &first).unwrap_err().problems.len(), 3);
        insta::assert_snapshot!(&found.to_string()[..300], @r"
        error: `workload.requests` is not valid
          --> my.toml:15:1
           |
        15 | [[workload.requests]]
           | ^^^^^^^^^^^^^^^^^^^^^ `weight` must be given here
           |
           = hint: or write `[[workload.pages]]` with weights and the names of requests

        error: `workload.requests` is not valid
          --> my.toml:23:1
           |
        23 |
        ");
    }
}
