//! Requests for tests.

use cache_policy::Scheme;
use http1::HeaderLines;

use crate::message::{ClientRequest, ClientVersion};

/// Makes a GET without header lines.
pub(super) fn get(target: &str) -> ClientRequest {
    client_request("GET", target, &[])
}

/// Makes a request without a body.
pub(super) fn client_request(method: &str, target: &str, lines: &[(&str, &str)]) -> ClientRequest {
    let mut all = HeaderLines::new();
    lines.iter().for_each(|(name, value)| all.push(name.as_bytes(), value.as_bytes()));
    ClientRequest {
        method_name: method.as_bytes().to_vec(),
        scheme: Scheme::Http,
        authority: b"example.org".to_vec(),
        target: target.as_bytes().to_vec(),
        lines: all,
        version: ClientVersion::Http11,
        client: ([192, 0, 2, 1], 50_000).into(),
        has_body: false,
        content_length: None,
    }
}
