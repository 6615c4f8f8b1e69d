//! Values that only definitions have: users and rates, and URLs of servers.

use languages::reader::{ValueError, kind};
use languages::spec::{ValueSpec, line, text};
use languages::{HttpUrl, HttpUrlError, LoadListError, RATE_MAX, parse_load, parse_rates};
use serde_json::json;
use toml::de::DeValue;

use crate::{Limit, LimitError, parse_limits};

/// Lists of numbers of users.
pub(super) fn users() -> ValueSpec<Vec<f64>> {
    levels(|text| Ok(parse_load(text)?.into_iter().map(f64::from).collect()))
}

/// Lists of rates in operations per second.
pub(super) fn rates() -> ValueSpec<Vec<f64>> {
    levels(parse_rates)
}

fn levels(parse: fn(&str) -> Result<Vec<f64>, LoadListError>) -> ValueSpec<Vec<f64>> {
    let read = move |value: &DeValue| match value {
        DeValue::String(text) => parse(text).map_err(|error| ValueError {
            label: error.message,
            hint: Some(error.hint),
            inside: Some(error.span),
        }),
        other => Err(ValueError::new(format!("expected load levels in quotes, found {}", kind(other)))
            .hint("write a range with a step such as `\"10..200/10\"`, or a list such as `\"1,2,5\"`")),
    };
    let about = "Load levels: a range with a step such as `10..200/10`, a list such as `1,2,5`, or both.";
    ValueSpec::new(|| json!({ "type": "string", "pattern": "^[0-9]+[0-9., /]*$" }), read)
        .named("LoadLevels", about)
}

/// Single stages of a shape. Their list is read as a whole.
pub(super) fn stage_text() -> ValueSpec<String> {
    let about =
        "A stage: its length, and its level or those at its beginning and its end, such as `30s:0..100`.";
    let schema = || json!({ "type": "string", "pattern": "^ *[0-9][0-9a-z. ]*: *[0-9][0-9. /s]*$" });
    ValueSpec::new(schema, |value| text().read(value)).named("Stage", about)
}

/// Lists of limits.
pub(super) fn limits() -> ValueSpec<Vec<Limit>> {
    let mistake = |LimitError { message, span, hint }| ValueError::new(message).at(span).hint(hint);
    let limits = text().and_then(move |text| parse_limits(&text).map_err(mistake));
    limits.named("Limits", "Limits, separated by commas: `p99<200ms,errors<1%`.")
}

/// Single levels of load: numbers above zero.
pub(super) fn level() -> ValueSpec<f64> {
    let read = |value: &DeValue| {
        let found = match value {
            DeValue::Integer(number) => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            other => kind(other),
        };
        let is_number = matches!(value, DeValue::Integer(_) | DeValue::Float(_));
        match found.parse::<f64>() {
            Ok(level) if is_number && 0.0 < level && level <= RATE_MAX => Ok(level),
            _ => {
                Err(ValueError::new(format!("expected a number above 0 and up to {RATE_MAX}, found {found}")))
            }
        }
    };
    ValueSpec::new(|| json!({ "type": "number", "exclusiveMinimum": 0, "maximum": RATE_MAX }), read)
}

/// The scheme of a server at a Unix socket.
const SOCKET_SCHEME: &str = "http+unix://";

/// URLs of running servers: all but the path, which requests have.
pub(super) fn server_url() -> ValueSpec<String> {
    line().and_then(|written| {
        if written.to_ascii_lowercase().starts_with(SOCKET_SCHEME) {
            // Its path is read where connections are made.
            return Ok(written);
        }
        let hint = "write the server alone, such as `http://127.0.0.1:8080/`";
        // A text before `@` may be a password, so the error does not repeat the URL.
        let url: HttpUrl =
            written.parse().map_err(|error: HttpUrlError| ValueError::new(error.to_string()).hint(hint))?;
        match url.target.as_str() {
            "" | "/" => Ok(written),
            _ => Err(ValueError::new("expected no path: requests have their own").hint(hint)),
        }
    })
}
