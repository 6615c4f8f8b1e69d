//! Responses of the admin page.

use http_lite::ServerResponse;
use serde_json::{Value, json};

/// Makes a response. It is not to be stored, nor to be shown within another site's page, and loads nothing else.
pub(super) fn response(status: u16, content_type: &'static str, body: String) -> ServerResponse {
    let response = ServerResponse::new(status, content_type, body)
        .with("Cache-Control", "no-store")
        .with("X-Content-Type-Options", "nosniff")
        .with(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        );
    if status == 401 { response.with("WWW-Authenticate", "Bearer") } else { response }
}

/// Makes a response with a JSON body.
pub(super) fn json_response(status: u16, value: &Value) -> ServerResponse {
    response(status, "application/json", format!("{value:#}\n"))
}

/// Makes an error response; a hint may follow the message on a line of its own.
pub(super) fn refused(status: u16, why: &str) -> ServerResponse {
    let (error, hint) = why.split_once("\nhint: ").map_or((why, None), |(error, hint)| (error, Some(hint)));
    let mut value = json!({ "error": error });
    if let Some(hint) = hint {
        value["hint"] = hint.into();
    }
    json_response(status, &value)
}
